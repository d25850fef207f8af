//! gRPC-Web of clients to an upstream that speaks gRPC: the bytes on both sides.

use edgewright_tests::grpc_origin::GrpcOrigin;
use edgewright_tests::{Ask, Origin, Proxy, Setup, ask};

/// A message of five bytes: no compression, its length, itself.
const MESSAGE: &[u8] = b"\x00\x00\x00\x00\x05hello";

/// What the trailers become: a frame with the highest bit set.
const TRAILERS: &[u8] = b"\x80\x00\x00\x00\x22grpc-status:0\r\ngrpc-message:fine\r\n";

fn proxy(origin: &GrpcOrigin) -> Proxy {
    Setup::new()
        .with_h2()
        .config(&format!("[upstreams.main]\npeers = [\"{}\"]\nprotocol = \"h2c\"", origin.address()))
        .route("web", "match = { path = \"/shop.Orders/*\" }\ngrpc-web = true", "main")
        .route("plain", "", "main")
        .start()
}

fn call(path: &str, kind: &str) -> Ask {
    ask("POST", path).body(MESSAGE).header("Content-Type", kind).header("X-Grpc-Web", "1")
}

#[test]
fn a_call_of_a_browser_becomes_one_of_grpc_and_back() {
    let origin = GrpcOrigin::start();
    let proxy = proxy(&origin);
    for kind in ["application/grpc-web+proto", "application/grpc-web"] {
        let response = proxy.ask(&call("/shop.Orders/Get", kind));
        assert_eq!(response.status, 200);
        assert_eq!(response.field("content-type").as_deref(), Some("application/grpc-web+proto"));
        assert_eq!(response.body, [MESSAGE, TRAILERS].concat(), "{}", response.body.escape_ascii());
        let seen = origin.seen().pop().unwrap();
        assert_eq!(seen["content-type"], kind.replace("grpc-web", "grpc").as_str());
        assert_eq!(seen["te"], "trailers");
    }
    // Refused without a body: the head says it.
    let response = proxy.ask(&call("/shop.Orders/Refuse", "application/grpc-web+proto"));
    assert_eq!(response.field("grpc-status").as_deref(), Some("5"));
    assert_eq!(response.field("content-type").as_deref(), Some("application/grpc-web+proto"));
    assert!(response.body.is_empty());
}

#[test]
fn what_is_no_binary_grpc_web_goes_on_as_it_is() {
    let origin = GrpcOrigin::start();
    let proxy = proxy(&origin);
    let check = |path: &str, kind: &str| {
        let response = proxy.ask(&call(path, kind));
        assert_eq!(response.body, MESSAGE, "{path} {kind}");
        assert_eq!(response.field("content-type").as_deref(), Some("application/grpc+proto"));
        assert_eq!(origin.seen().pop().unwrap()["content-type"], kind);
    };
    check("/shop.Orders/Get", "application/grpc-web-text");
    check("/shop.Orders/Get", "application/json");
    check("/other", "application/grpc-web+proto");
    // gRPC of a client that speaks HTTP/1.1: it gets everything but the trailers.
    check("/shop.Orders/Get", "application/grpc");
    check("/other", "application/grpc+proto");
}

#[test]
fn an_upstream_of_http_1_is_a_mistake_of_the_configuration() {
    let origin = Origin::ok();
    let setup = Setup::new().upstream("main", &origin).route("web", "grpc-web = true", "main");
    let said = setup.run_to_end().expect_code(1).said();
    assert!(said.contains("the upstream `main` speaks HTTP/1.1"), "{said}");
    assert!(said.contains("protocol = \"h2c\""), "{said}");
}

//! Connections that begin with the PROXY protocol: who the client is, in the words of a trusted balancer.

use edgewright_tests::{Authority, Connection, DEADLINE, Origin, Proxy, Setup, TlsClient, get};

fn proxy(mode: &str, trusted: &str, origin: &Origin) -> Proxy {
    Setup::new()
        .server(&format!("trusted-proxies = [\"{trusted}\"]"))
        .listener(&format!("proxy-protocol = \"{mode}\""))
        .upstream("main", origin)
        .route("default", "", "main")
        .start()
}

const V1: &[u8] = b"PROXY TCP4 192.0.2.1 10.0.0.1 5000 80\r\n";
const V2: &[u8] = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\x02\x01\x0a\0\0\x01\x13\x88\0\x50";

#[test]
fn c45_a_trusted_balancer_names_the_client() {
    let origin = Origin::ok();
    let proxy = proxy("required", "127.0.0.1", &origin);
    for (number, header) in [V1, V2].into_iter().enumerate() {
        let mut client = proxy.connect();
        client.send([header, &get("/x").header("X-Forwarded-For", "6.6.6.6").bytes()].concat());
        assert_eq!(client.response_to("GET").status, 200);
        assert_eq!(origin.last().field("x-forwarded-for").as_deref(), Some("192.0.2.1"));
        assert_eq!(client.ask(&get("/y")).status, 200, "it is for the whole connection");
        assert_eq!(origin.last().field("x-forwarded-for").as_deref(), Some("192.0.2.1"));
        let line = proxy.access_log(2 * number + 2).pop().unwrap();
        assert_eq!(line["client"], "192.0.2.1", "{line}");
    }
    // A balancer that looks whether somebody is there.
    let mut check = proxy.connect();
    check.send([b"PROXY UNKNOWN\r\n".as_slice(), &get("/x").bytes()].concat());
    assert_eq!(check.response_to("GET").status, 200);
    assert_eq!(origin.last().field("x-forwarded-for").as_deref(), Some("127.0.0.1"));
}

#[test]
fn c45_what_is_no_header_closes_the_connection() {
    let origin = Origin::ok();
    let required = proxy("required", "127.0.0.1", &origin);
    let closes = |proxy: &Proxy, bytes: &[u8]| {
        let mut client = proxy.connect();
        client.send(bytes);
        assert!(client.closes_within(DEADLINE), "{}", bytes.escape_ascii());
    };
    closes(&required, &get("/x").bytes());
    closes(&required, &[b"PROXY TCP4 192.0.2.1 ".as_slice(), &[b'1'; 100], b"\r\n"].concat());
    closes(&required, b"PROXY TCP4 x y 1 2\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n");
    closes(&required, &[V2.get(..12).unwrap(), b"\x21\x11\0\x04\xc0\0\x02\x01", &get("/x").bytes()].concat());
    assert_eq!(origin.connections(), 0);

    let strangers = proxy("required", "192.0.2.9", &origin);
    closes(&strangers, &[V1, &get("/x").bytes()].concat());
    assert_eq!(origin.connections(), 0);
}

#[test]
fn c45_where_it_is_optional_others_are_served_and_strangers_not_believed() {
    let origin = Origin::ok();
    let optional = proxy("optional", "127.0.0.1", &origin);
    for (start, client) in [(V1, "192.0.2.1"), (b"", "127.0.0.1")] {
        let mut connection = optional.connect();
        connection.send([start, &get("/x").bytes()].concat());
        assert_eq!(connection.response_to("GET").status, 200);
        assert_eq!(origin.last().field("x-forwarded-for").as_deref(), Some(client));
    }
    let strangers = proxy("optional", "192.0.2.9", &origin);
    assert_eq!(strangers.get("/x").status, 200);
    let mut stranger = strangers.connect();
    stranger.send([V1, &get("/x").bytes()].concat());
    assert_eq!(stranger.response_to("GET").status, 400);
    assert_eq!(origin.requests().len(), 3);
}

#[test]
fn it_comes_before_tls() {
    let ca = Authority::new("ca");
    let certificate = ca.issue(&["a.test"]);
    let origin = Origin::ok();
    let proxy = Setup::new()
        .server("trusted-proxies = [\"127.0.0.1\"]")
        .file("a.pem", &certificate.pem)
        .file("a.key", &certificate.key)
        .listener("proxy-protocol = \"required\"\ntls = [{ cert = \"a.pem\", key = \"a.key\" }]")
        .upstream("main", &origin)
        .route("default", "", "main")
        .start();
    let mut connection = Connection::secure_behind(proxy.address(), V2, &TlsClient::new(&ca), "a.test");
    assert_eq!(connection.ask(&get("/x")).status, 200);
    assert_eq!(origin.last().field("x-forwarded-for").as_deref(), Some("192.0.2.1"));
    assert_eq!(origin.last().field("x-forwarded-proto").as_deref(), Some("https"));
}

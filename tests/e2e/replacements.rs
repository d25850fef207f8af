//! Responses of upstreams that are replaced, by a plugin or by its failure: the upstream's body is nobody's then.

use std::time::{Duration, Instant};

use edgewright_tests::{Ask, DEADLINE, Origin, Proxy, Setup, get, guest, plugin};

/// A replacement is due at once: the upstream may be silent for 30 seconds.
const AT_ONCE: Duration = Duration::from_secs(5);

const ANSWER: &str =
    r#"{ name = "answer", config = { status = 404, body = "gone", phase = "response", when = "x-hide" } }"#;

fn replacing(before: &str, origin: &Origin) -> Proxy {
    let canary =
        std::fs::read_to_string(edgewright_tests::component::repository().join("plugins/canary/canary.toml"))
            .expect("the manifest of canary");
    Setup::new()
        .plugin("answer", &guest("answer"), "isolation = \"reuse\"")
        .plugin("trap", &guest("trap"), "isolation = \"reuse\"")
        .plugin("canary", &plugin("canary"), &canary)
        .upstream("main", origin)
        .route_all(&format!("[{before}{ANSWER}, \"trap\"]"), "main")
        .start()
}

fn hidden() -> Ask {
    get("/x").header("X-Hide", "1")
}

fn trapped() -> Ask {
    get("/x").header("X-Boom", "response")
}

#[test]
fn a_replacement_does_not_wait_for_the_body_of_the_upstream() {
    let check = |head: &'static str, request: &Ask, status: u16, body: &str| {
        // Then silence, until the proxy ends the connection.
        let origin = Origin::script(move |_, wire| {
            wire.send(head.as_bytes())?;
            wire.head().map(|_| ())
        });
        let proxy = replacing("", &origin);
        let start = Instant::now();
        let mut client = proxy.connect();
        let response = client.ask(request);
        let shown = format!("{head:?}: {:?}", response.head);
        assert_eq!(response.status, status, "{shown}");
        assert!(response.text().contains(body), "{shown}: {}", response.text());
        assert_eq!(response.field("content-length"), Some(response.body.len().to_string()), "{shown}");
        assert_eq!(response.field("connection").as_deref(), Some("close"), "{shown}");
        assert!(client.closes_within(DEADLINE), "{shown}");
        assert!(start.elapsed() < AT_ONCE, "{shown}: {:?}", start.elapsed());
    };
    for head in [
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
    ] {
        check(head, &hidden(), 404, "gone");
        check(head, &trapped(), 503, "503");
    }
}

#[test]
fn a_replacement_of_a_response_that_is_there_keeps_the_connection() {
    for reply in [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 204 No Content\r\n\r\n",
    ] {
        let origin = Origin::reply(reply);
        let proxy = replacing("", &origin);
        let mut client = proxy.connect();
        for (request, status) in [(hidden(), 404), (trapped(), 503), (hidden(), 404)] {
            let response = client.ask(&request).expect_status(status);
            assert_eq!(response.field("content-length"), Some(response.body.len().to_string()), "{reply:?}");
            assert_ne!(
                response.field("connection").as_deref(),
                Some("close"),
                "{reply:?}: {:?}",
                response.head
            );
        }
        assert_eq!(origin.connections(), 1, "{reply:?}: the upstream's stays in use, too");
    }
}

#[test]
fn the_response_phase_runs_once_on_a_response_without_a_body() {
    let canary = r#"{ name = "canary", config = { upstream = "main", percent = 50, sticky = true } }, "#;
    let check = |reply: &'static str| {
        let origin = Origin::reply(reply);
        let proxy = replacing(canary, &origin);
        for (request, status) in [(hidden(), 404), (trapped(), 503)] {
            let response = proxy.ask(&request).expect_status(status);
            assert_eq!(response.head.all("set-cookie").len(), 1, "{reply:?}: {:?}", response.head);
        }
        let metrics = proxy.metrics_at_rest();
        for name in ["canary", "answer", "trap"] {
            let calls = [("plugin", name), ("phase", "response-filter")];
            let count = metrics.sum("edgewright_plugin_calls_total", &calls);
            assert!((count - 2.0).abs() < f64::EPSILON, "{reply:?}: {count} calls of {name}");
        }
    };
    check("HTTP/1.1 204 No Content\r\n\r\n");
    check("HTTP/1.1 304 Not Modified\r\n\r\n");
    check("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
}

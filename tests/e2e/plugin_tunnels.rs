//! Connections that switch protocols on a route with every kind of plugin.

use edgewright_tests::{Ask, Connection, DEADLINE, Origin, Proxy, Setup, ask, get, guest, wait_for};

const SWITCH: &str = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                      Sec-WebSocket-Accept: yes\r\nSec-WebSocket-Protocol: chat\r\n\r\n";

/// Switches and sends back what comes, until the end.
fn echo() -> Origin {
    Origin::script(|request, wire| {
        if !request.head.has("upgrade") {
            return wire.send(edgewright_tests::origin::OK.as_bytes());
        }
        wire.send(SWITCH.as_bytes())?;
        loop {
            let frame = wire.ahead().to_vec();
            if !frame.is_empty() {
                wire.body(edgewright_tests::message::Framing::Length(frame.len()))?;
                wire.send(&frame)?;
            }
            if wire.fill()? == 0 {
                return Err(std::io::ErrorKind::ConnectionAborted.into());
            }
        }
    })
}

fn proxy(mode: &str, origin: &Origin) -> Proxy {
    Setup::new()
        .plugin("trap", &guest("trap"), "isolation = \"reuse\"")
        .plugin("shout", &guest("shout"), &format!("isolation = \"reuse\"\nbody = {{ request = {mode} }}"))
        .plugin(
            "elephant",
            &guest("elephant"),
            &format!("isolation = \"reuse\"\nbody = {{ response = {mode} }}"),
        )
        .upstream("main", origin)
        .route_all(r#"["trap", "shout", { name = "elephant", config = { word = "dog" } }]"#, "main")
        .start()
}

fn upgrade() -> Ask {
    get("/ws")
        .header("Connection", "keep-alive, Upgrade")
        .header("Upgrade", "WebSocket")
        .header("Sec-WebSocket-Key", "x")
        .header("Sec-WebSocket-Version", "13")
}

fn check_frame(client: &mut Connection, frame: &[u8]) {
    client.send(frame);
    let back = client.take(frame.len());
    assert!(back == frame, "{:?} came back as {:?}", frame.get(..20), back.get(..20));
}

#[test]
fn case_28_frames_pass_through_body_plugins_untouched() {
    for mode in ["\"stream\"", "{ buffer = \"64KiB\" }"] {
        let origin = echo();
        let proxy = proxy(mode, &origin);
        let mut client = proxy.connect();
        client.send(upgrade().bytes());
        let head = client.head();
        assert_eq!(head.status(), 101, "{mode}: {head:?}");
        assert_eq!(head.field("upgrade").as_deref(), Some("websocket"));
        assert!(
            head.field("connection").is_some_and(|value| value.eq_ignore_ascii_case("upgrade")),
            "{head:?}"
        );
        assert_eq!(head.field("sec-websocket-accept").as_deref(), Some("yes"));
        assert_eq!(head.field("sec-websocket-protocol").as_deref(), Some("chat"));
        for number in 0..100_usize {
            let frame: Vec<u8> = (0..=255).cycle().skip(number).take(number * 7 + 1).collect();
            check_frame(&mut client, &frame);
        }
        check_frame(&mut client, b"a cat in a frame");
        check_frame(&mut client, &vec![0xa5; 1024 * 1024]);
        client.finish();
        drop(client);
        wait_for(DEADLINE, "the end of the tunnel at the origin", || origin.closed() == 1);
        let line = &proxy.access_log(1)[0];
        assert_eq!(line["status"], 101, "{line}");
        let calls = [("phase", "request-body-filter"), ("phase", "response-body-filter")];
        for label in calls {
            let count = proxy.metrics().sum("edgewright_plugin_calls_total", &[label]);
            assert!(count.abs() < f64::EPSILON, "{mode}: {count} calls of {}", label.1);
        }
    }
}

#[test]
fn case_28_a_refused_handshake_reaches_no_upstream() {
    let origin = echo();
    let proxy = proxy("\"stream\"", &origin);
    let _ = proxy.ask(&upgrade().header("X-Boom", "1")).expect_status(503);
    assert_eq!(origin.connections(), 0);
}

/// What is not looked at behind a switch can't be sent in front of it either.
#[test]
fn a_body_does_not_get_past_the_plugins_by_asking_for_a_switch() {
    for mode in ["\"stream\"", "{ buffer = \"64KiB\" }"] {
        let origin = echo();
        let proxy = proxy(mode, &origin);
        let request = ask("POST", "/ws").header("Connection", "Upgrade").header("Upgrade", "x").body("hello");
        let _ = proxy.ask(&request).expect_status(200);
        let seen = origin.last();
        assert_eq!(seen.body, b"HELLO!", "{mode}");
        assert!(!seen.head.has("upgrade"), "{mode}: {:?}", seen.head);
    }
}

//! Responses that come piece by piece: each piece goes on as it comes.

use edgewright_tests::{Gate, Origin, Setup, get, guest};

/// Server-sent events, through a plugin that looks at heads alone.
#[test]
fn case_29_events_flow_at_once() {
    let gates = [Gate::default(), Gate::default()];
    let held = gates.clone();
    let origin = Origin::script(move |_, wire| {
        wire.send(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
        )?;
        held[0].pass();
        wire.send(b"9\r\ndata: 1\n\n\r\n")?;
        held[1].pass();
        wire.send(b"9\r\ndata: 2\n\n\r\n0\r\n\r\n")
    });
    let proxy = Setup::new()
        .plugin("mark", &guest("mark"), "isolation = \"reuse\"")
        .upstream("main", &origin)
        .route_all(r#"[{ name = "mark", config = { name = "m" } }]"#, "main")
        .start();
    let mut client = proxy.connect();
    client.send(get("/events").bytes());
    // Each is here before the upstream sends what follows.
    let head = client.head();
    assert_eq!(head.status(), 200);
    assert_eq!(head.field("content-type").as_deref(), Some("text/event-stream"));
    gates[0].open();
    assert_eq!(client.take(14), b"9\r\ndata: 1\n\n\r\n");
    gates[1].open();
    assert_eq!(client.take(19), b"9\r\ndata: 2\n\n\r\n0\r\n\r\n");
}

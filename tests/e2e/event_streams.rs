//! Streams of events: each one is at the client before the next one is sent.

use edgewright_tests::{Gate, Origin, Proxy, Setup, get, guest};

const EVENTS: usize = 5;

/// Sends an event once its gate is open.
fn events(gates: &[Gate]) -> Origin {
    let gates = gates.to_vec();
    Origin::script(move |_, wire| {
        wire.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")?;
        for (number, gate) in gates.iter().enumerate() {
            gate.pass();
            wire.send(format!("data: cat {number}\n\n").as_bytes())?;
        }
        // Its end is that of the connection.
        Err(std::io::ErrorKind::ConnectionAborted.into())
    })
}

fn proxy(plugins: &str, manifest: &str, origin: &Origin) -> Proxy {
    Setup::new()
        .server("threads = 1")
        .plugin("trap", &guest("trap"), "isolation = \"reuse\"")
        .plugin("elephant", &guest("elephant"), manifest)
        .upstream("main", origin)
        .route_all(plugins, "main")
        .start()
}

const ELEPHANT: &str = r#"[{ name = "elephant", config = { word = "dog" } }]"#;

#[test]
fn case_29_events_flow_at_once() {
    let check = |plugins: &str, manifest: &str, word: &str| {
        let gates: Vec<Gate> = (0..EVENTS).map(|_| Gate::default()).collect();
        let origin = events(&gates);
        let proxy = proxy(plugins, manifest, &origin);
        let mut client = proxy.connect();
        client.send("GET /events HTTP/1.1\r\nHost: a.test\r\n\r\n");
        // The head comes before any event.
        assert_eq!(client.head().status(), 200);
        for (number, gate) in gates.iter().enumerate() {
            gate.open();
            client.wait_for_text(&format!("data: {word} {number}\n\n"));
        }
    };
    check(r#"["trap"]"#, "", "cat");
    check(ELEPHANT, "isolation = \"reuse\"\nbody = { response = \"stream\" }", "dog");
    // A plugin that wants all of a body never gets it: it is left out.
    let skip = "isolation = \"reuse\"\n[body]\nresponse = { buffer = \"1MiB\" }\nunfit = \"skip\"";
    check(ELEPHANT, skip, "cat");
}

#[test]
fn case_29_a_plugin_that_must_see_all_of_it_is_told_at_once() {
    let origin = events(&[]);
    let proxy = proxy(ELEPHANT, "body = { response = { buffer = \"1MiB\" } }", &origin);
    let _ = proxy.ask(&get("/events")).expect_status(502);
    let line = &proxy.access_log(1)[0];
    assert!(line["cause"].to_string().contains("a stream of events"), "{line}");
}

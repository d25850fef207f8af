//! Requests that switch protocols, and the tunnels behind them.

use std::io::ErrorKind;
use std::time::Duration;

use edgewright_tests::{Connection, DEADLINE, Origin, Proxy, Setup, get, wait_for};

const SWITCH: &str = "GET /ws HTTP/1.1\r\nHost: a.test\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n\
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: chat\r\n\r\n";

const SWITCHED: &str = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
    Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nSec-WebSocket-Protocol: chat\r\n\r\n";

/// Switches on `/ws`, then sends back what it gets; says nothing on `/silent`.
fn echo() -> Origin {
    Origin::script(|request, wire| {
        match request.target().as_str() {
            "/ws" => wire.send(SWITCHED.as_bytes())?,
            "/silent" => {
                while wire.fill()? > 0 {}
                return Err(ErrorKind::ConnectionAborted.into());
            }
            _ => return wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
        }
        let mut sent = 0;
        loop {
            let fresh = wire.ahead().get(sent..).unwrap_or_default().to_vec();
            sent += fresh.len();
            wire.send(&fresh)?;
            if wire.fill()? == 0 {
                return Err(ErrorKind::ConnectionAborted.into());
            }
        }
    })
}

/// The upstream's own limit is short: a tunnel is not held to it.
fn proxy(origin: &Origin, tunnel: &str) -> Proxy {
    Setup::new()
        .server(&format!("timeouts = {{ tunnel = \"{tunnel}\" }}"))
        .config(&format!(
            "[upstreams.main]\npeers = [\"{}\"]\ntimeouts = {{ read = \"1s\" }}",
            origin.address()
        ))
        .route("default", "match = { path = [\"/ws\", \"/silent\", \"/x\"] }", "main")
        .start()
}

fn open(proxy: &Proxy) -> Connection {
    let mut client = proxy.connect();
    client.send(SWITCH);
    let head = client.head();
    assert_eq!(head.status(), 101, "{head:?}");
    assert_eq!(head.field("upgrade").unwrap().to_ascii_lowercase(), "websocket");
    assert_eq!(head.field("connection").unwrap().to_ascii_lowercase(), "upgrade");
    assert_eq!(head.field("sec-websocket-accept").unwrap(), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    assert_eq!(head.field("sec-websocket-protocol").unwrap(), "chat");
    client
}

/// Sends bytes and waits until they came back.
fn bounce(client: &mut Connection, bytes: &[u8]) {
    client.send(bytes);
    assert!(client.take(bytes.len()) == bytes, "{} bytes came back changed", bytes.len());
}

#[test]
fn case_28_a_tunnel_carries_every_byte_and_may_be_silent() {
    let origin = echo();
    let proxy = proxy(&origin, "1m");
    let mut client = open(&proxy);
    for size in [1_usize, 100, 5_000, 1_000_000] {
        let bytes: Vec<u8> = (0..size).map(|at| u8::try_from(at % 251).unwrap()).collect();
        bounce(&mut client, &bytes);
    }
    bounce(&mut client, b"0\r\n\r\n");
    bounce(&mut client, b"GET /x HTTP/1.1\r\n\r\n");
    // Longer than the upstream may be silent before an answer.
    assert!(!client.closes_within(Duration::from_millis(1500)));
    client.patience();
    bounce(&mut client, b"still there");
    drop(client);
    wait_for(DEADLINE, "the end to reach the upstream", || origin.closed() == 1);
    let line = proxy.access_log(1).pop().unwrap();
    assert_eq!(line["status"], 101, "{line}");
}

#[test]
fn a_tunnel_in_which_nothing_passes_ends() {
    let origin = echo();
    let proxy = proxy(&origin, "3s");
    let mut client = open(&proxy);
    // Bytes in either direction count.
    for _ in 0..4 {
        assert!(!client.closes_within(Duration::from_millis(800)));
        client.patience();
        bounce(&mut client, b"x");
    }
    assert!(client.closes_within(DEADLINE));
    let line = proxy.access_log(1).pop().unwrap();
    assert_eq!((&line["status"], &line["error"]), (&101.into(), &"tunnel-idle".into()), "{line}");
}

#[test]
fn an_upstream_that_does_not_answer_a_switch_is_504_in_time() {
    let origin = echo();
    let proxy = proxy(&origin, "1m");
    let mut client = proxy.connect();
    client.send(SWITCH.replace("/ws", "/silent"));
    assert_eq!(client.response_to("GET").status, 504);
    assert_eq!(proxy.access_log(1)[0]["error"], "upstream-timeout");
}

/// What a client sends before the 101 is no part of a tunnel that never comes to be: it is a request of its own.
#[test]
fn c01_bytes_before_a_switch_reach_no_upstream() {
    let origin = echo();
    let proxy = proxy(&origin, "1m");
    let behind = "GET /admin HTTP/1.1\r\nHost: a.test\r\n\r\n";
    let mut client = proxy.connect();
    client.send([&SWITCH.replace("/ws", "/x"), behind].concat());
    assert_eq!(client.response_to("GET").status, 200);
    // There is no route for it.
    assert_eq!(client.response_to("GET").status, 404);
    assert_eq!(client.ask(&get("/x")).status, 200, "the connection goes on");
    assert!(origin.requests().iter().all(|request| request.target() == "/x"));
    // Where the switch comes, they are its first bytes.
    let mut client = proxy.connect();
    client.send([SWITCH, "early"].concat());
    assert_eq!(client.head().status(), 101);
    assert_eq!(client.take(5), b"early");
}

/// A quick 101 on a connection that was kept finds the request's end noted: the tunnel stays open.
#[test]
fn c01_a_switch_may_come_on_a_kept_connection() {
    let origin = echo();
    let proxy = proxy(&origin, "1m");
    let mut client = proxy.connect();
    assert_eq!(client.ask(&get("/x")).status, 200);
    // One on which nothing was switched is kept as well.
    client.send(SWITCH.replace("/ws", "/x"));
    assert_eq!(client.response_to("GET").status, 200);
    client.send(SWITCH);
    assert_eq!(client.head().status(), 101);
    bounce(&mut client, b"x");
    assert_eq!(origin.connections(), 1);
    for _ in 0..20 {
        // Kept by some worker; clients are on all of them.
        let mut clients = [proxy.connect(), proxy.connect(), proxy.connect()];
        for client in &mut clients {
            assert_eq!(client.ask(&get("/x")).status, 200);
        }
        for client in &mut clients {
            client.send(SWITCH);
            assert_eq!(client.head().status(), 101);
            bounce(client, b"x");
        }
    }
}

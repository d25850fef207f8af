//! What a client of HTTP/2 may try: more fields than anyone needs, bodies that are not as long as told, and floods of
//! frames. The connection ends, the upstream is left alone, and everybody else is served.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use edgewright_tests::{DEADLINE, Origin, Proxy, Setup, get, h2c, wait_for_value};

fn plain(origin: &Origin) -> Proxy {
    Setup::new().with_h2().upstream("main", origin).route("default", "", "main").start()
}

const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const CONTINUATION: u8 = 9;

const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// `GET http://a.test/` in HPACK.
const REQUEST: &[u8] = b"\x82\x86\x84\x41\x06a.test";

/// RFC 9113, section 4.1.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A connection whose preface is said.
fn open(proxy: &Proxy) -> TcpStream {
    let mut stream = TcpStream::connect(proxy.address()).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream.set_write_timeout(Some(DEADLINE)).unwrap();
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").unwrap();
    stream.write_all(&frame(SETTINGS, 0, 0, b"")).unwrap();
    stream
}

/// Sends until the peer takes no more; how many bytes it took, or `None` if it took all of them.
fn flood(stream: &mut TcpStream, piece: &[u8], times: usize) -> Option<usize> {
    (0..times).find(|_| stream.write_all(piece).is_err()).map(|sent| sent * piece.len())
}

/// Whether the peer ends the connection, whatever it says before.
fn ends(stream: &mut TcpStream) -> bool {
    let mut piece = [0; 16 * 1024];
    loop {
        match stream.read(&mut piece) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    }
}

#[test]
fn g11_crumbs_are_joined_and_too_many_fields_refused() {
    let origin = Origin::ok();
    let proxy = plain(&origin);
    let crumbs: Vec<String> = (0..80).map(|at| format!("c{at}={at}")).collect();
    let fields: Vec<_> = crumbs.iter().map(|crumb| ("cookie", crumb.as_str())).collect();
    assert_eq!(h2c::get(proxy.address(), "/x", &fields).status, 200);
    assert_eq!(origin.last().field("cookie").unwrap(), crumbs.join("; "));
    for name in ["cookie", "x-a"] {
        let fields: Vec<_> = (0..1500).map(|_| (name, "a=b")).collect();
        assert_eq!(h2c::get(proxy.address(), "/x", &fields).status, 431, "{name}");
    }
    assert_eq!(origin.requests().len(), 1);
}

/// Two thousand requests that are taken back at once.
#[test]
fn c31_rapid_resets_end_the_connection() {
    let origin = Origin::ok();
    let proxy = plain(&origin);
    assert_eq!(proxy.get("/x").status, 200);
    let before = proxy.resident();
    let mut stream = open(&proxy);
    let pair = |at: u32| {
        let id = 2 * at + 1;
        let request = frame(HEADERS, END_STREAM | END_HEADERS, id, REQUEST);
        [request, frame(RST_STREAM, 0, id, &8_u32.to_be_bytes())].concat()
    };
    // Many at once, however busy the machine is: one by one, they might be dealt with as they come.
    let ended = (0..30).any(|batch| {
        let pairs: Vec<u8> = (batch * 100..batch * 100 + 100).flat_map(pair).collect();
        stream.write_all(&pairs).is_err()
    });
    assert!(ended || ends(&mut stream), "the connection goes on");
    refused(&proxy, "excessive load");
    assert!(origin.requests().len() <= 300, "{} requests at the origin", origin.requests().len());
    assert_eq!(proxy.get("/x").status, 200);
    let grown = proxy.resident().saturating_sub(before);
    assert!(grown < 16 * 1024, "{grown} KiB more");
}

#[test]
fn c33_heads_without_end_are_cut() {
    let origin = Origin::ok();
    let proxy = plain(&origin);
    // Fields that add up, and nothing at all over and over.
    for piece in [[0x40, 1, b'a', 1, b'b'].repeat(200).as_slice(), b""] {
        let mut stream = open(&proxy);
        stream.write_all(&frame(HEADERS, END_STREAM, 1, REQUEST)).unwrap();
        let sent = flood(&mut stream, &frame(CONTINUATION, 0, 1, piece), 500_000);
        assert!(sent.is_some() || ends(&mut stream), "{} bytes a frame: all taken", piece.len());
        assert_eq!(proxy.get("/x").status, 200);
    }
    assert_eq!(origin.requests().len(), 2);
}

/// A client that asks and never reads what it is told.
#[test]
fn c35_control_frames_without_reading_fill_no_memory() {
    let origin = Origin::ok();
    let proxy = plain(&origin);
    assert_eq!(proxy.get("/x").status, 200);
    let before = proxy.resident();
    for piece in [frame(PING, 0, 0, &[0; 8]), frame(SETTINGS, 0, 0, b""), frame(0xee, 0, 0, b"unknown")] {
        let mut stream = open(&proxy);
        stream.set_write_timeout(Some(Duration::from_secs(2))).unwrap();
        flood(&mut stream, &piece.repeat(100), 1000);
        assert_eq!(proxy.get("/x").status, 200);
        let grown = proxy.resident().saturating_sub(before);
        assert!(grown < 16 * 1024, "{grown} KiB more");
    }
}

/// Heads of few bytes that unfold to many lines.
#[test]
fn g12_a_bomb_of_references_unfolds_to_little() {
    let origin = Origin::ok();
    let proxy = plain(&origin);
    assert_eq!(proxy.get("/x").status, 200);
    let before = proxy.resident();
    // One line goes into the table, the others are a byte each.
    let head = [REQUEST, b"\x40\x01a\x00", &[0xbe; 1700]].concat();
    let streams: Vec<u8> =
        (0..100_u32).flat_map(|at| frame(HEADERS, END_STREAM | END_HEADERS, 2 * at + 1, &head)).collect();
    let connections: Vec<TcpStream> = (0..20)
        .map(|_| {
            let mut stream = open(&proxy);
            let _ = stream.write_all(&streams);
            stream
        })
        .collect();
    assert_eq!(proxy.get("/x").status, 200);
    let grown = proxy.resident().saturating_sub(before);
    assert!(grown < 20 * 4 * 1024, "{grown} KiB more");
    drop(connections);
    assert_eq!(proxy.get("/x").status, 200);
    assert_eq!(origin.requests().len(), 3, "none of them reaches the upstream");
}

/// A client that says it sends nothing, and sends something, is malformed before the upstream hears of it.
#[test]
fn a_body_that_was_said_to_be_empty_reaches_no_upstream() {
    const DATA: u8 = 0;
    let origin = Origin::ok();
    let proxy = plain(&origin);
    let head = b"\x83\x86\x84\x41\x06a.test\x00\x0econtent-length\x010";
    let mut stream = open(&proxy);
    stream.write_all(&frame(HEADERS, END_HEADERS, 1, head)).unwrap();
    assert_eq!(proxy.get("/meanwhile").status, 200);
    stream.write_all(&frame(DATA, END_STREAM, 1, b"x")).unwrap();
    // Those that end as they say are served, at once and a little later.
    stream.write_all(&frame(HEADERS, END_HEADERS | END_STREAM, 3, head)).unwrap();
    stream.write_all(&frame(HEADERS, END_HEADERS, 5, head)).unwrap();
    stream.write_all(&frame(DATA, END_STREAM, 5, b"")).unwrap();
    origin.wait_for_requests(3);
    let refused = proxy.access_log(4).into_iter().find(|line| line["error"] != serde_json::Value::Null);
    assert_eq!(refused.unwrap()["error"], "bad-request");
    let methods: Vec<String> = origin.requests().iter().map(|request| request.head.method()).collect();
    assert_eq!(methods, ["GET", "POST", "POST"]);
}

/// Waits for the line of something that was refused before it was a request, and returns it.
fn refused(proxy: &Proxy, cause: &str) -> serde_json::Value {
    wait_for_value(&format!("a line with `{cause}`"), || {
        let text = proxy.stdout();
        let line = text.lines().find(|line| line.contains("\"cause\"") && line.contains(cause))?;
        serde_json::from_str(line).ok()
    })
}

/// RFC 9113, sections 6.5.2, 6.7, 8.1.1 and 8.3: the library answers by itself, and the log has a line all the same.
#[test]
fn what_the_library_refuses_has_a_line() {
    let origin = Origin::ok();
    let proxy = plain(&origin);
    let whole = END_HEADERS | END_STREAM;
    let check = |frames: &[u8], cause: &str, status: u16, error: &str| {
        let mut stream = open(&proxy);
        stream.write_all(frames).unwrap();
        let line = refused(&proxy, cause);
        assert_eq!((&line["status"], &line["error"]), (&status.into(), &error.into()), "{line}");
        assert_eq!((&line["client"], &line["protocol"]), (&"127.0.0.1".into(), &"HTTP/2".into()), "{line}");
        assert_eq!(proxy.get("/x").status, 200);
    };
    check(&frame(HEADERS, whole, 1, b"\x82\x84\x41\x06a.test"), "missing scheme", 0, "bad-request");
    check(&frame(HEADERS, whole, 1, b"\x86\x84\x41\x06a.test"), "missing method", 0, "bad-request");
    check(&frame(HEADERS, whole, 1, b"\x82\x86\x84\x41\x03a b"), "malformed authority", 0, "bad-request");
    // A field that only HTTP/1 has (section 8.2.2).
    let old = [REQUEST, b"\x00\x0aconnection\x05close"].concat();
    check(&frame(HEADERS, whole, 1, &old), "malformed header block", 0, "bad-request");
    let many = [REQUEST, b"\x40\x01a\x00", &[0xbe; 1700]].concat();
    check(&frame(HEADERS, whole, 1, &many), "over size", 431, "headers-too-large");
    // Of a wrong length: the connection ends.
    check(&frame(PING, 0, 0, &[0; 7]), "unspecific protocol error", 0, "bad-request");
    assert_eq!(origin.requests().len(), 6);
    let sum = proxy.metrics_at_rest().sum("edgewright_requests_total", &[("class", "4xx")]);
    assert!(sum >= 1.0, "{sum}");
}

/// RFC 8441 is not offered: clients of WebSocket take HTTP/1.1.
#[test]
fn c43_tunnels_over_http_2_are_refused() {
    let origin = Origin::ok();
    let proxy = plain(&origin);
    let connect = b"\x02\x07CONNECT\x41\x06a.test";
    let mut stream = open(&proxy);
    stream.write_all(&frame(HEADERS, END_HEADERS, 1, connect)).unwrap();
    let line = proxy.access_log(1).pop().unwrap();
    assert_eq!((&line["status"], &line["error"]), (&405.into(), &"method-not-allowed".into()), "{line}");
    let extended = [connect.as_slice(), b"\x86\x84\x00\x09:protocol\x09websocket"].concat();
    let mut stream = open(&proxy);
    stream.write_all(&frame(HEADERS, END_HEADERS, 1, &extended)).unwrap();
    assert_eq!(refused(&proxy, "protocol")["status"], 0);
    assert_eq!(origin.connections(), 0);
    assert_eq!(proxy.get("/x").status, 200);
}

#[test]
fn a_scheme_that_is_not_of_the_web_is_refused() {
    let origin = Origin::ok();
    let proxy = plain(&origin);
    // `:scheme` as a literal.
    let head = b"\x82\x06\x03ftp\x84\x41\x06a.test";
    let mut stream = open(&proxy);
    stream.write_all(&frame(HEADERS, END_HEADERS | END_STREAM, 1, head)).unwrap();
    assert_eq!(proxy.access_log(1)[0]["status"], 400);
    assert!(origin.requests().is_empty());
}

/// A length that the body doesn't have, and a framing that HTTP/2 doesn't know.
#[test]
fn c15_bodies_of_http_2_smuggle_nothing() {
    const DATA: u8 = 0;
    let origin = Origin::ok();
    let proxy = plain(&origin);
    // `POST http://a.test/` with another field each.
    let request = |name: &[u8], value: &[u8]| {
        let lengths = |text: &[u8]| u8::try_from(text.len()).unwrap();
        [b"\x83\x86\x84\x41\x06a.test\x00".as_slice(), &[lengths(name)], name, &[lengths(value)], value]
            .concat()
    };
    let smuggled = b"GET /smuggled HTTP/1.1\r\nHost: a.test\r\n\r\n";
    for head in [request(b"content-length", b"0"), request(b"transfer-encoding", b"chunked")] {
        let mut stream = open(&proxy);
        stream.write_all(&frame(HEADERS, END_HEADERS, 1, &head)).unwrap();
        let _ = stream.write_all(&frame(DATA, END_STREAM, 1, smuggled));
        stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        ends(&mut stream);
        assert_eq!(proxy.ask(&get("/next")).status, 200);
    }
    assert!(origin.requests().iter().all(|request| request.target() != "/smuggled"));
}

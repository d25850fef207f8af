//! Bodies of requests on their way up: one end each, one reading of their length, and no waiting for each other.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::sync::{Arc, Mutex};

use edgewright_tests::message::Framing;
use edgewright_tests::{Connection, DEADLINE, Origin, Proxy, Setup, get, h2c};

fn plain(origin: &Origin) -> Proxy {
    Setup::new().server("threads = 1").with_h2().upstream("main", origin).route("default", "", "main").start()
}

/// RFC 9112, section 7.1: the body ends with the first chunk of length 0.
#[test]
fn a_body_of_http_2_that_ends_with_an_empty_frame_has_one_end() {
    let origin = Origin::ok();
    let proxy = plain(&origin);
    let check = |frames: &[&'static str], body: &str| {
        let before = origin.requests().len();
        assert_eq!(h2c::post(proxy.address(), "/up", frames).status, 200, "{frames:?}");
        assert_eq!(proxy.get("/next").status, 200, "{frames:?}");
        // A second end would be read as a request of its own.
        let seen = origin.requests().split_off(before);
        let starts: Vec<_> =
            seen.iter().map(|request| request.head.start.escape_ascii().to_string()).collect();
        assert_eq!(starts, ["POST /up HTTP/1.1", "GET /next HTTP/1.1"], "{frames:?}");
        assert_eq!((seen[0].body.as_slice(), seen[0].framing), (body.as_bytes(), Framing::Chunked));
    };
    check(&["hello"], "hello");
    check(&["hel", "lo"], "hello");
    check(&[], "");
    assert_eq!(origin.connections(), 1, "the connection stays in use");
}

/// RFC 9110, section 10.1.1.
#[test]
fn a_client_that_expects_100_gets_it_before_it_sends_the_body() {
    let origin = Origin::ok();
    let proxy = plain(&origin);
    let mut client = proxy.connect();
    for _ in 0..2 {
        client.send("POST /x HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\nExpect: 100-Continue\r\n\r\n");
        assert_eq!(client.head().status(), 100);
        client.send("hello");
        let response = client.response_to("POST").expect_status(200);
        assert_eq!(response.text(), "ok");
        let seen = origin.last();
        assert_eq!(seen.body, b"hello");
        assert!(!seen.head.has("expect"), "{:?}", seen.head);
    }
    assert_eq!(client.ask(&get("/next")).status, 200);
    assert_eq!(origin.requests().len(), 3);
}

/// RFC 9110, section 10.1.1: there is nothing to wait for.
#[test]
fn an_expectation_without_a_body_gets_the_answer_alone() {
    let origin = Origin::ok();
    let proxy = Setup::new().upstream("main", &origin).route("default", "", "main").start();
    let mut client = proxy.connect();
    client.send("GET /x HTTP/1.1\r\nHost: a.test\r\nExpect: 100-continue\r\n\r\n");
    assert_eq!(client.head().status(), 200);
    assert!(!origin.last().head.has("expect"));
}

#[test]
fn c41_other_expectations_are_refused() {
    let origin = Origin::ok();
    let proxy = plain(&origin);
    let check = |expectation: &str| {
        let mut client = proxy.connect();
        client.send(format!(
            "POST /x HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\nExpect: {expectation}\r\n\r\n"
        ));
        let head = client.head();
        assert_eq!(head.status(), 417, "{expectation}: {head:?}");
    };
    check("tea");
    check("100-continue, tea");
    check("y 100-continue");
    check("");
    assert_eq!(origin.connections(), 0);
    assert_eq!(proxy.get("/x").status, 200);
}

/// An answer that comes before the body: what is behind the head stays a body, whatever it looks like.
#[test]
fn c41_a_body_behind_an_early_answer_is_no_request() {
    let smuggled = "GET /smuggled HTTP/1.1\r\nHost: a.test\r\n\r\n";
    for status in ["200 OK", "417 Expectation Failed"] {
        let origin = EarlyOrigin::start(status);
        let proxy = Setup::new()
            .config(&format!("[upstreams.main]\npeers = [\"{}\"]", origin.address))
            .route("default", "", "main")
            .start();
        let mut client = proxy.connect();
        client.send(format!(
            "POST /x HTTP/1.1\r\nHost: a.test\r\nContent-Length: {}\r\nExpect: 100-continue\r\n\r\n",
            smuggled.len()
        ));
        // An interim answer may come before.
        assert_eq!(client.response_to("POST").status.to_string(), status[..3]);
        client.send(smuggled);
        // It ends, or takes the body for one.
        if let Ok(next) = client.try_ask(&get("/next")) {
            assert_eq!(next.status.to_string(), status[..3], "{:?}", next.head);
        }
        assert_eq!(proxy.get("/probe").status.to_string(), status[..3]);
        let targets = origin.targets.lock().unwrap().clone();
        assert!(targets.iter().all(|target| target != "/smuggled"), "{targets:?}");
    }
}

/// Answers each head as soon as it is there, and closes. Keeps the targets that it was asked for.
struct EarlyOrigin {
    address: std::net::SocketAddr,
    targets: Arc<Mutex<Vec<String>>>,
}

impl EarlyOrigin {
    fn start(status: &'static str) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let targets = Arc::<Mutex<Vec<String>>>::default();
        let keep = Arc::clone(&targets);
        let serve = move || {
            for stream in listener.incoming() {
                let mut stream = BufReader::new(stream.unwrap());
                let mut lines =
                    stream.by_ref().lines().map_while(Result::ok).take_while(|line| !line.is_empty());
                let Some(first) = lines.next() else { continue };
                lines.for_each(drop);
                keep.lock().unwrap().push(first.split(' ').nth(1).unwrap_or_default().to_owned());
                let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
                let _ = stream.get_mut().write_all(answer.as_bytes());
                // What comes behind it is no request either.
                let _ = stream.get_mut().shutdown(std::net::Shutdown::Write);
                let mut rest = String::new();
                let _ = stream.read_to_string(&mut rest);
            }
        };
        std::thread::Builder::new().name("early origin".to_owned()).spawn(serve).unwrap();
        Self { address, targets }
    }
}

/// RFC 9110, section 8.6; RFC 9112, sections 6.1 and 6.3.
#[test]
fn g02_case_07_a_length_that_could_be_read_in_two_ways_is_refused() {
    let origin = Origin::ok();
    let proxy = plain(&origin);
    let check = |fields: &str, body: &str| {
        let mut client = proxy.connect();
        client.send(format!("POST /x HTTP/1.1\r\nHost: a.test\r\n{fields}\r\n\r\n{body}"));
        let response = client.response_to("POST");
        assert_eq!(response.status, 400, "{fields:?}");
        assert!(client.closes_within(DEADLINE), "{fields:?}");
    };
    check("Content-Length: 5\r\nContent-Length: 5", "hello");
    check("Content-Length: 5\r\nContent-Length: 6", "hello");
    check("Content-Length: 5, 5", "hello");
    check("Content-Length: 005", "hello");
    check("Content-Length: 010", "0123456789");
    check("Content-Length: +5", "hello");
    check("Content-Length: -5", "hello");
    check("Content-Length: 0x5", "hello");
    check("Content-Length:", "");
    let chunked = "5\r\nhello\r\n0\r\n\r\n";
    check("Transfer-Encoding: x, chunked", chunked);
    check("Transfer-Encoding: chunked, chunked", chunked);
    check("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", chunked);
    check("Transfer-Encoding: gzip", "hello");
    assert_eq!(origin.connections(), 0);
    assert_eq!(proxy.get("/x").status, 200);
}

/// RFC 9112, section 6.3: the chunks count, and no length goes on with them.
#[test]
fn case_07_a_length_beside_chunks_is_refused_or_left_out() {
    let origin = Origin::ok();
    let proxy = plain(&origin);
    let mut client = proxy.connect();
    client.send(
        "POST /x HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    );
    let response = client.response_to("POST");
    if response.status == 200 {
        let seen = origin.last();
        assert_eq!((seen.body.as_slice(), seen.framing), (b"hello".as_slice(), Framing::Chunked));
        assert!(!seen.head.has("content-length"), "{:?}", seen.head);
    } else {
        assert_eq!(response.status, 400);
        assert_eq!(origin.connections(), 0);
    }
    assert!(client.closes_within(DEADLINE));
}

/// RFC 9112, section 7.1.
#[test]
fn c11_a_malformed_chunk_is_the_clients_fault() {
    let origin = Origin::ok();
    let proxy = plain(&origin);
    let check = |body: &str| {
        let mut client = Connection::open(proxy.address());
        client.send(format!("POST /x HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n{body}"));
        assert_eq!(client.response_to("POST").status, 400, "{body:?}");
        assert!(client.closes_within(DEADLINE), "{body:?}");
    };
    let bodies = [
        "zz\r\nhello\r\n0\r\n\r\n",
        "5\r\nhello\r\nzz\r\n",
        "-5\r\nhello\r\n0\r\n\r\n",
        "+5\r\nhello\r\n0\r\n\r\n",
        "0_5\r\nhello\r\n0\r\n\r\n",
        "0x5\r\nhello\r\n0\r\n\r\n",
        "5 \r\nhello\r\n0\r\n\r\n",
        "00000000000000005\r\nhello\r\n0\r\n\r\n",
        "5\r\nhelloXX\r\n0\r\n\r\n",
        "5\nhello\r\n0\r\n\r\n",
    ];
    bodies.into_iter().for_each(check);
    let lines = proxy.access_log(bodies.len());
    assert!(lines.iter().all(|line| line["error"] == "bad-request"), "{lines:#?}");
    assert_eq!(proxy.get("/x").status, 200);
    assert_eq!(origin.requests().len(), 1, "no request with a broken body arrived whole");
}

/// A peer whose kernel takes a connection and some bytes, and that never reads any of them.
#[test]
fn an_upstream_that_takes_nothing_is_504_when_its_time_to_write_is_over() {
    let deaf = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let peer = deaf.local_addr().unwrap();
    let check = |upstream: &str, route: &str| {
        let proxy = Setup::new()
            .config(&format!(
                "[upstreams.main]\npeers = [\"{peer}\"]\ntimeouts = {{ read = \"1h\"{upstream} }}"
            ))
            .route("default", route, "main")
            .start();
        let mut stream = std::net::TcpStream::connect(proxy.address()).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let mut body = stream.try_clone().unwrap();
        let send = std::thread::Builder::new().name("body".to_owned()).spawn(move || {
            let _ = body.write_all(b"POST /x HTTP/1.1\r\nHost: a.test\r\nContent-Length: 33554432\r\n\r\n");
            // Until the proxy has enough of it.
            let _ = body.write_all(&vec![b'x'; 33_554_432]);
        });
        let mut start = [0; 12];
        stream.read_exact(&mut start).expect("an answer long before the limit of reads");
        assert_eq!(start.as_slice(), b"HTTP/1.1 504", "{upstream} {route}");
        drop(stream);
        let line = proxy.access_log(1).pop().unwrap();
        assert_eq!((&line["status"], &line["error"]), (&504.into(), &"upstream-timeout".into()), "{line}");
        let _ = proxy.terminate(DEADLINE).expect_code(0);
        send.unwrap().join().unwrap();
    };
    check(", write = \"1s\"", "");
    // The route's own goes before.
    check(", write = \"1h\"", "timeouts = { write = \"1s\" }");
}

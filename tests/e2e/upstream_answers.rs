//! Answers of upstreams that break off, come in drops or are wrong: who is told what, and that nobody else is.

use std::io::ErrorKind;

use edgewright_tests::origin::OK;
use edgewright_tests::{DEADLINE, Gate, Origin, Proxy, Setup, get, h2c, wait_for};

/// How a connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Fin,
    /// Once the test has opened its gate.
    Reset,
    /// It does not.
    None,
}

/// Answers `/bad` with these bytes and this end, all else as it should be.
fn origin(bad: &str, end: End, gate: &Gate) -> Origin {
    let (bad, gate) = (bad.to_owned(), gate.clone());
    Origin::script(move |request, wire| {
        if request.target() != "/bad" {
            return wire.send(OK.as_bytes());
        }
        wire.send(bad.as_bytes())?;
        match end {
            End::Fin => Err(ErrorKind::ConnectionAborted.into()),
            End::Reset => {
                // A reset throws away what has not been read yet.
                gate.pass();
                wire.will_reset();
                Err(ErrorKind::ConnectionReset.into())
            }
            End::None => Ok(()),
        }
    })
}

fn start(origin: &Origin, lines: &str) -> Proxy {
    Setup::new()
        .with_h2()
        .config(&format!("[upstreams.main]\npeers = [\"{}\"]\n{lines}", origin.address()))
        .route("default", "", "main")
        .start()
}

#[test]
fn f8_a_body_that_breaks_off_is_no_whole_one() {
    // As long as a few segments: Pingora keeps less of a body that is counted until there is more.
    let piece = "hello".repeat(4000);
    let counted = format!("HTTP/1.1 200 OK\r\nContent-Length: 40000\r\n\r\n{piece}");
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n";
    for bad in [counted.as_str(), chunked] {
        for end in [End::Fin, End::Reset] {
            let gate = Gate::default();
            let origin = origin(bad, end, &gate);
            let proxy = start(&origin, "retries = { attempts = 5 }");
            let mut client = proxy.connect();
            client.send(get("/bad").bytes());
            if end == End::Reset {
                client.wait_for_text("hello");
                gate.open();
            }
            client.try_response_to("GET").expect_err("half a body is no response");
            assert!(!client.leftover().ends_with(b"0\r\n\r\n"), "{:?} {end:?}", &bad[..40]);
            assert_eq!(origin.requests().len(), 1, "{:?} {end:?}: sent once", &bad[..40]);
            if end == End::Fin {
                h2c::try_get(proxy.address(), "/bad", &[]).expect_err("a stream that is reset");
                assert_eq!(origin.requests().len(), 2, "{:?}: sent once", &bad[..40]);
            }
            // Nobody is given what is left of those connections.
            assert_eq!(proxy.get("/x").expect_status(200).text(), "ok");
            let requests = origin.requests();
            assert!(requests.windows(2).all(|pair| pair[0].connection != pair[1].connection));
        }
    }
}

#[test]
fn f9_an_upstream_that_stands_still_is_504_or_breaks_off() {
    let check = |sent: &str| {
        let origin = origin(sent, End::None, &Gate::default());
        let proxy = start(&origin, "timeouts = { read = \"300ms\" }");
        for _ in 0..5 {
            let mut client = proxy.connect();
            let answer = client.try_ask(&get("/bad"));
            if sent.contains("\r\n\r\n") {
                assert!(answer.is_err(), "half a body is no response");
            } else {
                assert_eq!(answer.expect("an answer").status, 504);
            }
            assert_eq!(proxy.get("/x").status, 200);
        }
        let lines = proxy.access_log(10);
        assert_eq!(lines.iter().filter(|line| line["error"] == "upstream-timeout").count(), 5);
        // Its connections end.
        wait_for(DEADLINE, "no connection to be left of them", || {
            origin.connections() - origin.closed() <= 2
        });
    };
    check("");
    check("HTTP/1.1 200 OK\r\nContent-Le");
    check("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello");
}

/// `None`: no whole response. Behind each, nobody else gets anything of it.
#[test]
fn f10_what_is_wrong_with_an_answer_poisons_nobody() {
    let check = |bad: &str, end: End, expected: Option<(u16, &str)>| {
        let origin = origin(bad, end, &Gate::default());
        let proxy = start(&origin, "timeouts = { read = \"2s\" }");
        for _ in 0..3 {
            let seen = proxy.connect().try_ask(&get("/bad")).ok().map(|it| (it.status, it.text()));
            let told = seen
                .as_ref()
                .map(|(status, text)| (*status, if *status == 200 { text.as_str() } else { "" }));
            assert_eq!(told, expected, "{:?} {end:?}", bad.get(..60));
            let mut client = proxy.connect();
            for _ in 0..20 {
                assert_eq!(client.ask(&get("/x")).expect_status(200).text(), "ok", "{:?}", bad.get(..60));
            }
        }
    };
    let chunks = |rest: &str| format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{rest}");
    let counted =
        |length: usize| format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\nokHTTP/1.1 200 X\r\n");
    check(&chunks("5\r\nhel"), End::Fin, None);
    check(&chunks("zz\r\nhello\r\n0\r\n\r\n"), End::None, None);
    check(&chunks("5\r\nhello!!\r\n0\r\n\r\n"), End::None, None);
    check(&counted(100), End::Fin, None);
    // The rest is nobody's.
    check(&counted(2), End::None, Some((200, "ok")));
    check(&"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(2000), End::None, Some((502, "")));
    check("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nmore", End::None, Some((502, "")));
    let giant = format!("HTTP/1.1 200 OK\r\nX: {}\r\nContent-Length: 0\r\n\r\n", "y".repeat(200 * 1024));
    check(&giant, End::None, Some((502, "")));
    check("HTTP/1.1 200 OK\r\n\r\nall of it", End::Fin, Some((200, "all of it")));
}

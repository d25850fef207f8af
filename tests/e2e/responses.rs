//! What of an upstream's response is passed on, and what is no HTTP.

use std::io::ErrorKind;

use edgewright_tests::{DEADLINE, Origin, Proxy, Response, Setup, get, h2c, wait_for};

const HINTS: &str = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
const OK: &str = edgewright_tests::origin::OK;

/// What an upstream does behind its bytes.
#[derive(Clone, Copy, PartialEq)]
enum Then {
    GoesOn,
    Closes,
    IsSilent,
}

fn answered(bytes: &str, then: Then) -> (Response, Proxy, Origin) {
    let bytes = bytes.to_owned();
    let origin = Origin::script(move |_, wire| {
        wire.send(bytes.as_bytes())?;
        match then {
            Then::GoesOn => Ok(()),
            Then::Closes => Err(ErrorKind::ConnectionAborted.into()),
            Then::IsSilent => wire.head().map(|_| ()),
        }
    });
    let proxy = Setup::new()
        .config(&format!(
            "[upstreams.main]\npeers = [\"{}\"]\ntimeouts = {{ read = \"500ms\" }}",
            origin.address()
        ))
        .route("default", "", "main")
        .start();
    (proxy.get("/x"), proxy, origin)
}

#[test]
fn what_is_no_response_is_502_and_what_does_not_come_is_504() {
    let check = |bytes: &str, then: Then, status: u16, error: &str| {
        let (response, proxy, _origin) = answered(bytes, then);
        assert_eq!(response.status, status, "{bytes:?}");
        let raw = [response.head.raw.as_slice(), &response.body].concat();
        assert!(!String::from_utf8_lossy(&raw).contains("SECRET"), "{bytes:?}");
        let line = &proxy.access_log(1)[0];
        assert_eq!((&line["status"], &line["error"]), (&status.into(), &error.into()), "{bytes:?}");
    };
    let broken = "upstream-broken";
    // RFC 9110, section 15: three digits, from 1 to 5.
    check("HTTP/1.1 999 SECRET\r\nContent-Length: 2\r\n\r\nok", Then::GoesOn, 502, broken);
    check("HTTP/1.1 600 SECRET\r\nContent-Length: 2\r\n\r\nok", Then::GoesOn, 502, broken);
    // RFC 9110, section 15.2: an interim response is not the answer.
    check(HINTS, Then::Closes, 502, broken);
    check(HINTS, Then::IsSilent, 504, "upstream-timeout");
    check("HTTP/1.1 100 Continue\r\n\r\n", Then::Closes, 502, broken);
    check("HTTP/1.1 100 Continue\r\n\r\n", Then::IsSilent, 504, "upstream-timeout");
}

/// RFC 9110, section 7.8: nobody asked for another protocol.
#[test]
fn g10_a_switch_that_nobody_asked_for_is_502_and_nothing_behind_it_passes() {
    let switch =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\nSECRET";
    let origin = Origin::script(move |request, wire| {
        if request.target() != "/switch" {
            return wire.send(OK.as_bytes());
        }
        wire.send(switch.as_bytes())?;
        // Until the proxy ends the connection.
        while wire.fill()? > 0 {}
        Err(ErrorKind::ConnectionAborted.into())
    });
    let proxy = Setup::new().upstream("main", &origin).route("default", "", "main").start();
    let mut client = proxy.connect();
    let response = client.ask(&get("/switch")).expect_status(502);
    client.expect_sound(&response);
    let all = [response.head.raw.as_slice(), &response.body].concat();
    assert!(!String::from_utf8_lossy(&all).contains("SECRET"), "{:?}", response.head);
    wait_for(DEADLINE, "the upstream's connection to end", || origin.closed() >= 1);
    assert_eq!(
        proxy.access_log(if response.field("connection").as_deref() == Some("close") { 1 } else { 2 })[0]["error"],
        "upstream-broken"
    );
    assert_eq!(proxy.get("/x").status, 200);
}

/// Some are passed on; without an end of them, it is no response.
#[test]
fn g16_f10_a_flood_of_interim_responses_is_502() {
    for (count, status) in [(1, 200), (10, 200), (11, 502), (2000, 502)] {
        let origin = Origin::reply([&HINTS.repeat(count), OK].concat());
        let proxy = Setup::new().upstream("main", &origin).route("default", "", "main").start();
        let mut client = proxy.connect();
        client.send(get("/x").bytes());
        let mut interim = 0;
        let answer = loop {
            match client.head().status() {
                103 => interim += 1,
                other => break other,
            }
        };
        assert_eq!(answer, status, "{count}");
        assert!(interim <= 10, "{interim} of {count} were passed on");
        // Nobody else is given what is left of them.
        for _ in 0..5 {
            assert_eq!(proxy.get("/x").status, status, "{count}");
        }
        assert_eq!(proxy.admin("/healthz").status, 200);
    }
}

/// Whatever an upstream sends on one connection, requests on others are answered as if nothing had been.
#[test]
fn f10_broken_responses_poison_no_other() {
    let rows = [
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\npoi",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\npoisoned\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npoi",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\npoisoned",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\npoisoned",
        "HTTP/1.1 200 OK\r\n\r\nno length",
    ];
    let long = format!("HTTP/1.1 200 OK\r\nX: {}\r\nContent-Length: 8\r\n\r\npoisoned", "y".repeat(200_000));
    let flood = [&HINTS.repeat(100), OK].concat();
    let all: Vec<String> = rows.into_iter().map(str::to_owned).chain([long, flood]).collect();
    let count = all.len();
    let origin = Origin::script(move |request, wire| {
        let target = request.target();
        let Some(number) = target.strip_prefix("/bad/") else { return wire.send(OK.as_bytes()) };
        wire.send(all[number.parse::<usize>().unwrap() % all.len()].as_bytes())?;
        // Every other time, the rest never comes, and otherwise the connection goes on.
        if number.len().is_multiple_of(2) { Ok(()) } else { Err(ErrorKind::ConnectionAborted.into()) }
    });
    let proxy = Setup::new()
        .config(&format!(
            "[upstreams.main]\npeers = [\"{}\"]\ntimeouts = {{ read = \"2s\" }}",
            origin.address()
        ))
        .route("default", "", "main")
        .start();
    let mut good = proxy.connect();
    for number in (0..count).chain(10..10 + count) {
        let _ = proxy.connect().try_ask(&get(format!("/bad/{number}")));
        for _ in 0..10 {
            let response = good.ask(&get("/good"));
            assert_eq!((response.status, response.text().as_str()), (200, "ok"), "behind {number}");
            assert_eq!(proxy.get("/good").text(), "ok", "behind {number}");
        }
    }
}

/// RFC 9110, section 8.6; RFC 9112, section 6.1.
#[test]
fn g15_a_response_that_has_no_body_tells_no_length() {
    for field in ["Content-Length: 0", "Content-Length: 5", "Transfer-Encoding: chunked"] {
        let (response, proxy, _origin) =
            answered(&format!("HTTP/1.1 204 No Content\r\n{field}\r\n\r\n"), Then::GoesOn);
        assert_eq!(response.status, 204, "{field}");
        for name in ["content-length", "transfer-encoding"] {
            assert!(!response.head.has(name), "{field}: {:?}", response.head);
        }
        let mut client = proxy.connect();
        let response = client.ask(&get("/x")).expect_status(204);
        assert!(response.body.is_empty() && client.leftover().is_empty(), "{field}");
    }
}

/// RFC 9110, section 8.6.
#[test]
fn case_07_a_client_is_told_one_length() {
    let (response, ..) =
        answered("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok", Then::GoesOn);
    assert_eq!((response.status, response.text().as_str()), (200, "ok"));
    assert_eq!(response.head.all("content-length"), [b"2"]);
}

#[test]
fn g09_a_head_that_is_too_long_is_502() {
    let lines =
        |count: usize| format!("HTTP/1.1 200 OK\r\n{}Content-Length: 2\r\n\r\nok", "X: y\r\n".repeat(count));
    let line =
        |size: usize| format!("HTTP/1.1 200 OK\r\nX: {}\r\nContent-Length: 2\r\n\r\nok", "y".repeat(size));
    let check =
        |head: &str, status: u16| assert_eq!(answered(head, Then::GoesOn).0.status, status, "{}", head.len());
    check(&lines(100), 200);
    check(&lines(200), 502);
    check(&line(60 * 1024), 200);
    check(&line(200 * 1024), 502);
}

/// An origin that says more than it was asked, at once: nobody else is given it.
#[test]
fn c19_an_extra_response_reaches_nobody() {
    let extra = [OK, "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\npoisoned"].concat();
    let origin = Origin::reply(extra);
    let proxy = Setup::new().upstream("main", &origin).route("default", "", "main").start();
    let mut client = proxy.connect();
    for _ in 0..200 {
        let response = client.try_ask(&get("/x")).unwrap_or_else(|_| {
            client = proxy.connect();
            client.ask(&get("/x"))
        });
        assert!(!response.text().contains("poisoned"), "{:?}", response.head);
    }
}

/// RFC 9112, section 6.3.
#[test]
fn c21_a_response_of_two_readings_is_502_or_has_one() {
    let chunks = "2\r\nok\r\n0\r\n\r\n";
    let rows = [
        format!("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}"),
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok".to_owned(),
        "HTTP/1.1 099 Odd\r\nContent-Length: 2\r\n\r\nok".to_owned(),
        "HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\nok".to_owned(),
        "HTTP/1.1 1000 Odd\r\nContent-Length: 2\r\n\r\nok".to_owned(),
        "HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 2\r\n\r\nok".to_owned(),
        "HTTP/1.1 200 OK\r\nX: a\rb\r\nContent-Length: 2\r\n\r\nok".to_owned(),
    ];
    for row in rows {
        let response = answered(&row, Then::GoesOn).0;
        let framings =
            response.head.all("content-length").len() + response.head.all("transfer-encoding").len();
        assert_eq!(framings, 1, "{row:?}: {:?}", response.head);
        let fine = response.status == 200 && response.text() == "ok" && !row.contains("Content-Length: 3");
        assert!(response.status == 502 || fine, "{row:?}: {:?}", response.head);
    }
}

/// A body in a coding that nobody undoes has no end that a kept connection could tell of.
#[test]
fn c21_a_coding_that_is_not_just_chunked_is_502() {
    let codings = ["identity", "gzip", "", "chunked, identity", "gzip, chunked", "chunked, chunked"];
    for coding in codings {
        let row = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: {coding}\r\n\r\n2\r\nok\r\n0\r\n\r\n");
        assert_eq!(answered(&row, Then::GoesOn).0.status, 502, "{coding}");
    }
    let old = "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n";
    assert_eq!(answered(old, Then::GoesOn).0.status, 502);
}

#[test]
fn an_error_without_a_body_ends_its_stream_on_http_2() {
    let origin = Origin::script(|_, _| Err(ErrorKind::ConnectionAborted.into()));
    let proxy = Setup::new().with_h2().upstream("main", &origin).route("default", "", "main").start();
    for _ in 0..10 {
        let answer = h2c::try_head(proxy.address(), "/x", &[]);
        assert_eq!(answer.map(|answer| answer.status).map_err(|error| error.to_string()), Ok(502));
    }
}

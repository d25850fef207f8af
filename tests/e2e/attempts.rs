//! The phases around an attempt: what it sends, and what becomes of its failure.

use std::io::ErrorKind;

use edgewright_tests::origin::nobody;
use edgewright_tests::{Ask, Origin, Proxy, Setup, ask, get, guest};

/// Takes a request and closes the connection without a word.
fn mute() -> Origin {
    Origin::script(|_, _| Err(ErrorKind::ConnectionAborted.into()))
}

fn proxy(peers: &[std::net::SocketAddr]) -> Proxy {
    Setup::new()
        .server("threads = 1")
        .access_log("path = \"stdout\"\nattributes = [\"rescue.told\", \"attempt.refused\"]")
        .plugin("attempt", &guest("attempt"), "isolation = \"reuse\"")
        .plugin("rescue", &guest("rescue"), "isolation = \"reuse\"")
        .plugin("trap", &guest("trap"), "isolation = \"reuse\"")
        .peers("main", peers)
        .route_all(r#"["rescue", "attempt", "trap"]"#, "main")
        .start()
}

fn rescue(how: &str) -> Ask {
    get("/x").header("X-Rescue", how)
}

#[test]
fn an_attempt_starts_from_the_request_as_it_was() {
    let (first, second) = (mute(), Origin::ok());
    let proxy = proxy(&[first.address(), second.address()]);
    // Peers are served in turn, so that one of two requests at least meets the mute one first.
    for _ in 0..2 {
        let _ = proxy.ask(&rescue("retry")).expect_status(200);
    }
    let seen = [first.requests(), second.requests()].concat();
    let count = |number: usize| {
        seen.iter().filter(|request| request.target() == format!("/attempt-{number}/x")).count()
    };
    assert_eq!((count(1), count(2)), (2, seen.len() - 2), "{seen:#?}");
    assert!(count(2) > 0, "{seen:#?}");
    for request in &seen {
        let number = if request.target().starts_with("/attempt-1") { 1 } else { 2 };
        let mark = request.field("x-attempt").expect("one mark");
        assert!(mark.starts_with(&format!("{number} main 127.0.0.1:")), "{mark}");
        assert_eq!(request.field("host"), Some(format!("{number}.peer.test")));
        assert_eq!(request.head.method(), "GET");
    }
    for line in proxy.access_log(2) {
        assert_eq!(line["attributes"]["attempt.refused"], "yes", "{line}");
        assert_eq!(line["target"], "/x");
    }
}

#[test]
fn an_attempt_that_is_answered_or_fails_sends_nothing() {
    let origin = Origin::ok();
    let proxy = proxy(&[origin.address()]);
    let answered = proxy.ask(&get("/x").header("X-Answer", "1")).expect_status(418);
    assert_eq!(answered.text(), "in its place");
    assert_eq!(answered.field("x-seen").as_deref(), Some("1"), "the response phases ran");
    let _ = proxy.ask(&get("/x").header("X-Boom", "attempt")).expect_status(503);
    let page = proxy.ask(&rescue("page").header("X-Boom", "attempt")).expect_status(503);
    assert!(page.text().starts_with("trap 503 attempts=1 upstream=main"), "{}", page.text());
    assert_eq!(origin.requests().len(), 0);
    let lines = proxy.access_log(3);
    assert_eq!((&lines[0]["decided-by"], &lines[0]["status"]), (&"attempt".into(), &418.into()));
    assert_eq!(lines[1]["error"], "trap");
    let _ = proxy.get("/x").expect_status(200);
}

#[test]
fn an_error_page_is_made_by_a_plugin() {
    let dead = nobody();
    let proxy = proxy(&[dead]);
    let page = proxy.ask(&rescue("page")).expect_status(502);
    let told = format!("connect-failed 502 attempts=1 upstream=main peer={dead} retry=true");
    assert_eq!(page.text(), told);
    // The page is the host's where the plugin makes none, or fails.
    for how in ["none", "boom", "retry"] {
        let page = proxy.ask(&rescue(how)).expect_status(502);
        assert!(page.text().contains("request id:"), "{how}: {}", page.text());
    }
    let told = proxy.access_log(4)[1]["attributes"]["rescue.told"].to_string();
    assert!(told.contains("retry=true; connect-failed 502") && told.ends_with("retry=false\""), "{told}");
    // A failure of the request phase, before an upstream is chosen.
    let page = proxy.ask(&rescue("page").header("X-Boom", "1")).expect_status(503);
    assert_eq!(page.text(), "trap 503 attempts=0 upstream=- peer=- retry=false");
}

#[test]
fn what_may_have_been_done_is_not_asked_again() {
    let (first, second) = (mute(), mute());
    let proxy = proxy(&[first.address(), second.address()]);
    let post = ask("POST", "/x").header("X-Rescue", "retry").body("once");
    let _ = proxy.ask(&post).expect_status(502);
    assert_eq!(first.requests().len() + second.requests().len(), 1);
    // A request that may be repeated is asked of each peer once.
    let _ = proxy.ask(&rescue("retry")).expect_status(502);
    assert_eq!(first.requests().len() + second.requests().len(), 3);
}

#[test]
fn nothing_is_asked_again_once_a_response_began() {
    let origin = Origin::script(|_, wire| {
        wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")?;
        Err(ErrorKind::ConnectionAborted.into())
    });
    let proxy = proxy(&[origin.address()]);
    let mut client = proxy.connect();
    client.send("GET /x HTTP/1.1\r\nHost: a.test\r\nX-Rescue: retry\r\n\r\n");
    assert!(client.try_response_to("GET").is_err(), "the response is whole");
    assert_eq!(origin.requests().len(), 1);
}

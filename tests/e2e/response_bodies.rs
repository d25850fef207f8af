//! Bodies of responses that plugins rewrite, and what becomes of those that they can't be given.

use edgewright_tests::message::Framing;
use edgewright_tests::{Origin, Proxy, Response, Setup, get, guest, h2c};

const STREAM: &str = "isolation = \"reuse\"\nbody = { response = \"stream\" }";
const BUFFER: &str = "isolation = \"reuse\"\nbody = { response = { buffer = \"1MiB\" } }";

fn rewriting(manifest: &str, word: &str, origin: &Origin) -> Proxy {
    Setup::new()
        .server("threads = 1")
        .with_h2()
        .access_log("path = \"stdout\"\nattributes = [\"elephant.calls\", \"elephant.head\"]")
        .plugin("elephant", &guest("elephant"), manifest)
        .plugin("answer", &guest("answer"), "isolation = \"reuse\"")
        .upstream("main", origin)
        .route_all(
            &format!(
                r#"[{{ name = "elephant", config = {{ word = "{word}" }} }},
                    {{ name = "answer", config = {{ status = 404, body = "no cat", when = "x-answer" }} }}]"#
            ),
            "main",
        )
        .start()
}

fn reply(head: &str, body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\n{head}\r\n{body}")
}

fn check_framing(manifest: &str, response: &Response, shown: &str) {
    let framing = response.head.framing();
    if manifest == BUFFER {
        assert_eq!(framing, Framing::Length(response.body.len()), "{shown}: {:?}", response.head);
    } else {
        assert_eq!(framing, Framing::Chunked, "{shown}: {:?}", response.head);
    }
}

#[test]
fn case_17_a_rewritten_body_has_true_framing() {
    let origin = Origin::answer(|request| {
        let body = match request.target().as_str() {
            "/length" => reply("Content-Length: 9\r\n", "my cat is"),
            "/chunked" => reply("Transfer-Encoding: chunked\r\n", "4\r\nmy c\r\n5\r\nat is\r\n0\r\n\r\n"),
            "/empty" => reply("Content-Length: 0\r\n", ""),
            "/large" => reply("Content-Length: 60000\r\n", &"a cat ".repeat(10_000)),
            _ => edgewright_tests::origin::OK.to_owned(),
        };
        body.into_bytes()
    });
    for word in ["elephant", ""] {
        for manifest in [STREAM, BUFFER] {
            let proxy = rewriting(manifest, word, &origin);
            let mut client = proxy.connect();
            let mut check = |path: &str, body: &str| {
                let response = client.ask(&get(path)).expect_status(200);
                assert!(response.text() == body, "{manifest} {path}: {:.100}", response.text());
                assert_ne!(
                    response.field("connection").as_deref(),
                    Some("close"),
                    "{manifest} {path}: {:?}",
                    response.head
                );
                check_framing(manifest, &response, path);
                client.expect_sound(&response);
                let h2 = h2c::get(proxy.address(), path, &[]);
                assert!(h2.status == 200 && h2.body == body.as_bytes(), "HTTP/2, {manifest} {path}");
            };
            check("/length", &format!("my {word} is"));
            if manifest == BUFFER {
                // A word that is cut in two is seen whole.
                check("/chunked", &format!("my {word} is"));
                check("/large", &format!("a {word} ").repeat(10_000));
            }
            let empty = client.ask(&get("/empty")).expect_status(200);
            assert_eq!((empty.text().as_str(), empty.head.framing()), ("", Framing::Length(0)));
            client.expect_sound(&empty);
        }
    }
}

#[test]
fn case_17_methods_and_statuses_without_a_body() {
    let origin = Origin::answer(|request| {
        match request.target().as_str() {
            "/204" => "HTTP/1.1 204 No Content\r\n\r\n",
            "/304" => "HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n",
            _ if request.head.method() == "HEAD" => "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n",
            _ => "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nmy cat is",
        }
        .into()
    });
    for manifest in [STREAM, BUFFER] {
        let proxy = rewriting(manifest, "elephant", &origin);
        let mut client = proxy.connect();
        let head = client.ask(&edgewright_tests::ask("HEAD", "/x")).expect_status(200);
        // Nobody knows how long the body of a GET would be.
        assert!(!head.head.has("content-length"), "{:?}", head.head);
        client.expect_sound(&head);
        for (path, status) in [("/204", 204), ("/304", 304)] {
            let response = client.ask(&get(path)).expect_status(status);
            assert!(!response.head.has("transfer-encoding"), "{:?}", response.head);
            client.expect_sound(&response);
        }
        let calls = proxy
            .metrics_at_rest()
            .sum("edgewright_plugin_calls_total", &[("phase", "response-body-filter")]);
        // Only the three that show the connection to be sound.
        assert!((calls - 3.0).abs() < f64::EPSILON, "{calls}");
        let mut old = proxy.connect();
        old.send("GET /x HTTP/1.0\r\nHost: a.test\r\n\r\n");
        let response = old.response_to("GET").expect_status(200);
        assert_eq!(response.text(), "my elephant is");
        assert!(!response.head.has("transfer-encoding"), "{:?}", response.head);
    }
}

#[test]
fn the_head_waits_for_a_buffered_body_and_not_for_a_streamed_one() {
    let origin = Origin::body("a cat");
    let check = |manifest: &str, asked: &str, status: u16, body: &str, head: Option<&str>| {
        let proxy = rewriting(manifest, "dog", &origin);
        let mut client = proxy.connect();
        let response = client.ask(&get("/x").header("X-Body", asked)).expect_status(status);
        assert_eq!(response.text(), body, "{manifest} {asked}");
        let told = response.field("x-length").or_else(|| response.field("x-page"));
        assert_eq!(told.as_deref(), head, "{manifest} {asked}");
        client.expect_sound(&response);
    };
    check(BUFFER, "head", 203, "a dog", Some("5"));
    check(BUFFER, "page", 418, "another", Some("1"));
    check(STREAM, "head", 200, "a dog", None);
}

#[test]
fn fields_about_bytes_are_not_passed_on() {
    let origin = Origin::reply(reply(
        "Content-Length: 5\r\nETag: \"strong\"\r\nAccept-Ranges: bytes\r\nContent-MD5: x\r\nDigest: y\r\n",
        "a cat",
    ));
    for manifest in [STREAM, BUFFER] {
        let proxy = rewriting(manifest, "dog", &origin);
        let request = get("/x").header("Accept-Encoding", "gzip").header("Range", "bytes=0-1");
        let response = proxy.ask(&request).expect_status(200);
        assert_eq!(response.text(), "a dog");
        assert_eq!(response.field("etag").as_deref(), Some("W/\"strong\""));
        for name in ["accept-ranges", "content-md5", "digest"] {
            assert!(!response.head.has(name), "{name}: {:?}", response.head);
        }
        let seen = origin.last();
        assert!(!seen.head.has("accept-encoding") && !seen.head.has("range"), "{:?}", seen.head);
    }
}

#[test]
fn what_is_unfit_for_a_plugin_fails_or_passes_without_it() {
    let origin = Origin::answer(|request| {
        match request.target().as_str() {
            "/coded" => reply("Content-Encoding: gzip\r\nContent-Length: 5\r\n", "a cat"),
            "/part" => {
                "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-4/9\r\nContent-Length: 5\r\n\r\na cat"
                    .into()
            }
            "/large" => reply("Content-Length: 4000\r\n", &"a cat ,\n".repeat(500)),
            "/unknown" => {
                let chunk = format!("1f4\r\n{:500}\r\n", "a cat ,");
                reply("Transfer-Encoding: chunked\r\n", &format!("{}0\r\n\r\n", chunk.repeat(8)))
            }
            _ => reply("Content-Length: 5\r\n", "a cat"),
        }
        .into_bytes()
    });
    let manifest =
        |more: &str| format!("isolation = \"reuse\"\n[body]\nresponse = {{ buffer = \"1KiB\" }}\n{more}");
    let skips = rewriting(&manifest("unfit = \"skip\""), "dog", &origin);
    let fails = rewriting(&manifest(""), "dog", &origin);
    let (mut skipping, mut failing) = (skips.connect(), fails.connect());
    for (path, length) in [("/coded", 5), ("/part", 5), ("/large", 4000), ("/unknown", 4000)] {
        let passed = skipping.ask(&get(path));
        assert!(passed.status < 300 && passed.body.len() == length, "{path}: {:?}", passed.head);
        assert!(passed.text().contains("cat"), "{path}");
        skipping.expect_sound(&passed);
        let _ = failing.ask(&get(path)).expect_status(502);
        failing = fails.connect();
    }
    skips.wait_for_log("left out of the response's body: it is larger than the buffer");
    let lines = fails.access_log(4);
    assert!(lines.iter().all(|line| line["error"] == "response-unfit"), "{lines:#?}");
    assert!(lines[0]["cause"].to_string().contains("plugin `elephant`: it is coded"), "{}", lines[0]);
    assert_eq!(skips.get("/x").text(), "a dog");
    // A plugin that takes codings is given the bytes, and they are asked for.
    let any = rewriting(&manifest("codings = \"any\""), "dog", &origin);
    let response = any.ask(&get("/coded").header("Accept-Encoding", "gzip")).expect_status(200);
    assert_eq!(response.text(), "a dog");
    assert_eq!(origin.last().field("accept-encoding").as_deref(), Some("gzip"));
}

#[test]
fn answers_and_error_pages_go_through_it_too() {
    let origin = Origin::ok();
    for manifest in [STREAM, BUFFER] {
        let proxy = rewriting(manifest, "dog", &origin);
        let mut client = proxy.connect();
        let response = client.ask(&get("/x").header("X-Answer", "1")).expect_status(404);
        assert_eq!(response.text(), "no dog", "{manifest}");
        client.expect_sound(&response);
    }
}

/// P30: the client sees that it is not all.
#[test]
fn p30_a_trap_in_a_streamed_body_breaks_the_response_off() {
    // More than is looked at at once: the head is out by the time of the trap.
    let origin = Origin::body(&"x".repeat(2_000_000));
    let proxy = rewriting(STREAM, "dog", &origin);
    let mut client = proxy.connect();
    client.send("GET /x HTTP/1.1\r\nHost: a.test\r\nX-Body: late\r\n\r\n");
    assert!(client.try_response_to("GET").is_err(), "the response is whole");
    assert!(h2c::try_get(proxy.address(), "/x", &[("x-body", "late")]).is_err());
    let _ = proxy.get("/x").expect_status(200);
    let line = &proxy.access_log(3)[0];
    assert_eq!((&line["status"], &line["error"]), (&200.into(), &"trap".into()));
}

#[test]
fn a_trap_on_a_buffered_body_is_503_and_open_is_left_out() {
    let origin = Origin::body("a cat");
    let proxy = rewriting(BUFFER, "dog", &origin);
    let mut client = proxy.connect();
    let page = client.ask(&get("/x").header("X-Body", "boom")).expect_status(503);
    assert!(page.text().contains("request id:"), "{}", page.text());
    client.expect_sound(&page);
    let open = format!("on-failure = \"open\"\n{BUFFER}");
    let passed = rewriting(&open, "dog", &origin).ask(&get("/x").header("X-Body", "boom"));
    assert_eq!((passed.status, passed.text().as_str()), (200, "a cat"));
}

#[test]
fn an_upstream_that_breaks_off_under_a_held_head_is_502() {
    let origin = Origin::script(|_, wire| {
        wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")?;
        Err(std::io::ErrorKind::ConnectionAborted.into())
    });
    let _ = rewriting(BUFFER, "dog", &origin).get("/x").expect_status(502);
}

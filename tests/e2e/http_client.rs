//! Plugins that call others: whom they reach, what bounds them, and that nobody waits with them.

use std::time::{Duration, Instant};

use edgewright_tests::{
    Answer, Authority, DEADLINE, Dns, Gate, Origin, Proxy, Response, Setup, get, guest, wait_for,
};

/// A route `/*` with the plugin that calls, and a route `/plain` without. `origins` is `grants.http`. The plugin has more
/// time than its calls, so that it is told of theirs on a busy machine, too.
fn setup(origins: &str, limits: &str, main: &Origin) -> Setup {
    Setup::new()
        .plugin(
            "caller",
            &guest("http-client"),
            &format!("grants = {{ http = [{origins}] }}\nlimits = {{ time = \"10s\", {limits} }}"),
        )
        .upstream("main", main)
        .route("plain", "match = { path = \"/plain\" }", "main")
        .route_all("[\"caller\"]", "main")
}

fn private(origin: &Origin) -> String {
    format!("{{ origin = \"http://{}\", private = true }}", origin.address())
}

fn call(proxy: &Proxy, url: &str) -> Response {
    proxy.ask(&get("/").header("x-call", url))
}

fn refused(proxy: &Proxy, url: &str, expected: &str) {
    let response = call(proxy, url);
    assert_eq!((response.status, response.text().as_str()), (502, expected), "{url}");
}

#[test]
fn a_plugin_calls_whom_it_may_and_connections_are_kept() {
    let main = Origin::ok();
    let other = Origin::answer(|request| {
        let body = format!("{} {}", request.target(), request.field("host").unwrap_or_default());
        format!("HTTP/1.1 201 Created\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
    });
    let proxy = setup(&private(&other), "", &main).server("threads = 1").start();
    for _ in 0..5 {
        let response = call(&proxy, &format!("http://{}/a/b?c=d", other.address())).expect_status(200);
        assert_eq!(response.field("x-status").as_deref(), Some("201"));
        assert_eq!(response.text(), format!("/a/b?c=d {}", other.address()));
    }
    assert_eq!((other.requests().len(), other.connections()), (5, 1));
    assert_eq!(main.requests().len(), 0);
    let metrics = proxy.metrics();
    let answered = [("plugin", "caller"), ("outcome", "answered")];
    assert_eq!(metrics.sum("edgewright_plugin_http_calls_total", &answered), 5.0);
}

#[test]
fn p26_addresses_that_plugins_may_not_reach() {
    let main = Origin::ok();
    let other =
        Origin::reply("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n");
    let port = other.address().port();
    let dns = Dns::start(&[
        ("inside.test", Answer::addresses(&["127.0.0.1"])),
        ("mapped.test", Answer::addresses(&["::ffff:127.0.0.1"])),
        ("meta.test", Answer::addresses(&["169.254.169.254"])),
        ("meant.test", Answer::addresses(&["127.0.0.1"])),
    ]);
    let setup = Setup::new();
    let (own, admin) = (setup.address(), setup.admin());
    let origins = format!(
        r#""http://inside.test:{port}", "http://mapped.test:{port}", "http://meta.test",
        {{ origin = "http://meant.test:{port}", private = true }}, {{ origin = "http://meta.test:81", private = true }},
        {{ origin = "http://{own}", private = true }}, {{ origin = "http://meant.test:{}", private = true }}"#,
        admin.port()
    )
    .replace('\n', " ");
    let proxy = setup
        .config(&format!("[dns]\nservers = [\"{}\"]", dns.address()))
        .plugin("caller", &guest("http-client"), &format!("grants = {{ http = [{origins}] }}"))
        .upstream("main", &main)
        .route_all("[\"caller\"]", "main")
        .start();
    for url in [
        format!("http://inside.test:{port}/"),
        format!("http://mapped.test:{port}/"),
        "http://meta.test/".into(),
    ] {
        refused(&proxy, &url, "RefusedAddress");
    }
    refused(&proxy, "http://meta.test:81/", "RefusedAddress");
    refused(&proxy, &format!("http://{own}/"), "RefusedAddress");
    refused(&proxy, &format!("http://meant.test:{}/status", admin.port()), "RefusedAddress");
    for url in [
        format!("http://127.0.0.1:{port}/"),
        format!("http://0x7f.1:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("https://meant.test:{port}/"),
        "http://meant.test/".to_owned(),
    ] {
        refused(&proxy, &url, "NotGranted");
    }
    for url in
        ["/relative", "meant.test", "ftp://meant.test/", &format!("http://meant.test:{port}@evil.test/")]
    {
        let answer = call(&proxy, url);
        assert!(["InvalidCall", "NotGranted"].contains(&answer.text().as_str()), "{url}: {}", answer.text());
    }
    assert_eq!(other.connections(), 0);
    // What was meant works, and a redirect is an answer as any other.
    let answer = call(&proxy, &format!("http://Meant.test:{port}/")).expect_status(200);
    assert_eq!(answer.field("x-status").as_deref(), Some("302"));
    assert_eq!(answer.field("x-location").as_deref(), Some("http://127.0.0.1:1/"));
    assert_eq!(other.requests().len(), 1);
}

#[test]
fn p26_private_addresses_need_a_word_in_the_manifest() {
    let main = Origin::ok();
    for (origin, expected) in [
        ("\"http://127.0.0.1:9000\"", "private = true"),
        ("\"http://[::ffff:10.0.0.1]\"", "private = true"),
        ("\"http://169.254.169.254\"", "private = true"),
        ("\"https://a.test/path\"", "write `https://a.test`"),
        ("\"a.test\"", "write `https://a.test` or `http://a.test`"),
        ("{ origin = \"https://a.test\", ca = \"missing.pem\" }", "can't be read"),
    ] {
        let finished = setup(origin, "", &main).run_to_end().expect_code(1);
        assert!(finished.said().contains(expected), "{origin}: {}", finished.said());
    }
}

#[test]
fn p27_calls_are_bounded() {
    let main = Origin::ok();
    let gate = Gate::default();
    let slow = gate.clone();
    let other = Origin::script(move |request, wire| match request.target().as_str() {
        "/slow" => {
            slow.pass();
            wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        }
        "/large" => wire
            .send(&[b"HTTP/1.1 200 OK\r\nContent-Length: 3000\r\n\r\n".as_slice(), &[b'x'; 3000]].concat()),
        "/junk" => wire.send(b"SSH-2.0-x\r\n\r\n"),
        _ => wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
    });
    let proxy = setup(&private(&other), "http-calls = 3, http-answer = \"2KiB\"", &main).start();
    let url = |path: &str| format!("http://{}{path}", other.address());
    let times = |times: &str| proxy.ask(&get("/").header("x-call", url("/")).header("x-times", times));
    assert_eq!(times("3").status, 200);
    assert_eq!(times("4").text(), "TooMany");
    assert_eq!(other.requests().len(), 6, "three and three");
    refused(&proxy, &url("/large"), "TooLarge");
    refused(&proxy, &url("/junk"), "InvalidAnswer");
    let began = Instant::now();
    refused(&proxy, &url("/slow"), "TimedOut");
    // All calls together have less time than the plugin: it is told, and not cut.
    let patient = get("/").header("x-call", url("/slow")).header("x-timeout", "60000").header("x-times", "3");
    assert_eq!(proxy.ask(&patient).text(), "TimedOut");
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    gate.open();
    let split = get("/").header("x-call", url("/")).header("x-send", "aCRLFx-evil: 1");
    assert_eq!(proxy.ask(&split).text(), "InvalidCall");
    let sent = get("/").header("x-call", url("/")).header("x-send", "fine");
    assert_eq!(proxy.ask(&sent).status, 200);
    assert_eq!(other.last().field("x-sent").as_deref(), Some("fine"));
}

#[test]
fn p12_plugins_that_wait_hold_up_nobody() {
    let main = Origin::ok();
    let gate = Gate::default();
    let waiting = gate.clone();
    let other = Origin::script(move |_, wire| {
        waiting.pass();
        wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    });
    let proxy = setup(&private(&other), "instances = 1000", &main).server("threads = 1").start();
    let ask = get("/").header("x-call", format!("http://{}/", other.address())).header("x-timeout", "60000");
    std::thread::scope(|scope| {
        let sleepers: Vec<_> = (0..1_000).map(|_| scope.spawn(|| proxy.ask(&ask).text())).collect();
        other.wait_for_requests(1);
        // The same worker serves others meanwhile.
        let mut client = proxy.connect();
        for _ in 0..50 {
            assert_eq!(client.ask(&get("/plain")).status, 200);
        }
        for sleeper in sleepers {
            assert_eq!(sleeper.join().expect("an answer"), "TimedOut");
        }
    });
    gate.open();
}

#[test]
fn p17_clients_that_go_away_leave_no_instance_behind() {
    let main = Origin::ok();
    let gate = Gate::default();
    let waiting = gate.clone();
    let other = Origin::script(move |_, wire| {
        waiting.pass();
        wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    });
    // Without `isolation`, each request has an instance of its own.
    let proxy = setup(&private(&other), "instances = 50", &main).server("threads = 1").start();
    let ask = get("/").header("x-call", format!("http://{}/", other.address())).header("x-timeout", "60000");
    for _ in 0..30 {
        proxy.connect().send(ask.bytes());
    }
    let instances = || proxy.metrics().sum("edgewright_plugin_instances", &[("plugin", "caller")]);
    wait_for(DEADLINE, "calls under way", || !other.requests().is_empty());
    // The spares for later requests, and those that wait to be taken down.
    wait_for(DEADLINE, "the instances to be free again", || instances() <= 4.0);
    gate.open();
    assert_eq!(call(&proxy, &format!("http://{}/", other.address())).status, 200);
}

#[test]
fn https_origins_need_a_certificate_of_the_authority_that_is_named() {
    let (main, behind) = (Origin::ok(), Origin::body("secret"));
    let (ca, other) = (Authority::new("ca"), Authority::new("other"));
    let certificate = ca.issue(&["auth.test"]);
    let server = Setup::new()
        .file("a.pem", &certificate.pem)
        .file("a.key", &certificate.key)
        .listener("tls = [{ cert = \"a.pem\", key = \"a.key\" }]")
        .upstream("behind", &behind)
        .route_all("[]", "behind")
        .start();
    let port = server.address().port();
    let dns = Dns::start(&[("auth.test", Answer::addresses(&["127.0.0.1"]))]);
    let said = |host: &str, ca: Option<&Authority>| {
        let mut setup = Setup::new();
        let ca = match ca {
            Some(ca) => {
                setup = setup.file("plugins/ca.pem", ca.pem());
                ", ca = \"ca.pem\""
            }
            None => "",
        };
        let origin = format!("https://{host}:{port}");
        let manifest = format!("grants = {{ http = [{{ origin = \"{origin}\", private = true{ca} }}] }}");
        let proxy = setup
            .config(&format!("[dns]\nservers = [\"{}\"]", dns.address()))
            .plugin("caller", &guest("http-client"), &manifest)
            .upstream("main", &main)
            .route_all("[\"caller\"]", "main")
            .start();
        call(&proxy, &format!("{origin}/")).text()
    };
    assert_eq!(said("auth.test", Some(&ca)), "secret");
    assert_eq!(said("auth.test", Some(&other)), "Tls");
    assert_eq!(said("auth.test", None), "Tls", "the system does not know it");
    assert_eq!(said("127.0.0.1", Some(&ca)), "Tls", "the name is not in the certificate");
}

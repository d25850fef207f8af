//! Reloads at bad times and of bad files: the last good generation goes on, and nobody notices.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use edgewright_tests::{
    Answer, Connection, DEADLINE, Dns, Gate, Load, Origin, Proxy, Setup, ask, get, guest, wait_for,
};
use rustix::process::Signal;
use serde_json::Value;

fn plain(origin: &Origin) -> Proxy {
    Setup::new()
        .plugin("mark", &guest("mark"), "isolation = \"reuse\"\nconfig = { name = \"m\" }")
        .upstream("main", origin)
        .route_all(r#"["mark"]"#, "main")
        .start()
}

/// What a reload with these bytes as the configuration says.
fn reload_with(proxy: &Proxy, text: &[u8]) -> (u16, Value) {
    proxy.put("edgewright.toml", text);
    let response = proxy.reload();
    (response.status, serde_json::from_slice(&response.body).expect("JSON"))
}

/// Text to put in the place of other text, or at the end where that is empty.
const MUTATIONS: [(&str, &str); 50] = [
    ("[server]", "[server"),
    ("[server]", "[sever]"),
    ("[server]", "[[server]]"),
    ("[server]", "server = 1\n[servr]"),
    ("threads = 2", "threads = 0"),
    ("threads = 2", "threads = \"two\""),
    ("threads = 2", "thread = 2"),
    ("threads = 2", "threads = 2\nthreads = 2"),
    ("threads = 2", "threads = 2\ngrace = \"10\""),
    ("threads = 2", "threads = 2\ntrusted-proxies = [\"10.0.0.0/33\"]"),
    ("threads = 2", "threads = 2\nowned-headers = [\"host\"]"),
    ("threads = 2", "threads = 2\nunderscore-headers = \"pass\""),
    ("threads = 2", "threads = 2\nwatch = \"yes\""),
    ("[[listeners]]", "[listeners]"),
    ("[[listeners]]", "[[listener]]"),
    ("protocols = [\"h1\"]", "protocols = [\"h2\"]"),
    ("protocols = [\"h1\"]", "protocols = \"h1\""),
    ("protocols = [\"h1\"]", "protocols = [\"h1\", \"spdy\"]"),
    ("dir = \"plugins\"", "dir = \"absent\""),
    ("dir = \"plugins\"", "dir = 7"),
    ("cache = ", "cash = "),
    ("path = \"stdout\"", "path = \"absent/access.log\""),
    ("path = \"stdout\"", "path = \"\""),
    ("path = \"stdout\"", "format = \"xml\""),
    ("path = \"stdout\"", "attributes = [\"A B\"]"),
    ("[upstreams.main]", "[upstreams.\"a b\"]"),
    ("[upstreams.main]", "[upstreams.other]"),
    ("[upstreams.main]", "[upstream.main]"),
    ("peers = [", "peers = [\"127.0.0.1\", "),
    ("peers = [", "peers = [\"127.0.0.1:65536\", "),
    ("peers = [", "peers = [\"fe80::1%eth0\", "),
    ("peers = [", "peer = ["),
    ("peers = [", "timeouts = { connect = \"1x\" }\npeers = ["),
    ("peers = [", "timeouts = { connect = \"0s\" }\npeers = ["),
    ("peers = [", "peers = [3, "),
    ("name = \"all\"", "name = \"a b\""),
    ("name = \"all\"", ""),
    ("path = \"/*\"", "path = \"*\""),
    ("path = \"/*\"", "path = \"/a/../b\""),
    ("path = \"/*\"", "host = \"a.test:80\""),
    ("path = \"/*\"", "method = \"G T\""),
    ("path = \"/*\"", "header = { x = { regex = \"(\" } }"),
    ("plugins = [\"mark\"]", "plugins = [\"absent\"]"),
    ("plugins = [\"mark\"]", "plugins = [{ name = \"mark\", config = { name = 1 } }]"),
    ("plugins = [\"mark\"]", "plugins = [{ name = \"mark\", config = { other = \"x\" } }]"),
    ("plugins = [\"mark\"]", "plugins = [\"mark\"]\nupstream = \"main\""),
    ("upstream = \"main\"", "upstream = \"absent\""),
    ("", "\n[[routes]]\nname = \"all\"\nmatch = { path = \"/x\" }\nupstream = \"main\"\n"),
    ("", "\n[[routes]]\nname = \"again\"\nmatch = { path = \"/*\" }\nupstream = \"main\"\n"),
    ("", "\n\u{0}"),
];

#[test]
fn p24_no_mistake_changes_anything() {
    let origin = Origin::ok();
    let proxy = plain(&origin);
    let load = Load::start(proxy.address(), 2, &get("/x"), |response| assert_eq!(response.status, 200));
    let good = fs::read_to_string(proxy.directory().join("edgewright.toml")).unwrap();
    for (from, to) in MUTATIONS {
        assert!(good.contains(from), "{from}");
        let bad = if from.is_empty() { format!("{good}{to}") } else { good.replacen(from, to, 1) };
        let (status, answer) = reload_with(&proxy, bad.as_bytes());
        assert_eq!((status, &answer["outcome"]), (422, &"refused".into()), "`{from}` → `{to}`: {answer}");
        let errors = answer["diagnostics"].as_array().expect("a list");
        assert!(errors.iter().any(|found| found["severity"] == "error"), "`{from}` → `{to}`: {answer}");
    }
    // What is no text, and what is not there.
    assert_eq!(reload_with(&proxy, b"\xff\xfe").0, 422);
    assert_eq!(reload_with(&proxy, b"").0, 422);
    fs::remove_file(proxy.directory().join("edgewright.toml")).unwrap();
    assert_eq!(proxy.reload().status, 422);
    load.wait_for(20);
    let _ = load.stop();
    let refused = proxy.metrics().sum("edgewright_reloads_total", &[("outcome", "refused")]);
    assert!((refused - 53.0).abs() < f64::EPSILON, "{refused}");
    assert_eq!(proxy.status()["generation"], 1);
    assert_eq!(reload_with(&proxy, good.as_bytes()).0, 200);
}

/// A version of a component: a custom section more.
fn version(component: &[u8], number: u8) -> Vec<u8> {
    [component, &[0, 3, 1, b'v', number]].concat()
}

/// Puts bytes into a file that was at rest for long.
fn leave(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).unwrap();
    let long_ago = SystemTime::now() - Duration::from_secs(60);
    fs::File::options().write(true).open(path).unwrap().set_modified(long_ago).unwrap();
}

/// A copy that stopped half-way, 200 times at another byte.
#[test]
fn p23_no_half_of_a_plugin_is_ever_served() {
    const HALVES: usize = 200;
    let origin = Origin::ok();
    let proxy = plain(&origin);
    let path = proxy.directory().join("plugins/mark.wasm");
    let whole = fs::read(&path).unwrap();
    let load = Load::start(proxy.address(), 2, &get("/x"), |response| {
        assert_eq!((response.status, response.field("x-mark").as_deref()), (200, Some("m")));
    });
    let generation = |proxy: &Proxy| proxy.status()["generation"].as_u64().expect("a number");
    let mut serving = generation(&proxy);
    for half in 0..HALVES {
        leave(&path, &whole[..whole.len() * half / HALVES]);
        assert_eq!(proxy.reload().status, 422, "{half} of {HALVES}");
        assert_eq!(generation(&proxy), serving);
        if half % 50 == 49 {
            leave(&path, &version(&whole, u8::try_from(half).unwrap()));
            let _ = proxy.reload().expect_status(200);
            assert!(generation(&proxy) > serving);
            serving = generation(&proxy);
        }
    }
    load.wait_for(20);
    assert!(load.stop() > HALVES);
}

#[test]
fn p23_a_plugin_that_is_copied_byte_by_byte_is_the_old_or_the_new_one() {
    let origin = Origin::ok();
    let proxy = plain(&origin);
    let path = proxy.directory().join("plugins/mark.wasm");
    let (whole, done) = (fs::read(&path).unwrap(), Arc::new(AtomicBool::new(false)));
    let load = Load::start(proxy.address(), 2, &get("/x"), |response| {
        assert_eq!((response.status, response.field("x-mark").as_deref()), (200, Some("m")));
    });
    let copying = Arc::clone(&done);
    let copy = thread::Builder::new().name("copy".to_owned()).spawn(move || {
        use std::io::Write as _;
        for number in (0..=u8::MAX).cycle() {
            let mut file = fs::File::create(&path).unwrap();
            for piece in version(&whole, number).chunks(64) {
                file.write_all(piece).unwrap();
            }
            if copying.load(Ordering::SeqCst) {
                return;
            }
        }
    });
    for _ in 0..3 {
        let status = proxy.reload().status;
        assert!(matches!(status, 200 | 422), "{status}");
    }
    done.store(true, Ordering::SeqCst);
    copy.unwrap().join().unwrap();
    let _ = proxy.reload().expect_status(200);
    load.wait_for(20);
    assert!(load.stop() > 20);
}

#[test]
fn f17_reloads_under_load_mix_nothing_up() {
    let origin = |name: &'static str| {
        Origin::answer(move |request| {
            let mark = request.field("x-mark").unwrap_or_default();
            format!("HTTP/1.1 200 OK\r\nX-Asked: {mark}\r\nContent-Length: {}\r\n\r\n{name}", name.len())
                .into_bytes()
        })
    };
    let (one, two) = (origin("one"), origin("two"));
    // Clients may stay for as long as it takes.
    let setup = Setup::new()
        .server("limits.requests = 1000000")
        .plugin("mark", &guest("mark"), "isolation = \"reuse\"")
        .upstream("one", &one)
        .upstream("two", &two)
        .route_all(r#"[{ name = "mark", config = { name = "one" } }]"#, "one");
    let proxy = setup.start();
    let first = fs::read_to_string(proxy.directory().join("edgewright.toml")).unwrap();
    let second = first
        .replace("name = \"one\" }", "name = \"two\" }")
        .replace("upstream = \"one\"", "upstream = \"two\"")
        + "\n[[routes]]\nname = \"more\"\nmatch = { path = \"/more\" }\nupstream = \"one\"\n";
    let load = Load::start(proxy.address(), 4, &get("/x"), |response| {
        let marks = (response.field("x-asked"), response.field("x-mark"));
        let body = response.text();
        assert_eq!(marks, (Some(body.clone()), Some(body)), "plugins and upstream are of one generation");
    });
    let mut settled = 0;
    for turn in 0..200 {
        let text = if turn % 2 == 0 { &second } else { &first };
        let (status, answer) = reload_with(&proxy, text.as_bytes());
        assert_eq!(status, 200, "{answer}");
        assert_eq!(proxy.get("/x").text(), if turn % 2 == 0 { "two" } else { "one" });
        if turn == 49 {
            settled = proxy.resident();
        }
    }
    load.wait_for(50);
    assert!(load.stop() > 100);
    wait_for(DEADLINE, "earlier generations to be taken down", || {
        proxy.metrics().sum("edgewright_generations_draining", &[]) == 0.0
    });
    let resident = proxy.resident();
    assert!(resident < settled + settled / 10, "{settled} KiB after 50 reloads, {resident} KiB after 200");
}

#[test]
fn reloads_that_are_asked_for_meanwhile_are_one() {
    let origin = Origin::ok();
    let proxy = plain(&origin);
    let address = proxy.admin_address();
    // A file that is written to without end holds the first reload back.
    let noise = proxy.directory().join("plugins/noise.toml");
    let done = Arc::new(AtomicBool::new(false));
    let writing = Arc::clone(&done);
    let write = thread::Builder::new().name("write".to_owned()).spawn(move || {
        while !writing.load(Ordering::SeqCst) {
            fs::write(&noise, "description = \"noise\"").unwrap();
        }
        fs::remove_file(&noise).unwrap();
    });
    let post = ask("POST", "/reload").host("localhost");
    let mut posts: Vec<Connection> = (0..8).map(|_| Connection::open(address)).collect();
    for connection in &mut posts {
        connection.send(post.bytes());
    }
    let _ = proxy.wait_for_log("reloading");
    proxy.signal(Signal::HUP);
    proxy.signal(Signal::HUP);
    // The admin address answers while a reload is under way.
    assert_eq!(proxy.admin("/healthz").status, 200);
    assert_eq!(proxy.get("/x").status, 200);
    done.store(true, Ordering::SeqCst);
    write.unwrap().join().unwrap();
    for connection in &mut posts {
        assert_eq!(connection.response_to("POST").status, 200);
    }
    wait_for(DEADLINE, "the reload of the signals", || proxy.status()["generation"].as_u64() >= Some(2));
    let reloads = proxy.metrics().sum("edgewright_reloads_total", &[]);
    assert!(reloads <= 4.0, "{reloads} reloads for 10 that were asked for");
}

#[test]
fn a_proxy_that_is_ending_takes_nothing_new() {
    let gate = Gate::default();
    let held = gate.clone();
    let origin = Origin::script(move |_, wire| {
        held.pass();
        wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone")
    });
    let proxy = Setup::new().upstream("main", &origin).route("default", "", "main").start();
    let mut client = proxy.connect();
    client.send(get("/slow").bytes());
    origin.wait_for_requests(1);
    proxy.signal(Signal::TERM);
    wait_for(DEADLINE, "it to drain", || proxy.admin("/readyz").status == 503);
    let response = proxy.reload().expect_status(503);
    assert!(response.text().contains("shutting-down"), "{}", response.text());
    gate.open();
    assert_eq!(client.response_to("GET").text(), "done");
    let _ = proxy.end(DEADLINE).expect_code(0);
}

#[test]
fn f3_the_last_good_addresses_outlive_a_reload() {
    let origin = Origin::ok();
    let dns = Dns::start(&[("svc.test", Answer::addresses(&["127.0.0.1"]).ttl(3600))]);
    let port = origin.address().port();
    let proxy = Setup::new()
        .config(&format!("[dns]\nservers = [\"{}\"]\ntimeout = \"500ms\"", dns.address()))
        .config(&format!("[upstreams.named]\npeers = [\"svc.test:{port}\"]"))
        .route("default", "", "named")
        .start();
    wait_for(DEADLINE, "the name to be found", || proxy.get("/").status == 200);
    dns.set("svc.test", Answer::failure());
    let load = Load::start(proxy.address(), 2, &get("/x"), |response| assert_eq!(response.status, 200));
    for _ in 0..3 {
        let _ = proxy.reload().expect_status(200);
        load.wait_for(5);
    }
    let _ = load.stop();
}

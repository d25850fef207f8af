//! The command line: what it prints and how it exits.

use std::net::TcpListener;

use edgewright_tests::{Origin, Proxy, Setup, edgewright, get, guest};

#[test]
fn one_line_without_any_file_is_a_proxy() {
    let origin = Origin::ok();
    let setup = Setup::new().plugin("trap", &guest("trap"), "");
    let (address, admin) = (setup.address(), setup.admin());
    let directory = tempfile::tempdir().expect("a directory");
    let component = directory.path().join("trap.wasm");
    std::fs::write(&component, guest("trap").bytes()).expect("a file");
    let (to, from, admin_address) = (origin.address().to_string(), address.to_string(), admin.to_string());
    let arguments = [
        "proxy",
        "--to",
        &to,
        "--from",
        &from,
        "--plugin",
        component.to_str().unwrap(),
        "--admin",
        &admin_address,
    ];
    let proxy = Proxy::start(&arguments, directory, address, Some(admin));
    assert_eq!(proxy.get("/x").status, 200);
    assert_eq!(origin.last().field("x-seen").as_deref(), Some("1"));
    assert_eq!(proxy.ask(&get("/x").header("X-Boom", "1")).status, 503);
    // Two workers write it: in either order.
    let lines = proxy.access_log(2);
    for status in [200, 503] {
        assert_eq!(lines.iter().filter(|line| line["status"] == status).count(), 1, "{lines:#?}");
    }
}

#[test]
fn the_start_says_what_was_loaded_and_where_it_listens() {
    let origin = Origin::ok();
    let setup = Setup::new()
        .plugin("mark", &guest("mark"), "isolation = \"reuse\"")
        .upstream("main", &origin)
        .route_all(r#"[{ name = "mark", config = { name = "m" } }]"#, "main");
    let (address, admin) = (setup.address().to_string(), setup.admin().to_string());
    let proxy = setup.start();
    for text in ["mark", address.as_str(), admin.as_str()] {
        proxy.wait_for_log(text);
    }
}

#[test]
fn check_tells_every_mistake_at_once() {
    let origin = Origin::ok();
    let good = Setup::new().upstream("main", &origin).route("default", "", "main");
    let _ = good.command(&["check", "edgewright.toml"]).expect_code(0);

    let bad = Setup::new()
        .server("grace = \"soon\"\nthread = 4")
        .peers("main", &[origin.address()])
        .route("one", "match = { paths = \"/x\" }", "main")
        .route("two", "plugins = [\"absent\"]", "nowhere");
    let finished = bad.command(&["check", "edgewright.toml"]).expect_code(1);
    let said = finished.said();
    for text in ["soon", "thread", "paths", "absent", "nowhere"] {
        assert!(said.contains(text), "`{text}` in\n{said}");
    }
    assert!(said.matches("error[E").count() >= 5, "{said}");
    let path = bad.write();
    let line =
        1 + std::fs::read_to_string(&path).unwrap().lines().position(|line| line.contains("soon")).unwrap();
    assert!(said.contains(&format!("edgewright.toml:{line}:9")), "the place of `soon` in\n{said}");

    // The proxy doesn't start with it either, and says the same.
    let started = bad.run_to_end().expect_code(1);
    for text in ["soon", "thread", "paths", "absent", "nowhere"] {
        assert!(started.said().contains(text), "`{text}` in\n{}", started.said());
    }

    let json = bad.command(&["check", "--json", "edgewright.toml"]).expect_code(1);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON on stdout");
    let list = json.as_array().or_else(|| json["diagnostics"].as_array()).expect("a list");
    assert!(list.len() >= 5, "{json}");
    assert!(list.iter().any(|one| one["line"] == line && one["code"].is_string()), "{json}");
}

#[test]
fn exit_codes_tell_mistakes_of_the_caller_apart() {
    let directory = tempfile::tempdir().expect("a directory");
    let check = |arguments: &[&str], code: i32, said: &str| {
        let finished = edgewright(arguments, directory.path()).expect_code(code);
        assert!(finished.said().contains(said), "{arguments:?}: {}", finished.said());
    };
    check(&["--help"], 0, "proxy");
    check(&["--version"], 0, "edgewright");
    check(&["frobnicate"], 2, "frobnicate");
    check(&["check", "--frobnicate"], 2, "frobnicate");
    check(&["proxy"], 2, "--to");
    check(&["run", "--config", "absent.toml"], 1, "absent.toml");
    check(&["check", "absent.toml"], 1, "absent.toml");
    check(&["plugin", "inspect", "absent.wasm"], 1, "absent.wasm");
}

#[test]
fn an_address_in_use_is_a_clear_error() {
    let origin = Origin::ok();
    let setup = Setup::new().upstream("main", &origin).route("default", "", "main");
    let taken = |address: std::net::SocketAddr| {
        let _holder = TcpListener::bind(address).expect("a free port");
        let finished = setup.run_to_end().expect_code(1);
        let said = finished.said();
        assert!(said.contains(&address.to_string()), "{said}");
        assert!(said.contains("in use"), "{said}");
        assert!(!said.contains("panicked"), "{said}");
    };
    taken(setup.address());
    taken(setup.admin());
}

#[test]
fn explain_says_which_route_and_why() {
    let origin = Origin::ok();
    let setup = Setup::new()
        .plugin("mark", &guest("mark"), "")
        .upstream("blue", &origin)
        .upstream("green", &origin)
        .route(
            "beta",
            "match = { host = \"app.test\", path = \"/v1/*\", cookie = { beta = \"1\" } }\nplugins = [{ name = \"mark\", config = { name = \"m\" } }]",
            "green",
        )
        .route("stable", "match = { host = \"app.test\", path = \"/v1/*\" }", "blue");
    let check = |arguments: &[&str], said: &[&str]| {
        let arguments = [&["explain", "--config", "edgewright.toml"], arguments].concat();
        let finished = setup.command(&arguments).expect_code(0);
        for text in said {
            assert!(finished.stdout.contains(text), "{arguments:?}: `{text}` in\n{}", finished.stdout);
        }
    };
    check(&["GET", "http://app.test/v1/x"], &["stable", "blue", "beta", "cookie"]);
    check(&["GET", "http://app.test/v1/x", "-H", "cookie: beta=1"], &["beta", "green", "mark"]);
    check(&["GET", "http://app.test/v1/a/../x"], &["/v1/x"]);
    let none = setup.command(&["explain", "--config", "edgewright.toml", "GET", "http://other.test/"]);
    assert!(none.said().contains("no route"), "{}", none.said());
}

#[test]
fn inspect_shows_what_a_component_is() {
    let directory = tempfile::tempdir().expect("a directory");
    let check = |name: &str, bytes: &[u8], code: i32, said: &[&str]| {
        std::fs::write(directory.path().join(name), bytes).expect("a file");
        let finished = edgewright(&["plugin", "inspect", name], directory.path()).expect_code(code);
        for text in said {
            assert!(finished.said().contains(text), "{name}: `{text}` in\n{}", finished.said());
        }
        finished.said()
    };
    let said = check("mark.wasm", &guest("mark").bytes(), 0, &["request-filter", "response-filter", "0.1.0"]);
    assert!(!said.contains("log-filter"), "{said}");
    let said = check("log.wasm", &guest("log-only").bytes(), 0, &["log-filter"]);
    assert!(!said.contains("request-filter"), "{said}");
    check("core.wasm", b"\0asm\x01\0\0\0", 1, &["wasm32-wasip2"]);
    check("text.wasm", b"text", 1, &["WebAssembly"]);
}

#[test]
fn listeners_in_each_others_way_are_found() {
    let origin = Origin::ok();
    let check = |one: &str, other: &str| {
        let port = edgewright_tests::ports::free_address().port();
        let (one, other) = (format!("{one}:{port}"), format!("{other}:{port}"));
        let setup = Setup::new()
            .upstream("main", &origin)
            .route("default", "", "main")
            .config(&format!("[[listeners]]\naddress = \"{one}\"\n[[listeners]]\naddress = \"{other}\""));
        let finished = setup.run_to_end().expect_code(1);
        let said = finished.said();
        assert!(said.contains(&one) && said.contains(&other), "{one} and {other} in\n{said}");
        assert!(!said.contains("panicked"), "{said}");
    };
    check("[::]", "0.0.0.0");
    check("0.0.0.0", "[::]");
    check("0.0.0.0", "127.0.0.1");
    check("127.0.0.1", "127.0.0.1");
}

#[test]
fn a_file_is_named_by_flag_or_by_place() {
    let origin = Origin::ok();
    let setup = Setup::new().upstream("main", &origin).route("default", "", "main");
    setup.write();
    for arguments in
        [&["check", "edgewright.toml"][..], &["check", "--config", "edgewright.toml"], &["check"]]
    {
        let _ = setup.command(arguments).expect_code(0);
    }
    let _ = setup.command(&["check", "edgewright.toml", "--config", "edgewright.toml"]).expect_code(2);
    for arguments in [&["run", "absent.toml"][..], &["run", "--config", "absent.toml"]] {
        let said = setup.command(arguments).expect_code(1).said();
        assert!(said.contains("absent.toml"), "{said}");
    }
}

#[test]
fn an_address_in_use_names_the_flag_that_says_it() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let directory = tempfile::tempdir().expect("a directory");
    let address = taken.local_addr().expect("an address").to_string();
    let arguments = ["proxy", "--to", "127.0.0.1:9", "--from", &address];
    let said = edgewright(&arguments, directory.path()).expect_code(1).said();
    assert!(said.contains("(`--from` says which)"), "{said}");
    let said = edgewright(&["proxy", "--to", "9000"], directory.path()).expect_code(1).said();
    assert!(said.contains("write `127.0.0.1:9000`"), "{said}");
}

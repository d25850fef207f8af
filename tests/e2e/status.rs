//! `edgewright status`: how a running proxy is, for people and for programs.

use edgewright_tests::{DEADLINE, Origin, Setup, edgewright, get, guest, wait_for};

#[test]
fn status_shows_what_runs_and_how_it_is() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .plugin("trap", &guest("trap"), "isolation = \"reuse\"")
        .upstream("main", &origin)
        .route_all(r#"["trap"]"#, "main")
        .start();
    for _ in 0..5 {
        assert_eq!(proxy.get("/x").status, 200);
    }
    assert_eq!(proxy.ask(&get("/x").header("X-Boom", "1")).status, 503);
    // The admin address is in the file.
    let finished = edgewright(&["status"], proxy.directory()).expect_code(0);
    let text = finished.stdout;
    for part in ["ready", "generation 1", "ROUTE", "UPSTREAM", "PLUGIN", "request-filter", "trap 1", "reuse"]
    {
        assert!(text.contains(part), "`{part}` is not in\n{text}");
    }
    assert!(text.contains(&origin.address().to_string()), "{text}");
    let finished = edgewright(&["status", "--json"], proxy.directory()).expect_code(0);
    let status: serde_json::Value = serde_json::from_str(&finished.stdout).expect("JSON");
    let plugin = &status["plugins"][0];
    assert_eq!(plugin["phases"][0]["calls"]["next"], 5, "{plugin}");
    assert_eq!(plugin["phases"][0]["calls"]["failed"], 1, "{plugin}");
    assert!(plugin["phases"][0]["p99-us"].as_f64().is_some_and(|us| us > 0.0), "{plugin}");
    assert_eq!(plugin["failures"]["trap"], 1, "{plugin}");
    assert!(plugin["instances"]["idle"].as_u64().is_some_and(|idle| idle >= 1), "{plugin}");
    assert!(plugin["memory-peak-bytes"].as_u64().is_some_and(|bytes| bytes >= 65_536), "{plugin}");
}

#[test]
fn a_proxy_out_of_reach_is_3_and_no_admin_address_is_1() {
    let setup = Setup::new().config("[upstreams.main]\npeers = [\"127.0.0.1:9\"]").route("all", "", "main");
    setup.write();
    let finished = edgewright(&["status"], setup.directory()).expect_code(3);
    assert!(finished.said().contains(&setup.admin().to_string()), "{}", finished.said());
    let address = setup.admin().to_string();
    let directory = tempfile::tempdir().expect("a directory");
    for (arguments, code) in
        [(&["status", "--admin", &address][..], 3), (&["status", "--admin", "nowhere"], 2), (&["status"], 1)]
    {
        let finished = edgewright(arguments, directory.path()).expect_code(code);
        assert!(finished.stdout.is_empty(), "{arguments:?}: {}", finished.stdout);
    }
}

#[test]
fn status_tells_names_without_peers_and_a_reload_that_was_refused() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .config(&format!("[upstreams.main]\npeers = [\"{}\", \"gone.invalid:80\"]", origin.address()))
        .route("all", "", "main")
        .start();
    let reading = || proxy.status()["upstreams"][0]["unresolved"][0].clone();
    assert_eq!(reading()["name"], "gone.invalid");
    wait_for(DEADLINE, "the look-up to fail", || reading()["reason"] == "no-such-name");
    proxy.edit_config(|text| format!("{text}\nnonsense = 1\n"));
    assert_ne!(proxy.reload().status, 200);
    // The file is in a state now that says nothing of an address.
    let address = proxy.admin_address().to_string();
    let text = edgewright(&["status", "--admin", &address], proxy.directory()).expect_code(0).stdout;
    for part in ["gone.invalid", "none: no-such-name", "was not taken: refused", "nonsense"] {
        assert!(text.contains(part), "`{part}` is not in\n{text}");
    }
}

#[test]
fn what_is_no_admin_address_is_told_as_that() {
    let origin = Origin::ok();
    let proxy = Setup::new().upstream("main", &origin).route("default", "", "main").start();
    let address = proxy.address().to_string();
    for command in ["status", "reload"] {
        let said = edgewright(&[command, "--admin", &address], proxy.directory()).expect_code(3).said();
        assert!(said.contains("is no admin address of Edgewright"), "{said}");
        let nowhere = tempfile::tempdir().expect("a directory");
        let said = edgewright(&[command], nowhere.path()).expect_code(1).said();
        assert!(said.contains("there is no `edgewright.toml` here") && said.contains("--admin"), "{said}");
    }
}

#[test]
fn what_may_be_secret_is_not_shown() {
    // Routes that answer by themselves need no upstream.
    let proxy = Setup::new()
        .config(
            "[[routes]]\nname = \"go\"\nmatch = { path = \"/go\" }\n\
             redirect = { to = \"https://a.test/x?key=hush\" }\n\
             [[routes]]\nname = \"say\"\nrespond = { status = 200, body = \"hush\" }",
        )
        .start();
    assert_eq!(proxy.get("/go").field("location").as_deref(), Some("https://a.test/x?key=hush"));
    assert_eq!(proxy.get("/y").text(), "hush");
    let shown = [proxy.admin("/config").text(), proxy.admin("/status").text(), proxy.stderr()];
    for text in &shown {
        assert!(!text.contains("hush"), "{text}");
    }
    assert!(shown.iter().all(|text| text.contains("https://a.test/x?***")), "{shown:?}");
}

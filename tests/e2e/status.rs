//! `edgewright status`: how a running proxy is, for people and for programs.

use edgewright_tests::{Origin, Setup, edgewright, get, guest};

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

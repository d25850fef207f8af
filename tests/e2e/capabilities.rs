//! Capabilities in the real proxy: what is kept between requests and workers, and that nothing is had without a
//! grant.

use std::collections::BTreeMap;

use edgewright_tests::{DEADLINE, Origin, Proxy, Setup, get, guest};

fn setup(name: &str, manifest: &str, origin: &Origin) -> Setup {
    Setup::new()
        .plugin(name, &guest(name), manifest)
        .upstream("main", origin)
        .route_all(&format!("[\"{name}\"]"), "main")
}

fn said(proxy: &Proxy, path: &str) -> String {
    let response = proxy.ask(&get(path));
    assert_eq!(response.status, 200, "{path}: {}", response.text());
    response.text()
}

#[test]
fn p20_what_is_not_granted_is_refused_at_load() {
    fn check(name: &str, manifest: &str, expected: &str) {
        let origin = Origin::ok();
        let finished = setup(name, manifest, &origin).run_to_end();
        assert_eq!(finished.code, Some(1), "{}", finished.stderr);
        assert!(finished.stderr.contains(expected), "{}", finished.stderr);
    }
    check("kv", "", "needs what its manifest does not grant: `kv`");
    check("kv", "grants = { counter = true }", "needs what its manifest does not grant: `kv`");
    check("kv", "grants = { kv = false }", "`grants = { kv = true }`");
    check("counter", "grants = { kv = true }", "needs what its manifest does not grant: `counter`");
    check("counter", "grants = { counters = true }", "did you mean `counter`?");
}

#[test]
fn kv_is_kept_between_requests_and_instances() {
    let origin = Origin::ok();
    // Without `isolation`, each request has an instance of its own.
    let proxy = setup("kv", "grants = { kv = true }\nlimits = { kv = \"2KiB\" }", &origin).start();
    assert_eq!(said(&proxy, "/get/a"), "none");
    assert_eq!(said(&proxy, "/set/a/1"), "Ok(())");
    assert_eq!(said(&proxy, "/get/a"), "1");
    assert_eq!(said(&proxy, "/cas/a/0/2"), "Ok(false)");
    assert_eq!(said(&proxy, "/cas/a/1/2"), "Ok(true)");
    assert_eq!(said(&proxy, "/cas/b/-/1"), "Ok(true)");
    assert_eq!(said(&proxy, "/add/a/40"), "Ok(42)");
    assert_eq!(said(&proxy, "/delete/b"), "true");
    assert_eq!(said(&proxy, "/delete/b"), "false");
    assert_eq!(said(&proxy, "/set/t/1/1"), "Ok(())");
    edgewright_tests::wait_for(DEADLINE, "the key to expire", || said(&proxy, "/get/t") == "none");
    assert_eq!(said(&proxy, "/fill/big/3000"), "Err(Full)");
    assert_eq!(said(&proxy, "/fill/big/1500"), "Ok(())");
    assert_eq!(said(&proxy, "/fill/more/1500"), "Err(Full)");
    assert_eq!(said(&proxy, "/fill/big/70000"), "Err(TooLarge)");
}

#[test]
fn a_counter_is_exact_over_all_workers() {
    let origin = Origin::ok();
    let proxy = setup("counter", "isolation = \"reuse\"\ngrants = { counter = true }", &origin)
        .server("threads = 4")
        .start();
    for window in ["fixed", "sliding"] {
        let mut statuses = BTreeMap::new();
        std::thread::scope(|scope| {
            let client = || {
                let ask = get(format!("/{window}")).header("x-window", window);
                (0..10).map(|_| proxy.ask(&ask).status).collect::<Vec<_>>()
            };
            let clients: Vec<_> = (0..8).map(|_| scope.spawn(client)).collect();
            for status in clients.into_iter().flat_map(|client| client.join().expect("answers")) {
                *statuses.entry(status).or_insert(0) += 1;
            }
        });
        assert_eq!(statuses, BTreeMap::from([(200, 10), (429, 70)]), "{window}");
    }
}

#[test]
fn counters_have_a_limit_of_keys() {
    let origin = Origin::ok();
    let manifest = "grants = { counter = true }\nlimits = { counters = 3 }";
    let proxy = setup("counter", manifest, &origin).start();
    let statuses: Vec<_> =
        ["/a", "/b", "/c", "/d", "/a"].iter().map(|path| proxy.ask(&get(path)).status).collect();
    assert_eq!(statuses, [200, 200, 200, 507, 200]);
}

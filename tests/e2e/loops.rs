//! Ways back to the proxy: over a name that is its own, and over another proxy.

use edgewright_tests::{Answer, Dns, Origin, Setup};

#[test]
fn a_name_that_leads_back_to_the_proxy_has_no_peer_there() {
    let setup = Setup::new();
    let port = setup.address().port();
    let other = Origin::ok_at(format!("127.0.0.2:{port}").parse().unwrap());
    let dns = Dns::start(&[
        ("own.test", Answer::addresses(&["127.0.0.1"])),
        ("mixed.test", Answer::addresses(&["127.0.0.1", "127.0.0.2"])),
    ]);
    let proxy = setup
        .config(&format!("[dns]\nservers = [\"{}\"]", dns.address()))
        .config(&format!("[upstreams.own]\npeers = [\"own.test:{port}\"]"))
        .config(&format!("[upstreams.mixed]\npeers = [\"mixed.test:{port}\"]"))
        .route("own", "match = { path = \"/own\" }", "own")
        .route("mixed", "", "mixed")
        .start();
    proxy.get("/own").expect_status(503);
    let warning = proxy.wait_for_log("the proxy's own");
    assert!(warning.contains("WARN") && warning.contains(&format!("127.0.0.1:{port}")), "{warning}");
    for _ in 0..4 {
        proxy.get("/mixed").expect_status(200);
    }
    assert_eq!(other.requests().len(), 4);
    let lines = proxy.access_log(5);
    assert_eq!(lines.len(), 5, "no request came back: {lines:#?}");
    let refused = lines.iter().find(|line| line["status"] == 503).expect("the line of the first");
    assert_eq!(refused["error"], "no-peer");
    let status = proxy.status();
    for upstream in status["upstreams"].as_array().expect("a list") {
        assert_eq!(upstream["own-addresses"][0], format!("127.0.0.1:{port}"), "{upstream}");
    }
}

#[test]
fn rfc_8586_a_loop_over_another_proxy_ends_at_once() {
    let (first, second) = (Setup::new(), Setup::new());
    let (there, back) = (second.address(), first.address());
    let second = second.peers("main", &[back]).route("default", "", "main").start();
    let first =
        first.server("loop-detection = true").peers("main", &[there]).route("default", "", "main").start();
    first.get("/x").expect_status(508);
    let lines = first.access_log(2);
    assert_eq!(lines.iter().filter(|line| line["error"] == "loop").count(), 1, "{lines:#?}");
    assert_eq!(second.access_log(1).len(), 1);
}

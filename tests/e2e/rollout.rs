//! A new plugin in the place of another, for a share of the requests: one version a request, and none of it once it
//! fails too often.

use edgewright_tests::{DEADLINE, Origin, Proxy, Response, Setup, get, guest, wait_for};

/// Two versions of a plugin that mark what they see, on one route.
fn start(rollout: &str) -> (Proxy, Origin) {
    let origin = Origin::answer(|request| {
        let mark = request.field("x-mark").unwrap_or_default();
        format!("HTTP/1.1 200 OK\r\nX-Asked: {mark}\r\nContent-Length: 2\r\n\r\nok").into_bytes()
    });
    let manifest = |name: &str| format!("isolation = \"reuse\"\nconfig = {{ name = \"{name}\" }}");
    let proxy = Setup::new()
        .plugin("mark", &guest("mark"), &manifest("old"))
        .plugin("mark-v2", &guest("mark"), &manifest("new"))
        .upstream("main", &origin)
        .route_all(
            &format!("[{{ name = \"mark\", rollout = {{ plugin = \"mark-v2\", {rollout} }} }}]"),
            "main",
        )
        .start();
    (proxy, origin)
}

fn served_by(response: &Response) -> String {
    assert_eq!(response.status, 200, "{:?}", response.head);
    let (request, answer) = (response.field("x-asked"), response.field("x-mark"));
    assert_eq!(request, answer, "both phases are of one version");
    answer.expect("a mark")
}

/// How many of so many requests the new one got.
fn share(proxy: &Proxy, requests: usize) -> usize {
    let mut connection = proxy.connect();
    (0..requests).filter(|_| served_by(&connection.ask(&get("/x"))) == "new").count()
}

#[test]
fn a_share_of_the_requests_gets_the_new_one_whole() {
    let (proxy, _origin) = start("weight = 30");
    let new = share(&proxy, 400);
    assert!((60..200).contains(&new), "{new} of 400 at 30 %");
    let labels = [("route", "all"), ("plugin", "mark"), ("candidate", "mark-v2")];
    let weight = |proxy: &Proxy| proxy.metrics().sum("edgewright_rollout_weight_percent", &labels);
    assert!((weight(&proxy) - 30.0).abs() < f64::EPSILON);
    let rollout = proxy.status()["routes"][0]["rollout"].clone();
    assert_eq!((&rollout["candidate"], &rollout["weight"]), (&"mark-v2".into(), &30.into()), "{rollout}");
    assert!(rollout["calls"].as_u64() > Some(0) && rollout["failures"] == 0, "{rollout}");
    // The weight is the configuration's to change.
    for (from, to, expected) in [("30", "100", 50), ("100", "0", 0)] {
        proxy.edit_config(|text| text.replace(&format!("weight = {from}"), &format!("weight = {to}")));
        let _ = proxy.reload().expect_status(200);
        assert_eq!(share(&proxy, 50), expected, "at {to} %");
    }
    proxy.edit_config(|text| text.replace(", rollout = { plugin = \"mark-v2\", weight = 0 }", ""));
    let _ = proxy.reload().expect_status(200);
    assert!(!proxy.metrics().has("edgewright_rollout_weight_percent", &labels));
}

#[test]
fn whoever_has_the_new_one_keeps_it() {
    let (proxy, _origin) = start("weight = 30, sticky = { cookie = \"session\" }");
    let ask = |session: usize| get("/x").header("Cookie", format!("a=b; session={session}"));
    let versions = || -> Vec<String> { (0..60).map(|n| served_by(&proxy.ask(&ask(n)))).collect() };
    let first = versions();
    assert_eq!(first, versions());
    let new = |versions: &[String]| versions.iter().filter(|version| *version == "new").count();
    assert!((3..40).contains(&new(&first)), "{} of 60 at 30 %", new(&first));
    proxy.edit_config(|text| text.replace("weight = 30", "weight = 60"));
    let _ = proxy.reload().expect_status(200);
    let second = versions();
    assert!(new(&second) > new(&first));
    for (before, after) in first.iter().zip(&second) {
        assert!(before == "old" || after == "new", "nobody goes back");
    }
    let (by_client, _origin) = start("weight = 50, sticky = \"client-address\"");
    assert!([0, 20].contains(&share(&by_client, 20)), "all of one client");
}

#[test]
fn one_that_fails_too_often_is_taken_back() {
    let origin = Origin::ok();
    let manifest = "isolation = \"reuse\"\nquarantine = { failures = 0 }";
    let proxy = Setup::new()
        .plugin("calm", &guest("method"), "isolation = \"reuse\"")
        .plugin("trap", &guest("trap"), manifest)
        .upstream("main", &origin)
        .route_all(r#"[{ name = "calm", rollout = { plugin = "trap", weight = 50 } }]"#, "main")
        .start();
    // Good requests are no reason.
    for _ in 0..60 {
        assert_eq!(proxy.get("/x").status, 200);
    }
    let boom = get("/x").header("X-Boom", "1");
    let mut failed = 0;
    wait_for(DEADLINE, "the rollout to be taken back", || {
        failed += usize::from(proxy.ask(&boom).status == 503);
        proxy.metrics().sum("edgewright_rollouts_taken_back_total", &[]) > 0.0
    });
    assert!(failed > 0);
    for _ in 0..40 {
        assert_eq!(proxy.ask(&boom).status, 200);
    }
    let line = proxy.wait_for_log("rollout is taken back");
    assert!(line.contains("candidate=\"trap\"") && line.contains("route=\"all\""), "{line}");
    let check = || {
        let rollout = proxy.status()["routes"][0]["rollout"].clone();
        let told = (&rollout["weight"], &rollout["configured-weight"], &rollout["rolled-back"]);
        assert_eq!(told, (&0.into(), &50.into(), &true.into()), "{rollout}");
    };
    check();
    // It stays so over a reload that changes something else, and begins anew where it is told to.
    proxy.edit_config(|text| format!("{text}\n[upstreams.spare]\npeers = [\"127.0.0.1:9\"]"));
    let _ = proxy.reload().expect_status(200);
    check();
    proxy.edit_config(|text| text.replace("weight = 50", "weight = 100"));
    let _ = proxy.reload().expect_status(200);
    assert_eq!(proxy.ask(&boom).status, 503);
}

#[test]
fn what_can_not_be_rolled_out_is_told() {
    let origin = Origin::ok();
    let check = |plugins: &str, expected: &str| {
        let finished = Setup::new()
            .plugin("mark", &guest("mark"), "")
            .plugin("other", &guest("mark"), "")
            .upstream("main", &origin)
            .route_all(plugins, "main")
            .command(&["check"])
            .expect_code(1);
        assert!(finished.said().contains(expected), "{plugins}: `{expected}` in\n{}", finished.said());
    };
    let rollout = |inside: &str| format!("[{{ name = \"mark\", rollout = {{ {inside} }} }}]");
    check(&rollout("weight = 10"), "no `plugin`");
    check(&rollout("plugin = \"other\""), "no `weight`");
    check(&rollout("plugin = \"other\", weight = 101"), "E0205");
    check(&rollout("plugin = \"other\", weigth = 10"), "`weight`");
    check(&rollout("plugin = \"mark\", weight = 10"), "in place of itself");
    check(&rollout("plugin = \"absent\", weight = 10"), "unknown plugin `absent`");
    check(&rollout("plugin = \"other\", weight = 10, sticky = \"user\""), "E0204");
    check(&rollout("plugin = \"other\", weight = 10, sticky = { }"), "one header or one cookie");
    check(&rollout("plugin = \"other\", weight = 10, min-calls = 0"), "E0205");
    let one = "{ name = \"mark\", rollout = { plugin = \"other\", weight = 1 } }";
    check(&format!("[{one}, {one}]"), "a `rollout` already");
}

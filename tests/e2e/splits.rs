//! Routes with several upstreams: shares by weight, and requests that stay together.

use edgewright_tests::{Origin, Proxy, Setup, get};

fn with(inside: &str, a: &Origin, b: &Origin) -> Proxy {
    Setup::new()
        .upstream("a", a)
        .upstream("b", b)
        .config(&format!("[[routes]]\nname = \"all\"\n{inside}"))
        .start()
}

#[test]
fn requests_are_shared_by_weight_and_counted() {
    const REQUESTS: usize = 400;
    let (a, b) = (Origin::ok(), Origin::ok());
    let inside = r#"upstream = [{ name = "a", weight = 75 }, { name = "b", weight = 25 }]"#;
    let proxy = with(inside, &a, &b);
    let mut client = proxy.connect();
    for _ in 0..REQUESTS {
        assert_eq!(client.ask(&get("/x")).status, 200);
    }
    let (to_a, to_b) = (a.requests().len(), b.requests().len());
    assert_eq!(to_a + to_b, REQUESTS);
    // 100 are expected; with a standard deviation of 9, this is some seven of them.
    assert!((40..160).contains(&to_b), "{to_b} of {REQUESTS} for a quarter");
    let metrics = proxy.metrics_at_rest();
    for (name, count) in [("a", to_a), ("b", to_b)] {
        let counted = metrics.sum("edgewright_split_requests_total", &[("route", "all"), ("upstream", name)]);
        assert_eq!(counted as usize, count, "{name}");
    }
    let lines = proxy.access_log(REQUESTS);
    assert_eq!(lines.iter().filter(|line| line["upstream"] == "b").count(), to_b);
    assert_eq!(proxy.status()["routes"][0]["action"], "a 75 %, b 25 %");
}

#[test]
fn a_weight_of_zero_gets_nothing() {
    let (a, b) = (Origin::ok(), Origin::ok());
    let proxy = with(r#"upstream = [{ name = "a", weight = 0 }, { name = "b", weight = 1 }]"#, &a, &b);
    let mut client = proxy.connect();
    for _ in 0..50 {
        assert_eq!(client.ask(&get("/x")).status, 200);
    }
    assert_eq!((a.requests().len(), b.requests().len()), (0, 50));
}

#[test]
fn what_requests_have_in_common_keeps_them_together() {
    let (a, b) = (Origin::body("a"), Origin::body("b"));
    let shares = r#"upstream = [{ name = "a", weight = 50 }, { name = "b", weight = 50 }]"#;
    let check = |sticky: &str, request: &dyn Fn(usize) -> edgewright_tests::Ask| {
        let proxy = with(&format!("{shares}\nsticky = {sticky}"), &a, &b);
        let mut client = proxy.connect();
        let mut chosen = Vec::new();
        for key in 0..40 {
            let first = client.ask(&request(key)).expect_status(200).text();
            for _ in 0..3 {
                assert_eq!(client.ask(&request(key)).text(), first, "{sticky}: {key}");
            }
            chosen.push(first);
        }
        chosen
    };
    let mixed = |chosen: &[String]| chosen.iter().any(|it| it == "a") && chosen.iter().any(|it| it == "b");
    let by_cookie =
        check(r#"{ cookie = "user" }"#, &|key| get("/x").header("Cookie", format!("x=1; user={key}")));
    assert!(mixed(&by_cookie), "{by_cookie:?}");
    let by_header = check(r#"{ header = "x-user" }"#, &|key| get("/x").header("X-User", key.to_string()));
    assert_eq!(by_header, by_cookie, "one key, one place");
    let by_address = check("\"client-address\"", &|_| get("/x"));
    assert!(!mixed(&by_address), "{by_address:?}");
}

#[test]
fn explain_tells_the_shares() {
    let (a, b) = (Origin::ok(), Origin::ok());
    let setup = Setup::new().upstream("a", &a).upstream("b", &b).config(
        "[[routes]]\nname = \"all\"\nupstream = [{ name = \"a\", weight = 2 }, { name = \"b\", weight = 1 }]\n\
         mirror = { upstream = \"b\", share = \"10%\" }\nmax-body = \"1KiB\"",
    );
    let told = setup.command(&["explain", "GET", "http://a.test/x"]).expect_code(0).stdout;
    for part in [
        "upstream: a 66.6667 %, b 33.3333 %\n",
        &format!("  b: {} in turn\n", b.address()),
        "mirror: b (10 %)\n",
        "request: a body of more than 1024 bytes is refused\n",
    ] {
        assert!(told.contains(part), "{part:?} in {told}");
    }
}

//! Names whose server fails in every way there is, whose answers are short-lived or eternal, and that move again and
//! again.

use std::net::SocketAddr;
use std::time::Instant;

use edgewright_tests::{Answer, DEADLINE, Dns, Load, Origin, Proxy, Setup, get, wait_for};

/// A proxy in front of `svc.test` at this port, with short times and these lines for `[dns]`.
fn start(dns: &Dns, port: u16, lines: &str) -> Proxy {
    Setup::new()
        .server("limits = { requests = 1000000 }")
        .access_log("sample = \"0%\"")
        .config(&format!(
            "[dns]\nservers = [\"{}\"]\ntimeout = \"500ms\"\nretry = \"1s\"\n{lines}",
            dns.address()
        ))
        .config(&format!("[upstreams.main]\npeers = [\"svc.test:{port}\"]"))
        .route("default", "", "main")
        .start()
}

/// Each failure by its word in `/metrics`. Nothing of it is seen by requests, which use the last good answer.
#[test]
fn f3_no_failure_of_the_name_server_costs_a_request() {
    let check = |failure: Answer, word: &str| {
        let origin = Origin::ok();
        let dns = Dns::start(&[("svc.test", Answer::addresses(&["127.0.0.1"]))]);
        let proxy = start(&dns, origin.address().port(), "min-ttl = \"1s\"");
        assert_eq!(proxy.get("/x").status, 200);
        dns.set("svc.test", failure.clone());
        wait_for(DEADLINE, &format!("look-ups that fail with {word}"), || {
            assert_eq!(proxy.get("/x").status, 200, "{failure:?}");
            let seen = proxy.metrics();
            seen.sum("edgewright_dns_lookups_total", &[("name", "svc.test"), ("outcome", word)]) >= 4.0
        });
        // An operator is told, and which failure it is.
        let line = proxy.wait_for_log("name of the upstream does not resolve");
        assert!(line.contains("WARN") && line.contains("svc.test"), "{line}");
    };
    check(Answer::failure(), "failed");
    check(Answer::refusal(), "failed");
    check(Answer::silence(), "failed");
    check(Answer::no_such_name(), "no-name");
    check(Answer::addresses(&[]), "no-records");
}

#[test]
fn f3_an_answer_that_is_cut_is_asked_for_over_tcp() {
    let origin = Origin::ok();
    let dns = Dns::start(&[("svc.test", Answer::addresses(&["127.0.0.1"]).cut_over_udp())]);
    let proxy = start(&dns, origin.address().port(), "min-ttl = \"1s\"");
    wait_for(DEADLINE, "the name to be found", || proxy.get("/x").status == 200);
    assert!(dns.asked_over_tcp("svc.test") > 0);
}

/// RFC 9520: a name that fails is not asked for on and on.
#[test]
fn f3_a_name_that_fails_is_asked_for_once_in_a_while() {
    let dns = Dns::start(&[("svc.test", Answer::failure())]);
    let began = Instant::now();
    let proxy = start(&dns, 80, "");
    wait_for(DEADLINE, "some look-ups", || {
        assert_eq!(proxy.get("/x").status, 503);
        dns.asked("svc.test") >= 6
    });
    let most = 2 * (began.elapsed().as_secs() as usize + 2);
    // Both kinds of addresses, once a second each.
    assert!(dns.asked("svc.test") <= most, "{} questions, not {most}", dns.asked("svc.test"));
}

/// Of those that are kept for no time or for ever, too.
#[test]
fn f4_a_name_is_asked_for_as_its_ttl_says_within_bounds() {
    let check = |ttl: u32| {
        let origin = Origin::ok();
        let answer = Answer::addresses(&["127.0.0.1", "::1"]).ttl(ttl);
        let dns = Dns::start(&[("svc.test", answer)]);
        let began = Instant::now();
        let proxy = start(&dns, origin.address().port(), "min-ttl = \"1s\"\nmax-ttl = \"1s\"");
        // It is asked for again, however long it may be kept,
        wait_for(DEADLINE, "some look-ups", || {
            assert_eq!(proxy.get("/x").status, 200);
            dns.asked("svc.test") >= 6
        });
        // and not on and on, however short; both kinds of addresses.
        let most = 2 * (began.elapsed().as_secs() as usize + 2);
        assert!(dns.asked("svc.test") <= most, "{ttl}: {} questions, not {most}", dns.asked("svc.test"));
    };
    check(0);
    check(1);
    check(1 << 31);
}

/// The one that the name no longer stands for is stopped each time.
#[test]
fn f5_a_name_that_moves_again_and_again_costs_no_get_and_leaves_nobody_behind() {
    let mut current = Origin::ok();
    let port = current.address().port();
    let dns = Dns::start(&[("svc.test", Answer::addresses(&["127.0.0.1"]))]);
    let proxy = start(&dns, port, "min-ttl = \"1s\"\nmax-ttl = \"1s\"");
    let clients = Load::start(proxy.address(), 4, &get("/x"), |response| assert_eq!(response.status, 200));
    clients.wait_for(100);
    for place in ["127.0.0.2", "127.0.0.3", "127.0.0.4"] {
        let next = Origin::ok_at(SocketAddr::new(place.parse().unwrap(), port));
        dns.set("svc.test", Answer::addresses(&[place]));
        wait_for(DEADLINE, "the new address to be used", || !next.requests().is_empty());
        wait_for(DEADLINE, "nothing more to go to the old one", || {
            let before = current.requests().len();
            clients.wait_for(100);
            current.requests().len() == before
        });
        current = next;
        clients.wait_for(100);
    }
    assert!(clients.stop() > 300);
}

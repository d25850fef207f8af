//! Peers over TLS and HTTP/2: who they are asked to be, who they must prove to be, and what they are spoken to in.

use edgewright_tests::modern_origin::{ModernOrigin, Protocols, write_pem};
use edgewright_tests::tls::Authority;
use edgewright_tests::{Answer, Dns, Origin, Proxy, Setup, get};

/// The lines of `[dns]` for a name server of a test.
fn resolver(dns: &Dns) -> String {
    format!("[dns]\nservers = [\"{}\"]\nmin-ttl = \"1s\"\nretry = \"1s\"", dns.address())
}

/// A proxy whose only upstream has these lines; `DIR/` in them is its directory.
fn start(files: &[(&str, &str)], lines: &str) -> Proxy {
    let setup = Setup::new();
    for (name, pem) in files {
        write_pem(setup.directory(), name, pem);
    }
    setup.config(&format!("[upstreams.main]\n{lines}")).route("default", "", "main").start()
}

#[test]
fn case_16_sni_and_verification_are_by_name() {
    let authority = Authority::new("Test CA");
    let origin = ModernOrigin::tls("127.0.0.2:0", &authority.issue(&["svc.test"]));
    let dns = Dns::start(&[("svc.test", Answer::addresses(&["127.0.0.2"]))]);
    let setup = Setup::new();
    write_pem(setup.directory(), "ca.pem", authority.pem());
    let proxy = setup
        .config(&resolver(&dns))
        .config(&format!(
            "[upstreams.main]\npeers = [\"svc.test:{}\"]\ntls = {{ ca = \"ca.pem\" }}",
            origin.address().port()
        ))
        .route("default", "", "main")
        .start();
    for host in ["inner.test", "a.test"] {
        assert_eq!(proxy.ask(&get("/x").host(host)).expect_status(200).text(), "ok");
    }
    let seen = origin.seen();
    assert!(seen.iter().all(|request| request.sni.as_deref() == Some("svc.test")), "{seen:?}");
    let hosts: Vec<&str> = seen.iter().map(|request| request.host.as_str()).collect();
    assert_eq!(hosts, ["inner.test", "a.test"], "the client's");
    assert!(seen.iter().all(|request| request.protocol == "h2"), "agreed on by ALPN: {seen:?}");
}

#[test]
fn case_16_and_c57_a_certificate_for_another_name_is_502_and_nothing_is_sent() {
    let authority = Authority::new("Test CA");
    let check = |issuer: &Authority, names: &[&str], tls: &str, expected: u16| {
        let origin = ModernOrigin::tls("127.0.0.1:0", &issuer.issue(names));
        let proxy = start(
            &[("ca.pem", authority.pem())],
            &format!("peers = [\"{}\"]\ntls = {{ ca = \"ca.pem\", {tls} }}", origin.address()),
        );
        let response = proxy.get("/x").expect_status(expected);
        assert_eq!(origin.seen().len(), usize::from(expected == 200), "{tls}");
        if expected != 200 {
            let whole = format!("{}{}", String::from_utf8_lossy(&response.head.raw), response.text());
            for inside in ["svc", "other", "127.0.0", "certificate", "Certificate", "tls", "TLS", "Test CA"] {
                assert!(!whole.contains(inside), "`{inside}` in {whole}");
            }
            let line = proxy.access_log(1).pop().unwrap();
            assert_eq!(line["error"], "connect-failed");
            assert!(line["cause"].as_str().unwrap().contains("ertificate"), "{line}");
        }
    };
    let stranger = Authority::new("Other CA");
    check(&authority, &["svc.test"], "sni = \"svc.test\"", 200);
    check(&authority, &["other.test"], "sni = \"svc.test\"", 502);
    check(&authority, &["other.test"], "sni = \"svc.test\", verify-name = false", 200);
    check(&stranger, &["svc.test"], "sni = \"svc.test\"", 502);
    check(&stranger, &["svc.test"], "sni = \"svc.test\", verify-name = false", 502);
    check(&stranger, &["other.test"], "sni = \"svc.test\", verify = false", 200);
    // Without a name, the address itself has to be in the certificate (and is not sent as a name: RFC 6066).
    check(&authority, &["127.0.0.1"], "", 200);
    check(&authority, &["svc.test"], "", 502);
}

#[test]
fn a_peer_may_want_a_certificate_of_the_proxy() {
    let authority = Authority::new("Test CA");
    let own = authority.issue(&["proxy.test"]);
    let protocols = Protocols {
        certificate: Some(authority.issue(&["svc.test"])),
        alpn: vec!["http/1.1"],
        client_authority: Some(authority.pem().to_owned()),
        ..Protocols::default()
    };
    let origin = ModernOrigin::start("127.0.0.1:0", &protocols);
    let files = [("ca.pem", authority.pem()), ("own.pem", &own.pem), ("own.key", &own.key)];
    let upstream = |more: &str| {
        format!("peers = [\"{}\"]\ntls = {{ sni = \"svc.test\", ca = \"ca.pem\"{more} }}", origin.address())
    };
    let proxy = start(&files, &upstream(", cert = \"own.pem\", key = \"own.key\""));
    assert_eq!(proxy.get("/x").status, 200);
    assert_eq!(origin.seen()[0].client_certificates, 1);
    let proxy = start(&files, &upstream(""));
    assert_eq!(proxy.get("/x").status, 502);
    assert_eq!(origin.seen().len(), 1);
}

#[test]
fn the_protocol_is_what_the_upstream_says() {
    let authority = Authority::new("Test CA");
    let check = |alpn: &[&'static str], clear: bool, lines: &str, expected: Result<&str, u16>| {
        let certificate = (!clear).then(|| authority.issue(&["svc.test"]));
        let protocols = Protocols { certificate, alpn: alpn.to_vec(), ..Protocols::default() };
        let origin = ModernOrigin::start("127.0.0.1:0", &protocols);
        let tls = if clear { "" } else { "tls = { sni = \"svc.test\", ca = \"ca.pem\" }" };
        let proxy = start(
            &[("ca.pem", authority.pem())],
            &format!("peers = [\"{}\"]\n{tls}\n{lines}", origin.address()),
        );
        let mut client = proxy.connect();
        for _ in 0..6 {
            let status = client.ask(&get("/x")).status;
            match expected {
                Ok(_) => assert_eq!(status, 200, "{alpn:?} {lines}"),
                Err(expected) => {
                    assert_eq!(status, expected, "{alpn:?} {lines}");
                    return;
                }
            }
        }
        let seen = origin.seen();
        assert!(seen.iter().all(|request| Ok(request.protocol) == expected), "{seen:?}");
        let connections = seen.last().unwrap().connection;
        assert!(connections <= 3, "{alpn:?} {lines}: {connections} connections for 6 requests");
    };
    let both: &[&str] = &["h2", "http/1.1"];
    check(both, false, "", Ok("h2"));
    check(both, false, "protocol = \"auto\"", Ok("h2"));
    check(both, false, "protocol = \"h1\"", Ok("h1"));
    check(both, false, "protocol = \"h2\"", Ok("h2"));
    check(&["http/1.1"], false, "", Ok("h1"));
    check(&["http/1.1"], false, "protocol = \"h2\"", Err(502));
    check(&["h2"], true, "protocol = \"h2c\"", Ok("h2"));
    check(&[], true, "protocol = \"h1\"", Ok("h1"));
    check(&[], true, "", Ok("h1"));
}

#[test]
fn connections_of_one_trust_are_not_used_by_another() {
    // One address, two upstreams: what one of them trusts is nothing to the other.
    let (authority, stranger) = (Authority::new("Test CA"), Authority::new("Other CA"));
    let origin = ModernOrigin::tls("127.0.0.1:0", &authority.issue(&["svc.test"]));
    let setup = Setup::new();
    write_pem(setup.directory(), "ca.pem", authority.pem());
    write_pem(setup.directory(), "other.pem", stranger.pem());
    let upstream = |name: &str, ca: &str| {
        format!(
            "[upstreams.{name}]\npeers = [\"{}\"]\ntls = {{ sni = \"svc.test\", ca = \"{ca}\" }}",
            origin.address()
        )
    };
    let proxy = setup
        .config(&upstream("good", "ca.pem"))
        .config(&upstream("bad", "other.pem"))
        .route("good", "match = { path = \"/good\" }", "good")
        .route("bad", "match = { path = \"/bad\" }", "bad")
        .start();
    for _ in 0..3 {
        assert_eq!(proxy.get("/good").status, 200);
        assert_eq!(proxy.get("/bad").status, 502);
    }
}

#[test]
fn a_post_to_a_peer_of_broken_http2_runs_once() {
    // Takes HTTP/2 and then talks nonsense: the request may have been read.
    let origin = Origin::reply("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    let proxy = start(&[], &format!("peers = [\"{}\"]\nprotocol = \"h2c\"", origin.address()));
    assert_eq!(proxy.ask(&edgewright_tests::ask("POST", "/x").body("once")).status, 502);
    assert!(origin.connections() <= 1, "{} connections", origin.connections());
}

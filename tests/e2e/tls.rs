//! Listeners within TLS: certificates by name, versions and protocols, certificates of clients.

use edgewright_tests::h2c;
use edgewright_tests::tls::Certificate;
use edgewright_tests::{Authority, Connection, Origin, Setup, TlsClient, get, guest};

/// A listener with these entries of `tls`, each a certificate and more keys.
fn listener(setup: Setup, entries: &[(&str, &Certificate, &str)]) -> Setup {
    let mut setup = setup;
    let mut list = Vec::new();
    for (name, certificate, more) in entries {
        setup = setup
            .file(&format!("{name}.pem"), &certificate.pem)
            .file(&format!("{name}.key"), &certificate.key);
        list.push(format!("{{ cert = \"{name}.pem\", key = \"{name}.key\"{more} }}"));
    }
    setup.listener(&format!("tls = [{}]", list.join(", ")))
}

/// The common name of the certificate that a connection was shown.
fn shown(connection: &Connection) -> String {
    let certificates = connection.session().peer_certificates().unwrap();
    // The one text of these certificates that is short and has dots.
    let text = String::from_utf8_lossy(&certificates[0]).into_owned();
    ["a.test", "b.test", "*.wild.test"]
        .into_iter()
        .find(|name| text.contains(name))
        .unwrap_or_default()
        .to_owned()
}

#[test]
fn a_listener_within_tls_tells_the_upstream_and_plugins_of_it() {
    let ca = Authority::new("ca");
    let origin = Origin::ok();
    let proxy = listener(Setup::new(), &[("a", &ca.issue(&["a.test"]), "")])
        .plugin("tls", &guest("tls"), "isolation = \"reuse\"")
        .upstream("origin", &origin)
        .route_all(r#"["tls"]"#, "origin")
        .start();
    let client = TlsClient::new(&ca);
    let mut connection = Connection::secure(proxy.address(), &client, "a.test");
    for _ in 0..2 {
        assert_eq!(connection.ask(&get("/x")).status, 200);
        assert_eq!(origin.last().field("x-forwarded-proto").unwrap(), "https");
        assert_eq!(origin.last().field("x-tls").unwrap(), "https TLSv1.3 a.test  0");
    }
    let old = TlsClient::with(&ca, None, &[&rustls::version::TLS12], &[]);
    Connection::secure(proxy.address(), &old, "a.test").ask(&get("/x"));
    assert_eq!(origin.last().field("x-tls").unwrap(), "https TLSv1.2 a.test  0");
}

#[test]
fn the_certificate_goes_by_the_name_that_is_asked_for() {
    let ca = Authority::new("ca");
    let [a, b, wild] = [["a.test"], ["b.test"], ["*.wild.test"]].map(|names| ca.issue(&names));
    let origin = Origin::ok();
    let proxy = listener(Setup::new(), &[("a", &a, ""), ("b", &b, ""), ("wild", &wild, "")])
        .upstream("origin", &origin)
        .route_all("[]", "origin")
        .start();
    let client = TlsClient::new(&ca);
    let check = |name: &str, expected: Option<&str>| {
        let connection = Connection::try_secure(proxy.address(), &client, name);
        assert_eq!(connection.as_ref().ok().map(shown).as_deref(), expected, "{name}: {connection:?}");
    };
    check("a.test", Some("a.test"));
    check("B.test", Some("b.test"));
    check("x.wild.test", Some("*.wild.test"));
    // The first one, which the client does not take for its own.
    check("c.test", None);
    check("y.x.wild.test", None);
}

#[test]
fn protocols_are_agreed_on_and_old_versions_refused() {
    let ca = Authority::new("ca");
    let origin = Origin::body("secure");
    let proxy = listener(Setup::new().with_h2(), &[("a", &ca.issue(&["a.test"]), "")])
        .listener(r#"tls-min-version = "1.3""#)
        .upstream("origin", &origin)
        .route_all("[]", "origin")
        .start();
    let client = |versions, alpn: &[&str]| TlsClient::with(&ca, None, versions, alpn);
    let both = client(rustls::ALL_VERSIONS, &["h2", "http/1.1"]);
    let response = h2c::get_secure(proxy.address(), &both, "a.test", "a.test", "/x");
    assert_eq!((response.status, response.body.as_slice()), (200, b"secure".as_slice()));
    assert_eq!(origin.last().field("x-forwarded-proto").unwrap(), "https");
    for alpn in [["http/1.1"].as_slice(), &[]] {
        let client = client(rustls::ALL_VERSIONS, alpn);
        assert_eq!(Connection::secure(proxy.address(), &client, "a.test").ask(&get("/x")).text(), "secure");
    }
    let old = client(&[&rustls::version::TLS12], &[]);
    assert!(Connection::try_secure(proxy.address(), &old, "a.test").is_err());
    // One who speaks no TLS costs nobody else anything.
    let mut plain = proxy.connect();
    plain.send(get("/x").bytes());
    assert!(plain.try_response_to("GET").is_err());
    assert_eq!(
        Connection::secure(proxy.address(), &both, "a.test").session().alpn_protocol(),
        Some(&b"h2"[..])
    );
}

#[test]
fn clients_show_certificates_where_they_are_asked_for_them() {
    let ca = Authority::new("ca");
    let staff = Authority::new("staff");
    let (a, b) = (ca.issue(&["a.test"]), ca.issue(&["b.test"]));
    let origin = Origin::ok();
    let optional = r#", client-ca = "staff.pem", client-auth = "optional""#;
    let proxy = listener(
        Setup::new().file("staff.pem", staff.pem()),
        &[("a", &a, r#", client-ca = "staff.pem""#), ("b", &b, optional)],
    )
    .plugin("tls", &guest("tls"), "isolation = \"reuse\"")
    .upstream("origin", &origin)
    .route_all(r#"["tls"]"#, "origin")
    .start();
    let told = |client: &TlsClient, name: &str| {
        let mut connection = Connection::try_secure(proxy.address(), client, name).ok()?;
        // In TLS 1.3, the client learns only now that it was refused.
        connection.try_ask(&get("/x").host(name)).ok().filter(|response| response.status == 200)?;
        origin.last().field("x-tls")
    };
    let known = TlsClient::showing(&ca, &staff.issue(&["alice"]));
    let stranger = TlsClient::showing(&ca, &ca.issue(&["alice"]));
    let nobody = TlsClient::new(&ca);
    assert_eq!(told(&known, "a.test").as_deref(), Some("https TLSv1.3 a.test CN=alice 1"));
    assert_eq!(told(&stranger, "a.test"), None);
    assert_eq!(told(&nobody, "a.test"), None);
    assert_eq!(told(&known, "b.test").as_deref(), Some("https TLSv1.3 b.test CN=alice 1"));
    assert_eq!(told(&nobody, "b.test").as_deref(), Some("https TLSv1.3 b.test  0"));
    assert_eq!(told(&stranger, "b.test"), None);
}

#[test]
fn c29_a_virtual_host_with_client_certificates_is_not_reached_through_another() {
    let ca = Authority::new("ca");
    let staff = Authority::new("staff");
    let (open, closed) = (ca.issue(&["a.test"]), ca.issue(&["b.test"]));
    let origin = Origin::ok();
    let proxy = listener(
        Setup::new().file("staff.pem", staff.pem()),
        &[("a", &open, ""), ("b", &closed, r#", client-ca = "staff.pem""#)],
    )
    .upstream("origin", &origin)
    .route_all("[]", "origin")
    .start();
    // Requests for the closed host over a connection to the open one.
    let client = TlsClient::new(&ca);
    let mut connection = Connection::secure(proxy.address(), &client, "a.test");
    assert_eq!(connection.ask(&get("/x").host("b.test")).status, 421);
    assert_eq!(connection.ask(&get("/x").host("a.test")).status, 200, "the connection goes on");
    // Sessions of the open one, resumed for the closed one: this client has one memory of sessions for both
    // names, as an attacker would have.
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let client = TlsClient::with(&ca, None, &[version], &[]).with_one_memory();
        for _ in 0..2 {
            let mut connection = Connection::secure(proxy.address(), &client, "a.test");
            assert_eq!(connection.ask(&get("/x").host("a.test")).status, 200);
        }
        let closed = Connection::try_secure(proxy.address(), &client, "b.test");
        let answer = closed.and_then(|mut connection| connection.try_ask(&get("/x").host("b.test")));
        assert!(answer.is_err(), "{answer:?}");
    }
    assert!(origin.requests().iter().all(|request| request.field("host").unwrap() == "a.test"));
}

/// New connections are shown the new one; what is wrong changes nothing.
#[test]
fn f19_certificates_are_changed_by_a_reload() {
    let ca = Authority::new("ca");
    let origin = Origin::ok();
    let proxy = listener(Setup::new(), &[("a", &ca.issue(&["a.test"]), "")])
        .upstream("main", &origin)
        .route_all("[]", "main")
        .start();
    let client = TlsClient::new(&ca);
    let reaches = |name: &str| Connection::try_secure(proxy.address(), &client, name).is_ok();
    let mut before = Connection::secure(proxy.address(), &client, "a.test");
    assert!(reaches("a.test") && !reaches("b.test"));
    let next = ca.issue(&["a.test", "b.test"]);
    proxy.put("a.pem", &next.pem);
    let report = proxy.reload();
    assert_ne!(report.status, 200, "the key is still the old one: {}", report.text());
    assert!(reaches("a.test") && !reaches("b.test"));
    proxy.put("a.key", &next.key);
    assert_eq!(proxy.reload().status, 200);
    assert!(reaches("a.test") && reaches("b.test"));
    assert_eq!(before.ask(&get("/x")).status, 200, "connections go on");
}

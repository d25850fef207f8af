//! Certificates over reloads.

use edgewright_tests::{Authority, Connection, DEADLINE, Origin, Setup, TlsClient, get, wait_for};

#[test]
fn f19_a_new_certificate_serves_new_connections_and_a_bad_pair_changes_nothing() {
    let ca = Authority::new("ca");
    let [first, second, third] = [(); 3].map(|()| ca.issue(&["a.test"]));
    let origin = Origin::ok();
    let proxy = Setup::new()
        .file("site.pem", &first.pem)
        .file("site.key", &first.key)
        .listener(r#"tls = [{ cert = "site.pem", key = "site.key" }]"#)
        .upstream("main", &origin)
        .route_all("[]", "main")
        .start();
    let client = TlsClient::new(&ca);
    let shown = || {
        let connection = Connection::secure(proxy.address(), &client, "a.test");
        connection.session().peer_certificates().unwrap()[0].to_vec()
    };
    let mut kept = Connection::secure(proxy.address(), &client, "a.test");
    assert_eq!(kept.ask(&get("/x")).status, 200);
    let before = shown();
    proxy.put("site.pem", &second.pem);
    proxy.put("site.key", &second.key);
    let _ = proxy.reload().expect_status(200);
    let after = shown();
    assert_ne!(before, after);
    assert_eq!(kept.ask(&get("/x")).status, 200, "a connection outlives the certificate it began with");
    // A key that belongs to another certificate.
    proxy.put("site.pem", &third.pem);
    let refused = proxy.reload().expect_status(422);
    assert!(refused.text().contains("site."), "{}", refused.text());
    assert_eq!(shown(), after);
    proxy.put("site.key", &third.key);
    let _ = proxy.reload().expect_status(200);
    assert_ne!(shown(), after);
}

#[test]
fn f19_a_renewed_certificate_is_taken_where_files_are_watched() {
    let ca = Authority::new("ca");
    let [first, second] = [(); 2].map(|()| ca.issue(&["a.test"]));
    let origin = Origin::ok();
    let proxy = Setup::new()
        .server("watch = true")
        .file("site.pem", &first.pem)
        .file("site.key", &first.key)
        .listener(r#"tls = [{ cert = "site.pem", key = "site.key" }]"#)
        .upstream("main", &origin)
        .route_all("[]", "main")
        .start();
    let client = TlsClient::new(&ca);
    let shown = || {
        let connection = Connection::secure(proxy.address(), &client, "a.test");
        connection.session().peer_certificates().unwrap()[0].to_vec()
    };
    let before = shown();
    proxy.put("site.key", &second.key);
    proxy.put("site.pem", &second.pem);
    wait_for(DEADLINE, "the renewed certificate", || shown() != before);
}

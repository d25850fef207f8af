//! What one request leaves behind for the next: nothing, unless the plugin's author said so.

use edgewright_tests::{Connection, Origin, Proxy, Setup, get, guest};

fn leaking(threads: usize, manifest: &str, origin: &Origin) -> Proxy {
    Setup::new()
        .server(&format!("threads = {threads}"))
        .access_log("enabled = false")
        .plugin("leak", &guest("leak"), manifest)
        .upstream("main", origin)
        .route_all(r#"["leak"]"#, "main")
        .start()
}

/// What the origin was told the user is, and what the host kept from before.
fn seen(origin: &Origin, target: &str) -> (Option<String>, Option<String>) {
    let request = origin.requests().into_iter().rev().find(|r| r.target() == target).expect("a request");
    (request.field("x-user"), request.field("x-kept"))
}

#[test]
fn case_24_p15_by_default_no_request_sees_anything_of_another() {
    for threads in [1, 4] {
        let origin = Origin::answer(|request| {
            let user = request.field("x-user").unwrap_or_default();
            format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{user}", user.len()).into_bytes()
        });
        // A bare component: the safe way is the default.
        let proxy = leaking(threads, "", &origin);
        // One connection, then several at once.
        let mut client = proxy.connect();
        let ask = |client: &mut Connection, user: &str| {
            let request = if user.is_empty() { get("/x") } else { get("/x").header("Authorization", user) };
            assert_eq!(client.ask(&request).expect_status(200).text(), user, "{threads} threads");
        };
        for _ in 0..200 {
            ask(&mut client, "alice");
            ask(&mut client, "bob");
            ask(&mut client, "");
        }
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut client = proxy.connect();
                    for _ in 0..200 {
                        ask(&mut client, "alice");
                        ask(&mut client, "bob");
                        ask(&mut client, "");
                    }
                });
            }
        });
        // A client that goes away in the middle leaves nothing either.
        for _ in 0..20 {
            let mut gone = proxy.connect();
            gone.send(get("/x").header("Authorization", "carol").bytes());
            drop(gone);
            ask(&mut proxy.connect(), "");
        }
    }
}

#[test]
fn case_24_p15_reuse_is_the_authors_promise_and_host_state_is_new_all_the_same() {
    let origin = Origin::ok();
    let proxy = leaking(1, "isolation = \"reuse\"", &origin);
    let mut client = proxy.connect();
    assert_eq!(client.ask(&get("/alice").header("Authorization", "alice")).status, 200);
    assert_eq!(seen(&origin, "/alice"), (Some("alice".to_owned()), None));
    assert_eq!(client.ask(&get("/none")).status, 200);
    // The global of the one worker's instance is still there; what the host kept is not.
    assert_eq!(seen(&origin, "/none"), (Some("alice".to_owned()), None));
    let mut gone = proxy.connect();
    gone.send(get("/gone").header("Authorization", "bob").bytes());
    drop(gone);
    assert_eq!(client.ask(&get("/after")).status, 200);
    assert_eq!(seen(&origin, "/after").1, None);
}

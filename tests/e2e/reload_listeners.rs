//! Listeners that come and go with a reload: new ones are open before the old generation is gone, and those that go are
//! left without losing a request.

use std::net::{SocketAddr, TcpListener};

use edgewright_tests::ports::free_address;
use edgewright_tests::{
    Authority, Connection, DEADLINE, Gate, Load, Origin, Proxy, Setup, TlsClient, get, h2c, wait_for,
};

fn plain(origin: &Origin) -> Proxy {
    Setup::new().with_h2().upstream("main", origin).route("default", "", "main").start()
}

/// One more listener, with these lines.
fn add(proxy: &Proxy, address: SocketAddr, lines: &str) {
    proxy.edit_config(|text| format!("{text}\n[[listeners]]\naddress = \"{address}\"\n{lines}\n"));
}

fn is_closed(address: SocketAddr) -> bool {
    Connection::try_open(address).is_err()
}

#[test]
fn a_listener_that_moves_is_there_and_the_old_one_loses_nothing() {
    let gate = Gate::default();
    let held = gate.clone();
    let origin = Origin::script(move |request, wire| {
        if request.target() == "/slow" {
            held.pass();
        }
        wire.send(edgewright_tests::origin::OK.as_bytes())
    });
    let proxy = plain(&origin);
    let (old, new) = (proxy.address(), free_address());
    let mut idle = proxy.connect();
    assert_eq!(idle.ask(&get("/x")).status, 200);
    let mut busy = proxy.connect();
    busy.send(get("/slow").bytes());
    // A client of HTTP/2 that has nothing to ask for now.
    let mut modern = proxy.connect();
    modern.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0");
    origin.wait_for_requests(2);

    proxy.edit_config(|text| text.replace(&old.to_string(), &new.to_string()));
    let _ = proxy.reload().expect_status(200);
    assert_eq!(get("/x").send(new).status, 200);
    wait_for(DEADLINE, "the old listener to be closed", || is_closed(old));
    assert_eq!(proxy.status()["listeners"], serde_json::json!([new.to_string()]));
    assert!(idle.closes_within(DEADLINE), "nothing is under way on it");
    // It is told so, and then it is done.
    const GOAWAY: [u8; 5] = [0, 0, 8, 7, 0];
    let mut seen = Vec::new();
    while !seen.windows(5).any(|window| window == GOAWAY) {
        seen.extend(modern.take(1));
    }
    gate.open();
    let answer = busy.response_to("GET").expect_status(200);
    assert_eq!(answer.field("connection").as_deref(), Some("close"));
    assert!(busy.closes_within(DEADLINE));

    // And back again.
    proxy.edit_config(|text| text.replace(&new.to_string(), &old.to_string()));
    let _ = proxy.reload().expect_status(200);
    assert_eq!(proxy.get("/x").status, 200);
    wait_for(DEADLINE, "the second listener to be closed", || is_closed(new));
}

#[test]
fn a_listener_with_tls_can_be_added_and_taken_away() {
    let origin = Origin::ok();
    let ca = Authority::new("ca");
    let certificate = ca.issue(&["a.test"]);
    let proxy = plain(&origin);
    let second = free_address();
    proxy.put("a.pem", &certificate.pem);
    proxy.put("a.key", &certificate.key);
    add(&proxy, second, "tls = [{ cert = \"a.pem\", key = \"a.key\" }]");
    let _ = proxy.reload().expect_status(200);
    let client = TlsClient::new(&ca);
    let mut kept = Connection::secure(second, &client, "a.test");
    assert_eq!(kept.ask(&get("/x")).status, 200);
    // The first one is as it was.
    assert_eq!(proxy.get("/x").status, 200);
    assert_eq!(h2c::get(proxy.address(), "/x", &[]).status, 200);

    // In the clear from now on; who is connected goes on.
    proxy.edit_config(|text| text.replace("tls = [{ cert = \"a.pem\", key = \"a.key\" }]", ""));
    let _ = proxy.reload().expect_status(200);
    assert_eq!(get("/x").send(second).status, 200);
    assert_eq!(kept.ask(&get("/x")).status, 200);

    proxy.edit_config(|text| text.split("[[listeners]]").take(2).collect::<Vec<_>>().join("[[listeners]]"));
    let _ = proxy.reload().expect_status(200);
    wait_for(DEADLINE, "the second listener to be closed", || is_closed(second));
    assert!(kept.closes_within(DEADLINE));
    assert_eq!(proxy.get("/x").status, 200);
}

#[test]
fn an_address_that_cannot_be_listened_on_changes_nothing() {
    let origin = Origin::ok();
    let proxy = plain(&origin);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let free = free_address();
    let before = std::fs::read_to_string(proxy.directory().join("edgewright.toml")).unwrap();
    let check = |address: SocketAddr, status: u16, expected: &[&str]| {
        // One that could be opened, and one that can't.
        add(&proxy, free, "");
        add(&proxy, address, "");
        let answer = proxy.reload().expect_status(status).text();
        for text in expected {
            assert!(answer.contains(text), "`{text}` in {answer}");
        }
        assert!(is_closed(free), "it was opened");
        assert_eq!(proxy.get("/x").status, 200);
        assert_eq!(proxy.status()["generation"], 1);
        proxy.edit_config(|_| before.clone());
    };
    let address = taken.local_addr().unwrap();
    check(address, 422, &["E0802", &address.to_string(), "another process"]);
    // Not this machine's (RFC 5737).
    check("192.0.2.1:80".parse().unwrap(), 422, &["E0802", "192.0.2.1:80"]);
    drop(taken);
    add(&proxy, address, "");
    let _ = proxy.reload().expect_status(200);
    assert_eq!(get("/x").send(address).status, 200);
}

/// All addresses in the place of one: the one is not given up before the other is there.
#[test]
fn a_listener_in_the_way_of_another_needs_a_restart() {
    let origin = Origin::ok();
    let proxy = plain(&origin);
    let (old, all) = (proxy.address(), format!("0.0.0.0:{}", proxy.address().port()));
    proxy.edit_config(|text| text.replace(&old.to_string(), &all));
    let answer = proxy.reload().expect_status(409).text();
    assert!(answer.contains("E0801") && answer.contains(&old.to_string()), "{answer}");
    assert_eq!(proxy.get("/x").status, 200);
}

/// Others come and go: who is connected to the one that stays, notices nothing.
#[test]
fn f17_listeners_that_come_and_go_cost_nobody_a_request() {
    let origin = Origin::ok();
    let proxy = plain(&origin);
    let before = std::fs::read_to_string(proxy.directory().join("edgewright.toml")).unwrap();
    let load = Load::start(proxy.address(), 4, &get("/x"), |response| assert_eq!(response.status, 200));
    for _ in 0..10 {
        let address = free_address();
        add(&proxy, address, "");
        let _ = proxy.reload().expect_status(200);
        assert_eq!(get("/x").send(address).status, 200);
        proxy.edit_config(|_| before.clone());
        let _ = proxy.reload().expect_status(200);
        wait_for(DEADLINE, "the listener to be closed", || is_closed(address));
    }
    load.wait_for(4);
    load.stop();
}

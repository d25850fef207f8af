//! More connections than there may be, or than there are descriptors for.

use std::time::{Duration, Instant};

use edgewright_tests::{Connection, DEADLINE, Origin, Proxy, Setup, get, wait_for};
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

/// Waits until nothing is connected, also not what asked whether the proxy is there.
fn none(proxy: &Proxy) {
    wait_for(DEADLINE, "its connections to be closed", || {
        proxy.metrics().sum("edgewright_client_connections", &[]) == 0.0
    });
}

/// So many are served; the next one is told, and once there is room again, it has room.
fn check(proxy: &Proxy, most: usize) {
    none(proxy);
    let mut served: Vec<Connection> = (0..most).map(|_| proxy.connect()).collect();
    for client in &mut served {
        assert_eq!(client.ask(&get("/x")).status, 200);
    }
    let mut refused = proxy.connect();
    let answer = refused.ask(&get("/refused"));
    assert_eq!(answer.status, 503);
    assert_eq!(answer.field("retry-after").as_deref(), Some("1"));
    assert_eq!(answer.field("connection").as_deref(), Some("close"));
    assert!(refused.closes_within(Duration::from_secs(5)));
    assert_eq!(proxy.admin("/healthz").status, 200);
    assert!(proxy.metrics().sum("edgewright_client_connections", &[]) as usize >= most);
    assert_eq!(served[0].ask(&get("/x")).status, 200, "who is served stays so");
    let again = Instant::now();
    drop(served);
    wait_for(DEADLINE, "room", || {
        Connection::open(proxy.address()).try_ask(&get("/x")).is_ok_and(|it| it.status == 200)
    });
    assert!(again.elapsed() < Duration::from_secs(2), "{:?}", again.elapsed());
    wait_for(DEADLINE, "its line in the log", || {
        proxy
            .stdout()
            .lines()
            .any(|line| line.contains("/refused") && line.contains("\"error\":\"overloaded\""))
    });
    assert!(proxy.metrics().sum("edgewright_client_connections_refused_total", &[]) >= 1.0);
}

#[test]
fn f12_one_connection_too_many_is_503_with_retry_after() {
    let origin = Origin::ok();
    let proxy = Setup::new()
        .server("limits = { max-connections = 3 }")
        .upstream("main", &origin)
        .route("default", "", "main")
        .start();
    check(&proxy, 3);
}

#[test]
fn f12_there_are_no_more_connections_than_descriptors_for_them() {
    let origin = Origin::ok();
    let proxy = Setup::new().descriptors(256).upstream("main", &origin).route("default", "", "main").start();
    // 256 without 128 for the process, 32 for idle connections to peers and 16 for those who are told.
    check(&proxy, 40);
}

#[test]
fn f12_a_crowd_is_told_without_waiting_and_is_served_later() {
    let origin = Origin::ok();
    let proxy = Setup::new().descriptors(256).upstream("main", &origin).route("default", "", "main").start();
    none(&proxy);
    // Each of them keeps its connection until all were answered.
    let mut clients: Vec<Connection> = (0..150).map(|_| proxy.connect()).collect();
    for client in &mut clients {
        client.send(get("/x").bytes());
    }
    let mut statuses: Vec<u16> = clients
        .iter_mut()
        .map(|client| client.try_response_to("GET").map_or(0, |answer| answer.status))
        .collect();
    statuses.retain(|status| *status != 200);
    assert_eq!(statuses, vec![503; 110], "all but 40");
    assert!(
        !proxy.stderr().contains("no connections can be taken"),
        "descriptors are left: {}",
        proxy.stderr()
    );
    drop(clients);
    wait_for(DEADLINE, "room", || {
        Connection::open(proxy.address()).try_ask(&get("/x")).is_ok_and(|it| it.status == 200)
    });
}

#[test]
fn f13_without_descriptors_clients_wait_and_the_admin_address_answers() {
    let origin = Origin::ok();
    let proxy = Setup::new().upstream("main", &origin).route("default", "", "main").start();
    assert_eq!(proxy.get("/x").status, 200);
    let id = Pid::from_raw(i32::try_from(proxy.id()).unwrap());
    let maximum = getrlimit(Resource::Nofile).maximum;
    none(&proxy);
    // What is open stays so; nothing can be opened.
    let before = prlimit(id, Resource::Nofile, Rlimit { current: Some(0), maximum }).unwrap();
    let mut client = proxy.connect();
    client.send(get("/x").bytes());
    let line = proxy.wait_for_log("no connections can be taken for now");
    assert!(line.contains(&proxy.address().to_string()), "{line}");
    prlimit(id, Resource::Nofile, before).unwrap();
    assert_eq!(client.response_to("GET").status, 200);
    let told = proxy.stderr().matches("no connections can be taken").count();
    assert!(told <= 20, "{told} lines");
}

#[test]
fn f13_an_operator_gets_in_with_the_last_descriptor() {
    let origin = Origin::ok();
    let proxy = Setup::new().upstream("main", &origin).route("default", "", "main").start();
    assert_eq!(proxy.admin("/healthz").status, 200);
    let id = Pid::from_raw(i32::try_from(proxy.id()).unwrap());
    let maximum = getrlimit(Resource::Nofile).maximum;
    let highest = open_descriptors(proxy.id());
    let before = prlimit(id, Resource::Nofile, Rlimit { current: Some(highest), maximum }).unwrap();
    let mut held = Vec::new();
    // Takes the numbers between that are free.
    while !proxy.stderr().contains("no connections can be taken") && held.len() < 200 {
        held.push(proxy.connect());
    }
    for _ in 0..3 {
        assert_eq!(proxy.admin("/healthz").status, 200);
    }
    prlimit(id, Resource::Nofile, before).unwrap();
}

/// The number that no descriptor reaches.
fn open_descriptors(id: u32) -> u64 {
    let numbers = std::fs::read_dir(format!("/proc/{id}/fd")).expect("its descriptors");
    let highest = numbers.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u64>().ok()).max();
    highest.map_or(0, |highest| highest + 1)
}

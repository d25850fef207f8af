//! Faults of upstreams and of their names, under load where that matters: who notices.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use edgewright_tests::origin::{BlackHole, nobody};
use edgewright_tests::{
    Answer, Connection, DEADLINE, Dns, Origin, Proxy, Setup, get, wait_for, wait_for_value,
};
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

fn resolver(dns: &Dns) -> String {
    format!("[dns]\nservers = [\"{}\"]\ntimeout = \"500ms\"\nmin-ttl = \"1s\"\nretry = \"1s\"", dns.address())
}

fn named(name: &str, port: u16) -> String {
    format!("[upstreams.main]\npeers = [\"{name}:{port}\"]")
}

/// The shortest time that it takes: what waits for something does so every time, a busy machine is busy now and then.
fn fastest_of(times: usize, mut what: impl FnMut()) -> Duration {
    let time = |_| {
        let start = Instant::now();
        what();
        start.elapsed()
    };
    (0..times).map(time).min().expect("more than none")
}

/// GETs on some connections until `done` says so; every one has to be answered with 200.
fn under_load(proxy: &Proxy, mut done: impl FnMut() -> bool) -> usize {
    let (stop, count) = (AtomicBool::new(false), AtomicUsize::new(0));
    let address = proxy.address();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut client = Connection::open(address);
                while !stop.load(Ordering::SeqCst) {
                    assert_eq!(client.ask(&get("/x")).status, 200);
                    count.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        wait_for(DEADLINE, "what the load is for", &mut done);
        stop.store(true, Ordering::SeqCst);
    });
    count.load(Ordering::SeqCst)
}

#[test]
fn f1_a_name_server_that_is_down_at_the_start_is_waited_for_by_its_route_alone() {
    let origin = Origin::ok();
    let dns = Dns::start(&[("svc.test", Answer::silence())]);
    let proxy = Setup::new()
        .config(&resolver(&dns))
        .config(&named("svc.test", origin.address().port()))
        .route("default", "", "main")
        .start();
    let fastest = fastest_of(5, || assert_eq!(proxy.get("/x").status, 503));
    assert!(fastest < Duration::from_millis(500), "{fastest:?}");
    dns.set("svc.test", Answer::addresses(&["127.0.0.1"]));
    wait_for(DEADLINE, "the name to be found", || proxy.get("/x").status == 200);
}

#[test]
fn case_14_f5_a_name_that_moves_under_load_costs_nobody_an_error() {
    let first = Origin::ok();
    let moved: SocketAddr = format!("127.0.0.2:{}", first.address().port()).parse().unwrap();
    let second = Origin::ok_at(moved);
    let dns = Dns::start(&[("svc.test", Answer::addresses(&["127.0.0.1"]))]);
    let proxy = Setup::new()
        .config(&resolver(&dns))
        .config(&named("svc.test", moved.port()))
        .route("default", "", "main")
        .start();
    let mut moves = 0;
    let served = under_load(&proxy, || {
        if moves == 0 && first.requests().len() > 20 {
            dns.set("svc.test", Answer::addresses(&["127.0.0.2"]));
            moves = 1;
        }
        second.requests().len() > 20
    });
    assert!(served > 40);
    // What was kept of the old address is not used any more, and neither is the address once it is dead.
    let before = first.requests().len();
    for _ in 0..20 {
        assert_eq!(proxy.get("/x").status, 200);
    }
    assert_eq!(first.requests().len(), before);
    drop(first);
    assert_eq!(proxy.get("/x").status, 200);
}

#[test]
fn f6_of_many_addresses_half_are_dead_and_no_get_fails() {
    let first = Origin::ok_at("127.0.1.1:0".parse().unwrap());
    let port = first.address().port();
    let address = |last: u8| SocketAddr::from((Ipv4Addr::new(127, 0, 1, last), port));
    let mut live: Vec<Origin> = (2..=20).map(|last| Origin::ok_at(address(last))).collect();
    live.push(first);
    let all: Vec<String> = (1..=40).map(|last| format!("127.0.1.{last}")).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let dns = Dns::start(&[("svc.test", Answer::addresses(&all))]);
    let proxy = Setup::new()
        .config(&resolver(&dns))
        // Nobody comes back meanwhile, however long it takes.
        .config(&(named("svc.test", port) + "\nejection = { time = \"1h\", max-time = \"1h\" }"))
        .route("default", "", "main")
        .start();
    let served = AtomicUsize::new(0);
    under_load(&proxy, || {
        served.store(live.iter().map(|origin| origin.requests().len()).sum(), Ordering::SeqCst);
        served.load(Ordering::SeqCst) > 400
    });
    let metrics = proxy.metrics_at_rest();
    for last in 21..=40 {
        let peer = address(last).to_string();
        let failures = metrics.sum("edgewright_upstream_peer_failures_total", &[("peer", &peer)]);
        // Each of the clients may have been on its way there when the first one failed.
        assert!(failures <= 4.0, "{peer}: {failures}");
    }
}

#[test]
fn f7_with_one_live_peer_no_get_fails_whatever_the_other_one_does() {
    let check = |bad: SocketAddr| {
        let live = Origin::ok();
        let proxy = Setup::new().peers("main", &[bad, live.address()]).route("default", "", "main").start();
        let mut client = proxy.connect();
        for _ in 0..100 {
            assert_eq!(client.ask(&get("/x")).status, 200);
        }
        for line in proxy.access_log(100) {
            assert!(line["attempts"].as_u64().unwrap() <= 2, "{line}");
        }
    };
    check(nobody());
    let resetting = Origin::script(|_, wire| {
        wire.will_reset();
        Err(ErrorKind::ConnectionReset.into())
    });
    check(resetting.address());
    check(BlackHole::new().address());
}

#[test]
fn f7_a_lone_peer_that_takes_no_connection_is_504_after_the_connect_time_out() {
    let hole = BlackHole::new();
    let proxy = Setup::new().peers("main", &[hole.address()]).route("default", "", "main").start();
    let fastest = fastest_of(2, || assert_eq!(proxy.get("/x").status, 504));
    // A second, by default.
    assert!((Duration::from_millis(950)..Duration::from_secs(5)).contains(&fastest), "{fastest:?}");
    assert!(proxy.access_log(2).iter().all(|line| line["error"] == "connect-timeout"));
}

#[test]
fn f7_a_lone_dead_peer_is_502_at_once() {
    let proxy = Setup::new().peers("main", &[nobody()]).route("default", "", "main").start();
    let fastest = fastest_of(3, || assert_eq!(proxy.get("/x").status, 502));
    assert!(fastest < Duration::from_millis(1100), "{fastest:?}");
}

/// The lowest number that no descriptor of a process has.
fn free_descriptor(id: u32) -> u64 {
    let used: Vec<u64> = std::fs::read_dir(format!("/proc/{id}/fd"))
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    (0..).find(|number| !used.contains(number)).unwrap()
}

#[test]
fn f12_out_of_descriptors_is_503_with_retry_after_and_passes() {
    // Each request takes a connection of its own.
    let origin = Origin::script(|_, wire| {
        wire.send(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")?;
        Err(ErrorKind::ConnectionAborted.into())
    });
    let proxy = Setup::new().upstream("main", &origin).route("default", "", "main").start();
    let mut client = proxy.connect();
    assert_eq!(client.ask(&get("/x")).status, 200);
    wait_for(DEADLINE, "the origin to have closed", || origin.closed() == origin.connections());
    let id = Pid::from_raw(i32::try_from(proxy.id()).unwrap());
    // The hard limit, which only root could raise again, stays what the proxy was given.
    let maximum = getrlimit(Resource::Nofile).maximum;
    let response = wait_for_value("a request without a descriptor", || {
        let limit = free_descriptor(proxy.id());
        let before = prlimit(id, Resource::Nofile, Rlimit { current: Some(limit), maximum }).unwrap();
        let response = client.ask(&get("/x"));
        prlimit(id, Resource::Nofile, before).unwrap();
        // The connection of the last one may have been closed only now.
        (response.status != 200).then_some(response)
    });
    assert_eq!(response.status, 503);
    assert_eq!(response.field("retry-after").as_deref(), Some("1"));
    wait_for(DEADLINE, "it to pass", || proxy.get("/x").status == 200);
    wait_for(DEADLINE, "its line in the log", || proxy.stdout().contains("\"error\":\"exhausted\""));
    // The peer is not to blame.
    assert_eq!(proxy.status()["upstreams"][0]["peers"][0]["failures"], 0);
}

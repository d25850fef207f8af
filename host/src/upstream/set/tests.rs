//! Upstreams that need no DNS, and what a generation takes over.

use std::time::{Duration, Instant};

use crate::config::model;
use crate::upstream::name::{Family, Outcome, Timing};

use super::*;

/// `NAME = HOST:PORT …`; the rest of a configuration is empty.
pub(in crate::upstream) fn config(upstreams: &[(&str, &[(&str, u16)])]) -> Config {
    let second = Duration::from_secs(1);
    Config {
        server: model::Server {
            threads: None,
            grace: second,
            trusted_proxies: Vec::new(),
            owned_headers: Vec::new(),
            drain_delay: Duration::ZERO,
            limits: model::ClientLimits::DEFAULT,
            trace_context: model::TraceContext::Pass,
            loop_detection: false,
            via: false,
            underscore_headers: model::UnderscoreHeaders::Drop,
            server_timing: model::ServerTiming::Off,
            watch: false,
        },
        dns: dns(Vec::new()),
        listeners: Vec::new(),
        upstreams: upstreams.iter().map(|(name, peers)| settings(name, peers)).collect(),
        plugins: Vec::new(),
        unused_plugins: Vec::new(),
        routes: Vec::new(),
        access_log: None,
        admin: None,
        shown: serde_json::Value::Null,
        plugin_dir: None,
        plugin_cache: None,
    }
}

/// An upstream with default settings but short times.
pub(in crate::upstream) fn settings(name: &str, peers: &[(&str, u16)]) -> Settings {
    let second = Duration::from_secs(1);
    let peer = |(host, port): &(&str, u16)| {
        let host = match host.parse() {
            Ok(address) => PeerHost::Ip(address),
            Err(_) => PeerHost::Name((*host).into()),
        };
        let source = PeerSource::Socket(model::PeerAddress { host, port: *port });
        model::PeerEntry { source, weight: 1 }
    };
    Settings {
        name: name.into(),
        peers: peers.iter().map(peer).collect(),
        balance: model::Balance::RoundRobin,
        protocol: model::PeerProtocol::H1,
        tls: None,
        timeouts: model::Timeouts {
            connect: second,
            read: second,
            write: second,
            idle: second,
            total: second,
        },
        retries: model::Retries {
            attempts: 2,
            budget: 20,
            on: model::RetryOn { connect: true, reset: true, timeout: false, statuses: Vec::new() },
        },
        health: None,
        ejection: model::Ejection {
            connect_failures: Some(1),
            server_errors: None,
            time: Duration::from_secs(10),
            max_time: Duration::from_secs(300),
            max_share: 50,
        },
        limits: model::UpstreamLimits {
            max_requests: None,
            max_connections: None,
            max_pending: 10,
            pending_timeout: second,
        },
        slow_start: Duration::ZERO,
        panic_threshold: 0,
    }
}

/// So fast that a test sees many rounds.
pub(in crate::upstream) fn dns(servers: Vec<SocketAddr>) -> model::Dns {
    model::Dns {
        servers: Some(servers),
        timeout: Duration::from_millis(300),
        min_ttl: Duration::ZERO,
        max_ttl: Duration::from_millis(20),
        retry: Duration::from_millis(20),
        stale_max: Duration::from_secs(3600),
    }
}

fn check(upstreams: &Upstreams, name: &str, expected: Result<&[&str], NoPeer>) {
    let upstream = upstreams.id(name).and_then(|id| upstreams.get(id)).unwrap();
    let seen: Vec<_> = upstream.peers().iter().map(|peer| peer.endpoint().to_string()).collect();
    match expected {
        Ok(peers) => assert_eq!(seen, peers, "{name}"),
        Err(reason) => {
            assert_eq!((seen.len(), upstream.pick(&Ask::default()).unwrap_err()), (0, reason), "{name}")
        }
    }
}

#[test]
fn addresses_and_names_of_the_machine_are_ready_at_once() {
    let config = config(&[
        ("ip", &[("10.0.0.1", 80), ("::1", 80), ("10.0.0.1", 80)]),
        ("hosts", &[("db", 5432)]),
        ("local", &[("localhost", 80)]),
        ("mixed", &[("x.test", 80), ("10.0.0.2", 81)]),
        ("dns", &[("x.test", 80)]),
        ("none", &[]),
    ]);
    let upstreams = Upstreams::with_hosts(&config, &HostsFile::parse("10.0.0.9 db\n"));
    check(&upstreams, "ip", Ok(&["10.0.0.1:80", "[::1]:80"]));
    check(&upstreams, "hosts", Ok(&["10.0.0.9:5432"]));
    check(&upstreams, "local", Ok(&["127.0.0.1:80", "[::1]:80"]));
    check(&upstreams, "mixed", Ok(&["10.0.0.2:81"]));
    check(&upstreams, "dns", Err(NoPeer::NotResolved));
    check(&upstreams, "none", Err(NoPeer::NoAddresses));
    assert_eq!(upstreams.id("other"), None);
    assert_eq!(upstreams.names().len(), 1, "a name is asked for once");
}

#[test]
fn the_proxy_itself_is_no_peer() {
    let mut config =
        config(&[("mixed", &[("db", 80)]), ("own", &[("127.0.0.9", 80)]), ("other", &[("db", 81)])]);
    config.admin = Some(model::Admin { address: "127.0.0.9:80".parse().unwrap() });
    let upstreams = Upstreams::with_hosts(&config, &HostsFile::parse("10.0.0.9 db\n127.0.0.9 db\n"));
    check(&upstreams, "mixed", Ok(&["10.0.0.9:80"]));
    check(&upstreams, "own", Err(NoPeer::OwnAddress));
    check(&upstreams, "other", Ok(&["10.0.0.9:81", "127.0.0.9:81"]));
    let own: Vec<_> = upstreams.list.iter().map(|upstream| upstream.own_addresses().len()).collect();
    assert_eq!(own, [1, 1, 0]);
}

#[test]
fn requests_and_retries_under_way_count_on_in_the_next_generation() {
    let mut config = config(&[("a", &[("10.0.0.1", 80)])]);
    config.upstreams[0].limits.max_requests = Some(1);
    config.upstreams[0].limits.max_pending = 0;
    let earlier = Upstreams::with_hosts(&config, &HostsFile::parse(""));
    let hold = earlier.list[0].pick(&Ask::default()).unwrap();
    let retries: Vec<_> = std::iter::from_fn(|| earlier.list[0].draw_retry()).collect();
    let mut later = Upstreams::with_hosts(&config, &HostsFile::parse(""));
    later.inherit(&earlier);
    let later = &later.list[0];
    assert_eq!(later.pick(&Ask::default()).unwrap_err(), NoPeer::Full);
    assert!(later.draw_retry().is_none());
    assert_eq!(later.retried(), (retries.len() as u64, 2));
    drop((hold, retries));
    assert!(later.pick(&Ask::default()).is_ok());
    assert!(later.draw_retry().is_some());
}

#[test]
fn a_generation_takes_over_what_is_known() {
    let hosts = HostsFile::parse("");
    let earlier = Upstreams::with_hosts(&config(&[("a", &[("x.test", 80)])]), &hosts);
    let timing = Timing {
        min_ttl: Duration::ZERO,
        max_ttl: Duration::MAX,
        retry: Duration::ZERO,
        stale_max: Duration::MAX,
    };
    let found = Outcome::Found { addresses: vec!["10.0.0.1".parse().unwrap()], ttl: Duration::ZERO };
    let (answer, _) = Answer::default().after(Family::V4, &found, Instant::now(), &timing);
    earlier.names[0].answer.store(Arc::new(answer));
    let mut later =
        Upstreams::with_hosts(&config(&[("b", &[("x.test", 81)]), ("c", &[("y.test", 81)])]), &hosts);
    check(&later, "b", Err(NoPeer::NotResolved));
    later.inherit(&earlier);
    check(&later, "b", Ok(&["10.0.0.1:81"]));
    check(&later, "c", Err(NoPeer::NotResolved));
}

#[test]
fn a_peer_that_stays_keeps_what_is_known_of_it() {
    let config = config(&[("a", &[("x.test", 80), ("10.0.0.2", 80)])]);
    let upstreams = Upstreams::with_hosts(&config, &HostsFile::parse(""));
    let hold = upstreams.list[0].pick(&Ask::default()).unwrap();
    hold.connect_failed(&upstreams.list[0]);
    let timing = Timing {
        min_ttl: Duration::ZERO,
        max_ttl: Duration::MAX,
        retry: Duration::ZERO,
        stale_max: Duration::MAX,
    };
    let found = Outcome::Found { addresses: vec!["10.0.0.1".parse().unwrap()], ttl: Duration::ZERO };
    let (answer, _) = Answer::default().after(Family::V4, &found, Instant::now(), &timing);
    upstreams.names[0].answer.store(Arc::new(answer));
    assert_eq!(upstreams.list[0].refresh(), Refreshed::Changed);
    assert_eq!(upstreams.list[0].refresh(), Refreshed::Same);
    let known = |upstreams: &Upstreams| -> Vec<(bool, usize)> {
        let peers = upstreams.list[0].peers();
        peers.iter().map(|peer| (peer.state().is_out(), peer.in_flight())).collect()
    };
    assert_eq!(known(&upstreams), [(false, 0), (true, 1)]);
    // The next generation, too, until the request is over.
    let mut later = Upstreams::with_hosts(&config, &HostsFile::parse(""));
    later.inherit(&upstreams);
    assert_eq!(known(&later), [(false, 0), (true, 1)]);
    drop(hold);
    assert_eq!(known(&later), [(false, 0), (true, 0)]);
}

#[test]
fn a_service_s_weights_and_priorities_are_followed() {
    use crate::upstream::name::Target;

    let mut config = config(&[("a", &[("10.0.0.9", 80)])]);
    let service = PeerSource::Service("_http._tcp.x.test".into());
    config.upstreams[0].peers.push(model::PeerEntry { source: service, weight: 1 });
    let upstreams = Upstreams::with_hosts(&config, &HostsFile::parse(""));
    let timing = Timing {
        min_ttl: Duration::ZERO,
        max_ttl: Duration::MAX,
        retry: Duration::ZERO,
        stale_max: Duration::MAX,
    };
    let check = |targets: &[(u8, u16, u16)], expected: &[(&str, u16, u16)], refreshed: Refreshed| {
        let target = |(last, weight, rank): &(u8, u16, u16)| Target {
            address: ([10, 0, 0, *last], 80).into(),
            weight: *weight,
            rank: *rank,
        };
        let targets = targets.iter().map(target).collect();
        let outcome = Outcome::Service { targets, ttl: Duration::ZERO, missing: None };
        let (answer, _) = Answer::service().after(Family::Service, &outcome, Instant::now(), &timing);
        upstreams.names[0].answer.store(Arc::new(answer));
        assert_eq!(upstreams.list[0].refresh(), refreshed);
        let peers = upstreams.list[0].peers();
        let seen: Vec<_> =
            peers.iter().map(|peer| (peer.endpoint().to_string(), peer.weight(), peer.rank())).collect();
        let seen: Vec<_> = seen.iter().map(|(peer, weight, rank)| (peer.as_str(), *weight, *rank)).collect();
        assert_eq!(seen, expected);
    };
    let first = [("10.0.0.9:80", 1, 0), ("10.0.0.1:80", 3, 0), ("10.0.0.2:80", 1, 1)];
    check(&[(1, 3, 0), (2, 1, 1)], &first, Refreshed::Changed);
    check(&[(1, 3, 0), (2, 1, 1)], &first, Refreshed::Same);
    let held = upstreams.list[0].peers()[1].clone();
    held.state().connect_failed(held.ejection());
    let changed = [("10.0.0.9:80", 1, 0), ("10.0.0.2:80", 2, 0), ("10.0.0.1:80", 1, 1)];
    check(&[(2, 2, 0), (1, 1, 1)], &changed, Refreshed::Changed);
    assert!(upstreams.list[0].peers()[2].state().is_out(), "what is known of it stays");
}

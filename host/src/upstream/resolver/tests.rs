//! The resolver against a name server that misbehaves.

use std::net::SocketAddr;

use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::RecordType;

use crate::upstream::NoPeer;
use crate::upstream::hosts_file::HostsFile;
use crate::upstream::set::tests::{config, dns};

use super::fake_dns::{FakeDns, Reply};
use super::*;
use crate::upstream::{Ask, Endpoint};

/// Long enough for a machine that is busy; no test that passes waits for it.
const DEADLINE: Duration = Duration::from_secs(20);

/// Upstreams whose resolver runs until this is dropped.
struct Running {
    upstreams: Arc<Upstreams>,
    resolver: Arc<Resolver>,
    metrics: UpstreamMetrics,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Running {
    /// One upstream for each name, called as the name.
    fn start(names: &[&str], dns: &Dns) -> Self {
        let peers: Vec<_> = names.iter().map(|name| [(*name, 80)]).collect();
        let entries: Vec<_> =
            names.iter().zip(&peers).map(|(name, peers)| (*name, peers.as_slice())).collect();
        let upstreams = Arc::new(Upstreams::with_hosts(&config(&entries), &HostsFile::parse("")));
        let metrics = UpstreamMetrics::default();
        let resolver = Arc::new(Resolver::new(&upstreams, dns, metrics.clone()));
        let runner = Arc::clone(&resolver);
        let task = tokio::spawn(async move { runner.run(std::future::pending()).await });
        Self { upstreams, resolver, metrics, task }
    }

    fn upstream(&self, name: &str) -> &Upstream {
        self.upstreams.id(name).and_then(|id| self.upstreams.get(id)).expect("an upstream")
    }

    /// Waits until an upstream has these peers, or none for this reason.
    async fn check(&self, name: &str, expected: Result<&[&str], NoPeer>) {
        let expected = expected.map(|list| {
            list.iter()
                .map(|text| Endpoint::Tcp(SocketAddr::new(text.parse().expect("an address"), 80)))
                .collect::<Vec<_>>()
        });
        eventually(name, || {
            let peers: Vec<_> =
                self.upstream(name).peers().iter().map(|peer| peer.endpoint().clone()).collect();
            let reason = self.upstream(name).pick(&Ask::default()).map(|_| ());
            match &expected {
                Ok(expected) => peers == *expected,
                Err(expected) => reason == Err(*expected),
            }
        })
        .await;
    }

    /// Waits for this many more look-ups with that outcome.
    async fn rounds(&self, name: &str, outcome: &'static str, more: u64) {
        let goal = self.metrics.lookups(name, outcome) + more;
        eventually(name, || self.metrics.lookups(name, outcome) >= goal).await;
    }
}

async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let wait = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(DEADLINE, wait).await.unwrap_or_else(|_| panic!("{what}: in vain"));
}

fn records(addresses: &[&str]) -> Reply {
    Reply::Records(addresses.iter().map(|text| text.parse().expect("an address")).collect(), 60)
}

#[tokio::test]
async fn both_kinds_are_asked_for_and_changes_are_followed() {
    let server = FakeDns::start().await;
    server.set("svc.test", records(&["127.0.0.3", "127.0.0.2", "::1"]));
    let running = Running::start(&["svc.test"], &dns(vec![server.address]));
    running.check("svc.test", Ok(&["127.0.0.2", "127.0.0.3", "::1"])).await;
    server.set("svc.test", records(&["127.0.0.4"]));
    running.check("svc.test", Ok(&["127.0.0.4"])).await;
}

#[tokio::test]
async fn an_answer_is_not_asked_for_again_within_its_ttl() {
    let server = FakeDns::start().await;
    server.set("slow.test", records(&["127.0.0.2", "::1"]));
    server.set("quick.test", records(&["127.0.0.2", "::1"]));
    server.set("alias.test", Reply::Alias("quick.test."));
    let bounds = |min, max| Dns { min_ttl: min, max_ttl: max, ..dns(vec![server.address]) };
    let slow = Running::start(&["slow.test"], &bounds(Duration::ZERO, Duration::from_secs(3600)));
    let quick =
        Running::start(&["quick.test", "alias.test"], &bounds(Duration::ZERO, Duration::from_millis(5)));
    slow.check("slow.test", Ok(&["127.0.0.2", "::1"])).await;
    quick.check("alias.test", Ok(&["127.0.0.2", "::1"])).await;
    quick.rounds("quick.test", "found", 20).await;
    assert_eq!(server.asked("slow.test", RecordType::A), 1);
    assert_eq!(server.asked("slow.test", RecordType::AAAA), 1);
}

#[tokio::test]
async fn the_last_good_set_outlives_every_kind_of_failure() {
    let server = FakeDns::start().await;
    server.set("svc.test", records(&["127.0.0.2"]));
    let dns = Dns { timeout: Duration::from_millis(30), ..dns(vec![server.address]) };
    let running = Running::start(&["svc.test"], &dns);
    running.check("svc.test", Ok(&["127.0.0.2"])).await;
    for (reply, outcome) in [
        (Reply::Code(ResponseCode::ServFail), "failed"),
        (Reply::Code(ResponseCode::Refused), "failed"),
        (Reply::Garbage, "failed"),
        (Reply::Silence, "failed"),
        (Reply::Code(ResponseCode::NXDomain), "no-name"),
        (records(&[]), "no-records"),
        (Reply::Alias("svc.test."), "no-records"),
    ] {
        server.set("svc.test", reply);
        running.rounds("svc.test", outcome, 4).await;
        running.check("svc.test", Ok(&["127.0.0.2"])).await;
    }
    server.set("svc.test", records(&["127.0.0.3"]));
    running.check("svc.test", Ok(&["127.0.0.3"])).await;
}

#[tokio::test]
async fn a_name_that_is_gone_for_long_has_no_peers_and_heals() {
    let server = FakeDns::start().await;
    let dns = Dns { stale_max: Duration::ZERO, ..dns(vec![server.address]) };
    let running = Running::start(&["gone.test"], &dns);
    running.check("gone.test", Err(NoPeer::NoSuchName)).await;
    server.set("gone.test", records(&["127.0.0.2"]));
    running.check("gone.test", Ok(&["127.0.0.2"])).await;
    server.set("gone.test", Reply::Code(ResponseCode::NXDomain));
    running.check("gone.test", Err(NoPeer::NoSuchName)).await;
}

#[tokio::test]
async fn a_name_that_fails_leaves_the_others_alone() {
    let server = FakeDns::start().await;
    server.set("fine.test", records(&["127.0.0.2"]));
    server.set("lame.test", Reply::Code(ResponseCode::ServFail));
    server.set("mute.test", Reply::Silence);
    let running =
        Running::start(&["fine.test", "lame.test", "mute.test", "gone.test"], &dns(vec![server.address]));
    assert_eq!(running.resolver.first_round(DEADLINE).await, 0);
    running.check("fine.test", Ok(&["127.0.0.2"])).await;
    running.check("lame.test", Err(NoPeer::ResolverFailed)).await;
    running.check("mute.test", Err(NoPeer::ResolverFailed)).await;
    running.check("gone.test", Err(NoPeer::NoSuchName)).await;
}

#[tokio::test]
async fn a_failure_is_not_asked_for_again_before_the_retry() {
    let server = FakeDns::start().await;
    server.set("lame.test", Reply::Code(ResponseCode::ServFail));
    server.set("fine.test", records(&["127.0.0.2", "::1"]));
    let dns = Dns { retry: Duration::from_secs(3600), ..dns(vec![server.address]) };
    let running = Running::start(&["lame.test", "gone.test", "fine.test"], &dns);
    running.check("lame.test", Err(NoPeer::ResolverFailed)).await;
    running.rounds("fine.test", "found", 20).await;
    for name in ["lame.test", "gone.test"] {
        let asked = [RecordType::A, RecordType::AAAA].map(|kind| server.asked(name, kind));
        assert_eq!(asked, [1, 1], "{name}");
    }
}

#[tokio::test]
async fn the_next_server_is_asked_where_one_fails() {
    let (lame, fine) = (FakeDns::start().await, FakeDns::start().await);
    lame.set("svc.test", Reply::Code(ResponseCode::Refused));
    fine.set("svc.test", records(&["127.0.0.2"]));
    let running = Running::start(&["svc.test"], &dns(vec![lame.address, fine.address]));
    running.check("svc.test", Ok(&["127.0.0.2"])).await;
    running.rounds("svc.test", "found", 3).await;
    assert!(fine.asked("svc.test", RecordType::A) > lame.asked("svc.test", RecordType::A));
}

#[tokio::test]
async fn a_slow_server_delays_nobody_who_picks() {
    let server = FakeDns::start().await;
    server.set("slow.test", Reply::After(Duration::from_secs(2), Box::new(records(&["127.0.0.2"]))));
    let dns = Dns { timeout: Duration::from_secs(10), ..dns(vec![server.address]) };
    let running = Running::start(&["slow.test", "127.0.0.9"], &dns);
    eventually("a look-up under way", || server.asked("slow.test", RecordType::A) > 0).await;
    let start = Instant::now();
    for _ in 0..1000 {
        assert_eq!(running.upstream("slow.test").pick(&Ask::default()).map(|_| ()), Err(NoPeer::NotResolved));
        assert!(running.upstream("127.0.0.9").pick(&Ask::default()).is_ok());
    }
    assert!(start.elapsed() < Duration::from_secs(1));
    assert_eq!(running.resolver.first_round(Duration::ZERO).await, 1);
    running.check("slow.test", Ok(&["127.0.0.2"])).await;
    assert_eq!(running.resolver.first_round(Duration::ZERO).await, 0);
}

#[tokio::test]
async fn more_names_than_places_are_all_resolved() {
    let server = FakeDns::start().await;
    let names: Vec<_> = (0..3 * MAX_LOOKUPS).map(|n| format!("n{n}.test")).collect();
    for name in &names {
        server.set(name, records(&["127.0.0.2"]));
    }
    let list: Vec<_> = names.iter().map(String::as_str).collect();
    let dns = Dns { max_ttl: Duration::from_secs(60), ..dns(vec![server.address]) };
    let running = Running::start(&list, &dns);
    assert_eq!(running.resolver.first_round(DEADLINE).await, 0);
    for name in list {
        running.check(name, Ok(&["127.0.0.2"])).await;
    }
}

#[tokio::test]
async fn it_ends_when_told() {
    let server = FakeDns::start().await;
    for names in [[("a.test", 80)].as_slice(), &[]] {
        let upstreams = Arc::new(Upstreams::with_hosts(&config(&[("a", names)]), &HostsFile::parse("")));
        let resolver = Resolver::new(&upstreams, &dns(vec![server.address]), UpstreamMetrics::default());
        tokio::time::timeout(DEADLINE, resolver.run(std::future::ready(()))).await.expect("an end");
    }
}

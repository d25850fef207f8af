//! What a slow or silent DNS server does to requests: nothing, if no request waits for a look-up. Shown by throughput,
//! tail latency and CPU time beside those of an upstream by its address, and by a minute without DNS.

use std::time::Duration;

use anyhow::{Result, ensure};
use tokio::time::{Instant, sleep_until};

use super::Ground;
use crate::client::ask;
use crate::contender::{Contender, Job};
use crate::dns_server::{self, DnsServer, Manner};
use crate::edgewright::Setup;
use crate::report::{Grid, Report};
use crate::rounds::Measured;
use crate::stats::difference;

/// Long enough that look-ups fall into it: names are asked for again after a second.
const LEAST_SECONDS: u64 = 3;
/// Requests while there is no DNS, at even distances.
const OUTAGE_REQUESTS: u32 = 10_000;

/// # Errors
/// Where a set-up does not start or does not do its job, where nobody asks the DNS server, or where a run
/// is void; where a request fails for want of DNS.
pub(super) async fn run(ground: &Ground<'_>, report: &mut Report) -> Result<()> {
    let Some(program) = &ground.edgewright else { return Ok(()) };
    report.paragraph("## Upstream by name, and a DNS server that fails");
    let server = DnsServer::start().await?;
    let by_address = Setup::plain(ground.origin);
    let by_name = Setup {
        dns: Some(server.address),
        ..Setup::plain(format!("origin.bench.test:{}", ground.origin.port()))
    };
    let mut contenders = Vec::new();
    for (name, setup) in [("by-address", by_address), ("by-name", by_name)] {
        let running = setup.start(&ground.scene, name, program).await?;
        let label = name.to_owned();
        let (process, target) = (running.process, running.target);
        contenders.push(Contender { label, process, target, job: Job::Forward });
    }
    for contender in &contenders {
        until_resolved(contender).await?;
        ground.load.run(&ground.scene, &contender.target, 1).await?;
    }
    let [address, name] = contenders.as_slice() else { return Ok(()) };

    let mut pairs = [
        Pair::new("answers at once", Manner::AtOnce),
        Pair::new("answers after 2 s", Manner::After(Duration::from_secs(2))),
        Pair::new("no answers", Manner::Never),
    ];
    let seconds = ground.options.seconds().max(LEAST_SECONDS);
    for round in 0..ground.options.rounds() {
        eprintln!("round {} of {}", round + 1, ground.options.rounds());
        for pair in &mut pairs {
            server.turn(pair.manner).await?;
            // Who comes first, comes to a proxy that has rested.
            if round % 2 == 0 {
                pair.address.take(&ground.scene, &ground.load, address, seconds).await?;
                pair.take_name(ground, &server, name, seconds).await?;
            } else {
                pair.take_name(ground, &server, name, seconds).await?;
                pair.address.take(&ground.scene, &ground.load, address, seconds).await?;
            }
        }
        // The next round begins with a name that is known again.
        server.turn(Manner::AtOnce).await?;
    }
    report.grid(&grid(&pairs));
    outage(&server, name, ground.options.outage(), report).await
}

/// Requests while no DNS server answers, over a time that is many times the answer's TTL.
async fn outage(server: &DnsServer, name: &Contender, time: Duration, report: &mut Report) -> Result<()> {
    server.turn(Manner::Never).await?;
    eprintln!("{} s without DNS", time.as_secs());
    let (questions, began) = (server.asked(), Instant::now());
    let mut failed = 0;
    for number in 0..OUTAGE_REQUESTS {
        sleep_until(began + time.mul_f64(f64::from(number) / f64::from(OUTAGE_REQUESTS))).await;
        let answer = ask(&name.target).await;
        failed += u32::from(!answer.is_ok_and(|answer| answer.status == 200));
    }
    sleep_until(began + time).await;
    let asked = server.asked() - questions;
    report.paragraph(&format!(
        "{} s without an answer of the DNS server, behind one that was to be kept for {} s: {OUTAGE_REQUESTS} requests, \
         {failed} failed; {asked} questions asked in vain.",
        began.elapsed().as_secs(),
        dns_server::TTL,
    ));
    ensure!(asked > 0, "nobody asked the DNS server");
    ensure!(failed == 0, "{failed} of {OUTAGE_REQUESTS} requests failed without DNS");
    Ok(())
}

/// A name is looked up in the background: the first requests may come before its first answer.
async fn until_resolved(contender: &Contender) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let proof = contender.prove().await;
        if proof.is_ok() || Instant::now() > deadline {
            return proof;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Both set-ups while the DNS server behaves in one manner.
struct Pair {
    label: &'static str,
    manner: Manner,
    address: Measured,
    name: Measured,
    questions: u64,
}

impl Pair {
    fn new(label: &'static str, manner: Manner) -> Self {
        Self { label, manner, address: Measured::default(), name: Measured::default(), questions: 0 }
    }

    async fn take_name(
        &mut self,
        ground: &Ground<'_>,
        server: &DnsServer,
        name: &Contender,
        seconds: u64,
    ) -> Result<()> {
        let before = server.asked();
        self.name.take(&ground.scene, &ground.load, name, seconds).await?;
        self.questions += server.asked() - before;
        Ok(())
    }
}

fn grid(pairs: &[Pair]) -> Grid {
    let head = [
        "DNS server",
        "upstream",
        "requests/s",
        "p99 ms",
        "worst p99 ms",
        "CPU µs",
        "more than by address",
        "questions asked",
    ];
    let mut grid = Grid::new(&head);
    for pair in pairs {
        let more = difference(&pair.name.cpu, &pair.address.cpu);
        let rows = [
            ("by address", &pair.address, String::new(), String::new()),
            (
                "by name",
                &pair.name,
                format!("{:+.2} ({:+.2} to {:+.2})", more.median, more.least, more.most),
                pair.questions.to_string(),
            ),
        ];
        for (upstream, measured, more, questions) in rows {
            let p99 = measured.p99();
            grid.row([
                pair.label.to_owned(),
                upstream.to_owned(),
                format!("{:.0}", measured.per_second().median),
                format!("{:.2}", p99.median),
                format!("{:.2}", p99.most),
                format!("{:.2}", measured.cpu().median),
                more,
                questions,
            ]);
        }
    }
    grid
}

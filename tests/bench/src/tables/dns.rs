//! What a slow or silent DNS server does to requests: nothing, if no request waits for a look-up. Shown
//! by throughput and tail latency beside those of an upstream by its address.

use std::time::Duration;

use anyhow::Result;

use super::Ground;
use crate::contender::{Contender, Job};
use crate::dns_server::{DnsServer, Manner};
use crate::edgewright::Setup;
use crate::report::{Grid, Report};
use crate::rounds::Measured;

/// Long enough that look-ups fall into it: names are asked for again after a second.
const LEAST_SECONDS: u64 = 3;

/// # Errors
/// Where a set-up does not start or does not do its job, where nobody asks the DNS server, or where a run
/// is void.
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

    let mut rows = [
        Row::new("by address", address, None),
        Row::new("by name, answers at once", name, Some(Manner::AtOnce)),
        Row::new("by name, answers after 2 s", name, Some(Manner::After(Duration::from_secs(2)))),
        Row::new("by name, no answers", name, Some(Manner::Never)),
    ];
    let seconds = ground.options.seconds().max(LEAST_SECONDS);
    for round in 0..ground.options.rounds() {
        eprintln!("round {} of {}", round + 1, ground.options.rounds());
        for row in &mut rows {
            row.take(ground, &server, seconds).await?;
        }
        // The next round begins with a name that is known again.
        server.turn(Manner::AtOnce).await?;
    }
    report.grid(&grid(&rows));
    Ok(())
}

/// A name is looked up in the background: the first requests may come before its first answer.
async fn until_resolved(contender: &Contender) -> Result<()> {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(10);
    loop {
        let proof = contender.prove().await;
        if proof.is_ok() || tokio::time::Instant::now() > deadline {
            return proof;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

struct Row<'a> {
    label: &'static str,
    contender: &'a Contender,
    manner: Option<Manner>,
    measured: Measured,
    questions: u64,
}

impl<'a> Row<'a> {
    fn new(label: &'static str, contender: &'a Contender, manner: Option<Manner>) -> Self {
        Self { label, contender, manner, measured: Measured::default(), questions: 0 }
    }

    async fn take(&mut self, ground: &Ground<'_>, server: &DnsServer, seconds: u64) -> Result<()> {
        let before = server.asked();
        if let Some(manner) = self.manner {
            server.turn(manner).await?;
        }
        self.measured.take(&ground.scene, &ground.load, self.contender, seconds).await?;
        if self.manner.is_some() {
            self.questions += server.asked() - before;
        }
        Ok(())
    }
}

fn grid(rows: &[Row<'_>]) -> Grid {
    let mut grid =
        Grid::new(&["upstream", "requests/s", "p99 ms", "worst p99 ms", "CPU µs", "questions asked"]);
    for row in rows {
        let p99 = row.measured.p99();
        grid.row([
            row.label.to_owned(),
            format!("{:.0}", row.measured.per_second().median),
            format!("{:.2}", p99.median),
            format!("{:.2}", p99.most),
            format!("{:.2}", row.measured.cpu().median),
            row.questions.to_string(),
        ]);
    }
    grid
}

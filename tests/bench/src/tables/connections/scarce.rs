//! With 1,024 descriptors: nothing fails while there are enough of them for all clients; where there are too many, the
//! others are told so, and all is well again once they are gone. A bare Pingora beside it.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::{CONNECTIONS, WORKERS};
use crate::crowd::{self, Seen};
use crate::edgewright::{Setup, Threads};
use crate::process::{Process, within_descriptors};
use crate::report::{Grid, Report};
use crate::scene::{Role, Scene, free_address};

const DESCRIPTORS: u32 = 1024;
/// How soon all must be well again.
const RECOVERY: Duration = Duration::from_secs(2);
/// The line of its start in which it says how many clients it has descriptors for.
const LINE: &str = "  clients ";

/// # Errors
/// Where one does not start, or where Edgewright answers with anything but 200 to clients within its budget, with
/// anything but 200 and 503 with `retry-after` to others, not at all, or does not recover.
pub(super) async fn run(
    scene: &Scene,
    origin: SocketAddr,
    programs: [&Path; 2],
    seconds: u64,
    report: &mut Report,
) -> Result<()> {
    let [edgewright, bare] = programs;
    let setup = Setup { threads: Threads::Two, ..Setup::plain(origin) };
    let (command, target) = setup.prepare(scene, "scarce", edgewright)?;
    let mut process =
        Process::start(scene, "scarce", Role::Proxy, &within_descriptors(DESCRIPTORS, command))?;
    process.ready(target.address).await?;
    let budget = budget(&process)?;

    let bare_address = free_address()?;
    let words =
        [bare.display().to_string(), bare_address.to_string(), origin.to_string(), WORKERS.to_string()];
    let words = within_descriptors(DESCRIPTORS, words.into());
    let mut bare_process = Process::start(scene, "scarce-bare", Role::Proxy, &words)?;
    bare_process.ready(bare_address).await?;

    report.paragraph(&format!(
        "### With {DESCRIPTORS} descriptors\n\nEdgewright has {budget} clients' worth of them by its own account. Clients \
         keep their connections; who is refused comes back after 100 ms. Well again: from the end of the crowd until \
         every new connection is answered with 200."
    ));
    let head =
        ["set-up", "clients", "200", "503", "with retry-after", "others", "broken", "silent", "well again"];
    let mut grid = Grid::new(&head);
    for clients in CONNECTIONS {
        for (label, address) in [("bare Pingora", bare_address), ("Edgewright", target.address)] {
            eprintln!("{label}, {DESCRIPTORS} descriptors, {clients} clients");
            let seen = crowd::come(address, clients, Duration::from_secs(seconds)).await;
            let recovered = crowd::recovery(address).await;
            if label == "Edgewright" {
                check(&seen, clients <= budget, recovered)
                    .with_context(|| format!("{clients} clients, {DESCRIPTORS} descriptors: {seen:?}"))?;
            }
            grid.row(row(label, clients, &seen, recovered));
        }
    }
    report.grid(&grid);
    Ok(())
}

/// How many clients the proxy says it has descriptors for.
fn budget(process: &Process) -> Result<u32> {
    let line = process.line(LINE).context("it does not say how many clients it has descriptors for")?;
    let number = line.split_whitespace().nth(1).and_then(|number| number.parse().ok());
    number.with_context(|| format!("no number in `{line}`"))
}

fn check(seen: &Seen, within: bool, recovered: Option<Duration>) -> Result<()> {
    ensure!(seen.others() == 0, "answers other than 200 and 503");
    ensure!(seen.with(503) == seen.told_when, "503 without `retry-after`");
    ensure!(seen.silent == 0, "requests without an answer");
    ensure!(seen.with(200) > 0, "nobody is served");
    if within {
        ensure!(seen.with(503) + seen.broken == 0, "failures within the budget");
    }
    ensure!(recovered.is_some_and(|time| time <= RECOVERY), "it does not recover: {recovered:?}");
    Ok(())
}

fn row(label: &str, clients: u32, seen: &Seen, recovered: Option<Duration>) -> [String; 9] {
    let numbers = [seen.with(200), seen.with(503), seen.told_when, seen.others(), seen.broken, seen.silent];
    let [ok, refused, told, others, broken, silent] = numbers.map(|number| number.to_string());
    let recovered = recovered.map_or("never".to_owned(), |time| format!("{} ms", time.as_millis()));
    [label.to_owned(), clients.to_string(), ok, refused, told, others, broken, silent, recovered]
}

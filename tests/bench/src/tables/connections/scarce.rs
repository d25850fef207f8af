//! With 1,024 descriptors: nothing fails while there are enough of them for all clients; where there are too many, the
//! others are told so, and all is well again once they are gone.

use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use tokio::net::TcpStream;

use crate::client::ask;
use crate::contender::Target;
use crate::edgewright::{Setup, Threads};
use crate::load::Load;
use crate::process::Process;
use crate::report::{Grid, Report};
use crate::scene::{Role, Scene};

const DESCRIPTORS: u32 = 1024;
/// A few less than it has descriptors for.
const WITHIN: u32 = 300;
const BEYOND: u32 = 1_000;
/// Connections that are open and ask for nothing: there is a place for less.
const HELD: usize = 380;
const PATIENCE: Duration = Duration::from_secs(10);

/// # Errors
/// Where it does not start, or does not say that it has too many connections, or does not recover.
pub(super) async fn run(
    scene: &Scene,
    load: &Load,
    origin: SocketAddr,
    program: &Path,
    seconds: u64,
    report: &mut Report,
) -> Result<()> {
    report.paragraph(&format!("### Edgewright with {DESCRIPTORS} descriptors"));
    let setup = Setup { threads: Threads::Two, ..Setup::plain(origin) };
    let (command, target) = setup.prepare(scene, "scarce", program)?;
    let shell = ["sh".to_owned(), "-c".to_owned(), format!("ulimit -n {DESCRIPTORS}; exec \"$@\"")];
    let words: Vec<String> = shell.into_iter().chain(["sh".to_owned()]).chain(command).collect();
    let mut process = Process::start(scene, "scarce", Role::Proxy, &words)?;
    process.ready(target.address).await?;

    let mut grid = Grid::new(&["connections", "requests", "failed", "requests/s"]);
    for connections in [WITHIN, BEYOND] {
        let tried = load.try_run(scene, &target, connections, seconds).await?;
        grid.row([
            connections.to_string(),
            tried.seen.requests.to_string(),
            tried.failed.to_string(),
            format!("{:.0}", tried.seen.per_second),
        ]);
    }
    report.grid(&grid);
    let recovered = recovery(&target).await?;
    report.paragraph(&format!(
        "With {HELD} connections that ask for nothing, the next one is told 503 with `retry-after`; {} ms after they are \
         gone, it is served.",
        recovered.as_millis()
    ));
    Ok(())
}

/// How long it takes from the end of too many connections to the first answer.
async fn recovery(target: &Target) -> Result<Duration> {
    let mut held = Vec::with_capacity(HELD);
    for _ in 0..HELD {
        held.push(TcpStream::connect(target.address).await?);
    }
    // They are taken one after the other: the last ones may be waiting yet.
    let began = Instant::now();
    loop {
        let answer = ask(target).await?;
        if answer.status == 503 {
            ensure!(answer.header("retry-after").is_some(), "503 without `retry-after`");
            break;
        }
        ensure!(began.elapsed() < PATIENCE, "status {} with {HELD} connections", answer.status);
    }
    drop(held);
    let gone = Instant::now();
    loop {
        if ask(target).await.is_ok_and(|answer| answer.status == 200) {
            return Ok(gone.elapsed());
        }
        ensure!(gone.elapsed() < PATIENCE, "it does not recover");
    }
}

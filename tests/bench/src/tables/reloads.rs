//! A plugin that is replaced again and again under load: nothing may fail, and what was loaded before must go.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::process::Signal;

use super::Ground;
use crate::edgewright::{Guest, Settings, Setup};
use crate::load::CONNECTIONS;
use crate::report::{Grid, Report};

const RELOADS: u32 = 100;
/// Between two of them: compiling takes a part of it.
const PAUSE: Duration = Duration::from_millis(200);
/// Old generations are freed within this.
const SETTLE: Duration = Duration::from_secs(5);

/// # Errors
/// Where the proxy does not start, ends, or the load can't be made.
pub(super) async fn run(ground: &Ground<'_>, report: &mut Report) -> Result<()> {
    let Some(program) = &ground.edgewright else { return Ok(()) };
    let Some(component) = ground.options.guest("bench_header")? else { return Ok(()) };
    report.paragraph(&format!("## {RELOADS} reloads with a changed plugin, under load"));
    let plugins = vec![Guest { component: component.clone(), settings: Settings::KeyAndMarks }];
    let setup = Setup { plugins, cache: "reload-cache".to_owned(), ..Setup::plain(ground.origin) };
    let running = setup.start(&ground.scene, "reloads", program).await?;
    let file = running.plugins.join("bench-1.wasm");
    let original = std::fs::read(&component)?;
    ground.load.run(&ground.scene, &running.target, 2).await?;
    let before = running.process.footprint()?;

    let pauses = PAUSE * RELOADS + Duration::from_secs(2);
    let load = ground.load.try_run(&ground.scene, &running.target, CONNECTIONS, pauses.as_secs());
    let reloads = async {
        for number in 0..RELOADS {
            replace(&file, &original, number)?;
            running.process.signal(Signal::HUP)?;
            tokio::time::sleep(PAUSE).await;
        }
        anyhow::Ok(())
    };
    let (tried, reloaded) = tokio::join!(load, reloads);
    reloaded?;
    let tried = tried?;
    tokio::time::sleep(SETTLE).await;
    let after = running.process.footprint()?;

    let mib = |kib: u64| format!("{:.1}", kib as f64 / 1024.0);
    let mut grid =
        Grid::new(&["requests", "failed", "p99 ms", "RSS MiB, before", "RSS MiB, after", "peak MiB"]);
    grid.row([
        tried.seen.requests.to_string(),
        tried.failed.to_string(),
        format!("{:.2}", tried.seen.p99.as_secs_f64() * 1_000.0),
        mib(before.resident),
        mib(after.resident),
        mib(after.peak),
    ]);
    report.grid(&grid);
    Ok(())
}

/// Puts another build in the place of the plugin, all at once: the same code and a custom section with a number,
/// so that its hash is another.
fn replace(file: &Path, original: &[u8], number: u32) -> Result<()> {
    let name = b"build";
    let digits = number.to_string();
    let length = u8::try_from(1 + name.len() + digits.len())?;
    let mut bytes = original.to_vec();
    bytes.extend_from_slice(&[0, length, u8::try_from(name.len())?]);
    bytes.extend_from_slice(name);
    bytes.extend_from_slice(digits.as_bytes());
    let next = file.with_extension("next");
    std::fs::write(&next, bytes).with_context(|| format!("can't write `{}`", next.display()))?;
    std::fs::rename(&next, file).with_context(|| format!("can't replace `{}`", file.display()))
}

//! All set-ups in one run: what a request costs with each, what each thing adds, and the ratios that
//! Edgewright is judged by.

use anyhow::Result;

use super::Ground;
use crate::contender::{Contender, Job, Target};
use crate::edgewright::{AccessLog, Guest, Isolation, Settings, Setup};
use crate::nginx::Script;
use crate::report::{Grid, Report};
use crate::rounds::{self, Measured};
use crate::stats::{Summary, difference, ratio, summary};
use crate::usage::Footprint;
use crate::{bare, nginx};

/// The set-ups, in the order of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    Nginx,
    NginxLua,
    Bare,
    /// The same program once more: what differs between the two is noise.
    BareAgain,
    Plain,
    One,
    /// One plugin that never serves two requests from one instance.
    Fresh,
    Three,
    Ten,
    RequestOnly,
    LogOnly,
    TenRoutes,
    ManyRoutes,
    Logged,
}

/// # Errors
/// Where a set-up does not start or does not do its job, or where a run is void.
pub(super) async fn run(ground: &Ground<'_>, report: &mut Report) -> Result<()> {
    report.paragraph("## CPU time of the proxy per request");
    let (names, contenders): (Vec<_>, Vec<_>) = start(ground).await?.into_iter().unzip();
    let (rounds, seconds) = (ground.options.rounds(), ground.options.seconds());
    let measured = rounds::run(&ground.scene, &ground.load, &contenders, rounds, seconds).await?;

    let mut footprints = Vec::new();
    for contender in &contenders {
        footprints.push(contender.process.footprint()?);
    }
    report.grid(&costs(&contenders, &measured, &footprints));
    let results = Results { measured: names.into_iter().zip(measured).collect() };
    report.paragraph("## What each thing adds to a request");
    report.paragraph(
        "Differences between two set-ups of the same round. The script's column divides by what the script \
         adds to nginx.",
    );
    report.grid(&results.additions());
    report.paragraph("## Ratios");
    report.grid(&results.ratios());
    Ok(())
}

async fn start(ground: &Ground<'_>) -> Result<Vec<(Which, Contender)>> {
    let mut started = Vec::new();
    for (which, label, script) in
        [(Which::Nginx, "nginx", Script::None), (Which::NginxLua, "nginx + Lua", Script::Lua)]
    {
        let (process, address) =
            nginx::proxy(&ground.scene, &label.replace(" + ", "-"), script, ground.origin, 1).await?;
        let (target, job) = (Target::new(address), nginx::job(script));
        started.push((which, Contender { label: label.to_owned(), process, target, job }));
    }
    let program = ground.options.bare()?;
    for (which, name, label) in
        [(Which::Bare, "bare", "bare Pingora"), (Which::BareAgain, "bare-again", "bare Pingora once more")]
    {
        let (process, address) = bare::proxy(&ground.scene, name, &program, ground.origin, 1).await?;
        let (target, job) = (Target::new(address), Job::Forward);
        started.push((which, Contender { label: label.to_owned(), process, target, job }));
    }

    let Some(program) = &ground.edgewright else { return Ok(started) };
    for EdgewrightSetup { which, name, label, setup, job } in setups(ground)? {
        let running = setup.start(&ground.scene, name, program).await?;
        let label = format!("Edgewright, {label}");
        started.push((which, Contender { label, process: running.process, target: running.target, job }));
    }
    Ok(started)
}

struct EdgewrightSetup {
    which: Which,
    /// Of its files.
    name: &'static str,
    label: &'static str,
    setup: Setup,
    job: Job,
}

fn setups(ground: &Ground<'_>) -> Result<Vec<EdgewrightSetup>> {
    let plain = Setup::plain(ground.origin);
    let mut setups = vec![EdgewrightSetup {
        which: Which::Plain,
        name: "plain",
        label: "no plugin",
        setup: plain.clone(),
        job: Job::Forward,
    }];

    if let Some(component) = ground.options.guest("bench_header")? {
        let guest = Guest { component, settings: Settings::KeyAndMarks };
        use Isolation::{Fresh, Reuse};
        for (which, name, label, number, isolation) in [
            (Which::One, "one", "1 plugin", 1, Reuse),
            (Which::Fresh, "fresh", "1 plugin, fresh for each call", 1, Fresh),
            (Which::Three, "three", "3 plugins", 3, Reuse),
            (Which::Ten, "ten", "10 plugins", 10, Reuse),
        ] {
            let plugins = (0..number).map(|_| guest.clone()).collect();
            let job = Job::CheckAndMark { request_marks: number, response_marks: number };
            setups.push(EdgewrightSetup {
                which,
                name,
                label,
                setup: Setup { plugins, isolation, ..plain.clone() },
                job,
            });
        }
    }
    if let Some(component) = ground.options.guest("bench_request")? {
        let plugins = vec![Guest { component, settings: Settings::KeyAndMarks }];
        setups.push(EdgewrightSetup {
            which: Which::RequestOnly,
            name: "request-only",
            label: "1 plugin with request-filter alone",
            setup: Setup { plugins, ..plain.clone() },
            job: Job::CheckAndMark { request_marks: 1, response_marks: 0 },
        });
    }
    if let Some(component) = ground.options.guest("bench_log")? {
        let plugins = vec![Guest { component, settings: Settings::None }];
        setups.push(EdgewrightSetup {
            which: Which::LogOnly,
            name: "log-only",
            label: "1 plugin with an empty log-filter alone",
            setup: Setup { plugins, ..plain.clone() },
            job: Job::Forward,
        });
    }

    let plain_with = |which, name, label, change: &dyn Fn(&mut Setup)| {
        let mut setup = plain.clone();
        change(&mut setup);
        EdgewrightSetup { which, name, label, setup, job: Job::Forward }
    };
    setups.push(plain_with(Which::TenRoutes, "ten-routes", "10 routes", &|setup| setup.routes = 10));
    setups
        .push(plain_with(Which::ManyRoutes, "many-routes", "10,000 routes", &|setup| setup.routes = 10_000));
    setups.push(plain_with(Which::Logged, "logged", "access log to a file", &|setup| {
        setup.access_log = AccessLog::File;
    }));
    Ok(setups)
}

fn costs(contenders: &[Contender], measured: &[Measured], footprints: &[Footprint]) -> Grid {
    let mut grid = Grid::new(&[
        "set-up",
        "CPU µs",
        "least – most",
        "× nginx",
        "requests/s",
        "p99 ms",
        "RSS MiB",
        "threads",
    ]);
    let nginx = measured.first();
    for ((contender, measured), footprint) in contenders.iter().zip(measured).zip(footprints) {
        let cpu = measured.cpu();
        let relative = nginx.map_or(0.0, |nginx| ratio(&measured.cpu, &nginx.cpu).median);
        grid.row([
            contender.label.clone(),
            format!("{:.2}", cpu.median),
            format!("{:.2} – {:.2}", cpu.least, cpu.most),
            format!("{relative:.2}"),
            format!("{:.0}", measured.per_second().median),
            format!("{:.2}", measured.p99().median),
            format!("{:.1}", footprint.resident as f64 / 1024.0),
            footprint.threads.to_string(),
        ]);
    }
    grid
}

struct Results {
    measured: Vec<(Which, Measured)>,
}

impl Results {
    /// CPU time of one set-up, round by round.
    fn cpu(&self, which: Which) -> Option<&[f64]> {
        let found = self.measured.iter().find(|(name, _)| *name == which);
        found.map(|(_, measured)| measured.cpu.as_slice())
    }

    fn added(&self, later: Which, earlier: Which) -> Option<Summary> {
        Some(difference(self.cpu(later)?, self.cpu(earlier)?))
    }

    /// What one more plugin adds, between the first and the tenth.
    fn slope(&self) -> Option<Summary> {
        let added = self.added(Which::Ten, Which::One)?;
        Some(Summary { median: added.median / 9.0, least: added.least / 9.0, most: added.most / 9.0 })
    }

    fn additions(&self) -> Grid {
        let mut grid = Grid::new(&["what", "adds CPU µs", "least – most", "× script", "× nginx's request"]);
        let script = self.added(Which::NginxLua, Which::Nginx).map_or(0.0, |added| added.median);
        let nginx = summary(self.cpu(Which::Nginx).unwrap_or_default().iter().copied()).median;
        for (label, added) in [
            ("the script in Lua to nginx", self.added(Which::NginxLua, Which::Nginx)),
            ("nothing (bare Pingora twice): the noise", self.added(Which::BareAgain, Which::Bare)),
            ("the first plugin", self.added(Which::One, Which::Plain)),
            ("the first plugin, fresh for each call", self.added(Which::Fresh, Which::Plain)),
            ("3 plugins", self.added(Which::Three, Which::Plain)),
            ("10 plugins", self.added(Which::Ten, Which::Plain)),
            ("each further plugin (10 − 1, by 9)", self.slope()),
            ("a plugin with request-filter alone", self.added(Which::RequestOnly, Which::Plain)),
            ("two phases not exported + an empty log-filter", self.added(Which::LogOnly, Which::Plain)),
            ("10,000 routes in place of 10", self.added(Which::ManyRoutes, Which::TenRoutes)),
            ("the access log", self.added(Which::Logged, Which::Plain)),
        ] {
            let Some(added) = added else { continue };
            grid.row([
                label.to_owned(),
                format!("{:.2}", added.median),
                format!("{:.2} – {:.2}", added.least, added.most),
                format!("{:.2}", added.median / script),
                format!("{:.3}", added.median / nginx),
            ]);
        }
        grid
    }

    fn ratios(&self) -> Grid {
        let mut grid = Grid::new(&["ratio", "median", "least – most"]);
        for (label, upper, lower) in [
            ("bare Pingora / nginx", Which::Bare, Which::Nginx),
            ("Edgewright without a plugin / bare Pingora", Which::Plain, Which::Bare),
            ("Edgewright without a plugin / nginx", Which::Plain, Which::Nginx),
            ("Edgewright with 1 plugin / nginx + Lua", Which::One, Which::NginxLua),
            ("Edgewright with 3 plugins / nginx + Lua", Which::Three, Which::NginxLua),
        ] {
            let (Some(upper), Some(lower)) = (self.cpu(upper), self.cpu(lower)) else { continue };
            let ratio = ratio(upper, lower);
            let spread = format!("{:.2} – {:.2}", ratio.least, ratio.most);
            grid.row([label.to_owned(), format!("{:.2}", ratio.median), spread]);
        }
        grid
    }
}

//! `edgewright plugin bench`: what the calls of one plugin cost, in the real host and without any socket.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use serde::Serialize;

use crate::config::model::Isolation;
use crate::proxy::{Course, Origin, Question, play};

use super::super::{mistake, out};
use super::cases::{Cases, Request, Response};
use super::stage::Stage;

/// Requests that warm the caches up before it counts.
const WARM_UP: usize = 100;

/// What making the instances of a `fresh` plugin costs, after a response and off the path of a request.
const AHEAD: &str = "(instances made ahead)";

#[derive(Debug, Args)]
pub(in crate::cli) struct Bench {
    /// Component (`.wasm`); NAME.toml beside it is its manifest
    file: PathBuf,
    /// File with cases, whose requests are sent in turn; `GET /` if not given
    #[arg(long, value_name = "CASES.toml")]
    cases: Option<PathBuf>,
    /// Requests to send for each isolation
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    requests: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What the calls of a phase cost.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Row {
    isolation: &'static str,
    phase: &'static str,
    calls: usize,
    failed: bool,
    mean_us: f64,
    p50_us: f64,
    p99_us: f64,
    memory_peak_bytes: usize,
}

impl Bench {
    pub(in crate::cli) fn run(&self) -> ExitCode {
        let cases = match self.cases.as_deref().map(Cases::read).transpose() {
            Ok(cases) => cases.unwrap_or_default(),
            Err(error) => return mistake(&error),
        };
        let mut rows = Vec::new();
        for isolation in [Isolation::Reuse, Isolation::Fresh] {
            match self.measure(&cases, isolation) {
                Ok(measured) => rows.extend(measured),
                Err(ended) => return ended,
            }
        }
        if self.json {
            match serde_json::to_string_pretty(&rows) {
                Ok(json) => out(&(json + "\n")),
                Err(error) => return mistake(&error.to_string()),
            }
        } else {
            out(&told(&rows));
        }
        ExitCode::SUCCESS
    }

    fn measure(&self, cases: &Cases, isolation: Isolation) -> Result<Vec<Row>, ExitCode> {
        let stage = Stage::set(&self.file, &cases.upstreams, Some(isolation))?;
        let none = toml::Table::new();
        let mut plays: Vec<(crate::plugin::Chain, Question, Origin)> = Vec::new();
        let all = cases
            .cases
            .iter()
            .map(|case| (&case.config, &case.request, &case.response, case.fails.as_deref()));
        let (request, response) = (Request::default(), Response::default());
        let all: Vec<_> =
            if cases.cases.is_empty() { vec![(&none, &request, &response, None)] } else { all.collect() };
        for (config, request, response, fails) in all {
            let chain = stage.chain(&[&cases.config, config]);
            let question = request.question();
            match (chain, question, response.origin(fails)) {
                (Ok(chain), Ok(question), Ok(origin)) => plays.push((chain, question, origin)),
                (Err(error), ..) | (_, Err(error), _) | (.., Err(error)) => return Err(mistake(&error)),
            }
        }
        let mut times: BTreeMap<&'static str, Vec<Duration>> = BTreeMap::new();
        let mut failed = false;
        stage.runtime.block_on(async {
            for (sent, (chain, question, origin)) in
                plays.iter().cycle().take(WARM_UP.saturating_add(self.requests)).enumerate()
            {
                let began = Instant::now();
                chain.refill().await;
                if isolation == Isolation::Fresh && sent >= WARM_UP {
                    times.entry(AHEAD).or_default().push(began.elapsed());
                }
                let Ok(course) = play(chain, &stage.policy, &stage.upstreams, question, origin).await else {
                    failed = true;
                    continue;
                };
                if sent >= WARM_UP {
                    failed |= matches!(course.verdict, crate::proxy::Verdict::Failed(_));
                    count(&mut times, &course);
                }
            }
        });
        let peak = stage.plugin.memory_peak();
        Ok(times.into_iter().map(|(phase, times)| row(isolation, phase, times, failed, peak)).collect())
    }
}

fn count(times: &mut BTreeMap<&'static str, Vec<Duration>>, course: &Course) {
    for call in &course.calls {
        times.entry(call.phase.name()).or_default().push(call.took);
    }
}

fn row(
    isolation: Isolation,
    phase: &'static str,
    mut times: Vec<Duration>,
    failed: bool,
    peak: usize,
) -> Row {
    times.sort_unstable();
    let total: Duration = times.iter().sum();
    let micros = |time: Duration| (time.as_nanos() / 10) as f64 / 100.0;
    let at =
        |share: usize| times.get(times.len() * share / 100).or(times.last()).copied().unwrap_or_default();
    Row {
        isolation: match isolation {
            Isolation::Reuse => "reuse",
            Isolation::Fresh => "fresh",
        },
        phase,
        calls: times.len(),
        failed,
        mean_us: micros(
            total.checked_div(u32::try_from(times.len()).unwrap_or(u32::MAX)).unwrap_or_default(),
        ),
        p50_us: micros(at(50)),
        p99_us: micros(at(99)),
        memory_peak_bytes: peak,
    }
}

fn told(rows: &[Row]) -> String {
    let mut text = format!(
        "{:<10}{:<26}{:>9}{:>13}{:>13}{:>13}{:>12}\n",
        "isolation", "phase", "calls", "mean", "p50", "p99", "memory"
    );
    for row in rows {
        let failed = if row.failed { "  some failed" } else { "" };
        text += &format!(
            "{:<10}{:<26}{:>9}{:>10.2} µs{:>10.2} µs{:>10.2} µs{:>8.1} MiB{failed}\n",
            row.isolation,
            row.phase,
            row.calls,
            row.mean_us,
            row.p50_us,
            row.p99_us,
            row.memory_peak_bytes as f64 / f64::from(1 << 20),
        );
    }
    text
}

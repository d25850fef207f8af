//! `edgewright plugin test`: requests through one plugin, in the real host and without any socket, each beside what is
//! to become of it.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use crate::observe::logging;
use crate::plugin::printable;
use crate::proxy::play;

use super::super::{BAD_INPUT, mistake, out};
use super::cases::{Case, Cases};
use super::expect::{mismatches, word};
use super::stage::Stage;

#[derive(Debug, Args)]
pub(in crate::cli) struct Test {
    /// Component (`.wasm`); NAME.toml beside it is its manifest
    file: PathBuf,
    /// File with the cases
    #[arg(value_name = "CASES.toml")]
    cases: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// How one case went.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Outcome {
    name: String,
    passed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    /// Of each phase in turn, in microseconds.
    cost: Vec<Cost>,
    mismatches: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Cost {
    phase: &'static str,
    us: f64,
}

impl Test {
    pub(in crate::cli) fn run(&self) -> ExitCode {
        // What the plugin logs is seen; without a reader of refused requests, there is nobody to tell.
        if let Err(error) = logging::init(|_| {}) {
            return mistake(&error.to_string());
        }
        let cases = match Cases::read(&self.cases) {
            Ok(cases) => cases,
            Err(error) => return mistake(&error),
        };
        let stage = match Stage::set(&self.file, &cases.upstreams, None) {
            Ok(stage) => stage,
            Err(ended) => return ended,
        };
        let outcomes: Vec<Outcome> = cases.cases.iter().map(|case| play_one(&stage, &cases, case)).collect();
        logging::flush(std::time::Duration::from_secs(1));
        let failed = outcomes.iter().filter(|outcome| !outcome.passed).count();
        if self.json {
            match serde_json::to_string_pretty(&outcomes) {
                Ok(json) => out(&(json + "\n")),
                Err(error) => return mistake(&error.to_string()),
            }
        } else {
            outcomes.iter().for_each(|outcome| out(&outcome.told()));
            out(&format!("{} cases, {failed} failed\n", outcomes.len()));
        }
        if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(BAD_INPUT) }
    }
}

fn play_one(stage: &Stage, cases: &Cases, case: &Case) -> Outcome {
    let course = (|| {
        let (question, origin) = (case.request.question()?, case.response.origin(case.fails.as_deref())?);
        let chain = stage.chain(&[&cases.config, &case.config])?;
        let played = stage.runtime.block_on(async {
            // As between two requests.
            chain.refill().await;
            play(&chain, &stage.policy, &stage.upstreams, &question, &origin).await
        });
        played.map_err(|refused| refused.to_string())
    })();
    match course {
        Ok(course) => {
            let mismatches = mismatches(&case.expect, &course, &cases.upstreams);
            let cost = |call: &crate::plugin::exchange::CallRecord| Cost {
                phase: call.phase.name(),
                us: (call.took.as_nanos() / 100) as f64 / 10.0,
            };
            Outcome {
                name: case.name.clone(),
                passed: mismatches.is_empty(),
                verdict: Some(word(course.verdict)),
                status: Some(course.reply.status.as_u16()),
                cost: course.calls.iter().map(cost).collect(),
                mismatches,
            }
        }
        Err(error) => Outcome {
            name: case.name.clone(),
            passed: false,
            verdict: None,
            status: None,
            cost: Vec::new(),
            mismatches: vec![error],
        },
    }
}

impl Outcome {
    fn told(&self) -> String {
        let mark = if self.passed { "ok  " } else { "FAIL" };
        let mut text = format!("{mark}  {}", printable(&self.name));
        if let (Some(verdict), Some(status)) = (self.verdict, self.status) {
            text += &format!(": {verdict}, {status}");
        }
        let costs: Vec<String> =
            self.cost.iter().map(|cost| format!("{} {:.1} µs", cost.phase, cost.us)).collect();
        if !costs.is_empty() {
            text += &format!(" ({})", costs.join(", "));
        }
        text.push('\n');
        for mismatch in &self.mismatches {
            text += &format!("        {}\n", printable(mismatch));
        }
        text
    }
}

//! One of the set-ups that are measured side by side: a running proxy, how to ask it, and the job it must
//! prove before a single measurement counts. Knows no proxy by name.

use std::net::SocketAddr;

use anyhow::{Context, Result, ensure};

use crate::client::ask;
use crate::process::Process;

/// Bytes of the origin's answer.
pub(crate) const ANSWER_BYTES: usize = 1_000;
/// What `x-api-key` must be.
pub(crate) const KEY: &str = "a-key-of-the-bench";
/// The value of every header that a script or plugin sets.
pub(crate) const MARK: &str = "bench";
/// The marks that the origin's `/seen` tells of.
pub(crate) const MARKS_SEEN: u32 = 10;

/// The request header that the plugin of that number (from 1) sets.
pub(crate) fn request_mark(number: u32) -> String {
    format!("x-consumer-{number}")
}

/// The response header that the plugin of that number (from 1) sets.
pub(crate) fn response_mark(number: u32) -> String {
    format!("x-edge-{number}")
}

/// Where and how to ask.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) address: SocketAddr,
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
}

/// What a set-up does to each request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Job {
    Forward,
    /// Refuses requests without the key with 401; sets that many headers on the request and on the
    /// response.
    CheckAndMark {
        request_marks: u32,
        response_marks: u32,
    },
}

#[derive(Debug)]
pub(crate) struct Contender {
    pub(crate) label: String,
    pub(crate) process: Process,
    pub(crate) target: Target,
    pub(crate) job: Job,
}

impl Target {
    /// `/` with the key.
    pub(crate) fn new(address: SocketAddr) -> Self {
        let key = ("x-api-key".to_owned(), KEY.to_owned());
        Self { address, path: "/".to_owned(), headers: vec![key] }
    }

    /// The same at another path.
    pub(crate) fn at(&self, path: &str) -> Self {
        Self { path: path.to_owned(), ..self.clone() }
    }

    fn without(&self, header: &str) -> Self {
        let mut target = self.clone();
        target.headers.retain(|(name, _)| name != header);
        target
    }
}

impl Contender {
    /// Proves that the set-up does its job.
    ///
    /// # Errors
    /// Where it does not: its name and what was wrong.
    pub(crate) async fn prove(&self) -> Result<()> {
        self.forwards().await.with_context(|| format!("`{}` does not forward", self.label))?;
        if let Job::CheckAndMark { request_marks, response_marks } = self.job {
            let checked = self.checks_and_marks(request_marks, response_marks).await;
            checked.with_context(|| format!("`{}` does not do its job", self.label))?;
        }
        Ok(())
    }

    async fn forwards(&self) -> Result<()> {
        let answer = ask(&self.target).await?;
        ensure!(answer.status == 200, "status {}, not 200", answer.status);
        ensure!(answer.body.len() == ANSWER_BYTES, "{} bytes, not {ANSWER_BYTES}", answer.body.len());
        Ok(())
    }

    async fn checks_and_marks(&self, request_marks: u32, response_marks: u32) -> Result<()> {
        let refused = ask(&self.target.without("x-api-key")).await?;
        ensure!(refused.status == 401, "status {} without the key, not 401", refused.status);

        let seen = ask(&self.target.at("/seen")).await?;
        for number in 1..=request_marks {
            let mark = format!("[{number}:{MARK}]");
            let name = request_mark(number);
            ensure!(seen.body.contains(&mark), "the origin did not see `{name}`, but `{}`", seen.body);
        }
        for number in 1..=response_marks {
            let name = response_mark(number);
            ensure!(seen.header(&name) == Some(MARK), "no `{name}` in the response");
        }
        Ok(())
    }
}

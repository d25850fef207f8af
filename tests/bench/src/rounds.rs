//! Measures set-ups in turns: every round measures each of them once, and each round begins with another
//! one, so that the drift of the machine meets all alike. Knows no proxy.

use anyhow::{Context, Result};

use crate::contender::Contender;
use crate::load::{Load, Seen};
use crate::scene::Scene;
use crate::stats::{Summary, summary};

/// What one set-up was measured to do, one entry a round.
#[derive(Debug, Default, Clone)]
pub(crate) struct Measured {
    /// CPU time of the proxy per request, in microseconds.
    pub(crate) cpu: Vec<f64>,
    seen: Vec<Seen>,
}

impl Measured {
    pub(crate) fn cpu(&self) -> Summary {
        summary(self.cpu.iter().copied())
    }

    pub(crate) fn per_second(&self) -> Summary {
        summary(self.seen.iter().map(|seen| seen.per_second))
    }

    /// In milliseconds.
    pub(crate) fn p99(&self) -> Summary {
        summary(self.seen.iter().map(|seen| seen.p99.as_secs_f64() * 1_000.0))
    }

    /// Puts `contender` under load once and keeps what was seen.
    ///
    /// # Errors
    /// Where wrk saw an error: the run is void.
    pub(crate) async fn take(
        &mut self,
        scene: &Scene,
        load: &Load,
        contender: &Contender,
        seconds: u64,
    ) -> Result<()> {
        let before = contender.process.cpu()?;
        let seen = load.run(scene, &contender.target, seconds).await;
        let seen = seen.with_context(|| format!("`{}`", contender.label))?;
        let cpu = contender.process.cpu()?.since(&before);
        self.cpu.push(cpu.as_secs_f64() * 1e6 / seen.requests as f64);
        self.seen.push(seen);
        Ok(())
    }
}

/// Proves that each of `contenders` does its job, warms it up for a second, and measures all of them in
/// `rounds` rounds of `seconds` each. The results are in the order of `contenders`.
///
/// # Errors
/// Where one does not do its job, or a run is void.
pub(crate) async fn run(
    scene: &Scene,
    load: &Load,
    contenders: &[Contender],
    rounds: usize,
    seconds: u64,
) -> Result<Vec<Measured>> {
    for contender in contenders {
        contender.prove().await?;
        let warm = load.run(scene, &contender.target, 1).await;
        warm.with_context(|| format!("warming up `{}`", contender.label))?;
    }
    let mut measured: Vec<Measured> = contenders.iter().map(|_| Measured::default()).collect();
    for round in 0..rounds {
        eprintln!("round {} of {rounds}", round + 1);
        let mut turns: Vec<_> = contenders.iter().zip(&mut measured).collect();
        turns.rotate_left(round % contenders.len().max(1));
        for (contender, results) in turns {
            results.take(scene, load, contender, seconds).await?;
        }
    }
    Ok(measured)
}

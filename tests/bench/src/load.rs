//! Load: runs wrk against an address and reads what it prints. A run with errors is void. Knows no proxy.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::process::Command;

use crate::contender::Target;
use crate::scene::{Role, Scene, required};

/// Connections, all kept alive.
pub(crate) const CONNECTIONS: u32 = 64;

#[derive(Debug)]
pub(crate) struct Load {
    wrk: PathBuf,
    role: Role,
}

/// What wrk saw in one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Seen {
    pub(crate) requests: u64,
    pub(crate) per_second: f64,
    /// Of the time from request to response.
    pub(crate) p99: Duration,
}

/// What wrk saw in a run that may have failures.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tried {
    pub(crate) seen: Seen,
    /// Socket errors and answers other than 2xx and 3xx.
    pub(crate) failed: u64,
    /// wrk's first line about them.
    pub(crate) trouble: Option<String>,
}

impl Load {
    /// # Errors
    /// Where wrk is missing.
    pub(crate) fn new(role: Role) -> Result<Self> {
        Ok(Self { wrk: required("wrk")?, role })
    }

    /// Asks `target` for as long as `seconds`.
    ///
    /// # Errors
    /// Where wrk fails, or where it saw a socket error or a status of 400 and above.
    pub(crate) async fn run(&self, scene: &Scene, target: &Target, seconds: u64) -> Result<Seen> {
        let seen = self.try_run(scene, target, CONNECTIONS, seconds).await?;
        if let Some(trouble) = seen.trouble {
            bail!("void: wrk says `{trouble}`");
        }
        anyhow::ensure!(seen.seen.requests > 0, "void: not one answer");
        Ok(seen.seen)
    }

    /// The same over any number of connections, where failures are what is looked for.
    ///
    /// # Errors
    /// Where wrk fails.
    pub(crate) async fn try_run(
        &self,
        scene: &Scene,
        target: &Target,
        connections: u32,
        seconds: u64,
    ) -> Result<Tried> {
        let mut words = scene.prefix(self.role);
        words.push(self.wrk.display().to_string());
        words.extend(["--latency", "--threads", "1"].map(str::to_owned));
        words.extend(["--connections".to_owned(), connections.to_string()]);
        words.extend(["--duration".to_owned(), format!("{seconds}s")]);
        for (name, value) in &target.headers {
            // In any other spelling, wrk would not see it and add a second one.
            let name = if name == "host" { "Host" } else { name };
            words.extend(["--header".to_owned(), format!("{name}: {value}")]);
        }
        words.push(format!("http://{}{}", target.address, target.path));

        let (program, arguments) = words.split_first().context("an empty command")?;
        let output = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output()
            .await
            .context("can't start wrk")?;
        let text = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() {
            bail!("wrk ended with {}: {text}{}", output.status, String::from_utf8_lossy(&output.stderr));
        }
        read(&text)
    }
}

fn read(text: &str) -> Result<Tried> {
    let mut failed = 0;
    let mut trouble = None;
    let mut requests = None;
    let mut per_second = None;
    let mut p99 = None;
    for line in text.lines().map(str::trim) {
        if line.starts_with("Socket errors:") || line.starts_with("Non-2xx") {
            failed += numbers(line).sum::<u64>();
            trouble.get_or_insert_with(|| line.to_owned());
        } else if let Some(value) = line.strip_prefix("Requests/sec:") {
            per_second = value.trim().parse().ok();
        } else if let Some(value) = line.strip_prefix("99%") {
            p99 = duration(value.trim());
        } else if let Some((value, _)) = line.split_once(" requests in ") {
            requests = value.parse().ok();
        }
    }
    let (Some(requests), Some(per_second), Some(p99)) = (requests, per_second, p99) else {
        bail!("void: wrk said something else than it used to: {text}");
    };
    Ok(Tried { seen: Seen { requests, per_second, p99 }, failed, trouble })
}

/// The whole numbers of a line that stand by themselves, as in `connect 0, read 3`. (The 2 and 3 of wrk's own
/// `Non-2xx or 3xx` do not.)
fn numbers(line: &str) -> impl Iterator<Item = u64> + '_ {
    line.split([' ', ',']).filter_map(|word| word.parse().ok())
}

/// wrk's way to write a time: a number and `us`, `ms`, `s`, `m` or `h`.
fn duration(text: &str) -> Option<Duration> {
    let unit_at = text.find(|character: char| character.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at_checked(unit_at)?;
    let seconds = match unit {
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3_600.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(number.parse::<f64>().ok()? * seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let check = |input: &str, expected: Option<u64>| {
            assert_eq!(duration(input).map(|time| time.as_micros()), expected.map(u128::from), "{input}");
        };
        check("741.00us", Some(741));
        check("2.18ms", Some(2_180));
        check("1.50s", Some(1_500_000));
        check("2.00m", Some(120_000_000));
        check("2.00", None);
        check("fast", None);
        check("-1s", None);
    }

    #[test]
    fn outputs_of_wrk() {
        let check = |input: &str, expected: Result<(Seen, u64), &str>| match (read(input), expected) {
            (Ok(tried), Ok((seen, failed))) => {
                assert_eq!((tried.seen, tried.failed), (seen, failed));
                assert_eq!(tried.trouble.is_some(), failed > 0);
            }
            (Err(error), Err(expected)) => assert!(error.to_string().contains(expected), "{error}"),
            (seen, expected) => panic!("{seen:?} is not {expected:?}"),
        };
        let good = "  Latency Distribution\n     50%    1.06ms\n     99%    2.18ms\n  \
                    59438 requests in 1.00s, 66.00MB read\nRequests/sec:  59289.48\n";
        let seen = Seen { requests: 59_438, per_second: 59_289.48, p99: Duration::from_micros(2_180) };
        check(good, Ok((seen, 0)));
        check(&format!("{good}  Non-2xx or 3xx responses: 5\n"), Ok((seen, 5)));
        check(&format!("{good}  Socket errors: connect 1, read 3, write 0, timeout 0\n"), Ok((seen, 4)));
        check("unable to connect", Err("something else"));
    }
}

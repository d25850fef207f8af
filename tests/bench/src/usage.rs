//! What the kernel says a process used: CPU time and memory, from `/proc`. Knows nothing of what runs.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};

/// The CPU time of a process at one moment.
#[derive(Debug, Clone)]
pub(crate) struct CpuReading {
    /// Nanoseconds on a CPU of each thread that lives, by thread id (`schedstat`, first field).
    threads: BTreeMap<u32, u64>,
    /// User and system time of the whole process, threads that ended included, in steps of 10 ms.
    coarse: Duration,
}

/// A unit of `/proc/PID/stat`: Linux fixes `USER_HZ` at 100.
const TICK: Duration = Duration::from_millis(10);

/// Memory and threads of a process at one moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Footprint {
    /// KiB (`VmRSS`).
    pub(crate) resident: u64,
    /// KiB, the most there ever was (`VmHWM`).
    pub(crate) peak: u64,
    pub(crate) threads: u64,
}

impl CpuReading {
    /// # Errors
    /// Where the process is gone.
    pub(crate) fn of(pid: u32) -> Result<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
        let coarse = ticks(&stat).with_context(|| format!("/proc/{pid}/stat is not as proc(5) says"))?;
        Ok(Self { threads: thread_times(pid)?, coarse: TICK * coarse })
    }

    /// CPU time since `earlier`: exact as long as no thread ended in between, else in steps of 10 ms.
    pub(crate) fn since(&self, earlier: &Self) -> Duration {
        if !earlier.threads.keys().all(|thread| self.threads.contains_key(thread)) {
            return self.coarse.saturating_sub(earlier.coarse);
        }
        self.threads_since(earlier).map(|(_, time)| time).sum()
    }

    /// CPU time since `earlier` of each thread that lives now.
    pub(crate) fn threads_since<'a>(
        &'a self,
        earlier: &'a Self,
    ) -> impl Iterator<Item = (u32, Duration)> + 'a {
        self.threads.iter().map(|(thread, now)| {
            let before = earlier.threads.get(thread).copied().unwrap_or(0);
            (*thread, Duration::from_nanos(now.saturating_sub(before)))
        })
    }
}

impl Footprint {
    /// # Errors
    /// Where the process is gone.
    pub(crate) fn of(pid: u32) -> Result<Self> {
        let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
        let field =
            |name: &str| field(&status, name).with_context(|| format!("no `{name}` in /proc/{pid}/status"));
        Ok(Self { resident: field("VmRSS")?, peak: field("VmHWM")?, threads: field("Threads")? })
    }
}

/// The name of a thread, as the kernel keeps it (15 bytes).
pub(crate) fn thread_name(pid: u32, thread: u32) -> String {
    let name = fs::read_to_string(format!("/proc/{pid}/task/{thread}/comm")).unwrap_or_default();
    name.trim_end().to_owned()
}

fn thread_times(pid: u32) -> Result<BTreeMap<u32, u64>> {
    let mut times = BTreeMap::new();
    for entry in fs::read_dir(format!("/proc/{pid}/task"))? {
        let entry = entry?;
        let Some(thread) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        // A thread may end between the listing and the reading.
        let Ok(schedstat) = fs::read_to_string(entry.path().join("schedstat")) else { continue };
        if let Some(time) = schedstat.split_whitespace().next().and_then(|field| field.parse().ok()) {
            times.insert(thread, time);
        }
    }
    Ok(times)
}

/// User and system time of `/proc/PID/stat`, fields 14 and 15. The second field is the program's name in
/// brackets and may hold anything, brackets too.
fn ticks(stat: &str) -> Option<u32> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11);
    let user: u32 = fields.next()?.parse().ok()?;
    let system: u32 = fields.next()?.parse().ok()?;
    Some(user + system)
}

fn field(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_fields_14_and_15() {
        let check = |input: &str, expected: Option<u32>| assert_eq!(ticks(input), expected, "{input}");
        check("7 (nginx) S 1 7 7 0 -1 4194560 100 0 0 0 250 31 0 0 20 0 1 0", Some(281));
        check("7 (a) b) S 1 7 7 0 -1 4194560 100 0 0 0 1 2 0 0 20 0 1 0", Some(3));
        check("7 (nginx) S 1 7", None);
        check("", None);
    }

    #[test]
    fn fields_of_status() {
        let status = "Name:\tnginx\nVmHWM:\t   15360 kB\nVmRSS:\t    8192 kB\nThreads:\t3\n";
        let check = |name: &str, expected: Option<u64>| assert_eq!(field(status, name), expected, "{name}");
        check("VmHWM", Some(15_360));
        check("VmRSS", Some(8_192));
        check("Threads", Some(3));
        check("Vm", None);
    }

    #[test]
    fn an_ended_thread_makes_the_reading_coarse() {
        let reading = |threads: &[(u32, u64)], coarse: u64| CpuReading {
            threads: threads.iter().copied().collect(),
            coarse: Duration::from_millis(coarse),
        };
        let check = |earlier: CpuReading, later: CpuReading, expected: u64| {
            assert_eq!(later.since(&earlier), Duration::from_nanos(expected));
        };
        check(reading(&[(1, 100)], 0), reading(&[(1, 700)], 10), 600);
        check(reading(&[(1, 100)], 0), reading(&[(1, 700), (2, 50)], 10), 650);
        check(reading(&[(1, 100), (2, 50)], 10), reading(&[(1, 700)], 30), 20_000_000);
    }
}

//! How many worker threads, and why that number. Knows nothing of what they do.

mod threads;

use std::num::NonZeroUsize;

pub(super) use threads::{Crew, Threads};

/// A number of workers with its reason, for the start-up line and the status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workers {
    pub count: NonZeroUsize,
    pub reason: String,
}

impl Workers {
    /// What the configuration says, or as many as the process may use CPUs: the standard library reads
    /// affinity and the cgroup's quota.
    pub fn decide(configured: Option<NonZeroUsize>) -> Self {
        if let Some(count) = configured {
            return Self { count, reason: "`server.threads`".to_owned() };
        }
        match std::thread::available_parallelism() {
            Ok(count) => {
                let online = online_cpus();
                let reason = match online {
                    Some(online) if online > count.get() => {
                        format!("CPU quota or affinity: {count} of the machine's {online}")
                    }
                    _ => format!("the machine's {count} CPUs"),
                };
                Self { count, reason }
            }
            Err(error) => {
                Self { count: NonZeroUsize::MIN, reason: format!("the CPU count is not known: {error}") }
            }
        }
    }
}

/// CPUs that are on, whatever this process may use of them.
fn online_cpus() -> Option<usize> {
    let listed = std::fs::read_to_string("/sys/devices/system/cpu/online").ok()?;
    count_cpus(&listed)
}

/// The length of a list like `0-3,8`.
fn count_cpus(list: &str) -> Option<usize> {
    list.trim().split(',').try_fold(0, |sum, part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        Some(sum + last.checked_sub(first)? + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus_are_counted() {
        let check = |list, expected| assert_eq!(count_cpus(list), expected, "{list}");
        check("0\n", Some(1));
        check("0-3\n", Some(4));
        check("0-1,4,6-7", Some(5));
        check("x", None);
        check("3-1", None);
    }

    #[test]
    fn a_configured_count_wins() {
        let workers = Workers::decide(NonZeroUsize::new(7));
        assert_eq!((workers.count.get(), workers.reason.as_str()), (7, "`server.threads`"));
        assert!(!Workers::decide(None).reason.is_empty());
    }
}

//! Bounds as a container has them: a control group of its own, version 1 or 2, for CPU quota, memory and
//! number of processes. Needs root and a writable hierarchy. Knows no proxy.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::cli::Bounds;

/// The kernel's default period, in microseconds.
const PERIOD: u64 = 100_000;

/// Directories of the group, one for each controller in version 1. Removed when dropped: its processes must
/// be gone by then.
#[derive(Debug)]
pub(crate) struct Cgroup {
    directories: Vec<PathBuf>,
    version: Version,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    V1,
    V2,
}

impl Cgroup {
    /// Makes a group with these bounds.
    ///
    /// # Errors
    /// Where there is no hierarchy with the three controllers, or it can't be written.
    pub(crate) fn new(bounds: &Bounds) -> Result<Self> {
        let mounts = fs::read_to_string("/proc/self/mounts")?;
        let name = format!("edgewright-bench-{}", std::process::id());
        let v1 = ["cpu", "memory", "pids"].map(|controller| v1_mount(&mounts, controller));
        if let [Some(cpu), Some(memory), Some(pids)] = v1 {
            let directories = [cpu, memory, pids].map(|mount| mount.join(&name)).to_vec();
            let group = Self { directories, version: Version::V1 };
            group.make(bounds)?;
            return Ok(group);
        }
        let Some(mount) = v2_mount(&mounts) else { bail!("no control groups are mounted") };
        // Already on where this is a container's or systemd's own; else it fails below.
        let _ = fs::write(mount.join("cgroup.subtree_control"), "+cpu +memory +pids");
        let group = Self { directories: vec![mount.join(&name)], version: Version::V2 };
        group.make(bounds)?;
        Ok(group)
    }

    /// `command`, started inside the group. It keeps its process id.
    pub(crate) fn enclose(&self, command: Vec<String>) -> Vec<String> {
        let script = "while [ \"$1\" != -- ]; do echo $$ > \"$1\" || exit 1; shift; done; shift; exec \"$@\"";
        let mut words = ["sh", "-c", script, "sh"].map(str::to_owned).to_vec();
        let entries = self.directories.iter().map(|path| path.join("cgroup.procs").display().to_string());
        words.extend(entries);
        words.push("--".to_owned());
        words.extend(command);
        words
    }

    /// The most memory that was charged to the group, in bytes; file cache counts too.
    pub(crate) fn peak_memory(&self) -> Option<u64> {
        let file = match self.version {
            Version::V1 => "memory.max_usage_in_bytes",
            Version::V2 => "memory.peak",
        };
        let mut paths = self.directories.iter().map(|path| path.join(file));
        paths.find_map(|path| fs::read_to_string(path).ok()?.trim().parse().ok())
    }

    pub(crate) fn describe(&self) -> &'static str {
        match self.version {
            Version::V1 => "a control group, version 1",
            Version::V2 => "a control group, version 2",
        }
    }

    fn make(&self, bounds: &Bounds) -> Result<()> {
        for directory in &self.directories {
            fs::create_dir(directory).with_context(|| format!("can't make `{}`", directory.display()))?;
        }
        let quota = u64::from(bounds.cpus) * PERIOD;
        let memory = (bounds.memory << 20).to_string();
        let values = match self.version {
            Version::V1 => [
                ("cpu.cfs_quota_us", quota.to_string()),
                ("memory.limit_in_bytes", memory),
                ("pids.max", bounds.pids.to_string()),
            ],
            Version::V2 => [
                ("cpu.max", format!("{quota} {PERIOD}")),
                ("memory.max", memory),
                ("pids.max", bounds.pids.to_string()),
            ],
        };
        for (file, value) in values {
            let mut paths = self.directories.iter().map(|directory| directory.join(file));
            let path = paths.find(|path| path.exists()).with_context(|| format!("no `{file}`"))?;
            fs::write(&path, value).with_context(|| format!("can't write `{}`", path.display()))?;
        }
        Ok(())
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        for directory in &self.directories {
            // Fails only where a process of the group lives on, which was not started here.
            let _ = fs::remove_dir(directory);
        }
    }
}

/// Where version 1 has that controller.
fn v1_mount(mounts: &str, controller: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let [_, path, "cgroup", options] = fields(line)? else { return None };
        options.split(',').any(|option| option == controller).then(|| Path::new(path).to_owned())
    })
}

fn v2_mount(mounts: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| match fields(line)? {
        [_, path, "cgroup2", _] => Some(Path::new(path).to_owned()),
        _ => None,
    })
}

/// Device, path, type and options of a line of `/proc/self/mounts`.
fn fields(line: &str) -> Option<[&str; 4]> {
    let mut fields = line.split(' ');
    Some([fields.next()?, fields.next()?, fields.next()?, fields.next()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts() {
        let v1 = "cgroup /sys/fs/cgroup/cpu cgroup rw,relatime,cpu,cpuacct 0 0";
        let v2 = "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0";
        let check = |input: &str, expected: (Option<&str>, Option<&str>)| {
            let seen = (v1_mount(input, "cpu"), v2_mount(input));
            assert_eq!(
                (seen.0.as_deref(), seen.1.as_deref()),
                (expected.0.map(Path::new), expected.1.map(Path::new))
            );
        };
        check(v1, (Some("/sys/fs/cgroup/cpu"), None));
        check(v2, (None, Some("/sys/fs/cgroup")));
        check("cgroup /sys/fs/cgroup/set cgroup rw,cpuset 0 0", (None, None));
        check("proc /proc proc rw 0 0\nshort", (None, None));
    }
}

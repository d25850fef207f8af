//! Where instances have their memories, tables and stacks: slots that are used again. Making an instance then
//! maps nothing, and where the kernel tells which pages were written, only those are reset. Must not know the
//! other settings.

use wasmtime::{Config, Enabled, InstanceAllocationStrategy, PoolingAllocationConfig};

use crate::plugin::limits::TABLE_ELEMENTS;

/// Memories at once, of all plugins and workers: each has 4 GiB of addresses, of which there are 128 TiB.
const MEMORIES: u32 = 10_000;

/// A component of one memory has about two tables and four core instances.
const TABLES: u32 = 4 * MEMORIES;

/// Counted, nothing is set aside for them.
const COUNTED: u32 = 1_000_000;

/// Bytes of a memory that stay with its slot when the instance is gone, for the next one: what a plugin in Rust
/// writes to in some calls. More goes back to the system.
const KEPT: usize = 256 << 10;

/// Slots that nobody uses and that still hold what their last instance was made from.
const WARM: u32 = 100;

/// The first Linux with `PAGEMAP_SCAN`.
const SCANS: (u32, u32) = (6, 7);

/// Takes instances out of slots.
pub(super) fn pool(config: &mut Config) {
    let mut pool = PoolingAllocationConfig::default();
    pool.total_memories(MEMORIES)
        .total_tables(TABLES)
        .total_stacks(MEMORIES)
        .total_core_instances(COUNTED)
        .total_component_instances(COUNTED)
        .table_elements(TABLE_ELEMENTS)
        // Plugins have less: the limiter of each instance sees to that.
        .max_memory_size(4 << 30)
        .max_unused_warm_slots(WARM);
    if tells_what_was_written() {
        pool.pagemap_scan(Enabled::Auto).linear_memory_keep_resident(KEPT).table_keep_resident(KEPT);
    }
    // Otherwise the lowest addresses would be written over, which guests in Rust seldom use: their stack ends
    // there. The system takes back what was written.
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
}

fn tells_what_was_written() -> bool {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    version(&release).is_some_and(|version| version >= SCANS)
}

/// Of a release like `6.18.44-generic`.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut parts = release.split(|character: char| !character.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_of_linux_are_read() {
        let check = |release, expected| assert_eq!(version(release), expected, "{release}");
        check("6.18.44-fc-v595", Some((6, 18)));
        check("5.4", Some((5, 4)));
        check("6.7-rc1", Some((6, 7)));
        check("", None);
        check("linux", None);
        assert!((6, 18) >= SCANS && (6, 6) < SCANS && (7, 0) >= SCANS);
    }
}

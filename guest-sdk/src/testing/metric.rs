//! What a plugin under test has counted. Must not know how it is kept.

use crate::host::metrics::counted;

/// The value of a metric that a plugin of this thread defined, with these values of its labels; of a histogram, how
/// many values it was told. `None` where nothing was counted.
pub fn metric(name: &str, values: &[&str]) -> Option<f64> {
    counted(name, values)
}

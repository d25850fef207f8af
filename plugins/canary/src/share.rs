//! A share of all requests, drawn by the hash of their ids. Must not know what the share is for.

use std::hash::{DefaultHasher, Hasher};

/// The steps of 100 percent.
const WHOLE: u16 = 1000;

/// A share in steps of a tenth of a percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Share(u16);

impl Share {
    /// # Errors
    /// The percentage is not one, or has more than one decimal.
    pub(crate) fn new(percent: f64) -> Result<Self, String> {
        let wanted = percent * 10.0;
        (0..=WHOLE)
            .find(|steps| (f64::from(*steps) - wanted).abs() < 1e-6)
            .map(Self)
            .ok_or_else(|| format!("`percent`: `{percent}` is not 0 to 100 in steps of 0.1"))
    }

    /// Whether the share has the request of this id. The hash has fixed keys: there is nothing to guard
    /// against, as a client may choose its side anyway.
    pub(crate) fn takes(self, request_id: &str) -> bool {
        let mut hasher = DefaultHasher::new();
        hasher.write(request_id.as_bytes());
        hasher.finish() % u64::from(WHOLE) < u64::from(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages() {
        fn check(percent: f64, expected: Option<u16>) {
            assert_eq!(Share::new(percent).ok(), expected.map(Share), "{percent}");
        }
        check(0.0, Some(0));
        check(0.1, Some(1));
        check(0.3, Some(3));
        check(33.3, Some(333));
        check(100.0, Some(1000));
        check(0.05, None);
        check(-0.1, None);
        check(100.1, None);
        check(f64::NAN, None);
    }

    #[test]
    fn the_share_of_many_ids_is_the_percentage() {
        const IDS: u32 = 100_000;
        fn check(percent: f64) {
            let share = Share::new(percent).unwrap();
            // Ids that differ in a few digits, as those of a busy second do.
            let taken = (0..IDS).filter(|n| share.takes(&format!("{:032x}", u128::from(*n) << 40))).count();
            let expected = f64::from(IDS) * percent / 100.0;
            let spread = (f64::from(IDS) * percent / 100.0 * (1.0 - percent / 100.0)).sqrt();
            let off = (taken as f64 - expected).abs();
            assert!(off <= 4.0 * spread, "{percent} %: {taken} of {IDS}, {off} off");
        }
        for percent in [0.0, 0.1, 1.0, 5.0, 33.3, 50.0, 99.9, 100.0] {
            check(percent);
        }
    }
}

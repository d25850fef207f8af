//! Medians and spreads of a few samples. Pure.

/// What a number was over the rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Summary {
    pub(crate) median: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

/// Summarises samples; all zero where there are none.
pub(crate) fn summary(samples: impl IntoIterator<Item = f64>) -> Summary {
    let mut samples: Vec<f64> = samples.into_iter().collect();
    samples.sort_by(f64::total_cmp);
    let at = |index: usize| samples.get(index).copied().unwrap_or(0.0);
    let last = samples.len().saturating_sub(1);
    let median = (at(last / 2) + at(last.div_ceil(2))) / 2.0;
    Summary { median, least: at(0), most: at(last) }
}

/// Summarises `later − earlier`, round by round: the machine's drift hits both sides of a round alike.
pub(crate) fn difference(later: &[f64], earlier: &[f64]) -> Summary {
    summary(later.iter().zip(earlier).map(|(later, earlier)| later - earlier))
}

/// Summarises `upper / lower`, round by round.
pub(crate) fn ratio(upper: &[f64], lower: &[f64]) -> Summary {
    summary(upper.iter().zip(lower).map(|(upper, lower)| upper / lower))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(seen: Summary, expected: (f64, f64, f64)) {
        assert_eq!((seen.median, seen.least, seen.most), expected);
    }

    #[test]
    fn summaries() {
        check(summary([]), (0.0, 0.0, 0.0));
        check(summary([3.0]), (3.0, 3.0, 3.0));
        check(summary([4.0, 1.0]), (2.5, 1.0, 4.0));
        check(summary([9.0, 1.0, 2.0]), (2.0, 1.0, 9.0));
    }

    #[test]
    fn pairs() {
        check(difference(&[5.0, 9.0, 7.0], &[4.0, 6.0, 5.0]), (2.0, 1.0, 3.0));
        check(ratio(&[4.0, 9.0], &[2.0, 3.0]), (2.5, 2.0, 3.0));
    }
}

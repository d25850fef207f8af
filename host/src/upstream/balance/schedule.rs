//! Whose turn it is where weights differ: an order in which each peer comes as often as its weight says, spread
//! evenly. Knows weights alone.

/// The order of turns, as places in the list of peers: smooth weighted round-robin, one whole round of it.
pub(super) fn schedule(weights: &[u16]) -> Vec<u32> {
    let divisor = weights.iter().copied().fold(0, gcd).max(1);
    let weights: Vec<i64> = weights.iter().map(|weight| i64::from(weight / divisor)).collect();
    let total: i64 = weights.iter().sum();
    let mut credit = vec![0_i64; weights.len()];
    let mut order = Vec::with_capacity(usize::try_from(total).unwrap_or_default());
    for _ in 0..total {
        let mut best = 0;
        let mut most = i64::MIN;
        for (place, (credit, weight)) in credit.iter_mut().zip(&weights).enumerate() {
            *credit += weight;
            if *credit > most {
                (best, most) = (place, *credit);
            }
        }
        if let Some(credit) = credit.get_mut(best) {
            *credit -= total;
        }
        order.push(u32::try_from(best).unwrap_or(u32::MAX));
    }
    order
}

fn gcd(a: u16, b: u16) -> u16 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_spread_evenly() {
        let check = |weights: &[u16], expected: &[u32]| {
            assert_eq!(schedule(weights), expected, "{weights:?}");
        };
        check(&[], &[]);
        check(&[7, 7], &[0, 1]);
        check(&[2, 1], &[0, 1, 0]);
        check(&[4, 2], &[0, 1, 0]);
        check(&[5, 1, 1], &[0, 0, 1, 0, 2, 0, 0]);
    }
}

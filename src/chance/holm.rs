//! Several tests share one error rate (Holm 1979, "A simple sequentially rejective multiple test procedure").

/// By how much two probabilities that are computed on two machines may differ.
const TOLERANCE: f64 = 1e-12;

/// What one of several tests came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// The part of the error rate that it was held against.
    pub limit: f64,
    /// Whether it is at most that.
    pub is_red: bool,
}

/// Divides an error rate among tests by their p: the least is held against a `k`th, the next one against a `k - 1`th if that was red, and
/// so on; behind one that is not red none is. The result is in the order of the tests.
pub fn holm(alpha: f64, ps: &[f64]) -> Vec<Share> {
    let mut order: Vec<usize> = (0..ps.len()).collect();
    order.sort_by(|left, right| ps[*left].total_cmp(&ps[*right]));
    let mut shares = vec![
        Share {
            limit: alpha,
            is_red: false
        };
        ps.len()
    ];
    let mut is_open = true;
    for (rank, test) in order.into_iter().enumerate() {
        let limit = alpha / (ps.len() - rank) as f64;
        is_open = is_open && ps[test] <= limit + TOLERANCE;
        shares[test] = Share {
            limit,
            is_red: is_open,
        };
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::holm;

    fn red(ps: &[f64]) -> Vec<bool> {
        holm(0.05, ps).into_iter().map(|one| one.is_red).collect()
    }

    #[test]
    fn tests_behind_one_that_is_not_red_are_not_red() {
        assert_eq!(red(&[0.05]), [true]);
        assert_eq!(red(&[0.0501]), [false]);
        assert_eq!(red(&[0.025, 0.05]), [true, true]);
        assert_eq!(red(&[0.05, 0.03]), [false, false]);
        assert_eq!(red(&[0.04, 0.01, 0.02]), [true, true, true]);
        assert_eq!(red(&[0.04, 0.01, 0.03]), [false, true, false]);
        let limits: Vec<f64> = holm(0.06, &[0.5, 0.001, 0.02])
            .into_iter()
            .map(|one| one.limit)
            .collect();
        assert_eq!(limits, [0.06, 0.02, 0.03]);
    }
}

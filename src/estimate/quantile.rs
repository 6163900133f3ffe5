//! Quantiles of the normal and of Student's distribution.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// The 97.5 % quantile of the standard normal distribution.
pub const Z95: f64 = 1.959_963_984_540_054;

/// Ten decimal places of a number. `ln`, `exp` and `pow` differ in their last digits between systems and builds; what is computed from
/// ten places by the basic operations, which IEEE 754 defines exactly, has the same bytes everywhere.
pub fn ten_places(value: f64) -> f64 {
    (value * 1e10).round() / 1e10
}

/// The probability that a standard normal variable is below `value`, to ten places.
pub fn normal_below(value: f64) -> f64 {
    ten_places(Normal::standard().cdf(value))
}

fn student(degrees: usize) -> StudentsT {
    StudentsT::new(0.0, 1.0, degrees.max(1) as f64)
        .expect("the scale and the degrees of freedom are positive")
}

/// The quantile `share` of Student's distribution with this many degrees of freedom (at least 1), to ten places.
pub fn student_quantile(share: f64, degrees: usize) -> f64 {
    ten_places(student(degrees).inverse_cdf(share))
}

#[cfg(test)]
mod tests {
    use super::{Z95, normal_below, student_quantile};

    /// Computed with 30 digits by bisection of the regularized incomplete beta function.
    #[test]
    fn quantiles_equal_published_tables() {
        for (degrees, at_975, at_99, at_80) in [
            (1, 12.706_204_736_2, 31.820_515_953_8, 1.376_381_920_47),
            (4, 2.776_445_105_2, 3.746_947_387_98, 0.940_964_577_235),
            (9, 2.262_157_162_8, 2.821_437_925_03, 0.883_403_859_686),
            (19, 2.093_024_054_41, 2.539_483_190_62, 0.860_950_550_269),
            (30, 2.042_272_456_3, 2.457_261_542_4, 0.853_767_261_471),
        ] {
            for (share, expected) in [(0.975, at_975), (0.99, at_99), (0.8, at_80)] {
                let found = student_quantile(share, degrees);
                assert!(
                    (found - expected).abs() < 1e-8,
                    "{share} of {degrees}: {found}"
                );
            }
        }
        assert!((normal_below(Z95) - 0.975).abs() < 1e-10);
    }

    #[test]
    fn many_degrees_approach_the_normal_distribution() {
        for degrees in [10_000, 1_000_000] {
            assert!(
                (student_quantile(0.975, degrees) - Z95).abs() < 1e-3,
                "{degrees}"
            );
        }
    }
}

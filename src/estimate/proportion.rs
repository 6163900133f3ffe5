//! An interval of a share that is accurate for few cases and for shares of 0 and 1.

use super::FEWEST_CASES;
use super::quantile::Z95;

/// The interval of a share of independent cases, by Wilson; `None` for fewer than five cases.
pub fn share_interval(part: usize, whole: usize) -> Option<(f64, f64)> {
    if whole < FEWEST_CASES {
        None
    } else {
        wilson(part, whole)
    }
}

/// The 95 % score interval of the share `part` of `whole`; `None` if `whole` is 0.
///
/// Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927): the shares `p` for which the measured
/// share is within 1.96 of their own standard errors `sqrt(p (1 - p) / whole)`. Its ends stay in 0..1, and its width is never 0, even if
/// nothing or everything passed, unlike the textbook's `±1.96` standard errors.
pub(super) fn wilson(part: usize, whole: usize) -> Option<(f64, f64)> {
    if whole == 0 {
        return None;
    }
    let (count, share, square) = (whole as f64, part as f64 / whole as f64, Z95 * Z95);
    let middle = share + square / (2.0 * count);
    let reach = Z95 * (share * (1.0 - share) / count + square / (4.0 * count * count)).sqrt();
    let scale = 1.0 + square / count;
    // At the ends the two terms are equal, which rounding may hide.
    let low = if part == 0 {
        0.0
    } else {
        ((middle - reach) / scale).clamp(0.0, 1.0)
    };
    let high = if part == whole {
        1.0
    } else {
        ((middle + reach) / scale).clamp(0.0, 1.0)
    };
    Some((low, high))
}

#[cfg(test)]
mod tests {
    use super::{share_interval, wilson};
    use crate::estimate::quantile::Z95;

    /// The first four are those of Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in Medicine 17 (1998),
    /// table I, method 3; all were computed with 30 digits.
    #[test]
    fn intervals_equal_published_tables() {
        for (part, whole, low, high) in [
            (81, 263, 0.255_288_519_878, 0.366_209_576_983),
            (15, 148, 0.062_386_399_530_7, 0.160_487_241_723),
            (0, 20, 0.0, 0.161_125_158_053),
            (1, 29, 0.006_113_214_292_76, 0.171_755_218_793),
            (0, 1, 0.0, 0.793_450_685_623),
            (3, 3, 0.438_502_968_245, 1.0),
            (2, 3, 0.207_659_600_802, 0.938_508_055_28),
            (10, 10, 0.722_467_200_137, 1.0),
            (12, 20, 0.386_581_500_762, 0.781_193_467_627),
        ] {
            let (found_low, found_high) = wilson(part, whole).unwrap();
            assert!(
                (found_low - low).abs() < 1e-10,
                "{part} of {whole}: {found_low}"
            );
            assert!(
                (found_high - high).abs() < 1e-10,
                "{part} of {whole}: {found_high}"
            );
        }
        assert_eq!(wilson(0, 0), None);
    }

    #[test]
    fn fewer_than_five_cases_have_no_interval() {
        for whole in 0..=10 {
            for part in 0..=whole {
                assert_eq!(
                    share_interval(part, whole).is_some(),
                    whole >= 5,
                    "{part} of {whole}"
                );
            }
        }
        assert_eq!(share_interval(3, 9), wilson(3, 9));
    }

    /// The definition, for all shares of up to 60 cases: an end is the share whose own score is 1.96.
    #[test]
    fn the_ends_have_a_score_at_the_quantile() {
        for whole in 1..=60_usize {
            for part in 0..=whole {
                let (low, high) = wilson(part, whole).unwrap();
                let share = part as f64 / whole as f64;
                assert!(low <= share && share <= high, "{part} of {whole}");
                for end in [low, high]
                    .into_iter()
                    .filter(|end| (0.0 < *end) && (*end < 1.0))
                {
                    let score = (share - end).abs() / (end * (1.0 - end) / whole as f64).sqrt();
                    assert!((score - Z95).abs() < 1e-9, "{part} of {whole}: {score}");
                }
                let (other_low, other_high) = wilson(whole - part, whole).unwrap();
                assert!(
                    (low + other_high - 1.0).abs() < 1e-12
                        && (high + other_low - 1.0).abs() < 1e-12
                );
            }
        }
    }

    /// All outcomes for all numbers of cases, weighted by their exact probability.
    #[test]
    fn the_interval_has_about_its_nominal_coverage() {
        for whole in [5_usize, 10, 20, 40] {
            let mut held = 0.0;
            let truths: Vec<f64> = (1..200).map(|step| f64::from(step) / 200.0).collect();
            for truth in &truths {
                let mut probability = (1.0 - truth).powi(i32::try_from(whole).unwrap());
                for part in 0..=whole {
                    let (low, high) = wilson(part, whole).unwrap();
                    if low <= *truth && *truth <= high {
                        held += probability;
                    }
                    probability *=
                        (whole - part) as f64 / (part + 1) as f64 * truth / (1.0 - truth);
                }
            }
            let coverage = held / truths.len() as f64;
            assert!((0.945..0.965).contains(&coverage), "{whole}: {coverage}");
        }
    }
}

//! Where the true pass rate of an agent lies, by the samples of its cases.

use statrs::distribution::{Beta, ContinuousCDF};

use super::detection::FEWEST_CASES;

/// The passed and all samples of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaseCount {
    /// Those in which all checks pass.
    pub passed: usize,
    /// The completed ones.
    pub samples: usize,
}

/// The middle 90 % of what the mean pass rate of the agent's cases may be, each between 0 and 1. `None` for fewer than five cases.
///
/// The cases are taken as draws from a beta distribution, and the samples of a case as draws with its rate (beta-binomial; Skellam 1948). How
/// much the cases differ is estimated by moments (Kleinman 1973); with one sample a case they give no answer, and each case counts as one draw.
pub fn pass_rate_range(cases: &[CaseCount]) -> Option<(f64, f64)> {
    let measured: Vec<&CaseCount> = cases.iter().filter(|case| case.samples > 0).collect();
    if measured.len() < FEWEST_CASES {
        return None;
    }
    let passed: usize = measured.iter().map(|case| case.passed).sum();
    let samples: usize = measured.iter().map(|case| case.samples).sum();
    let count = measured.len() as f64;
    let (passed, samples) = (passed as f64, samples as f64);
    let mean = passed / samples;
    let of_case = samples / count;
    let correlation = if of_case > 1.0 {
        correlation(&measured, mean, of_case)
    } else {
        0.0
    };
    // What the samples of a case repeat of each other adds nothing.
    let effective = samples / (1.0 + (of_case - 1.0) * correlation);
    let (right, wrong) = (mean * effective + 0.5, (1.0 - mean) * effective + 0.5);
    let beta = Beta::new(right, wrong).ok()?;
    Some((quantile(&beta, 0.05), quantile(&beta, 0.95)))
}

fn quantile(beta: &Beta, share: f64) -> f64 {
    (beta.inverse_cdf(share) * 1e6).round() / 1e6
}

/// The correlation of two samples of a case, 0 to 1.
fn correlation(cases: &[&CaseCount], mean: f64, of_case: f64) -> f64 {
    let within = mean * (1.0 - mean);
    if within == 0.0 {
        return 1.0;
    }
    let squares: f64 = cases
        .iter()
        .map(|case| (case.passed as f64 / case.samples as f64 - mean).powi(2))
        .sum();
    let between = squares / (cases.len() as f64 - 1.0);
    let correlation = (between / within - 1.0 / of_case) / (1.0 - 1.0 / of_case);
    correlation.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::{CaseCount, pass_rate_range};

    fn range(passed: &[usize], samples: usize) -> Option<(u32, u32)> {
        let cases: Vec<CaseCount> = passed
            .iter()
            .map(|passed| CaseCount {
                passed: *passed,
                samples,
            })
            .collect();
        let percent = |share: f64| (share * 100.0).round() as u32;
        pass_rate_range(&cases).map(|(low, high)| (percent(low), percent(high)))
    }

    #[test]
    fn more_cases_and_more_samples_say_more() {
        assert_eq!(range(&[1; 4], 1), None);
        // Jeffreys' interval of 12 of 12.
        assert_eq!(range(&[1; 12], 1), Some((85, 100)));
        let alike = range(&[2, 2, 1, 2, 2, 1, 2, 2, 1, 2, 2, 1], 3).unwrap();
        let apart = range(&[3, 3, 0, 3, 3, 0, 3, 3, 0, 0, 2, 0], 3).unwrap();
        assert!(alike.1 - alike.0 < apart.1 - apart.0, "{alike:?} {apart:?}");
        // Cases that are always right or always wrong: further samples of them say nothing.
        assert_eq!(range(&[3, 3, 0, 3, 3, 0], 3), range(&[1, 1, 0, 1, 1, 0], 1));
    }
}

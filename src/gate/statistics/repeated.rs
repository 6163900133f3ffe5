//! Predicts the next run of an unchanged agent from repeated runs.

use super::quantile::{student_below, student_quantile, ten_places};
use crate::model::Better;

/// The values of one metric in at least two runs of an unchanged agent.
#[derive(Debug, Clone, PartialEq)]
pub struct RepeatedMetric {
    /// In ascending order.
    values: Vec<f64>,
    mean: f64,
    deviation: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ComparisonTarget {
    /// Another run of the same agent, such as the baseline.
    Run,
    Number(f64),
}

impl RepeatedMetric {
    /// The values of some runs; `None` for fewer than two, which have no spread.
    pub fn new(mut values: Vec<f64>) -> Option<Self> {
        let count = values.len();
        if count < 2 {
            return None;
        }
        values.sort_by(f64::total_cmp);
        let equal = values.first() == values.last();
        let mean = if equal {
            values[0]
        } else {
            values.iter().sum::<f64>() / count as f64
        };
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Self {
            mean,
            deviation: (squares / (count - 1) as f64).sqrt(),
            values,
        })
    }

    /// Number of runs.
    pub fn count(&self) -> usize {
        self.values.len()
    }

    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Their sample standard deviation.
    pub fn deviation(&self) -> f64 {
        self.deviation
    }

    /// The lowest and the highest value.
    pub fn range(&self) -> (f64, f64) {
        (self.values[0], self.values[self.values.len() - 1])
    }

    /// Whether any two values differ.
    pub fn vary(&self) -> bool {
        self.deviation > 0.0
    }

    /// The probability that the next run is between the lowest and the highest, for any distribution: `(runs - 1) / (runs + 1)` (Wilks,
    /// "Determination of sample sizes for setting tolerance limits", 1941).
    pub fn inside(&self) -> f64 {
        (self.count() - 1) as f64 / (self.count() + 1) as f64
    }

    /// The largest probability, at 95 % confidence, that the next run differs although all of these are equal: `1 - 0.05 ^ (1 / runs)`
    /// (Clopper and Pearson, 1934; about `3 / runs`).
    pub fn at_most_differs(&self) -> f64 {
        ten_places(1.0 - 0.05_f64.powf(1.0 / self.count() as f64))
    }

    /// The probability that the next run of the unchanged agent is worse than `against` by more than `tolerance`.
    ///
    /// The difference from another run, or from the mean of these, follows Student's distribution with `runs - 1` degrees of freedom in
    /// units of `deviation · sqrt(2)`, or `deviation · sqrt(1 + 1 / runs)`: the prediction of one further value in Hahn and Meeker,
    /// "Statistical Intervals" (1991), if the runs are about normal.
    pub fn false_alarms(&self, better: Better, against: ComparisonTarget, tolerance: f64) -> f64 {
        let room = self.room(better, against) + tolerance;
        if !self.vary() {
            return f64::from(u8::from(room < -crate::model::EPSILON));
        }
        student_below(-room / self.unit(against), self.count() - 1)
    }

    /// How often that happened among these runs: failed comparisons, and all comparisons.
    pub fn seen_alarms(
        &self,
        better: Better,
        against: ComparisonTarget,
        tolerance: f64,
    ) -> (usize, usize) {
        let worse = |value: f64, than: f64| {
            self.worse_by(better, value, than) > tolerance + crate::model::EPSILON
        };
        let count = self.count();
        match against {
            ComparisonTarget::Number(number) => (
                self.values
                    .iter()
                    .filter(|value| worse(**value, number))
                    .count(),
                count,
            ),
            ComparisonTarget::Run => {
                let pairs = self
                    .values
                    .iter()
                    .flat_map(|one| self.values.iter().map(move |other| (*one, *other)));
                (
                    pairs.filter(|(value, than)| worse(*value, *than)).count(),
                    count * (count - 1),
                )
            }
        }
    }

    /// The tolerance with which the next run fails with a probability of at most `rate`; never so small that one of these runs would have
    /// failed.
    pub fn tolerance(&self, better: Better, against: ComparisonTarget, rate: f64) -> f64 {
        let reach = student_quantile(1.0 - rate, self.count() - 1) * self.unit(against);
        let (low, high) = self.range();
        let seen = match against {
            ComparisonTarget::Run => high - low,
            ComparisonTarget::Number(number) => self
                .worse_by(better, low, number)
                .max(self.worse_by(better, high, number)),
        };
        (reach - self.room(better, against)).max(seen).max(0.0)
    }

    /// Margin of the mean over the value to compare with.
    fn room(&self, better: Better, against: ComparisonTarget) -> f64 {
        match against {
            ComparisonTarget::Run => 0.0,
            ComparisonTarget::Number(number) => -self.worse_by(better, self.mean, number),
        }
    }

    fn unit(&self, against: ComparisonTarget) -> f64 {
        match against {
            ComparisonTarget::Run => self.deviation * 2.0_f64.sqrt(),
            ComparisonTarget::Number(_) => {
                self.deviation * (1.0 + 1.0 / self.count() as f64).sqrt()
            }
        }
    }

    fn worse_by(&self, better: Better, value: f64, than: f64) -> f64 {
        match better {
            Better::Higher | Better::Neither => than - value,
            Better::Lower => value - than,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ComparisonTarget, RepeatedMetric};
    use crate::model::Better;

    fn runs(values: &[f64]) -> RepeatedMetric {
        RepeatedMetric::new(values.to_vec()).unwrap()
    }

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-8, "{found}, not {expected}");
    }

    /// The mean of 2, 4, 4, 4, 5, 5, 7, 9 is 5; the squared deviations sum to 32.
    #[test]
    fn mean_and_deviation_equal_the_textbook_example() {
        let runs = runs(&[9.0, 2.0, 4.0, 7.0, 4.0, 5.0, 4.0, 5.0]);
        near(runs.mean(), 5.0);
        near(runs.deviation(), (32.0_f64 / 7.0).sqrt());
        assert_eq!((runs.count(), runs.range()), (8, (2.0, 9.0)));
        near(runs.inside(), 7.0 / 9.0);
        assert_eq!(
            (
                RepeatedMetric::new(vec![0.5]),
                RepeatedMetric::new(Vec::new())
            ),
            (None, None)
        );
    }

    /// Five runs with the deviation 0.1: Student's 99 % quantile with four degrees of freedom is 3.74694738798.
    #[test]
    fn the_tolerance_uses_students_quantile() {
        let step = 0.1 / 2.5_f64.sqrt();
        let five = runs(&[-2.0, -1.0, 0.0, 1.0, 2.0].map(|offset| 0.8 + offset * step));
        near(five.deviation(), 0.1);
        let drop = five.tolerance(Better::Higher, ComparisonTarget::Run, 0.01);
        near(drop, 3.746_947_387_98 * 0.1 * 2.0_f64.sqrt());
        near(
            five.false_alarms(Better::Higher, ComparisonTarget::Run, drop),
            0.01,
        );
        near(
            five.false_alarms(Better::Lower, ComparisonTarget::Run, drop),
            0.01,
        );
        near(
            five.false_alarms(Better::Higher, ComparisonTarget::Run, 0.0),
            0.5,
        );
        let zone = five.tolerance(Better::Higher, ComparisonTarget::Number(0.75), 0.01);
        near(zone, 3.746_947_387_98 * 0.1 * 1.2_f64.sqrt() - 0.05);
        near(
            five.false_alarms(Better::Higher, ComparisonTarget::Number(0.75), zone),
            0.01,
        );
        // If lower is better, the same number is missed on the other side.
        near(
            five.tolerance(Better::Lower, ComparisonTarget::Number(0.85), 0.01),
            zone,
        );
        near(
            five.tolerance(Better::Higher, ComparisonTarget::Number(0.1), 0.01),
            0.0,
        );
    }

    /// A metric of the worst case: nine equal runs, one far below. Student's tolerance would be smaller than the observed difference.
    #[test]
    fn no_observed_run_fails_with_the_proposed_tolerance() {
        for values in [vec![1.0; 9], vec![0.9; 4], (0..30).map(|_| 0.9).collect()] {
            for better in [Better::Higher, Better::Lower] {
                for against in [
                    ComparisonTarget::Run,
                    ComparisonTarget::Number(0.8),
                    ComparisonTarget::Number(1.0),
                ] {
                    let mut values = values.clone();
                    values.push(0.2);
                    let runs = runs(&values);
                    let tolerance = runs.tolerance(better, against, 0.01);
                    assert_eq!(
                        runs.seen_alarms(better, against, tolerance).0,
                        0,
                        "{values:?} {against:?}"
                    );
                }
            }
        }
        assert_eq!(
            runs(&[0.2, 0.4, 0.4]).seen_alarms(Better::Higher, ComparisonTarget::Run, 0.1),
            (2, 6)
        );
        assert_eq!(
            runs(&[0.2, 0.4, 0.4]).seen_alarms(Better::Lower, ComparisonTarget::Number(0.3), 0.0),
            (2, 3)
        );
    }

    #[test]
    fn equal_runs_have_a_bound_on_the_next_difference() {
        let steady = runs(&[0.9; 10]);
        assert!(!steady.vary() && !runs(&[0.1 + 0.2; 3]).vary());
        near(steady.at_most_differs(), 0.258_865_550_9);
        near(
            steady.false_alarms(Better::Higher, ComparisonTarget::Number(0.9), 0.0),
            0.0,
        );
        near(
            steady.false_alarms(Better::Higher, ComparisonTarget::Number(0.95), 0.0),
            1.0,
        );
        near(
            steady.tolerance(Better::Higher, ComparisonTarget::Number(0.95), 0.01),
            0.05,
        );
    }

    /// Normal runs: a baseline and a further run of the same agent, with the tolerance from ten earlier runs.
    #[test]
    fn an_unchanged_agent_fails_at_most_at_the_requested_rate() {
        let mut random = fastrand::Rng::with_seed(17);
        let mut normal = move || (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
        for (rate, most) in [(0.05, 0.06), (0.01, 0.015)] {
            let (mut against_run, mut against_number) = (0, 0);
            for _ in 0..4000 {
                let seen = runs(&(0..10).map(|_| normal()).collect::<Vec<_>>());
                let (base, next) = (normal(), normal());
                let drop = seen.tolerance(Better::Higher, ComparisonTarget::Run, rate);
                against_run += u32::from(next < base - drop);
                let zone = seen.tolerance(Better::Higher, ComparisonTarget::Number(0.0), rate);
                against_number += u32::from(next < -zone);
            }
            for failed in [against_run, against_number] {
                let share = f64::from(failed) / 4000.0;
                assert!(share <= most, "{rate}: {share}");
                assert!(share >= rate / 10.0, "{rate}: {share}");
            }
        }
    }
}

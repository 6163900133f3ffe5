//! The smallest change that a set of cases can show.

use super::quantile::{Z95, student_quantile};
use crate::fold;
use crate::model::{Aggregate, MetricSpec, Unit};

/// The share of runs with such a change in which it is detected.
const POWER: f64 = 0.8;

/// The smallest detectable change of an average over these cases: detected with 95 % confidence in 80 % of the runs that have it.
///
/// `(t(97.5 %) + t(80 %)) · deviation / sqrt(cases)` with `cases - 1` degrees of freedom, the minimum detectable difference of Zar,
/// "Biostatistical Analysis", chapter 7. The deviation is that of the cases' values; for shares of cases that passed it is `sqrt(p (1 -
/// p))` with `p = (passed + z²/2) / (cases + z²)`, the share of Agresti and Coull, "Approximate is better than exact", American
/// Statistician 52 (1998), so that a suite in which every case passes does not claim to detect everything.
///
/// `None` if the metric is not an average, if there are fewer than two cases, if all cases are equal, and if a share would have to change
/// by more than 1.
pub fn detectable(spec: &MetricSpec, values: &[f64]) -> Option<f64> {
    let mean = fold::mean(values).filter(|_| values.len() > 1)?;
    let count = values.len() as f64;
    let deviation = match spec.aggregate {
        Aggregate::Mean => {
            let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
            (squares / (count - 1.0)).sqrt()
        }
        Aggregate::Rate => {
            let square = Z95 * Z95;
            let share = (mean * count + square / 2.0) / (count + square);
            (share * (1.0 - share)).sqrt()
        }
        Aggregate::Worst
        | Aggregate::Sum
        | Aggregate::Median
        | Aggregate::P95
        | Aggregate::Harmonic(..)
        | Aggregate::Coverage
        | Aggregate::NewlyFailing => {
            return None;
        }
    };
    let degrees = values.len() - 1;
    let factor = student_quantile(0.975, degrees) + student_quantile(POWER, degrees);
    let change = factor * deviation / count.sqrt();
    (change > 0.0 && (spec.unit != Unit::Share || change <= 1.0)).then_some(change)
}

#[cfg(test)]
mod tests {
    use super::detectable;
    use crate::estimate::quantile::student_quantile;
    use crate::model::{Aggregate, MetricSpec, Unit};

    const MEAN: MetricSpec = MetricSpec {
        name: "m",
        ..MetricSpec::PLAIN
    };

    /// Computed with 30 digits.
    #[test]
    fn the_detectable_change_follows_the_formula() {
        // The deviation of 0, 1, 0, 1 is 1/sqrt(3): four such cases cannot show a change that a share can have.
        let points = MetricSpec {
            unit: Unit::Points,
            ..MEAN
        };
        let few = detectable(&points, &[0.0, 1.0, 0.0, 1.0]).unwrap();
        assert!((few - 1.201_153_741_99).abs() < 1e-8, "{few}");
        assert_eq!(detectable(&MEAN, &[0.0, 1.0, 0.0, 1.0]), None);
        let many = detectable(&MEAN, &[0.0, 1.0].repeat(200)).unwrap();
        assert!((many - 0.070_299_186_764_6).abs() < 1e-8, "{many}");
        for (passed, expected) in [(20, 0.179_770_955_868), (12, 0.325_583_008_531)] {
            let values: Vec<f64> = (0..20)
                .map(|index| f64::from(u8::from(index < passed)))
                .collect();
            let found = detectable(&MetricSpec::RATE, &values).unwrap();
            assert!((found - expected).abs() < 1e-8, "{passed}: {found}");
        }
    }

    #[test]
    fn some_metrics_have_no_detectable_change() {
        for spec in [
            Aggregate::Worst,
            Aggregate::Sum,
            Aggregate::Harmonic("a", "b"),
        ] {
            assert_eq!(
                detectable(
                    &MetricSpec {
                        aggregate: spec,
                        ..MEAN
                    },
                    &[0.1; 30]
                ),
                None
            );
        }
        assert_eq!(detectable(&MEAN, &[1.0; 9]), None);
        assert_eq!(
            (detectable(&MEAN, &[1.0]), detectable(&MEAN, &[])),
            (None, None)
        );
        assert_eq!(detectable(&MetricSpec::RATE, &[1.0]), None);
    }

    /// Normal cases with exactly the detectable change, each resample tested with Student's test.
    #[test]
    fn a_detectable_change_is_seen_in_four_of_five_runs() {
        let mut random = fastrand::Rng::with_seed(11);
        let mut normal = move || (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
        for count in [8_usize, 20, 50] {
            let change = (student_quantile(0.975, count - 1) + student_quantile(0.8, count - 1))
                / (count as f64).sqrt();
            let mut seen = 0;
            for _ in 0..4000 {
                let values: Vec<f64> = (0..count).map(|_| change + normal()).collect();
                let mean = values.iter().sum::<f64>() / count as f64;
                let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
                let error = (squares / (count - 1) as f64 / count as f64).sqrt();
                seen += usize::from(mean / error > student_quantile(0.975, count - 1));
            }
            let share = seen as f64 / 4000.0;
            assert!((0.77..0.85).contains(&share), "{count}: {share}");
        }
    }
}

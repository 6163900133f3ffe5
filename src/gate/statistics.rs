//! How much of a difference may be noise, and how small a difference can be seen. It informs, it decides nothing.

use crate::fold;
use crate::model::Aggregate;
use crate::model::MetricSpec;

/// The same cases, measured twice: one row a case, one column a metric.
pub struct Paired<'a> {
    /// The metrics.
    pub specs: &'a [MetricSpec],
    /// This run's values.
    pub now: &'a [Vec<Option<f64>>],
    /// The baseline's values, row for row.
    pub before: &'a [Vec<Option<f64>>],
}

/// Cells that are looked at in all; it bounds the work for large suites.
const WORK: usize = 4_000_000;

/// A 95 % interval of each metric's difference, by drawing cases with replacement (percentiles, fixed seed).
///
/// `None` for an extreme, such as the worst case: drawing cases says nothing about it. `None` for a metric without a value on either side, and for fewer than two cases: nothing can be drawn then.
pub fn intervals(paired: &Paired<'_>) -> Vec<Option<(f64, f64)>> {
    let rows = paired.now.len();
    let columns = paired.specs.len();
    if rows < 2 {
        return vec![None; columns];
    }
    if paired.now == paired.before {
        // Every drawing of equal pairs has the same difference.
        let measured = difference(paired, &(0..rows).collect::<Vec<_>>()).into_iter().zip(paired.specs);
        return measured.map(|(one, spec)| one.filter(|_| is_average(spec)).map(|_| (0.0, 0.0))).collect();
    }
    let rounds = rounds(rows, columns);
    let mut random = fastrand::Rng::with_seed(0x676f_6c64);
    let mut drawn: Vec<Vec<f64>> = vec![Vec::with_capacity(rounds); columns];
    let mut rows_drawn = vec![0; rows];
    for _ in 0..rounds {
        rows_drawn.fill_with(|| random.usize(0..rows));
        for (column, value) in difference(paired, &rows_drawn).into_iter().enumerate() {
            drawn[column].extend(value);
        }
    }
    let shown = paired.specs.iter().zip(drawn);
    shown.map(|(spec, values)| if is_average(spec) { percentiles(values) } else { None }).collect()
}

/// How often is drawn: often for small tables, less for large ones, and never too rarely for a percentile.
fn rounds(rows: usize, columns: usize) -> usize {
    (WORK / (rows * columns).max(1)).clamp(200, 2000)
}

fn is_average(spec: &MetricSpec) -> bool {
    match spec.aggregate {
        Aggregate::Mean | Aggregate::Rate => true,
        Aggregate::Worst | Aggregate::Sum | Aggregate::Harmonic(..) => false,
    }
}

fn difference(paired: &Paired<'_>, rows: &[usize]) -> Vec<Option<f64>> {
    let fold =
        |side: &[Vec<Option<f64>>]| fold::aggregates(paired.specs, rows.len(), |row, column| side[rows[row]][column]);
    let pairs = fold(paired.now).into_iter().zip(fold(paired.before));
    pairs.map(|(now, before)| Some(now? - before?)).collect()
}

/// The smallest change of an average over these cases that stands out of its noise: (1.96 + 0.84) standard errors of the mean,
/// which is seen with 95 % confidence in 80 % of the runs that have it.
///
/// `None` for what is no average, for fewer than two cases, and where no case differs from another.
pub fn detectable(spec: &MetricSpec, values: &[f64]) -> Option<f64> {
    let mean = fold::mean(values).filter(|_| is_average(spec) && values.len() > 1)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let count = values.len() as f64;
    let deviation = (squares / (count - 1.0)).sqrt();
    (deviation > 0.0).then(|| (1.96 + 0.84) * deviation / count.sqrt())
}

fn percentiles(mut values: Vec<f64>) -> Option<(f64, f64)> {
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    let at = |share: f64| values[((share * last as f64).round() as usize).min(last)];
    Some((at(0.025), at(0.975)))
}

#[cfg(test)]
mod tests {
    use super::Paired;
    use super::detectable;
    use super::intervals;
    use super::rounds;
    use crate::model::Aggregate;
    use crate::model::MetricSpec;

    const SPECS: &[MetricSpec] = &[MetricSpec { name: "m", ..MetricSpec::PLAIN }];

    fn interval(now: &[f64], before: &[f64]) -> Option<(f64, f64)> {
        let rows = |side: &[f64]| side.iter().map(|value| vec![Some(*value)]).collect::<Vec<_>>();
        intervals(&Paired { specs: SPECS, now: &rows(now), before: &rows(before) })[0]
    }

    #[test]
    fn an_interval_holds_the_mean_difference_and_is_the_same_twice() {
        let (now, before) = ([0.9, 0.7, 0.8, 0.2, 0.6], [0.8, 0.8, 0.7, 0.6, 0.6]);
        let (low, high) = interval(&now, &before).unwrap();
        assert!(low < -0.06 && -0.06 < high, "{low} {high}");
        assert_eq!(interval(&now, &before), Some((low, high)));
    }

    #[test]
    fn the_same_values_differ_by_nothing() {
        assert_eq!(interval(&[0.5, 0.7], &[0.5, 0.7]), Some((0.0, 0.0)));
        assert_eq!(
            interval(&[0.6, 0.8], &[0.5, 0.7])
                .map(|(low, high)| (low * 10.0, high * 10.0))
                .map(|(low, high)| (low.round(), high.round())),
            Some((1.0, 1.0))
        );
    }

    #[test]
    fn the_detectable_change_shrinks_with_the_root_of_the_cases() {
        // The deviation of 0, 1, 0, 1 is 1/sqrt(3), its standard error half of that.
        let few = detectable(&SPECS[0], &[0.0, 1.0, 0.0, 1.0]).unwrap();
        assert!((few - 2.8 / 12_f64.sqrt()).abs() < 1e-12, "{few}");
        let many = detectable(&SPECS[0], &[0.0, 1.0].repeat(200)).unwrap();
        assert!((many - 2.8 * (100.0 / 399.0_f64).sqrt() / 20.0).abs() < 1e-12, "{many}");
        let worst = MetricSpec { aggregate: Aggregate::Worst, ..SPECS[0] };
        assert_eq!(detectable(&worst, &[0.0, 1.0]), None);
        assert_eq!(detectable(&SPECS[0], &[1.0, 1.0]), None);
        assert_eq!((detectable(&SPECS[0], &[1.0]), detectable(&SPECS[0], &[])), (None, None));
        assert!(detectable(&SPECS[0], &[0.0, 1.0]).is_some());
    }

    #[test]
    fn large_tables_are_drawn_from_less_often() {
        for (rows, columns, wanted) in
            [(0, 0, 2000), (2, 10, 2000), (200, 10, 2000), (400, 10, 1000), (1_000, 10, 400), (90_000, 10, 200)]
        {
            assert_eq!(rounds(rows, columns), wanted, "{rows} x {columns}");
        }
    }

    #[test]
    fn an_extreme_has_no_interval() {
        let specs = [MetricSpec { name: "w", aggregate: Aggregate::Worst, ..MetricSpec::PLAIN }];
        let rows = |values: [f64; 2]| values.map(|value| vec![Some(value)]).to_vec();
        for now in [[0.5, 0.7], [0.1, 0.9]] {
            let paired = Paired { specs: &specs, now: &rows(now), before: &rows([0.5, 0.7]) };
            assert_eq!(intervals(&paired), [None]);
        }
    }

    #[test]
    fn one_case_cannot_be_drawn_from() {
        assert_eq!(interval(&[0.5], &[0.1]), None);
        assert_eq!(interval(&[], &[]), None);
    }
}

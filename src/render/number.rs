//! Numbers and differences as people read them.

use crate::model::{
    Better, Comparison, MetricReport, Unit, fixed_places, grouped, hundredths, metric_value,
};

/// A difference with its sign: `−12.5 pp` for shares, `=` where it rounds to zero, a dash where it is unknown.
pub fn delta(unit: Unit, delta: Option<f64>) -> String {
    let Some(delta) = delta.filter(|delta| delta.is_finite()) else {
        return "–".to_owned();
    };
    let (size, suffix) = match unit {
        Unit::Share => (hundredths(delta.abs()), " pp"),
        Unit::Count if delta.fract() == 0.0 && delta.abs() < 1e15 => {
            (grouped(&fixed_places(delta.abs(), 0)), "")
        }
        Unit::Count | Unit::Points => (fixed_places(delta.abs(), 1), ""),
        Unit::Spread | Unit::Dollars => (fixed_places(delta.abs(), 4), ""),
    };
    if size.chars().all(|char| matches!(char, '0' | '.')) {
        return "=".to_owned();
    }
    format!("{}{size}{suffix}", if delta < 0.0 { "−" } else { "+" })
}

/// The change of a metric since the baseline, as [`delta`] renders it. Two values that read the same have not changed.
pub fn change(metric: &MetricReport) -> String {
    delta(metric.unit, readable_change(metric))
}

/// Whether a metric is better, worse or neither since the baseline, as [`change`] renders it.
pub fn direction_of(metric: &MetricReport) -> ValueDirection {
    direction(metric.better, metric.unit, readable_change(metric))
}

/// The change, or zero if both values read the same.
fn readable_change(metric: &MetricReport) -> Option<f64> {
    let Comparison {
        baseline, delta, ..
    } = metric.comparison;
    match (baseline, delta) {
        (Some(baseline), Some(delta)) if read_the_same(metric.unit, baseline, baseline + delta) => {
            Some(0.0)
        }
        (_, delta) => delta,
    }
}

fn read_the_same(unit: Unit, left: f64, right: f64) -> bool {
    metric_value(unit, Some(left)) == metric_value(unit, Some(right))
}

/// A time: whole milliseconds below one second, else seconds with one decimal place.
pub fn duration(milliseconds: u64) -> String {
    match milliseconds {
        ..1_000 => format!("{milliseconds} ms"),
        _ => format!(
            "{}.{} s",
            grouped(&(milliseconds / 1_000).to_string()),
            milliseconds % 1_000 / 100
        ),
    }
}

/// Whether a difference, as [`delta`] rounds it, is better, worse or neither.
pub fn direction(better: Better, unit: Unit, change: Option<f64>) -> ValueDirection {
    let rendered = delta(unit, change);
    match (better, rendered.starts_with('+'), rendered.starts_with('−')) {
        (Better::Higher, true, _) | (Better::Lower, _, true) => ValueDirection::Better,
        (Better::Higher, _, true) | (Better::Lower, true, _) => ValueDirection::Worse,
        (Better::Neither, true, _) | (Better::Neither, _, true) => ValueDirection::Other,
        (Better::Higher | Better::Lower | Better::Neither, false, false) => ValueDirection::Same,
    }
}

/// In which direction a value moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueDirection {
    Better,
    Worse,
    /// Moved, but neither direction is better.
    Other,
    /// Unchanged after rounding.
    Same,
}

/// A probability in percent, with as many digits as tell it from the limit.
pub fn p_in_percent(p: f64, limit: f64) -> String {
    let first = if p >= 0.1 { 0 } else { 1 };
    let places = (first..6)
        .find(|places| p == limit || percent(p, *places) != percent(limit, *places))
        .unwrap_or(6);
    if p > 0.0 && percent(p, places).parse::<f64>() == Ok(0.0) {
        return "<0.1%".to_owned();
    }
    format!("{}%", percent(p, places))
}

fn percent(share: f64, places: usize) -> String {
    format!("{:.places$}", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::{ValueDirection, delta, direction, duration, read_the_same};
    use crate::model::{Better, Unit, metric_value};

    #[test]
    fn numbers_have_one_format() {
        assert_eq!(metric_value(Unit::Share, Some(0.1 + 0.19)), "29%");
        assert_eq!(metric_value(Unit::Share, Some(-0.000_01)), "0%");
        assert_eq!(metric_value(Unit::Share, None), "–");
        assert_eq!(metric_value(Unit::Share, Some(f64::NAN)), "–");
        assert_eq!(
            (
                metric_value(Unit::Count, Some(31.0)),
                metric_value(Unit::Count, Some(31.5))
            ),
            ("31".to_owned(), "31.5".to_owned())
        );
        assert_eq!(metric_value(Unit::Share, Some(0.875)), "87.5%");
        let counts =
            [999.0, 1_000.0, -1_234_567.0].map(|count| metric_value(Unit::Count, Some(count)));
        assert_eq!(counts, ["999", "1,000", "−1,234,567"]);
        assert_eq!(
            (
                delta(Unit::Share, Some(-0.125)),
                delta(Unit::Share, Some(-0.05))
            ),
            ("−12.5 pp".to_owned(), "−5 pp".to_owned())
        );
        assert_eq!(delta(Unit::Count, Some(1_500.0)), "+1,500");
        assert_eq!(
            [0, 999, 1_000, 1_299, 61_000].map(duration),
            ["0 ms", "999 ms", "1.0 s", "1.2 s", "61.0 s"]
        );
        assert_eq!(delta(Unit::Share, Some(0.000_4)), "=");
        assert_eq!(delta(Unit::Count, Some(-3.0)), "−3");
        assert_eq!(delta(Unit::Points, Some(0.25)), "+0.2");
        assert_eq!(
            (
                metric_value(Unit::Spread, Some(0.0107)),
                delta(Unit::Spread, Some(-0.00004))
            ),
            ("0.0107".to_owned(), "=".to_owned())
        );
    }

    #[test]
    fn values_that_read_the_same_have_not_changed() {
        // Their difference alone rounds to 0.1 pp.
        assert!(
            read_the_same(Unit::Share, 0.825_4, 0.824_6)
                && delta(Unit::Share, Some(-0.000_8)) != "="
        );
        assert!(!read_the_same(Unit::Share, 0.825, 0.824));
    }

    #[test]
    fn the_metric_says_which_direction_is_better() {
        let of = |better, change| direction(better, Unit::Share, Some(change));
        assert_eq!(
            (of(Better::Higher, 0.1), of(Better::Lower, 0.1)),
            (ValueDirection::Better, ValueDirection::Worse)
        );
        assert_eq!(
            (of(Better::Higher, -0.1), of(Better::Lower, -0.1)),
            (ValueDirection::Worse, ValueDirection::Better)
        );
        assert_eq!(
            (of(Better::Neither, 0.1), of(Better::Higher, 0.000_1)),
            (ValueDirection::Other, ValueDirection::Same)
        );
    }
}

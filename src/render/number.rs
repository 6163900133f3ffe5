//! Numbers and differences as people read them.

use crate::model::{Better, Unit, fixed_places};

/// A difference: in percentage points for shares, with a sign; `=` where it shows as nothing.
pub fn delta(unit: Unit, delta: Option<f64>) -> String {
    let Some(delta) = delta.filter(|delta| delta.is_finite()) else { return "–".to_owned() };
    let (scaled, places, suffix) = match unit {
        Unit::Share => (delta * 100.0, 1, " pp"),
        Unit::Count if delta.fract() == 0.0 => (delta, 0, ""),
        Unit::Count | Unit::Points => (delta, 1, ""),
        Unit::Spread => (delta, 4, ""),
    };
    let shown = fixed_places(scaled.abs(), places);
    if shown.chars().all(|char| matches!(char, '0' | '.')) {
        return "=".to_owned();
    }
    format!("{}{shown}{suffix}", if scaled < 0.0 { "−" } else { "+" })
}

/// Whether a difference is good, bad or neither, as it shows.
pub fn direction(better: Better, unit: Unit, change: Option<f64>) -> ValueDirection {
    let shown = delta(unit, change);
    match (better, shown.starts_with('+'), shown.starts_with('−')) {
        (Better::Higher, true, _) | (Better::Lower, _, true) => ValueDirection::Better,
        (Better::Higher, _, true) | (Better::Lower, true, _) => ValueDirection::Worse,
        (Better::Neither, true, _) | (Better::Neither, _, true) => ValueDirection::Other,
        (Better::Higher | Better::Lower | Better::Neither, false, false) => ValueDirection::Same,
    }
}

/// In which direction a value moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueDirection {
    /// For the better.
    Better,
    /// For the worse.
    Worse,
    /// It moved, which is neither.
    Other,
    /// It did not move as far as it shows.
    Same,
}

#[cfg(test)]
mod tests {
    use super::{ValueDirection, delta, direction};
    use crate::model::{Better, Unit, metric_value};

    #[test]
    fn numbers_are_short_and_never_odd() {
        assert_eq!(metric_value(Unit::Share, Some(0.1 + 0.19)), "29.0 %");
        assert_eq!(metric_value(Unit::Share, Some(-0.000_01)), "0.0 %");
        assert_eq!(metric_value(Unit::Share, None), "–");
        assert_eq!(metric_value(Unit::Share, Some(f64::NAN)), "–");
        assert_eq!(
            (metric_value(Unit::Count, Some(31.0)), metric_value(Unit::Count, Some(31.5))),
            ("31".to_owned(), "31.5".to_owned())
        );
        assert_eq!(delta(Unit::Share, Some(-0.05)), "−5.0 pp");
        assert_eq!(delta(Unit::Share, Some(0.000_4)), "=");
        assert_eq!(delta(Unit::Count, Some(-3.0)), "−3");
        assert_eq!(delta(Unit::Points, Some(0.25)), "+0.2");
        assert_eq!(
            (metric_value(Unit::Spread, Some(0.0107)), delta(Unit::Spread, Some(-0.00004))),
            ("0.0107".to_owned(), "=".to_owned())
        );
    }

    #[test]
    fn a_direction_is_the_metrics_own() {
        let of = |better, change| direction(better, Unit::Share, Some(change));
        assert_eq!((of(Better::Higher, 0.1), of(Better::Lower, 0.1)), (ValueDirection::Better, ValueDirection::Worse));
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

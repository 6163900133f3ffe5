//! Numbers as people read them: the same number of digits everywhere, never `-0.0`, never `NaN`.

use super::metric::Unit;

/// A value of a metric: shares in percent with one digit, counts and points plain; a dash for nothing.
pub fn metric_value(unit: Unit, value: Option<f64>) -> String {
    match (unit, value.filter(|value| value.is_finite())) {
        (_, None) => "–".to_owned(),
        (Unit::Share, Some(value)) => format!("{} %", fixed_places(value * 100.0, 1)),
        (Unit::Count, Some(value)) if value.fract() == 0.0 => fixed_places(value, 0),
        (Unit::Count | Unit::Points, Some(value)) => fixed_places(value, 1),
        (Unit::Spread, Some(value)) => fixed_places(value, 4),
    }
}

/// A number with a fixed number of decimal places and no negative zero.
pub fn fixed_places(value: f64, places: usize) -> String {
    let shown = format!("{value:.places$}");
    match shown.strip_prefix('-') {
        Some(rest) if rest.chars().all(|char| matches!(char, '0' | '.')) => rest.to_owned(),
        Some(rest) => format!("−{rest}"),
        None => shown,
    }
}

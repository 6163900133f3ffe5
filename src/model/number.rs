//! Numbers as people read them: `87.5%`, `100%`, `1,000`; never `-0.0`, never `NaN`.

use super::metric::Unit;

/// A metric's value. Shares are in percent with at most one decimal place. A missing or infinite value is a dash.
pub fn metric_value(unit: Unit, value: Option<f64>) -> String {
    match (unit, value.filter(|value| value.is_finite())) {
        (_, None) => "–".to_owned(),
        (_, Some(value)) if value.abs() >= SCIENTIFIC => scientific(value),
        (Unit::Share, Some(value)) => format!("{}%", hundredths(value)),
        (Unit::Count, Some(value)) if value.fract() == 0.0 => grouped(&fixed_places(value, 0)),
        (Unit::Count | Unit::Points, Some(value)) => fixed_places(value, 1),
        (Unit::Spread | Unit::Dollars, Some(value)) => fixed_places(value, 4),
    }
}

/// From here on, a number has more digits than anybody reads.
const SCIENTIFIC: f64 = 1e15;

/// A number in scientific notation: `1.5e300`.
fn scientific(value: f64) -> String {
    let rendered = format!("{value:e}");
    match rendered.strip_prefix('-') {
        Some(rest) => format!("−{rest}"),
        None => rendered,
    }
}

/// A share in hundredths, with at most one decimal place: `87.5`, `100`.
pub fn hundredths(share: f64) -> String {
    let tenths = fixed_places(share * 100.0, 1);
    tenths.strip_suffix(".0").unwrap_or(&tenths).to_owned()
}

/// Whole digits with a comma between each group of three: `1,000`.
pub fn grouped(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() * 2);
    for (index, char) in digits.chars().enumerate() {
        let left = digits.chars().count() - index;
        if left.is_multiple_of(3) && out.ends_with(|last: char| last.is_ascii_digit()) {
            out.push(',');
        }
        out.push(char);
    }
    out
}

/// A number with a fixed number of decimal places and no negative zero.
pub fn fixed_places(value: f64, places: usize) -> String {
    if value.abs() >= SCIENTIFIC {
        return scientific(value);
    }
    let rendered = format!("{value:.places$}");
    match rendered.strip_prefix('-') {
        Some(rest) if rest.chars().all(|char| matches!(char, '0' | '.')) => rest.to_owned(),
        Some(rest) => format!("−{rest}"),
        None => rendered,
    }
}

/// A limit with at least two decimal places: `0.80`.
pub fn at_least_two_places(number: f64) -> String {
    let short = format!("{number:.2}");
    if short.parse::<f64>() == Ok(number) {
        short
    } else {
        number.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::{at_least_two_places, fixed_places, metric_value};
    use crate::model::Unit;

    #[test]
    fn a_number_that_nobody_reads_is_written_in_scientific_notation() {
        for unit in [Unit::Count, Unit::Points, Unit::Dollars, Unit::Share] {
            assert_eq!(metric_value(unit, Some(1e300)), "1e300");
            assert_eq!(metric_value(unit, Some(-1.5e20)), "−1.5e20");
        }
        assert_eq!(fixed_places(2e15, 4), "2e15");
        assert_eq!(metric_value(Unit::Count, Some(1e14)), "100,000,000,000,000");
    }

    #[test]
    fn a_limit_has_at_least_two_decimal_places() {
        for (number, text) in [
            (0.8, "0.80"),
            (0.75, "0.75"),
            (0.125, "0.125"),
            (1.0, "1.00"),
            (12.0, "12.00"),
        ] {
            assert_eq!(at_least_two_places(number), text);
        }
    }
}

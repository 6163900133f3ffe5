//! Values as a line of small bars.

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Where nothing was measured.
const GAP: char = '·';

/// One bar for each value, from the lowest to the highest of them. Equal values are bars of half the height.
pub fn sparkline(values: &[Option<f64>]) -> String {
    let known = || {
        values
            .iter()
            .flatten()
            .copied()
            .filter(|value| value.is_finite())
    };
    let (low, high) = (
        known().fold(f64::INFINITY, f64::min),
        known().fold(f64::NEG_INFINITY, f64::max),
    );
    let bar = |value: f64| match high > low {
        true => BARS[(((value - low) / (high - low) * 7.0).round() as usize).min(7)],
        false => BARS[3],
    };
    values
        .iter()
        .map(|value| value.filter(|value| value.is_finite()).map_or(GAP, bar))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::sparkline;

    #[test]
    fn the_lowest_and_the_highest_value_are_the_ends() {
        assert_eq!(sparkline(&[Some(0.0), Some(0.5), Some(1.0)]), "▁▅█");
        assert_eq!(sparkline(&[Some(0.9), None, Some(0.91)]), "▁·█");
        assert_eq!(sparkline(&[Some(3.0), Some(3.0)]), "▄▄");
        assert_eq!(sparkline(&[Some(f64::NAN), None]), "··");
        assert_eq!(sparkline(&[]), "");
    }
}

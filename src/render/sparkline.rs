//! Values as a line of small bars.

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Where nothing was measured.
const GAP: char = '·';

/// One bar for each value, from the lowest to the highest of them. Equal values are bars of half the height.
pub fn sparkline(values: &[Option<f64>]) -> String {
    let known = values.iter().flatten().copied();
    let known = known.filter(|value| value.is_finite());
    let (low, high) = (
        known.clone().fold(f64::INFINITY, f64::min),
        known.fold(f64::NEG_INFINITY, f64::max),
    );
    let mut line = String::new();
    for value in values {
        line.push(match value.filter(|value| value.is_finite()) {
            None => GAP,
            Some(value) if high > low => {
                BARS[(((value - low) / (high - low) * 7.0).round() as usize).min(7)]
            }
            Some(_) => BARS[3],
        });
    }
    line
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

//! How often the rules of the policy `regression` see a loss: a table that was simulated, interpolated.

/// The pass rates of the table's agents: their cases differ, Beta of strength 19.
const RATES: [f64; 4] = [0.70, 0.85, 0.95, 0.99];
/// The numbers of samples of a case, in baseline and run alike.
const SAMPLES: [f64; 4] = [1.0, 3.0, 5.0, 10.0];
/// The numbers of cases.
const CASES: [f64; 6] = [5.0, 12.0, 20.0, 40.0, 100.0, 200.0];

/// The fewest cases of which a rate is stated.
pub const FEWEST_CASES: usize = 5;

/// By pass rate, samples and cases: in how many of 100 runs a loss of 10 points in every case is seen, and one lost case. Simulated in 4,000
/// rounds each (`tests/it/rates.rs`).
const TABLE: [[[(u8, u8); 6]; 4]; 4] = [
    [
        [(5, 71), (9, 71), (15, 71), (26, 71), (47, 72), (73, 72)],
        [(15, 44), (23, 42), (33, 42), (51, 42), (83, 42), (98, 40)],
        [(18, 37), (32, 32), (45, 30), (70, 29), (96, 26), (100, 26)],
        [(27, 46), (51, 30), (69, 23), (93, 18), (100, 15), (100, 14)],
    ],
    [
        [(2, 85), (8, 85), (16, 86), (28, 86), (58, 86), (82, 86)],
        [(15, 69), (25, 67), (39, 66), (64, 66), (94, 66), (100, 65)],
        [(20, 65), (38, 58), (55, 57), (82, 54), (99, 52), (100, 52)],
        [(33, 77), (62, 56), (82, 49), (98, 40), (100, 36), (100, 34)],
    ],
    [
        [(0, 95), (6, 95), (16, 95), (39, 95), (80, 95), (97, 95)],
        [(13, 90), (38, 89), (57, 88), (86, 88), (100, 87), (100, 87)],
        [(24, 91), (56, 87), (79, 85), (97, 83), (100, 82), (100, 81)],
        [
            (51, 98),
            (85, 90),
            (96, 85),
            (100, 78),
            (100, 72),
            (100, 71),
        ],
    ],
    [
        [(0, 99), (3, 99), (14, 99), (52, 99), (95, 99), (100, 99)],
        [(11, 98), (48, 98), (78, 98), (98, 98), (100, 97), (100, 97)],
        [
            (24, 99),
            (78, 99),
            (95, 98),
            (100, 97),
            (100, 97),
            (100, 96),
        ],
        [
            (68, 100),
            (98, 100),
            (100, 100),
            (100, 99),
            (100, 96),
            (100, 95),
        ],
    ],
];

/// How often the rules see a loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Detection {
    /// The share of runs in which a loss of 10 points in every case is seen.
    pub spread: f64,
    /// The share of runs in which one lost case is seen.
    pub lost: f64,
}

/// How often the rules see a loss with these numbers of cases and samples, at a pass rate: from the table, interpolated, to 5 points. Beyond
/// the table its border is meant. `None` for fewer than five cases.
pub fn detection(cases: usize, samples: usize, rate: f64) -> Option<Detection> {
    if cases < FEWEST_CASES {
        return None;
    }
    let rate = place(&RATES, rate);
    let samples = place(&SAMPLES, samples as f64);
    let cases = place(&CASES, cases as f64);
    let (mut spread, mut lost) = (0.0, 0.0);
    for (rate, of_rate) in rate.ends() {
        for (sample, of_sample) in samples.ends() {
            for (case, of_case) in cases.ends() {
                let (cell_spread, cell_lost) = TABLE[rate][sample][case];
                let weight = of_rate * of_sample * of_case;
                spread += weight * f64::from(cell_spread);
                lost += weight * f64::from(cell_lost);
            }
        }
    }
    Some(Detection {
        spread: to_five_points(spread),
        lost: to_five_points(lost),
    })
}

/// A percentage as a share, rounded to 5 points.
fn to_five_points(percent: f64) -> f64 {
    (percent / 5.0).round() * 0.05
}

/// The least number of samples of a case, of those in the table, with which a loss of 10 points in every case is seen in nine of ten runs.
/// `None` if ten are not enough.
pub fn samples_to_see(cases: usize, rate: f64) -> Option<usize> {
    [1, 3, 5, 10]
        .into_iter()
        .find(|samples| detection(cases, *samples, rate).is_some_and(|seen| seen.spread >= 0.9))
}

/// A place between two entries of an axis.
struct Place {
    below: usize,
    /// The weight of the entry above.
    above: f64,
}

impl Place {
    /// The two entries with their weights.
    fn ends(&self) -> [(usize, f64); 2] {
        let next = if self.above > 0.0 {
            self.below + 1
        } else {
            self.below
        };
        [(self.below, 1.0 - self.above), (next, self.above)]
    }
}

fn place(axis: &[f64], value: f64) -> Place {
    let last = axis.len() - 1;
    let Some(next) = axis.iter().position(|entry| *entry > value) else {
        return Place {
            below: last,
            above: 0.0,
        };
    };
    let Some(below) = next.checked_sub(1) else {
        return Place {
            below: 0,
            above: 0.0,
        };
    };
    Place {
        below,
        above: (value - axis[below]) / (axis[next] - axis[below]),
    }
}

#[cfg(test)]
mod tests {
    use super::{detection, samples_to_see};

    #[test]
    fn rates_are_those_of_the_table_between_and_beyond_its_entries() {
        let seen = |cases, samples, rate| {
            let found = detection(cases, samples, rate)?;
            Some((
                (found.spread * 100.0).round() as u32,
                (found.lost * 100.0).round() as u32,
            ))
        };
        assert_eq!(seen(40, 5, 0.95), Some((95, 85)));
        assert_eq!(seen(12, 3, 0.95), Some((40, 90)));
        assert_eq!(seen(4, 3, 0.95), None);
        assert_eq!(seen(1000, 20, 1.0), seen(200, 10, 0.99));
        let (between, _) = seen(30, 3, 0.95).unwrap();
        assert!((55..=85).contains(&between), "{between}");
        assert_eq!(samples_to_see(40, 0.95), Some(5));
        assert_eq!(samples_to_see(12, 0.95), None);
    }
}

//! How the numbers of baselines and reports moved from one to the next.

use std::collections::BTreeMap;

use crate::model::{
    Baseline, Better, MOVED, MetricSpec, NEWLY_FAILING, Report, Unit, metric_value,
};

/// A number's name: suite, agent and metric.
pub type NumberName = (String, String, String);

/// One measurement: a committed baseline or a stored report.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// Its short name: a commit, or a folder.
    pub name: String,
    /// When it was made: a date and time that sorts as text.
    pub at: String,
    /// What it is: the title of the commit, or the verdict of the report.
    pub title: String,
    pub numbers: BTreeMap<NumberName, f64>,
}

/// The unit and the better direction of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberScale {
    pub unit: Unit,
    pub better: Better,
}

impl NumberScale {
    /// The scale of a metric; that of a count for one that is not known.
    pub fn of(spec: Option<MetricSpec>) -> Self {
        let unknown = Self {
            unit: Unit::Count,
            better: Better::Neither,
        };
        spec.map_or(unknown, |spec| Self {
            unit: spec.unit,
            better: spec.better,
        })
    }
}

/// One number over all measurements.
#[derive(Debug, Clone, PartialEq)]
pub struct NumberTrend {
    pub name: NumberName,
    pub scale: NumberScale,
    /// Its value in each measurement, oldest first.
    pub values: Vec<Option<f64>>,
    /// The slope of a straight line through the values, per measurement; `None` for fewer than three values.
    pub slope: Option<f64>,
}

/// A number that a measurement moved.
#[derive(Debug, Clone, PartialEq)]
pub struct NumberMove {
    /// The index of the number's trend.
    pub trend: usize,
    /// The last value before.
    pub before: f64,
    /// The value after; `None` if it was not measured again.
    pub after: Option<f64>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// The measurements without their numbers, oldest first, each with the numbers that it moved.
    pub measurements: Vec<(Measurement, Vec<NumberMove>)>,
    pub trends: Vec<NumberTrend>,
    /// What is missing or could not be read.
    pub notes: Vec<String>,
}

/// The fewest values of a slope.
const FEWEST: usize = 3;

/// The history of these measurements, oldest first. `scale` states the scale of a metric.
pub fn history(
    measurements: Vec<Measurement>,
    notes: Vec<String>,
    scale: impl Fn(&NumberName) -> NumberScale,
) -> History {
    let mut names: Vec<&NumberName> = measurements
        .iter()
        .flat_map(|measurement| measurement.numbers.keys())
        .collect();
    names.sort();
    names.dedup();
    let trends: Vec<NumberTrend> = names
        .into_iter()
        .map(|name| {
            let values: Vec<Option<f64>> = measurements
                .iter()
                .map(|measurement| measurement.numbers.get(name).copied())
                .collect();
            NumberTrend {
                name: name.clone(),
                scale: scale(name),
                slope: slope(&values),
                values,
            }
        })
        .collect();
    let moves: Vec<Vec<NumberMove>> = (0..measurements.len())
        .map(|index| moves_at(&trends, index))
        .collect();
    let bare = measurements.into_iter().map(|measurement| Measurement {
        numbers: BTreeMap::new(),
        ..measurement
    });
    History {
        measurements: bare.zip(moves).collect(),
        trends,
        notes,
    }
}

impl NumberTrend {
    /// Whether the number has different values.
    pub fn has_moved(&self) -> bool {
        (0..self.values.len()).any(|index| step(self, index).is_some())
    }
}

/// The numbers that moved in a measurement.
fn moves_at(trends: &[NumberTrend], index: usize) -> Vec<NumberMove> {
    let mut moves = Vec::new();
    for (trend, numbers) in trends.iter().enumerate() {
        if let Some((before, after)) = step(numbers, index) {
            moves.push(NumberMove {
                trend,
                before,
                after,
            });
        }
    }
    moves
}

/// The last value before a measurement and the value in it, if they differ. A first value moves nothing, and neither does a value that
/// reads the same: a baseline has fewer decimal places than a report.
fn step(trend: &NumberTrend, index: usize) -> Option<(f64, Option<f64>)> {
    let earlier = &trend.values[..index];
    match trend.values[index] {
        Some(after) => {
            let last = earlier.iter().rev().flatten().next()?;
            let unit = trend.scale.unit;
            let has_moved = (last - after).abs() > MOVED
                && metric_value(unit, Some(*last)) != metric_value(unit, Some(after));
            has_moved.then_some((*last, Some(after)))
        }
        None => Some((earlier.last().copied().flatten()?, None)),
    }
}

/// The slope of the least-squares line through the values, by position.
fn slope(values: &[Option<f64>]) -> Option<f64> {
    let points: Vec<(f64, f64)> = values
        .iter()
        .enumerate()
        .filter_map(|(index, value)| Some((index as f64, (*value)?)))
        .collect();
    if points.len() < FEWEST {
        return None;
    }
    let count = points.len() as f64;
    let mean_x = points.iter().map(|point| point.0).sum::<f64>() / count;
    let mean_y = points.iter().map(|point| point.1).sum::<f64>() / count;
    let products: f64 = points
        .iter()
        .map(|(x, y)| (x - mean_x) * (y - mean_y))
        .sum();
    let squares: f64 = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    Some(products / squares)
}

pub fn numbers_of_baseline(baseline: &Baseline) -> BTreeMap<NumberName, f64> {
    let mut numbers = BTreeMap::new();
    for (suite, agents) in &baseline.suites {
        for (agent, entry) in agents {
            for (metric, value) in &entry.metrics {
                numbers.insert(
                    (suite.to_string(), agent.to_string(), metric.clone()),
                    *value,
                );
            }
        }
    }
    numbers
}

pub fn numbers_of_report(report: &Report) -> BTreeMap<NumberName, f64> {
    let mut numbers = BTreeMap::new();
    for (suite, agent) in report.suite_agents() {
        for metric in &agent.metrics {
            // This number only compares with the baseline.
            if metric.name == NEWLY_FAILING {
                continue;
            }
            if let Some(value) = metric.value {
                let name = (
                    suite.id.to_string(),
                    agent.agent.to_string(),
                    metric.name.clone(),
                );
                numbers.insert(name, value);
            }
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Measurement, NumberScale, history};
    use crate::model::{Better, Unit};

    fn measured(values: &[(&str, f64)]) -> Measurement {
        let name = |metric: &str| ("s".to_owned(), "a".to_owned(), metric.to_owned());
        let numbers: BTreeMap<_, _> = values
            .iter()
            .map(|(metric, value)| (name(metric), *value))
            .collect();
        Measurement {
            name: String::new(),
            at: String::new(),
            title: String::new(),
            numbers,
        }
    }

    #[test]
    fn a_move_is_from_the_last_value_before_and_a_first_value_is_none() {
        let found = history(
            vec![
                measured(&[("f1", 0.5)]),
                measured(&[("f1", 0.7), ("recall", 1.0)]),
                measured(&[("recall", 1.0)]),
                measured(&[("f1", 0.9), ("recall", 1.000_000_1)]),
            ],
            Vec::new(),
            |_| NumberScale {
                unit: Unit::Share,
                better: Better::Higher,
            },
        );
        let moves: Vec<Vec<(usize, f64, Option<f64>)>> = found
            .measurements
            .iter()
            .map(|(_, moves)| {
                moves
                    .iter()
                    .map(|one| (one.trend, one.before, one.after))
                    .collect()
            })
            .collect();
        assert_eq!(
            moves,
            [
                vec![],
                vec![(0, 0.5, Some(0.7))],
                vec![(0, 0.7, None)],
                vec![(0, 0.7, Some(0.9))]
            ]
        );
        assert_eq!(
            (found.trends[0].has_moved(), found.trends[1].has_moved()),
            (true, false)
        );
    }

    #[test]
    fn a_value_that_reads_the_same_has_not_moved() {
        for (unit, before, after, moved) in [
            (Unit::Share, 0.857_143, 6.0 / 7.0, false),
            (Unit::Count, 2_379.46, 2_379.5, false),
            (Unit::Spread, 0.010_651, 0.010_65, false),
            (Unit::Share, 0.857, 0.858, true),
        ] {
            let measured = [before, after].map(|value| measured(&[("f1", value)]));
            let found = history(measured.to_vec(), Vec::new(), |_| NumberScale {
                unit,
                better: Better::Higher,
            });
            assert_eq!(found.trends[0].has_moved(), moved, "{before} to {after}");
        }
    }

    #[test]
    fn a_slope_is_per_measurement_and_needs_three_values() {
        let of = |values: &[Option<f64>]| super::slope(values);
        assert_eq!(of(&[Some(1.0), Some(2.0)]), None);
        assert_eq!(
            of(&[Some(1.0), None, Some(3.0), None, Some(5.0)]),
            Some(1.0)
        );
        assert_eq!(of(&[Some(0.5), Some(0.5), Some(0.5)]), Some(0.0));
        // The textbook's line through (0, 1), (1, 3), (2, 2), (3, 5) has the slope 1.1.
        assert!((of(&[1.0, 3.0, 2.0, 5.0].map(Some)).unwrap() - 1.1).abs() < 1e-12);
    }
}

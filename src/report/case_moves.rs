//! How single cases moved between two measurements.

use std::collections::BTreeMap;

use super::history::{NumberName, numbers_of_baseline, numbers_of_report};
use crate::model::{Baseline, CaseValues, Exclusion, PASSED, PairResult, Report, share};

/// The name of a case: suite, agent and case.
pub type CaseName = (String, String, String);

/// The numbers of a baseline or of a report, for each agent and for each case.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MeasuredNumbers {
    /// The numbers of the agents.
    pub numbers: BTreeMap<NumberName, f64>,
    /// The cases; an old baseline has none.
    pub cases: BTreeMap<CaseName, CaseNumbers>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct CaseNumbers {
    /// The share of completed samples that pass.
    pub passed: Option<f64>,
    /// The mean of its samples, by metric.
    pub values: BTreeMap<String, f64>,
    /// Its first failed check with the produced result, if the source has it.
    pub why: Option<String>,
}

/// A case whose numbers differ.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseMove {
    pub name: CaseName,
    /// The share of samples that pass, before and after, if it moved.
    pub passed: Option<(f64, f64)>,
    /// The means that moved, by metric.
    pub values: Vec<(String, f64, f64)>,
    /// Its first failed check after the move.
    pub why: Option<String>,
}

/// The differences between the cases of two measurements.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CaseMoves {
    /// The cases that moved; those that pass less often come first.
    pub moved: Vec<CaseMove>,
    /// Cases that are only in the second measurement.
    pub added: Vec<CaseName>,
    /// Cases that are only in the first measurement.
    pub removed: Vec<CaseName>,
}

/// Half of the last decimal place in a baseline.
const SAME: f64 = 0.5e-6;

impl From<&Baseline> for MeasuredNumbers {
    fn from(baseline: &Baseline) -> Self {
        let mut cases = BTreeMap::new();
        for (suite, agents) in &baseline.suites {
            for (agent, entry) in agents {
                for (case, values) in &entry.cases {
                    cases.insert(
                        (suite.to_string(), agent.to_string(), case.to_string()),
                        of_values(values),
                    );
                }
            }
        }
        Self {
            numbers: numbers_of_baseline(baseline),
            cases,
        }
    }
}

impl From<&Report> for MeasuredNumbers {
    fn from(report: &Report) -> Self {
        let mut cases = BTreeMap::new();
        for (suite, agent) in report.suite_agents() {
            for case in &agent.cases {
                let name = (
                    suite.id.to_string(),
                    agent.agent.to_string(),
                    case.case.to_string(),
                );
                cases.insert(name, of_pair(case));
            }
        }
        Self {
            numbers: numbers_of_report(report),
            cases,
        }
    }
}

fn of_values(values: &CaseValues) -> CaseNumbers {
    let means = values
        .iter()
        .filter_map(|(name, samples)| Some((name.clone(), mean(samples)?)));
    let mut means: BTreeMap<String, f64> = means.collect();
    CaseNumbers {
        passed: means.remove(PASSED),
        values: means,
        why: None,
    }
}

fn of_pair(case: &PairResult) -> CaseNumbers {
    if case.exclusion != Exclusion::Counted {
        return CaseNumbers::default();
    }
    let values = case
        .values
        .iter()
        .filter_map(|value| Some((value.name.to_string(), mean(&value.samples)?)));
    let why = case.failed_checks().find_map(|check| {
        let failure = check.failure.as_deref()?;
        Some(format!("{}: {}", check.name, failure.detail))
    });
    let passed = case
        .passing
        .and_then(|passing| share(passing as usize, case.completed as usize));
    CaseNumbers {
        passed,
        values: values.collect(),
        why,
    }
}

fn mean(samples: &[Option<f64>]) -> Option<f64> {
    let known: Vec<f64> = samples.iter().copied().flatten().collect();
    (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
}

/// The cases that differ.
pub fn case_moves(earlier: &MeasuredNumbers, later: &MeasuredNumbers) -> CaseMoves {
    let mut moves = CaseMoves::default();
    for (name, numbers) in &later.cases {
        match earlier.cases.get(name) {
            None => moves.added.push(name.clone()),
            Some(earlier) => moves.moved.extend(moved(name, earlier, numbers)),
        }
    }
    let gone = earlier
        .cases
        .keys()
        .filter(|name| !later.cases.contains_key(*name));
    moves.removed = gone.cloned().collect();
    moves
        .moved
        .sort_by(|left, right| change_of_passed(left).total_cmp(&change_of_passed(right)));
    moves
}

fn change_of_passed(case: &CaseMove) -> f64 {
    case.passed.map_or(0.0, |(earlier, later)| later - earlier)
}

fn differ(left: f64, right: f64) -> bool {
    (left - right).abs() > SAME
}

fn moved(name: &CaseName, earlier: &CaseNumbers, later: &CaseNumbers) -> Option<CaseMove> {
    let passed = earlier
        .passed
        .zip(later.passed)
        .filter(|(earlier, later)| differ(*earlier, *later));
    let mut values: Vec<(String, f64, f64)> = Vec::new();
    for (metric, value) in &later.values {
        let Some(earlier) = earlier.values.get(metric) else {
            continue;
        };
        if differ(*earlier, *value) {
            values.push((metric.clone(), *earlier, *value));
        }
    }
    if passed.is_none() && values.is_empty() {
        return None;
    }
    Some(CaseMove {
        name: name.clone(),
        passed,
        values,
        why: later.why.clone(),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{CaseNumbers, MeasuredNumbers, case_moves};

    fn measured(cases: &[(&str, f64, f64)]) -> MeasuredNumbers {
        let cases = cases.iter().map(|(case, passed, f1)| {
            let name = ("s".to_owned(), "a".to_owned(), (*case).to_owned());
            let values = BTreeMap::from([("f1_score".to_owned(), *f1)]);
            (
                name,
                CaseNumbers {
                    passed: Some(*passed),
                    values,
                    why: None,
                },
            )
        });
        MeasuredNumbers {
            cases: cases.collect(),
            ..MeasuredNumbers::default()
        }
    }

    #[test]
    fn the_case_that_passes_least_often_after_the_move_comes_first() {
        let before = measured(&[
            ("a", 1.0, 0.5),
            ("b", 0.5, 1.0),
            ("c", 1.0, 1.0),
            ("d", 1.0, 1.0),
            ("gone", 1.0, 1.0),
        ]);
        let after = measured(&[
            ("a", 1.0, 0.6),
            ("b", 1.0, 1.0),
            ("c", 0.0, 1.0),
            ("d", 1.0, 1.0),
            ("new", 1.0, 1.0),
        ]);
        let found = case_moves(&before, &after);
        let names: Vec<&str> = found.moved.iter().map(|one| one.name.2.as_str()).collect();
        assert_eq!(names, ["c", "a", "b"]);
        assert_eq!(found.moved[0].passed, Some((1.0, 0.0)));
        assert_eq!(
            (found.moved[1].passed, found.moved[1].values.len()),
            (None, 1)
        );
        assert_eq!(
            (found.added[0].2.as_str(), found.removed[0].2.as_str()),
            ("new", "gone")
        );
    }
}

//! What the policy `regression` has to know of the samples of a case: their scores, and the classes that they break.

use crate::model::{BrokenClass, CheckOutcome, Grade, Layer, NeverClass, ScoredSample, harmonic};
use crate::suites::kind::{BrokenBy, GuardSelection, SampleScore, SuiteKind};

impl SuiteKind {
    /// The score of a graded sample.
    pub fn scored(&self, grade: &Grade) -> ScoredSample {
        let stated = match self.score {
            SampleScore::Checks => None,
            SampleScore::Value(name, most) => self.value_of(grade, name).map(|value| value / most),
            SampleScore::Harmonic(left, right) => self
                .value_of(grade, left)
                .zip(self.value_of(grade, right))
                .map(|(left, right)| harmonic(left, right)),
        };
        let is_read = grade.layer != Layer::Unreadable;
        ScoredSample {
            score: if is_read {
                stated.unwrap_or_else(|| passed_checks(grade))
            } else {
                0.0
            },
            passes: grade.passed(),
        }
    }

    /// The value of a metric for a graded sample.
    fn value_of(&self, grade: &Grade, metric: &str) -> Option<f64> {
        let index = self.metrics.iter().position(|spec| spec.name == metric)?;
        grade.values.get(index).copied().flatten()
    }

    /// The classes that graded samples of a case break.
    pub fn broken_classes(&self, grades: &[&Grade]) -> Vec<BrokenClass> {
        let mut broken = Vec::new();
        for guard in self.never {
            let samples = match guard.broken_by {
                BrokenBy::Checks(words) => most_failed(grades, words),
                BrokenBy::Metric(name) => grades
                    .iter()
                    .filter(|grade| self.value_of(grade, name).is_some_and(|value| value > 0.0))
                    .count(),
            };
            if samples > 0 {
                broken.push(BrokenClass {
                    class: guard.class,
                    samples: u32::try_from(samples).unwrap_or(u32::MAX),
                });
            }
        }
        broken
    }

    /// The classes of a suite that names these, or none.
    pub fn guards(&self, named: Option<&[NeverClass]>) -> Vec<NeverClass> {
        let mut classes = Vec::new();
        for guard in self.never {
            let is_chosen = match named {
                Some(named) => named.contains(&guard.class),
                None => guard.selection == GuardSelection::Default,
            };
            if is_chosen {
                classes.push(guard.class);
            }
        }
        classes
    }
}

/// The share of checks that pass; 1 without checks.
fn passed_checks(grade: &Grade) -> f64 {
    let passed = grade
        .checks
        .iter()
        .filter(|check| check.outcome == CheckOutcome::Passed)
        .count();
    match grade.checks.len() {
        0 => 1.0,
        all => passed as f64 / all as f64,
    }
}

/// The number of samples that fail the check, among those with these words, that most of them fail.
fn most_failed(grades: &[&Grade], words: &[&str]) -> usize {
    let count = grades.first().map_or(0, |grade| grade.checks.len());
    let mut most = 0;
    for index in 0..count {
        let mut failed = 0;
        for grade in grades {
            if let Some(check) = grade.checks.get(index)
                && words.contains(&&*check.name.word)
                && check.outcome != CheckOutcome::Passed
            {
                failed += 1;
            }
        }
        most = most.max(failed);
    }
    most
}

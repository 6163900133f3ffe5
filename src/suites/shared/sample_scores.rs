//! What the policy `regression` has to know of the samples of a case: their scores, and the classes that they break.

use crate::model::{BrokenClass, CheckOutcome, Grade, Layer, NeverClass, ScoredSample, harmonic};
use crate::suites::kind::{BrokenBy, GuardClass, GuardSelection, SampleScore, SuiteKind};

impl SuiteKind {
    /// The score of a graded sample.
    pub fn scored(&self, grade: &Grade) -> ScoredSample {
        let value = |name: &str| {
            let index = self.metrics.iter().position(|spec| spec.name == name)?;
            grade.values.get(index).copied().flatten()
        };
        let stated = match self.score {
            SampleScore::Checks => None,
            SampleScore::Value(name, most) => value(name).map(|value| value / most),
            SampleScore::Harmonic(one, other) => value(one)
                .zip(value(other))
                .map(|(one, other)| harmonic(one, other)),
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

    /// The classes that graded samples of a case break.
    pub fn broken_classes(&self, grades: &[&Grade]) -> Vec<BrokenClass> {
        let of = |guard: &GuardClass| {
            let samples = match guard.broken_by {
                BrokenBy::Checks(words) => most_failed(grades, words),
                BrokenBy::Metric(name) => {
                    let index = self.metrics.iter().position(|spec| spec.name == name)?;
                    let value = |grade: &&&Grade| grade.values.get(index).copied().flatten();
                    grades
                        .iter()
                        .filter(|grade| value(grade).is_some_and(|value| value > 0.0))
                        .count()
                }
            };
            (samples > 0).then(|| BrokenClass {
                class: guard.class,
                samples: u32::try_from(samples).unwrap_or(u32::MAX),
            })
        };
        self.never.iter().filter_map(of).collect()
    }

    /// The classes of a suite that names these, or none.
    pub fn guards(&self, named: Option<&[NeverClass]>) -> Vec<NeverClass> {
        let is_chosen = |guard: &&GuardClass| match named {
            Some(named) => named.contains(&guard.class),
            None => guard.selection == GuardSelection::Default,
        };
        self.never
            .iter()
            .filter(is_chosen)
            .map(|guard| guard.class)
            .collect()
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
    let is_failed = |grade: &Grade, index: usize| {
        let check = grade.checks.get(index);
        check.is_some_and(|check| {
            words.contains(&&*check.name.word) && check.outcome != CheckOutcome::Passed
        })
    };
    (0..count)
        .map(|index| {
            let failed = grades.iter().filter(|grade| is_failed(grade, index));
            failed.count()
        })
        .max()
        .unwrap_or(0)
}

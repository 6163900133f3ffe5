//! The grade of one sample: values and checks.

use std::borrow::Cow;
use std::fmt;

use super::evidence::Shortfall;
use super::tag::Tag;
use super::words::words;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CheckName {
    /// The word, such as `expected_finding`.
    pub word: Cow<'static, str>,
    /// Distinguishes checks with the same word.
    pub key: CheckKey,
}

/// Distinguishes checks with the same word.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CheckKey {
    Only,
    /// The index in the golden file's list, from 0.
    At(u32),
    Named(Box<str>),
}

impl CheckKey {
    pub fn named(name: &str) -> Self {
        Self::Named(name.into())
    }

    /// The key of an element of the golden file's list.
    pub fn at(index: usize) -> Self {
        Self::At(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// The key of the same check of a part of a case, such as a turn: `part`, or `part: key`.
    pub fn inside(self, part: &str) -> Self {
        match self {
            Self::Only => Self::Named(part.into()),
            Self::At(index) => Self::Named(format!("{part}: {index}").into()),
            Self::Named(name) => Self::Named(format!("{part}: {name}").into()),
        }
    }
}

impl CheckName {
    pub fn of(text: &str) -> Self {
        let parts = text.strip_suffix(']').and_then(|rest| rest.split_once('['));
        let (word, key) = match parts {
            None => (text, CheckKey::Only),
            Some((word, key)) => (
                word,
                key.parse()
                    .map_or_else(|_| CheckKey::Named(key.into()), CheckKey::At),
            ),
        };
        Self {
            word: word.to_owned().into(),
            key,
        }
    }
}

impl fmt::Display for CheckName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.key {
            CheckKey::Only => out.write_str(&self.word),
            CheckKey::At(index) => write!(out, "{}[{index}]", self.word),
            CheckKey::Named(name) => write!(out, "{}[{name}]", self.word),
        }
    }
}

/// A failed check's report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub tag: Tag,
    /// The evidence in one line.
    pub detail: String,
    /// The next step for an engineer.
    pub next_action: String,
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckOutcome {
    /// Passed.
    Passed,
    /// Failed.
    Failed(Box<Failure>),
    /// The recording does not have what it is about: why.
    Unknown(Box<str>),
}

/// One requirement of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// Its name, unique in the case.
    pub name: CheckName,
    /// The line of the golden file that requires it, from 1.
    pub line: u32,
    /// Its result.
    pub outcome: CheckOutcome,
    /// The expected result; only if it failed.
    pub expected: Option<Box<str>>,
}

impl Check {
    /// A check with its result; `expected` is called only if it failed.
    pub fn of(
        word: &'static str,
        key: CheckKey,
        line: u32,
        expected: impl FnOnce() -> String,
        failure: Option<Failure>,
    ) -> Self {
        let expected = failure.as_ref().map(|_| expected().into_boxed_str());
        let outcome = failure.map_or(CheckOutcome::Passed, |failure| {
            CheckOutcome::Failed(Box::new(failure))
        });
        Self {
            name: CheckName {
                word: word.into(),
                key,
            },
            line,
            outcome,
            expected,
        }
    }

    /// The same check, if the recording does not have what it is about.
    pub fn or_unknown(self, why: Option<&str>) -> Self {
        match why {
            Some(why) => Self {
                outcome: CheckOutcome::Unknown(why.into()),
                expected: None,
                ..self
            },
            None => self,
        }
    }

    /// A check of which a case has one, and that is about its golden file as a whole.
    pub fn only(
        word: &'static str,
        expected: impl FnOnce() -> String,
        failure: Option<Failure>,
    ) -> Self {
        Self::of(word, CheckKey::Only, 1, expected, failure)
    }
}

words! {
    /// How a model's text was parsed.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Layer {
        /// It was structured data; no parsing was needed.
        Structured = "structured",
        /// By a strict parse of the text, a fenced block or its outermost value.
        Strict = "strict",
        /// After JSON repair.
        Repaired = "repaired",
        /// Only single objects could be recovered.
        Salvaged = "salvaged",
        /// Nothing could be parsed.
        Unreadable = "unreadable",
    }
}

impl Layer {
    /// The number in reports: 0 structured, 1 to 3 the layers of recovery, 4 unreadable.
    pub fn number(self) -> u8 {
        self as u8
    }
}

impl From<recover::RecoveryLayer> for Layer {
    fn from(layer: recover::RecoveryLayer) -> Self {
        match layer {
            recover::RecoveryLayer::Strict => Self::Strict,
            recover::RecoveryLayer::Repaired => Self::Repaired,
            recover::RecoveryLayer::Salvaged => Self::Salvaged,
        }
    }
}

/// The grade of one sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Grade {
    /// One value for each metric of the kind, in the order of its table; `None` means that there was nothing to measure.
    pub values: Vec<Option<f64>>,
    /// All checks of the case, in the same order for all samples.
    pub checks: Vec<Check>,
    /// Shortfalls in metrics that no check covers.
    pub shortfalls: Vec<Shortfall>,
    /// How the output was parsed.
    pub layer: Layer,
    /// JSON data of the sample for an audit, such as each attempt of a loop.
    pub kept: Option<Box<str>>,
}

impl Grade {
    /// Whether all checks pass.
    pub fn passed(&self) -> bool {
        all_hold(&self.checks)
    }

    /// Why the recording does not tell whether all checks pass; `None` if one of them fails.
    pub fn unknown(&self) -> Option<&str> {
        let mut unknown = None;
        for check in &self.checks {
            match &check.outcome {
                CheckOutcome::Passed => {}
                CheckOutcome::Failed(_) => return None,
                CheckOutcome::Unknown(why) => unknown = unknown.or(Some(&**why)),
            }
        }
        unknown
    }
}

/// Whether all checks pass.
pub fn all_hold(checks: &[Check]) -> bool {
    checks
        .iter()
        .all(|check| check.outcome == CheckOutcome::Passed)
}

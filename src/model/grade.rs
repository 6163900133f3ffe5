//! The grade of one sample: values and checks.

use std::borrow::Cow;
use std::fmt;

use super::evidence::Shortfall;

/// Why a check failed, in the five words of the failure taxonomy (grading.md 12).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tag {
    /// The agent did not have the rule.
    Prompt,
    /// A parser, a mapping or a tool was wrong.
    Tooling,
    /// The wrong node or tool was chosen.
    Routing,
    /// The output could not be read.
    Schema,
    /// The agent had the rule and ignored it.
    Model,
}

impl Tag {
    /// All tags, in the order of the reports.
    pub const ALL: [Self; 5] = [Self::Prompt, Self::Tooling, Self::Routing, Self::Schema, Self::Model];

    /// The word used in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Tooling => "tooling",
            Self::Routing => "routing",
            Self::Schema => "schema",
            Self::Model => "model",
        }
    }

    /// Which of two failures of a check is told (grading.md 12): the least comes first. A form is mended before a tool, a tool
    /// before a choice, a choice before what the agent was told; one agent of several that did not have the rule comes before those
    /// that had it.
    pub fn precedence(self) -> u8 {
        match self {
            Self::Schema => 0,
            Self::Tooling => 1,
            Self::Routing => 2,
            Self::Prompt => 3,
            Self::Model => 4,
        }
    }

    /// What the tag means, in the seed's words.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Prompt => "the agent did not have the rule",
            Self::Tooling => "a parser, a mapping or a tool was wrong",
            Self::Routing => "the wrong node or tool was chosen",
            Self::Schema => "the output could not be read",
            Self::Model => "the agent had the rule and ignored it",
        }
    }

    /// How such a failure is mended (seed 001, "Failure Taxonomy").
    pub fn fix_strategy(self) -> &'static str {
        match self {
            Self::Prompt => "update the prompt policy or the few-shot examples",
            Self::Tooling => "fix the tooling service",
            Self::Routing => "fix the conditional edge logic",
            Self::Schema => "improve JSON parsing or the prompt's output instructions",
            Self::Model => "adjust the prompt's emphasis or the model's temperature",
        }
    }
}

/// What a check is about: a word, and which of its kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CheckName {
    /// The word, such as `expected_finding`.
    pub word: Cow<'static, str>,
    /// Which one, where there are several.
    pub key: CheckKey,
}

/// Which check of several with one word.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CheckKey {
    /// There is only one.
    Only,
    /// The one at this place of the golden file's list, from 0.
    At(u32),
    /// The one of this name.
    Named(Box<str>),
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

/// What a failed check tells people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The kind of failure.
    pub tag: Tag,
    /// The evidence, in one line.
    pub detail: String,
    /// What an engineer does next.
    pub next_action: String,
}

/// How a check ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckOutcome {
    /// It holds.
    Passed,
    /// It does not.
    Failed(Box<Failure>),
}

/// One thing that a case asks of a sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// Its name, unique in the case.
    pub name: CheckName,
    /// The line of the golden file that asks for it, from 1.
    pub line: u32,
    /// How it ended.
    pub outcome: CheckOutcome,
    /// What would be right; only where it does not hold.
    pub expected: Option<Box<str>>,
}

impl Check {
    /// A check that holds, or that fails with its failure and what was `expected`, which is asked for only then.
    pub fn of(
        word: &'static str,
        key: CheckKey,
        line: u32,
        expected: impl FnOnce() -> String,
        failure: Option<Failure>,
    ) -> Self {
        let expected = failure.as_ref().map(|_| expected().into_boxed_str());
        let outcome = failure.map_or(CheckOutcome::Passed, |failure| CheckOutcome::Failed(Box::new(failure)));
        Self { name: CheckName { word: word.into(), key }, line, outcome, expected }
    }
}

/// How a model's text became a structure (grading.md 11).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// It was there as a structure: nothing had to be recovered.
    Structured,
    /// A strict parse of the text, a fenced block or its outermost value.
    Strict,
    /// After repairs.
    Repaired,
    /// Single objects were salvaged.
    Salvaged,
    /// Nothing could be read.
    Unreadable,
}

impl Layer {
    /// All of them, from nothing to recover to nothing recovered.
    pub const ALL: [Self; 5] = [Self::Structured, Self::Strict, Self::Repaired, Self::Salvaged, Self::Unreadable];

    /// The word used in baselines and remarks.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Structured => "structured",
            Self::Strict => "strict",
            Self::Repaired => "repaired",
            Self::Salvaged => "salvaged",
            Self::Unreadable => "unreadable",
        }
    }

    /// The number used in reports: 0 for a structure, 1 to 3 for the recovery's layers, 4 for unreadable.
    pub fn number(self) -> u8 {
        match self {
            Self::Structured => 0,
            Self::Strict => 1,
            Self::Repaired => 2,
            Self::Salvaged => 3,
            Self::Unreadable => 4,
        }
    }
}

/// What one sample is worth.
#[derive(Debug, Clone, PartialEq)]
pub struct Grade {
    /// One value for each metric of the kind, in the order of its table; `None` is "nothing to measure".
    pub values: Vec<Option<f64>>,
    /// Every check of the case, in one order for all samples.
    pub checks: Vec<Check>,
    /// What costs the metrics that no check looks at.
    pub shortfalls: Vec<Shortfall>,
    /// How the produced structure was read.
    pub layer: Layer,
    /// What is kept of the sample for an audit, as JSON: each attempt of a loop, say.
    pub kept: Option<Box<str>>,
}

impl Grade {
    /// Whether all checks hold.
    pub fn passed(&self) -> bool {
        all_hold(&self.checks)
    }
}

/// Whether all checks hold.
pub fn all_hold(checks: &[Check]) -> bool {
    checks.iter().all(|check| check.outcome == CheckOutcome::Passed)
}

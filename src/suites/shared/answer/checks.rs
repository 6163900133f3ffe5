//! The checks of `answer` of one case, prepared for grading.

use std::fmt;

use super::condition::AnswerCondition;
use super::expression::StatedExpression;
use super::phrase::LetterCase;

/// The checks of one case; all must hold.
#[derive(Default)]
pub struct AnswerChecks {
    /// The entries for the answer, in the order of the file; in a conversation, for the last one.
    pub entries: Vec<AnswerEntry>,
    /// Whether the case states a list of entries.
    pub listing: EntryListing,
    /// The checks of the answers of single turns, in their order.
    pub turns: Vec<TurnAnswer>,
    /// The number of turns of the case; 0 if it has one query.
    pub length: usize,
    /// The content of the files and lists that the checks use; it is part of the digest of the case.
    pub measured_with: String,
    /// The text of the checks in the golden file.
    pub stated: String,
    /// The line of the case in the golden file, from 1.
    pub line: u32,
    /// The case in the golden file, as JSON; empty if no expression is about it.
    pub case: Box<str>,
}

impl AnswerChecks {
    /// Whether the case states no check, neither of its answer nor of that of a turn.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.turns.is_empty()
    }
}

/// The checks of the answer of one turn.
pub struct TurnAnswer {
    /// The index of the turn.
    pub turn: u32,
    /// Its entries, in the order of the file.
    pub entries: Vec<AnswerEntry>,
    /// Whether the turn states a list of entries.
    pub listing: EntryListing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerScope {
    /// The whole run, whose time and cost are known, and which expressions are about.
    Run,
    Turn,
}

/// Whether a case states one entry or a list of them; it decides the names of the checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EntryListing {
    /// One entry: its checks have no index.
    #[default]
    Single,
    /// A list: each check has the index of its entry.
    Listed,
}

pub struct AnswerEntry {
    /// Its line in the golden file, from 1.
    pub line: u32,
    /// Its weight in the score.
    pub weight: f64,
    /// The rule of the prompt package that it tests.
    pub rule: Option<String>,
    pub requires: AnswerRequirement,
}

impl AnswerEntry {
    /// Whether an expression is among its requirements.
    pub fn has_expression(&self) -> bool {
        match &self.requires {
            AnswerRequirement::All { expression, .. } => expression.is_some(),
            AnswerRequirement::Share { entries, .. } => entries.iter().any(Self::has_expression),
        }
    }
}

pub enum AnswerRequirement {
    /// Conditions that must all hold.
    All {
        conditions: Vec<AnswerCondition>,
        letter_case: LetterCase,
        /// An expression that must be true as well.
        expression: Option<StatedExpression>,
    },
    /// Entries of which a weighted share must hold.
    Share {
        entries: Vec<AnswerEntry>,
        min_score: f64,
    },
}

impl fmt::Debug for AnswerChecks {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.stated)
    }
}

impl PartialEq for AnswerChecks {
    /// Checks are equal if they are stated and measured with the same texts.
    fn eq(&self, other: &Self) -> bool {
        (&self.stated, &self.measured_with, &self.case)
            == (&other.stated, &other.measured_with, &other.case)
    }
}

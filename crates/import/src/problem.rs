//! Why a file cannot be read.

/// A problem at a place of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The byte offset in the text.
    pub at: usize,
    /// What kind of problem it is.
    pub kind: ProblemKind,
    /// What is wrong, in words.
    pub what: String,
    /// What would be right.
    pub help: &'static str,
}

/// The kinds of problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemKind {
    /// The text is not JSON from here on.
    BrokenJson,
    /// The text has no value.
    Empty,
    /// A record does not have the form of its format; `what` is the message of serde.
    WrongForm,
    /// A message that cannot be read.
    BadMessage,
    /// An object without messages.
    NoMessages,
    /// A conversation without a message of the assistant.
    NoAnswer,
    /// A tool's result without its call.
    UnaskedResult,
    /// A record without a case.
    NoCase,
    /// A file without a run.
    NoRun,
}

impl Problem {
    pub(crate) fn new(
        at: usize,
        kind: ProblemKind,
        description: impl Into<String>,
        help: &'static str,
    ) -> Self {
        Self {
            at,
            kind,
            what: description.into(),
            help,
        }
    }
}

/// The values, or all problems.
pub(crate) fn all_or_problems<T>(
    outcomes: impl IntoIterator<Item = Result<T, Problem>>,
) -> Result<Vec<T>, Vec<Problem>> {
    let (mut values, mut problems) = (Vec::new(), Vec::new());
    for outcome in outcomes {
        match outcome {
            Ok(value) => values.push(value),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() {
        Ok(values)
    } else {
        Err(problems)
    }
}

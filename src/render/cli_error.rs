//! Why a command failed: bad input (exit code 2), failed work (exit code 3), or an interruption.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::diag::{Code, Diagnostic, Diagnostics, ReadFailure, one_line};
use crate::model::Interruption;
use crate::render::plural;

/// How many problems are listed; the rest is counted.
const SHOWN: usize = 50;

/// From how many on problems with the same words are one line.
const SIMILAR: usize = 3;

/// Why a command failed.
#[derive(Debug)]
pub enum CliError {
    /// Problems in the user's files or arguments, found before any work.
    Input(Diagnostics),
    /// A failure of the file system, the network or another program.
    Work(anyhow::Error),
    /// The command was interrupted.
    CalledOff(Interruption),
}

impl CliError {
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Input(problems) if problems.has_read_failure(ReadFailure::Machine) => 3,
            Self::Input(_) => 2,
            Self::Work(_) => 3,
            Self::CalledOff(interruption) => interruption.exit_code(),
        }
    }

    /// Returns the lines for the terminal, one per problem.
    pub fn lines(&self) -> Vec<String> {
        match self {
            Self::Work(_) | Self::CalledOff(_) => self
                .messages()
                .into_iter()
                .map(|message| format!("error: {message}"))
                .collect(),
            Self::Input(problems) => {
                let count = plural(problems.clone().sorted().len(), "problem", "problems");
                self.messages()
                    .into_iter()
                    .chain([format!("{count} found; nothing was done")])
                    .collect()
            }
        }
    }

    /// Returns the messages without the prefix `error: `, one per problem.
    pub fn messages(&self) -> Vec<String> {
        match self {
            Self::Work(error) => vec![one_line(&format!("{error:#}"))],
            Self::CalledOff(interruption) => {
                vec![format!("{}; nothing is shown", interruption.message())]
            }
            Self::Input(problems) => {
                let folded = folded(problems.clone().sorted());
                let mut lines: Vec<String> =
                    folded.iter().take(SHOWN).map(ToString::to_string).collect();
                if folded.len() > SHOWN {
                    lines.push(format!("… and {} more", folded.len() - SHOWN));
                }
                lines
            }
        }
    }
}

/// The problems, with those that say the same at many places as the first of them with a number.
fn folded(problems: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut by_words: BTreeMap<(Code, &str, &str), usize> = BTreeMap::new();
    for problem in &problems {
        *by_words.entry(words(problem)).or_default() += 1;
    }
    let counts: Vec<usize> = problems
        .iter()
        .map(|problem| by_words[&words(problem)])
        .collect();
    let mut seen: BTreeSet<(Code, String, String)> = BTreeSet::new();
    let mut shown = Vec::new();
    for (mut problem, count) in problems.into_iter().zip(counts) {
        if count >= SIMILAR {
            let (code, message, help) = words(&problem);
            if !seen.insert((code, message.to_owned(), help.to_owned())) {
                continue;
            }
            problem.what = format!(
                "{} (and {} more problems like this)",
                problem.what,
                count - 1
            );
        }
        shown.push(problem);
    }
    shown
}

fn words(problem: &Diagnostic) -> (Code, &str, &str) {
    (problem.code, &problem.what, &problem.help)
}

impl fmt::Display for CliError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.lines().join("\n"))
    }
}

impl From<Diagnostics> for CliError {
    fn from(problems: Diagnostics) -> Self {
        Self::Input(problems)
    }
}

impl From<Diagnostic> for CliError {
    fn from(problem: Diagnostic) -> Self {
        Self::Input(problem.into())
    }
}

impl From<anyhow::Error> for CliError {
    fn from(error: anyhow::Error) -> Self {
        Self::Work(error)
    }
}

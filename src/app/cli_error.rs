//! Why a command could not do its work: bad input (exit code 2), or the outside (exit code 3).

use std::fmt;

use crate::diag::{Diagnostic, Diagnostics, one_line};
use crate::model::Interruption;

/// Problems that are shown; the rest is counted.
const SHOWN: usize = 50;

/// Why a command stopped.
#[derive(Debug)]
pub enum CliError {
    /// Problems in the user's files or words, found before any work.
    Input(Diagnostics),
    /// The outside failed.
    Work(anyhow::Error),
    /// The runs that the command needs were called off.
    CalledOff(Interruption),
}

impl CliError {
    /// The process's exit code.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Input(_) => 2,
            Self::Work(_) => 3,
            Self::CalledOff(interruption) => interruption.exit_code(),
        }
    }

    /// The terminal's lines: one for each problem.
    pub fn lines(&self) -> Vec<String> {
        match self {
            Self::Work(_) | Self::CalledOff(_) => {
                self.messages().into_iter().map(|message| format!("error: {message}")).collect()
            }
            Self::Input(_) => self.messages(),
        }
    }

    /// The messages for a sentence or an annotation that says itself that something failed: one for each problem.
    pub fn messages(&self) -> Vec<String> {
        match self {
            Self::Work(error) => vec![one_line(&format!("{error:#}"))],
            Self::CalledOff(interruption) => vec![format!("{}; nothing is shown", interruption.message())],
            Self::Input(problems) => {
                let sorted = problems.clone().sorted();
                let mut lines: Vec<String> = sorted.iter().take(SHOWN).map(ToString::to_string).collect();
                if sorted.len() > SHOWN {
                    lines.push(format!("… and {} more", sorted.len() - SHOWN));
                }
                let count =
                    if sorted.len() == 1 { "1 problem".to_owned() } else { format!("{} problems", sorted.len()) };
                lines.push(format!("{count} found; nothing was graded"));
                lines
            }
        }
    }
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

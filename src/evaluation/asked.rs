//! What a case asks its agent, in one line, for a report.

use crate::diag::Diagnostic;
use crate::evaluation::plan::LoadedSuite;
use crate::files::Files;
use crate::model::{Ask, INPUT};
use crate::suites::{Pair, user_messages};
use crate::text::line;

/// The longest line, in characters.
const LONGEST: usize = 200;

/// The user's messages, or the input of another case; `None` for a case about a document.
///
/// # Errors
/// A file that the request needs cannot be read.
pub fn asked(
    loaded: &LoadedSuite,
    pair: &Pair,
    files: &dyn Files,
) -> Result<Option<Box<str>>, Diagnostic> {
    let Some(run) = pair.runs.first() else {
        return Ok(None);
    };
    let ask = loaded.suite.ask(pair, run, files)?;
    Ok(ask.and_then(|ask| in_one_line(&ask)))
}

fn in_one_line(ask: &Ask) -> Option<Box<str>> {
    let messages = user_messages(ask);
    if messages.is_empty() {
        let input = ask.inputs.get(INPUT)?;
        return Some(line(&input.to_string(), LONGEST).into());
    }
    Some(line(&messages.join(" / "), LONGEST).into())
}

//! The JSON values of a file: one, or one per line.

use serde_json::value::RawValue;

use crate::diag::{Code, Diagnostic};
use crate::files::SourceText;
use crate::format::json;

/// The values of a file: one, or one per line. Any white space separates them, as in JSON lines parsers.
///
/// # Errors
/// Invalid JSON with its position, or an empty file.
pub fn documents(source: &SourceText) -> Result<Vec<&RawValue>, Diagnostic> {
    let mut values = serde_json::Deserializer::from_str(&source.text).into_iter::<&RawValue>();
    let mut documents = Vec::new();
    let mut read = 0;
    while let Some(value) = values.next() {
        match value {
            Ok(value) => documents.push(value),
            Err(_) => return Err(broken(source, read)),
        }
        read = values.byte_offset();
    }
    match documents.is_empty() {
        true => Err(source.problem(
            0,
            Code::EMPTY_FILE,
            "the file is empty",
            "provide a transcript as JSON or JSON lines",
        )),
        false => Ok(documents),
    }
}

/// The problem of invalid JSON from a byte offset on.
fn broken(source: &SourceText, start: usize) -> Diagnostic {
    let outcome: Result<&RawValue, Diagnostic> =
        json::read_json_part(source, start, &source.text[start..]);
    outcome.map_or_else(
        |problem| problem,
        |_| {
            source.problem(
                start,
                Code::BROKEN_JSON,
                "invalid JSON",
                "correct the syntax here",
            )
        },
    )
}

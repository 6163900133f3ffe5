//! The formats of golden files: JSON, YAML, JSON Lines, and CSV. Every reader gets JSON, with the positions of the file.

use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;

use super::csv::csv_as_json;
use super::json;
use super::yaml::{YamlDialect, yaml_as_json};
use crate::diag::Diagnostic;
use crate::files::{OriginPiece, PieceChange, SourceText};

/// How a golden file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GoldenFormat {
    Json,
    Yaml,
    /// JSON Lines: one case a line.
    JsonLines,
    /// A table: one case a row.
    Csv,
}

/// The endings of file names, with their formats.
const ENDINGS: [(&str, GoldenFormat); 5] = [
    (".json", GoldenFormat::Json),
    (".yaml", GoldenFormat::Yaml),
    (".yml", GoldenFormat::Yaml),
    (".jsonl", GoldenFormat::JsonLines),
    (".csv", GoldenFormat::Csv),
];

impl GoldenFormat {
    /// The format of a file with this name, and the name without its ending. `None` for any other file.
    pub fn of_name(name: &str) -> Option<(&str, Self)> {
        ENDINGS
            .iter()
            .find_map(|(ending, format)| Some((name.strip_suffix(ending)?, *format)))
    }

    /// Whether a file in this format has many cases.
    pub fn is_of_many(self) -> bool {
        match self {
            Self::JsonLines | Self::Csv => true,
            Self::Json | Self::Yaml => false,
        }
    }

    /// The format of a golden file; without a known ending it is JSON.
    pub fn of(source: &SourceText) -> Self {
        Self::of_name(source.file.name()).map_or(Self::Json, |(_, format)| format)
    }
}

/// The text of a golden file as JSON; positions in it are those of the file. The lines of JSON Lines and the rows of a table become a list.
///
/// # Errors
/// The position of what is not valid, or is not in JSON.
pub fn golden_json(source: SourceText) -> Result<SourceText, Diagnostic> {
    match GoldenFormat::of(&source) {
        GoldenFormat::Json => Ok(source),
        GoldenFormat::Yaml => yaml_as_json(source, YamlDialect::Case),
        GoldenFormat::JsonLines => list_of_lines(source),
        GoldenFormat::Csv => csv_as_json(source),
    }
}

/// The value of a golden file; `None` if it is not valid.
pub fn golden_value(source: SourceText) -> Option<Value> {
    json::golden(&golden_json(source).ok()?).ok()
}

/// The value of a golden file whose keys and numbers were checked when its cases were read; `None` if it is not valid.
pub fn checked_golden_value(source: SourceText) -> Option<Value> {
    json::whole(&golden_json(source).ok()?).ok()
}

/// The blanks of JSON. Others, such as a vertical tab, are not valid in it.
const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];

/// Puts the lines into a list: line breaks become commas, so that every other byte only moves by the opening bracket.
fn list_of_lines(source: SourceText) -> Result<SourceText, Diagnostic> {
    let mut list = Vec::with_capacity(source.text.len() + 2);
    list.push(b'[');
    let (mut start, mut last) = (0, None);
    for line in source.text.split_inclusive('\n') {
        let content = line.trim_end_matches(BLANKS);
        if !content.is_empty() {
            json::read_json_part::<&RawValue>(&source, start, content)?;
            if let Some(line_break) = last.replace(list.len() + line.len() - 1) {
                list[line_break] = b',';
            }
        }
        list.extend_from_slice(line.as_bytes());
        start += line.len();
    }
    list.push(b']');
    let text = String::from_utf8(list).unwrap_or_default();
    let pieces = [(0, 0, PieceChange::Rewritten), (1, 0, PieceChange::Copied)];
    let pieces = pieces.map(|(start, original, change)| OriginPiece {
        start,
        original,
        change,
    });
    Ok(SourceText::from_pieces(
        Arc::new(source),
        text,
        pieces.to_vec(),
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{golden_json, golden_value};
    use crate::files::SourceText;
    use crate::format::JsonCursor;
    use crate::format::Step::{At, Key};
    use crate::model::RepoPath;

    fn source(name: &str, text: &str) -> SourceText {
        SourceText::from_text(RepoPath::root().child(name), text.to_owned())
    }

    #[test]
    fn lines_are_a_list() {
        for (text, expected) in [
            ("", json!([])),
            ("{}", json!([{}])),
            (
                "\n{\"a\": \"ä\"}\r\n  \n[1]\n\n\"x\"",
                json!([{"a": "ä"}, [1], "x"]),
            ),
        ] {
            assert_eq!(
                golden_value(source("a.jsonl", text)),
                Some::<Value>(expected),
                "{text:?}"
            );
        }
    }

    #[test]
    fn each_line_has_its_positions() {
        let lines = golden_json(source("a.jsonl", "{\"a\": 1}\n\n{\"ä\": 2, \"b\": 3}\n")).unwrap();
        let cursor = JsonCursor::whole(&lines);
        let point = lines.point(cursor.value(&[At(1), Key("b")]));
        assert_eq!((point.line, point.column), (3, 15));
    }

    #[test]
    fn each_line_is_one_value() {
        for (text, at) in [
            ("{}\n{\"a\":\n1}", "2:5"),
            ("{}\n{}, {}", "2:3"),
            ("[1\n2]", "1:2"),
            ("{}\n\u{b}\n", "2:1"),
            ("{}\u{a0}", "1:3"),
        ] {
            let problem = golden_json(source("a.jsonl", text))
                .unwrap_err()
                .to_string();
            assert!(
                problem.starts_with(&format!("a.jsonl:{at}: invalid JSON: ")),
                "{problem}"
            );
        }
    }
}

//! Tests on small sources, on output of word processors, and on arbitrary bytes.

mod fixtures;
mod pages;
mod properties;
mod reading;
mod signatures;

use super::{Document, ParagraphPlace, read};

/// The paragraphs as lines: the place unless it is the body, the number in brackets, and the text with `\t` and `\n`
/// escaped.
fn shown(document: &Document) -> String {
    let lines = document.paragraphs.iter().map(|paragraph| {
        let place = match (paragraph.place, paragraph.cell) {
            (ParagraphPlace::Body, _) => String::new(),
            (ParagraphPlace::Cell, Some(cell)) => {
                format!(
                    "{}:{}:{}:{} ",
                    cell.depth, cell.table, cell.row, cell.column
                )
            }
            (place, _) => format!("{place:?} "),
        };
        let number = paragraph
            .number
            .as_ref()
            .map_or(String::new(), |number| format!("[{number}] "));
        format!(
            "{place}{number}{}",
            paragraph.text.replace('\t', "\\t").replace('\n', "\\n")
        )
    });
    lines.collect::<Vec<_>>().join("|")
}

//! What is read from small sources, from a word processor's, and from anything at all.

mod fixtures;
mod pages;
mod properties;
mod reading;
mod signatures;

use super::{Document, ParagraphPlace, read};

/// The paragraphs as lines: where one stands unless in the body, its number in brackets, its text with `\t` and `\n`
/// written out.
fn shown(document: &Document) -> String {
    let lines = document.paragraphs.iter().map(|paragraph| {
        let place = match (paragraph.place, paragraph.cell) {
            (ParagraphPlace::Body, _) => String::new(),
            (ParagraphPlace::Cell, Some(cell)) => {
                format!("{}:{}:{}:{} ", cell.depth, cell.table, cell.row, cell.column)
            }
            (place, _) => format!("{place:?} "),
        };
        let number = paragraph.number.as_ref().map_or(String::new(), |number| format!("[{number}] "));
        format!("{place}{number}{}", paragraph.text.replace('\t', "\\t").replace('\n', "\\n"))
    });
    lines.collect::<Vec<_>>().join("|")
}

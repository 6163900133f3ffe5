//! Reads Rich Text Format as real writers produce it into paragraphs with source positions. Pure, linear, never panics.
//!
//! An own reader: `rtf-parser` needs text instead of bytes, has no positions, fails on unbalanced groups, and does not read
//! notes, headers, tables or `\bin`. `rtf-grimoire` only returns tokens without positions.
//!
//! Not read: formulas, index and table-of-contents entries, drawings without a text box, page and section layout, document
//! properties, and the code pages of Johab, of Hebrew and Thai on a Mac, and of ISCII. A letter in one of these pages is a guess
//! and reported as a flaw.

mod charset;
mod control;
mod destination;
mod document;
mod flow;
mod header;
mod letters;
mod lexer;
mod pages;
mod portable;
mod reader;
mod state;
mod table;
mod words;

#[cfg(test)]
mod tests;

pub use self::document::{
    Bookmark, Cell, Document, Flaw, FlawKind, FormatToken, HeaderTables, Paragraph, ParagraphPlace,
};

/// Reads a document. Never fails; problems are returned in `flaws`.
///
/// As in word processors, the document begins at the first `{\rtf` and ends with that group.
#[must_use]
pub fn read(source: &[u8]) -> Document {
    reader::RtfReader::new(source).read()
}

/// The source as an equivalent text. UTF-8 is unchanged; otherwise non-ASCII bytes become RTF escapes, and `\bin` becomes the
/// hexadecimal digits that pictures and objects also allow. Outside of these `\bin` is removed.
#[must_use]
pub fn portable(source: &[u8]) -> String {
    portable::text(source)
}

/// The first difference between two signatures, as their tokens at that index; `None` if they are equal.
#[must_use]
pub fn first_difference<'a>(
    left: &'a [FormatToken],
    right: &'a [FormatToken],
) -> Option<(Option<&'a FormatToken>, Option<&'a FormatToken>)> {
    let same = left
        .iter()
        .zip(right)
        .take_while(|(left, right)| left == right)
        .count();
    let pair = (left.get(same), right.get(same));
    (pair != (None, None)).then_some(pair)
}

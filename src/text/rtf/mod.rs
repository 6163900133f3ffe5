//! Rich Text Format as real writers produce it, read into paragraphs with their places. Pure, linear, never a panic.
//!
//! Our own reader: `rtf-parser` takes text, not bytes, gives no byte places, fails on unbalanced groups, and reads
//! neither notes nor headers, tables or `\bin`. `rtf-grimoire` is a list of tokens without places, the smallest part.
//!
//! Not read: formulas, the words of an index or a table of contents mark, drawn objects without a text box, page and
//! section layout, document properties, and the code pages of Johab, of Hebrew and Thai on a Mac, and of ISCII (a flaw as
//! soon as a letter is read by one, and a guess).

mod charset;
mod control;
mod destination;
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

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Reads a document; never fails: what is wrong with it stands in `flaws`.
///
/// Reading begins at the first `{\rtf` and, as in word processors, ends with the group that begins there.
#[must_use]
pub fn read(source: &[u8]) -> Document {
    reader::RtfReader::new(source).read()
}

/// A source as a text that is read alike: UTF-8 as it is; elsewhere a byte that is no ASCII as RTF's escape for it, and
/// `\bin` as the hexadecimal digits that a picture or an object may be written in as well, or not at all where it is
/// part of neither.
#[must_use]
pub fn portable(source: &[u8]) -> String {
    portable::text(source)
}

/// A document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Document {
    /// Every paragraph, in the order in which they begin in the source: a note stands after the paragraph it hangs on.
    pub paragraphs: Vec<Paragraph>,
    /// What the paragraphs' formatting refers to.
    pub tables: HeaderTables,
    /// What is wrong with the source, in its order; at most 1,000.
    pub flaws: Vec<Flaw>,
    /// How many letters are hidden; those of deleted text are not counted.
    pub hidden: usize,
    /// Bookmarks, in the order in which they begin.
    pub bookmarks: Vec<Bookmark>,
}

impl Document {
    /// The text, a paragraph a line.
    #[must_use]
    pub fn text(&self) -> String {
        self.paragraphs.iter().map(|paragraph| paragraph.text.as_str()).collect::<Vec<_>>().join("\n")
    }
}

/// A paragraph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paragraph {
    /// Where it stands.
    pub place: ParagraphPlace,
    /// The automatic number or bullet that the writer put there, trimmed; no part of the text.
    pub number: Option<String>,
    /// The visible text. A tab is `\t`, a line break `\n`; soft hyphens, hidden and deleted text are left out.
    pub text: String,
    /// Places of the text and of the source that belong together, ascending: one for each run of plain source text.
    pub map: Vec<(u32, u32)>,
    /// From its first word or letter to the end of what ends it.
    pub source: Range<usize>,
    /// How it is formatted: equal where only words of the text differ.
    pub signature: Vec<FormatToken>,
    /// Where in a table it stands, if in one.
    pub cell: Option<Cell>,
}

impl Paragraph {
    /// The byte of the source that a place of the text came from; for the text's end the place after its last byte.
    #[must_use]
    pub fn source_at(&self, text_offset: usize) -> usize {
        let after = self.map.partition_point(|entry| usize_of(entry.0) <= text_offset);
        let Some((text, source)) = after.checked_sub(1).and_then(|at| self.map.get(at)) else {
            return self.source.start;
        };
        let within = text_offset.min(self.text.len()).saturating_sub(usize_of(*text));
        // Escaped characters may be shorter in the source than in the text (a byte of a code page).
        let end = self.map.get(after).map_or(self.source.end, |next| usize_of(next.1).saturating_sub(1));
        (usize_of(*source) + within).min(end.max(usize_of(*source)))
    }
}

fn usize_of(offset: u32) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

/// Where a paragraph stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ParagraphPlace {
    /// The running text.
    Body,
    /// A table of the running text.
    Cell,
    /// A page's head.
    Header,
    /// A page's foot.
    Footer,
    /// A footnote or an endnote.
    Footnote,
    /// A remark in the margin.
    Annotation,
    /// A box of text.
    TextBox,
}

/// A place in a table; tables, rows and columns count from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cell {
    /// Which table of the document, nested ones counted too.
    pub table: u32,
    /// Which row.
    pub row: u32,
    /// Which cell of the row.
    pub column: u32,
    /// 1, or more in a nested table.
    pub depth: u8,
}

/// A piece of a paragraph's formatting.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum FormatToken {
    /// The paragraph's own: style, alignment, indents, list level, tabs, borders.
    Paragraph(Arc<str>),
    /// Its table row's: cell edges, borders, shading.
    Row(Arc<str>),
    /// A run of visible text that is formatted in one way.
    Run(Arc<str>),
    /// Something that stands between the letters: a note, a field, a picture, a page break.
    Mark(Arc<str>),
}

impl fmt::Display for FormatToken {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, words) = match self {
            Self::Paragraph(words) => ("paragraph", words),
            Self::Row(words) => ("row", words),
            Self::Run(words) => ("run", words),
            Self::Mark(words) => ("mark", words),
        };
        if words.is_empty() { write!(out, "{kind} (plain)") } else { write!(out, "{kind} {words}") }
    }
}

/// Where two signatures part: what each of them has there.
#[must_use]
pub fn first_difference<'a>(
    one: &'a [FormatToken],
    other: &'a [FormatToken],
) -> Option<(Option<&'a FormatToken>, Option<&'a FormatToken>)> {
    let same = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    let pair = (one.get(same), other.get(same));
    (pair != (None, None)).then_some(pair)
}

/// The source of each group of tables, without what spaces, line breaks and every save change in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeaderTables {
    /// The fonts.
    pub fonts: String,
    /// The colours.
    pub colours: String,
    /// The styles.
    pub styles: String,
    /// The lists, and which of them the paragraphs name.
    pub lists: String,
}

/// A named range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bookmark {
    /// Its name.
    pub name: String,
    /// From the end of the group that begins it to the beginning of the one that ends it; empty if nothing ends it.
    pub source: Range<usize>,
}

/// Something wrong with the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flaw {
    /// The byte of the source.
    pub at: usize,
    /// What is wrong.
    pub kind: FlawKind,
}

/// What can be wrong with a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FlawKind {
    /// It does not begin with `{\rtf`.
    NotRtf,
    /// A group is never closed; at its brace.
    UnclosedGroup,
    /// A brace closes what no brace opened.
    ExtraClose,
    /// Something follows the end of the document.
    TextAfterEnd,
    /// `\'` without two hexadecimal digits.
    BadEscape,
    /// A backslash before a character that needs none.
    UnknownSymbol,
    /// More than 10,000 groups within each other.
    TooDeep,
    /// `\bin` counts more bytes than there are.
    BadBinary,
    /// The source ends within a control word.
    TruncatedControl,
    /// A code page or character set that cannot be read.
    UnknownCodePage,
    /// Half a character of two `\u`, or one that is none.
    BadUnicode,
}

impl fmt::Display for FlawKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::NotRtf => "it does not begin with {\\rtf",
            Self::UnclosedGroup => "a group is opened here and never closed",
            Self::ExtraClose => "a } closes a group that was never opened",
            Self::TextAfterEnd => "something follows the end of the document",
            Self::BadEscape => "\\' is not followed by two hexadecimal digits",
            Self::UnknownSymbol => "a backslash stands before a character that needs none",
            Self::TooDeep => "more than 10,000 groups stand within each other",
            Self::BadBinary => "\\bin counts more bytes than there are",
            Self::TruncatedControl => "it ends within a control word",
            Self::UnknownCodePage => "the code page is not known; its letters are a guess",
            Self::BadUnicode => "\\u names no character",
        })
    }
}

//! A parsed document: paragraphs with their positions in the source.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A parsed document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Document {
    /// All paragraphs, in the order of their beginnings in the source: a note comes after the paragraph that refers to it.
    pub paragraphs: Vec<Paragraph>,
    /// The header tables that formatting refers to.
    pub tables: HeaderTables,
    /// The flaws of the source, in order; at most 1,000.
    pub flaws: Vec<Flaw>,
    /// Number of hidden letters, without those of deleted text.
    pub hidden: usize,
    /// The bookmarks, in the order of their beginnings.
    pub bookmarks: Vec<Bookmark>,
}

impl Document {
    /// The text, one paragraph per line.
    #[must_use]
    pub fn text(&self) -> String {
        self.paragraphs
            .iter()
            .map(|paragraph| paragraph.text.as_str())
            .collect::<Vec<_>>()
            .join("\n")
    }
}

/// A paragraph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paragraph {
    /// The part of the document that contains it.
    pub place: ParagraphPlace,
    /// The automatic number or bullet as stored by the writer, trimmed; not part of the text.
    pub number: Option<String>,
    /// The visible text. A tab is `\t`, a line break `\n`; without soft hyphens, hidden and deleted text.
    pub text: String,
    /// Corresponding offsets in the text and in the source, ascending: one pair for each run of plain source text.
    pub map: Vec<(u32, u32)>,
    /// The byte range from its first word or letter to the end of the word that ends it.
    pub source: Range<usize>,
    /// Its formatting; equal for paragraphs that differ only in words.
    pub signature: Vec<FormatToken>,
    /// Its position in a table, if it is in one.
    pub cell: Option<Cell>,
}

impl Paragraph {
    /// The byte in the source for an offset in the text; for the end of the text, the offset after its last byte.
    #[must_use]
    pub fn source_at(&self, text_offset: usize) -> usize {
        let after = self
            .map
            .partition_point(|entry| usize_of(entry.0) <= text_offset);
        let Some((text, source)) = after.checked_sub(1).and_then(|at| self.map.get(at)) else {
            return self.source.start;
        };
        let within = text_offset
            .min(self.text.len())
            .saturating_sub(usize_of(*text));
        // Escaped characters may be shorter in the source than in the text (a byte of a code page).
        let end = self
            .map
            .get(after)
            .map_or(self.source.end, |next| usize_of(next.1).saturating_sub(1));
        (usize_of(*source) + within).min(end.max(usize_of(*source)))
    }
}

impl Paragraph {
    /// Appends a paragraph that continues this one, with a space between them. What its formatting has and this one does not is added.
    pub fn append(&mut self, next: Self) {
        self.text.truncate(self.text.trim_end().len());
        if !next.text.starts_with(char::is_whitespace) {
            self.text.push(' ');
        }
        let start = u32::try_from(self.text.len()).unwrap_or(u32::MAX);
        // Only offsets of the blanks at the end are left out: going through all of them for each line would not be linear.
        while self.map.last().is_some_and(|(offset, _)| *offset >= start) {
            self.map.pop();
        }
        let moved = next.map.iter();
        self.map
            .extend(moved.map(|(offset, source)| (offset.saturating_add(start), *source)));
        self.text.push_str(&next.text);
        self.source.end = next.source.end;
        for token in next.signature {
            let is_same = match &token {
                FormatToken::Paragraph(_) | FormatToken::Row(_) => {
                    self.signature.first() == Some(&token)
                }
                FormatToken::Run(_) => self.signature.last() == Some(&token),
                FormatToken::Mark(_) | FormatToken::Content { .. } => false,
            };
            if !is_same {
                self.signature.push(token);
            }
        }
    }
}

fn usize_of(offset: u32) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

/// The part of a document that contains a paragraph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ParagraphPlace {
    /// The body text.
    Body,
    /// A table in the body text.
    Cell,
    /// A page header.
    Header,
    /// A page footer.
    Footer,
    /// A footnote or endnote.
    Footnote,
    /// A margin comment.
    Annotation,
    /// A text box.
    TextBox,
}

/// A position in a table; all indexes start at 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cell {
    /// The table's index in the document, including nested tables.
    pub table: u32,
    /// The row.
    pub row: u32,
    /// The cell in the row.
    pub column: u32,
    /// The nesting depth: 1, or more in a nested table.
    pub depth: u8,
}

/// One part of a paragraph's formatting.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FormatToken {
    /// The paragraph's format: style, alignment, indents, list level, tabs, borders.
    Paragraph(Arc<str>),
    /// Its table row's format: cell edges, borders, shading.
    Row(Arc<str>),
    /// A run of visible text with one format.
    Run(Arc<str>),
    /// A mark between letters: a note, a page break, a drawing.
    Mark(Arc<str>),
    /// Something between letters whose content does not belong to the text: a field, a picture, a formula, an embedded object.
    Content {
        /// What it is.
        kind: Arc<str>,
        /// Its source, normalized.
        source: Arc<str>,
    },
}

/// The most characters of a content that are shown.
const SHOWN: usize = 60;

impl fmt::Display for FormatToken {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, words) = match self {
            Self::Paragraph(words) => ("paragraph", words),
            Self::Row(words) => ("row", words),
            Self::Run(words) => ("run", words),
            Self::Mark(words) => ("mark", words),
            Self::Content { kind, source } => {
                let words: Vec<&str> = source
                    .split(|char: char| char.is_whitespace() || char.is_control())
                    .filter(|word| !word.is_empty())
                    .collect();
                let words = words.join(" ");
                let shown: String = words.chars().take(SHOWN).collect();
                let more = if shown.len() < words.len() { "…" } else { "" };
                return write!(out, "{kind} {shown}{more}");
            }
        };
        if words.is_empty() {
            write!(out, "{kind} (plain)")
        } else {
            write!(out, "{kind} {words}")
        }
    }
}

/// The source of each kind of header table, normalized: without spaces, line breaks and what every save changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeaderTables {
    /// The fonts.
    pub fonts: String,
    /// The colours.
    pub colours: String,
    /// The styles.
    pub styles: String,
    /// The lists and their overrides.
    pub lists: String,
}

/// A named range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bookmark {
    /// Its name.
    pub name: String,
    /// From the end of the group that begins it to the start of the group that ends it; empty if none ends it.
    pub source: Range<usize>,
}

/// A problem in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flaw {
    /// The byte offset in the source.
    pub at: usize,
    /// The kind of problem.
    pub kind: FlawKind,
}

/// The kinds of problems in a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FlawKind {
    /// It does not begin with `{\rtf`.
    NotRtf,
    /// Blanks precede `{\rtf`.
    LeadingBlanks,
    /// It begins with `\rtf`, without a brace.
    NoFirstBrace,
    /// A group is not closed; reported at its brace.
    UnclosedGroup,
    /// A closing brace without an opening one.
    ExtraClose,
    /// Text after the end of the document.
    TextAfterEnd,
    /// `\'` without two hexadecimal digits.
    BadEscape,
    /// A backslash before a character that needs none.
    UnknownSymbol,
    /// More than 10,000 nested groups.
    TooDeep,
    /// `\bin` with a count larger than the rest of the source.
    BadBinary,
    /// The source ends in a control word.
    TruncatedControl,
    /// An unknown code page or character set.
    UnknownCodePage,
    /// Half of a surrogate pair of two `\u`, or an invalid code point.
    BadUnicode,
}

impl fmt::Display for FlawKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::NotRtf => "it does not begin with {\\rtf",
            Self::LeadingBlanks => "it begins with blanks, not with {\\rtf",
            Self::NoFirstBrace => "its first brace is missing",
            Self::UnclosedGroup => "a group is opened here and never closed",
            Self::ExtraClose => "a } closes a group that was never opened",
            Self::TextAfterEnd => "there is text after the end of the document",
            Self::BadEscape => "\\' is not followed by two hexadecimal digits",
            Self::UnknownSymbol => "a backslash precedes a character that needs none",
            Self::TooDeep => "more than 10,000 groups are nested",
            Self::BadBinary => "\\bin counts more bytes than the source has",
            Self::TruncatedControl => "the source ends in a control word",
            Self::UnknownCodePage => "unknown code page; its letters are guessed",
            Self::BadUnicode => "\\u does not encode a valid character",
        })
    }
}

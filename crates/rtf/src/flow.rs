//! A flow of paragraphs: the body, one header, one note. It collects a paragraph until it ends.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::state::Props;
use super::{Cell, FormatToken, Paragraph, ParagraphPlace};

/// Deepest nesting of tables; deeper ones count as this deep.
const DEEPEST: u8 = 32;

#[derive(Debug)]
pub struct Flow {
    place: ParagraphPlace,
    /// Whether it is what separates notes: paragraphs with the usual line alone are no part of the document.
    pub is_separator: bool,
    start: Option<usize>,
    text: String,
    map: Vec<(u32, u32)>,
    pub number: Option<String>,
    tokens: Vec<FormatToken>,
    last: Option<Rc<Props>>,
    levels: Vec<TableLevel>,
    /// Paragraphs of unfinished rows, as depth and index in the document.
    open: Vec<(u8, usize)>,
}

#[derive(Debug)]
struct TableLevel {
    table: u32,
    row: u32,
    column: u32,
}

/// Data that all flows of a document share.
#[derive(Debug, Default)]
pub struct Gathered {
    pub paragraphs: Vec<Paragraph>,
    tables: u32,
    names: HashMap<Rc<Props>, Arc<str>>,
}

impl Gathered {
    fn name(&mut self, props: &Rc<Props>) -> Arc<str> {
        if let Some(name) = self.names.get(props) {
            return Arc::clone(name);
        }
        let name: Arc<str> = props.words().into();
        self.names.insert(Rc::clone(props), Arc::clone(&name));
        name
    }
}

impl Flow {
    pub const fn new(place: ParagraphPlace) -> Self {
        Self {
            place,
            is_separator: false,
            start: None,
            text: String::new(),
            map: Vec::new(),
            number: None,
            tokens: Vec::new(),
            last: None,
            levels: Vec::new(),
            open: Vec::new(),
        }
    }

    /// Records something of a paragraph; the first position is its beginning.
    pub fn touch(&mut self, at: usize) {
        self.start.get_or_insert(at);
    }

    /// Moves the beginning of an empty paragraph, for example after a page header.
    pub const fn begin_later(&mut self) {
        if !self.has_content() && self.tokens.is_empty() {
            self.start = None;
        }
    }

    /// Adds visible text from that byte of the source.
    pub fn push(&mut self, text: &str, at: usize, props: &Rc<Props>, gathered: &mut Gathered) {
        if text.is_empty() {
            return;
        }
        self.touch(at);
        let is_same = self
            .last
            .as_ref()
            .is_some_and(|last| Rc::ptr_eq(last, props) || last == props);
        if !is_same {
            self.tokens.push(FormatToken::Run(gathered.name(props)));
            self.last = Some(Rc::clone(props));
        }
        let entry = (small(self.text.len()), small(at));
        let follows = self.map.last().is_some_and(|last| {
            let gone = entry.0.saturating_sub(last.0);
            last.1.checked_add(gone) == Some(entry.1)
        });
        if !follows {
            self.map.push(entry);
        }
        self.text.push_str(text);
    }

    /// Records a mark between letters.
    pub fn mark(&mut self, name: &str, at: usize) {
        self.touch(at);
        self.tokens.push(FormatToken::Mark(name.into()));
    }

    /// Records something between letters that has a content of its own.
    pub fn content(&mut self, kind: &str, source: &str, at: usize) {
        self.touch(at);
        self.tokens.push(FormatToken::Content {
            kind: kind.into(),
            source: source.into(),
        });
    }

    /// What comes after the last paragraph, which has no text of its own.
    pub fn take_rest(&mut self) -> impl Iterator<Item = FormatToken> + use<> {
        std::mem::take(&mut self.tokens)
            .into_iter()
            .filter(is_content)
    }

    /// Whether the paragraph has content that must be ended.
    pub const fn has_content(&self) -> bool {
        !self.text.is_empty() || self.number.is_some()
    }

    /// Whether the paragraph is the usual line between text and notes.
    fn is_plain_line(&self) -> bool {
        self.is_separator && self.text.trim().is_empty() && !self.tokens.iter().any(is_content)
    }

    /// Ends the paragraph; `depth` is its table nesting depth, 0 outside of tables.
    pub fn end(&mut self, end: usize, depth: u8, props: &Rc<Props>, gathered: &mut Gathered) {
        if self.is_plain_line() {
            (self.start, self.last) = (None, None);
            self.tokens.clear();
            return;
        }
        let depth = depth.min(DEEPEST);
        self.levels.truncate(usize::from(depth));
        while self.levels.len() < usize::from(depth) {
            self.levels.push(TableLevel {
                table: gathered.tables,
                row: 0,
                column: 0,
            });
            gathered.tables = gathered.tables.saturating_add(1);
        }
        let cell = self.levels.last().map(|level| Cell {
            table: level.table,
            row: level.row,
            column: level.column,
            depth,
        });
        if cell.is_some() {
            self.open.push((depth, gathered.paragraphs.len()));
        } else {
            self.open.clear();
        }
        let mut signature = Vec::with_capacity(self.tokens.len() + 1);
        signature.push(FormatToken::Paragraph(gathered.name(props)));
        signature.append(&mut self.tokens);
        self.last = None;
        let in_body = self.place == ParagraphPlace::Body && cell.is_some();
        gathered.paragraphs.push(Paragraph {
            place: if in_body {
                ParagraphPlace::Cell
            } else {
                self.place
            },
            number: self.number.take(),
            text: std::mem::take(&mut self.text),
            map: std::mem::take(&mut self.map),
            source: self.start.take().unwrap_or(end)..end,
            signature,
            cell,
        });
    }

    /// Ends a cell, after its last paragraph.
    pub fn end_cell(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            level.column = level.column.saturating_add(1);
        }
    }

    /// Ends a row with this definition; `nested` means a row of the deepest table, if that is nested.
    pub fn end_row(&mut self, nested: bool, row: &Arc<str>, gathered: &mut Gathered) {
        let depth = if nested {
            self.open.last().map_or(2, |open| open.0).max(2)
        } else {
            1
        };
        while let Some((row_depth, place)) = self.open.pop_if(|open| open.0 >= depth) {
            // Paragraphs of unfinished inner rows do not get the outer row's formatting.
            if row_depth == depth
                && let Some(paragraph) = gathered.paragraphs.get_mut(place)
            {
                paragraph
                    .signature
                    .insert(1, FormatToken::Row(Arc::clone(row)));
            }
        }
        self.levels.truncate(usize::from(depth));
        if let Some(level) = self.levels.last_mut() {
            level.row = level.row.saturating_add(1);
            level.column = 0;
        }
    }
}

fn is_content(token: &FormatToken) -> bool {
    matches!(token, FormatToken::Content { .. })
}

fn small(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

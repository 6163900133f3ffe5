//! Processes the lexemes: groups, destinations, and the effect of each control word.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::str::from_utf8;

use super::charset::Page;
use super::flow::{Flow, Gathered};
use super::header::normalized;
use super::lexer::{Lexeme, Lexer, beginning};
use super::state::Props;
use super::table::TableRow;
use super::words::FormatLevel;
use super::{Document, Flaw, FlawKind, ParagraphPlace};

/// Maximum nesting of groups; deeper ones are skipped.
const DEEPEST: usize = 10_000;
/// Maximum number of reported flaws.
const MOST_FLAWS: usize = 1_000;

/// The purpose of a group's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dest {
    /// Document text.
    Text,
    /// Ignored.
    Skip,
    /// A drawing: ignored except for text boxes in it.
    Shape,
    /// A property of a drawing: ignored except for the text of WordArt.
    Property,
    /// The name of such a property.
    PropertyName,
    /// The automatic number.
    Number,
    /// A field's instruction.
    Field,
    /// The name at the start of a bookmark.
    Begin,
    /// The name at the end of a bookmark.
    End,
    /// The font table.
    Fonts,
    /// Another header table.
    Table,
    /// Two alternatives of one content, in a group each; the second one, `\ud`, is read.
    Twice,
    /// One of these alternatives, before its first word.
    OneOfTwice,
    /// An old form of automatic numbers: formatting of the surrounding paragraph.
    Numbering,
    /// The definition of a nested row.
    NestedRow,
}

/// The script whose font decodes bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Script {
    Main,
    Far,
    RightToLeft,
}

/// What the border attributes apply to.
#[derive(Debug, Clone, Copy)]
pub enum BorderSide {
    None,
    Of(FormatLevel, usize),
    Row,
}

#[derive(Debug, Clone)]
pub struct RtfGroup {
    pub start: usize,
    pub dest: Dest,
    /// Whether this group begins and ends the destination, the flow, the table.
    pub owns_dest: bool,
    pub owns_flow: bool,
    pub owns_table: Option<usize>,
    /// What this group is, if its content is kept and does not belong to the text.
    pub content: Option<&'static str>,
    pub fresh: bool,
    pub star: bool,
    pub chars: Rc<Props>,
    pub paras: Rc<Props>,
    pub hidden: bool,
    pub deleted: bool,
    pub fallback: usize,
    pub fonts: [Option<i32>; 3],
    pub script: Script,
    /// The character of a field, until text follows its instruction.
    pub pending: Option<PendingSymbol>,
}

/// The character of a field, used if its result is empty.
#[derive(Debug, Clone, Copy)]
pub struct PendingSymbol {
    pub letter: char,
    /// The value of `RtfReader::written` at that time.
    pub written: usize,
}

#[derive(Debug)]
pub struct RtfReader<'a> {
    pub source: &'a [u8],
    pub utf8: bool,
    pub lexer: Lexer<'a>,
    pub group: RtfGroup,
    pub outer: Vec<RtfGroup>,
    too_deep: usize,
    pub flows: Vec<Flow>,
    pub gathered: Gathered,
    pub document: Document,
    pub names: HashMap<String, usize>,
    pub page: Page,
    pub pages: HashMap<i32, Page>,
    /// Positions of unknown code pages by font, `None` for the document's; reported when a letter is decoded.
    pub unknown: HashMap<Option<i32>, usize>,
    /// The fonts named "Symbol".
    pub greek: HashSet<i32>,
    pub table_font: i32,
    pub font: i32,
    pub collected: String,
    /// The name of the last property of a drawing.
    pub property: String,
    /// Number of pieces of text and paragraph ends so far.
    pub written: usize,
    pub rows: [TableRow; 2],
    pub side: BorderSide,
    pub tab: String,
    /// Bytes of an incomplete character, and its offset.
    pub bytes: Vec<u8>,
    pub bytes_at: usize,
    /// The first half of a surrogate pair of two `\u`.
    pub high: Option<(u32, usize)>,
    /// Number of characters of a fallback that are still to be skipped.
    pub skip: usize,
}

impl<'a> RtfReader<'a> {
    pub fn new(source: &'a [u8]) -> Self {
        let begins = beginning(source);
        let leading = source.get(..begins.unwrap_or(0)).unwrap_or_default();
        let leading = leading.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(leading);
        let chars = Rc::new(Props::default());
        let mut reader = Self {
            source,
            utf8: from_utf8(source).is_ok(),
            lexer: Lexer::new(source, begins.unwrap_or(source.len())),
            group: RtfGroup {
                start: 0,
                dest: Dest::Text,
                owns_dest: false,
                owns_flow: false,
                owns_table: None,
                content: None,
                fresh: false,
                star: false,
                paras: Rc::clone(&chars),
                chars,
                hidden: false,
                deleted: false,
                fallback: 1,
                fonts: [None; 3],
                script: Script::Main,
                pending: None,
            },
            outer: Vec::new(),
            too_deep: 0,
            flows: vec![Flow::new(ParagraphPlace::Body)],
            gathered: Gathered::default(),
            document: Document::default(),
            names: HashMap::new(),
            page: Page::WESTERN,
            pages: HashMap::new(),
            unknown: HashMap::new(),
            greek: HashSet::new(),
            table_font: 0,
            font: 0,
            collected: String::new(),
            property: String::new(),
            written: 0,
            rows: [TableRow::default(), TableRow::default()],
            side: BorderSide::None,
            tab: String::new(),
            bytes: Vec::new(),
            bytes_at: 0,
            high: None,
            skip: 0,
        };
        if begins.is_none() || leading.iter().any(|byte| !byte.is_ascii_whitespace()) {
            reader.flaw(0, FlawKind::NotRtf);
        } else if !leading.is_empty() {
            reader.flaw(0, FlawKind::LeadingBlanks);
        }
        if let Some(begins) = begins.filter(|begins| source.get(*begins) == Some(&b'\\')) {
            reader.flaw(begins, FlawKind::NoFirstBrace);
            reader.open(begins);
        }
        reader
    }

    pub fn flaw(&mut self, at: usize, kind: FlawKind) {
        if self.document.flaws.len() < MOST_FLAWS {
            self.document.flaws.push(Flaw { at, kind });
        }
    }

    pub fn read(mut self) -> Document {
        while let Some((start, lexeme)) = self.lexer.next() {
            if !matches!(
                lexeme,
                Lexeme::Text(_) | Lexeme::Hex(_) | Lexeme::Symbol(0x80..)
            ) {
                self.flush();
            }
            match lexeme {
                Lexeme::Open => self.open(start),
                Lexeme::Close => self.close(start),
                Lexeme::Truncated => self.flaw(start, FlawKind::TruncatedControl),
                Lexeme::BadBinary => self.flaw(start, FlawKind::BadBinary),
                Lexeme::BadHex => self.flaw(start, FlawKind::BadEscape),
                _ if self.too_deep > 0 => {}
                Lexeme::Binary(_) => self.skip = 0,
                Lexeme::Text(bytes) => self.text(bytes, start),
                Lexeme::Hex(byte) => self.byte(byte, start),
                Lexeme::Symbol(b'*') => self.group.star = self.group.fresh,
                Lexeme::Symbol(symbol) => self.symbol(symbol, start),
                Lexeme::Word(name, value) => self.word(name, value, start),
            }
            if !matches!(lexeme, Lexeme::Open | Lexeme::Symbol(b'*')) {
                self.group.fresh = false;
            }
            if self.outer.is_empty() {
                self.after_end();
                break;
            }
        }
        self.flush();
        self.report_lost_half();
        if !self.outer.is_empty() {
            let open: Vec<usize> = self.outer.iter().skip(1).map(|group| group.start).collect();
            open.into_iter()
                .chain([self.group.start])
                .for_each(|start| self.flaw(start, FlawKind::UnclosedGroup));
        }
        while !self.flows.is_empty() {
            self.end_flow(self.lexer.at);
        }
        self.document.paragraphs = self.gathered.paragraphs;
        self.document
            .paragraphs
            .sort_by_key(|paragraph| paragraph.source.start);
        self.document.flaws.sort_by_key(|flaw| flaw.at);
        self.document
    }

    /// Reports what follows the document group; it is not read.
    fn after_end(&mut self) {
        let rest = self.source.get(self.lexer.at..).unwrap_or_default();
        for (place, byte) in rest.iter().enumerate() {
            match byte {
                b'}' => self.flaw(self.lexer.at + place, FlawKind::ExtraClose),
                0 | b' ' | b'\t' | b'\r' | b'\n' | 0x1A => {}
                _ => {
                    self.flaw(self.lexer.at + place, FlawKind::TextAfterEnd);
                    break;
                }
            }
        }
    }

    fn open(&mut self, start: usize) {
        self.skip = 0;
        self.report_lost_half();
        if self.outer.len() >= DEEPEST {
            if self.too_deep == 0 {
                self.flaw(start, FlawKind::TooDeep);
            }
            self.too_deep += 1;
            return;
        }
        let mut inner = self.group.clone();
        inner.start = start;
        inner.owns_dest = false;
        // The outermost group owns the body.
        inner.owns_flow = self.outer.is_empty();
        inner.owns_table = None;
        inner.content = None;
        inner.fresh = true;
        inner.star = false;
        inner.pending = None;
        if inner.dest == Dest::Twice {
            inner.dest = Dest::OneOfTwice;
        }
        self.outer.push(std::mem::replace(&mut self.group, inner));
    }

    fn close(&mut self, start: usize) {
        self.skip = 0;
        self.report_lost_half();
        if self.too_deep > 0 {
            self.too_deep -= 1;
            return;
        }
        // A note or a header is not a field. The field's character comes before its end.
        let pending = self
            .group
            .pending
            .filter(|pending| pending.written == self.written && !self.group.owns_flow);
        if let Some(pending) = pending {
            self.put(pending.letter.encode_utf8(&mut [0; 4]), start);
        }
        let Some(outer) = self.outer.pop() else {
            return;
        };
        if self.group.owns_flow {
            self.end_flow(start);
        }
        let inner = std::mem::replace(&mut self.group, outer);
        if let Some(begin) = inner.owns_table {
            self.keep_table(inner.start, begin, start);
        }
        if let Some(kind) = inner.content {
            let source = self.source.get(inner.start..start).unwrap_or_default();
            let source: String = normalized(source).split_ascii_whitespace().collect();
            self.content(kind, &source, inner.start);
        }
        if inner.owns_dest {
            self.end_destination(&inner, start);
        }
    }
}

//! The walk over the lexemes: groups, destinations, and what each control word does.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::str::from_utf8;

use super::charset::Page;
use super::flow::{Flow, Gathered};
use super::lexer::{Lexeme, Lexer, beginning};
use super::state::Props;
use super::table::TableRow;
use super::words::FormatLevel;
use super::{Document, Flaw, FlawKind, ParagraphPlace};

/// Groups within each other beyond this are skipped.
const DEEPEST: usize = 10_000;
/// Flaws beyond this are not told.
const MOST_FLAWS: usize = 1_000;

/// What the text of a group is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dest {
    /// To be read.
    Text,
    /// Nothing that is read.
    Skip,
    /// A drawing: nothing, but a box of text may stand in it.
    Shape,
    /// The automatic number.
    Number,
    /// A field's instruction.
    Field,
    /// A bookmark's name where it begins.
    Begin,
    /// A bookmark's name where it ends.
    End,
    /// The table of fonts.
    Fonts,
    /// Another table of the header.
    Table,
    /// One thing in two ways of writing, in a group each: the second one, `\ud`, is read.
    Twice,
    /// One of these groups, before its first word.
    OneOfTwice,
    /// How old writers say what an automatic number looks like: formatting of the paragraph around it.
    Numbering,
    /// How a nested row is defined.
    NestedRow,
}

/// Which font bytes are read by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Script {
    Main,
    Far,
    RightToLeft,
}

/// What a border's attributes are about.
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
    /// Whether the destination, the flow, the table began with this group and end with it.
    pub owns_dest: bool,
    pub owns_flow: bool,
    pub owns_table: Option<usize>,
    pub fresh: bool,
    pub star: bool,
    pub chars: Rc<Props>,
    pub paras: Rc<Props>,
    pub hidden: bool,
    pub deleted: bool,
    pub fallback: usize,
    pub fonts: [Option<i32>; 3],
    pub script: Script,
    /// What a field stands for as long as no text is put after its instruction.
    pub owed: Option<Owed>,
}

/// A letter that a field names, should its result be empty.
#[derive(Debug, Clone, Copy)]
pub struct Owed {
    pub letter: char,
    /// What had been put before.
    pub written: usize,
}

/// The walk.
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
    /// Where pages are named that are not known, by font; of nothing the document's own. A letter tells it.
    pub unknown: HashMap<Option<i32>, usize>,
    /// The fonts that are called "Symbol".
    pub greek: HashSet<i32>,
    pub table_font: i32,
    pub font: i32,
    pub collected: String,
    /// How many pieces of text have been put and paragraphs have ended.
    pub written: usize,
    pub rows: [TableRow; 2],
    pub side: BorderSide,
    pub tab: String,
    /// Bytes of a character that is not complete, and where it begins.
    pub bytes: Vec<u8>,
    pub bytes_at: usize,
    /// The first half of a character of two `\u`.
    pub high: Option<(u32, usize)>,
    /// How many characters of a fallback are still to be skipped.
    pub skip: usize,
}

impl<'a> RtfReader<'a> {
    pub fn new(source: &'a [u8]) -> Self {
        let begins = beginning(source);
        let before = source.get(..begins.unwrap_or(0)).unwrap_or_default();
        let before = before.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(before);
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
                fresh: false,
                star: false,
                paras: Rc::clone(&chars),
                chars,
                hidden: false,
                deleted: false,
                fallback: 1,
                fonts: [None; 3],
                script: Script::Main,
                owed: None,
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
            written: 0,
            rows: [TableRow::default(), TableRow::default()],
            side: BorderSide::None,
            tab: String::new(),
            bytes: Vec::new(),
            bytes_at: 0,
            high: None,
            skip: 0,
        };
        if begins.is_none() || before.iter().any(|byte| !byte.is_ascii_whitespace()) {
            reader.flaw(0, FlawKind::NotRtf);
        }
        reader
    }

    pub fn flaw(&mut self, at: usize, kind: FlawKind) {
        if self.document.flaws.len() < MOST_FLAWS {
            self.document.flaws.push(Flaw { at, kind });
        }
    }

    /// Reads the source to its end, or to the document's.
    pub fn read(mut self) -> Document {
        while let Some((start, lexeme)) = self.lexer.next() {
            if !matches!(lexeme, Lexeme::Text(_) | Lexeme::Hex(_) | Lexeme::Symbol(0x80..)) {
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
        self.half_is_lost();
        if !self.outer.is_empty() {
            let open: Vec<usize> = self.outer.iter().skip(1).map(|group| group.start).collect();
            open.into_iter().chain([self.group.start]).for_each(|start| self.flaw(start, FlawKind::UnclosedGroup));
        }
        while !self.flows.is_empty() {
            self.end_flow(self.lexer.at);
        }
        self.document.paragraphs = self.gathered.paragraphs;
        self.document.paragraphs.sort_by_key(|paragraph| paragraph.source.start);
        self.document.flaws.sort_by_key(|flaw| flaw.at);
        self.document
    }

    /// What stands after the group that is the document: named, not read.
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
        self.half_is_lost();
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
        // The outermost group is the body's.
        inner.owns_flow = self.outer.is_empty();
        inner.owns_table = None;
        inner.fresh = true;
        inner.star = false;
        inner.owed = None;
        if inner.dest == Dest::Twice {
            inner.dest = Dest::OneOfTwice;
        }
        self.outer.push(std::mem::replace(&mut self.group, inner));
    }

    fn close(&mut self, start: usize) {
        self.skip = 0;
        self.half_is_lost();
        if self.too_deep > 0 {
            self.too_deep -= 1;
            return;
        }
        // A note, a head is no field, and its last letter stands before its end.
        let owed = self.group.owed.filter(|owed| owed.written == self.written && !self.group.owns_flow);
        if let Some(owed) = owed {
            self.put(owed.letter.encode_utf8(&mut [0; 4]), start);
        }
        let Some(outer) = self.outer.pop() else { return };
        if self.group.owns_flow {
            self.end_flow(start);
        }
        let inner = std::mem::replace(&mut self.group, outer);
        if let Some(begin) = inner.owns_table {
            self.keep_table(inner.start, begin, start);
        }
        if inner.owns_dest {
            self.end_destination(&inner, start);
        }
    }
}

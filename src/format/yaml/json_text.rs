//! Writes YAML as JSON, so that a text means the same in both and is read by the same code.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, Tag};

use crate::diag::{Code, Diagnostic};
use crate::files::{OriginPiece, PieceChange, SourceText};
use crate::format::conflict::{ConflictProblem, conflict};
use crate::model::InputLimit;

/// How much of YAML a file may use beyond what JSON has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum YamlDialect {
    /// A golden file: nothing, because a case shows all that it expects.
    Case,
    /// Another file of goldgate: aliases, which are written out.
    Config,
    /// A file of another program: also the tags of the core schema, merge keys as plain keys, and as texts the keys and numbers that JSON
    /// does not have.
    Foreign,
}

/// The text as JSON, with the positions of the YAML. Plain values are read as by the core schema of YAML 1.2: `no` and a date are texts.
///
/// # Errors
/// The position of what is not valid YAML, of what JSON does not have and the dialect does not allow, or of an alias that repeats too much.
pub fn yaml_as_json(source: SourceText, dialect: YamlDialect) -> Result<SourceText, Diagnostic> {
    let mut writer = JsonWriter::of(&source, dialect);
    for event in Parser::new_from_str(&source.text) {
        match event {
            Ok((event, span)) => writer.add(&event, span)?,
            Err(error) => return Err(writer.unparsed(&error)),
        }
    }
    let JsonWriter { json, pieces, .. } = writer;
    // An empty file has no value; the typed parse reports it as such.
    let json = if json.is_empty() {
        "null".to_owned()
    } else {
        json
    };
    Ok(SourceText::from_pieces(Arc::new(source), json, pieces))
}

/// Deepest allowed nesting. Files that people write are less than ten levels deep.
const DEPTH: usize = InputLimit::YAML_LEVELS.count();

struct JsonWriter<'a> {
    source: &'a SourceText,
    dialect: YamlDialect,
    json: String,
    pieces: Vec<OriginPiece>,
    open: Vec<OpenValue>,
    /// The values that aliases may refer to, by the parser's numbers of their anchors.
    anchored: BTreeMap<usize, AnchoredValue>,
    /// The bytes that aliases repeat.
    copied: usize,
    cursor: CharCursor<'a>,
    documents: usize,
}

/// A mapping or a list that is still open.
struct OpenValue {
    form: OpenForm,
    start: usize,
    /// Its values so far.
    count: usize,
    anchor: usize,
    first_piece: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum OpenForm {
    List,
    /// A mapping that waits for a key.
    Keys,
    /// A mapping that waits for the value of its last key.
    Value,
}

/// A value that was written: its pieces, and where its JSON text ends. The text starts with the first piece.
#[derive(Clone)]
struct AnchoredValue {
    pieces: Range<usize>,
    end: usize,
}

impl<'a> JsonWriter<'a> {
    fn of(source: &'a SourceText, dialect: YamlDialect) -> Self {
        let cursor = CharCursor {
            text: &source.text,
            index: 0,
            offset: 0,
        };
        Self {
            source,
            dialect,
            json: String::new(),
            pieces: Vec::new(),
            open: Vec::new(),
            anchored: BTreeMap::new(),
            copied: 0,
            cursor,
            documents: 0,
        }
    }

    fn add(&mut self, event: &Event<'_>, span: Span) -> Result<(), Diagnostic> {
        let start = self.cursor.offset_of(span.start.index());
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    return self.refuse_yaml(
                        start,
                        "a second document starts here",
                        "write a list, or one file for each",
                    );
                }
            }
            Event::Alias(anchor) => self.alias(*anchor, start)?,
            Event::MappingEnd => self.close('}'),
            Event::SequenceEnd => self.close(']'),
            Event::MappingStart(anchor, tag) => {
                self.refuse_marks(start, *anchor, tag.as_deref())?;
                self.open('{', start, *anchor, OpenForm::Keys)?;
            }
            Event::SequenceStart(anchor, tag) => {
                self.refuse_marks(start, *anchor, tag.as_deref())?;
                self.open('[', start, *anchor, OpenForm::List)?;
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.refuse_marks(start, *anchor, tag.as_deref())?;
                let is_text = tag.as_ref().is_some_and(|tag| tag.suffix == "str");
                let value = match style {
                    ScalarStyle::Plain if !is_text => PlainValue::of(text),
                    ScalarStyle::Plain
                    | ScalarStyle::SingleQuoted
                    | ScalarStyle::DoubleQuoted
                    | ScalarStyle::Literal
                    | ScalarStyle::Folded => PlainValue::Text,
                };
                self.scalar(text, value, *style, start, *anchor)?;
            }
        }
        Ok(())
    }

    fn scalar(
        &mut self,
        text: &str,
        value: PlainValue,
        style: ScalarStyle,
        start: usize,
        anchor: usize,
    ) -> Result<(), Diagnostic> {
        let is_key = self.awaits_key();
        let is_odd = is_key || matches!(value, PlainValue::Infinite | PlainValue::Ambiguous);
        let value = match self.dialect {
            YamlDialect::Foreign if is_odd => PlainValue::Text,
            YamlDialect::Case | YamlDialect::Config | YamlDialect::Foreign => value,
        };
        if is_key && self.dialect != YamlDialect::Foreign {
            if text == "<<" && style == ScalarStyle::Plain {
                return self.refuse_yaml(
                    start,
                    "a merge key refers to another part",
                    "write the keys out",
                );
            }
            if value != PlainValue::Text {
                let (what, help) = (
                    format!("the key {text:?} is not a string"),
                    "put quotes around it",
                );
                return self.refuse(start, Code::BAD_KEY, what, help);
            }
        }
        let json = match value {
            PlainValue::Text => serde_json::Value::from(text).to_string(),
            PlainValue::Word(word) => word.to_owned(),
            PlainValue::Number(number) => number,
            PlainValue::Infinite => {
                let (what, help) = (
                    format!("{text} is not a finite number"),
                    "write a finite number",
                );
                return self.refuse(start, Code::BAD_NUMBER, what, help);
            }
            PlainValue::Ambiguous => {
                let what = format!("{text} can be read as a number in two ways, or as a text");
                let help = "write a decimal number without leading zeros, or put quotes around it";
                return self.refuse(start, Code::BAD_NUMBER, what, help);
            }
        };
        let first_piece = self.before_node(start);
        self.json.push_str(&json);
        self.after_node(anchor, first_piece);
        Ok(())
    }

    /// Writes the value of an anchor again: it has the position of the alias, and its parts keep theirs.
    fn alias(&mut self, anchor: usize, start: usize) -> Result<(), Diagnostic> {
        let limit = InputLimit::YAML_ALIASES;
        if self.dialect == YamlDialect::Case {
            return self.refuse_yaml(
                start,
                "an alias refers to another part",
                "write the value out",
            );
        }
        if self.awaits_key() {
            return self.refuse_key(start);
        }
        let Some(AnchoredValue { pieces, end }) = self.anchored.get(&anchor).cloned() else {
            let what = "this alias is part of the value that it refers to";
            return self.refuse(start, Code::BAD_VALUE, what, "write the value out");
        };
        let OriginPiece {
            start: value_start,
            original: anchor_start,
            ..
        } = self.pieces[pieces.start];
        let value = value_start..end;
        self.copied += value.len();
        if limit.is_exceeded_by(self.copied) {
            let what = format!("the aliases of this file repeat more than {limit}");
            return self.refuse(start, Code::TOO_LARGE, what, limit.help);
        }
        let first_piece = self.before_node(start);
        let shift = self.json.len() - value.start;
        self.json.extend_from_within(value);
        for index in pieces {
            let piece = self.pieces[index];
            let is_of_value = piece.original == anchor_start;
            self.pieces.push(OriginPiece {
                start: piece.start + shift,
                original: if is_of_value { start } else { piece.original },
                ..piece
            });
        }
        self.after_node(0, first_piece);
        Ok(())
    }

    fn open(
        &mut self,
        bracket: char,
        start: usize,
        anchor: usize,
        form: OpenForm,
    ) -> Result<(), Diagnostic> {
        if self.awaits_key() {
            return self.refuse_key(start);
        }
        if self.open.len() == DEPTH {
            return Err(self.too_deep(start));
        }
        let first_piece = self.before_node(start);
        self.json.push(bracket);
        self.open.push(OpenValue {
            form,
            start,
            count: 0,
            anchor,
            first_piece,
        });
        Ok(())
    }

    /// Ends a list or a mapping. What is missing in it is reported where it starts: its end cannot be seen in YAML.
    fn close(&mut self, bracket: char) {
        if let Some(OpenValue {
            start,
            anchor,
            first_piece,
            ..
        }) = self.open.pop()
        {
            self.piece(start);
            self.json.push(bracket);
            self.after_node(anchor, first_piece);
        }
    }

    fn awaits_key(&self) -> bool {
        self.open
            .last()
            .is_some_and(|open| open.form == OpenForm::Keys)
    }

    /// Separates a node from the one before it. Returns the index of its first piece.
    fn before_node(&mut self, start: usize) -> usize {
        if let Some(open) = self
            .open
            .last_mut()
            .filter(|open| open.form != OpenForm::Value)
        {
            open.count += 1;
            if open.count > 1 {
                self.json.push(',');
            }
        }
        self.piece(start);
        self.pieces.len() - 1
    }

    /// Keeps the node for aliases if it has an anchor. A key is followed by its value, and a value by the next key.
    fn after_node(&mut self, anchor: usize, first_piece: usize) {
        if anchor != 0 {
            let (pieces, end) = (first_piece..self.pieces.len(), self.json.len());
            self.anchored.insert(anchor, AnchoredValue { pieces, end });
        }
        let Some(open) = self.open.last_mut() else {
            return;
        };
        match open.form {
            OpenForm::List => {}
            OpenForm::Value => open.form = OpenForm::Keys,
            OpenForm::Keys => {
                open.form = OpenForm::Value;
                self.json.push(':');
            }
        }
    }

    fn piece(&mut self, original: usize) {
        self.pieces.push(OriginPiece {
            start: self.json.len(),
            original,
            change: PieceChange::Rewritten,
        });
    }

    fn refuse_marks(
        &self,
        start: usize,
        anchor: usize,
        tag: Option<&Tag>,
    ) -> Result<(), Diagnostic> {
        if anchor != 0 && self.dialect == YamlDialect::Case {
            return self.refuse_yaml(
                start,
                "an anchor marks this part for an alias",
                "remove it, and write the value out",
            );
        }
        let is_known =
            |tag: &Tag| self.dialect == YamlDialect::Foreign && tag.is_yaml_core_schema();
        if tag.is_some_and(|tag| !is_known(tag)) {
            let help = "put quotes around a text";
            return self.refuse_yaml(start, "a tag sets the type of this value", help);
        }
        Ok(())
    }

    fn refuse_key(&self, start: usize) -> Result<(), Diagnostic> {
        let (what, help) = ("this key is not a string", "write a plain word as the key");
        self.refuse(start, Code::BAD_KEY, what, help)
    }

    /// Refuses what only YAML has.
    fn refuse_yaml(&self, start: usize, what: &str, help: &str) -> Result<(), Diagnostic> {
        let what = match self.dialect {
            YamlDialect::Case => format!("{what}, which cases do not allow"),
            YamlDialect::Config | YamlDialect::Foreign => {
                format!("{what}, which this file does not allow")
            }
        };
        self.refuse(start, Code::YAML_ONLY, what, help)
    }

    fn refuse(
        &self,
        start: usize,
        code: Code,
        what: impl Into<String>,
        help: &str,
    ) -> Result<(), Diagnostic> {
        Err(self.source.problem(start, code, what, help))
    }

    fn too_deep(&self, start: usize) -> Diagnostic {
        let what = format!("this is nested more than {DEPTH} levels deep");
        self.source
            .problem(start, Code::TOO_DEEP, what, "flatten it")
    }

    /// What is wrong with a text that the parser gives up on.
    fn unparsed(&mut self, error: &ScanError) -> Diagnostic {
        if let Some(start) = unclosed(&self.source.text) {
            return self.too_deep(start);
        }
        if let Some((start, ConflictProblem { what, help })) = conflict(&self.source.text) {
            return self.source.problem(start, Code::BAD_VALUE, what, help);
        }
        let what = format!("invalid YAML: {}", error.info());
        let offset = self.cursor.offset_of(error.marker().index());
        self.source
            .problem(offset, Code::BAD_VALUE, what, "correct the syntax here")
    }
}

/// The byte offset of the first bracket that is nested too deeply in the raw text: the parser gives up on open brackets before it
/// reports their depth.
fn unclosed(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    text.bytes().position(|byte| {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > DEPTH
    })
}

/// What a plain value is by the core schema of YAML 1.2.
#[derive(Debug, Clone, PartialEq, Eq)]
enum PlainValue {
    Text,
    /// `null`, `true` or `false`.
    Word(&'static str),
    /// A number, as JSON writes it.
    Number(String),
    /// An infinite number, or none.
    Infinite,
    /// A number with leading zeros, or one that is not decimal.
    Ambiguous,
}

impl PlainValue {
    fn of(text: &str) -> Self {
        match text {
            "" | "~" | "null" | "Null" | "NULL" => Self::Word("null"),
            "true" | "True" | "TRUE" => Self::Word("true"),
            "false" | "False" | "FALSE" => Self::Word("false"),
            ".nan" | ".NaN" | ".NAN" => Self::Infinite,
            _ => Self::number(text),
        }
    }

    fn number(text: &str) -> Self {
        let (sign, unsigned) = match text.strip_prefix(['+', '-']) {
            Some(rest) => (if text.starts_with('-') { "-" } else { "" }, rest),
            None => ("", text),
        };
        if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
            return Self::Infinite;
        }
        let of_base = |prefix: &str, base| {
            let digits = unsigned.strip_prefix(prefix);
            digits.is_some_and(|digits| {
                !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(base))
            })
        };
        if of_base("0x", 16) || of_base("0o", 8) {
            return Self::Ambiguous;
        }
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, Some(exponent)),
            None => (unsigned, None),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (mantissa, None),
        };
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let some_digits = |part: &str| !part.is_empty() && digits(part);
        let has_digits =
            some_digits(whole) || whole.is_empty() && fraction.is_some_and(some_digits);
        let exponent_fits =
            exponent.is_none_or(|text| some_digits(text.strip_prefix(['+', '-']).unwrap_or(text)));
        if !has_digits || !fraction.is_none_or(digits) || !exponent_fits {
            return Self::Text;
        }
        if whole.len() > 1 && whole.starts_with('0') {
            return Self::Ambiguous;
        }
        let mut number = format!("{sign}{}", if whole.is_empty() { "0" } else { whole });
        if let Some(fraction) = fraction {
            let _ = write!(
                number,
                ".{}",
                if fraction.is_empty() { "0" } else { fraction }
            );
        }
        if let Some(exponent) = exponent {
            let _ = write!(number, "e{exponent}");
        }
        Self::Number(number)
    }
}

/// Converts the parser's positions, which count characters, to bytes. It steps from one to the next, so that a text is walked once.
struct CharCursor<'a> {
    text: &'a str,
    index: usize,
    offset: usize,
}

impl CharCursor<'_> {
    fn offset_of(&mut self, index: usize) -> usize {
        let bytes = self.text.as_bytes();
        let is_inside = |offset: usize| bytes.get(offset).is_some_and(|byte| byte & 0xC0 == 0x80);
        while self.index < index && self.offset < bytes.len() {
            self.offset += 1;
            while is_inside(self.offset) {
                self.offset += 1;
            }
            self.index += 1;
        }
        while self.index > index && self.offset > 0 {
            self.offset -= 1;
            while is_inside(self.offset) {
                self.offset -= 1;
            }
            self.index -= 1;
        }
        self.offset
    }
}

#[cfg(test)]
mod tests;

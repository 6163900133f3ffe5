//! Writes YAML as JSON, so that a case means the same in both and is read by the same code. Only what JSON has is accepted.

use std::fmt::Write;
use std::sync::Arc;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use super::{DEPTH, end, point, unparsed};
use crate::diag::{Code, Diagnostic};
use crate::files::{OriginPiece, PieceChange, SourceText};

/// The text as JSON, with the positions of the YAML. Plain values are read as by the core schema of YAML 1.2: `no` and a date are texts.
///
/// # Errors
/// The position of what is not valid YAML, or what JSON does not have: anchors, aliases, tags, merge keys, keys that are not texts, and
/// numbers that are not finite or can be read in two ways.
pub fn yaml_as_json(source: SourceText) -> Result<SourceText, Diagnostic> {
    let mut writer = JsonWriter::of(&source);
    for event in Parser::new_from_str(&source.text) {
        match event {
            Ok((event, span)) => writer.add(&event, span)?,
            Err(error) => {
                let what = format!("invalid YAML: {}", error.info());
                let at = point(
                    end(&source),
                    error.marker().line(),
                    error.marker().col() + 1,
                );
                let problem = Diagnostic::of_file(
                    &source.file,
                    Code::BAD_VALUE,
                    what,
                    "correct the syntax here",
                );
                return Err(unparsed(&source).unwrap_or_else(|| problem.at(at)));
            }
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

struct JsonWriter<'a> {
    source: &'a SourceText,
    json: String,
    pieces: Vec<OriginPiece>,
    open: Vec<OpenValue>,
    cursor: CharCursor<'a>,
    documents: usize,
}

/// A mapping or a list that is still open.
struct OpenValue {
    form: OpenForm,
    start: usize,
    /// Its values so far.
    count: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum OpenForm {
    List,
    /// A mapping that waits for a key.
    Keys,
    /// A mapping that waits for the value of its last key.
    Value,
}

impl<'a> JsonWriter<'a> {
    fn of(source: &'a SourceText) -> Self {
        let cursor = CharCursor {
            text: &source.text,
            index: 0,
            offset: 0,
        };
        Self {
            source,
            json: String::new(),
            pieces: Vec::new(),
            open: Vec::new(),
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
                    return self.refuse(
                        start,
                        "a second document starts here",
                        "write a list, or one file for each",
                    );
                }
            }
            Event::Alias(_) => {
                return self.refuse(
                    start,
                    "an alias refers to another part",
                    "write the value out",
                );
            }
            Event::MappingEnd => self.close('}'),
            Event::SequenceEnd => self.close(']'),
            Event::MappingStart(anchor, tag) => {
                self.refuse_marks(start, *anchor, tag.is_some())?;
                self.open('{', start, OpenForm::Keys)?;
            }
            Event::SequenceStart(anchor, tag) => {
                self.refuse_marks(start, *anchor, tag.is_some())?;
                self.open('[', start, OpenForm::List)?;
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.refuse_marks(start, *anchor, tag.is_some())?;
                let value = match style {
                    ScalarStyle::Plain => PlainValue::of(text),
                    ScalarStyle::SingleQuoted
                    | ScalarStyle::DoubleQuoted
                    | ScalarStyle::Literal
                    | ScalarStyle::Folded => PlainValue::Text,
                };
                self.scalar(text, value, *style, start)?;
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
    ) -> Result<(), Diagnostic> {
        if self.awaits_key() {
            if text == "<<" && style == ScalarStyle::Plain {
                return self.refuse(
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
                return Err(self.source.problem(start, Code::BAD_KEY, what, help));
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
                return Err(self.source.problem(start, Code::BAD_NUMBER, what, help));
            }
            PlainValue::Ambiguous => {
                let what = format!("{text} can be read as a number in two ways, or as a text");
                let help = "write a decimal number without leading zeros, or put quotes around it";
                return Err(self.source.problem(start, Code::BAD_NUMBER, what, help));
            }
        };
        self.before_node(start);
        self.json.push_str(&json);
        self.after_node();
        Ok(())
    }

    fn open(&mut self, bracket: char, start: usize, form: OpenForm) -> Result<(), Diagnostic> {
        if self.awaits_key() {
            let help = "write a plain word as the key";
            return Err(self.source.problem(
                start,
                Code::BAD_KEY,
                "this key is not a string",
                help,
            ));
        }
        if self.open.len() == DEPTH {
            let what = format!("this is nested more than {DEPTH} levels deep");
            return Err(self
                .source
                .problem(start, Code::TOO_DEEP, what, "flatten it"));
        }
        self.before_node(start);
        self.json.push(bracket);
        self.open.push(OpenValue {
            form,
            start,
            count: 0,
        });
        Ok(())
    }

    /// Ends a list or a mapping. What is missing in it is reported where it starts: its end cannot be seen in YAML.
    fn close(&mut self, bracket: char) {
        if let Some(OpenValue { start, .. }) = self.open.pop() {
            self.piece(start);
            self.json.push(bracket);
        }
        self.after_node();
    }

    fn awaits_key(&self) -> bool {
        self.open
            .last()
            .is_some_and(|open| open.form == OpenForm::Keys)
    }

    /// Separates a node from the one before it.
    fn before_node(&mut self, start: usize) {
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
    }

    /// A key is followed by its value, and a value by the next key.
    fn after_node(&mut self) {
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

    fn refuse_marks(&self, start: usize, anchor: usize, has_tag: bool) -> Result<(), Diagnostic> {
        match (anchor, has_tag) {
            (0, false) => Ok(()),
            (0, true) => self.refuse(
                start,
                "a tag sets the type of this value",
                "put quotes around a text",
            ),
            _ => self.refuse(
                start,
                "an anchor marks this part for an alias",
                "remove it, and write the value out",
            ),
        }
    }

    fn refuse(&self, start: usize, what: &str, help: &str) -> Result<(), Diagnostic> {
        Err(self.source.problem(
            start,
            Code::YAML_ONLY,
            format!("{what}, which cases do not allow"),
            help,
        ))
    }
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

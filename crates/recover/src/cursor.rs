//! Reads JSON tokens at a position in a text, and the variants that models write.

use serde_json::{Number, Value};

use super::steps::visit;

/// A value without brackets or quotes.
pub(super) enum BareWord {
    /// A number, boolean or null, in JSON's or Python's spelling.
    Value(Value),
    /// A number that JSON does not have, such as `NaN` or `1e999`.
    Unusable,
    /// It ends at the end of the text, so it may be incomplete.
    Cut,
    /// Not a value.
    Unknown,
}

/// A position in a text that only moves forward.
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str, at: usize) -> Self {
        Self { text, at }
    }

    /// The current byte offset.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// The next byte, if any.
    pub(super) fn peek(&self) -> Option<u8> {
        self.byte(0)
    }

    /// Skips one ASCII character.
    pub(super) fn advance(&mut self) {
        self.at += 1;
    }

    /// Skips white space and comments; an unclosed comment ends with the text.
    pub(super) fn skip_blank(&mut self) {
        let from = self.at;
        loop {
            let rest = self.rest().trim_start();
            self.at = self.text.len() - rest.len();
            let comment = if rest.starts_with('#') || rest.starts_with("//") {
                rest.find('\n').map(|end| end + 1)
            } else if let Some(inside) = rest.strip_prefix("/*") {
                inside.find("*/").map(|end| end + 4)
            } else {
                visit(self.at - from);
                return;
            };
            self.at += comment.unwrap_or(rest.len());
        }
    }

    /// Reads a quoted text, raw line breaks included; `None` if it is not closed.
    pub(super) fn string(&mut self, quote: u8) -> Option<String> {
        self.at += 1;
        let mut string = String::new();
        loop {
            let rest = self.rest();
            let Some(stretch) = rest.bytes().position(|byte| byte == quote || byte == b'\\') else {
                visit(rest.len());
                self.at = self.text.len();
                return None;
            };
            visit(stretch + 1);
            string.push_str(&rest[..stretch]);
            self.at += stretch;
            if self.peek() == Some(b'\\') {
                let Some(escaped) = self.escape() else {
                    self.at = self.text.len();
                    return None;
                };
                string.push(escaped);
            } else if quote == b'\'' && self.is_apostrophe() {
                string.push('\'');
                self.at += 1;
            } else {
                self.at += 1;
                return Some(string);
            }
        }
    }

    /// Reads a key without quotes, if there is one.
    pub(super) fn bare_key(&mut self) -> Option<String> {
        let first = self.rest().chars().next()?;
        if !first.is_alphabetic() && !matches!(first, '_' | '$') {
            return None;
        }
        Some(
            self.run(|char| char.is_alphanumeric() || matches!(char, '_' | '$' | '-'))
                .to_owned(),
        )
    }

    /// Reads a value without quotes or brackets. If there is no value, the position does not change.
    pub(super) fn word(&mut self) -> BareWord {
        let from = self.at;
        let word = self.run(|char| char.is_alphanumeric() || matches!(char, '_' | '+' | '-' | '.'));
        if !word.is_empty() && self.at == self.text.len() {
            return BareWord::Cut;
        }
        match word {
            "true" | "True" => BareWord::Value(Value::Bool(true)),
            "false" | "False" => BareWord::Value(Value::Bool(false)),
            "null" | "None" => BareWord::Value(Value::Null),
            "NaN" | "Infinity" => BareWord::Unusable,
            _ if word
                .starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first)) =>
            {
                word.parse::<Number>().map_or(BareWord::Unusable, |number| {
                    BareWord::Value(Value::Number(number))
                })
            }
            _ => {
                self.at = from;
                BareWord::Unknown
            }
        }
    }

    /// Reads an escape. A backslash that escapes nothing is kept.
    fn escape(&mut self) -> Option<char> {
        let (char, length) = match self.byte(1)? {
            b'n' => ('\n', 2),
            b't' => ('\t', 2),
            b'r' => ('\r', 2),
            b'b' => ('\u{8}', 2),
            b'f' => ('\u{c}', 2),
            quoted @ (b'"' | b'\'' | b'\\' | b'/') => (char::from(quoted), 2),
            b'u' => self.unicode().unwrap_or(('\\', 1)),
            _ => ('\\', 1),
        };
        visit(length);
        self.at += length;
        Some(char)
    }

    /// The character of `\uXXXX` or of a pair of them, and the length of the escape.
    fn unicode(&self) -> Option<(char, usize)> {
        let unit = self.unit(0)?;
        if !(0xD800..0xDC00).contains(&unit) {
            return char::from_u32(unit).map(|char| (char, 6));
        }
        let low = self.unit(6).filter(|low| (0xDC00..0xE000).contains(low))?;
        char::from_u32(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)).map(|char| (char, 12))
    }

    fn unit(&self, ahead: usize) -> Option<u32> {
        let digits = self.rest().get(ahead..ahead + 6)?.strip_prefix("\\u")?;
        // `from_str_radix` would accept a sign.
        digits
            .bytes()
            .all(|byte| byte.is_ascii_hexdigit())
            .then(|| u32::from_str_radix(digits, 16).ok())?
    }

    /// Whether the single quote here is inside a word, as in `'the vendor's duty'`.
    fn is_apostrophe(&self) -> bool {
        let previous = self.text[..self.at].chars().next_back();
        let next = self.text[self.at + 1..].chars().next();
        previous.is_some_and(char::is_alphanumeric) && next.is_some_and(char::is_alphanumeric)
    }

    fn run(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|char| !belongs(char)).unwrap_or(rest.len());
        visit(length + 1);
        self.at += length;
        &rest[..length]
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }
}

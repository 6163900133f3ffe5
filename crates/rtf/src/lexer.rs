//! Splits the source into lexemes with their positions. It interprets no control word except `\bin`, whose bytes are not
//! RTF.

use std::str::from_utf8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lexeme<'a> {
    /// `{`.
    Open,
    /// `}`.
    Close,
    /// A control word with its optional number.
    Word(&'a str, Option<i64>),
    /// A control symbol: a backslash and a character that is not a letter.
    Symbol(u8),
    /// `\'xx`.
    Hex(u8),
    /// `\'` without its two digits.
    BadHex,
    /// `\bin` and its bytes.
    Binary(&'a [u8]),
    /// `\bin` with a count larger than the rest; no bytes are skipped.
    BadBinary,
    /// A run of plain bytes, without line breaks.
    Text(&'a [u8]),
    /// An incomplete escape at the end of the source.
    Truncated,
}

/// Iterates over the lexemes of a source.
#[derive(Debug, Clone)]
pub struct Lexer<'a> {
    source: &'a [u8],
    /// The byte offset of the next lexeme, before skipping line breaks.
    pub at: usize,
}

/// The offset of the first `{\rtf`; other bytes may precede it. A source that begins with `\rtf` lacks its first brace.
pub fn beginning(source: &[u8]) -> Option<usize> {
    let text = source
        .strip_prefix(b"\xEF\xBB\xBF")
        .unwrap_or(source)
        .trim_ascii_start();
    if text.starts_with(b"\\rtf") {
        return Some(source.len() - text.len());
    }
    source.windows(5).position(|window| window == b"{\\rtf")
}

impl<'a> Lexer<'a> {
    /// A lexer that begins at a byte of the source.
    pub const fn new(source: &'a [u8], at: usize) -> Self {
        Self { source, at }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.source.get(self.at.saturating_add(ahead)).copied()
    }

    fn run(&self, from: usize, fits: impl Fn(u8) -> bool) -> &'a [u8] {
        let rest = self.source.get(from..).unwrap_or_default();
        let length = rest
            .iter()
            .position(|byte| !fits(*byte))
            .unwrap_or(rest.len());
        rest.get(..length).unwrap_or_default()
    }

    /// The next lexeme and its offset; `at` is then its end.
    pub fn next(&mut self) -> Option<(usize, Lexeme<'a>)> {
        self.at += self
            .run(self.at, |byte| byte == b'\r' || byte == b'\n')
            .len();
        let start = self.at;
        let lexeme = match self.peek(0)? {
            b'{' => self.take(1, Lexeme::Open),
            b'}' => self.take(1, Lexeme::Close),
            b'\\' => self.control(),
            _ => {
                let text = self.run(start, |byte| {
                    !matches!(byte, b'{' | b'}' | b'\\' | b'\r' | b'\n')
                });
                self.take(text.len(), Lexeme::Text(text))
            }
        };
        Some((start, lexeme))
    }

    const fn take(&mut self, length: usize, lexeme: Lexeme<'a>) -> Lexeme<'a> {
        self.at += length;
        lexeme
    }

    fn control(&mut self) -> Lexeme<'a> {
        match self.peek(1) {
            None => self.take(1, Lexeme::Truncated),
            Some(b'\'') => match (self.peek(2), self.peek(3)) {
                (Some(high), Some(low)) => match (digit(high), digit(low)) {
                    (Some(high), Some(low)) => self.take(4, Lexeme::Hex(high * 16 + low)),
                    _ => self.take(2, Lexeme::BadHex),
                },
                (None, _) => self.take(2, Lexeme::Truncated),
                // A single byte is left; it is read as a lexeme of its own, for example a brace.
                (Some(_), None) => self.take(2, Lexeme::BadHex),
            },
            Some(byte) if byte.is_ascii_alphabetic() => self.word(),
            // A line break after a backslash ends a paragraph. Of a two-byte break the second byte is ignored.
            Some(byte) => self.take(2, Lexeme::Symbol(byte)),
        }
    }

    fn word(&mut self) -> Lexeme<'a> {
        let name = self.run(self.at + 1, |byte| byte.is_ascii_alphabetic());
        self.at += 1 + name.len();
        let negative =
            self.peek(0) == Some(b'-') && self.peek(1).is_some_and(|byte| byte.is_ascii_digit());
        let digits = self.run(self.at + usize::from(negative), |byte| {
            byte.is_ascii_digit()
        });
        let value = (!digits.is_empty()).then(|| {
            let size = digits.iter().fold(0_i64, |size, digit| {
                size.saturating_mul(10)
                    .saturating_add(i64::from(digit.saturating_sub(b'0')))
            });
            if negative { -size } else { size }
        });
        self.at += digits.len() + usize::from(negative);
        if self.peek(0) == Some(b' ') {
            self.at += 1;
        }
        let name = from_utf8(name).unwrap_or_default();
        if name == "bin" {
            self.binary(value.unwrap_or(0))
        } else {
            Lexeme::Word(name, value)
        }
    }

    fn binary(&mut self, count: i64) -> Lexeme<'a> {
        match usize::try_from(count) {
            Ok(count) if count <= self.source.len().saturating_sub(self.at) => {
                let bytes = self
                    .source
                    .get(self.at..self.at + count)
                    .unwrap_or_default();
                self.take(count, Lexeme::Binary(bytes))
            }
            _ => Lexeme::BadBinary,
        }
    }
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}

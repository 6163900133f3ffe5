//! Converts a source of any bytes to an equivalent text.

use std::fmt::Write as _;
use std::str::from_utf8;

use super::lexer::{Lexeme, Lexer, beginning};

/// See [`super::portable`].
pub fn text(source: &[u8]) -> String {
    if let Ok(text) = from_utf8(source) {
        return text.to_owned();
    }
    let begins = beginning(source).unwrap_or(source.len());
    let mut lexer = Lexer::new(source, begins);
    let mut out = String::with_capacity(source.len());
    escape(source.get(..begins).unwrap_or_default(), &mut out);
    let mut groups = Groups::default();
    loop {
        let from = lexer.at;
        let Some((start, lexeme)) = lexer.next() else {
            escape(source.get(from..).unwrap_or_default(), &mut out);
            return out;
        };
        let data = groups.enter(lexeme);
        escape(source.get(from..start).unwrap_or_default(), &mut out);
        let _ = match lexeme {
            // These count bytes, and the text has more of them.
            Lexeme::Binary(bytes) if data => {
                out.push(' ');
                digits(bytes, &mut out);
                Ok(())
            }
            Lexeme::Binary(_) => out.write_str("\\bin0 "),
            Lexeme::BadBinary => out.write_str("\\bin-1 "),
            Lexeme::Symbol(byte @ 0x80..) => write!(out, "\\'{byte:02x}"),
            _ => {
                escape(source.get(start..lexer.at).unwrap_or_default(), &mut out);
                Ok(())
            }
        };
    }
}

/// Writes bytes; those that are not ASCII become RTF escapes.
pub fn escape(bytes: &[u8], out: &mut String) {
    for byte in bytes {
        if byte.is_ascii() {
            out.push(char::from(*byte));
        } else {
            let _ = write!(out, "\\'{byte:02x}");
        }
    }
}

/// Writes bytes as hexadecimal digits.
pub fn digits(bytes: &[u8], out: &mut String) {
    for byte in bytes {
        let _ = write!(out, "{byte:02x}");
    }
}

/// The open groups, and whether each one contains the data of a picture or an object.
#[derive(Debug, Default)]
pub struct Groups(Vec<bool>);

impl Groups {
    /// The groups around the content of a header table: the document and the table.
    pub fn of_table() -> Self {
        Self(vec![false; 2])
    }

    /// Processes a lexeme; returns whether it is inside such data.
    pub fn enter(&mut self, lexeme: Lexeme<'_>) -> bool {
        let data = self.0.last().copied().unwrap_or(false);
        match lexeme {
            Lexeme::Open => self.0.push(data),
            Lexeme::Close => self.0.truncate(self.0.len().saturating_sub(1)),
            // The document group itself is never data.
            Lexeme::Word("pict" | "objdata", _) if self.0.len() > 1 => {
                self.0.truncate(self.0.len() - 1);
                self.0.push(true);
            }
            _ => {}
        }
        data
    }
}

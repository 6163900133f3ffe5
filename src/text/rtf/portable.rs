//! A source of any bytes as a text that is read alike.

use std::fmt::Write as _;
use std::str::from_utf8;

use super::lexer::Lexeme;
use super::lexer::Lexer;

/// See [`super::portable`].
pub fn text(source: &[u8]) -> String {
    if let Ok(text) = from_utf8(source) {
        return text.to_owned();
    }
    let begins = source.windows(5).position(|window| window == b"{\\rtf").unwrap_or(source.len());
    let mut lexer = Lexer::new(source, begins);
    let mut out = String::with_capacity(source.len());
    escape(source.get(..begins).unwrap_or_default(), &mut out);
    // Whether each group that is open holds a picture's or an object's data.
    let mut data: Vec<bool> = Vec::new();
    loop {
        let from = lexer.at;
        let Some((start, lexeme)) = lexer.next() else {
            escape(source.get(from..).unwrap_or_default(), &mut out);
            return out;
        };
        let within = data.last().copied().unwrap_or(false);
        escape(source.get(from..start).unwrap_or_default(), &mut out);
        match lexeme {
            Lexeme::Open => data.push(within),
            Lexeme::Close => data.truncate(data.len().saturating_sub(1)),
            // The document itself is neither, whatever stands in it.
            Lexeme::Word("pict" | "objdata", _) if data.len() > 1 => {
                data.truncate(data.len() - 1);
                data.push(true);
            }
            _ => {}
        }
        let _ = match lexeme {
            // These count bytes, of which there are more now.
            Lexeme::Binary(bytes) if within => {
                bytes.iter().fold(out.write_char(' '), |wrote, byte| wrote.and(write!(out, "{byte:02x}")))
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

fn escape(bytes: &[u8], out: &mut String) {
    for byte in bytes {
        if byte.is_ascii() {
            out.push(char::from(*byte));
        } else {
            let _ = write!(out, "\\'{byte:02x}");
        }
    }
}

//! Header tables in a form that is equal for two saves of one document.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::lexer::{Lexeme, Lexer};
use super::portable::{Groups, digits, escape};

/// The source of a group in normalized form: without words that change on every save, with list ids renumbered in order, and
/// with single white space.
pub fn normalized(source: &[u8]) -> String {
    let mut lists: HashMap<i64, usize> = HashMap::new();
    let mut lexer = Lexer::new(source, 0);
    let mut out = String::new();
    let mut groups = Groups::of_table();
    while let Some((_, lexeme)) = lexer.next() {
        let data = groups.enter(lexeme);
        let _ = match lexeme {
            Lexeme::Word(name, _) if name.contains("rsid") || name.contains("templateid") => Ok(()),
            Lexeme::Word("listid", Some(id)) => {
                let next = lists.len() + 1;
                write!(out, "\\listid{} ", lists.entry(id).or_insert(next))
            }
            Lexeme::Word(name, Some(value)) => write!(out, "\\{name}{value} "),
            Lexeme::Word(name, None) => write!(out, "\\{name} "),
            Lexeme::Hex(byte) | Lexeme::Symbol(byte @ 0x80..) => write!(out, "\\'{byte:02x}"),
            Lexeme::Symbol(byte) => write!(out, "\\{}", char::from(byte)),
            Lexeme::Open => out.write_char('{'),
            Lexeme::Close => out.write_char('}'),
            Lexeme::Text(bytes) => {
                for byte in bytes {
                    let space = byte.is_ascii_whitespace();
                    if !space {
                        // An escaped byte of an old code page equals the plain one.
                        escape(&[*byte], &mut out);
                    } else if !out.ends_with([' ', '{', '}', ';']) {
                        out.push(' ');
                    }
                }
                Ok(())
            }
            Lexeme::Binary(bytes) if data => {
                digits(bytes, &mut out);
                Ok(())
            }
            Lexeme::BadHex | Lexeme::Binary(_) | Lexeme::BadBinary | Lexeme::Truncated => Ok(()),
        };
    }
    out.truncate(out.trim_end().len());
    out
}

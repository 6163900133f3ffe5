//! The header's tables as source that two saves of one document have in common.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::lexer::{Lexeme, Lexer};
use super::portable::{Groups, digits, escape};

/// The source of a group, in one way of writing: words that every save changes are gone, identities of lists are
/// numbered in their order, white space is single.
pub fn normalised(source: &[u8]) -> String {
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
                        // A byte of an old code page is the same thing where it is escaped.
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

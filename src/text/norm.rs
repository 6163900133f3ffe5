//! The normal form in which texts are compared.

use std::sync::LazyLock;

use memchr::memmem::Finder;
use unicode_normalization::UnicodeNormalization;

/// Searches two blanks; prepared once, because preparing costs more than searching a short text.
static GAP: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"  "));

/// NFKC, lower case, straight quotes, plain dashes, single blanks, trimmed.
pub fn norm(text: &str) -> String {
    if text.is_ascii() {
        return ascii_folded(text);
    }
    let lower = text.nfkc().collect::<String>().to_lowercase();
    folded(lower.chars().map(plain), lower.len())
}

/// The same, but letters keep their case.
pub fn norm_cased(text: &str) -> String {
    folded(text.nfkc().map(plain), text.len())
}

/// [`norm`] of ASCII, which most texts are; much faster.
fn ascii_folded(text: &str) -> String {
    let lower: Vec<u8> = text.bytes().map(folded_byte).collect();
    let mut lower = String::from_utf8(lower).expect("ASCII stays ASCII");
    lower.truncate(lower.trim_end_matches(' ').len());
    if !lower.starts_with(' ') && GAP.find(lower.as_bytes()).is_none() {
        return lower;
    }
    let mut rest = lower.trim_start_matches(' ');
    let mut out = String::with_capacity(rest.len());
    while let Some(run) = GAP.find(rest.as_bytes()) {
        out.push_str(&rest[..=run]);
        rest = rest[run..].trim_start_matches(' ');
    }
    out.push_str(rest);
    out
}

fn folded_byte(byte: u8) -> u8 {
    match byte {
        // Unicode's white space within ASCII; `is_ascii_whitespace` lacks the vertical tab.
        b'\t'..=b'\r' => b' ',
        _ => byte.to_ascii_lowercase(),
    }
}

fn folded(chars: impl Iterator<Item = char>, size: usize) -> String {
    let mut out = String::with_capacity(size);
    let mut gap = false;
    for char in chars {
        if char.is_whitespace() {
            gap = true;
            continue;
        }
        if gap && !out.is_empty() {
            out.push(' ');
        }
        gap = false;
        out.push(char);
    }
    out
}

pub(super) fn plain(char: char) -> char {
    match char {
        '\u{2018}'..='\u{201B}' => '\'',
        '\u{201C}'..='\u{201F}' => '"',
        '\u{2212}' => '-',
        _ if is_dash(char) => '-',
        _ => char,
    }
}

/// Whether a character has the Unicode category Pd, as of Unicode 16.
fn is_dash(char: char) -> bool {
    matches!(char,
        '-' | '\u{58a}' | '\u{5be}' | '\u{1400}' | '\u{1806}' | '\u{2010}'..='\u{2015}' | '\u{2e17}' | '\u{2e1a}'
        | '\u{2e3a}'..='\u{2e3b}' | '\u{2e40}' | '\u{2e5d}' | '\u{301c}' | '\u{3030}' | '\u{30a0}' | '\u{fe31}'..='\u{fe32}'
        | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}' | '\u{10d6e}' | '\u{10ead}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::any;
    use proptest::proptest;

    use super::{norm, norm_cased};

    #[test]
    fn norm_follows_the_contract() {
        let table = [
            ("  Change\u{a0}of\n\tControl ", "change of control"),
            ("\u{201C}Acme\u{2019}s\u{201D}", "\"acme's\""),
            ("non\u{2011}compete \u{2014} \u{2212}5", "non-compete - -5"),
            ("\u{FB01}nal \u{FF21}\u{2460}", "final a1"),
            ("STRASSE Straße", "strasse straße"),
            ("\u{130}", "i\u{307}"),
            ("ΟΔΟΣ", "οδος"),
            ("", ""),
            (" \n ", ""),
        ];
        for (text, expected) in table {
            assert_eq!(norm(text), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn ascii_is_folded_like_all_other_text(text in "[\\x00-\\x7f]*") {
            let marked = norm(&format!("\u{e9} {text}"));
            assert_eq!(marked.strip_prefix('\u{e9}').unwrap().trim_start(), norm(&text));
        }

        #[test]
        fn only_the_case_of_letters_is_kept(text in "[ -~\u{a0}\u{2014}\n]*") {
            assert_eq!(norm(&norm_cased(&text)), norm(&text));
            assert_eq!(norm_cased(&text).to_lowercase(), norm(&text));
        }

        #[test]
        fn norm_leaves_single_inner_blanks_only(text in any::<String>()) {
            let out = norm(&text);
            assert_eq!(out.trim(), out);
            assert!(!out.contains("  "));
        }
    }
}

//! Escapes untrusted text: what an agent, a model or a pull request wrote is data.

use std::fmt::Write;

pub(crate) use crate::text::line;

pub fn put(out: &mut String, text: &str) {
    writeln!(out, "{text}").expect("a string accepts every write");
}

/// Adds a line about the entries beyond those that are shown, if there are any. `words` gets their number.
pub fn put_more(out: &mut String, all: usize, shown: usize, words: impl FnOnce(usize) -> String) {
    if all > shown {
        put(out, &words(all - shown));
    }
}

/// Escapes an untrusted text for GitHub's Markdown: one line without mentions, links, images, HTML, ends of table cells,
/// fences, references and comment markers. `limit` is in characters, before escaping.
pub fn inline(text: &str, limit: usize) -> String {
    neutral(&line(text, limit))
}

/// Escapes a goldgate sentence with untrusted names in it: like [`inline`], but keeps brackets and colons. They make no link
/// without square brackets or `//`.
pub fn sentence(text: &str, limit: usize) -> String {
    inline(text, limit)
        .replace("&#58;", ":")
        .replace("://", "&#58;//")
        .replace("&#40;", "(")
        .replace("&#41;", ")")
}

/// Escapes a line of goldgate like [`inline`], with what is between two backticks as code.
pub fn coded(text: &str) -> String {
    with_code(&inline(text, text.len()))
}

/// An escaped text with what is between two backticks as code. All of it stays escaped, whoever wrote the backticks.
pub fn with_code(escaped: &str) -> String {
    let mut out = String::new();
    let mut rest = escaped;
    while let Some((text, behind)) = rest.split_once(BACKTICK) {
        let Some((code, behind)) = behind.split_once(BACKTICK) else {
            break;
        };
        out.push_str(&format!("{text}<code>{code}</code>"));
        rest = behind;
    }
    out + rest
}

/// An escaped backtick.
const BACKTICK: &str = "&#96;";

/// Escapes a valid id for GitHub's Markdown. An id can still look like an address (`www.`) or a commit.
pub fn name(text: &str) -> String {
    let text = line(text, 120);
    unlinked(&text).into_iter().map(TextPiece::text).collect()
}

fn neutral(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    for piece in unlinked(text) {
        match piece {
            TextPiece::Inserted(text) => out.push_str(text),
            TextPiece::Text(part) => part.chars().for_each(|char| escape(char, &mut out)),
        }
    }
    out
}

enum TextPiece<'a> {
    /// The original text.
    Text(&'a str),
    /// Inserted by goldgate.
    Inserted(&'static str),
}

impl<'a> TextPiece<'a> {
    fn text(self) -> &'a str {
        match self {
            Self::Text(text) | Self::Inserted(text) => text,
        }
    }
}

fn escape(char: char, out: &mut String) {
    match char {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        // GitHub renders a numeric reference as the character, and not as syntax.
        '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '(' | ')' | '#' | '|' | '~' | '!'
        | '$' | '@' | ':' | '"' | '\'' => {
            out.push_str(&format!("&#{};", u32::from(char)));
        }
        _ => out.push(char),
    }
}

/// A word joiner: invisible, and splits a word for GitHub.
const JOINER: &str = "&#8288;";

/// Splits a text with word joiners. GitHub looks for mentions, references, addresses and commit ids in the rendered page, where
/// a numeric reference is a character again, so a joiner after their first character is what disables them.
fn unlinked(text: &str) -> Vec<TextPiece<'_>> {
    let mut pieces = Vec::new();
    let mut done = 0;
    for offset in breaks(text) {
        pieces.push(TextPiece::Text(&text[done..offset]));
        pieces.push(TextPiece::Inserted(JOINER));
        done = offset;
    }
    pieces.push(TextPiece::Text(&text[done..]));
    pieces
}

/// Whether a text ends with a word, in any letter case.
fn ends_with(text: &[u8], word: &[u8]) -> bool {
    let start = text.len().checked_sub(word.len());
    start.is_some_and(|start| text[start..].eq_ignore_ascii_case(word))
}

/// The byte offsets of the joiners, sorted.
fn breaks(text: &str) -> Vec<usize> {
    let mut offsets = Vec::new();
    for (offset, char) in text.char_indices() {
        let end = offset + char.len_utf8();
        let preceding = &text.as_bytes()[..offset];
        // `@name`, `#12`, `:smile:`, `scheme://`, `$x$`, `name@host`.
        if matches!(char, '@' | '#' | ':' | '$')
            && text[end..].starts_with(|next: char| !next.is_whitespace())
        {
            offsets.push(end);
        }
        if (char == '.' && ends_with(preceding, b"www"))
            || (char == '-' && ends_with(preceding, b"gh"))
        {
            offsets.push(offset);
        }
    }
    let bytes = text.as_bytes();
    let mut start = 0;
    for run in bytes.chunk_by(|left, right| left.is_ascii_hexdigit() && right.is_ascii_hexdigit()) {
        // A commit id has at least seven hex digits; a word without a decimal digit is not one.
        if run.len() >= 7 && run.iter().any(u8::is_ascii_digit) {
            offsets.extend((start + 3..start + run.len()).step_by(6));
        }
        start += run.len();
    }
    offsets.sort_unstable();
    offsets.dedup();
    offsets
}

/// The text with its first letter in upper case.
pub fn title(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| {
        first.to_uppercase().chain(chars).collect()
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::any;
    use proptest::proptest;

    use super::{inline, sentence};

    proptest! {
        #[test]
        fn nothing_of_markdown_is_left(text in any::<String>()) {
            let out = inline(&text, 200);
            assert!(!out.contains(['<', '>', '`', '*', '_', '[', ']', '|', '@', '!', '~', '\n', '\r', '\\', ':']), "{out}");
        }

        #[test]
        fn a_sentence_keeps_brackets_and_colons_alone(text in any::<String>()) {
            let out = sentence(&text, 200);
            assert!(!out.contains(['<', '>', '`', '*', '_', '[', ']', '|', '@', '!', '~', '\n', '\r', '\\']), "{out}");
        }
    }
    /// Renders numeric references as GitHub does: as characters, not as syntax.
    fn rendered(text: &str) -> String {
        let code = |code: &str| code.parse().ok().and_then(char::from_u32).map(String::from);
        let mut parts = text.split("&#");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |done, part| match part.split_once(';') {
            Some((number, rest)) => done + &code(number).unwrap() + rest,
            None => done + part,
        })
    }

    #[test]
    fn a_sentence_links_mentions_and_refers_to_nothing() {
        let joiner = '\u{2060}';
        for (text, written, read) in [
            (
                "see https://evil.example/x",
                "see https:&#8288;//evil.example/x",
                "https:J//evil",
            ),
            (
                "see www.evil.example",
                "see www&#8288;.evil.example",
                "wwwJ.evil",
            ),
            (
                "[safe](https://evil.example)",
                "&#91;safe&#93;(https:&#8288;//evil.example)",
                "[safe](https:J//evil",
            ),
            (
                "![x](//evil.example)",
                "&#33;&#91;x&#93;(//evil.example)",
                "![x](//evil",
            ),
            (
                "@acme/owners agree",
                "&#64;&#8288;acme/owners agree",
                "@Jacme",
            ),
            (
                "a mail to a@evil.example",
                "a mail to a&#64;&#8288;evil.example",
                "a@Jevil",
            ),
            (
                "fixes #12 and acme/agents#3",
                "fixes &#35;&#8288;12 and acme/agents&#35;&#8288;3",
                "agents#J3",
            ),
            ("fixes GH-12", "fixes GH&#8288;-12", "GHJ-12"),
            (
                "commit 0123456789",
                "commit 012&#8288;345678&#8288;9",
                "012J345678J9",
            ),
            (
                "a gate (min): 0.5",
                "a gate (min): 0.5",
                "a gate (min): 0.5",
            ),
        ] {
            let out = sentence(text, 200);
            assert_eq!(out, written);
            assert!(
                rendered(&out).contains(&read.replace('J', &joiner.to_string())),
                "{out}"
            );
        }
    }
}

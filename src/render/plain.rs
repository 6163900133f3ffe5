//! Foreign text made harmless: what an agent, a model or a pull request wrote is data.

use std::fmt::Write;

pub use crate::text::line;

/// Adds a line to a text.
pub fn put(out: &mut String, text: &str) {
    writeln!(out, "{text}").expect("a string accepts every write");
}

/// A foreign text for GitHub's Markdown: one line in which nothing is a mention, a link, an image, HTML, a table cell's end,
/// a fence, a reference or a comment marker.
pub fn inline(text: &str, limit: usize) -> String {
    neutral(&line(text, limit))
}

/// A sentence of ours with foreign names in it: as [`inline`], with its brackets and colons as they are. Without square brackets
/// they make no link.
pub fn sentence(text: &str, limit: usize) -> String {
    inline(text, limit).replace("&#58;", ":").replace("&#40;", "(").replace("&#41;", ")")
}

/// A name that fits an id's pattern, for GitHub's Markdown: `www.` is such a name, and so is a commit.
pub fn name(text: &str) -> String {
    let text = line(text, 120);
    unlinked(&text).into_iter().map(TextPiece::text).collect()
}

fn neutral(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    for piece in unlinked(text) {
        match piece {
            TextPiece::Own(own) => out.push_str(own),
            TextPiece::Text(part) => part.chars().for_each(|char| escape(char, &mut out)),
        }
    }
    out
}

/// A part of a text.
enum TextPiece<'a> {
    /// As it was written.
    Text(&'a str),
    /// Put in by us.
    Own(&'static str),
}

impl<'a> TextPiece<'a> {
    fn text(self) -> &'a str {
        match self {
            Self::Text(text) | Self::Own(text) => text,
        }
    }
}

fn escape(char: char, out: &mut String) {
    match char {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        // A numeric reference is shown as the character and is no syntax any more.
        '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '(' | ')' | '#' | '|' | '~' | '!' | '$' | '@' | ':' | '"'
        | '\'' => {
            out.push_str(&format!("&#{};", u32::from(char)));
        }
        other => out.push(other),
    }
}

/// Shown as nothing, and a break in every word.
const JOINER: &str = "&#8288;";

/// Mentions, references, addresses and commit ids are looked for in the finished page, where a numeric reference is its
/// character again. What breaks them there is a word joiner behind the sign that begins them.
fn unlinked(text: &str) -> Vec<TextPiece<'_>> {
    let mut pieces = Vec::new();
    let mut done = 0;
    for place in breaks(text) {
        pieces.push(TextPiece::Text(&text[done..place]));
        pieces.push(TextPiece::Own(JOINER));
        done = place;
    }
    pieces.push(TextPiece::Text(&text[done..]));
    pieces
}

/// Where joiners go, as places of bytes, in order.
fn breaks(text: &str) -> Vec<usize> {
    let mut places = Vec::new();
    for (place, char) in text.char_indices() {
        let end = place + char.len_utf8();
        let before = &text.as_bytes()[..place];
        let follows = |word: &[u8]| {
            before.len().checked_sub(word.len()).is_some_and(|start| before[start..].eq_ignore_ascii_case(word))
        };
        // `@name`, `#12`, `:smile:`, `scheme://`, `$x$`, `name@host`.
        if matches!(char, '@' | '#' | ':' | '$') && text[end..].starts_with(|next: char| !next.is_whitespace()) {
            places.push(end);
        }
        if (char == '.' && follows(b"www")) || (char == '-' && follows(b"gh")) {
            places.push(place);
        }
    }
    let bytes = text.as_bytes();
    let mut start = 0;
    for run in bytes.chunk_by(|one, other| one.is_ascii_hexdigit() && other.is_ascii_hexdigit()) {
        // The shortest id of a commit has seven digits, and a word has none.
        if run.len() >= 7 && run.iter().any(u8::is_ascii_digit) {
            places.extend((start + 3..start + run.len()).step_by(6));
        }
        start += run.len();
    }
    places.sort_unstable();
    places.dedup();
    places
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
    /// What GitHub's renderer makes of a text: numeric references are characters again, and are no syntax any more.
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
            ("see https://evil.example/x", "see https:&#8288;//evil.example/x", "https:J//evil"),
            ("see www.evil.example", "see www&#8288;.evil.example", "wwwJ.evil"),
            ("[safe](https://evil.example)", "&#91;safe&#93;(https:&#8288;//evil.example)", "[safe](https:J//evil"),
            ("![x](//evil.example)", "&#33;&#91;x&#93;(//evil.example)", "![x](//evil"),
            ("@acme/owners agree", "&#64;&#8288;acme/owners agree", "@Jacme"),
            ("a mail to a@evil.example", "a mail to a&#64;&#8288;evil.example", "a@Jevil"),
            ("fixes #12 and acme/agents#3", "fixes &#35;&#8288;12 and acme/agents&#35;&#8288;3", "agents#J3"),
            ("fixes GH-12", "fixes GH&#8288;-12", "GHJ-12"),
            ("commit 0123456789", "commit 012&#8288;345678&#8288;9", "012J345678J9"),
            ("a gate (min): 0.5", "a gate (min): 0.5", "a gate (min): 0.5"),
        ] {
            let out = sentence(text, 200);
            assert_eq!(out, written);
            assert!(rendered(&out).contains(&read.replace('J', &joiner.to_string())), "{out}");
        }
    }
}

//! Untrusted text on one line, for reports and messages.

use std::ops::Range;

/// The text on one line: without control, invisible and bidirectional characters, white space collapsed, at most `limit` characters.
pub fn line(text: &str, limit: usize) -> String {
    let mut out = String::with_capacity(text.len().min(limit * 4));
    let mut count = 0;
    for word in text
        .split(|char: char| char.is_whitespace() || char.is_control())
        .filter(|word| !word.is_empty())
    {
        let clean: Vec<char> = word.chars().filter(|char| !is_invisible(*char)).collect();
        if clean.is_empty() {
            continue;
        }
        if !out.is_empty() {
            out.push(' ');
            count += 1;
        }
        for char in clean {
            if count >= limit {
                out.push('…');
                return out;
            }
            out.push(char);
            count += 1;
        }
    }
    out
}

/// Like [`line()`], but of a longer text the end is kept as well, because the first difference may be there. Two thirds of the limit go to
/// the beginning. It is cut between words, and never within what is between two backticks: a part of a command would look like another one.
pub fn line_with_end(text: &str, limit: usize) -> String {
    let whole = line(text, text.len());
    let count = whole.chars().count();
    if count <= limit {
        return whole;
    }
    let spans = code_spans(&whole);
    let end = limit / 3;
    let beginning = last_gap(&whole, &spans, offset_of(&whole, limit - end));
    let from = offset_of(&whole, count - end);
    let from = code_span_at(&spans, from).map_or(from, |span| span.end);
    let end = gaps(&whole, &spans, " ").find(|gap| *gap >= from);
    let end = end.map_or(from, |gap| gap + 1);
    format!("{} … {}", &whole[..beginning], &whole[end..])
}

/// Like [`line()`], but a longer text ends after a clause: at a `;` or at the end of a sentence, outside of what is between two backticks. A
/// first clause that is too long itself ends after a word.
pub fn clauses(text: &str, limit: usize) -> String {
    let whole = line(text, text.len());
    if whole.chars().count() <= limit {
        return whole;
    }
    let spans = code_spans(&whole);
    let most = offset_of(&whole, limit.saturating_sub(CUT.chars().count()));
    let ends = gaps(&whole, &spans, "; ").chain(gaps(&whole, &spans, ". ").map(|gap| gap + 1));
    let end = ends.filter(|end| *end <= most).max();
    let end = end.unwrap_or_else(|| last_gap(&whole, &spans, most));
    format!("{}{CUT}", &whole[..end])
}

/// What follows a text that is cut.
const CUT: &str = " …";

/// The text until its first `;` outside of what is between two backticks.
pub fn first_clause(text: &str) -> &str {
    let spans = code_spans(text);
    let end = gaps(text, &spans, "; ").next();
    end.map_or(text, |end| &text[..end])
}

/// What is between two backticks, with them, as byte offsets.
pub fn code_spans(text: &str) -> Vec<Range<usize>> {
    let marks: Vec<usize> = text.match_indices('`').map(|(at, _)| at).collect();
    let (pairs, _) = marks.as_chunks();
    pairs.iter().map(|[start, end]| *start..end + 1).collect()
}

fn code_span_at(spans: &[Range<usize>], offset: usize) -> Option<&Range<usize>> {
    spans.iter().find(|span| span.contains(&offset))
}

/// The byte offsets of a separator outside of code.
fn gaps(text: &str, spans: &[Range<usize>], separator: &str) -> impl Iterator<Item = usize> {
    text.match_indices(separator)
        .map(|(offset, _)| offset)
        .filter(|offset| code_span_at(spans, *offset).is_none())
}

/// The last end of a word at or before an offset; of a longer first word the offset itself, or the start of the code there.
fn last_gap(text: &str, spans: &[Range<usize>], most: usize) -> usize {
    let gap = gaps(text, spans, " ").take_while(|gap| *gap <= most).last();
    gap.or_else(|| code_span_at(spans, most).map(|span| span.start))
        .unwrap_or(most)
}

/// The byte offset of a character.
fn offset_of(text: &str, index: usize) -> usize {
    text.char_indices()
        .nth(index)
        .map_or(text.len(), |(offset, _)| offset)
}

/// The text as a reader sees it, without its invisible characters; `None` if it has none.
pub fn visible(text: &str) -> Option<String> {
    if text.is_ascii() || text.chars().all(is_seen) {
        return None;
    }
    Some(text.chars().filter(|char| is_seen(*char)).collect())
}

fn is_seen(char: char) -> bool {
    char.is_whitespace() || !is_invisible(char)
}

/// Whether a character is invisible or changes how others are displayed.
pub(super) fn is_invisible(char: char) -> bool {
    matches!(char,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::{clauses, first_clause, line, line_with_end};

    #[test]
    fn the_end_of_a_long_text_is_kept_and_no_word_is_cut() {
        let text = format!(
            "legal: {} changed; record again: `goldgate run`",
            "prompts/a.md ".repeat(40)
        );
        let short = line_with_end(&text, 90);
        assert!(
            short.starts_with("legal: prompts/a.md ")
                && short.ends_with(" record again: `goldgate run`"),
            "{short}"
        );
        assert!(
            short.contains("prompts/a.md … ") && short.chars().count() <= 92,
            "{short}"
        );
        assert_eq!(line_with_end("a  b", 3), "a b");
    }

    #[test]
    fn a_command_is_whole_or_not_there() {
        let text = "legal: 3 are stale; record again: `goldgate run --tier model`; else: `goldgate stamp --stale`; or leave it";
        for limit in 0..text.len() {
            for short in [clauses(text, limit), line_with_end(text, limit)] {
                let kept: Vec<&str> = short.split('`').skip(1).step_by(2).collect();
                let are_whole = kept
                    .iter()
                    .all(|command| text.contains(&format!("`{command}`")));
                assert!(are_whole && short.matches('`').count() % 2 == 0, "{short}");
                assert!(!short.contains("goldgate") || !kept.is_empty(), "{short}");
            }
        }
    }

    #[test]
    fn a_text_is_cut_after_a_clause() {
        for (text, limit, short) in [
            ("one; two; three", 15, "one; two; three"),
            ("one; two; three", 14, "one; two …"),
            ("one; two; three", 9, "one …"),
            ("One. Two three.", 12, "One. …"),
            ("one two three", 10, "one two …"),
            ("abcdefgh", 5, "abc …"),
            ("`one; two`; three", 14, "`one; two` …"),
            ("`one; two`; three", 9, " …"),
            ("an odd ` and; some words", 20, "an odd ` and …"),
        ] {
            assert_eq!(clauses(text, limit), short);
            assert!(short.chars().count() <= limit, "{short}");
        }
        for (text, first) in [("a; b", "a"), ("a `b; c`; d", "a `b; c`"), ("a", "a")] {
            assert_eq!(first_clause(text), first);
        }
    }

    #[test]
    fn a_line_is_one_line_of_visible_characters() {
        assert_eq!(line("a\n b\tc\u{0}d\u{202e}e\u{200b}", 99), "a b c de");
        assert_eq!(line("abcdef", 3), "abc…");
        assert_eq!(line("\u{1b}[31mred", 99), "[31mred");
    }
}

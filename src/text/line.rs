//! Untrusted text on one line, for reports and messages.

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

/// Like [`line()`], but of a longer text the end is kept as well, because a command or the first difference is there. Two thirds of the
/// limit go to the beginning.
pub fn line_with_end(text: &str, limit: usize) -> String {
    let whole = line(text, text.len());
    let count = whole.chars().count();
    if count <= limit {
        return whole;
    }
    let end = limit / 3;
    let beginning: String = whole.chars().take(limit - end).collect();
    let end: String = whole.chars().skip(count - end).collect();
    // A cut word does not count as a word of the text.
    let beginning = beginning
        .rsplit_once(' ')
        .map_or(beginning.as_str(), |(words, _)| words);
    let end = end.split_once(' ').map_or(end.as_str(), |(_, words)| words);
    format!("{beginning} … {end}")
}

/// The text as a reader sees it, without its invisible characters; `None` if it has none.
pub fn visible(text: &str) -> Option<String> {
    let is_seen = |char: char| char.is_whitespace() || !is_invisible(char);
    let has_unseen = !text.is_ascii() && !text.chars().all(is_seen);
    has_unseen.then(|| text.chars().filter(|char| is_seen(*char)).collect())
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
    use super::{line, line_with_end};

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
    fn a_line_is_one_line_of_visible_characters() {
        assert_eq!(line("a\n b\tc\u{0}d\u{202e}e\u{200b}", 99), "a b c de");
        assert_eq!(line("abcdef", 3), "abc…");
        assert_eq!(line("\u{1b}[31mred", 99), "[31mred");
    }
}

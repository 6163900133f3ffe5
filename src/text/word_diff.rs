//! The words that differ between two texts.

use super::changed_ranges::{ChangedRange, changed_ranges};

/// A part of two texts that were compared word by word. Words are joined by single spaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordPiece {
    /// Both have it.
    Same(String),
    /// Only the first has it.
    Removed(String),
    /// Only the second has it.
    Added(String),
}

/// The words of context that are kept around a difference.
const CONTEXT: usize = 8;

/// Marks words that are left out.
const GAP: &str = "…";

/// Compares two texts word by word. Long parts that both have are cut to the words next to a difference.
pub fn changed_words(before: &str, after: &str) -> Vec<WordPiece> {
    let (old, new): (Vec<&str>, Vec<&str>) = (
        before.split_whitespace().collect(),
        after.split_whitespace().collect(),
    );
    let ranges = changed_ranges(&old, &new);
    let same = new.len() - ranges.iter().map(|range| range.after.len()).sum::<usize>();
    // Single words that two unrelated sentences share say nothing.
    if ranges.len() > 1 && same * 3 < old.len().max(new.len()) {
        return vec![
            WordPiece::Removed(old.join(" ")),
            WordPiece::Added(new.join(" ")),
        ];
    }
    let (mut pieces, mut done) = (Vec::new(), 0);
    for ChangedRange { before, after } in ranges {
        let same = new.get(done..after.start).unwrap_or_default();
        let head = if pieces.is_empty() { 0 } else { CONTEXT };
        pieces.extend(kept(same, head, CONTEXT).map(WordPiece::Same));
        done = after.end;
        let removed = old.get(before).unwrap_or_default();
        let added = new.get(after).unwrap_or_default();
        pieces.extend((!removed.is_empty()).then(|| WordPiece::Removed(removed.join(" "))));
        pieces.extend((!added.is_empty()).then(|| WordPiece::Added(added.join(" "))));
    }
    let rest = new.get(done..).unwrap_or_default();
    if pieces.is_empty() {
        pieces.push(WordPiece::Same(rest.join(" ")));
    } else {
        pieces.extend(kept(rest, CONTEXT, 0).map(WordPiece::Same));
    }
    pieces
}

/// A common part with only its first `head` and its last `tail` words; `None` if it is empty.
fn kept(words: &[&str], head: usize, tail: usize) -> Option<String> {
    if words.is_empty() {
        return None;
    }
    // A gap replaces at least two words.
    if words.len() <= head + tail + 1 {
        return Some(words.join(" "));
    }
    Some(
        [&words[..head], &[GAP], &words[words.len() - tail..]]
            .concat()
            .join(" "),
    )
}

/// Two texts without long parts that both begin or end with, each cut to `limit` characters.
pub fn changed_part(before: &str, after: &str, limit: usize) -> (String, String) {
    let (old, new): (Vec<&str>, Vec<&str>) = (
        before.split_whitespace().collect(),
        after.split_whitespace().collect(),
    );
    let start = old
        .iter()
        .zip(&new)
        .take_while(|(left, right)| left == right)
        .count();
    let ends = old[start..].iter().rev().zip(new[start..].iter().rev());
    let end = ends.take_while(|(left, right)| left == right).count();
    let (skipped, spared) = (start.saturating_sub(CONTEXT), end.saturating_sub(CONTEXT));
    (
        part(&old, skipped, spared, limit),
        part(&new, skipped, spared, limit),
    )
}

/// The words without the first `skipped` and the last `spared`, cut to `limit` characters; what is left out is marked.
fn part(words: &[&str], skipped: usize, spared: usize, limit: usize) -> String {
    let mut text = words[skipped..words.len() - spared].join(" ");
    if let Some((cut, _)) = text.char_indices().nth(limit) {
        text.truncate(cut);
        text.push_str(GAP);
    } else if spared > 0 {
        text.push_str(" …");
    }
    if skipped > 0 {
        format!("… {text}")
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::{WordPiece, changed_part, changed_words};

    /// The pieces as git marks them.
    fn marked(before: &str, now: &str) -> String {
        let pieces = changed_words(before, now)
            .into_iter()
            .map(|piece| match piece {
                WordPiece::Same(text) => text,
                WordPiece::Removed(text) => format!("[-{text}-]"),
                WordPiece::Added(text) => format!("{{+{text}+}}"),
            });
        pieces.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn words_that_differ_are_marked_with_a_few_words_of_context() {
        for (before, now, expected) in [
            (
                "ask for the week",
                "ask for one day",
                "ask for [-the week-] {+one day+}",
            ),
            ("a b", "a b", "a b"),
            ("", "a", "{+a+}"),
            ("a", "", "[-a-]"),
            ("a  b\nc", "a b c", "a b c"),
            (
                "a b c d e",
                "x b y d z",
                "[-a-] {+x+} b [-c-] {+y+} d [-e-] {+z+}",
            ),
            // One shared word of seven is chance.
            (
                "the order is fine but late today",
                "sure here is one promise",
                "[-the order is fine but late today-] {+sure here is one promise+}",
            ),
            (
                "1 2 3 4 5 6 7 8 9 10 11 x a b c d e f g h i j k",
                "1 2 3 4 5 6 7 8 9 10 11 y a b c d e f g h i j k",
                "… 4 5 6 7 8 9 10 11 [-x-] {+y+} a b c d e f g h …",
            ),
        ] {
            assert_eq!(marked(before, now), expected, "{before:?} {now:?}");
        }
    }

    #[test]
    fn what_both_texts_begin_and_end_with_is_cut() {
        let cut = changed_part("1 2 3 4 5 6 7 8 9 x 1", "1 2 3 4 5 6 7 8 9 y 1", 100);
        assert_eq!(
            cut,
            (
                "… 2 3 4 5 6 7 8 9 x 1".to_owned(),
                "… 2 3 4 5 6 7 8 9 y 1".to_owned()
            )
        );
        assert_eq!(
            changed_part("äöü", "äöüß", 3),
            ("äöü".to_owned(), "äöü…".to_owned())
        );
        assert_eq!(
            changed_part("same", "same", 9),
            ("same".to_owned(), "same".to_owned())
        );
    }
}

//! The paragraphs of a file that differ from the base commit's.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::model::ChangedText;
use crate::text::{WordPiece, changed_part, changed_ranges, changed_words, paragraphs};

/// The longest text of a paragraph, in characters.
const LONGEST: usize = 400;

/// The paragraphs that differ, each with the one that it replaces. Those with the most changed words come first: a new rule before a
/// misspelt word.
pub fn changed_paragraphs(name: &str, base: &str, head: &str) -> Vec<ChangedText> {
    let (old, new) = (paragraphs(base), paragraphs(head));
    let (old, new): (Vec<&str>, Vec<&str>) = (
        old.iter().map(String::as_str).collect(),
        new.iter().map(String::as_str).collect(),
    );
    let mut changes = Vec::new();
    for range in changed_ranges(&old, &new) {
        let removed = old.get(range.before).unwrap_or_default();
        let added = new.get(range.after).unwrap_or_default();
        // Paired in their order.
        for index in 0..removed.len().max(added.len()) {
            let (removed, added) = (removed.get(index).copied(), added.get(index).copied());
            changes.push(of(name, removed, added));
        }
    }
    changes.sort_by_cached_key(|change| Reverse(changed_characters(change)));
    changes
}

/// The number of characters of the words that only one side has. Words at another place change little.
fn changed_characters(change: &ChangedText) -> usize {
    let (base, head) = (change.before.as_deref(), change.now.as_deref());
    let mut words: BTreeMap<String, isize> = BTreeMap::new();
    for piece in changed_words(base.unwrap_or_default(), head.unwrap_or_default()) {
        let (text, step) = match piece {
            WordPiece::Same(_) => continue,
            WordPiece::Removed(text) => (text, -1),
            WordPiece::Added(text) => (text, 1),
        };
        for word in text
            .split(|character: char| !character.is_alphanumeric())
            .filter(|word| !word.is_empty())
        {
            *words.entry(word.to_lowercase()).or_default() += step;
        }
    }
    words
        .iter()
        .map(|(word, count)| word.chars().count() * count.unsigned_abs())
        .sum()
}

fn of(name: &str, base: Option<&str>, head: Option<&str>) -> ChangedText {
    let (old, new) = changed_part(base.unwrap_or_default(), head.unwrap_or_default(), LONGEST);
    ChangedText {
        name: name.to_owned(),
        before: base.map(|_| old),
        now: head.map(|_| new),
        samples: None,
    }
}

#[cfg(test)]
mod tests {
    use super::changed_paragraphs;

    #[test]
    fn a_paragraph_is_shown_with_the_one_that_it_replaces() {
        let found = changed_paragraphs(
            "p.md",
            "# T\n\n- T-1: a\n- T-2: the week\n",
            "# T\n\n- T-1: a\n- T-2: one day\n\nEnd.",
        );
        let texts: Vec<_> = found
            .iter()
            .map(|one| (one.before.as_deref(), one.now.as_deref()))
            .collect();
        assert_eq!(
            texts,
            [
                (Some("- T-2: the week"), Some("- T-2: one day")),
                (None, Some("End."))
            ]
        );
        let (before, now) = (
            "First this, then that.\n\nB.\n",
            "That first, then this.\n\nB. And a rule.\n",
        );
        let found = changed_paragraphs("p.md", before, now);
        assert_eq!(
            found[0].now.as_deref(),
            Some("B. And a rule."),
            "the greater change comes first"
        );
        assert!(
            changed_paragraphs("p.md", "a\nb", "a b\n").is_empty(),
            "a line that is wrapped elsewhere is the same"
        );
    }
}

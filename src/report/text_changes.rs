//! The paragraphs of a file that differ from the base commit's.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::model::ChangedText;
use crate::text::{
    ChangedRange, WordPiece, changed_part, changed_ranges, changed_words, paragraphs,
};

/// The longest text of a paragraph, in characters.
const LONGEST: usize = 400;

/// The paragraphs that differ, each with the one that it replaces. Those with the most changed words come first: a new rule before a
/// misspelt word.
pub fn changed_paragraphs(name: &str, before: &str, now: &str) -> Vec<ChangedText> {
    let (old, new) = (paragraphs(before), paragraphs(now));
    let (old, new): (Vec<&str>, Vec<&str>) = (
        old.iter().map(String::as_str).collect(),
        new.iter().map(String::as_str).collect(),
    );
    let mut changes = Vec::new();
    for ChangedRange { before, after } in changed_ranges(&old, &new) {
        let removed = old.get(before).unwrap_or_default();
        let added = new.get(after).unwrap_or_default();
        // Paired in their order.
        let longest = removed.len().max(added.len());
        changes.extend(
            (0..longest)
                .map(|index| of(name, removed.get(index).copied(), added.get(index).copied())),
        );
    }
    changes.sort_by_cached_key(|change| Reverse(changed_characters(change)));
    changes
}

/// The number of characters of the words that only one side has. Words at another place change little.
fn changed_characters(change: &ChangedText) -> usize {
    let (before, now) = (change.before.as_deref(), change.now.as_deref());
    let mut words: BTreeMap<String, isize> = BTreeMap::new();
    for piece in changed_words(before.unwrap_or_default(), now.unwrap_or_default()) {
        let (text, step) = match piece {
            WordPiece::Same(_) => continue,
            WordPiece::Removed(text) => (text, -1),
            WordPiece::Added(text) => (text, 1),
        };
        for word in text
            .split(|one: char| !one.is_alphanumeric())
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

fn of(name: &str, before: Option<&str>, now: Option<&str>) -> ChangedText {
    let (old, new) = changed_part(before.unwrap_or_default(), now.unwrap_or_default(), LONGEST);
    ChangedText {
        name: name.to_owned(),
        before: before.map(|_| old),
        now: now.map(|_| new),
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

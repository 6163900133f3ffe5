//! The changes that were found, each with what it asks for.

use crate::model::GoldenChange;
use crate::model::RepoPath;
use crate::model::Weight;

/// Whether a limit got looser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moved {
    /// More passes than before, or it cannot be told.
    Looser,
    /// Less passes than before.
    Tighter,
}

/// The changes so far.
#[derive(Debug, Default)]
pub struct Found(Vec<GoldenChange>);

/// Names that stand in one sentence; the rest is counted.
const NAMED: usize = 8;

/// Changes of one weight that are said; the rest is counted.
const MOST: usize = 500;
/// Characters of one change.
const LONGEST: usize = 1000;

fn cut(words: String) -> String {
    match words.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}

impl Found {
    /// A change that needs an approval.
    pub fn needs(&mut self, words: String, file: Option<&RepoPath>) {
        self.0.push(GoldenChange { words, weight: Weight::NeedsApproval, file: file.cloned() });
    }

    /// A change that is listed.
    pub fn lists(&mut self, words: String, file: Option<&RepoPath>) {
        self.0.push(GoldenChange { words, weight: Weight::Listed, file: file.cloned() });
    }

    /// A limit that moved.
    pub fn moved(&mut self, how: Moved, words: String, file: Option<&RepoPath>) {
        match how {
            Moved::Looser => self.needs(words, file),
            Moved::Tighter => self.lists(words, file),
        }
    }

    /// Everything that was found; of very many the rest is counted, and each is cut to a length that people read.
    pub fn all(self) -> Vec<GoldenChange> {
        let (heavy, light): (Vec<_>, Vec<_>) =
            self.0.into_iter().partition(|change| change.weight == Weight::NeedsApproval);
        let mut all = Vec::new();
        for (weight, mut changes) in [(Weight::NeedsApproval, heavy), (Weight::Listed, light)] {
            let more = changes.len().saturating_sub(MOST);
            changes.truncate(MOST);
            all.extend(changes.into_iter().map(|change| GoldenChange { words: cut(change.words), ..change }));
            if more > 0 {
                all.push(GoldenChange { words: format!("… and {more} more changes"), weight, file: None });
            }
        }
        all
    }
}

/// Names with commas between; many are cut and counted.
pub fn named<S: AsRef<str>>(names: &[S]) -> String {
    let mut shown: Vec<&str> = names.iter().take(NAMED).map(AsRef::as_ref).collect();
    let more = format!("… and {} more", names.len().saturating_sub(NAMED));
    if names.len() > NAMED {
        shown.push(&more);
    }
    shown.join(", ")
}

/// A count with its noun, and the names.
pub fn counted<S: AsRef<str>>(names: &[S], one: &str, many: &str, what: &str) -> String {
    let noun = if names.len() == 1 { one } else { many };
    format!("{} {noun} {what}: {}", names.len(), named(names))
}

#[cfg(test)]
mod tests {
    use super::Found;
    use crate::model::Weight;

    #[test]
    fn very_many_changes_are_counted_and_very_long_ones_cut() {
        let mut found = Found::default();
        (0..700).for_each(|place| found.needs(format!("{place} {}", "é".repeat(5000)), None));
        found.lists("one".to_owned(), None);
        let all = found.all();
        assert_eq!((all.len(), all[500].words.as_str()), (502, "… and 200 more changes"));
        assert_eq!((all[500].weight, all[501].weight), (Weight::NeedsApproval, Weight::Listed));
        assert!(all.iter().all(|change| change.words.chars().count() <= 1001));
    }
}

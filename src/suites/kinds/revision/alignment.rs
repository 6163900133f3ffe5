//! Aligns the lines and sections of the original with those of the revised document.

use std::collections::{BTreeMap, BTreeSet};

use imara_diff::{Algorithm, Diff, InternedInput};
use memchr::memmem;

use super::draft::Draft;
use super::instructions::{ClauseOperation, Instructions, named};
use super::liability::mentions_indemnity;
use super::references;
use super::wording::PartyMask;
use crate::text::{Folded, NameSet, is_whole, token_overlap};

/// What happened to a line of the original.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Unchanged at this index, apart from requested replacements and moved numbers.
    Kept(usize),
    /// At this index with other words.
    Changed(usize),
    Gone,
}

pub struct Alignment {
    /// The fate of each line of the original, by index.
    pub fates: Vec<Fate>,
    /// Lines of the revised document that have no line in the original.
    pub added: Vec<usize>,
    /// Maps each section of the original to its section in the revised document.
    pub sections: BTreeMap<usize, usize>,
    /// The sections of the revised document that are the target of a section of the original.
    pub taken: BTreeSet<usize>,
    /// The lines of the original and of the revised document, with everything masked that may differ.
    pub masked: [Vec<String>; 2],
    mask: Mask,
}

/// One of the two documents that are aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Original,
    Revised,
}

/// Smallest token overlap (0 to 1) at which a removed line and an inserted line count as one changed line.
const ALIKE: f64 = 0.4;

/// Smallest overlap for a line that is to be deleted while others are added: the new line must not pass for a change of the old one.
const SAME: f64 = 0.7;

/// Largest number of line pairs that are compared exhaustively within one diff hunk.
const COMPARED: usize = 10_000;

impl Alignment {
    /// Aligns two drafts line by line. Old and new forms of a requested replacement compare as equal.
    pub fn of(original: &Draft, revised: &Draft, asked: &Instructions) -> Self {
        let mask = Mask::of(asked);
        let (old_lines, new_lines) = (mask.lines(original), mask.lines(revised));
        let mut input = InternedInput::default();
        input.update_before(old_lines.iter().map(String::as_str));
        input.update_after(new_lines.iter().map(String::as_str));
        let diff = Diff::compute(Algorithm::Histogram, &input);
        let mut fates = vec![Fate::Gone; old_lines.len()];
        let mut added = Vec::new();
        let (mut old, mut new) = (0, 0);
        let strict = strictly_compared(original, asked);
        for hunk in diff.hunks() {
            let removed = hunk.before.start as usize..hunk.before.end as usize;
            let inserted = hunk.after.start as usize..hunk.after.end as usize;
            for (kept, became) in (old..removed.start).zip(new..inserted.start) {
                fates[kept] = Fate::Kept(became);
            }
            (old, new) = (removed.end, inserted.end);
            let removed_lines = &old_lines[removed.clone()];
            let inserted_lines = &new_lines[inserted.clone()];
            let pairs = paired(removed_lines, inserted_lines, |from| {
                if strict.contains(&(removed.start + from)) {
                    SAME
                } else {
                    ALIKE
                }
            });
            for (from, to) in &pairs {
                fates[removed.start + from] = Fate::Changed(inserted.start + to);
            }
            let taken: BTreeSet<usize> = pairs.iter().map(|(_, to)| inserted.start + to).collect();
            added.extend(inserted.clone().filter(|line| !taken.contains(line)));
        }
        for (kept, became) in (old..old_lines.len()).zip(new..new_lines.len()) {
            fates[kept] = Fate::Kept(became);
        }
        let sections = sections(original, revised, &fates);
        let taken = sections.values().copied().collect();
        Self {
            fates,
            added,
            sections,
            taken,
            masked: [old_lines, new_lines],
            mask,
        }
    }

    /// The lines of a document that contain a text, whatever was replaced in it.
    pub fn lines_with(&self, text: &str, side: Side) -> Vec<usize> {
        let text = self.mask.text(text.trim());
        let [original, revised] = &self.masked;
        let lines = match side {
            Side::Original => original,
            Side::Revised => revised,
        };
        let lines = lines.iter().enumerate();
        lines
            .filter(|(_, line)| contains(line, &text))
            .map(|(index, _)| index)
            .collect()
    }

    /// Whether a text contains another one, whatever was replaced in them.
    pub fn contains(&self, whole: &str, part: &str) -> bool {
        contains(&self.mask.text(whole), &self.mask.text(part.trim()))
    }
}

/// Whether a text contains whole words.
fn contains(text: &str, words: &str) -> bool {
    memmem::find_iter(text.as_bytes(), words.as_bytes())
        .any(|start| is_whole(text, &(start..start + words.len())))
}

/// Pairs the lines of a removed block with those of an inserted block, in increasing order on both sides.
fn paired(
    removed: &[String],
    inserted: &[String],
    least: impl Fn(usize) -> f64,
) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut next = 0;
    let few = removed.len() * inserted.len() <= COMPARED;
    for (from, old) in removed.iter().enumerate() {
        let window = if few {
            inserted.len()
        } else {
            (next + 8).min(inserted.len())
        };
        let mut best: Option<(usize, f64)> = None;
        for (to, new) in inserted.iter().enumerate().take(window).skip(next) {
            let overlap = token_overlap(old, new);
            // The first of equally good matches, so that the result is stable.
            let is_better = best.is_none_or(|(_, most)| overlap > most);
            if overlap >= least(from) && is_better {
                best = Some((to, overlap));
            }
        }
        if let Some((to, _)) = best {
            pairs.push((from, to));
            next = to + 1;
        }
    }
    pairs
}

/// The lines to delete if clauses are also to be added; these need the overlap `SAME`.
fn strictly_compared(original: &Draft, asked: &Instructions) -> BTreeSet<usize> {
    let mut clauses = asked.clauses.iter();
    if clauses.any(|clause| clause.operation == ClauseOperation::Add) {
        deleted(original, asked)
    } else {
        BTreeSet::new()
    }
}

/// The lines of the original that the instructions delete.
pub fn deleted(original: &Draft, asked: &Instructions) -> BTreeSet<usize> {
    let to_go = asked
        .clauses
        .iter()
        .filter(|clause| clause.operation == ClauseOperation::Delete);
    let sections = to_go.filter_map(|clause| named(original, clause));
    sections
        .flat_map(|root| original.tree(root))
        .flat_map(|index| original.sections[index].lines.clone())
        .collect()
}

/// Maps sections by their first lines; otherwise by heading, if exactly one free section has that heading.
fn sections(original: &Draft, revised: &Draft, fates: &[Fate]) -> BTreeMap<usize, usize> {
    let begins: BTreeMap<usize, usize> = revised
        .sections
        .iter()
        .enumerate()
        .map(|(index, section)| (section.lines.start, index))
        .collect();
    let mut successors = BTreeMap::new();
    for (index, section) in original.sections.iter().enumerate() {
        if let Some(Fate::Kept(line) | Fate::Changed(line)) = fates.get(section.lines.start)
            && let Some(became) = begins.get(line)
        {
            successors.insert(index, *became);
        }
    }
    let taken: BTreeSet<usize> = successors.values().copied().collect();
    let mut headed: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, section) in revised
        .sections
        .iter()
        .enumerate()
        .filter(|(index, _)| !taken.contains(index))
    {
        headed.entry(&section.heading).or_default().push(index);
    }
    for (index, section) in original.sections.iter().enumerate() {
        if section.heading.is_empty() || successors.contains_key(&index) {
            continue;
        }
        if let Some([became]) = headed.get(section.heading.as_str()).map(Vec::as_slice) {
            successors.insert(index, *became);
        }
    }
    successors
}

/// Replaces everything that may differ between the documents by fixed placeholders.
struct Mask {
    names: NameSet,
    /// The placeholder of each name.
    signs: Vec<String>,
    parties: Option<PartyMask>,
}

/// The placeholder of the names of an entity.
fn entity_sign(index: usize) -> String {
    format!("\u{1}e{index}\u{1}")
}

impl Mask {
    fn of(asked: &Instructions) -> Self {
        let mut words: Vec<(&str, String)> = Vec::new();
        for (index, entity) in asked.entities.iter().enumerate() {
            for name in entity.names() {
                words.push((name, entity_sign(index)));
            }
        }
        if let Some(law) = &asked.jurisdiction {
            for name in [&law.from, &law.to] {
                words.push((name.as_str(), "\u{1}j\u{1}".to_owned()));
            }
            for (index, phrase) in law.phrases.iter().enumerate() {
                for name in [&phrase.from, &phrase.to] {
                    words.push((name.as_str(), format!("\u{1}p{index}\u{1}")));
                }
            }
        }
        let names = NameSet::new(words.iter().map(|(name, _)| *name));
        let signs = words.into_iter().map(|(_, sign)| sign).collect();
        let parties = asked
            .liability
            .as_ref()
            .map(|parties| PartyMask::new(parties, &asked.entities, entity_sign));
        Self {
            names,
            signs,
            parties,
        }
    }

    fn lines(&self, draft: &Draft) -> Vec<String> {
        draft
            .lines
            .iter()
            .map(|line| self.text(&line.text[line.words_from..]))
            .collect()
    }

    fn text(&self, text: &str) -> String {
        let folded = Folded::of(text);
        let mut masked = String::with_capacity(folded.text.len());
        let mut from = 0;
        for hit in self.names.find(&folded) {
            masked.push_str(&folded.text[from..hit.at.start]);
            masked.push_str(&self.signs[hit.name]);
            from = hit.at.end;
        }
        masked.push_str(&folded.text[from..]);
        let masked = references::masked(&masked);
        match &self.parties {
            Some(parties) if mentions_indemnity(&folded.text) => parties.masked(&masked),
            Some(_) | None => masked,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::paired;

    /// A block of distinct lines, with "same" at index `at`.
    fn block(count: usize, at: usize, others: &str) -> Vec<String> {
        (0..count)
            .map(|place| {
                if place == at {
                    "same".to_owned()
                } else {
                    format!("{others}{place}")
                }
            })
            .collect()
    }

    #[test]
    fn a_line_goes_with_the_first_that_is_most_like_it() {
        let old = ["a b c d".to_owned()];
        let new = ["a b c x", "a b c d", "a b c d"].map(str::to_owned);
        assert_eq!(paired(&old, &new, |_| 0.4), [(0, 1)]);
        assert_eq!(
            paired(&[old[0].clone(), old[0].clone()], &new[..1], |_| 0.4),
            [(0, 0)]
        );
        assert_eq!(paired(&old, &new[..1], |_| 0.7), []);
    }

    #[test]
    fn many_lines_are_compared_with_the_next_eight() {
        for (removed, place, found) in [
            (100, 50, true),
            (101, 7, true),
            (101, 8, false),
            (101, 50, false),
        ] {
            let expected: Vec<(usize, usize)> = found.then_some((0, place)).into_iter().collect();
            let pairs = paired(&block(removed, 0, "old"), &block(100, place, "new"), |_| {
                0.4
            });
            assert_eq!(pairs, expected, "{removed} {place}");
        }
        assert_eq!(
            paired(&block(1, 0, "old"), &block(9_000, 8_000, "new"), |_| 0.4),
            [(0, 8_000)]
        );
    }
}

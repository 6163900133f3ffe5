//! Clauses that were to be added, deleted, replaced or edited.

use super::alignment::{Alignment, Fate};
use super::draft::{Draft, Number, dotted, number};
use super::fault::{FaultKind, RevisionFault};
use super::instructions::{Clause, ClauseOperation};
use crate::text::{Keyword, norm};

/// Both documents, as the operations on clauses are looked for.
pub struct Clauses<'a> {
    pub original: &'a Draft,
    pub revised: &'a Draft,
    pub alignment: &'a Alignment,
}

/// The section of the original that an instruction names: by its number, else by its heading.
pub fn named(original: &Draft, clause: &Clause) -> Option<usize> {
    original.section(&number(&clause.section)?).or_else(|| {
        let heading = norm(clause.heading.as_deref()?);
        original.sections.iter().position(|section| section.heading == heading)
    })
}

impl Clauses<'_> {
    /// What is left to be done of each operation; `None` where it is done.
    pub fn undone(&self, clauses: &[Clause]) -> Vec<Option<RevisionFault>> {
        let checked = clauses.iter().map(|clause| {
            let missing = self.missing(clause)?;
            let what = format!("{} section {}: {missing}", clause.operation.as_str(), clause.section);
            Some(RevisionFault::new(FaultKind::Undone, what))
        });
        checked.collect()
    }

    fn missing(&self, clause: &Clause) -> Option<String> {
        let Some(wanted) = number(&clause.section) else {
            return Some(format!("\"{}\" is no number of a section, so nothing can be told", clause.section));
        };
        match clause.operation {
            ClauseOperation::Add => self.not_added(clause, &wanted),
            ClauseOperation::Delete => self.not_deleted(clause),
            ClauseOperation::Replace | ClauseOperation::Edit => self.not_changed(clause),
        }
    }

    fn not_added(&self, clause: &Clause, wanted: &Number) -> Option<String> {
        let heading = clause.heading.as_deref().map(norm);
        let fits = |index: &usize| {
            let section = &self.revised.sections[*index];
            !self.alignment.taken.contains(index) && heading.as_ref().is_none_or(|heading| section.heading == *heading)
        };
        let fresh: Vec<usize> = (0..self.revised.sections.len()).filter(fits).collect();
        let exact = fresh.iter().copied().find(|index| self.revised.sections[*index].number == *wanted);
        let Some(found) = exact.or_else(|| fresh.first().copied().filter(|_| heading.is_some())) else {
            return Some("it is not there".to_owned());
        };
        if self.revised.sections[found].number != *wanted {
            return Some(format!("it stands as section {}", dotted(&self.revised.sections[found].number)));
        }
        if let Some(after) = clause.after.as_deref() {
            let before = number(after).and_then(|number| self.original.section(&number));
            let Some(expected) = before.and_then(|section| self.alignment.sections.get(&section)) else {
                return Some(format!("section {after}, which it follows, is not there, so its place cannot be told"));
            };
            let depth = wanted.len();
            // What follows a section follows its sub-sections, too.
            let previous = (0..found).rev().find(|index| self.revised.sections[*index].number.len() <= depth);
            if previous != Some(*expected) {
                return Some(format!("it does not stand after what was section {after}"));
            }
        }
        self.wrong_words(clause, found)
    }

    fn not_deleted(&self, clause: &Clause) -> Option<String> {
        let Some(section) = named(self.original, clause) else {
            return Some("the original has no such section, so nothing can be told".to_owned());
        };
        // A number and a heading may be kept for a clause that is gone.
        if self.became(section).is_some_and(|became| self.revised.is_placeholder(became)) {
            return None;
        }
        // What is left of its sub-clauses is an orphan, and counted as one.
        let own = self.original.sections[section].lines.clone();
        let left = own.into_iter().find_map(|line| match self.alignment.fates[line] {
            Fate::Kept(to) | Fate::Changed(to) => Some(to),
            Fate::Gone => None,
        });
        left.map(|line| format!("it is still there: {}", self.revised.excerpt(line)))
    }

    fn not_changed(&self, clause: &Clause) -> Option<String> {
        let Some(section) = named(self.original, clause) else {
            return Some("the original has no such section, so nothing can be told".to_owned());
        };
        let Some(became) = self.became(section) else { return Some("the section is gone".to_owned()) };
        self.wrong_words(clause, became).or_else(|| {
            let asked = !clause.must_contain.is_empty() || !clause.must_not_contain.is_empty();
            (!asked && self.is_same(section, became)).then(|| "its words are the same as before".to_owned())
        })
    }

    /// Whether a section has the words that it had, but for names and numbers that moved.
    fn is_same(&self, section: usize, became: usize) -> bool {
        let lines = |draft: &Draft, root: usize| -> Vec<usize> {
            draft.tree(root).flat_map(|index| draft.sections[index].lines.clone()).collect()
        };
        let (was, is) = (lines(self.original, section), lines(self.revised, became));
        let kept = |line: &usize| matches!(self.alignment.fates[*line], Fate::Kept(_));
        was.len() == is.len() && was.iter().all(kept)
    }

    /// What a section became: what its words became, else the one that has its number and came from no other.
    pub fn became(&self, section: usize) -> Option<usize> {
        self.alignment.sections.get(&section).copied().or_else(|| {
            let place = self.revised.section(&self.original.sections[section].number)?;
            (!self.alignment.taken.contains(&place)).then_some(place)
        })
    }

    fn wrong_words(&self, clause: &Clause, section: usize) -> Option<String> {
        let words = self.revised.section_words(section);
        let has = |text: &&String| Keyword::new(text).is_some_and(|text| text.is_in(&words));
        if let Some(missing) = clause.must_contain.iter().find(|text| !has(text)) {
            return Some(format!("\"{missing}\" is not in it"));
        }
        clause.must_not_contain.iter().find(has).map(|left| format!("\"{left}\" is still in it"))
    }
}

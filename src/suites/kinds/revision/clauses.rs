//! Checks the clauses that were to be added, deleted, replaced or edited.

use super::alignment::{Alignment, Fate, Side};
use super::draft::{Draft, Number, contains_words, dotted, number};
use super::fault::{FaultKind, RevisionFault};
use super::instructions::{Clause, ClauseOperation, named};
use crate::text::norm;

/// Both documents with their alignment.
pub struct Clauses<'a> {
    pub original: &'a Draft,
    pub revised: &'a Draft,
    pub alignment: &'a Alignment,
}

impl Clauses<'_> {
    /// For each operation the fault if it is not done; `None` if it is done.
    pub fn undone(&self, clauses: &[Clause]) -> Vec<Option<RevisionFault>> {
        let mut undone = Vec::with_capacity(clauses.len());
        for clause in clauses {
            undone.push(self.missing(clause).map(|missing| {
                let operation = clause.operation.as_str();
                let message = format!("{operation} {}: {missing}", clause.target());
                RevisionFault::new(FaultKind::Undone, message)
            }));
        }
        undone
    }

    fn missing(&self, clause: &Clause) -> Option<String> {
        if let Some(text) = &clause.text {
            return match clause.operation {
                ClauseOperation::Add => self.text_not_added(text, clause.after.as_deref()),
                ClauseOperation::Delete | ClauseOperation::Replace | ClauseOperation::Edit => {
                    self.not_done_to(text, clause.new_text.as_deref())
                }
            };
        }
        let Some(expected_number) = number(&clause.section) else {
            return Some(format!(
                "\"{}\" is not a section number, so the operation cannot be checked",
                clause.section
            ));
        };
        match clause.operation {
            ClauseOperation::Add => self.not_added(clause, &expected_number),
            ClauseOperation::Delete => self.not_deleted(clause),
            ClauseOperation::Replace | ClauseOperation::Edit => self.not_changed(clause),
        }
    }

    /// Why a text was not deleted, or not replaced by another one.
    fn not_done_to(&self, text: &str, new: Option<&str>) -> Option<String> {
        let contains_old = new.is_some_and(|new| self.alignment.contains(new, text));
        let left = self.alignment.lines_with(text, Side::Revised);
        if let Some(line) = left.first().filter(|_| !contains_old) {
            return Some(format!(
                "the text is still there: {}",
                self.revised.excerpt(*line)
            ));
        }
        let new = new?;
        let new_lines = self.alignment.lines_with(new, Side::Revised);
        new_lines
            .is_empty()
            .then(|| format!("no paragraph contains \"{new}\""))
    }

    /// Why no paragraph with a text was added after a section.
    fn text_not_added(&self, text: &str, after: Option<&str>) -> Option<String> {
        let lines = self.alignment.lines_with(text, Side::Revised);
        if lines.is_empty() {
            return Some(format!("no paragraph contains \"{text}\""));
        }
        let after = after?;
        let expected = match self.former_section(after) {
            Ok(expected) => expected,
            Err(missing) => return Some(missing),
        };
        let depth = self.revised.sections[expected].number.len();
        let follows = lines
            .iter()
            .any(|line| self.former_before(*line, depth) == Some(expected));
        (!follows).then(|| format!("it does not follow the former section {after}"))
    }

    /// The last section up to a line that the original had too, with numbers of at most this depth.
    fn former_before(&self, line: usize, depth: usize) -> Option<usize> {
        let sections = &self.revised.sections;
        let count = sections.partition_point(|section| section.lines.start <= line);
        (0..count).rev().find(|index| {
            self.alignment.taken.contains(index) && sections[*index].number.len() <= depth
        })
    }

    /// What a section of the original became, or why the position of what follows it cannot be checked.
    fn former_section(&self, after: &str) -> Result<usize, String> {
        let original_section = number(after).and_then(|number| self.original.section(&number));
        let became = original_section.and_then(|section| self.alignment.sections.get(&section));
        match became {
            Some(became) => Ok(*became),
            None => Err(format!(
                "section {after}, which it must follow, is missing, so its position cannot be checked"
            )),
        }
    }

    fn not_added(&self, clause: &Clause, expected_number: &Number) -> Option<String> {
        let heading = clause.heading.as_deref().map(norm);
        let mut fresh = Vec::new();
        for (index, section) in self.revised.sections.iter().enumerate() {
            let has_heading = heading
                .as_ref()
                .is_none_or(|heading| section.heading == *heading);
            if has_heading && !self.alignment.taken.contains(&index) {
                fresh.push(index);
            }
        }
        let exact = fresh
            .iter()
            .copied()
            .find(|index| self.revised.sections[*index].number == *expected_number);
        let Some(added) = exact.or_else(|| fresh.first().copied().filter(|_| heading.is_some()))
        else {
            return Some("the section is missing".to_owned());
        };
        if self.revised.sections[added].number != *expected_number {
            return Some(format!(
                "it is section {} instead",
                dotted(&self.revised.sections[added].number)
            ));
        }
        if let Some(after) = clause.after.as_deref() {
            let expected = match self.former_section(after) {
                Ok(expected) => expected,
                Err(missing) => return Some(missing),
            };
            let depth = expected_number.len();
            // A section's sub-sections may come between.
            let previous = (0..added)
                .rev()
                .find(|index| self.revised.sections[*index].number.len() <= depth);
            if previous != Some(expected) {
                return Some(format!("it does not follow the former section {after}"));
            }
        }
        self.wrong_words(clause, added)
    }

    fn not_deleted(&self, clause: &Clause) -> Option<String> {
        let Some(section) = named(self.original, clause) else {
            return Some(
                "the original has no such section, so the operation cannot be checked".to_owned(),
            );
        };
        // The number and heading of a deleted clause may remain.
        if self
            .became(section)
            .is_some_and(|became| self.revised.is_placeholder(became))
        {
            return None;
        }
        // Remaining sub-clauses are counted as orphans instead.
        let lines = self.original.sections[section].lines.clone();
        for line in lines {
            match self.alignment.fates[line] {
                Fate::Kept(to) | Fate::Changed(to) => {
                    let excerpt = self.revised.excerpt(to);
                    return Some(format!("the section is still there: {excerpt}"));
                }
                Fate::Gone => {}
            }
        }
        None
    }

    fn not_changed(&self, clause: &Clause) -> Option<String> {
        let Some(section) = named(self.original, clause) else {
            return Some(
                "the original has no such section, so the operation cannot be checked".to_owned(),
            );
        };
        let Some(became) = self.became(section) else {
            return Some("the section was removed".to_owned());
        };
        if let Some(wrong) = self.wrong_words(clause, became) {
            return Some(wrong);
        }
        let asked = !clause.must_contain.is_empty() || !clause.must_not_contain.is_empty();
        (!asked && self.is_same(section, became)).then(|| "its words are unchanged".to_owned())
    }

    /// Whether a section has the same words as before, apart from names and moved numbers.
    fn is_same(&self, section: usize, became: usize) -> bool {
        let old_lines = self.original.lines_of_tree(section);
        let new_lines = self.revised.lines_of_tree(became);
        old_lines.len() == new_lines.len()
            && old_lines
                .iter()
                .all(|line| matches!(self.alignment.fates[*line], Fate::Kept(_)))
    }

    /// The section that a section became: by its text, otherwise the unmatched one with the same number.
    pub fn became(&self, section: usize) -> Option<usize> {
        if let Some(became) = self.alignment.sections.get(&section) {
            return Some(*became);
        }
        let number = &self.original.sections[section].number;
        let index = self.revised.section(number)?;
        (!self.alignment.taken.contains(&index)).then_some(index)
    }

    fn wrong_words(&self, clause: &Clause, section: usize) -> Option<String> {
        let words = self.revised.section_words(section);
        for text in &clause.must_contain {
            if !contains_words(&words, text) {
                return Some(format!("it does not contain \"{text}\""));
            }
        }
        for text in &clause.must_not_contain {
            if contains_words(&words, text) {
                return Some(format!("it still contains \"{text}\""));
            }
        }
        None
    }
}

//! What a revision must not break: definitions, numbering, and everything that was not to change.

use std::collections::{BTreeMap, BTreeSet};

use rtf::ParagraphPlace;

use super::alignment::{Fate, Side};
use super::binding::only_references_differ;
use super::clauses::Clauses;
use super::draft::{Draft, Number, Section, dotted, number};
use super::fault::{FaultKind, RevisionFault};
use super::instructions::{AllowedChange, ClauseOperation, Instructions, named};
use super::liability::mentions_indemnity;
use super::references::numbers_of;
use super::terms::{DefinedTerms, has_name, replaced_names, used};
use super::wording;
use crate::text::norm;

/// Numbering problems that the original did not have: gaps, duplicates, and sub-clauses without their clause.
pub fn numbering(clauses: &Clauses<'_>) -> Vec<RevisionFault> {
    let Clauses {
        original,
        revised,
        alignment,
    } = clauses;
    let old_problems = numbering_problems(original);
    let numbers: BTreeSet<(CoherenceKind, &Number)> = old_problems
        .iter()
        .map(|(kind, section)| (*kind, &original.sections[*section].number))
        .collect();
    let already: BTreeSet<(CoherenceKind, usize)> = old_problems
        .iter()
        .filter_map(|(kind, section)| Some((*kind, *alignment.sections.get(section)?)))
        .collect();
    let mut faults = Vec::new();
    for (kind, section) in numbering_problems(revised) {
        let Section { number, lines, .. } = &revised.sections[section];
        if numbers.contains(&(kind, number)) || already.contains(&(kind, section)) {
            continue;
        }
        let line = lines.start;
        let (fault, predicate) = match kind {
            CoherenceKind::Double => (FaultKind::Numbering, "appears twice"),
            CoherenceKind::Gap => (FaultKind::Numbering, "follows a gap"),
            CoherenceKind::Back => (FaultKind::Numbering, "is out of order"),
            CoherenceKind::Orphan => (FaultKind::OrphanedClause, "has lost its parent clause"),
        };
        faults.push(RevisionFault::new(
            fault,
            format!(
                "section {} {predicate}: {}",
                dotted(number),
                revised.excerpt(line)
            ),
        ));
    }
    faults
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum CoherenceKind {
    Double,
    Gap,
    Back,
    Orphan,
}

/// The numbering problems of a document, as the sections where they appear.
fn numbering_problems(draft: &Draft) -> Vec<(CoherenceKind, usize)> {
    let mut numbering_problems = Vec::new();
    let mut seen: BTreeSet<(usize, &[u32])> = BTreeSet::new();
    let mut last: BTreeMap<(usize, &[u32]), u32> = BTreeMap::new();
    for (index, section) in draft.sections.iter().enumerate() {
        let Some((last_number, parent)) = section.number.split_last() else {
            continue;
        };
        if !seen.insert((section.part, &section.number)) {
            numbering_problems.push((CoherenceKind::Double, index));
            continue;
        }
        if !parent.is_empty() && !seen.contains(&(section.part, parent)) {
            numbering_problems.push((CoherenceKind::Orphan, index));
        } else {
            let previous = last.get(&(section.part, parent)).copied().unwrap_or(0);
            match last_number.checked_sub(previous) {
                None => numbering_problems.push((CoherenceKind::Back, index)),
                Some(0 | 1) => {}
                Some(_) => numbering_problems.push((CoherenceKind::Gap, index)),
            }
        }
        last.insert((section.part, parent), *last_number);
    }
    numbering_problems
}

/// Unrequested changes as faults, and the number of removed body lines among them.
pub fn unintended(
    clauses: &Clauses<'_>,
    asked: &Instructions,
    old_terms: &DefinedTerms,
    new_terms: &DefinedTerms,
) -> (Vec<RevisionFault>, usize) {
    let Clauses {
        original,
        revised,
        alignment,
    } = clauses;
    let targets = Targets::of(clauses, asked, old_terms, new_terms);
    let mut messages = Vec::new();
    let mut omitted = 0;
    for (line, fate) in alignment.fates.iter().enumerate() {
        let may = targets.may_change(original, line);
        match fate {
            Fate::Changed(to)
                if !may
                    && !is_turned(clauses, asked, line, *to)
                    && !targets.loses_references(clauses, line, Some(*to)) =>
            {
                messages.push(original.change(line, revised, *to));
            }
            Fate::Gone
                if !may
                    && !targets.unused.contains(&line)
                    && !targets.loses_references(clauses, line, None) =>
            {
                omitted += usize::from(original.lines[line].place == ParagraphPlace::Body);
                messages.push(format!("{} was removed", original.excerpt(line)));
            }
            Fate::Kept(to) => {
                let (old, new) = (&original.lines[line], &revised.lines[*to]);
                // Equal after masking and folding; the exact letters may still differ.
                let (was, is) = (&old.text[old.words_from..], &new.text[new.words_from..]);
                if old.folded.text == new.folded.text && was.trim() != is.trim() && !may {
                    messages.push(format!(
                        "{} has different letters or marks",
                        revised.excerpt(*to)
                    ));
                }
            }
            Fate::Changed(_) | Fate::Gone => {}
        }
    }
    for line in &alignment.added {
        if !targets.may_be_new(revised, *line) {
            messages.push(format!("{} is new", revised.excerpt(*line)));
        }
    }
    let faults = messages
        .into_iter()
        .map(|message| RevisionFault::new(FaultKind::Unintended, message))
        .collect();
    (faults, omitted)
}

/// Whether only the direction of an indemnity differs, as requested.
fn is_turned(clauses: &Clauses<'_>, asked: &Instructions, line: usize, to: usize) -> bool {
    let [was, is] = &clauses.alignment.masked;
    asked.liability.is_some()
        && mentions_indemnity(&clauses.original.lines[line].folded.text)
        && wording::only_direction_differs(&was[line], &is[to])
}

/// The sections that the instructions allow to change.
struct Targets {
    original: BTreeSet<usize>,
    revised: BTreeSet<usize>,
    /// The lines of the original, and those of the revised document, with a text that may change.
    lines: [BTreeSet<usize>; 2],
    /// Numbers of deleted sections; lines that refer to them lose the reference.
    removed: BTreeSet<Number>,
    /// Definitions that may be removed, but not changed.
    unused: BTreeSet<usize>,
}

impl Targets {
    fn of(
        clauses: &Clauses<'_>,
        asked: &Instructions,
        old_terms: &DefinedTerms,
        new_terms: &DefinedTerms,
    ) -> Self {
        let Clauses {
            original, revised, ..
        } = clauses;
        let mut targets = Self {
            original: BTreeSet::new(),
            revised: BTreeSet::new(),
            lines: [BTreeSet::new(), BTreeSet::new()],
            removed: BTreeSet::new(),
            unused: BTreeSet::new(),
        };
        let mut changed = BTreeSet::new();
        for clause in &asked.clauses {
            if let Some(text) = &clause.text {
                let new = match clause.operation {
                    ClauseOperation::Add => Some(text),
                    ClauseOperation::Delete | ClauseOperation::Replace | ClauseOperation::Edit => {
                        clause.new_text.as_ref()
                    }
                };
                targets.add_lines(clauses, text, new);
                if clause.operation == ClauseOperation::Add {
                    targets.add_new_sections(clauses, text);
                }
            }
            if clause.operation == ClauseOperation::Add {
                let Some(expected) = number(&clause.section) else {
                    continue;
                };
                // A section added in the wrong position is an operation that is not done, not also an unrequested change.
                let heading = clause.heading.as_deref().map(norm);
                for (index, section) in revised.sections.iter().enumerate() {
                    let fits =
                        section.number == expected || heading.as_ref() == Some(&section.heading);
                    if fits && !clauses.alignment.taken.contains(&index) {
                        targets.revised.extend(revised.tree(index));
                    }
                }
                continue;
            }
            let Some(section) = named(original, clause) else {
                continue;
            };
            targets.original.extend(original.tree(section));
            if clause.operation == ClauseOperation::Delete {
                targets.removed.extend(
                    original
                        .tree(section)
                        .map(|index| original.sections[index].number.clone()),
                );
                // Only a note that the section is deleted may take its place.
                let left = clauses
                    .became(section)
                    .filter(|became| revised.is_placeholder(*became));
                targets
                    .revised
                    .extend(left.into_iter().flat_map(|became| revised.tree(became)));
            } else {
                changed.extend(original.tree(section));
            }
        }
        for change in &asked.allowed_changes {
            match change {
                AllowedChange::Section(section) => {
                    let section = number(section).and_then(|number| original.section(&number));
                    for index in section.into_iter().flat_map(|root| original.tree(root)) {
                        targets.original.insert(index);
                        changed.insert(index);
                    }
                }
                AllowedChange::Text(allowed) => {
                    targets.add_lines(clauses, &allowed.text, Some(&allowed.text));
                }
            }
        }
        targets.revised.extend(
            changed
                .into_iter()
                .filter_map(|section| clauses.became(section)),
        );
        // A definition that lost its last use may be removed. A term with a replaced name is only called otherwise.
        let names = replaced_names(asked);
        let lost = old_terms
            .iter()
            .filter(|(term, _)| !new_terms.contains_key(*term) && !has_name(&names, term));
        let unused = lost.filter(|(term, known)| used(revised, term, known).is_none());
        targets.unused = unused.map(|(_, term)| term.line).collect();
        targets
    }

    /// Adds the lines of the original with a text, and those of the revised document with a new one.
    fn add_lines(&mut self, clauses: &Clauses<'_>, text: &str, new: Option<&String>) {
        let [original, revised] = &mut self.lines;
        original.extend(clauses.alignment.lines_with(text, Side::Original));
        let new = new.map(|new| clauses.alignment.lines_with(new, Side::Revised));
        revised.extend(new.into_iter().flatten());
    }

    /// Adds the sections of the revised document that are new and have a text: their headings are new, too.
    fn add_new_sections(&mut self, clauses: &Clauses<'_>, text: &str) {
        let lines = clauses.alignment.lines_with(text, Side::Revised);
        let sections = lines
            .iter()
            .filter_map(|line| clauses.revised.lines[*line].section);
        let new = sections.filter(|section| !clauses.alignment.taken.contains(section));
        self.revised.extend(new);
    }

    fn may_change(&self, original: &Draft, line: usize) -> bool {
        let section = original.lines[line].section;
        self.lines[0].contains(&line)
            || section.is_some_and(|section| self.original.contains(&section))
    }

    /// How often a line refers to a deleted section.
    fn references_to_removed(&self, original: &Draft, line: usize) -> usize {
        if self.removed.is_empty() {
            return 0;
        }
        numbers_of(original, line)
            .filter(|number| self.removed.contains(number))
            .count()
    }

    /// Whether a line that refers to a deleted section loses that reference, and nothing else.
    fn loses_references(&self, clauses: &Clauses<'_>, line: usize, to: Option<usize>) -> bool {
        let removed = self.references_to_removed(clauses.original, line);
        let [was, is] = &clauses.alignment.masked;
        let is = to.map_or("", |to| is[to].as_str());
        removed > 0 && only_references_differ(&was[line], is, removed)
    }

    fn may_be_new(&self, revised: &Draft, line: usize) -> bool {
        let section = revised.lines[line].section;
        self.lines[1].contains(&line)
            || section.is_some_and(|section| self.revised.contains(&section))
    }
}

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
    let before = numbering_problems(original);
    let numbers: BTreeSet<(CoherenceKind, &Number)> = before
        .iter()
        .map(|(kind, section)| (*kind, &original.sections[*section].number))
        .collect();
    let already: BTreeSet<(CoherenceKind, usize)> = before
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
        let (fault, what) = match kind {
            CoherenceKind::Double => (FaultKind::Numbering, "appears twice"),
            CoherenceKind::Gap => (FaultKind::Numbering, "follows a gap"),
            CoherenceKind::Back => (FaultKind::Numbering, "is out of order"),
            CoherenceKind::Orphan => (FaultKind::OrphanedClause, "has lost its parent clause"),
        };
        faults.push(RevisionFault::new(
            fault,
            format!(
                "section {} {what}: {}",
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
        let Some((own, parent)) = section.number.split_last() else {
            continue;
        };
        let mut add = |kind| numbering_problems.push((kind, index));
        if !seen.insert((section.part, &section.number)) {
            add(CoherenceKind::Double);
            continue;
        }
        if !parent.is_empty() && !seen.contains(&(section.part, parent)) {
            add(CoherenceKind::Orphan);
        } else {
            match own.checked_sub(last.get(&(section.part, parent)).copied().unwrap_or(0)) {
                None => add(CoherenceKind::Back),
                Some(0 | 1) => {}
                Some(_) => add(CoherenceKind::Gap),
            }
        }
        last.insert((section.part, parent), *own);
    }
    numbering_problems
}

/// Unrequested changes as faults, and the number of removed body lines among them.
pub fn unintended(
    clauses: &Clauses<'_>,
    asked: &Instructions,
    before: &DefinedTerms,
    now: &DefinedTerms,
) -> (Vec<RevisionFault>, usize) {
    let Clauses {
        original,
        revised,
        alignment,
    } = clauses;
    let targets = Targets::of(clauses, asked, before, now);
    let turned = |line: usize, to: usize| {
        let [was, is] = &alignment.masked;
        asked.liability.is_some()
            && mentions_indemnity(&original.lines[line].folded.text)
            && wording::only_direction_differs(&was[line], &is[to])
    };
    // A line that refers to a deleted section loses that reference, and nothing else.
    let unreferred = |line: usize, to: Option<usize>| {
        let removed = targets.references_to_removed(original, line);
        let is = to.map_or("", |to| alignment.masked[1][to].as_str());
        removed > 0 && only_references_differ(&alignment.masked[0][line], is, removed)
    };
    let mut faults = Vec::new();
    let mut omitted = 0;
    let fault = |what: String| RevisionFault::new(FaultKind::Unintended, what);
    for (line, fate) in alignment.fates.iter().enumerate() {
        let may = targets.may_change(original, line);
        match fate {
            Fate::Changed(to) if !may && !turned(line, *to) && !unreferred(line, Some(*to)) => {
                faults.push(fault(original.change(line, revised, *to)));
            }
            Fate::Gone if !may && !targets.unused.contains(&line) && !unreferred(line, None) => {
                omitted += usize::from(original.lines[line].place == ParagraphPlace::Body);
                faults.push(fault(format!("{} was removed", original.excerpt(line))));
            }
            Fate::Kept(to) => {
                let (old, new) = (&original.lines[line], &revised.lines[*to]);
                // Equal after masking and folding; the exact letters may still differ.
                let (was, is) = (&old.text[old.words_from..], &new.text[new.words_from..]);
                if old.folded.text == new.folded.text && was.trim() != is.trim() && !may {
                    faults.push(fault(format!(
                        "{} has different letters or marks",
                        revised.excerpt(*to)
                    )));
                }
            }
            Fate::Changed(_) | Fate::Gone => {}
        }
    }
    for line in alignment
        .added
        .iter()
        .filter(|line| !targets.may_be_new(revised, **line))
    {
        faults.push(fault(format!("{} is new", revised.excerpt(*line))));
    }
    (faults, omitted)
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
        before: &DefinedTerms,
        now: &DefinedTerms,
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
                let fresh = |index: &usize| !clauses.alignment.taken.contains(index);
                let fits = |section: &Section| {
                    section.number == expected || heading.as_ref() == Some(&section.heading)
                };
                let added = (0..revised.sections.len())
                    .filter(|index| fresh(index) && fits(&revised.sections[*index]));
                targets
                    .revised
                    .extend(added.flat_map(|index| revised.tree(index)));
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
        let lost = before
            .iter()
            .filter(|(term, _)| !now.contains_key(*term) && !has_name(&names, term));
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
        match self.removed.is_empty() {
            true => 0,
            false => numbers_of(original, line)
                .filter(|number| self.removed.contains(number))
                .count(),
        }
    }

    fn may_be_new(&self, revised: &Draft, line: usize) -> bool {
        let section = revised.lines[line].section;
        self.lines[1].contains(&line)
            || section.is_some_and(|section| self.revised.contains(&section))
    }
}

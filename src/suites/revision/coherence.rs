//! What a revision must not break: definitions, numbers, and what nobody asked to change.

use std::collections::{BTreeMap, BTreeSet};

use super::alignment::Fate;
use super::clauses::{Clauses, named};
use super::draft::{Draft, Number, Section, dotted, number};
use super::fault::{FaultKind, RevisionFault};
use super::instructions::{ClauseOperation, Instructions};
use super::liability;
use super::references::numbers_of;
use super::terms::{DefinedTerms, used};
use crate::text::norm;
use crate::text::rtf::ParagraphPlace;

/// Gaps and doubles in the numbers, and sub-clauses whose clause is gone, that the original did not have.
pub fn numbering(clauses: &Clauses<'_>) -> Vec<RevisionFault> {
    let Clauses { original, revised, alignment } = clauses;
    let before = slips(original);
    let numbers: BTreeSet<(CoherenceKind, &Number)> =
        before.iter().map(|(kind, section)| (*kind, &original.sections[*section].number)).collect();
    let already: BTreeSet<(CoherenceKind, usize)> =
        before.iter().filter_map(|(kind, section)| Some((*kind, *alignment.sections.get(section)?))).collect();
    let mut faults = Vec::new();
    for (kind, section) in slips(revised) {
        let Section { number, lines, .. } = &revised.sections[section];
        if numbers.contains(&(kind, number)) || already.contains(&(kind, section)) {
            continue;
        }
        let line = lines.start;
        let (fault, what) = match kind {
            CoherenceKind::Double => (FaultKind::Numbering, "stands twice"),
            CoherenceKind::Gap => (FaultKind::Numbering, "follows a gap"),
            CoherenceKind::Back => (FaultKind::Numbering, "is out of order"),
            CoherenceKind::Orphan => (FaultKind::OrphanedClause, "has no clause above it any more"),
        };
        faults.push(RevisionFault::new(fault, format!("section {} {what}: {}", dotted(number), revised.excerpt(line))));
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

/// What is wrong with the numbers, as the sections where it shows.
fn slips(draft: &Draft) -> Vec<(CoherenceKind, usize)> {
    let mut slips = Vec::new();
    let mut seen: BTreeSet<(usize, &[u32])> = BTreeSet::new();
    let mut last: BTreeMap<(usize, &[u32]), u32> = BTreeMap::new();
    for (index, section) in draft.sections.iter().enumerate() {
        let Some((own, parent)) = section.number.split_last() else { continue };
        let mut reservation = |kind| slips.push((kind, index));
        if !seen.insert((section.part, &section.number)) {
            reservation(CoherenceKind::Double);
            continue;
        }
        if !parent.is_empty() && !seen.contains(&(section.part, parent)) {
            reservation(CoherenceKind::Orphan);
        } else {
            match own.checked_sub(last.get(&(section.part, parent)).copied().unwrap_or(0)) {
                None => reservation(CoherenceKind::Back),
                Some(0 | 1) => {}
                Some(_) => reservation(CoherenceKind::Gap),
            }
        }
        last.insert((section.part, parent), *own);
    }
    slips
}

/// Changes that nobody asked for: their faults, and how many lines of running text are gone without being asked for.
pub fn unintended(
    clauses: &Clauses<'_>,
    asked: &Instructions,
    before: &DefinedTerms,
    now: &DefinedTerms,
) -> (Vec<RevisionFault>, usize) {
    let Clauses { original, revised, alignment } = clauses;
    let targets = Targets::of(clauses, asked, before, now);
    let turned = |line: usize, to: usize| {
        let [was, is] = &alignment.masked;
        asked.liability.is_some()
            && liability::speaks_of_indemnity(&original.lines[line].folded.text)
            && liability::only_turned(&was[line], &is[to])
    };
    let mut faults = Vec::new();
    let mut omitted = 0;
    let fault = |what: String| RevisionFault::new(FaultKind::Unintended, what);
    for (line, fate) in alignment.fates.iter().enumerate() {
        let may = targets.may_change(original, line);
        match fate {
            Fate::Changed(to) if !may && !turned(line, *to) => {
                faults.push(fault(format!("{} became {}", original.excerpt(line), revised.excerpt(*to))));
            }
            Fate::Gone if !may => {
                omitted += usize::from(original.lines[line].place == ParagraphPlace::Body);
                faults.push(fault(format!("{} is gone", original.excerpt(line))));
            }
            Fate::Kept(to) => {
                let (old, new) = (&original.lines[line], &revised.lines[*to]);
                // Its words are the same when names and numbers are left out; are its letters, where it has none of them?
                let (was, is) = (&old.text[old.words_from..], &new.text[new.words_from..]);
                if old.folded.text == new.folded.text && was.trim() != is.trim() && !may {
                    faults.push(fault(format!("{} is written in another way", revised.excerpt(*to))));
                }
            }
            Fate::Changed(_) | Fate::Gone => {}
        }
    }
    for line in alignment.added.iter().filter(|line| !targets.may_be_new(revised, **line)) {
        faults.push(fault(format!("{} is new", revised.excerpt(*line))));
    }
    (faults, omitted)
}

/// The sections that may change.
struct Targets {
    original: BTreeSet<usize>,
    revised: BTreeSet<usize>,
    /// Numbers of sections that are to go: what refers to them has to change.
    removed: BTreeSet<Number>,
    unused: BTreeSet<usize>,
}

impl Targets {
    fn of(clauses: &Clauses<'_>, asked: &Instructions, before: &DefinedTerms, now: &DefinedTerms) -> Self {
        let Clauses { original, revised, .. } = clauses;
        let mut targets = Self {
            original: BTreeSet::new(),
            revised: BTreeSet::new(),
            removed: BTreeSet::new(),
            unused: BTreeSet::new(),
        };
        let mut changed = BTreeSet::new();
        for clause in &asked.clauses {
            if clause.operation == ClauseOperation::Add {
                let Some(wanted) = number(&clause.section) else { continue };
                // Where it should not stand, it is an operation that is not done, and no second fault.
                let heading = clause.heading.as_deref().map(norm);
                let fresh = |index: &usize| !clauses.alignment.taken.contains(index);
                let fits = |section: &Section| section.number == wanted || heading.as_ref() == Some(&section.heading);
                let added = (0..revised.sections.len()).filter(|index| fresh(index) && fits(&revised.sections[*index]));
                targets.revised.extend(added.flat_map(|index| revised.tree(index)));
                continue;
            }
            let Some(section) = named(original, clause) else { continue };
            targets.original.extend(original.tree(section));
            if clause.operation == ClauseOperation::Delete {
                targets.removed.extend(original.tree(section).map(|index| original.sections[index].number.clone()));
                // All that may stand there afterwards is that nothing does.
                let left = clauses.became(section).filter(|became| revised.is_placeholder(*became));
                targets.revised.extend(left.into_iter().flat_map(|became| revised.tree(became)));
            } else {
                changed.extend(original.tree(section));
            }
        }
        for section in asked.allowed_changes.iter().filter_map(|text| original.section(&number(text)?)) {
            targets.original.extend(original.tree(section));
            changed.extend(original.tree(section));
        }
        targets.revised.extend(changed.into_iter().filter_map(|section| clauses.became(section)));
        // A definition that lost its last use may go with it.
        let lost = before.iter().filter(|(term, _)| !now.contains_key(*term));
        let unused = lost.filter(|(term, known)| used(revised, term, known).is_none());
        targets.unused = unused.map(|(_, term)| term.line).collect();
        targets
    }

    fn may_change(&self, original: &Draft, line: usize) -> bool {
        let own = &original.lines[line];
        let named = own.section.is_some_and(|section| self.original.contains(&section));
        let refers = || numbers_of(original, line).any(|number| self.removed.contains(&number));
        named || self.unused.contains(&line) || (!self.removed.is_empty() && refers())
    }

    fn may_be_new(&self, revised: &Draft, line: usize) -> bool {
        revised.lines[line].section.is_some_and(|section| self.revised.contains(&section))
    }
}

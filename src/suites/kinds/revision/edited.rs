//! What the edit of a clause may not change: numbers and negations that its instruction does not mention.

use std::collections::BTreeSet;

use super::binding::{is_negation, numbers_and_negations};
use super::clauses::Clauses;
use super::draft::{Draft, number};
use super::fault::{FaultKind, RevisionFault};
use super::instructions::{Clause, ClauseOperation, Instructions, named};
use crate::text::norm;

/// The numbers and negations of edited sections that changed although the instructions do not mention them.
pub fn unmentioned(clauses: &Clauses<'_>, asked: &Instructions) -> Vec<RevisionFault> {
    let edits = EditedSections::of(clauses, asked);
    let mut faults = Vec::new();
    for root in edits.targets.iter().filter_map(|target| target.edit.map(|_| target.root)).collect::<BTreeSet<_>>() {
        let (Some(allowed), Some(became)) = (edits.allowed(root), clauses.became(root)) else { continue };
        let (was, is) = edits.texts(root, became);
        if let Some(what) = allowed.broken(&numbers_and_negations(&was), &numbers_and_negations(&is)) {
            let place = clauses.revised.excerpt(clauses.revised.sections[became].lines.start);
            faults.push(RevisionFault::new(FaultKind::Unintended, format!("{what}: {place}")));
        }
    }
    faults
}

/// A section that may change.
struct EditTarget<'a> {
    root: usize,
    /// The edit that names the texts it changes; `None` if the section may change in any way.
    edit: Option<&'a Clause>,
}

/// The sections of the instructions, with both documents.
struct EditedSections<'a> {
    clauses: &'a Clauses<'a>,
    targets: Vec<EditTarget<'a>>,
    /// The sections of the revised document that the instructions add.
    added: BTreeSet<usize>,
}

impl<'a> EditedSections<'a> {
    fn of(clauses: &'a Clauses<'a>, asked: &'a Instructions) -> Self {
        let Clauses { original, revised, alignment } = clauses;
        let changes = asked.clauses.iter().filter(|clause| clause.operation != ClauseOperation::Add);
        let mut targets: Vec<EditTarget<'_>> = changes
            .filter_map(|clause| {
                let states_texts = !clause.must_contain.is_empty() || !clause.must_not_contain.is_empty();
                let edit = Some(clause).filter(|_| clause.operation == ClauseOperation::Edit && states_texts);
                Some(EditTarget { root: named(original, clause)?, edit })
            })
            .collect();
        let free = asked.allowed_changes.iter().filter_map(|text| original.section(&number(text)?));
        targets.extend(free.map(|root| EditTarget { root, edit: None }));
        let adds = asked.clauses.iter().filter(|clause| clause.operation == ClauseOperation::Add);
        let numbers: Vec<_> = adds.filter_map(|clause| number(&clause.section)).collect();
        let fresh = (0..revised.sections.len()).filter(|index| !alignment.taken.contains(index));
        let added = fresh.filter(|index| numbers.contains(&revised.sections[*index].number));
        let added = added.flat_map(|index| revised.tree(index)).collect();
        Self { clauses, targets, added }
    }

    /// What the instructions mention for a section; `None` if another instruction lets it change in any way.
    fn allowed(&self, root: usize) -> Option<MentionedWords> {
        let mut allowed = MentionedWords::default();
        for target in &self.targets {
            if !self.clauses.original.tree(target.root).any(|index| index == root) {
                continue;
            }
            let edit = target.edit?;
            allowed.new.extend(edit.must_contain.iter().flat_map(|text| numbers_and_negations(&norm(text))));
            allowed.gone.extend(edit.must_not_contain.iter().flat_map(|text| numbers_and_negations(&norm(text))));
        }
        Some(allowed)
    }

    /// The masked texts of a section before and after, without those of its sub-sections that have an instruction of their own.
    fn texts(&self, root: usize, became: usize) -> (String, String) {
        let Clauses { original, revised, alignment } = self.clauses;
        let below =
            |target: &&EditTarget<'_>| target.root != root && original.tree(root).any(|index| index == target.root);
        let others: Vec<usize> = self.targets.iter().filter(below).map(|target| target.root).collect();
        let before: BTreeSet<usize> = others.iter().flat_map(|other| original.tree(*other)).collect();
        let there = others.iter().filter_map(|other| self.clauses.became(*other));
        let after: BTreeSet<usize> =
            there.flat_map(|other| revised.tree(other)).chain(self.added.iter().copied()).collect();
        let text = |draft: &Draft, masked: &[String], root: usize, without: &BTreeSet<usize>| {
            let own = draft.tree(root).filter(|index| !without.contains(index));
            let lines = own.flat_map(|index| draft.sections[index].lines.clone());
            lines.map(|line| masked[line].as_str()).collect::<Vec<_>>().join("\n")
        };
        let [was, is] = &alignment.masked;
        (text(original, was, root, &before), text(revised, is, became, &after))
    }
}

/// The numbers and negations that an instruction mentions.
#[derive(Default)]
struct MentionedWords {
    new: Vec<String>,
    gone: Vec<String>,
}

impl MentionedWords {
    /// The change that is not mentioned. A new number replaces one old number, which the instruction need not mention.
    fn broken(&self, was: &[String], is: &[String]) -> Option<String> {
        let (added, lost) = (without(is, was), without(was, is));
        if let Some(new) = added.iter().find(|word| !self.new.contains(word)) {
            return Some(format!("\"{new}\" is new, and the instruction of the edit does not mention it"));
        }
        let mut replaced = added.iter().filter(|word| !is_negation(word)).count();
        let kept = lost.iter().filter(|word| !self.gone.contains(word)).find(|word| {
            let by_another = !is_negation(word) && replaced > 0;
            replaced -= usize::from(by_another);
            !by_another
        });
        kept.map(|gone| format!("\"{gone}\" is gone, and the instruction of the edit does not mention it"))
    }
}

/// The words of the first list that the second lacks, each as often as it lacks it.
fn without(words: &[String], others: &[String]) -> Vec<String> {
    let mut left = others.to_vec();
    let lacking = words.iter().filter(|word| match left.iter().position(|other| other == *word) {
        Some(index) => {
            left.swap_remove(index);
            false
        }
        None => true,
    });
    lacking.cloned().collect()
}

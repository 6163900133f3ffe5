//! Files of an agent whose content is in a file that its list does not name: later changes of that file would be unseen.

use std::collections::HashSet;

use super::Sides;
use super::files::{below, text};
use crate::files::{FileMatch, FilePaths, SourceText};
use crate::model::RepoPath;

/// The files of a list whose content left it, each with the file of the head, outside of the list, that has it now: all of it, or at least
/// half of its lines. Only files that the base commit does not have can be that one.
pub fn moved_out(sides: &Sides<'_>, old: &FilePaths, new: &FilePaths) -> Vec<(RepoPath, RepoPath)> {
    let left: Vec<&RepoPath> = old.values().filter(|file| has_left(sides, file, new)).collect();
    if left.is_empty() {
        return Vec::new();
    }
    let all = below(sides.head, &RepoPath::root()).unwrap_or_default();
    let added = all.values().filter(|file| !new.contains_key(file.as_str()) && sides.base.has_file(file, None));
    let added: Vec<(&RepoPath, Option<SourceText>)> = added.map(|file| (file, text(sides.head, file))).collect();
    let moved = left.into_iter().filter_map(|file| {
        let before = text(sides.base, file);
        let has_it = |(other, now): &&(&RepoPath, Option<SourceText>)| {
            let is_like =
                before.as_ref().zip(now.as_ref()).is_some_and(|(before, now)| has_half(&now.text, &before.text));
            is_like || sides.base.likeness(file, other) == FileMatch::Same
        };
        let (here, _) = added.iter().find(has_it)?;
        Some((file.clone(), (*here).clone()))
    });
    moved.collect()
}

/// Whether a file is not in the list any more, or has lost at least half of its lines.
fn has_left(sides: &Sides<'_>, file: &RepoPath, new: &FilePaths) -> bool {
    if !new.contains_key(file.as_str()) {
        return true;
    }
    if sides.base.likeness(file, file) == FileMatch::Same {
        return false;
    }
    let both = text(sides.base, file).zip(text(sides.head, file));
    both.is_some_and(|(before, now)| {
        let (lines, kept) = (lines(&before.text), lines(&now.text));
        2 * lines.iter().filter(|line| !kept.contains(*line)).count() >= lines.len().max(1)
    })
}

/// Whether a text has at least half of the lines of another one.
fn has_half(text: &str, of: &str) -> bool {
    let (wanted, known) = (lines(of), lines(text));
    !wanted.is_empty() && 2 * wanted.iter().filter(|line| known.contains(*line)).count() >= wanted.len()
}

/// The different lines of a text that are not blank.
fn lines(text: &str) -> HashSet<&str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
}

//! Files of an agent whose content is in a file that its list does not name: later changes of that file would be unseen.

use std::collections::HashSet;

use super::Sides;
use super::files::{below, text};
use crate::files::{FileMatch, FilePaths, SourceText};
use crate::model::RepoPath;

/// A file of a list whose content is in a file outside of it.
pub struct MovedContent {
    /// The file that had the content.
    pub from: RepoPath,
    /// The file of the head that has it: all of it, or at least half of its lines.
    pub to: RepoPath,
    /// What the first file has instead.
    pub left: LeftBehind,
}

/// What a file has in place of its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftBehind {
    /// Another text that is neither short nor less than half as long: a new version, whose predecessor is kept elsewhere.
    Rewritten,
    /// Nothing, or little: the other file takes its place.
    Stub,
}

/// The files of a list whose content left it and is in a file outside of the list that the base commit does not have.
pub fn moved_out(sides: &Sides<'_>, old: &FilePaths, new: &FilePaths) -> Vec<MovedContent> {
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
        let now = text(sides.head, file).filter(|_| new.contains_key(file.as_str()));
        let is_long = before.zip(now).is_some_and(|(before, now)| {
            let [before, now] = [before, now].map(|source| length(&source.text));
            now >= LEAST && 2 * now >= before
        });
        let left = if is_long { LeftBehind::Rewritten } else { LeftBehind::Stub };
        Some(MovedContent { from: file.clone(), to: (*here).clone(), left })
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

/// The fewest characters of a text that is more than a hint at another file.
const LEAST: usize = 40;

/// The number of characters that are no white space.
fn length(text: &str) -> usize {
    text.chars().filter(|char| !char.is_whitespace()).count()
}

/// The different lines of a text that are not blank.
fn lines(text: &str) -> HashSet<&str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
}

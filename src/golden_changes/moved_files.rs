//! Files of an agent whose content is in a file that its list does not name: later changes of that file would be unseen.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::Sides;
use super::files::text;
use crate::files::{FileMatch, FilePaths, SourceText, readable_files};
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

/// Too many files have the same lines: the search would take too long.
pub struct TooAlike;

/// The files of a list whose content left it and is in a file outside of the list that the base commit does not have.
pub fn moved_out(sides: &Sides<'_>, old: &FilePaths, new: &FilePaths) -> Result<Vec<MovedContent>, TooAlike> {
    let left: Vec<&RepoPath> = old.values().filter(|file| has_left(sides, file, new)).collect();
    if left.is_empty() {
        return Ok(Vec::new());
    }
    let all = readable_files(sides.head);
    let is_added = |file: &&RepoPath| sides.base.has_file(file, None);
    let read = all.values().filter(is_added).map(|file| (file, text(sides.head, file)));
    let (listed, added): (Vec<_>, Vec<_>) = read.partition(|(file, _)| new.contains_key(file.as_str()));
    let (renamed, index) = (LineIndex::of(&listed), LineIndex::of(&added));
    let mut moved = Vec::new();
    for file in left {
        let before = text(sides.base, file);
        // A file that got another name in the list may be quoted elsewhere.
        let to = match &before {
            Some(before) if renamed.file_with_half_of(&before.text)?.is_some() => None,
            Some(before) => index.file_with_half_of(&before.text)?,
            None => added.iter().position(|(other, _)| sides.base.likeness(file, other) == FileMatch::Same),
        };
        let Some((to, _)) = to.and_then(|to| added.get(to)) else { continue };
        let now = text(sides.head, file).filter(|_| new.contains_key(file.as_str()));
        let is_long = before.zip(now).is_some_and(|(before, now)| {
            let [before, now] = [before, now].map(|source| length(&source.text));
            now >= LEAST && 2 * now >= before
        });
        let left = if is_long { LeftBehind::Rewritten } else { LeftBehind::Stub };
        moved.push(MovedContent { from: file.clone(), to: (*to).clone(), left });
    }
    Ok(moved)
}

/// By a line, the places of the files that have it, and by a whole text the first place.
struct LineIndex<'a> {
    lines: HashMap<&'a str, Vec<usize>>,
    texts: HashMap<&'a str, usize>,
    /// How many more lines are compared: files that have most of their lines in common would be compared each with each.
    left: Cell<usize>,
}

/// The most lines that one search compares.
const MOST_LINES: usize = 2_000_000;

impl<'a> LineIndex<'a> {
    fn of(files: &'a [(&RepoPath, Option<SourceText>)]) -> Self {
        let mut index = Self { lines: HashMap::new(), texts: HashMap::new(), left: Cell::new(MOST_LINES) };
        for (place, (_, source)) in files.iter().enumerate() {
            let Some(source) = source else { continue };
            index.texts.entry(source.text.trim()).or_insert(place);
            for line in lines(&source.text) {
                index.lines.entry(line).or_default().push(place);
            }
        }
        index
    }

    /// The place of a file with this text, else of the first file with at least half of its lines.
    fn file_with_half_of(&self, text: &str) -> Result<Option<usize>, TooAlike> {
        let wanted = lines(text);
        if let Some(place) = self.texts.get(text.trim()).filter(|_| !wanted.is_empty()) {
            return Ok(Some(*place));
        }
        let places = || wanted.iter().filter_map(|line| self.lines.get(line));
        let left = self.left.get().checked_sub(places().map(Vec::len).sum()).ok_or(TooAlike)?;
        self.left.set(left);
        let mut found: BTreeMap<usize, usize> = BTreeMap::new();
        places().flatten().for_each(|place| *found.entry(*place).or_default() += 1);
        Ok(found.into_iter().find(|(_, count)| 2 * count >= wanted.len()).map(|(place, _)| place))
    }
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

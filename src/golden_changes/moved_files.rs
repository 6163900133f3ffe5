//! Files of an agent whose content is in a file that its list does not name: later changes of that file would be unseen.

use std::cell::{Cell, LazyCell};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use aho_corasick::AhoCorasick;

use super::Sides;
use super::files::text;
use super::prompt_texts::letters;
use crate::files::{FileMatch, FilePaths, SourceText, readable_files};
use crate::format::lenient;
use crate::model::RepoPath;

/// A file of a list whose content is in a file outside of it.
pub struct MovedContent {
    /// The file that had the content.
    pub from: RepoPath,
    /// The files of the head that have it: one with all of it or half of its lines, or several with half of them together.
    pub to: Vec<RepoPath>,
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

/// The files of a list whose content left it and is in files outside of the list that the change adds or edits.
pub fn moved_out(
    sides: &Sides<'_>,
    old: &FilePaths,
    new: &FilePaths,
) -> Result<Vec<MovedContent>, TooAlike> {
    let left: Vec<&RepoPath> = old
        .values()
        .filter(|file| has_left(sides, file, new))
        .collect();
    if left.is_empty() {
        return Ok(Vec::new());
    }
    let all = readable_files(sides.head);
    let read = all
        .into_values()
        .filter_map(|file| NewLines::of(sides, file));
    let (listed, others): (Vec<_>, Vec<_>) =
        read.partition(|one| new.contains_key(one.file.as_str()));
    let (renamed, index) = (LineIndex::of(&listed), LineIndex::of(&others));
    let texts: BTreeMap<&RepoPath, SourceText> = left
        .iter()
        .filter_map(|file| Some((*file, text(sides.base, file)?)))
        .collect();
    let rewritten = LazyCell::new(|| {
        let mut found = rewritten_in(&texts, &others, |one| !is_output(sides, one));
        let kept = rewritten_in(&texts, &listed, |_| true);
        found.retain(|file, _| !kept.contains_key(file));
        found
    });
    let mut moved = Vec::new();
    for file in left {
        let before = texts.get(file);
        // A file that got another name in the list may be quoted elsewhere.
        let to = match before {
            Some(before) if !renamed.files_with_half_of(before)?.is_empty() => Vec::new(),
            Some(before) => match index.files_with_half_of(before)? {
                found if found.is_empty() => rewritten.get(file).copied().into_iter().collect(),
                found => found,
            },
            None => others
                .iter()
                .position(|other| sides.base.likeness(file, &other.file) == FileMatch::Same)
                .into_iter()
                .collect(),
        };
        let to: Vec<RepoPath> = to
            .into_iter()
            .filter_map(|to| Some(others.get(to)?.file.clone()))
            .collect();
        if to.is_empty() {
            continue;
        }
        let now = text(sides.head, file).filter(|_| new.contains_key(file.as_str()));
        let is_long = before.zip(now).is_some_and(|(before, now)| {
            let [before, now] = [before, &now].map(|source| length(&source.text));
            now >= LEAST && 2 * now >= before
        });
        let left = if is_long {
            LeftBehind::Rewritten
        } else {
            LeftBehind::Stub
        };
        moved.push(MovedContent {
            from: file.clone(),
            to,
            left,
        });
    }
    Ok(moved)
}

/// A file of the head that the base commit does not have, or has with another content.
struct NewLines {
    file: RepoPath,
    now: Option<SourceText>,
    /// The text on the base commit, whose lines are not new.
    before: Option<SourceText>,
}

impl NewLines {
    fn of(sides: &Sides<'_>, file: RepoPath) -> Option<Self> {
        if sides.base.has_file(&file, None) {
            let now = text(sides.head, &file);
            return Some(Self {
                file,
                now,
                before: None,
            });
        }
        if sides.base.likeness(&file, &file) == FileMatch::Same {
            return None;
        }
        let (now, before) = (text(sides.head, &file), text(sides.base, &file));
        Some(Self { file, now, before })
    }
}

/// By a line, the places of the files that it is new in, and by a whole text the first place.
struct LineIndex<'a> {
    lines: HashMap<&'a str, Vec<usize>>,
    texts: HashMap<&'a str, usize>,
    /// How many more lines are compared: files that have most of their lines in common would be compared each with each.
    left: Cell<usize>,
}

/// The most lines that one search compares.
const MOST_LINES: usize = 2_000_000;

/// The fewest characters of a line that is hardly in two files by chance.
const LONG: usize = 24;

impl<'a> LineIndex<'a> {
    fn of(files: &'a [NewLines]) -> Self {
        let mut index = Self {
            lines: HashMap::new(),
            texts: HashMap::new(),
            left: Cell::new(MOST_LINES),
        };
        for (place, one) in files.iter().enumerate() {
            let Some(source) = &one.now else { continue };
            index.texts.entry(source.text.trim()).or_insert(place);
            let known = one
                .before
                .as_ref()
                .map_or_else(HashSet::new, |before| lines(&before.text));
            for line in lines(&source.text).difference(&known) {
                index.lines.entry(line).or_default().push(place);
            }
        }
        index
    }

    /// The place of a file with this text, else of the first file with at least half of its lines, else of all files that together have at
    /// least half of its long lines.
    fn files_with_half_of(&self, source: &SourceText) -> Result<Vec<usize>, TooAlike> {
        let text = source.text.as_str();
        let wanted = own_lines(source);
        if let Some(place) = self.texts.get(text.trim()).filter(|_| !wanted.is_empty()) {
            return Ok(vec![*place]);
        }
        let places = || wanted.iter().filter_map(|line| self.lines.get(line));
        let left = self
            .left
            .get()
            .checked_sub(places().map(Vec::len).sum())
            .ok_or(TooAlike)?;
        self.left.set(left);
        let mut found: BTreeMap<usize, usize> = BTreeMap::new();
        places()
            .flatten()
            .for_each(|place| *found.entry(*place).or_default() += 1);
        if let Some((place, _)) = found
            .into_iter()
            .find(|(_, count)| 2 * count >= wanted.len())
        {
            return Ok(vec![place]);
        }
        let long: Vec<&&str> = wanted
            .iter()
            .filter(|line| line.chars().count() >= LONG)
            .collect();
        let found: Vec<usize> = long
            .iter()
            .filter_map(|line| self.lines.get(**line)?.first().copied())
            .collect();
        // One line may be the same by chance, such as an import.
        let is_half = found.len() > 1 && 2 * found.len() >= long.len();
        Ok(if is_half {
            found
                .into_iter()
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect()
        } else {
            Vec::new()
        })
    }
}

/// For each file that left its list, the place of the first file that has at least half of its long lines in another form, such as wrapped, in one
/// string of JSON, or in a block of YAML.
fn rewritten_in<'f>(
    left: &BTreeMap<&'f RepoPath, SourceText>,
    others: &[NewLines],
    counts: impl Fn(&NewLines) -> bool,
) -> BTreeMap<&'f RepoPath, usize> {
    let long = |source: &SourceText| -> BTreeSet<String> {
        own_lines(source)
            .into_iter()
            .map(letters)
            .filter(|line| line.chars().count() >= LONG)
            .collect()
    };
    let wanted: Vec<(&RepoPath, BTreeSet<String>)> = left
        .iter()
        .map(|(file, source)| (*file, long(source)))
        .collect();
    let lines: Vec<&String> = wanted
        .iter()
        .flat_map(|(_, lines)| lines)
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    let Ok(search) = AhoCorasick::new(&lines) else {
        return BTreeMap::new();
    };
    let found_in = |source: &SourceText| -> BTreeSet<&str> {
        let text = letters(&source.text);
        let found = search.find_overlapping_iter(&text).take(MOST_LINES);
        found
            .filter_map(|found| {
                lines
                    .get(found.pattern().as_usize())
                    .map(|line| line.as_str())
            })
            .collect()
    };
    let mut rewritten = BTreeMap::new();
    for (place, one) in others.iter().enumerate() {
        let Some(now) = &one.now else { continue };
        let mut new = found_in(now);
        if let Some(before) = one.before.as_ref().filter(|_| !new.is_empty()) {
            let known = found_in(before);
            new.retain(|line| !known.contains(line));
        }
        if new.is_empty() || !counts(one) {
            continue;
        }
        for (file, lines) in &wanted {
            let count = lines
                .iter()
                .filter(|line| new.contains(line.as_str()))
                .count();
            if count > 0 && 2 * count >= lines.len() {
                rewritten.entry(*file).or_insert(place);
            }
        }
    }
    rewritten
}

/// Whether goldgate wrote a file: recordings and reports quote prompts.
fn is_output(sides: &Sides<'_>, one: &NewLines) -> bool {
    let is_own = |source: &SourceText| {
        let value = lenient::whole(&source.text);
        value.is_some_and(|value| {
            value["schema"]
                .as_str()
                .is_some_and(|schema| schema.starts_with(OWN_SCHEMA))
        })
    };
    // A report has other forms in its folder.
    let is_form = REPORT_FORMS.contains(&one.file.name());
    let report = one.file.parent().child("report.json");
    one.now.as_ref().is_some_and(is_own)
        || (is_form && text(sides.head, &report).as_ref().is_some_and(is_own))
}

/// How the name of each format of goldgate's files begins.
const OWN_SCHEMA: &str = "goldgate.";

/// The files that goldgate writes with a report, and that state no format.
const REPORT_FORMS: [&str; 5] = [
    "report.md",
    "report.html",
    "report.sarif",
    "junit.xml",
    "summary.json",
];

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

/// The different lines of a text, without what is around the words: a line of a prompt may become a string of a program.
fn lines(text: &str) -> HashSet<&str> {
    text.lines()
        .map(words_of)
        .filter(|line| !line.is_empty())
        .collect()
}

/// The lines of a file that are its own: those of a program without comments and imports, which other files have as well.
fn own_lines(source: &SourceText) -> HashSet<&str> {
    let is_text = source
        .file
        .name()
        .rsplit_once('.')
        .is_none_or(|(_, end)| TEXTS.contains(&end));
    let is_own = |line: &&str| {
        is_text
            || !SHARED
                .iter()
                .any(|start| line.trim_start().starts_with(start))
    };
    source
        .text
        .lines()
        .filter(is_own)
        .map(words_of)
        .filter(|line| !line.is_empty())
        .collect()
}

/// The endings of files whose lines are all text.
const TEXTS: [&str; 7] = ["md", "txt", "json", "yaml", "yml", "prompt", "j2"];

/// How lines of a program begin that other files have as well.
const SHARED: [&str; 8] = ["#", "//", "/*", "* ", "--", "import ", "from ", "use "];

fn words_of(line: &str) -> &str {
    let is_other = |char: char| !char.is_alphanumeric();
    let line = line.trim_matches(is_other);
    line.strip_suffix("\\n")
        .unwrap_or(line)
        .trim_matches(is_other)
}

//! Collects changes with their weight; many of one kind become one line.

use std::collections::BTreeMap;

use super::case_edit::JudgedEdit;
use crate::files::sha256_hex;
use crate::model::{ChangeClass, GoldenChange, RepoPath, Weight};
use crate::text::{counted, named_with};

/// Whether a limit got looser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitMove {
    /// More values pass than before, or that is unknown.
    Looser,
    /// Fewer values pass than before.
    Tighter,
}

impl LimitMove {
    fn weight(self) -> Weight {
        match self {
            Self::Looser => Weight::NeedsApproval,
            Self::Tighter => Weight::Listed,
        }
    }
}

/// A change of which there may be many: a file that cases are graded by, or the part of it that is about one case.
#[derive(Debug)]
pub struct ChangedFile {
    /// Its name in the report: that of the file, or `expectation of lease-3`.
    pub subject: String,
    /// What happened: `edited`.
    pub verb: &'static str,
    /// The cases that it was read for; empty for the whole suite, or if the subject already names the case.
    pub readers: String,
    /// How it differs.
    pub detail: Option<String>,
    /// The digest of what is different, if that is less than the file.
    pub content: Option<String>,
}

/// The key that groups items: class, weight, suite and noun.
type ChangeGroup = (ChangeClass, Weight, String, &'static str);

/// The changes so far.
#[derive(Debug, Default)]
pub struct ChangeCollector {
    changes: Vec<GoldenChange>,
    items: BTreeMap<ChangeGroup, Vec<(ChangedFile, RepoPath)>>,
}

/// Groups with more items than this become one line.
const SINGLE: usize = 5;
/// The number of changes of one class and weight that are kept.
const MOST: usize = 200;
/// The longest text of a change, in characters.
const LONGEST: usize = 1000;

fn cut(words: String) -> String {
    match words.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}

impl ChangeCollector {
    /// Adds a change of the config, a gate or the baseline that needs an approval.
    pub fn needs(&mut self, words: String, file: Option<&RepoPath>) {
        self.add(ChangeClass::Config, Weight::NeedsApproval, words, file);
    }

    /// Adds a change of the config, a gate or the baseline that needs no approval.
    pub fn lists(&mut self, words: String, file: Option<&RepoPath>) {
        self.add(ChangeClass::Config, Weight::Listed, words, file);
    }

    /// Adds a change of any class.
    pub fn add(
        &mut self,
        class: ChangeClass,
        weight: Weight,
        words: String,
        file: Option<&RepoPath>,
    ) {
        let files: Vec<RepoPath> = file.into_iter().cloned().collect();
        self.add_about(class, weight, words, &files);
    }

    /// Adds a change that is about several files; the first one is where a reader begins.
    pub fn add_about(
        &mut self,
        class: ChangeClass,
        weight: Weight,
        words: String,
        files: &[RepoPath],
    ) {
        self.changes.push(GoldenChange {
            words,
            weight,
            file: files.first().cloned(),
            class,
            files: files.to_vec(),
            content: String::new(),
        });
    }

    /// Adds a limit that moved.
    pub fn moved(&mut self, how: LimitMove, words: String, file: Option<&RepoPath>) {
        self.add(ChangeClass::Config, how.weight(), words, file);
    }

    /// Adds one line about all that was removed, if anything was. `nouns` are the word for one of them, and for several.
    pub fn removed<S: AsRef<str>>(
        &mut self,
        names: &[S],
        nouns: [&str; 2],
        ending: &str,
        file: Option<&RepoPath>,
    ) {
        if !names.is_empty() {
            let words = counted(names, nouns[0], nouns[1], ending);
            self.add(ChangeClass::Removed, Weight::NeedsApproval, words, file);
        }
    }

    /// The same about all that was added.
    pub fn added<S: AsRef<str>>(
        &mut self,
        names: &[S],
        nouns: [&str; 2],
        ending: &str,
        file: Option<&RepoPath>,
    ) {
        if !names.is_empty() {
            self.add(
                ChangeClass::Added,
                Weight::Listed,
                counted(names, nouns[0], nouns[1], ending),
                file,
            );
        }
    }

    /// Adds an edited expectation of a case; several become one line.
    pub fn expectation(&mut self, suite: &str, case: &str, edit: JudgedEdit, file: &RepoPath) {
        let group = (
            ChangeClass::Expectation,
            Weight::NeedsApproval,
            suite.to_owned(),
            "expectations",
        );
        self.edited(group, format!("expectation of {case}"), edit, file);
    }

    /// Adds an edit of what describes a case and affects no grade; several become one line.
    pub fn description(&mut self, suite: &str, case: &str, detail: String, file: &RepoPath) {
        let group = (
            ChangeClass::Expectation,
            Weight::Listed,
            suite.to_owned(),
            "descriptions of cases",
        );
        let edit = JudgedEdit::unread(&detail);
        self.edited(group, format!("description of {case}"), edit, file);
    }

    fn edited(&mut self, group: ChangeGroup, subject: String, edit: JudgedEdit, file: &RepoPath) {
        let change = ChangedFile {
            subject,
            verb: "edited",
            readers: String::new(),
            detail: Some(edit.words),
            content: edit.content,
        };
        self.items
            .entry(group)
            .or_default()
            .push((change, file.clone()));
    }

    /// Adds a file that cases are graded by; several become one line.
    pub fn material(&mut self, suite: &str, material: ChangedFile, file: &RepoPath) {
        let group = (
            ChangeClass::Material,
            Weight::NeedsApproval,
            suite.to_owned(),
            "files",
        );
        self.items
            .entry(group)
            .or_default()
            .push((material, file.clone()));
    }

    /// All changes, sorted. Long texts are cut, and changes beyond the limit are counted.
    pub fn all(self) -> Vec<GoldenChange> {
        let Self { mut changes, items } = self;
        for (group, items) in items {
            changes.extend(lines(&group, items));
        }
        changes.sort_by(|left, right| key(left).cmp(&key(right)));
        let mut all: Vec<GoldenChange> = Vec::new();
        for of_class in changes.chunk_by(is_same_kind) {
            let kept = of_class.iter().take(MOST).cloned();
            all.extend(kept.map(|change| GoldenChange {
                words: cut(change.words),
                ..change
            }));
            if let (Some(first), more @ 1..) =
                (of_class.first(), of_class.len().saturating_sub(MOST))
            {
                let words = format!("… and {more} more changes of this kind");
                let left = of_class.iter().skip(MOST);
                all.push(GoldenChange {
                    words,
                    weight: first.weight,
                    file: None,
                    class: first.class,
                    files: left.flat_map(|change| change.files.clone()).collect(),
                    content: String::new(),
                });
            }
        }
        all
    }
}

/// The sort key of the report.
fn key(change: &GoldenChange) -> (Weight, ChangeClass, &Option<RepoPath>, &str) {
    (change.weight, change.class, &change.file, &change.words)
}

fn is_same_kind(left: &GoldenChange, right: &GoldenChange) -> bool {
    (left.weight, left.class) == (right.weight, right.class)
}

/// One line per item, or one line for all if there are many.
fn lines(group: &ChangeGroup, items: Vec<(ChangedFile, RepoPath)>) -> Vec<GoldenChange> {
    let (class, weight, suite, noun) = group;
    let (class, weight) = (*class, *weight);
    if items.len() <= SINGLE {
        let mut lines = Vec::new();
        for (change, file) in items {
            let content = change.content.clone().unwrap_or_default();
            lines.push(GoldenChange {
                words: words_of_one(suite, change),
                weight,
                file: Some(file.clone()),
                class,
                files: vec![file],
                content,
            });
        }
        return lines;
    }
    let named: Vec<String> = items
        .iter()
        .map(|(change, _)| words_among_many(change))
        .collect();
    let words = format!(
        "{} {noun} of `{suite}` changed: {}",
        items.len(),
        named_with(&named, "; ")
    );
    let contents: Option<Vec<&str>> = items
        .iter()
        .map(|(change, _)| change.content.as_deref())
        .collect();
    let content = contents.map(|all| sha256_hex(all.concat().as_bytes()));
    let files: Vec<RepoPath> = items.into_iter().map(|(_, file)| file).collect();
    vec![GoldenChange {
        words,
        weight,
        file: files.first().cloned(),
        class,
        files,
        content: content.unwrap_or_default(),
    }]
}

/// The line about one changed file.
fn words_of_one(suite: &str, change: ChangedFile) -> String {
    let ChangedFile {
        subject,
        verb,
        readers,
        detail,
        content: _,
    } = change;
    let readers = if readers.is_empty() {
        readers
    } else {
        format!(", used by {readers}")
    };
    let detail = detail.map_or(String::new(), |detail| format!(": {detail}"));
    format!("{subject} of `{suite}` {verb}{readers}{detail}")
}

/// A changed file in a line about many.
fn words_among_many(change: &ChangedFile) -> String {
    match &change.detail {
        Some(detail) => format!("{} {} ({detail})", change.subject, change.verb),
        None => format!("{} {}", change.subject, change.verb),
    }
}

#[cfg(test)]
mod tests {
    use super::{ChangeCollector, ChangedFile, JudgedEdit};
    use crate::model::{ChangeClass, RepoPath, Weight};

    #[test]
    fn many_changes_are_counted_and_long_ones_cut() {
        let mut found = ChangeCollector::default();
        (0..300).for_each(|index| found.needs(format!("{index} {}", "é".repeat(5000)), None));
        found.lists("one".to_owned(), None);
        let all = found.all();
        assert_eq!(
            (all.len(), all[200].words.as_str()),
            (202, "… and 100 more changes of this kind")
        );
        assert_eq!(
            (all[200].weight, all[201].weight),
            (Weight::NeedsApproval, Weight::Listed)
        );
        assert!(
            all.iter()
                .all(|change| change.words.chars().count() <= 1001)
        );
    }

    #[test]
    fn many_documents_are_one_line_and_hide_no_expectation() {
        let mut found = ChangeCollector::default();
        let file = RepoPath::root().child("x");
        for index in 0..40 {
            let (subject, readers) = (format!("document {index}"), String::new());
            found.material(
                "contracts",
                ChangedFile {
                    subject,
                    verb: "edited",
                    readers,
                    detail: None,
                    content: None,
                },
                &file,
            );
        }
        found.expectation("contracts", "lease", JudgedEdit::unread("a 1 -> 2"), &file);
        found.needs("a gate".to_owned(), None);
        let all = found.all();
        let lines: Vec<(ChangeClass, &str)> = all
            .iter()
            .map(|one| (one.class, one.words.as_str()))
            .collect();
        let many = "40 files of `contracts` changed: document 0 edited; document 1 edited; document 2 edited; document 3 \
                    edited; document 4 edited; document 5 edited; document 6 edited; document 7 edited; … and 32 more";
        assert_eq!(
            lines,
            [
                (ChangeClass::Config, "a gate"),
                (
                    ChangeClass::Expectation,
                    "expectation of lease of `contracts` edited: a 1 -> 2"
                ),
                (ChangeClass::Material, many),
            ]
        );
    }
}

//! Cases and their golden data: removed, retired, quarantined, edited or added. Only files that a grading read are compared.

use std::collections::{BTreeMap, BTreeSet};

use super::Sides;
use super::case_edit::{CaseEdit, JudgedEdit, different_fields};
use super::edits::{FileView, edited};
use super::found::{ChangeCollector, ChangedFile};
use crate::diag::ReadFailure;
use crate::files::{DifferentRead, Entry, FileMatch, GoldenPart, ReadFor, ReadKind, SourceText};
use crate::format::checked_golden_value;
use crate::model::{AgentName, CaseId, ChangeClass, Quarantine, RepoPath, SuiteConfig, Weight};
use crate::suites::{
    CaseUse, GoldenEntries, GoldenForm, MeaningReader, Pair, Suite, kind, reads_case, setting_files,
};
use crate::text::named;

const CASES: [&str; 2] = ["case", "cases"];

/// An agent for each case of a golden file, and for each agent where it has its own part.
type CasesOfFile<'a> = BTreeMap<(&'a CaseId, Option<&'a AgentName>), &'a AgentName>;

/// One suite on one side: its settings and its cases.
#[derive(Clone, Copy)]
pub struct SuiteSide<'a> {
    /// Its settings.
    pub config: &'a SuiteConfig,
    /// Its cases.
    pub suite: &'a dyn Suite,
    /// The files and folders that were read and differ on the other side.
    pub reads: &'a [DifferentRead],
}

/// Compares the cases of one suite, with all files that they are graded by.
pub fn compare(
    sides: &Sides<'_>,
    base: SuiteSide<'_>,
    head: SuiteSide<'_>,
    collector: &mut ChangeCollector,
) {
    let comparison = SuiteComparison {
        sides,
        base,
        head,
        old: SuitePairs::of(base.suite),
        new: SuitePairs::of(head.suite),
    };
    comparison.cases(collector);
    comparison.quarantines(collector);
    comparison.expectations(collector);
    comparison.material(collector);
}

/// A file that was read and differs.
#[derive(Default)]
struct DifferentFile {
    /// The cases that it was read for; none for the whole suite.
    readers: BTreeSet<String>,
    /// By lines if it was read as a document for a case.
    view: FileView,
}

/// The pairs of a suite by case and agent, and its retired cases.
struct SuitePairs<'a> {
    pairs: BTreeMap<(&'a CaseId, &'a AgentName), &'a Pair>,
    cases: BTreeSet<&'a CaseId>,
    drafts: BTreeSet<&'a CaseId>,
    by_golden: BTreeMap<&'a RepoPath, BTreeSet<&'a CaseId>>,
    retired: BTreeMap<&'a CaseId, &'a str>,
}

impl<'a> SuitePairs<'a> {
    fn of(suite: &'a dyn Suite) -> Self {
        let mut by_golden: BTreeMap<&RepoPath, BTreeSet<&CaseId>> = BTreeMap::new();
        for pair in suite.pairs() {
            by_golden
                .entry(&pair.golden)
                .or_default()
                .insert(&pair.case);
        }
        Self {
            by_golden,
            drafts: suite.drafts().iter().map(|pair| &pair.case).collect(),
            pairs: suite
                .pairs()
                .iter()
                .map(|pair| ((&pair.case, &pair.agent), pair))
                .collect(),
            cases: suite.pairs().iter().map(|pair| &pair.case).collect(),
            retired: suite
                .retired()
                .iter()
                .map(|(case, why)| (case, why.as_str()))
                .collect(),
        }
    }

    /// The cases of which several agents have expectations of their own.
    fn cases_apart(&self, form: GoldenForm) -> BTreeSet<&'a CaseId> {
        let mut apart = BTreeSet::new();
        let next = self.pairs.iter().skip(1);
        for ((key, pair), (next_key, next_pair)) in self.pairs.iter().zip(next) {
            let is_same_case = key.0 == next_key.0;
            if is_same_case && (form.is_of_agent() || pair.golden != next_pair.golden) {
                apart.insert(key.0);
            }
        }
        apart
    }
}

struct SuiteComparison<'a> {
    sides: &'a Sides<'a>,
    base: SuiteSide<'a>,
    head: SuiteSide<'a>,
    old: SuitePairs<'a>,
    new: SuitePairs<'a>,
}

impl SuiteComparison<'_> {
    fn id(&self) -> &str {
        self.head.config.id.as_str()
    }

    fn cases(&self, collector: &mut ChangeCollector) {
        let (old, new, id) = (&self.old, &self.new, self.id());
        let mut removed = ids_without(&old.cases, &new.cases);
        removed.retain(|case| !new.retired.keys().any(|retired| retired.as_str() == case));
        let (drafts, removed): (Vec<String>, Vec<String>) = removed
            .into_iter()
            .partition(|case| new.drafts.iter().any(|draft| draft.as_str() == case));
        collector.removed(
            &drafts,
            CASES,
            &format!("of `{id}` made a draft, which counts for nothing"),
            None,
        );
        collector.removed(&removed, CASES, &format!("of `{id}` removed"), None);
        for (case, why) in &new.retired {
            if !old.cases.contains(case) {
                continue;
            }
            collector.add(
                ChangeClass::Removed,
                Weight::NeedsApproval,
                format!("case {case} of `{id}` {why}"),
                None,
            );
        }
        collector.added(
            &ids_without(&new.cases, &old.cases),
            CASES,
            &format!("of `{id}` added"),
            None,
        );
        let mut fewer: BTreeMap<&AgentName, Vec<&str>> = BTreeMap::new();
        for key in old.pairs.keys() {
            let (case, agent) = key;
            if !new.pairs.contains_key(key) && new.cases.contains(case) {
                fewer.entry(agent).or_default().push(case.as_str());
            }
        }
        let agents = &self.head.config.agents;
        for (agent, cases) in fewer {
            // A removed agent is reported with the config.
            if agents.is_empty() || agents.contains_key(agent) {
                collector.removed(&cases, CASES, &format!("of `{id}/{agent}` removed"), None);
            }
        }
    }

    fn quarantines(&self, collector: &mut ChangeCollector) {
        // Each change once for a case: an entry of a golden file may be one of several agents.
        let mut reported: BTreeMap<_, Vec<[Option<&Quarantine>; 2]>> = BTreeMap::new();
        for (key, pair) in &self.new.pairs {
            let Some(base) = self.old.pairs.get(key) else {
                continue;
            };
            let head_terms = pair.quarantine.as_deref().map(|stated| &*stated.terms);
            let base_terms = base.quarantine.as_deref().map(|stated| &*stated.terms);
            let seen = reported.entry((key.0, &pair.golden)).or_default();
            if head_terms == base_terms || seen.contains(&[base_terms, head_terms]) {
                continue;
            }
            let subject = if seen.is_empty() {
                format!("case {} of `{}`", key.0, self.id())
            } else {
                format!("case {} of `{}/{}`", key.0, self.id(), key.1)
            };
            seen.push([base_terms, head_terms]);
            let (weight, words) = match (base_terms, head_terms) {
                (
                    None,
                    Some(Quarantine {
                        owner,
                        reason,
                        expires,
                    }),
                ) => (
                    Weight::NeedsApproval,
                    format!("{subject} put into quarantine until {expires} by {owner}: {reason}"),
                ),
                (Some(base_terms), Some(head_terms)) if head_terms.expires > base_terms.expires => {
                    (
                        Weight::NeedsApproval,
                        format!(
                            "quarantine of {subject} made longer: {} -> {}",
                            base_terms.expires, head_terms.expires
                        ),
                    )
                }
                (Some(_), Some(_)) => (Weight::Listed, format!("quarantine of {subject} edited")),
                (_, None) => (Weight::Listed, format!("{subject} taken out of quarantine")),
            };
            collector.add(ChangeClass::Removed, weight, words, Some(&pair.golden));
        }
    }

    /// Compares the expectations of cases that both sides have. Only their meaning counts, not their form or file.
    fn expectations(&self, collector: &mut ChangeCollector) {
        let kind = kind(&self.head.config.kind);
        let (reader, form) = (
            kind.map(MeaningReader::of),
            kind.map_or(GoldenForm::OneCase, |kind| kind.golden),
        );
        let used = if has_expression_of_case(&self.base) || has_expression_of_case(&self.head) {
            CaseUse::Expressions
        } else {
            CaseUse::Kind
        };
        // Each case once, by its first agent, unless each agent has its own part.
        let mut by_files: BTreeMap<(&RepoPath, &RepoPath), CasesOfFile<'_>> = BTreeMap::new();
        for ((case, agent), base) in &self.old.pairs {
            if let Some(head) = self.new.pairs.get(&(*case, *agent)) {
                let part_of = Some(*agent).filter(|_| form.is_of_agent());
                by_files
                    .entry((&base.golden, &head.golden))
                    .or_default()
                    .entry((*case, part_of))
                    .or_insert(*agent);
            }
        }
        let apart = self.new.cases_apart(form);
        for ((old, new), cases) in by_files {
            if self.sides.base.likeness(old, new) == FileMatch::Same {
                continue;
            }
            let texts = self
                .sides
                .base
                .text(old)
                .ok()
                .zip(self.sides.head.text(new).ok());
            let parsed = texts.and_then(|(old, new)| {
                different_fields(form, [&old, &new])
                    .or_else(|| checked_golden_value(old).zip(checked_golden_value(new)))
            });
            let entries = parsed
                .as_ref()
                .map(|(old, new)| (GoldenEntries::of(form, old), GoldenEntries::of(form, new)));
            for ((case, _), agent) in cases {
                let whose = if apart.contains(case) {
                    format!("{}/{agent}", self.id())
                } else {
                    self.id().to_owned()
                };
                let edit = match &entries {
                    Some((old, new)) => CaseEdit::of(
                        reader.as_ref(),
                        used,
                        old.case(case, agent),
                        new.case(case, agent),
                    ),
                    None => CaseEdit {
                        judged: Some(JudgedEdit::unread("its bytes differ")),
                        description: None,
                    },
                };
                if let Some(edit) = edit.judged {
                    collector.expectation(&whose, case.as_str(), edit, new);
                }
                if let Some(detail) = edit.description {
                    collector.description(&whose, case.as_str(), detail, new);
                }
            }
        }
    }

    /// Compares everything else that was read for the suite, or for a case that both sides have.
    fn material(&self, collector: &mut ChangeCollector) {
        let mut files: BTreeMap<RepoPath, DifferentFile> = BTreeMap::new();
        let mut folders: BTreeMap<RepoPath, BTreeSet<String>> = BTreeMap::new();
        let reads = self.base.reads.iter().map(|read| (read, &self.old));
        for (read, cases) in reads.chain(self.head.reads.iter().map(|read| (read, &self.new))) {
            let Some(readers) = self.readers(read, cases) else {
                continue;
            };
            if read.kind == ReadKind::Folder {
                folders
                    .entry(read.path.clone())
                    .or_default()
                    .extend(readers);
                continue;
            }
            let file = files.entry(read.path.clone()).or_default();
            if read.kind == ReadKind::File && !readers.is_empty() {
                file.view = FileView::Lines;
            }
            file.readers.extend(readers);
        }
        let mut reported: BTreeSet<RepoPath> = BTreeSet::new();
        for (path, file) in &files {
            if self.is_golden(path) {
                continue;
            }
            if let Some((verb, detail)) = self.file(path, file) {
                reported.insert(path.clone());
                collector.material(
                    self.id(),
                    self.changed_file(path, &file.readers, verb, detail),
                    path,
                );
            }
        }
        for (path, readers) in &folders {
            for (inner, verb) in self.names(path) {
                if reported.insert(inner.clone()) && !self.is_golden(&inner) {
                    collector.material(
                        self.id(),
                        self.changed_file(&inner, readers, verb, None),
                        &inner,
                    );
                }
            }
        }
    }

    /// Whether a path is a golden file on one side.
    fn is_golden(&self, path: &RepoPath) -> bool {
        self.old.by_golden.contains_key(path) || self.new.by_golden.contains_key(path)
    }

    fn is_on_both_sides(&self, case: &CaseId) -> bool {
        self.old.cases.contains(case) && self.new.cases.contains(case)
    }

    /// The cases on both sides that a file was read for; empty for the whole suite, `None` if there is no such case.
    fn readers(&self, read: &DifferentRead, cases: &SuitePairs<'_>) -> Option<Vec<String>> {
        let cases: Vec<String> = match &read.read_for {
            // The folders that a suite lists contain its cases, which are compared one by one.
            ReadFor::Suite => return (read.kind != ReadKind::Folder).then(Vec::new),
            ReadFor::Case(case) if self.is_on_both_sides(case) => vec![case.to_string()],
            ReadFor::Case(_) => Vec::new(),
            ReadFor::Golden(GoldenPart {
                case: Some(name), ..
            }) => match CaseId::new(name) {
                Ok(case) if self.is_on_both_sides(&case) => vec![case.to_string()],
                Ok(_) | Err(_) => Vec::new(),
            },
            ReadFor::Golden(GoldenPart { file, case: None }) => {
                let of_file = cases.by_golden.get(file).into_iter().flatten();
                of_file
                    .filter(|case| self.is_on_both_sides(case))
                    .map(ToString::to_string)
                    .collect()
            }
        };
        (!cases.is_empty()).then_some(cases)
    }

    /// What happened to a file; `None` if only its form changed. For lists and rules of the suite the meaning counts, for
    /// documents the bytes.
    fn file(
        &self,
        path: &RepoPath,
        read: &DifferentFile,
    ) -> Option<(&'static str, Option<String>)> {
        let of_suite = read.readers.is_empty();
        if of_suite && self.is_renamed_setting(path) {
            return None;
        }
        let (old, new) = (self.sides.base.bytes(path), self.sides.head.bytes(path));
        match (old, new) {
            (Ok(old), Ok(new)) => {
                let old = SourceText::new(path.clone(), old).ok();
                let new = SourceText::new(path.clone(), new).ok();
                let detail = match (old, new) {
                    (Some(old), Some(new)) if of_suite && same_terms(&old, &new) => None,
                    (Some(old), Some(new)) => edited(&old, &new, read.view),
                    (None, _) | (_, None) => Some("its bytes differ".to_owned()),
                };
                detail.map(|detail| ("edited", Some(detail)))
            }
            (Ok(_), Err(_)) => Some(("removed", None)),
            (Err(problem), Ok(_)) if problem.is_read_failure(ReadFailure::MissingFile) => {
                Some(("added", None))
            }
            (Err(problem), _) if !problem.is_read_failure(ReadFailure::MissingFile) => {
                Some(("cannot be compared", Some(problem.what)))
            }
            (Err(_), _) => None,
        }
    }

    /// Whether only one side's config names a file: then the changed setting is reported instead.
    fn is_renamed_setting(&self, path: &RepoPath) -> bool {
        let of_kind = kind(&self.head.config.kind).map(|kind| &kind.settings);
        let base_files = setting_files(of_kind, self.base.config);
        let head_files = setting_files(of_kind, self.head.config);
        base_files.iter().any(|file| file.path == *path)
            != head_files.iter().any(|file| file.path == *path)
    }

    /// A changed file with its name in the report.
    fn changed_file(
        &self,
        path: &RepoPath,
        readers: &BTreeSet<String>,
        verb: &'static str,
        detail: Option<String>,
    ) -> ChangedFile {
        let config = self.head.config;
        let files = setting_files(kind(&config.kind).map(|kind| &kind.settings), config);
        let known = files.into_iter().find(|file| file.path == *path);
        let subject = known.map_or_else(|| path.to_string(), |file| file.name);
        ChangedFile {
            subject,
            verb,
            readers: named(&readers.iter().collect::<Vec<_>>()),
            detail,
            content: None,
        }
    }

    /// The entries of a folder that only one side has.
    fn names(&self, folder: &RepoPath) -> Vec<(RepoPath, &'static str)> {
        let base = self.sides.base.list(folder).unwrap_or_default();
        let head = self.sides.head.list(folder).unwrap_or_default();
        let old: BTreeSet<Entry> = base.into_iter().collect();
        let new: BTreeSet<Entry> = head.into_iter().collect();
        let mut changed = Vec::new();
        for entry in old.difference(&new) {
            changed.push((folder.child(&entry.name), "removed"));
        }
        for entry in new.difference(&old) {
            changed.push((folder.child(&entry.name), "added"));
        }
        changed
    }
}

/// The ids of the cases that the others do not have.
fn ids_without(cases: &BTreeSet<&CaseId>, others: &BTreeSet<&CaseId>) -> Vec<String> {
    cases.difference(others).map(ToString::to_string).collect()
}

fn has_expression_of_case(side: &SuiteSide<'_>) -> bool {
    side.config.expressions.texts().any(reads_case)
}

/// Whether two `.txt` lists have the same terms, in any order.
fn same_terms(old: &SourceText, new: &SourceText) -> bool {
    old.file.as_str().ends_with(".txt") && terms(old) == terms(new)
}

fn terms(source: &SourceText) -> BTreeSet<&str> {
    let lines = source.text.lines().map(str::trim);
    lines.filter(|line| !line.is_empty()).collect()
}

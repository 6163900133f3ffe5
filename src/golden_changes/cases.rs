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
    before: SuiteSide<'_>,
    after: SuiteSide<'_>,
    found: &mut ChangeCollector,
) {
    let one = SuiteComparison {
        sides,
        before,
        after,
        old: SuitePairs::of(before.suite),
        new: SuitePairs::of(after.suite),
    };
    one.cases(found);
    one.quarantines(found);
    one.expectations(found);
    one.material(found);
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
        let next = self.pairs.iter().skip(1);
        let both = self
            .pairs
            .iter()
            .zip(next)
            .filter(|((one, pair), (other, next))| {
                one.0 == other.0 && (form.is_of_agent() || pair.golden != next.golden)
            });
        both.map(|((one, _), _)| one.0).collect()
    }
}

struct SuiteComparison<'a> {
    sides: &'a Sides<'a>,
    before: SuiteSide<'a>,
    after: SuiteSide<'a>,
    old: SuitePairs<'a>,
    new: SuitePairs<'a>,
}

impl SuiteComparison<'_> {
    fn id(&self) -> &str {
        self.after.config.id.as_str()
    }

    fn cases(&self, found: &mut ChangeCollector) {
        let (old, new, id) = (&self.old, &self.new, self.id());
        let names = |cases: &BTreeSet<&CaseId>, others: &BTreeSet<&CaseId>| -> Vec<String> {
            cases.difference(others).map(ToString::to_string).collect()
        };
        let mut removed = names(&old.cases, &new.cases);
        removed.retain(|case| !new.retired.keys().any(|retired| retired.as_str() == case));
        let is_draft = |case: &String| new.drafts.iter().any(|draft| draft.as_str() == case);
        let (drafts, removed): (Vec<String>, Vec<String>) = removed.into_iter().partition(is_draft);
        found.removed(
            &drafts,
            CASES,
            &format!("of `{id}` made a draft, which counts for nothing"),
            None,
        );
        found.removed(&removed, CASES, &format!("of `{id}` removed"), None);
        for (case, why) in new
            .retired
            .iter()
            .filter(|(case, _)| old.cases.contains(*case))
        {
            found.add(
                ChangeClass::Removed,
                Weight::NeedsApproval,
                format!("case {case} of `{id}` {why}"),
                None,
            );
        }
        found.added(
            &names(&new.cases, &old.cases),
            CASES,
            &format!("of `{id}` added"),
            None,
        );
        let mut fewer: BTreeMap<&AgentName, Vec<&str>> = BTreeMap::new();
        for (case, agent) in old
            .pairs
            .keys()
            .filter(|key| !new.pairs.contains_key(*key) && new.cases.contains(key.0))
        {
            fewer.entry(agent).or_default().push(case.as_str());
        }
        // A removed agent is reported with the config.
        let is_configured = |agent: &AgentName| {
            let agents = &self.after.config.agents;
            agents.is_empty() || agents.contains_key(agent)
        };
        for (agent, cases) in fewer.into_iter().filter(|(agent, _)| is_configured(agent)) {
            found.removed(&cases, CASES, &format!("of `{id}/{agent}` removed"), None);
        }
    }

    fn quarantines(&self, found: &mut ChangeCollector) {
        // Each change once for a case: an entry of a golden file may be one of several agents.
        let mut reported: BTreeMap<_, Vec<[Option<&Quarantine>; 2]>> = BTreeMap::new();
        for (key, pair) in &self.new.pairs {
            let Some(before) = self.old.pairs.get(key) else {
                continue;
            };
            let now = pair.quarantine.as_deref().map(|stated| &*stated.terms);
            let then = before.quarantine.as_deref().map(|stated| &*stated.terms);
            let seen = reported.entry((key.0, &pair.golden)).or_default();
            if now == then || seen.contains(&[then, now]) {
                continue;
            }
            let subject = match seen.is_empty() {
                true => format!("case {} of `{}`", key.0, self.id()),
                false => format!("case {} of `{}/{}`", key.0, self.id(), key.1),
            };
            seen.push([then, now]);
            let mut add =
                |weight, words| found.add(ChangeClass::Removed, weight, words, Some(&pair.golden));
            match (then, now) {
                (
                    None,
                    Some(Quarantine {
                        owner,
                        reason,
                        expires,
                    }),
                ) => {
                    let words = format!(
                        "{subject} put into quarantine until {expires} by {owner}: {reason}"
                    );
                    add(Weight::NeedsApproval, words);
                }
                (Some(then), Some(now)) if now.expires > then.expires => {
                    let words = format!(
                        "quarantine of {subject} made longer: {} -> {}",
                        then.expires, now.expires
                    );
                    add(Weight::NeedsApproval, words);
                }
                (Some(_), Some(_)) => {
                    add(Weight::Listed, format!("quarantine of {subject} edited"))
                }
                (_, None) => add(Weight::Listed, format!("{subject} taken out of quarantine")),
            }
        }
    }

    /// Compares the expectations of cases that both sides have. Only their meaning counts, not their form or file.
    fn expectations(&self, found: &mut ChangeCollector) {
        let kind = kind(&self.after.config.kind);
        let (reader, form) = (
            kind.map(MeaningReader::of),
            kind.map_or(GoldenForm::OneCase, |kind| kind.golden),
        );
        let states_none = |side: &SuiteSide<'_>| !side.config.expressions.texts().any(reads_case);
        let used = match states_none(&self.before) && states_none(&self.after) {
            true => CaseUse::Kind,
            false => CaseUse::Expressions,
        };
        // Each case once, by its first agent, unless each agent has its own part.
        let mut by_files: BTreeMap<(&RepoPath, &RepoPath), CasesOfFile<'_>> = BTreeMap::new();
        for ((case, agent), before) in &self.old.pairs {
            if let Some(after) = self.new.pairs.get(&(*case, *agent)) {
                let own = Some(*agent).filter(|_| form.is_of_agent());
                by_files
                    .entry((&before.golden, &after.golden))
                    .or_default()
                    .entry((*case, own))
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
            let whole = |(old, new)| checked_golden_value(old).zip(checked_golden_value(new));
            let parsed = texts.and_then(|(old, new)| {
                different_fields(form, [&old, &new]).or_else(|| whole((old, new)))
            });
            let entries = parsed
                .as_ref()
                .map(|(old, new)| (GoldenEntries::of(form, old), GoldenEntries::of(form, new)));
            for ((case, _), agent) in cases {
                let whose = match apart.contains(case) {
                    true => format!("{}/{agent}", self.id()),
                    false => self.id().to_owned(),
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
                    found.expectation(&whose, case.as_str(), edit, new);
                }
                if let Some(detail) = edit.description {
                    found.description(&whose, case.as_str(), detail, new);
                }
            }
        }
    }

    /// Compares everything else that was read for the suite, or for a case that both sides have.
    fn material(&self, found: &mut ChangeCollector) {
        let mut files: BTreeMap<RepoPath, DifferentFile> = BTreeMap::new();
        let mut folders: BTreeMap<RepoPath, BTreeSet<String>> = BTreeMap::new();
        let reads = self.before.reads.iter().map(|read| (read, &self.old));
        for (read, cases) in reads.chain(self.after.reads.iter().map(|read| (read, &self.new))) {
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
        let is_golden = |path: &RepoPath| {
            [&self.old, &self.new]
                .iter()
                .any(|side| side.by_golden.contains_key(path))
        };
        let mut reported: BTreeSet<RepoPath> = BTreeSet::new();
        for (path, file) in files.iter().filter(|(path, _)| !is_golden(path)) {
            if let Some((verb, detail)) = self.file(path, file) {
                reported.insert(path.clone());
                found.material(
                    self.id(),
                    self.changed_file(path, &file.readers, verb, detail),
                    path,
                );
            }
        }
        for (path, readers) in &folders {
            for (inner, verb) in self.names(path) {
                if reported.insert(inner.clone()) && !is_golden(&inner) {
                    found.material(
                        self.id(),
                        self.changed_file(&inner, readers, verb, None),
                        &inner,
                    );
                }
            }
        }
    }

    /// The cases on both sides that a file was read for; empty for the whole suite, `None` if there is no such case.
    fn readers(&self, read: &DifferentRead, cases: &SuitePairs<'_>) -> Option<Vec<String>> {
        let of_both =
            |case: &CaseId| self.old.cases.contains(case) && self.new.cases.contains(case);
        let cases: Vec<String> = match &read.read_for {
            // The folders that a suite lists contain its cases, which are compared one by one.
            ReadFor::Suite => return (read.kind != ReadKind::Folder).then(Vec::new),
            ReadFor::Case(case) => Some(case)
                .filter(|case| of_both(case))
                .into_iter()
                .map(ToString::to_string)
                .collect(),
            ReadFor::Golden(GoldenPart {
                case: Some(own), ..
            }) => {
                let own = CaseId::new(own).ok().filter(of_both);
                own.iter().map(ToString::to_string).collect()
            }
            ReadFor::Golden(GoldenPart { file, case: None }) => {
                let of_file = cases.by_golden.get(file).into_iter().flatten();
                of_file
                    .filter(|case| of_both(case))
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
                let text = |bytes| SourceText::new(path.clone(), bytes).ok();
                let detail = match (text(old), text(new)) {
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
        let of_kind = kind(&self.after.config.kind).map(|kind| &kind.settings);
        let names = |config: &SuiteConfig| {
            setting_files(of_kind, config)
                .iter()
                .any(|file| file.path == *path)
        };
        names(self.before.config) != names(self.after.config)
    }

    /// A changed file with its name in the report.
    fn changed_file(
        &self,
        path: &RepoPath,
        readers: &BTreeSet<String>,
        verb: &'static str,
        detail: Option<String>,
    ) -> ChangedFile {
        let config = self.after.config;
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
        let list = |listed: Result<Vec<Entry>, _>| -> BTreeSet<Entry> {
            listed.unwrap_or_default().into_iter().collect()
        };
        let (old, new) = (
            list(self.sides.base.list(folder)),
            list(self.sides.head.list(folder)),
        );
        let gone = old
            .difference(&new)
            .map(|entry| (folder.child(&entry.name), "removed"));
        gone.chain(
            new.difference(&old)
                .map(|entry| (folder.child(&entry.name), "added")),
        )
        .collect()
    }
}

/// Whether two `.txt` lists have the same terms, in any order.
fn same_terms(old: &SourceText, new: &SourceText) -> bool {
    let terms = |source: &SourceText| -> BTreeSet<String> {
        source
            .text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect()
    };
    old.file.as_str().ends_with(".txt") && terms(old) == terms(new)
}

//! Golden cases, each in a file of its own or in one file with all; every agent of the suite is graded on each case.

use std::sync::Arc;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::answer::checks::AnswerChecks;
use super::answer::form::{AnswerChecksForm, CaseCheckForm};
use super::answer::reader::AnswerReader;
pub use super::case_files::StatedName;
use super::case_files::{CaseSource, cases_of_suite, files_of_cases, is_case_file};
use super::case_keys::DescriptionKeys;
use super::case_marks::CaseMarks;
use super::case_table::CaseTable;
use super::entries::CaseIdText;
use super::meaning::digested_case;
use super::quarantine::Stated;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::files::{Files, SourceText, sha256_hex};
use crate::format::JsonCursor;
use crate::format::Step::Key;
use crate::model::{AgentName, CaseId, RepoPath, RunKey, SuiteConfig};
use crate::suites::kind::{CaseIndex, Pair};

/// A parsed golden file, before it becomes a case of a suite.
pub struct GoldenCase<T> {
    /// The case's id if the file states one; the default is the file stem.
    pub id: Option<StatedName>,
    /// The runs that make up one sample; empty if it is the case's own run.
    pub runs: Vec<StatedName>,
    /// Number of samples, if neither config nor command line states it.
    pub samples: Option<u32>,
    /// Whether it is a draft, and its tags.
    pub marks: CaseMarks,
    /// Why the case is excluded from gating for now.
    pub quarantine: Option<Box<Stated>>,
    /// The checks that it names itself.
    pub checks: Vec<CaseCheckForm>,
    /// What the case requires of the answer.
    pub answer: Option<AnswerChecksForm>,
    /// Why the case is listed and no longer run.
    pub retired: Option<String>,
    /// Other content that affects a metric, such as a list of terms.
    pub measured_with: String,
    /// The keys that describe it.
    pub description: DescriptionKeys,
    /// The expectations of the case.
    pub case: T,
}

impl<T> GoldenCase<T> {
    /// A case with one run, named after its file.
    pub fn plain(case: T) -> Self {
        Self {
            id: None,
            runs: Vec::new(),
            samples: None,
            retired: None,
            marks: CaseMarks::default(),
            quarantine: None,
            checks: Vec::new(),
            answer: None,
            measured_with: String::new(),
            description: DescriptionKeys::NONE,
            case,
        }
    }
}

/// The folder of a suite's cases: the one with this name in the suite's path, or the path itself if the cases are there.
pub fn case_folder(suite: &SuiteConfig, files: &dyn Files, name: &str) -> RepoPath {
    let inner = suite.path.child(name);
    if !has_cases(files, &inner) && has_cases(files, &suite.path) {
        return suite.path.clone();
    }
    inner
}

fn has_cases(files: &dyn Files, folder: &RepoPath) -> bool {
    files_of_cases(files, folder).is_ok_and(|cases| !cases.is_empty())
}

/// The id of a case that may state it under `id` or `scenarioId`.
///
/// # Errors
/// It states two ids.
pub fn stated_id(
    id: Option<CaseIdText>,
    scenario_id: Option<CaseIdText>,
    cursor: &JsonCursor<'_>,
) -> Result<Option<StatedName>, Diagnostic> {
    let (key, CaseIdText(text)) = match (id, scenario_id) {
        (Some(id), Some(scenario_id)) if id != scenario_id => {
            let description = format!("the case is called \"{}\" and \"{}\"", id.0, scenario_id.0);
            let help = "keep `id` or `scenarioId`";
            return Err(cursor.problem(
                &[Key("scenarioId")],
                Code::DUPLICATE_ID,
                description,
                help,
            ));
        }
        (_, Some(scenario_id)) => ("scenarioId", scenario_id),
        (Some(id), None) => ("id", id),
        (None, None) => return Ok(None),
    };
    Ok(Some(StatedName {
        text,
        at: cursor.value(&[Key(key)]),
    }))
}

/// A case of a suite, before it has pairs.
pub struct CaseEntry<T> {
    pub id: CaseId,
    pub golden: RepoPath,
    /// The digest of its expectations.
    pub digest: String,
    /// The names of the runs of a sample.
    pub runs: Vec<CaseId>,
    /// Number of samples, if neither config nor command line states it.
    pub samples: Option<u32>,
    /// Whether it is a draft, and its tags.
    pub marks: CaseMarks,
    /// Why the case is excluded from gating for now.
    pub quarantine: Option<Box<Stated>>,
    pub answer: Option<Arc<AnswerChecks>>,
    /// The expectations of the case.
    pub case: T,
}

impl<T> CaseEntry<T> {
    pub fn pair(&self, suite: &SuiteConfig, agent: &AgentName) -> Pair {
        let runs = self.runs.iter().map(|name| RunKey {
            suite: suite.id.clone(),
            agent: agent.clone(),
            case: name.clone(),
        });
        Pair {
            case: self.id.clone(),
            agent: agent.clone(),
            golden: self.golden.clone(),
            digest: self.digest.clone(),
            runs: runs.collect(),
            samples: self.samples,
            marks: self.marks.clone(),
            quarantine: self.quarantine.clone(),
            answer: self.answer.clone(),
            zone: None,
            case_index: CaseIndex::NOT_SET,
        }
    }
}

/// Pairs every case with every agent of the suite.
pub fn paired_cases<T>(
    suite: &SuiteConfig,
    path: RepoPath,
    mut entries: Vec<CaseEntry<T>>,
) -> CaseTable<T> {
    entries.sort_by(|left, right| left.id.cmp(&right.id));
    CaseTable::of(
        path,
        entries.into_iter().map(|entry| {
            let pairs: Vec<Pair> = suite
                .agents
                .keys()
                .map(|agent| entry.pair(suite, agent))
                .collect();
            (entry.case, pairs)
        }),
    )
}

struct GoldenFile<T> {
    source: SourceText,
    /// The byte offset of its id.
    at: usize,
    /// Why the case is listed and no longer run.
    retired: Option<String>,
    entry: CaseEntry<T>,
}

/// Reads every case of the suite, for every agent: the files of the folder `path`, or the entries of the suite's file.
pub fn open_cases<T: Send>(
    suite: &SuiteConfig,
    files: &dyn Files,
    path: RepoPath,
    read: impl Fn(&SourceText, &dyn Files) -> Result<GoldenCase<T>, Diagnostic> + Sync,
) -> Result<CaseTable<T>, Diagnostics> {
    open_named_cases(suite, files, path, |source, files, _| read(source, files))
}

/// The same; `read` gets the id that the file's name or the entry states as well.
pub fn open_named_cases<T: Send>(
    suite: &SuiteConfig,
    files: &dyn Files,
    path: RepoPath,
    read: impl Fn(&SourceText, &dyn Files, &str) -> Result<GoldenCase<T>, Diagnostic> + Sync,
) -> Result<CaseTable<T>, Diagnostics> {
    let mut problems = Diagnostics::default();
    let cases = cases_of_suite(suite, files, &path, &mut problems);
    let path = if is_case_file(&suite.path) {
        suite.path.clone()
    } else {
        path
    };
    let opened: Vec<Result<_, Diagnostics>> = cases
        .par_iter()
        .map(|case| {
            case.read(files, |source, part_files| {
                opened(suite, case, source, part_files, &read)
            })
        })
        .collect();
    let mut opened: Vec<GoldenFile<T>> = opened
        .into_iter()
        .filter_map(|file| problems.keep_all(file))
        .collect();
    opened.sort_by(|left, right| left.entry.id.cmp(&right.entry.id));
    for two in opened
        .windows(2)
        .filter(|two| two[0].entry.id == two[1].entry.id)
    {
        let description = format!(
            "the id \"{}\" is already used in {}",
            two[1].entry.id, two[0].source.file
        );
        problems.push(two[1].source.problem(
            two[1].at,
            Code::DUPLICATE_ID,
            description,
            "give each case its own id",
        ));
    }
    let (mut entries, mut retired) = (Vec::new(), Vec::new());
    for file in opened {
        match file.retired {
            Some(why) => retired.push((file.entry.id, why)),
            None => entries.push(file.entry),
        }
    }
    let mut table = paired_cases(suite, path, entries);
    table.pairs.retired = retired;
    problems.or(table)
}

fn case_id(source: &SourceText, name: &StatedName) -> Result<CaseId, Diagnostic> {
    CaseId::new(&name.text)
        .map_err(|bad| source.problem(name.at, Code::BAD_ID, bad.to_string(), bad.help()))
}

fn opened<T>(
    suite: &SuiteConfig,
    case: &CaseSource,
    source: &SourceText,
    files: &dyn Files,
    read: &impl Fn(&SourceText, &dyn Files, &str) -> Result<GoldenCase<T>, Diagnostic>,
) -> Result<GoldenFile<T>, Diagnostics> {
    let mut read = read(source, files, &case.id.text)?;
    let checks = std::mem::take(&mut read.checks);
    let reader = AnswerReader::new(suite, files);
    let answer = reader.read_all(
        checks,
        read.answer.take(),
        Vec::new(),
        &JsonCursor::whole(source),
    )?;
    // The file's name is nowhere in the file: errors point to its start.
    let stated = read.id.as_ref().unwrap_or(&case.id);
    let (text, at) = (&stated.text, stated.at);
    let id = case_id(source, stated)?;
    if case.is_entry() && *text != case.id.text {
        let description = format!("the case is called \"{}\" and \"{text}\"", case.id.text);
        return Err(source
            .problem(
                at,
                Code::DUPLICATE_ID,
                description,
                "remove `id`, or state the same name",
            )
            .into());
    }
    let mut problems = Diagnostics::default();
    let mut runs: Vec<CaseId> = read
        .runs
        .iter()
        .filter_map(|name| problems.keep(case_id(source, name)))
        .collect();
    if read.runs.is_empty() {
        runs.push(id.clone());
    }
    let of_answer = answer
        .as_ref()
        .map_or("", |answer| answer.measured_with.as_str());
    let measured = format!(
        "{}{}{of_answer}",
        digested_case(&source.text, read.description),
        read.measured_with
    );
    let entry = CaseEntry {
        id,
        golden: source.file.clone(),
        digest: sha256_hex(measured.as_bytes()),
        runs,
        samples: read.samples,
        marks: read.marks,
        quarantine: read.quarantine,
        answer,
        case: read.case,
    };
    problems.or(GoldenFile {
        source: source.clone(),
        at,
        retired: read.retired,
        entry,
    })
}

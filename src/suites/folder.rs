//! A folder of golden files, one a case, that every agent of the suite is graded on.

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::grade_context::read_case;
use super::meaning::without_notes;
use super::quarantine::Stated;
use super::{Audit, EntryKind, Files, Pair, sha256_hex};
use crate::diag::{Diagnostic, Diagnostics};
use crate::format::SourceText;
use crate::model::{CaseId, RepoPath, RunKey, SuiteConfig};

/// A name that a golden file states.
pub struct StatedName {
    /// The name.
    pub text: String,
    /// The byte of the file where it stands.
    pub at: usize,
}

/// What a golden file says, before it is one of a suite's cases.
pub struct GoldenCase<T> {
    /// The case's id, where the file states one; else its stem is.
    pub id: Option<StatedName>,
    /// The names of the runs that make up a sample; none for the run of the case itself.
    pub runs: Vec<StatedName>,
    /// Samples planned where nobody else says.
    pub samples: Option<u32>,
    /// Why it does not gate for a while.
    pub quarantine: Option<Box<Stated>>,
    /// Why it is listed and not run any more.
    pub retired: Option<String>,
    /// What else a number is measured with, such as a list of terms.
    pub measured_with: String,
    /// What the case asks for.
    pub case: T,
}

impl<T> GoldenCase<T> {
    /// A case of one run that is called as its file.
    pub fn plain(case: T) -> Self {
        Self {
            id: None,
            runs: Vec::new(),
            samples: None,
            retired: None,
            quarantine: None,
            measured_with: String::new(),
            case,
        }
    }
}

/// A case that is one of its suite's.
pub struct CaseEntry<T> {
    /// Its id.
    pub id: CaseId,
    /// Its golden file.
    pub golden: RepoPath,
    /// The digest of what is expected.
    pub digest: String,
    /// The names of the runs that make up a sample.
    pub runs: Vec<CaseId>,
    /// Samples planned where nobody else says.
    pub samples: Option<u32>,
    /// Why it does not gate for a while.
    pub quarantine: Option<Box<Stated>>,
    /// What the case asks for.
    pub case: T,
}

/// The cases of a suite, paired with its agents.
pub struct CaseFolder<T> {
    /// The folder, or the file that has them all.
    pub path: RepoPath,
    /// The pairs, ordered by case, then agent.
    pub pairs: Vec<Pair>,
    places: Vec<usize>,
    /// The cases, by id.
    pub cases: Vec<T>,
    /// Cases that are listed and not run, each with its reason.
    pub retired: Vec<(CaseId, String)>,
}

impl<T> CaseFolder<T> {
    /// Pairs every case with every agent of the suite.
    pub fn of(suite: &SuiteConfig, path: RepoPath, mut members: Vec<CaseEntry<T>>) -> Self {
        members.sort_by(|one, other| one.id.cmp(&other.id));
        let (mut pairs, mut places, mut cases) = (Vec::new(), Vec::new(), Vec::new());
        for CaseEntry { id, golden, digest, runs, samples, quarantine, case } in members {
            for agent in suite.agents.keys() {
                let key = |name: &CaseId| RunKey { suite: suite.id.clone(), agent: agent.clone(), case: name.clone() };
                places.push(cases.len());
                pairs.push(Pair {
                    case: id.clone(),
                    agent: agent.clone(),
                    golden: golden.clone(),
                    digest: digest.clone(),
                    runs: runs.iter().map(key).collect(),
                    samples,
                    quarantine: quarantine.clone(),
                    zone: None,
                });
            }
            cases.push(case);
        }
        Self { path, pairs, places, cases, retired: Vec::new() }
    }

    /// The case of a pair.
    pub fn case(&self, pair: usize) -> &T {
        &self.cases[self.places[pair]]
    }

    /// What can be said of a folder without reading its files.
    pub fn audit(&self, files: &dyn Files) -> Audit {
        let mut audit = Audit::default();
        audit.strays(files, &self.path);
        audit
    }
}

/// One golden file, read.
struct GoldenFile<T> {
    id: CaseId,
    runs: Vec<CaseId>,
    source: SourceText,
    /// The byte where its id stands.
    at: usize,
    digest: String,
    read: GoldenCase<T>,
}

/// Reads `{case}.json` of a folder for every agent of the suite.
///
/// # Errors
/// Everything in the files that cannot be.
pub fn open_cases<T: Send>(
    suite: &SuiteConfig,
    files: &dyn Files,
    path: RepoPath,
    read: impl Fn(&SourceText, &dyn Files) -> Result<GoldenCase<T>, Diagnostic> + Sync,
) -> Result<CaseFolder<T>, Diagnostics> {
    let mut problems = Diagnostics::default();
    let entries = problems.keep(files.list(&path)).unwrap_or_default();
    let entries_by_name: Vec<(RepoPath, &str)> = entries
        .iter()
        .filter(|entry| entry.kind == EntryKind::File)
        .filter_map(|entry| Some((path.child(&entry.name), entry.name.strip_suffix(".json")?)))
        .collect();
    let opened: Vec<Result<_, Diagnostics>> = entries_by_name
        .par_iter()
        .map(|(file, stem)| read_case(files, file, |own| opened(file, stem, own, &read)))
        .collect();
    let mut opened: Vec<GoldenFile<T>> = opened.into_iter().filter_map(|one| problems.keep_all(one)).collect();
    opened.sort_by(|one, other| one.id.cmp(&other.id));
    for two in opened.windows(2).filter(|two| two[0].id == two[1].id) {
        let what = format!("the id \"{}\" is also that of {}", two[1].id, two[0].source.file);
        problems.push(two[1].source.problem(two[1].at, "duplicate-id", what, "give each case its own id"));
    }
    let (mut members, mut retired) = (Vec::new(), Vec::new());
    for GoldenFile {
        id,
        runs,
        source,
        digest,
        read: GoldenCase { samples, quarantine, retired: left, case, .. },
        ..
    } in opened
    {
        match left {
            Some(why) => retired.push((id, why)),
            None => members.push(CaseEntry { id, golden: source.file, digest, runs, samples, quarantine, case }),
        }
    }
    problems.or(CaseFolder { retired, ..CaseFolder::of(suite, path, members) })
}

fn opened<T>(
    file: &RepoPath,
    stem: &str,
    files: &dyn Files,
    read: &impl Fn(&SourceText, &dyn Files) -> Result<GoldenCase<T>, Diagnostic>,
) -> Result<GoldenFile<T>, Diagnostics> {
    let source = files.text(file)?;
    let read = read(&source, files)?;
    let checked = |text: &str, at: usize| {
        CaseId::new(text).map_err(|bad| source.problem(at, "bad-id", bad.to_string(), bad.help()))
    };
    // A file's name stands nowhere in it: its first place is what can be shown.
    let (text, at) = read.id.as_ref().map_or((stem, 0), |name| (name.text.as_str(), name.at));
    let id = checked(text, at)?;
    let mut problems = Diagnostics::default();
    let mut runs: Vec<CaseId> =
        read.runs.iter().filter_map(|name| problems.keep(checked(&name.text, name.at))).collect();
    if read.runs.is_empty() {
        runs.push(id.clone());
    }
    let digest = sha256_hex(format!("{}{}", without_notes(&source.text), read.measured_with).as_bytes());
    problems.or(GoldenFile { id, runs, at, digest, read, source })
}

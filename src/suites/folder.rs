//! A folder of golden files, one a case, that every agent of the suite is graded on.

use rayon::iter::IntoParallelRefIterator;
use rayon::iter::ParallelIterator;

use super::EntryKind;
use super::Pair;
use super::Shelf;
use super::sha256_hex;
use crate::diag::Diagnostic;
use crate::diag::Diagnostics;
use crate::format::SourceText;
use crate::model::CaseId;
use crate::model::Quarantine;
use crate::model::RepoPath;
use crate::model::RunKey;
use crate::model::Suite as SuiteConfig;

/// What a golden file says, before it is one of a suite's cases.
pub struct Read<T> {
    /// The case's id, where the file states one; else its stem is.
    pub id: Option<String>,
    /// The names of the runs that make up a sample; none for the run of the case itself.
    pub runs: Vec<String>,
    /// Samples planned where nobody else says.
    pub samples: Option<u32>,
    /// Why it does not gate for a while.
    pub quarantine: Option<Box<Quarantine>>,
    /// Why it is listed and not run any more.
    pub retired: Option<String>,
    /// What else a number is measured with, such as a list of terms.
    pub measured_with: String,
    /// What the case asks for.
    pub case: T,
}

impl<T> Read<T> {
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

/// The cases of a folder, paired with the agents.
pub struct Folder<T> {
    /// The folder.
    pub path: RepoPath,
    /// The pairs, ordered by case, then agent.
    pub pairs: Vec<Pair>,
    places: Vec<usize>,
    /// The cases, by id.
    pub cases: Vec<T>,
    /// Cases that are listed and not run, each with its reason.
    pub retired: Vec<(CaseId, String)>,
}

impl<T> Folder<T> {
    /// The case of a pair.
    pub fn case(&self, pair: usize) -> &T {
        &self.cases[self.places[pair]]
    }
}

/// Reads `{case}.json` of a folder for every agent of the suite.
///
/// # Errors
/// Everything in the files that cannot be.
pub fn open<T: Send>(
    suite: &SuiteConfig,
    shelf: &dyn Shelf,
    path: RepoPath,
    read: impl Fn(&SourceText) -> Result<Read<T>, Diagnostic> + Sync,
) -> Result<Folder<T>, Diagnostics> {
    let mut problems = Diagnostics::default();
    let entries = problems.keep(shelf.list(&path)).unwrap_or_default();
    let files: Vec<(RepoPath, &str)> = entries
        .iter()
        .filter(|entry| entry.kind == EntryKind::File)
        .filter_map(|entry| Some((path.child(&entry.name), entry.name.strip_suffix(".json")?)))
        .collect();
    let opened: Vec<Result<_, Diagnostic>> = files
        .par_iter()
        .map(|(file, stem)| {
            let source = shelf.text(file)?;
            let found = read(&source)?;
            let id = found.id.as_deref().unwrap_or(stem);
            let id = CaseId::new(id).map_err(|bad| Diagnostic::of_file(file, "bad-id", bad.to_string(), bad.help()))?;
            let digest = sha256_hex(format!("{}{}", source.text, found.measured_with).as_bytes());
            Ok((id, file.clone(), digest, found))
        })
        .collect();
    let mut read: Vec<_> = opened.into_iter().filter_map(|one| problems.keep(one)).collect();
    read.sort_by(|(one, ..), (other, ..)| one.cmp(other));
    for twice in read.windows(2).filter(|two| two[0].0 == two[1].0) {
        let what = format!("the id \"{}\" is also that of {}", twice[1].0, twice[0].1);
        problems.push(Diagnostic::of_file(&twice[1].1, "duplicate-id", what, "give each case its own id"));
    }
    let (mut pairs, mut places, mut cases, mut left) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (case, golden, digest, Read { runs, samples, quarantine, retired, case: asked, .. }) in read {
        if let Some(why) = retired {
            left.push((case, why));
            continue;
        }
        let names = problems.keep_all(run_names(&case, &golden, &runs)).unwrap_or_default();
        for agent in suite.agents.keys() {
            let key = |name: &CaseId| RunKey { suite: suite.id.clone(), agent: agent.clone(), case: name.clone() };
            places.push(cases.len());
            pairs.push(Pair {
                case: case.clone(),
                agent: agent.clone(),
                golden: golden.clone(),
                digest: digest.clone(),
                runs: names.iter().map(key).collect(),
                samples,
                quarantine: quarantine.clone(),
                zone: None,
            });
        }
        cases.push(asked);
    }
    problems.or(Folder { path, pairs, places, cases, retired: left })
}

fn run_names(case: &CaseId, golden: &RepoPath, runs: &[String]) -> Result<Vec<CaseId>, Diagnostics> {
    if runs.is_empty() {
        return Ok(vec![case.clone()]);
    }
    let mut problems = Diagnostics::default();
    let names = runs.iter().map(|name| {
        CaseId::new(name).map_err(|bad| Diagnostic::of_file(golden, "bad-id", bad.to_string(), bad.help()))
    });
    let names = names.filter_map(|name| problems.keep(name)).collect();
    problems.or(names)
}

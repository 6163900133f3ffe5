//! The files that a recording changes. A sample that did not complete replaces nothing, so no existing recording is lost.

use std::collections::{BTreeMap, BTreeSet};

use super::outdated::{recording_files, replay_folder};
use crate::app::live::LiveRuns;
use crate::app::pipeline::plan::{LoadedSuite, Plan};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::files::{Files, SourceText};
use crate::format::run_v1;
use crate::model::{RepoPath, RunKey, RunStatus};

/// The files that a recording changes.
#[derive(Debug, Default)]
pub struct NewRecordings {
    /// The new or replaced files.
    pub additions: BTreeMap<RepoPath, String>,
    /// The files that are removed: the same samples in another layout.
    pub removals: BTreeSet<RepoPath>,
    /// Runs of which a sample did not complete, with the reason. Their recordings stay as they are.
    pub failed: Vec<String>,
}

impl NewRecordings {
    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.additions.is_empty()
    }

    /// Returns the files that live runs change.
    ///
    /// # Errors
    /// A folder of recordings that must not be written, or a link in it.
    pub fn of(plan: &Plan, made: &LiveRuns, head: &dyn Files) -> Result<Self, Diagnostics> {
        let mut problems = Diagnostics::default();
        let mut found = Self::default();
        let mut by_folder: BTreeMap<RepoPath, Vec<(u32, &str)>> = BTreeMap::new();
        for (file, text) in &made.files {
            let number = file.name().strip_suffix(".json").and_then(|stem| stem.parse().ok());
            if let Some(number) = number {
                by_folder.entry(file.parent()).or_default().push((number, text));
            }
        }
        for loaded in &plan.suites {
            let keys: BTreeSet<&RunKey> = loaded.chosen_to_run(&plan.wanted).flat_map(|pair| &pair.runs).collect();
            for key in keys {
                let made_in = made.layout.folders.get(&(key.suite.clone(), key.agent.clone()));
                let made_in = made_in.map(|folder| folder.child(key.agent.as_str()).child(key.case.as_str()));
                let Some(samples) = made_in.and_then(|folder| by_folder.remove(&folder)) else { continue };
                problems.keep(found.add(loaded, key, samples, head));
            }
        }
        problems.or(found)
    }

    fn add(
        &mut self,
        loaded: &LoadedSuite,
        key: &RunKey,
        mut samples: Vec<(u32, &str)>,
        head: &dyn Files,
    ) -> Result<(), Diagnostic> {
        let Some(folder) = replay_folder(loaded, key) else { return Ok(()) };
        if let Some(why) = samples.iter().find_map(|(sample, text)| failure(key, *sample, text)) {
            self.failed.push(format!("{}/{}/{}: {why}", key.suite, key.agent, key.case));
            return Ok(());
        }
        samples.sort_unstable();
        let agent = folder.child(key.agent.as_str());
        let inner = agent.child(key.case.as_str());
        let before = recording_files(head, folder, key)?;
        let is_nested = before.iter().any(|(_, file)| file.parent() == inner);
        let files: BTreeMap<RepoPath, String> = match samples.as_slice() {
            [(0, text)] if !is_nested => {
                BTreeMap::from([(agent.child(&format!("{}.json", key.case)), (*text).to_owned())])
            }
            several => several
                .iter()
                .map(|(sample, text)| (inner.child(&format!("{sample}.json")), (*text).to_owned()))
                .collect(),
        };
        if let Some(file) = files.keys().find(|file| is_forbidden(file)) {
            let what = "recordings must not be written here";
            let help = "name another folder after replay:, outside of .github and .git";
            return Err(Diagnostic::of_file(file, Code::BAD_FOLDER, what, help));
        }
        self.removals.extend(before.into_iter().map(|(_, file)| file).filter(|file| !files.contains_key(file)));
        self.additions.extend(files);
        Ok(())
    }
}

/// Whether a file belongs to GitHub or git. A push of such a file could change what runs.
fn is_forbidden(file: &RepoPath) -> bool {
    file.is_of_git() || file.as_str().to_ascii_lowercase().starts_with(".github/")
}

/// Returns why a sample cannot be recorded.
fn failure(key: &RunKey, sample: u32, text: &str) -> Option<String> {
    let source = SourceText::from_text(RepoPath::root().child("record"), text.to_owned());
    match run_v1::read_run(&source, key, sample) {
        Ok(run) if run.status == RunStatus::Completed => None,
        Ok(run) => Some(run.error.unwrap_or_else(|| run.status.as_str().to_owned())),
        Err(problem) => Some(problem.to_string()),
    }
}

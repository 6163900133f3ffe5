//! The files that a recording changes. A sample that did not complete replaces nothing, so no existing recording is lost.

use std::collections::{BTreeMap, BTreeSet};

use super::outdated::replay_folder;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::evaluation::plan::{LoadedSuite, Plan};
use crate::files::{Files, SourceText};
use crate::format::recording_layout::RecordingPaths;
use crate::format::run_v1;
use crate::live::LiveRuns;
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
        let mut recordings = Self::default();
        for (key, samples) in &made.records {
            let loaded = plan.suite(&key.suite);
            problems.keep_all(loaded.map_or(Ok(()), |loaded| {
                recordings
                    .add(loaded, key, samples, head)
                    .map_err(Into::into)
            }));
        }
        problems.or(recordings)
    }

    fn add(
        &mut self,
        loaded: &LoadedSuite,
        key: &RunKey,
        samples: &BTreeMap<u32, String>,
        head: &dyn Files,
    ) -> Result<(), Diagnostic> {
        let Some(folder) = replay_folder(loaded, key) else {
            return Ok(());
        };
        if let Some(why) = samples
            .iter()
            .find_map(|(sample, text)| failure(key, *sample, text))
        {
            self.failed
                .push(format!("{}/{}/{}: {why}", key.suite, key.agent, key.case));
            return Ok(());
        }
        let paths = RecordingPaths::new(folder, &key.agent, &key.case);
        let committed = paths.list(head)?;
        let has_folder = committed
            .iter()
            .any(|(_, file)| file.parent() == paths.folder());
        let mut files: BTreeMap<RepoPath, String> = BTreeMap::new();
        for (sample, text) in samples {
            let path = match samples.len() {
                1 if *sample == 0 && !has_folder => paths.single(),
                _ => paths.sample(*sample),
            };
            files.insert(path, text.clone());
        }
        if let Some(file) = files.keys().find(|file| is_forbidden(file)) {
            let message = "recordings must not be written here";
            let help = "name another folder after replay:, outside of .github and .git";
            return Err(Diagnostic::of_file(file, Code::BAD_FOLDER, message, help));
        }
        self.removals.extend(
            committed
                .into_iter()
                .map(|(_, file)| file)
                .filter(|file| !files.contains_key(file)),
        );
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

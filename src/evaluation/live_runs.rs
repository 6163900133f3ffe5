//! The results of live runs.

use std::collections::{BTreeMap, BTreeSet};

use super::live_layout::LiveLayout;
use crate::files::{Files, OverlayFiles};
use crate::format::recording_layout::RecordingPaths;
use crate::model::{Interruption, RepoPath, RunKey, RunUsage, Tier};

#[derive(Default)]
pub struct LiveRuns {
    /// The records of each run, by sample.
    pub records: BTreeMap<RunKey, BTreeMap<u32, String>>,
    /// The folders of the records, and which samples were skipped.
    pub layout: LiveLayout,
    pub usage: RunUsage,
    pub notes: Vec<String>,
    /// The files of the agents that the digests in the records cover.
    #[cfg_attr(
        not(feature = "models"),
        expect(dead_code, reason = "only live runs are recorded")
    )]
    pub agent_files: BTreeSet<RepoPath>,
    /// Selected agents that were not run.
    pub not_run: Vec<NotRun>,
    /// Why samples are missing, if the run was interrupted.
    pub called_off: Option<Interruption>,
}

/// Selected agents that were not run, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotRun {
    pub tier: Tier,
    /// The agents and the reason.
    pub message: String,
}

impl LiveRuns {
    /// Returns the files with the live records added.
    pub fn overlay<'a>(&'a self, below: &'a dyn Files) -> OverlayFiles<'a> {
        let mut overlay = OverlayFiles::over(below);
        self.layout
            .folders
            .iter()
            .for_each(|((_, agent), folder)| overlay.folder(folder.child(agent.as_str())));
        for (key, samples) in &self.records {
            let folder = &self.layout.folders[&(key.suite.clone(), key.agent.clone())];
            let paths = RecordingPaths::new(folder, &key.agent, &key.case);
            samples
                .iter()
                .for_each(|(sample, text)| overlay.put(paths.sample(*sample), text));
        }
        overlay
    }
}

//! Recordings that the base commit has under another name: from another folder, case or agent. A recording without a digest of the present agent
//! that only changed its place was not made again.

use std::collections::BTreeSet;

use serde_json::Value;

use super::recording_change::CaseSample;
use super::recording_comparison::RecordingComparison;
use crate::format::recording_layout::case_and_sample;
use crate::model::RepoPath;

/// The fewest bytes of outputs that are hardly given twice: two short answers may be the same.
const LONG: usize = 24;

impl RecordingComparison<'_> {
    /// Whether the base commit has the bytes of a recording elsewhere, of one case at most. What its agents gave for several cases is a usual answer.
    pub fn is_from_elsewhere(&self, key: &CaseSample) -> bool {
        let Some(recorded) = self.new.get(key).filter(|_| !self.is_proved(key)) else { return false };
        let Ok(bytes) = self.sides.head.bytes(&recorded.file) else { return false };
        let run: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let own = self.old.get(key).map(|before| &before.file);
        if !is_telling(&run) {
            return false;
        }
        let places = self.sides.base.files_like(&recorded.file);
        let cases: BTreeSet<String> = places.iter().filter_map(|file| self.case_of(file)).collect();
        !places.is_empty() && cases.len() <= 1 && places.iter().all(|file| Some(file) != own)
    }

    /// The case of a recording of the base commit, of any agent.
    fn case_of(&self, file: &RepoPath) -> Option<String> {
        self.owner.config_before.suites.iter().flat_map(|suite| &suite.agents).find_map(|(name, agent)| {
            agent.recordings().find_map(|folder| case_below(file, &folder.child(name.as_str())))
        })
    }
}

/// The case of a recording in an agent's folder; `None` for another file.
pub fn case_below(file: &RepoPath, folder: &RepoPath) -> Option<String> {
    let name = file.as_str().strip_prefix(folder.as_str())?.strip_prefix('/')?;
    case_and_sample(name).map(|(case, _)| case.to_owned())
}

/// Whether another run hardly has the same content: long outputs, a date or a latency.
pub fn is_telling(run: &Value) -> bool {
    let has_latency = ["total_latency_ms", "totalLatency"].iter().any(|key| run["metrics"][*key].is_number());
    run["outputs"].to_string().len() >= LONG || has_latency || run["provenance"]["recorded_at"].is_string()
}

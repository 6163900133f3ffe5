//! Where the recordings of an agent are, and what it calls.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::Diagnostic;
use crate::evaluation::plan::source_of;
use crate::files::{Files, all_files_below};
use crate::format::called_target::target_digest;
use crate::format::recording_layout::{case_and_sample, patterned};
use crate::model::{Agent, AgentName, CaseId, Config, RecordingPlace, RepoPath, RunSource, Tier};

/// What recordings of an agent are used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RecordingUse {
    /// They are graded.
    Graded,
    /// They answer the model calls of the agent's code, which runs again: its requests have the prompt.
    AnswersCalls,
}

/// The recordings of an agent: by case and sample, with the path below the agent's folder.
pub type Recordings = BTreeMap<(String, u32), (String, RepoPath)>;

/// The place of the recordings of an agent in a tier, and what they are used for.
pub fn recordings_of(agent: &Agent, tier: Tier) -> Option<(RecordingPlace, RecordingUse)> {
    let source = source_of(agent, tier)?;
    let used = match source {
        RunSource::Replay(_) => RecordingUse::Graded,
        RunSource::Live(_) => RecordingUse::AnswersCalls,
    };
    Some((source.place()?, used))
}

/// The name of the target that an agent calls: that of its model tier, else of its other tier.
pub fn live_target(agent: &Agent) -> Option<&str> {
    [&agent.model, &agent.deterministic]
        .into_iter()
        .flatten()
        .find_map(RunSource::live)
        .map(|live| live.target.as_str())
}

/// The digest of what an agent calls.
pub fn called(config: &Config, agent: &Agent) -> Option<String> {
    config.targets.get(live_target(agent)?).map(target_digest)
}

/// The recordings of an agent of these cases, also those that git ignores: they are graded as well.
pub fn listed(
    files: &dyn Files,
    place: &RecordingPlace,
    name: &AgentName,
    cases: &BTreeSet<CaseId>,
) -> Result<Recordings, Diagnostic> {
    let folder = match place {
        RecordingPlace::Folder(folder) => folder,
        RecordingPlace::Pattern(pattern) => {
            let placed = patterned(files, pattern, name, cases)?.into_iter();
            return Ok(placed
                .map(|(key, file)| (key, (file.to_string(), file)))
                .collect());
        }
    };
    let below = all_files_below(files, &folder.child(name.as_str()))?;
    let mut recordings = Recordings::new();
    for (inner, file) in below {
        if let Some((case, sample)) = case_and_sample(&inner) {
            recordings.insert((case.to_owned(), sample), (inner.clone(), file));
        }
    }
    Ok(recordings)
}

//! Which recordings of a pull request are outdated: of another agent or input, missing, or without a result.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::{Diagnostic, Diagnostics};
use crate::evaluation::plan::{LoadedSuite, Plan};
use crate::evaluation::recorded_agents::RecordedAgents;
use crate::files::Files;
use crate::format::recording_layout::RecordingPaths;
use crate::format::run_v1;
use crate::model::{AgentName, CaseId, RepoPath, Run, RunKey, RunStatus, Sample};
use crate::suites::Pair;

/// The pairs of a suite that are recorded again.
#[derive(Default)]
pub struct OutdatedPairs {
    /// The pairs.
    pub pairs: BTreeSet<(CaseId, AgentName)>,
    /// How many samples each of their runs has, if any is recorded.
    pub samples: BTreeMap<RunKey, u32>,
}

/// Returns the pairs of a suite whose recordings give no verdict, are missing, or have no result.
///
/// # Errors
/// Files that cannot be read.
pub fn outdated_pairs(
    plan: &Plan,
    loaded: &LoadedSuite,
    files: &dyn Files,
    recordings: &RecordedAgents,
) -> Result<OutdatedPairs, Diagnostics> {
    let mut problems = Diagnostics::default();
    let mut outdated = OutdatedPairs::default();
    for pair in loaded
        .chosen_to_run(&plan.wanted)
        .filter(|pair| is_own(loaded, pair))
    {
        let Some(recorded) = problems.keep(recorded_runs(loaded, pair, files)) else {
            continue;
        };
        let count = recorded.iter().map(Vec::len).max().unwrap_or(0);
        let is_complete = count > 0 && complete_samples(&recorded, count).is_some();
        let is_refused = pair
            .runs
            .iter()
            .any(|key| recordings.refuses(&key.suite, &key.agent, key.case.as_str()));
        if is_refused || !is_complete {
            outdated
                .pairs
                .insert((pair.case.clone(), pair.agent.clone()));
            let count = u32::try_from(count).unwrap_or(u32::MAX).max(1);
            outdated
                .samples
                .extend(pair.runs.iter().map(|key| (key.clone(), count)));
        }
    }
    problems.or(outdated)
}

/// Whether all runs of a pair are replayed recordings of agents of this suite.
fn is_own(loaded: &LoadedSuite, pair: &Pair) -> bool {
    !pair.runs.is_empty()
        && pair
            .runs
            .iter()
            .all(|key| key.suite == loaded.config.id && replay_folder(loaded, key).is_some())
}

/// Returns the folder of an agent's recordings.
pub fn replay_folder<'a>(loaded: &'a LoadedSuite, key: &RunKey) -> Option<&'a RepoPath> {
    loaded
        .config
        .agents
        .get(&key.agent)?
        .deterministic
        .as_ref()?
        .replay()?
        .folder()
}

/// Returns the recordings of each run of a pair; `None` for one that is not valid.
fn recorded_runs(
    loaded: &LoadedSuite,
    pair: &Pair,
    files: &dyn Files,
) -> Result<Vec<Vec<Option<Run>>>, Diagnostic> {
    let mut recorded_runs = Vec::new();
    for key in &pair.runs {
        let mut runs = Vec::new();
        let Some(folder) = replay_folder(loaded, key) else {
            recorded_runs.push(runs);
            continue;
        };
        let recorded = RecordingPaths::new(folder, &key.agent, &key.case).list(files)?;
        for (sample, file) in recorded {
            let run = files
                .text(&file)
                .and_then(|source| run_v1::read_run(&source, key, sample))
                .ok();
            runs.resize(runs.len().max(sample as usize), None);
            runs.push(run);
        }
        recorded_runs.push(runs);
    }
    Ok(recorded_runs)
}

/// Returns the samples of a pair; `None` if one is missing or did not complete.
fn complete_samples(recorded: &[Vec<Option<Run>>], count: usize) -> Option<Vec<Sample>> {
    let mut samples = Vec::new();
    for index in 0..count {
        let runs = recorded.iter().map(|runs| runs.get(index)?.clone());
        let runs: Vec<Run> = runs.collect::<Option<_>>()?;
        if runs.iter().any(|run| run.status != RunStatus::Completed) {
            return None;
        }
        samples.push(Sample::Completed(runs));
    }
    Some(samples)
}

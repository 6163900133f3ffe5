//! Reads the recorded exchanges that answer the model calls of agents' code, instead of a model.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::diag::Diagnostic;
use crate::evaluation::required_samples::recorded_count;
use crate::files::Files;
use crate::format::capture::{NoExchanges, RecordedExchanges, recorded_exchanges};
use crate::format::recording_layout::RecordingPaths;
use crate::format::{request_v1, run_v1};
use crate::golden_changes::{Maker, RecordCommand, RecordedCases};
use crate::live::targets::{RecordedSamples, SampleExchanges};
use crate::model::{
    AgentName, CaseId, Config, RecordingPlace, RepoPath, RunKey, SampleRequest, UserMessage,
    UserTurns,
};
use crate::suites::{input_digest, turns};

/// The recorded exchanges of some samples of a run, by the id of their requests.
pub fn recorded_samples(
    files: &dyn Files,
    config: &Config,
    folder: &RepoPath,
    request: &SampleRequest,
    samples: Range<u32>,
) -> RecordedSamples {
    let RunKey { suite, agent, case } = &request.key;
    let recordings = recordings(files, folder, agent, case);
    let makers: BTreeSet<Maker> = recordings
        .values()
        .filter_map(|file| files.text(file).ok())
        .map(|source| Maker::stated_in(&source.text))
        .collect();
    let command = RecordCommand {
        config,
        suite,
        agent,
        makers: &makers,
    };
    let place = RecordingPlace::Folder(folder.clone());
    // The same for every case, so that equal reasons of cases are one.
    let again = command.record_again_hint(&place, RecordedCases::All);
    let mut recorded = RecordedSamples::new();
    for sample in samples {
        let exchanges = match recordings.get(&sample) {
            Some(file) if is_of_another_user(files, file, request, sample) => Err(format!(
                "{file} was recorded for another input, such as another goal of the user; {again}"
            )),
            Some(file) => read_exchanges(files, file, &again),
            None => {
                let missing = command.record_missing_hint(&place);
                Err(format!(
                    "sample {sample} is not recorded in {folder}: {missing}"
                ))
            }
        };
        let sample_id = request_v1::sample_id(&SampleRequest {
            sample,
            ..request.clone()
        });
        recorded.insert(
            sample_id,
            SampleExchanges {
                exchanges,
                again: again.clone(),
            },
        );
    }
    recorded
}

/// The number of recorded samples of a case.
pub fn recorded_samples_of(
    files: &dyn Files,
    folder: &RepoPath,
    agent: &AgentName,
    case: &CaseId,
) -> u32 {
    recorded_count(&recordings(files, folder, agent, case))
}

pub fn recordings(
    files: &dyn Files,
    folder: &RepoPath,
    agent: &AgentName,
    case: &CaseId,
) -> BTreeMap<u32, RepoPath> {
    RecordingPaths::new(folder, agent, case)
        .list(files)
        .unwrap_or_default()
        .into_iter()
        .collect()
}

/// What the user said in a recorded sample; nothing if it has no turns.
pub fn recorded_user(
    files: &dyn Files,
    folder: &RepoPath,
    key: &RunKey,
    sample: u32,
) -> Vec<UserMessage> {
    let recordings = recordings(files, folder, &key.agent, &key.case);
    let source = recordings
        .get(&sample)
        .and_then(|file| files.text(file).ok());
    let run = source.and_then(|source| run_v1::read_run(&source, key, sample).ok());
    let turns = run
        .and_then(|run| turns(&run))
        .map(|observed| observed.turns)
        .unwrap_or_default();
    turns
        .iter()
        .filter_map(|turn| Some(UserMessage::query(turn.user.as_deref()?)))
        .collect()
}

/// Whether a simulated user was asked to do something else in a recording. The agent's requests do not show that: they have what the user said.
fn is_of_another_user(
    files: &dyn Files,
    file: &RepoPath,
    request: &SampleRequest,
    sample: u32,
) -> bool {
    let UserTurns::Simulated(_) = &request.ask.turns else {
        return false;
    };
    let run = files
        .text(file)
        .ok()
        .and_then(|source| run_v1::read_run(&source, &request.key, sample).ok());
    let recorded = run.and_then(|run| run.provenance.input_sha256);
    recorded
        .zip(input_digest(&request.ask, files).ok())
        .is_some_and(|(recorded, current)| current != recorded)
}

fn read_exchanges(
    files: &dyn Files,
    file: &RepoPath,
    again: &str,
) -> Result<RecordedExchanges, String> {
    let source = files
        .text(file)
        .map_err(|problem: Diagnostic| problem.to_string())?;
    recorded_exchanges(&source.text).map_err(|why| match why {
        NoExchanges::NotCaptured => {
            format!("{file} has no exchanges, which `goldgate record` and targets with `capture` keep; {again}")
        }
        NoExchanges::NotCompleted => format!("the run that {file} recorded did not complete; {again}"),
        NoExchanges::Unreadable(why) => format!("the exchanges of {file} cannot be read: {why}"),
    })
}

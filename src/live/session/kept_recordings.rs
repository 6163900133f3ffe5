//! Keeps recordings that are up to date in place of new samples.

use std::collections::BTreeMap;

use serde_json::Value;

use super::LiveSession;
use crate::evaluation::plan::Plan;
use crate::files::Files;
use crate::format::called_target::is_full_name;
use crate::format::run_v1;
use crate::live::recorded_samples::recordings;
use crate::model::{RepoPath, Run, RunProvenance, RunStatus, Target, Transport};
use crate::render::plural;

impl LiveSession<'_> {
    /// Takes the recordings of the deterministic tier that are up to date as the samples of their numbers. Returns notes.
    pub(in crate::live) fn keep_recordings(&mut self, plan: &Plan) -> Vec<String> {
        let mut listed: BTreeMap<usize, BTreeMap<u32, RepoPath>> = BTreeMap::new();
        let mut kept = BTreeMap::new();
        for (index, job) in self.jobs.iter().enumerate() {
            let (run, key) = (self.runs[index], &job.request.key);
            let planned = &self.wanted[run];
            let Some(agent) = planned.loaded.config.agents.get(&key.agent) else {
                continue;
            };
            let Some(folder) = agent
                .deterministic
                .as_ref()
                .and_then(|source| source.recordings())
            else {
                continue;
            };
            let files = listed
                .entry(run)
                .or_insert_with(|| recordings(self.disk, folder, &key.agent, &key.case));
            let Some(source) = files
                .get(&job.request.sample)
                .and_then(|file| self.disk.text(file).ok())
            else {
                continue;
            };
            let Ok(recorded) = run_v1::read_run(&source, key, job.request.sample) else {
                continue;
            };
            let user = planned
                .request
                .ask
                .turns
                .simulated_user()
                .and_then(|user| plan.config.targets.get(&user.target));
            let Some(target) = plan.config.targets.get(&planned.live.target) else {
                continue;
            };
            if is_current(&recorded, &job.origin, target) && is_of_user(&recorded, user) {
                kept.insert(index, source.text);
            }
        }
        let count = kept.len();
        self.kept.extend(kept.keys());
        self.known.extend(kept);
        match count {
            0 => Vec::new(),
            _ => vec![plural(
                count,
                "recording is up to date and was kept",
                "recordings are up to date and were kept",
            )],
        }
    }
}

/// Whether a new sample would be of the same agent on the same input, as far as digests and names can tell.
fn is_current(recorded: &Run, origin: &RunProvenance, target: &Target) -> bool {
    let (old, new) = (&recorded.provenance, &origin.provenance);
    let is_of_model = match &target.transport {
        // A vendor answers with the full name of a model.
        Transport::Model(model) => old
            .model
            .as_ref()
            .is_some_and(|full| is_full_name(full, &model.model)),
        Transport::Command { .. } | Transport::Http(_) => true,
    };
    // What was called says more than the name with which it answered.
    let is_of_target = match old.target_sha256.as_ref().zip(new.target_sha256.as_ref()) {
        Some((old, new)) => old == new,
        None => is_of_model,
    };
    recorded.status == RunStatus::Completed
        && is_same_digest(old.agent_sha256.as_ref(), new.agent_sha256.as_ref())
        && is_same_digest(old.input_sha256.as_ref(), new.input_sha256.as_ref())
        && is_of_target
}

/// A digest that is not known is not the same as another.
fn is_same_digest(old: Option<&String>, new: Option<&String>) -> bool {
    new.is_some() && old == new
}

/// Whether the model that plays the user played it in the recording, if the recording states one.
fn is_of_user(recorded: &Run, user: Option<&Target>) -> bool {
    let Some(Transport::Model(model)) = user.map(|user| &user.transport) else {
        return true;
    };
    let outputs = serde_json::from_str::<Value>(&recorded.outputs).unwrap_or_default();
    outputs["user"]["model"]
        .as_str()
        .is_none_or(|full| is_full_name(full, &model.model))
}

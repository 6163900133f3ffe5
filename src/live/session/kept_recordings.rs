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
            let one = &self.wanted[run];
            let Some(agent) = one.loaded.config.agents.get(&key.agent) else {
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
            let target = |name: &String| plan.config.targets.get(name);
            let user = one
                .request
                .ask
                .turns
                .simulated_user()
                .and_then(|user| target(&user.target));
            let is_current =
                |target| is_current(&recorded, &job.origin, target) && is_of_user(&recorded, user);
            if target(&one.live.target).is_some_and(is_current) {
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
    let (then, now) = (&recorded.provenance, &origin.provenance);
    let is_same = |then: &Option<String>, now: &Option<String>| now.is_some() && then == now;
    let is_of_model = match &target.transport {
        // A vendor answers with the full name of a model.
        Transport::Model(model) => then
            .model
            .as_ref()
            .is_some_and(|full| is_full_name(full, &model.model)),
        Transport::Command { .. } | Transport::Http(_) => true,
    };
    // What was called says more than the name with which it answered.
    let is_of_target = match then.target_sha256.as_ref().zip(now.target_sha256.as_ref()) {
        Some((then, now)) => then == now,
        None => is_of_model,
    };
    recorded.status == RunStatus::Completed
        && is_same(&then.agent_sha256, &now.agent_sha256)
        && is_same(&then.input_sha256, &now.input_sha256)
        && is_of_target
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

//! New recordings of a model that nothing in the change names. A program takes its model from its code, or from the environment of whoever
//! recorded it, which the change does not contain.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::agent_files::agent_files;
use super::files::text;
use super::found::ChangeCollector;
use super::present_calls::PresentCalls;
use super::recording_change::{CaseSample, RecordedFile};
use super::recording_comparison::RecordingComparison;
use crate::files::{FileMatch, Files};
use crate::model::{Agent, RepoPath, Weight};

impl RecordingComparison<'_> {
    /// Reports new recordings of a model of which the base commit has none, unless a changed file of the agent or the changed config names it.
    /// Where the config has the model, see [`Self::other_calls`].
    pub fn unnamed_models(&self, found: &mut ChangeCollector, after: &Agent) {
        if self.owner.calls.as_ref().is_some_and(PresentCalls::has_model) {
            return;
        }
        let models = |files, recorded: Option<&RecordedFile>| models_of(files, &recorded?.file);
        let known = LazyCell::new(|| -> BTreeSet<String> {
            self.old.values().filter_map(|recorded| models(self.sides.base, Some(recorded))).flatten().collect()
        });
        let mut made: BTreeMap<String, BTreeSet<&CaseSample>> = BTreeMap::new();
        for key in self.made() {
            for model in models(self.sides.head, self.new.get(key)).into_iter().flatten() {
                if !known.is_empty() && !known.contains(&model) {
                    made.entry(model).or_default().insert(key);
                }
            }
        }
        if made.is_empty() {
            return;
        }
        let changed = self.changed_texts(after);
        for (model, keys) in made.into_iter().filter(|(model, _)| !changed.iter().any(|text| text.contains(model))) {
            let keys: Vec<&CaseSample> = keys.into_iter().collect();
            let what = format!(
                "made with the model {model}, which no recording of the base commit has and no changed file of the agent names"
            );
            let next = "if the agent calls it from now on, name it in one of its files; else record them with the agent's own model";
            self.add_line(found, &keys, Weight::NeedsApproval, format!("{}; {next}", self.counted(&keys, &what)));
        }
    }

    /// The texts of the agent's changed files and of the changed config, in lower case.
    fn changed_texts(&self, after: &Agent) -> Vec<String> {
        let files = agent_files(self.sides.head, after).ok().flatten().map(|(files, _)| files).unwrap_or_default();
        let all = files.values().chain([&self.owner.config.file]);
        let is_changed = |file: &&RepoPath| self.sides.base.likeness(file, file) != FileMatch::Same;
        all.filter(is_changed).filter_map(|file| Some(text(self.sides.head, file)?.text.to_lowercase())).collect()
    }
}

/// The models that a recording was made with, without their versions: those that its requests name, else the one that it states.
fn models_of(files: &dyn Files, recording: &RepoPath) -> Option<BTreeSet<String>> {
    let run: Value = serde_json::from_str(&text(files, recording)?.text).ok()?;
    let exchanges = run["intermediate"]["exchanges"].as_array().into_iter().flatten();
    let asked: BTreeSet<&str> =
        exchanges.filter_map(|exchange| exchange.pointer("/request/body/model")?.as_str()).collect();
    let stated = run["provenance"]["model"].as_str().filter(|_| asked.is_empty());
    Some(asked.into_iter().chain(stated).map(family).collect())
}

/// The name of a model without its vendor and its date or version, in lower case.
fn family(model: &str) -> String {
    let name = model.rsplit_once('/').map_or(model, |(_, name)| name);
    let is_version =
        |part: &str| part == "latest" || (part.len() >= 3 && part.bytes().all(|byte| byte.is_ascii_digit()));
    let version = name.match_indices(['-', '@', ':']).find(|(at, _)| {
        let rest = &name[at + 1..];
        is_version(rest.split(['-', '@', ':']).next().unwrap_or(rest))
    });
    name[..version.map_or(name.len(), |(at, _)| at)].to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::family;

    #[test]
    fn a_version_is_no_other_model() {
        for (model, expected) in [
            ("m-big", "m-big"),
            ("m-big-2026-01-01", "m-big"),
            ("m-big-20260101", "m-big"),
            ("m-big@001", "m-big"),
            ("vendor/M-Big:latest", "m-big"),
            ("m-4-70b", "m-4-70b"),
            ("m-4-0613-preview", "m-4"),
            ("m-", "m-"),
            ("", ""),
        ] {
            assert_eq!(family(model), expected, "{model}");
        }
    }
}

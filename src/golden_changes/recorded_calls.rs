//! New recordings that state another target or model than the agent calls.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use super::found::ChangeCollector;
use super::present_calls::{OtherCall, PresentCalls};
use super::recording_change::{CaseSample, RecordedFile, digest};
use super::recording_comparison::RecordingComparison;
use crate::files::Files;
use crate::format::called_target::is_full_name;
use crate::format::lenient;
use crate::model::Weight;

impl RecordingComparison<'_> {
    /// Reports new recordings of another target or model than the agent calls, unless those of the base commit are of it, too: a vendor may
    /// answer with another name for its model. Where the base commit has no recordings, or the config changed the model and its server answers with
    /// other names, nothing tells such names apart.
    pub fn other_calls(&self, found: &mut ChangeCollector) {
        let Some(present) = &self.owner.calls else {
            return;
        };
        let known = LazyCell::new(|| -> BTreeSet<OtherCall> {
            let all = self
                .old
                .iter()
                .flat_map(|(key, recorded)| self.calls_of(present, self.sides.base, key, recorded));
            all.collect()
        });
        let mut made: BTreeMap<OtherCall, BTreeSet<&CaseSample>> = BTreeMap::new();
        for key in self.made() {
            let Some(recorded) = self.new.get(key) else {
                continue;
            };
            for other in self.calls_of(present, self.sides.head, key, recorded) {
                // The agent of the base commit may have called a target that the present one does not.
                let is_of_before =
                    matches!(other, OtherCall::Target(_)) && !self.owner.targets.keeps_own();
                if is_of_before || !known.contains(&other) {
                    made.entry(other).or_default().insert(key);
                }
            }
        }
        let has_own_names = LazyCell::new(|| self.answers_by_name());
        let is_doubtful = |other: &OtherCall, keys: &BTreeSet<&CaseSample>| match other {
            OtherCall::Target(_) => true,
            OtherCall::Model(model) => {
                let targets = &self.owner.targets;
                let is_former = || {
                    targets
                        .former_model()
                        .is_some_and(|former| is_full_name(model, former))
                };
                targets.keeps_own()
                    || present.is_of_other_target(model)
                    || is_former()
                    || *has_own_names
            }
            OtherCall::User(model) => {
                let mut users = keys.iter().filter_map(|key| self.owner.user(key));
                let is_changed = users.all(|user| self.owner.targets.changes_user(&user));
                !is_changed || present.is_of_other_target(model)
            }
        };
        for (other, keys) in made {
            let weight = match !self.old.is_empty() && is_doubtful(&other, &keys) {
                true => Weight::NeedsApproval,
                false => Weight::Listed,
            };
            let keys: Vec<&CaseSample> = keys.into_iter().collect();
            self.add_line(
                found,
                &keys,
                weight,
                self.counted(&keys, &present.words(&other)),
            );
        }
    }

    /// Whether the recordings of the base commit state models by the name that the config had for the agent's. Where a server answers with other
    /// names, nothing tells what the name of another model is.
    fn answers_by_name(&self) -> bool {
        let Some(former) = self.owner.targets.former_model() else {
            return false;
        };
        let texts = self
            .old
            .values()
            .filter_map(|recorded| self.sides.base.text(&recorded.file).ok());
        let models: BTreeSet<String> = texts
            .filter_map(|source| digest(&source.text, "model"))
            .collect();
        !models.is_empty() && models.iter().all(|model| is_full_name(model, former))
    }

    fn calls_of(
        &self,
        present: &PresentCalls,
        files: &dyn Files,
        key: &CaseSample,
        recorded: &RecordedFile,
    ) -> BTreeSet<OtherCall> {
        let run = files
            .text(&recorded.file)
            .ok()
            .and_then(|source| lenient::whole(&source.text));
        run.map_or_else(BTreeSet::new, |run| {
            present.other(&run, || self.owner.user(key))
        })
    }
}

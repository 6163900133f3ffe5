//! New recordings that state another target or model than the agent calls.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::found::ChangeCollector;
use super::present_calls::{OtherCall, PresentCalls};
use super::recording_change::{CaseSample, RecordedFile, RecordingChange};
use super::recording_comparison::RecordingComparison;
use crate::files::Files;
use crate::model::Weight;

impl RecordingComparison<'_> {
    /// Reports new recordings of another target or model than the agent calls, unless those of the base commit are of it, too: a vendor may
    /// answer with another name for its model. Where the base commit has no recordings, nothing tells such names apart.
    pub fn other_calls(&self, found: &mut ChangeCollector) {
        let Some(present) = &self.owner.calls else { return };
        let known = LazyCell::new(|| -> BTreeSet<OtherCall> {
            let all =
                self.old.iter().flat_map(|(key, recorded)| self.calls_of(present, self.sides.base, key, recorded));
            all.collect()
        });
        let mut made: BTreeMap<OtherCall, BTreeSet<&CaseSample>> = BTreeMap::new();
        let new = self.of(&[RecordingChange::Content, RecordingChange::Added]);
        for key in new.into_iter().chain(self.uncompared.iter().copied()) {
            let Some(recorded) = self.new.get(key) else { continue };
            for other in self.calls_of(present, self.sides.head, key, recorded) {
                // The agent of the base commit may have called a target that the present one does not.
                let is_of_before = matches!(other, OtherCall::Target(_)) && !self.owner.targets.keeps_own();
                if is_of_before || !known.contains(&other) {
                    made.entry(other).or_default().insert(key);
                }
            }
        }
        let weight = match self.old.is_empty() {
            true => Weight::Listed,
            false => Weight::NeedsApproval,
        };
        for (other, keys) in made {
            let keys: Vec<&CaseSample> = keys.into_iter().collect();
            self.add_line(found, &keys, weight, self.counted(&keys, &present.words(&other)));
        }
    }

    fn calls_of(
        &self,
        present: &PresentCalls,
        files: &dyn Files,
        key: &CaseSample,
        recorded: &RecordedFile,
    ) -> BTreeSet<OtherCall> {
        let run = files.text(&recorded.file).ok().and_then(|source| serde_json::from_str::<Value>(&source.text).ok());
        run.map_or_else(BTreeSet::new, |run| present.other(&run, || self.owner.user(key)))
    }
}

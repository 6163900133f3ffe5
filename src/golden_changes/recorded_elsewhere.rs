//! Recordings that the base commit has under another name: from another folder, case or agent. A recording without a digest of the present agent
//! that only changed its place was not made again.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::recording_change::{CaseSample, RecordingChange};
use super::recording_comparison::RecordingComparison;
use crate::format::lenient;
use crate::format::recording_layout::case_and_sample;
use crate::model::RepoPath;

/// The fewest bytes of outputs that are hardly given twice: two short answers may be the same.
const LONG: usize = 24;

/// Where the base commit has a recording of other content than before.
struct PlaceElsewhere {
    /// The agent's folder of recordings.
    folder: RepoPath,
    case: String,
}

impl RecordingComparison<'_> {
    /// The recordings whose content the base commit has elsewhere, of one case at most. What its agents gave for several cases is a usual answer, unless
    /// all recordings are those of another folder.
    pub fn recorded_elsewhere(&self) -> BTreeSet<&CaseSample> {
        let is_new = |key: &CaseSample| {
            let change = self.changes.get(key);
            matches!(change, Some(RecordingChange::Content | RecordingChange::Added)) && self.new.contains_key(key)
        };
        let changed = self.changes.keys().filter(|key| is_new(key));
        let places: BTreeMap<&CaseSample, Vec<PlaceElsewhere>> =
            changed.map(|key| (key, self.places_elsewhere(key))).collect();
        let are_of = |folder: &RepoPath| {
            let is_of = |(key, places): (&&CaseSample, &Vec<PlaceElsewhere>)| {
                places.iter().any(|place| place.folder == *folder && place.case == key.0)
            };
            places.len() > 1 && places.iter().all(is_of)
        };
        let first = places.values().next().map(Vec::as_slice).unwrap_or_default();
        if first.iter().any(|place| are_of(&place.folder)) {
            return places.into_keys().collect();
        }
        let is_of_one = |places: &[PlaceElsewhere]| {
            let cases: BTreeSet<&str> =
                places.iter().map(|place| place.case.as_str()).filter(|case| !case.is_empty()).collect();
            !places.is_empty() && cases.len() <= 1
        };
        places.into_iter().filter(|(_, places)| is_of_one(places)).map(|(key, _)| key).collect()
    }

    /// Where the base commit has the content of a recording without a digest of the present agent, if another run hardly has the same; empty if
    /// that is its own place.
    fn places_elsewhere(&self, key: &CaseSample) -> Vec<PlaceElsewhere> {
        let recorded = self.new.get(key).filter(|_| !self.is_proved(key));
        let Some((recorded, source)) = recorded.and_then(|one| Some((one, self.sides.head.text(&one.file).ok()?)))
        else {
            return Vec::new();
        };
        if !is_telling(&lenient::whole(&source.text).unwrap_or_default()) {
            return Vec::new();
        }
        let own = self.old.get(key).map(|before| &before.file);
        let places = self.owner.recordings.contents.like(&recorded.file, &source.text);
        if places.iter().any(|file| Some(file) == own) {
            return Vec::new();
        }
        places.iter().map(|file| self.place_of(file)).collect()
    }

    /// The place of a file of the base commit. The case of one that is no recording is empty.
    fn place_of(&self, file: &RepoPath) -> PlaceElsewhere {
        let agents = self.owner.config_before.suites.iter().flat_map(|suite| &suite.agents);
        let mut folders = agents.flat_map(|(name, agent)| agent.recordings().map(|folder| folder.child(name.as_str())));
        let found = folders.find_map(|folder| Some(PlaceElsewhere { case: case_below(file, &folder)?, folder }));
        found.unwrap_or_else(|| PlaceElsewhere { folder: file.parent(), case: String::new() })
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

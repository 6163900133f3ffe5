//! Recordings that the base commit has under another name: from another folder, case or agent. A recording without a digest of the present agent
//! that only changed its place was not made again.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::recording_change::{CaseSample, RecordingChange};
use super::recording_comparison::RecordingComparison;
use crate::format::lenient;
use crate::format::recording_layout::case_and_sample;
use crate::model::RepoPath;

/// The fewest letters of outputs that are hardly given twice: two short answers may be the same.
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
        let changed = self
            .of(&[RecordingChange::Content, RecordingChange::Added])
            .into_iter();
        let changed = changed.filter(|key| self.new.contains_key(*key));
        let places: BTreeMap<&CaseSample, Vec<PlaceElsewhere>> = changed
            .map(|key| (key, self.places_elsewhere(key)))
            .collect();
        let are_of = |folder: &RepoPath| {
            let is_of = |(key, places): (&&CaseSample, &Vec<PlaceElsewhere>)| {
                places
                    .iter()
                    .any(|place| place.folder == *folder && place.case == key.0)
            };
            places.len() > 1 && places.iter().all(is_of)
        };
        let first = places
            .values()
            .next()
            .map(Vec::as_slice)
            .unwrap_or_default();
        if first.iter().any(|place| are_of(&place.folder)) {
            return places.into_keys().collect();
        }
        let is_of_one = |places: &[PlaceElsewhere]| {
            let cases: BTreeSet<&str> = places
                .iter()
                .map(|place| place.case.as_str())
                .filter(|case| !case.is_empty())
                .collect();
            !places.is_empty() && cases.len() <= 1
        };
        places
            .into_iter()
            .filter(|(_, places)| is_of_one(places))
            .map(|(key, _)| key)
            .collect()
    }

    /// Where the base commit has the content of a recording without a digest of the present agent, if another run hardly has the same; empty if
    /// that is its own place.
    fn places_elsewhere(&self, key: &CaseSample) -> Vec<PlaceElsewhere> {
        let recorded = self.new.get(key).filter(|_| !self.is_proved(key));
        let Some((recorded, source)) =
            recorded.and_then(|one| Some((one, self.sides.head.text(&one.file).ok()?)))
        else {
            return Vec::new();
        };
        if lenient::whole(&source.text)
            .as_ref()
            .and_then(evidence)
            .is_none()
        {
            return Vec::new();
        }
        let own = self.old.get(key).map(|before| &before.file);
        let places =
            self.owner
                .recordings
                .contents
                .like(self.owner.agent, &recorded.file, &source.text);
        if places.iter().any(|file| Some(file) == own) {
            return Vec::new();
        }
        places.iter().map(|file| self.place_of(file)).collect()
    }

    /// The place of a file of the base commit. The case of another file is empty.
    fn place_of(&self, file: &RepoPath) -> PlaceElsewhere {
        let agents = self
            .owner
            .config_before
            .suites
            .iter()
            .flat_map(|suite| &suite.agents);
        let mut folders = agents
            .flat_map(|(name, agent)| agent.recordings().map(|folder| folder.child(name.as_str())));
        let found = folders.find_map(|folder| {
            Some(PlaceElsewhere {
                case: case_below(file, &folder)?,
                folder,
            })
        });
        found.unwrap_or_else(|| PlaceElsewhere {
            folder: file.parent(),
            case: String::new(),
        })
    }
}

/// The case of a recording in an agent's folder; `None` for another file.
pub fn case_below(file: &RepoPath, folder: &RepoPath) -> Option<String> {
    let name = file
        .as_str()
        .strip_prefix(folder.as_str())?
        .strip_prefix('/')?;
    case_and_sample(name).map(|(case, _)| case.to_owned())
}

/// What shows that another run hardly has the same content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evidence {
    /// A measured time, or a date.
    Measures,
    /// Long texts in its outputs alone: an agent that is stable gives them again.
    Texts,
}

/// What tells a recording from those of other runs; `None` if nothing does.
pub fn evidence(run: &Value) -> Option<Evidence> {
    // A constant measures nothing: it may be 0, or a round number.
    let is_measured = |latency: &Value| {
        latency
            .as_f64()
            .is_some_and(|latency| latency % 10.0 != 0.0)
    };
    let has_latency = ["total_latency_ms", "totalLatency"]
        .iter()
        .any(|key| is_measured(&run["metrics"][*key]));
    match (
        has_latency || run["provenance"]["recorded_at"].is_string(),
        letters(&run["outputs"]) >= LONG,
    ) {
        (true, _) => Some(Evidence::Measures),
        (false, true) => Some(Evidence::Texts),
        (false, false) => None,
    }
}

/// The number of letters and digits in the values of outputs, also in JSON within a text.
fn letters(outputs: &Value) -> usize {
    match outputs {
        Value::Null => 0,
        Value::String(text) => match lenient::embedded(outputs) {
            Value::String(_) => text.chars().filter(|char| char.is_alphanumeric()).count(),
            inner => letters(&inner),
        },
        Value::Bool(_) | Value::Number(_) => outputs.to_string().len(),
        Value::Array(list) => list.iter().map(letters).sum(),
        Value::Object(fields) => fields.values().map(letters).sum(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Evidence, evidence};

    #[test]
    fn a_usual_answer_tells_no_run_from_another() {
        let text = "The price is 17 euros, without tax.";
        for (run, expected) in [
            (
                json!({ "outputs": { "text": text } }),
                Some(Evidence::Texts),
            ),
            (
                json!({ "outputs": { "text": "refund" }, "metrics": { "total_latency_ms": 1234 } }),
                Some(Evidence::Measures),
            ),
            (
                json!({ "outputs": { "text": "refund" }, "metrics": { "totalLatency": 12.5 } }),
                Some(Evidence::Measures),
            ),
            (
                json!({ "outputs": { "text": text }, "metrics": { "total_latency_ms": 10 } }),
                Some(Evidence::Texts),
            ),
            (
                json!({ "outputs": { "text": "refund" }, "metrics": { "total_latency_ms": 0 } }),
                None,
            ),
            (
                json!({ "outputs": { "findings": [], "gaps": [], "summary": null } }),
                None,
            ),
            (
                json!({ "outputs": { "text": "{\"findings\": [], \"gaps\": [], \"a\": false}" } }),
                None,
            ),
        ] {
            assert_eq!(evidence(&run), expected, "{run}");
        }
    }
}

//! How recordings differ from those of the base commit.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::{Map, Number, Value};

use super::Sides;
use crate::diag::{Diagnostic, ReadFailure};
use crate::files::{FileMatch, FilePaths, Files, SourceText, sha256_hex};
use crate::format::recording_layout::case_and_sample;
use crate::format::{json, lenient, run_v1};
use crate::model::{CALL_LISTS, RepoPath, RunStatus};
use crate::suites::whole_numbers;
use crate::text::{first_of, named};

/// A recording: its path below the agent's folder, and its whole path.
pub struct RecordedFile {
    /// The path below the agent's folder.
    pub name: String,
    /// The whole path.
    pub file: RepoPath,
}

/// The case and the sample number of a recording.
pub type CaseSample = (String, u32);

/// Recordings by case and sample.
pub type Recordings = BTreeMap<CaseSample, RecordedFile>;

/// The recordings in an agent's folder. `{case}.json` and `{case}/0.json` are the same sample.
pub fn recordings(files: FilePaths) -> Recordings {
    let of = |(name, file): (String, RepoPath)| {
        let (case, sample) = case_and_sample(&name)?;
        Some(((case.to_owned(), sample), RecordedFile { name, file }))
    };
    files.into_iter().filter_map(of).collect()
}

/// How a recording differs, for a case that both sides have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordingChange {
    /// Not at all, or only in its form.
    Same,
    /// Only in the votes of judges, which affect no gate.
    Votes,
    /// Only in the digests of the agent and the input.
    Digests,
    /// It is an additional sample of its case.
    Added,
    /// In what the agent did, or it was removed.
    Content,
    /// Unknown, because one of the two cannot be read.
    Unread,
}

/// How the recordings of cases that both sides have differ.
pub fn changes(
    sides: &Sides<'_>,
    before: &Recordings,
    after: &Recordings,
) -> BTreeMap<CaseSample, RecordingChange> {
    let cases = |all: &'_ Recordings| -> BTreeSet<String> {
        all.keys().map(|(case, _)| case.clone()).collect()
    };
    let keys: BTreeSet<&CaseSample> = before.keys().chain(after.keys()).collect();
    let (old, new) = (
        LazyCell::new(|| cases(before)),
        LazyCell::new(|| cases(after)),
    );
    let change = |key: &CaseSample| match (before.get(key), after.get(key)) {
        (Some(before), Some(after)) => Some(difference(sides, &before.file, &after.file)),
        (None, Some(_)) => old.contains(&key.0).then_some(RecordingChange::Added),
        (_, None) => new.contains(&key.0).then_some(RecordingChange::Content),
    };
    keys.into_iter()
        .filter_map(|key| Some((key.clone(), change(key)?)))
        .collect()
}

pub fn difference(sides: &Sides<'_>, before: &RepoPath, after: &RepoPath) -> RecordingChange {
    if sides.base.likeness(before, after) == FileMatch::Same {
        return RecordingChange::Same;
    }
    let (old, new) = match (sides.base.text(before), sides.head.text(after)) {
        (Ok(old), Ok(new)) => (old, new),
        (Err(problem), _) if problem.is_read_failure(ReadFailure::Unreadable) => {
            return RecordingChange::Unread;
        }
        (Err(_), _) | (_, Err(_)) => return RecordingChange::Content,
    };
    // Of a duplicate key only one value is read, so a file with duplicate keys is compared by its text.
    let whole = |source: &SourceText| json::golden::<Value>(source).ok();
    if whole(&old)
        .zip(whole(&new))
        .is_some_and(|(old, new)| old == new)
    {
        return RecordingChange::Same;
    }
    if run_v1::differ_in_votes_alone(&old.text, &new.text) {
        return RecordingChange::Votes;
    }
    match MadeRun::of(&old.text).zip(MadeRun::of(&new.text)) {
        Some((old, new)) if new.has_only_another_stamp(&old) => RecordingChange::Same,
        Some((old, new)) if new.may_be(&old) => RecordingChange::Digests,
        Some(_) | None => RecordingChange::Content,
    }
}

/// The recordings that the base commit names and does not have: links to files that a job downloads.
pub fn missing_on_base(
    sides: &Sides<'_>,
    before: &Recordings,
    after: &Recordings,
    changes: &BTreeMap<CaseSample, RecordingChange>,
) -> BTreeSet<CaseSample> {
    let is_missing = |key: &CaseSample| {
        after.contains_key(key)
            && before
                .get(key)
                .is_some_and(|old| sides.base.has_file(&old.file, None))
    };
    let changed = changes
        .iter()
        .filter(|(_, change)| **change == RecordingChange::Content);
    changed
        .map(|(key, _)| key)
        .filter(|key| is_missing(key))
        .cloned()
        .collect()
}

/// Whether two recordings differ in an answer or in a call, and not only in measures or in the results of tools.
pub fn answers_otherwise(sides: &Sides<'_>, before: &RepoPath, after: &RepoPath) -> bool {
    let of = |source: Result<SourceText, Diagnostic>| -> Option<(Value, Vec<[Value; 2]>)> {
        let run = lenient::whole(&source.ok()?.text)?;
        let lists = CALL_LISTS
            .iter()
            .filter_map(|key| run["intermediate"][*key].as_array())
            .flatten();
        let calls = lists
            .map(|call| [call["name"].clone(), call["arguments"].clone()])
            .collect();
        Some((run["outputs"].clone(), calls))
    };
    of(sides.base.text(before)) != of(sides.head.text(after))
}

/// The recordings that changed, but whose content their case had on the base commit under some number: they were not recorded again.
pub fn copies(
    sides: &Sides<'_>,
    before: &Recordings,
    after: &Recordings,
    changes: &BTreeMap<CaseSample, RecordingChange>,
) -> BTreeSet<CaseSample> {
    let read = |files: &dyn Files, recorded: &RecordedFile| {
        MadeRun::of(&files.text(&recorded.file).ok()?.text)
    };
    let mut known: BTreeMap<String, Vec<MadeRun>> = BTreeMap::new();
    let mut is_copy = |key: &CaseSample| {
        let Some(now) = after
            .get(key)
            .and_then(|recorded| read(sides.head, recorded))
        else {
            return false;
        };
        let known = known.entry(key.0.clone()).or_insert_with(|| {
            let of_case = before.range((key.0.clone(), 0)..=(key.0.clone(), u32::MAX));
            of_case
                .filter_map(|(_, recorded)| read(sides.base, recorded))
                .collect()
        });
        known.iter().any(|before| now.may_be(before))
    };
    let other = |change| matches!(change, RecordingChange::Content | RecordingChange::Added);
    changes
        .iter()
        .filter(|(key, change)| other(**change) && is_copy(key))
        .map(|(key, _)| key.clone())
        .collect()
}

/// A count of recordings of an agent, what is said of them, and the first names.
pub fn counted_recordings(names: &[&str], agent: &str, what: &str) -> String {
    let noun = if names.len() == 1 {
        "recording"
    } else {
        "recordings"
    };
    format!(
        "{} {noun} of `{agent}` {what}: {}",
        names.len(),
        first_of(names)
    )
}

/// The digest that a recording has under this key of its provenance.
pub fn digest(text: &str, key: &str) -> Option<String> {
    let run = lenient::whole(text)?;
    run["provenance"][key].as_str().map(str::to_owned)
}

/// When a run was made, as its recording states.
pub fn recorded_at(text: &str) -> Option<Timestamp> {
    digest(text, "recorded_at")?.parse().ok()
}

/// What a run made, as a digest, and when.
pub struct RunContent {
    /// The digest.
    pub sha256: String,
    at: Option<Timestamp>,
}

impl RunContent {
    /// `None` if the text is not a recording.
    pub fn of(text: &str) -> Option<Self> {
        let MadeRun {
            content,
            at,
            unstamped: _,
        } = MadeRun::of(text)?;
        // The keys of an object are sorted.
        Some(Self {
            sha256: sha256_hex(content.to_string().as_bytes()),
            at,
        })
    }

    /// Whether both state a date, and this one is later.
    pub fn is_later_than(&self, other: &Self) -> bool {
        is_later(self.at, other.at)
    }
}

/// Whether both dates are known, and the first one is later.
fn is_later(now: Option<Timestamp>, before: Option<Timestamp>) -> bool {
    now.zip(before).is_some_and(|(now, before)| now > before)
}

/// What a run made, and when.
struct MadeRun {
    content: Value,
    at: Option<Timestamp>,
    /// All of it but when and from which commit it was made.
    unstamped: Value,
}

/// The keys of the provenance that differ in every new recording.
const STAMP: [&str; 3] = ["recorded_at", "commit", "run"];

impl MadeRun {
    fn of(text: &str) -> Option<Self> {
        let mut run = lenient::whole(text)?;
        let content = content(&run);
        let at = run["provenance"]["recorded_at"]
            .as_str()
            .and_then(|at| at.parse().ok());
        if let Some(provenance) = run.get_mut("provenance").and_then(Value::as_object_mut) {
            provenance.retain(|key, _| !STAMP.contains(&key.as_str()));
        }
        Some(Self {
            content,
            at,
            unstamped: run,
        })
    }

    /// Whether nothing shows that this is another run: it made the same, and was not made later. Measures that only one of the two states may have
    /// been written into it afterwards.
    fn may_be(&self, before: &Self) -> bool {
        let is_same = || {
            let answers = ["outputs", "intermediate", "status"]
                .iter()
                .all(|key| self.content[key] == before.content[key]);
            answers && self.has_same_measures(before)
        };
        !is_later(self.at, before.at) && (self.content == before.content || is_same())
    }

    /// Whether both state the same latency or the same date, and of no measure another value.
    fn has_same_measures(&self, before: &Self) -> bool {
        let (measures, known) = (&self.content["metrics"], &before.content["metrics"]);
        let is_same =
            |(name, value): (&String, &Value)| known.get(name).is_none_or(|known| known == value);
        let has_same_latency = measures
            .get(LATENCY)
            .is_some_and(|latency| known.get(LATENCY) == Some(latency));
        let has_same_date = self.at.is_some() && self.at == before.at;
        (has_same_latency || has_same_date)
            && measures.as_object().into_iter().flatten().all(is_same)
    }

    /// Whether the same agent, by its digest, made the same at another time.
    fn has_only_another_stamp(&self, before: &Self) -> bool {
        self.unstamped["provenance"]["fingerprint"].is_string()
            && self.unstamped == before.unstamped
    }
}

/// What a run made: its status, outputs, steps and measures, whatever a script wrote around them. Empty values, the form of numbers, the
/// spelling of keys, and white space around texts do not count: a script can add them to a recording that nobody made again.
fn content(run: &Value) -> Value {
    let mut made = Map::new();
    for key in ["outputs", "intermediate", "metrics"] {
        let mut value = run.get(key).cloned().unwrap_or_default();
        match key {
            "metrics" => measures(&mut value),
            "intermediate" => steps(&mut value),
            _ => {
                read_embedded(&mut value);
                value = without_wrapping(value);
            }
        }
        leave_out_empty(&mut value);
        whole_numbers(&mut value);
        made.extend((!is_empty(&value)).then(|| (key.to_owned(), value)));
    }
    // Only completed runs state no status.
    let status = run
        .get("status")
        .filter(|status| !status.is_null())
        .cloned();
    made.insert(
        "status".to_owned(),
        status.unwrap_or_else(|| RunStatus::Completed.as_str().into()),
    );
    Value::Object(made)
}

/// Leaves out the empty values of objects, in the one spelling of their keys that is not in camel case.
fn leave_out_empty(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            let inner = std::mem::take(fields).into_iter().map(|(key, mut value)| {
                leave_out_empty(&mut value);
                (snake_case(&key), value)
            });
            fields.extend(inner.filter(|(_, value)| !is_empty(value)));
        }
        Value::Array(list) => list.iter_mut().for_each(leave_out_empty),
        Value::String(text) if text.trim() != text => *text = text.trim().to_owned(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(fields) => fields.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::String(text) => text.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

fn snake_case(key: &str) -> String {
    let mut snake = String::with_capacity(key.len());
    for letter in key.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() && !snake.ends_with(['_', ' ']) {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

/// JSON within a text of the outputs may be written otherwise.
fn read_embedded(value: &mut Value) {
    match value {
        Value::Object(fields) => fields.values_mut().for_each(read_embedded),
        Value::Array(list) => list.iter_mut().for_each(read_embedded),
        Value::String(_) => *value = lenient::embedded(value),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Outputs that are one object as the text, or as they are.
fn without_wrapping(outputs: Value) -> Value {
    match outputs {
        Value::Object(mut fields)
            if fields.len() == 1 && fields.get("text").is_some_and(Value::is_object) =>
        {
            fields.remove("text").unwrap_or_default()
        }
        outputs => outputs,
    }
}

/// The steps of a run are lists and objects; another value among them is a note.
fn steps(value: &mut Value) {
    if let Value::Object(fields) = value {
        let is_steps = |value: &Value| match value {
            Value::Array(steps) => steps.iter().any(Value::is_object),
            value => value.is_object(),
        };
        fields.retain(|_, value| is_steps(value));
    }
}

/// The measure that hardly two runs share.
const LATENCY: &str = "total_latency_ms";

/// Measures as numbers, under one name; one of 0 is none, and so is what has no number.
fn measures(value: &mut Value) {
    let Value::Object(fields) = value else { return };
    if let Some(latency) = fields.remove("totalLatency") {
        fields.entry(LATENCY).or_insert(latency);
    }
    for measure in fields.values_mut() {
        if let Some(number) = measure
            .as_str()
            .and_then(|text| serde_json::from_str::<Number>(text.trim()).ok())
        {
            *measure = Value::Number(number);
        }
        let is_measure = measure.is_number()
            || measure
                .as_object()
                .is_some_and(|all| all.values().all(Value::is_number));
        if measure.as_f64() == Some(0.0) || !is_measure {
            *measure = Value::Null;
        }
    }
}

/// The targets and models in the provenance of recordings: ` (recorded by …)`; empty if none is recorded.
pub fn recorded_by<'a>(
    files: &dyn Files,
    recordings: impl Iterator<Item = &'a RecordedFile>,
) -> String {
    let sources = recordings.filter_map(|recording| {
        let run = lenient::whole(&files.text(&recording.file).ok()?.text)?;
        let text = |key: &str| run.get("provenance")?.get(key)?.as_str().map(str::to_owned);
        let parts: Vec<String> = [text("target"), text("model")]
            .into_iter()
            .flatten()
            .collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    });
    let sources: Vec<String> = sources.collect::<BTreeSet<_>>().into_iter().collect();
    if sources.is_empty() {
        String::new()
    } else {
        format!(" (recorded by {})", named(&sources))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::MadeRun;

    fn content(text: &str) -> Value {
        super::content(&serde_json::from_str(text).unwrap())
    }

    #[test]
    fn a_recording_that_is_only_written_otherwise_has_the_same_content() {
        let run =
            r#"{"status": "completed", "outputs": {"a": [1]}, "metrics": {"total_latency_ms": 2}}"#;
        for other in [
            r#"{"status": "completed", "outputs": {"a": [1.0], "b": null}, "metrics": {"total_latency_ms": 2e0}}"#,
            r#"{"schema": "goldgate.run/1", "agent": "a", "case": "c", "sample": 3, "status": "completed", "error": null, "inputs": {},
                "notes": "x", "outputs": {"a": [1]}, "intermediate": null, "metrics": {"total_latency_ms": 2, "cost_usd": null},
                "provenance": {"commit": "abc", "fingerprint": "f"}}"#,
            r#"{"intermediate": {}, "outputs": {"a": [1]}, "metrics": {"total_latency_ms": 2}}"#,
            r#"{"intermediate": {"toolCalls": [], "events": []}, "outputs": {"a": [1], "b": [], "c": " "}, "metrics": {"totalLatency": "2",
                "cost_usd": 0, "tokens_per_node": {}}}"#,
            r#"{"status": "completed", "outputs": {"a": [1]}, "metrics": {"total_latency_ms": 2, "note": "seen"},
                "intermediate": {"note": "seen"}}"#,
        ] {
            assert_eq!(content(run), content(other), "{other}");
        }
        for other in [
            run.replace("2}", "3}"),
            run.replace("[1]", "[1, null]"),
            run.replace("completed", "timeout"),
            run.replace(
                "\"metrics\"",
                "\"intermediate\": {\"tool_calls\": [{}]}, \"metrics\"",
            ),
        ] {
            assert_ne!(content(run), content(&other), "{other}");
        }
    }

    #[test]
    fn a_measure_that_is_added_shows_no_other_run() {
        let run = |text: &str, at: Option<&str>, metrics: Value| {
            let run = json!({ "outputs": { "text": text }, "metrics": metrics, "provenance": { "recorded_at": at } });
            MadeRun::of(&run.to_string()).unwrap()
        };
        let at = Some("2026-01-01T00:00:00Z");
        let old = run("{\"a\": 1}", None, json!({ "total_latency_ms": 1234 }));
        for (new, expected) in [
            (
                run(
                    "{\"a\":1}",
                    None,
                    json!({ "total_latency_ms": 1234, "cost_usd": 0.1 }),
                ),
                true,
            ),
            (
                run(
                    "{\"a\": 2}",
                    None,
                    json!({ "total_latency_ms": 1234, "cost_usd": 0.1 }),
                ),
                false,
            ),
            (
                run(
                    "{\"a\": 1}",
                    None,
                    json!({ "total_latency_ms": 1235, "cost_usd": 0.1 }),
                ),
                false,
            ),
            (run("{\"a\": 1}", None, json!({ "cost_usd": 0.1 })), false),
            (
                MadeRun::of(r#"{"outputs": {"a": 1}, "metrics": {"total_latency_ms": 1234}}"#)
                    .unwrap(),
                true,
            ),
        ] {
            assert_eq!(new.may_be(&old), expected, "{}", new.content);
        }
        let [dated, with_tokens] =
            [json!({}), json!({ "input_tokens": 9 })].map(|metrics| run("x", at, metrics));
        assert!(with_tokens.may_be(&dated));
        assert!(!run("x", None, json!({ "input_tokens": 9 })).may_be(&run("x", None, json!({}))));
    }

    #[test]
    fn a_later_time_shows_another_run_with_the_same_answer() {
        let run = |digest: Option<&str>, at: Option<&str>| {
            let run = json!({ "outputs": { "a": 1 }, "provenance": { "fingerprint": digest, "recorded_at": at } });
            MadeRun::of(&run.to_string()).unwrap()
        };
        let [early, late] = [Some("2026-01-01T00:00:00Z"), Some("2026-01-01T00:00:01.5Z")];
        for (before, after, may_be, has_only_another_stamp) in [
            (run(Some("a"), early), run(Some("b"), late), false, false),
            (run(Some("a"), early), run(Some("b"), early), true, false),
            (run(Some("a"), late), run(Some("b"), early), true, false),
            (run(Some("a"), None), run(Some("b"), late), true, false),
            (
                run(Some("a"), early),
                run(Some("b"), Some("later")),
                true,
                false,
            ),
            (run(Some("a"), early), run(Some("a"), late), false, true),
            (run(None, early), run(None, late), false, false),
        ] {
            assert_eq!(after.may_be(&before), may_be);
            assert_eq!(
                after.has_only_another_stamp(&before),
                has_only_another_stamp
            );
        }
    }
}

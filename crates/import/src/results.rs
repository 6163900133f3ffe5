//! Reads logs of other evaluation systems with an entry for each case: the answer or the whole record of its run, and their verdict.

use serde_json::{Value, json};

use crate::message::{plain, text_at};
use crate::problem::{Problem, ProblemKind, all_or_problems};
use crate::source::{Source, element_offsets, elements};
use crate::transcript::{Ending, Hints, Transcript};

/// The keys under which a log has its entries; those of reports are below another list.
const LISTS: [&str; 5] = ["results", "cases", "entries", "tests", "evaluations"];
/// The keys of an entry, in the order in which they count.
const IDS: [&str; 6] = ["caseId", "case_id", "case", "test_id", "id", "name"];
const QUERIES: [&str; 5] = ["query", "question", "input", "prompt", "message"];
const RECORDS: [&str; 3] = ["artifact", "record", "run"];
const ANSWERS: [&str; 7] = [
    "output",
    "answer",
    "response",
    "actual_output",
    "actual",
    "text",
    PREVIEW,
];
/// An answer that is cut off if it ends with an ellipsis.
const PREVIEW: &str = "output_preview";
const CALLS: [&str; 3] = ["tool_calls", "tools_called", "tools_used"];
const VERDICTS: [&str; 7] = [
    "passed", "pass", "success", "result", "verdict", "status", "outcome",
];
const TIMES: [&str; 4] = ["run_at", "timestamp", "created_at", "started_at"];

/// Reads a run of each entry.
pub(crate) fn read_results(
    source: &Source<'_>,
    hints: Hints<'_>,
) -> Result<Vec<Transcript>, Vec<Problem>> {
    let mut runs = Vec::new();
    for document in &source.documents {
        let log = &document.value;
        let time = text_at(log, &TIMES);
        let lists = match log.get("reports").and_then(Value::as_array) {
            Some(reports) => elements(document.raw, &["reports"])
                .into_iter()
                .zip(reports)
                .collect(),
            None => vec![(document.raw, log)],
        };
        for (raw, of_list) in lists {
            let agent = text_at(of_list, &["agent"]);
            let (places, entries) = match list(of_list) {
                Some((keys, entries)) => (element_offsets(source.text, raw, &keys), entries),
                None => (vec![document.at], std::slice::from_ref(of_list)),
            };
            let placed = places.into_iter().zip(entries);
            runs.extend(placed.map(|(at, entry)| run(at, entry, (agent, time), hints)));
        }
    }
    all_or_problems(runs)
}

/// The entries of a log, with the keys that lead to them; `None` if it is an entry itself.
fn list(log: &Value) -> Option<(Vec<&'static str>, &[Value])> {
    for key in LISTS {
        if let Some(list) = log.get(key).and_then(Value::as_array) {
            return Some((vec![key], list));
        }
    }
    Some((Vec::new(), log.as_array()?))
}

fn run(
    at: usize,
    entry: &Value,
    (agent, time): (Option<&str>, Option<&str>),
    hints: Hints<'_>,
) -> Result<Transcript, Problem> {
    let id = stated(entry, &IDS).and_then(|id| match id {
        Value::String(id) => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    });
    let query = stated(entry, &QUERIES)
        .and_then(Value::as_str)
        .map(str::to_owned);
    if id.is_none() && query.is_none() && hints.case_key.is_none() {
        let help =
            "name the key with --case-key, or write the case or the question into each entry";
        let description = "this entry does not say which case it is";
        return Err(Problem::new(
            at,
            ProblemKind::NoCase,
            description.to_owned(),
            help,
        ));
    }
    let error = stated(entry, &["error"]).map(plain);
    let record = stated(entry, &RECORDS)
        .filter(|record| record.is_object())
        .cloned();
    Ok(Transcript {
        at,
        agent: text_at(entry, &["agent"]).or(agent).map(str::to_owned),
        case: id,
        ending: Ending::of(error.as_ref()),
        prompt: query.clone(),
        query,
        record: record.or_else(|| Some(own_record(entry, error.is_some()))),
        error,
        passed: stated(entry, &VERDICTS).and_then(verdict),
        started_at: text_at(entry, &TIMES).or(time).map(str::to_owned),
        ..Transcript::default()
    })
}

/// The record of an entry that has only an answer and the names of calls: what its tools returned is not known.
fn own_record(entry: &Value, has_failed: bool) -> Value {
    let outputs = match stated(entry, &ANSWERS) {
        Some(outputs @ Value::Object(_)) => outputs.clone(),
        Some(answer) => {
            let text = plain(answer);
            let is_cut = entry.get(PREVIEW) == Some(answer) && text.trim_end().ends_with('…');
            let mut outputs = json!({ "text": text });
            if is_cut {
                outputs["truncated"] = Value::Bool(true);
            }
            outputs
        }
        None => json!({}),
    };
    let calls = stated(entry, &CALLS).and_then(Value::as_array);
    let calls = calls.into_iter().flatten().map(|call| match call {
        Value::String(name) => json!({ "name": name }),
        call => call.clone(),
    });
    json!({
        "status": if has_failed { "error" } else { "completed" },
        "outputs": outputs,
        "intermediate": { "tool_calls": calls.collect::<Vec<_>>() },
    })
}

/// The first of these values that is not null.
fn stated<'v>(entry: &'v Value, keys: &[&str]) -> Option<&'v Value> {
    let mut values = keys.iter().filter_map(|key| entry.get(*key));
    values.find(|value| !value.is_null())
}

/// Whether a verdict is that the case passed; `None` for a word that says neither.
fn verdict(value: &Value) -> Option<bool> {
    if let Some(passed) = value.as_bool() {
        return Some(passed);
    }
    match value.as_str()?.to_lowercase().as_str() {
        "pass" | "passed" | "success" | "ok" | "correct" => Some(true),
        "fail" | "failed" | "failure" | "incorrect" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{read_results, verdict};
    use crate::source::Source;
    use crate::transcript::{Ending, Format, Hints, Transcript};

    fn reading(log: &Value) -> Result<Vec<Transcript>, String> {
        let text = log.to_string();
        let source = Source::parse(&text).unwrap();
        read_results(&source, Hints::default()).map_err(|problems| problems[0].what.clone())
    }

    #[test]
    fn an_entry_has_a_record_or_an_answer_and_calls() {
        let artifact = json!({ "output": { "atoms": [] } });
        let log = json!({ "timestamp": "2026-01-02T10:00:00Z", "reports": [{ "agent": "interview", "cases": [
            { "caseId": "a", "name": "A", "result": "pass", "artifact": artifact },
            { "caseId": "b", "result": "fail", "artifact": artifact }] }] });
        let runs = reading(&log).unwrap();
        assert_eq!(runs[0].record.as_ref(), Some(&artifact));
        assert_eq!(runs[0].agent.as_deref(), Some("interview"));
        assert_eq!(runs[0].started_at.as_deref(), Some("2026-01-02T10:00:00Z"));
        assert_eq!(
            (runs[1].case.as_deref(), runs[0].passed, runs[1].passed),
            (Some("b"), Some(true), Some(false))
        );
        let log = json!({ "run_at": "2026-01-02T10:00:00Z", "results": [
            { "query": "Open?", "passed": false, "tools_used": ["hours"], "error": null, "output_preview": "From 9 …" },
            { "query": "Price?", "passed": true, "error": "rate limit", "output_preview": "" }] });
        let runs = reading(&log).unwrap();
        let expected = json!({ "status": "completed", "outputs": { "text": "From 9 …", "truncated": true },
            "intermediate": { "tool_calls": [{ "name": "hours" }] } });
        assert_eq!(runs[0].record.as_ref(), Some(&expected));
        assert_eq!(
            (runs[0].query.as_deref(), runs[0].passed),
            (Some("Open?"), Some(false))
        );
        assert_eq!(
            (runs[1].ending, runs[1].error.as_deref()),
            (Ending::Error, Some("rate limit"))
        );
    }

    #[test]
    fn a_log_is_a_list_an_object_with_one_or_lines() {
        let entry = json!({ "id": 7, "answer": { "a": 1 }, "verdict": "Passed" });
        let expected = json!({ "status": "completed", "outputs": { "a": 1 }, "intermediate": { "tool_calls": [] } });
        for log in [json!([entry]), json!({ "cases": [entry] }), entry.clone()] {
            let runs = reading(&log).unwrap();
            assert_eq!(
                (runs[0].case.as_deref(), runs[0].passed),
                (Some("7"), Some(true))
            );
            assert_eq!(runs[0].record.as_ref(), Some(&expected));
        }
        let nameless = reading(&json!([{ "answer": "x" }])).unwrap_err();
        assert_eq!(nameless, "this entry does not say which case it is");
    }

    #[test]
    fn the_key_of_the_case_may_be_named() {
        let log = json!({ "reports": [
            { "agent": "a", "cases": [{ "meta": { "nr": 3 }, "output": "x" }, { "meta": { "nr": 4 }, "output": "y" }] },
            { "agent": "b", "cases": [{ "meta": { "nr": 3 }, "output": "z" }] }] });
        let text = log.to_string();
        let hints = Hints {
            case_key: Some("meta.nr"),
            ..Hints::default()
        };
        let source = Source::parse(&text).unwrap();
        let runs = source.transcripts(Format::Results, hints).unwrap();
        let cases: Vec<_> = runs
            .iter()
            .map(|run| (run.agent.as_deref().unwrap(), run.case.as_deref().unwrap()))
            .collect();
        assert_eq!(cases, [("a", "3"), ("a", "4"), ("b", "3")]);
    }

    #[test]
    fn a_verdict_is_a_word_or_a_truth_value() {
        for (value, expected) in [
            (json!(true), Some(true)),
            (json!("FAIL"), Some(false)),
            (json!("skipped"), None),
            (json!(1), None),
        ] {
            assert_eq!(verdict(&value), expected, "{value}");
        }
    }
}

//! Reads and writes `goldgate.baseline/1`: one key per line, keys sorted, six decimal places.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::json;
use crate::diag::{Code, Diagnostic};
use crate::files::SourceText;
use crate::model::{Baseline, six_places};

const SCHEMA: &str = "goldgate.baseline/1";

/// The metric that files keep next to the other metrics, and as a whole number where it is one.
const FINDING_COUNT: &str = "finding_count";

/// The baseline file.
#[derive(JsonSchema)]
#[schemars(title = "goldgate baseline, version 1")]
pub struct BaselineFile<'a> {
    /// `goldgate.baseline/1`.
    #[schemars(rename = "schema")]
    _schema: &'a str,
    #[schemars(flatten)]
    _baseline: Baseline,
}

#[derive(Deserialize)]
struct BaselineHeader<'a> {
    #[serde(borrow)]
    schema: Option<&'a RawValue>,
}

/// Reads a committed baseline.
///
/// # Errors
/// Invalid content with its position, including a newer schema version.
pub fn read_baseline(source: &SourceText) -> Result<Baseline, Diagnostic> {
    let header: BaselineHeader<'_> = json::whole(source)?;
    let help = format!("this version reads \"{SCHEMA}\"; a newer file needs a newer goldgate");
    let Some(raw) = header.schema else {
        return Err(source.problem(0, Code::MISSING_KEY, "the key \"schema\" is missing", help));
    };
    if raw.get() != format!("\"{SCHEMA}\"") {
        let what = format!("unknown schema {}", raw.get());
        return Err(source.problem(json::offset_of(source, raw), Code::UNKNOWN_SCHEMA, what, help));
    }
    let mut baseline: Baseline = json::whole(source)?;
    for entry in baseline.suites.values_mut().flat_map(|agents| agents.values_mut()) {
        if let Some(count) = entry.finding_count.take() {
            entry.metrics.entry(FINDING_COUNT.to_owned()).or_insert(count);
        }
    }
    Ok(baseline)
}

/// Renders a baseline; equal values always give equal bytes.
pub fn written(baseline: &Baseline) -> String {
    let mut value = serde_json::to_value(baseline).unwrap_or(Value::Null);
    value["schema"] = json!(SCHEMA);
    let suites = value["suites"].as_object_mut().into_iter().flat_map(|suites| suites.values_mut());
    for entry in suites.flat_map(|suite| suite["agents"].as_object_mut()).flat_map(|agents| agents.values_mut()) {
        let count = entry["metrics"].as_object_mut().and_then(|metrics| metrics.remove(FINDING_COUNT));
        if let Some(count) = count.and_then(|count| count.as_f64()) {
            entry[FINDING_COUNT] = match count.fract() == 0.0 {
                true => json!(count as i64),
                false => json!(six_places(count)),
            };
        }
    }
    let mut out = String::new();
    lines(&mut out, &value, 0);
    out.push('\n');
    out
}

/// Writes one key per line; a list of scalars stays on one line.
fn lines(out: &mut String, value: &Value, depth: usize) {
    let indent = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth));
    };
    match value {
        Value::Object(map) if !map.is_empty() => {
            out.push('{');
            for (index, (key, inner)) in map.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                indent(out, depth + 1);
                write!(out, "{}: ", Value::from(key.as_str())).expect("a string accepts every write");
                lines(out, inner, depth + 1);
            }
            indent(out, depth);
            out.push('}');
        }
        Value::Array(list) if list.iter().any(Value::is_object) => {
            out.push('[');
            for (index, inner) in list.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                indent(out, depth + 1);
                lines(out, inner, depth + 1);
            }
            indent(out, depth);
            out.push(']');
        }
        Value::Array(list) => {
            let plain: Vec<String> = list.iter().map(Value::to_string).collect();
            write!(out, "[{}]", plain.join(", ")).expect("a string accepts every write");
        }
        plain => write!(out, "{plain}").expect("a string accepts every write"),
    }
}

#[cfg(test)]
mod tests {
    use super::{read_baseline, written};
    use crate::files::SourceText;
    use crate::model::RepoPath;

    fn source(text: &str) -> SourceText {
        SourceText::from_text(RepoPath::root().child("latest.json"), text.to_owned())
    }

    const PAGE: &str = r#"{ "schema": "goldgate.baseline/1", "commit": "c", "captured_at": "2026-01-01T00:00:00Z", "tool_version": "0.1.0", "samples": 3,
      "suites": { "contracts": { "agents": { "legal": { "finding_count": 31, "metrics": { "finding_recall": 1.0, "f1_score": 0.9512345678 },
                  "judges": { "tone": { "model": "m", "rubric_sha256": "ab", "votes": 3, "cases": { "change-of-control": "weak" } } },
                  "identity": { "suite_digest": "d", "scorer": "findings/1", "model": null, "prompt_sha256": null, "judge": null, "samples": 3, "tier": "model" },
                  "cases": { "change-of-control": { "finding_recall": [1.0, null, 0.67] } } } } } },
      "accepted": [ { "by": "a", "at": "t", "pull_request": 12, "reason": "r", "previous_sha256": "p" } ] }"#;

    #[test]
    fn a_written_value_reads_back_unchanged() {
        let baseline = read_baseline(&source(PAGE)).unwrap();
        let text = written(&baseline);
        assert_eq!(written(&read_baseline(&source(&text)).unwrap()), text);
        assert!(text.contains("\n          \"finding_count\": 31,\n"), "{text}");
        assert!(text.contains("\n              \"finding_recall\": [1.0, null, 0.67]\n"), "{text}");
        assert!(text.contains("\"f1_score\": 0.951235,"), "{text}");
        assert!(text.contains("\"change-of-control\": \"weak\""), "{text}");
    }

    #[test]
    fn a_newer_schema_is_refused_by_name() {
        let problem = read_baseline(&source(r#"{"schema": "goldgate.baseline/2"}"#)).unwrap_err();
        assert!(
            problem.to_string().starts_with("latest.json:1:12: unknown schema \"goldgate.baseline/2\""),
            "{problem}"
        );
    }
}

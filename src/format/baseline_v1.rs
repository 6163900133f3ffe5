//! Reads and writes `goldgate.baseline/1`: one key per line, keys sorted, six decimal places.

use std::collections::BTreeMap;
use std::io::Write;
use std::{fmt, io};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::json;
use crate::diag::{Code, Diagnostic};
use crate::files::SourceText;
use crate::model::{Baseline, BaselineEntry, six_places};

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
        let description = format!("unknown schema {}", raw.get());
        return Err(source.problem(
            json::offset_of(source, raw),
            Code::UNKNOWN_SCHEMA,
            description,
            help,
        ));
    }
    let mut baseline: Baseline = json::whole(source)?;
    for entry in baseline
        .suites
        .values_mut()
        .flat_map(|agents| agents.values_mut())
    {
        if let Some(count) = entry.finding_count.take() {
            entry
                .metrics
                .entry(FINDING_COUNT.to_owned())
                .or_insert(count);
        }
    }
    Ok(baseline)
}

/// Renders a baseline; equal values always give equal bytes.
pub fn written(baseline: &Baseline) -> String {
    let mut out = Vec::new();
    write_baseline(baseline, &mut out).expect("a list of bytes accepts every write");
    String::from_utf8(out).expect("JSON is UTF-8")
}

/// Writes a baseline case by case, so that a large one never is in memory as a whole a second time.
pub fn write_baseline(baseline: &Baseline, out: &mut dyn Write) -> io::Result<()> {
    let Baseline {
        commit,
        captured_at,
        tool_version,
        samples,
        suites,
        accepted,
    } = baseline;
    let mut out = LineWriter { out, depth: 0 };
    let mut keys = out.begin_object()?;
    out.entry(&mut keys, "accepted", &json!(accepted))?;
    out.entry(&mut keys, "captured_at", &json!(captured_at))?;
    out.entry(&mut keys, "commit", &json!(commit))?;
    out.entry(&mut keys, "samples", &json!(samples))?;
    out.entry(&mut keys, "schema", &json!(SCHEMA))?;
    out.key(&mut keys, "suites")?;
    out.object(suites, |out, agents| {
        let mut keys = out.begin_object()?;
        out.key(&mut keys, "agents")?;
        out.object(agents, write_entry)?;
        out.end_object(keys)
    })?;
    out.entry(&mut keys, "tool_version", &json!(tool_version))?;
    out.end_object(keys)?;
    out.out.write_all(b"\n")
}

fn write_entry(out: &mut LineWriter<'_>, entry: &BaselineEntry) -> io::Result<()> {
    let BaselineEntry {
        finding_count,
        metrics,
        identity,
        cases,
        samples,
        cached,
        earlier,
        judges,
        taxonomy,
        infra,
        layers,
    } = entry;
    let small = BaselineEntry {
        finding_count: *finding_count,
        metrics: metrics.clone(),
        identity: identity.clone(),
        cases: BTreeMap::new(),
        samples: samples.clone(),
        cached: *cached,
        earlier: earlier.clone(),
        judges: judges.clone(),
        taxonomy: taxonomy.clone(),
        infra: *infra,
        layers: layers.clone(),
    };
    let mut small = serde_json::to_value(small)?;
    let count = small["metrics"]
        .as_object_mut()
        .and_then(|metrics| metrics.remove(FINDING_COUNT));
    if let Some(count) = count.and_then(|count| count.as_f64()) {
        small[FINDING_COUNT] = if count.fract() == 0.0 {
            json!(count as i64)
        } else {
            json!(six_places(count))
        };
    }
    let mut keys = out.begin_object()?;
    for (key, value) in small.as_object().into_iter().flatten() {
        if key == CASES {
            out.key(&mut keys, key)?;
            out.object(cases, |out, values| {
                out.object(values, |out, samples| out.value(&rounded(samples)))
            })?;
        } else {
            out.entry(&mut keys, key, value)?;
        }
    }
    out.end_object(keys)
}

/// The key of the values by case, the only large part of a baseline.
const CASES: &str = "cases";

fn rounded(samples: &[Option<f64>]) -> Value {
    samples.iter().map(|value| value.map(six_places)).collect()
}

/// Writes one key per line; a list of scalars stays on one line.
struct LineWriter<'a> {
    out: &'a mut dyn Write,
    depth: usize,
}

/// The number of keys of an object so far.
struct KeyCount(usize);

impl LineWriter<'_> {
    fn begin_object(&mut self) -> io::Result<KeyCount> {
        self.depth += 1;
        self.out.write_all(b"{").map(|()| KeyCount(0))
    }

    fn key(&mut self, keys: &mut KeyCount, key: &str) -> io::Result<()> {
        self.out.write_all(if keys.0 == 0 { b"" } else { b"," })?;
        keys.0 += 1;
        self.indent()?;
        serde_json::to_writer(&mut *self.out, key)?;
        self.out.write_all(b": ")
    }

    fn entry(&mut self, keys: &mut KeyCount, key: &str, value: &Value) -> io::Result<()> {
        self.key(keys, key)?;
        self.value(value)
    }

    fn end_object(&mut self, keys: KeyCount) -> io::Result<()> {
        self.depth -= 1;
        if keys.0 > 0 {
            self.indent()?;
        }
        self.out.write_all(b"}")
    }

    fn object<K: fmt::Display, T>(
        &mut self,
        entries: &BTreeMap<K, T>,
        write: impl Fn(&mut Self, &T) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut keys = self.begin_object()?;
        for (key, value) in entries {
            self.key(&mut keys, &key.to_string())?;
            write(self, value)?;
        }
        self.end_object(keys)
    }

    fn value(&mut self, value: &Value) -> io::Result<()> {
        match value {
            Value::Object(map) => {
                let mut keys = self.begin_object()?;
                for (key, inner) in map {
                    self.entry(&mut keys, key, inner)?;
                }
                self.end_object(keys)
            }
            Value::Array(list) if list.iter().any(Value::is_object) => {
                self.out.write_all(b"[")?;
                self.depth += 1;
                for (index, inner) in list.iter().enumerate() {
                    self.out.write_all(if index == 0 { b"" } else { b"," })?;
                    self.indent()?;
                    self.value(inner)?;
                }
                self.depth -= 1;
                self.indent()?;
                self.out.write_all(b"]")
            }
            Value::Array(list) => {
                let plain: Vec<String> = list.iter().map(Value::to_string).collect();
                write!(self.out, "[{}]", plain.join(", "))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                write!(self.out, "{value}")
            }
        }
    }

    fn indent(&mut self) -> io::Result<()> {
        write!(self.out, "\n{:1$}", "", 2 * self.depth)
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
                  "identity": { "suite_digest": "d", "scorer": "findings/1", "model": null, "agent_sha256": null, "judge": null, "samples": 3, "tier": "model" },
                  "cases": { "change-of-control": { "finding_recall": [1.0, null, 0.67] } } } } } },
      "accepted": [ { "by": "a", "at": "t", "pull_request": 12, "reason": "r", "previous_sha256": "p" } ] }"#;

    #[test]
    fn a_written_value_reads_back_unchanged() {
        let baseline = read_baseline(&source(PAGE)).unwrap();
        let text = written(&baseline);
        assert_eq!(written(&read_baseline(&source(&text)).unwrap()), text);
        assert!(
            text.contains("\n          \"finding_count\": 31,\n"),
            "{text}"
        );
        assert!(
            text.contains("\n              \"finding_recall\": [1.0, null, 0.67]\n"),
            "{text}"
        );
        assert!(text.contains("\"f1_score\": 0.951235,"), "{text}");
        assert!(text.contains("\"change-of-control\": \"weak\""), "{text}");
    }

    #[test]
    fn a_newer_schema_is_refused_by_name() {
        let problem = read_baseline(&source(r#"{"schema": "goldgate.baseline/2"}"#)).unwrap_err();
        assert!(
            problem
                .to_string()
                .starts_with("latest.json:1:12: unknown schema \"goldgate.baseline/2\""),
            "{problem}"
        );
    }
}

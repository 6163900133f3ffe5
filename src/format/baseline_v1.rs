//! Reads and writes `goldgate.baseline/1`: one key per line, keys sorted, six decimal places.

use std::collections::BTreeMap;
use std::fmt::Write;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::json;
use super::json_cursor::JsonCursor;
use super::step::Step;
use super::step::Step::Key;
use crate::diag::Diagnostic;
use crate::files::SourceText;
use crate::model::{
    Acceptance, AgentName, BadId, Baseline, BaselineEntry, CaseId, Identity, JudgeEntry, JudgeIdentity, JudgeName,
    Layer, Mark, SuiteId, Tag, six_places,
};

const SCHEMA: &str = "goldgate.baseline/1";

/// The baseline file.
#[derive(Deserialize, JsonSchema)]
#[schemars(title = "goldgate baseline, version 1")]
pub struct BaselineFile {
    /// `goldgate.baseline/1`.
    // Checked before the rest is parsed.
    #[serde(rename = "schema")]
    _schema: String,
    /// The commit at which it was captured.
    commit: Option<String>,
    /// When it was captured, in UTC.
    captured_at: Option<String>,
    /// The version of goldgate that wrote it.
    tool_version: Option<String>,
    /// Samples planned per pair.
    samples: Option<u32>,
    /// By suite.
    #[serde(default)]
    suites: BTreeMap<String, BaselineSuiteForm>,
    /// Who accepted changed numbers.
    #[serde(default)]
    accepted: Vec<AcceptanceForm>,
}

/// The baseline of one suite.
#[derive(Deserialize, JsonSchema)]
struct BaselineSuiteForm {
    /// By agent.
    #[serde(default)]
    agents: BTreeMap<String, BaselineAgentForm>,
}

/// The baseline of one agent.
#[derive(Deserialize, JsonSchema)]
struct BaselineAgentForm {
    /// Number of findings, if the kind counts them.
    finding_count: Option<f64>,
    /// The agent's metrics.
    #[serde(default)]
    metrics: BTreeMap<String, Option<f64>>,
    /// What the numbers were measured with.
    identity: Option<BaselineIdentityForm>,
    /// The value of each sample, by case and metric.
    #[serde(default)]
    cases: BTreeMap<String, BTreeMap<String, Vec<Option<f64>>>>,
    /// Verdicts of LLM judges, by judge name; no gate uses them.
    #[serde(default)]
    judges: BTreeMap<String, BaselineJudgeForm>,
    /// Failed checks by tag.
    #[serde(default)]
    taxonomy: BTreeMap<String, u32>,
    /// Samples without a result to grade, such as timeouts.
    infra: Option<u32>,
    /// Completed samples by parse method: `structured`, `strict`, `repaired`, `salvaged`, `unreadable`.
    #[serde(default)]
    read_layers: BTreeMap<String, u32>,
}

/// The verdicts of an LLM judge on an agent.
#[derive(Deserialize, JsonSchema)]
struct BaselineJudgeForm {
    /// The models that voted.
    model: Option<String>,
    /// The SHA-256 of the rubric.
    rubric_sha256: String,
    /// Votes per output.
    votes: u32,
    /// `pass`, `weak` or `fail` by case.
    #[serde(default)]
    cases: BTreeMap<String, String>,
}

/// What a number was measured with.
#[derive(Deserialize, JsonSchema)]
struct BaselineIdentityForm {
    suite_digest: Option<String>,
    scorer: Option<String>,
    model: Option<String>,
    prompt_sha256: Option<String>,
    judge: Option<String>,
    samples: Option<u32>,
    tier: Option<String>,
}

/// Who accepted changed numbers.
#[derive(Deserialize, JsonSchema)]
struct AcceptanceForm {
    by: String,
    at: String,
    pull_request: Option<u64>,
    reason: Option<String>,
    previous_sha256: Option<String>,
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
        return Err(source.problem(0, "missing-key", "the key \"schema\" is missing", help));
    };
    if raw.get() != format!("\"{SCHEMA}\"") {
        let what = format!("unknown schema {}", raw.get());
        return Err(source.problem(json::offset_of(source, raw), "unknown-schema", what, help));
    }
    let file: BaselineFile = json::whole(source)?;
    let mut suites = BTreeMap::new();
    for (suite_id, suite) in file.suites {
        let of_suite = [Key("suites"), Key(&suite_id)];
        let id = SuiteId::new(&suite_id).map_err(|bad| bad_id(source, &of_suite, &bad))?;
        let mut agents = BTreeMap::new();
        for (agent_name, agent) in suite.agents {
            let of_agent = [Key("suites"), Key(&suite_id), Key("agents"), Key(&agent_name)];
            let name = AgentName::new(&agent_name).map_err(|bad| bad_id(source, &of_agent, &bad))?;
            let of_case =
                |bad: BadId| bad_id(source, &[&of_agent[..], &[Key("cases"), Key(&bad.found)]].concat(), &bad);
            agents.insert(name, entry(agent).map_err(of_case)?);
        }
        suites.insert(id, agents);
    }
    let accepted = file.accepted.into_iter().map(|form| Acceptance {
        by: form.by,
        at: form.at,
        pull_request: form.pull_request,
        reason: form.reason,
        previous_sha256: form.previous_sha256,
    });
    Ok(Baseline {
        commit: file.commit,
        captured_at: file.captured_at,
        tool_version: file.tool_version,
        samples: file.samples,
        suites,
        accepted: accepted.collect(),
    })
}

fn bad_id(source: &SourceText, path: &[Step<'_>], bad: &BadId) -> Diagnostic {
    let help = "let goldgate write this file: run --update-baseline";
    JsonCursor::whole(source).problem_of_key(path, "bad-id", bad.to_string(), help)
}

fn entry(form: BaselineAgentForm) -> Result<BaselineEntry, BadId> {
    let mut cases = BTreeMap::new();
    for (id, values) in form.cases {
        cases.insert(CaseId::new(&id)?, values);
    }
    let mut metrics: BTreeMap<String, f64> =
        form.metrics.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    if let Some(count) = form.finding_count {
        metrics.entry("finding_count".to_owned()).or_insert(count);
    }
    let mut judges = BTreeMap::new();
    for (name, BaselineJudgeForm { model, rubric_sha256, votes, cases }) in form.judges {
        let identity = JudgeIdentity { model, rubric_sha256, votes };
        let mut marked = BTreeMap::new();
        for (id, word) in cases {
            let mark = Mark::ALL.into_iter().find(|mark| mark.as_str() == word);
            marked.extend(mark.map(|mark| Ok((CaseId::new(&id)?, mark))).transpose()?);
        }
        judges.insert(JudgeName::new(&name)?, JudgeEntry { identity, cases: marked });
    }
    let tags = form
        .taxonomy
        .into_iter()
        .filter_map(|(word, count)| Some((Tag::ALL.into_iter().find(|tag| tag.as_str() == word)?, count)));
    let layers = form
        .read_layers
        .into_iter()
        .filter_map(|(word, count)| Some((Layer::ALL.into_iter().find(|layer| layer.as_str() == word)?, count)));
    Ok(BaselineEntry {
        layers: layers.collect(),
        infra: form.infra,
        metrics,
        identity: form.identity.map(|form| Identity {
            suite_digest: form.suite_digest,
            scorer: form.scorer,
            model: form.model,
            prompt_sha256: form.prompt_sha256,
            judge: form.judge,
            samples: form.samples,
            tier: form.tier,
        }),
        cases,
        judges,
        taxonomy: tags.collect(),
    })
}

/// Renders a baseline; equal values always give equal bytes.
pub fn written(baseline: &Baseline) -> String {
    let suites: BTreeMap<&str, Value> = baseline
        .suites
        .iter()
        .map(|(id, agents)| {
            let agents: BTreeMap<&str, Value> =
                agents.iter().map(|(name, entry)| (name.as_str(), written_entry(entry))).collect();
            (id.as_str(), json!({ "agents": agents }))
        })
        .collect();
    let accepted: Vec<Value> = baseline.accepted.iter().map(|one| json!({
        "by": one.by, "at": one.at, "pull_request": one.pull_request, "reason": one.reason, "previous_sha256": one.previous_sha256,
    })).collect();
    let value = json!({
        "schema": SCHEMA, "commit": baseline.commit, "captured_at": baseline.captured_at, "tool_version": baseline.tool_version,
        "samples": baseline.samples, "suites": suites, "accepted": accepted,
    });
    let mut out = String::new();
    lines(&mut out, &value, 0);
    out.push('\n');
    out
}

fn written_entry(entry: &BaselineEntry) -> Value {
    let count = entry.metrics.get("finding_count");
    let metrics: BTreeMap<&String, f64> = entry
        .metrics
        .iter()
        .filter(|(name, _)| *name != "finding_count")
        .map(|(name, value)| (name, six_places(*value)))
        .collect();
    let cases: BTreeMap<&str, BTreeMap<&String, Vec<Option<f64>>>> = entry
        .cases
        .iter()
        .map(|(id, values)| {
            let rounded = values
                .iter()
                .map(|(name, samples)| (name, samples.iter().map(|sample| sample.map(six_places)).collect()));
            (id.as_str(), rounded.collect())
        })
        .collect();
    let taxonomy: BTreeMap<&str, u32> =
        entry.taxonomy.iter().filter(|(_, count)| **count > 0).map(|(tag, count)| (tag.as_str(), *count)).collect();
    let layers: BTreeMap<&str, u32> = entry.layers.iter().map(|(layer, count)| (layer.as_str(), *count)).collect();
    let mut value = json!({ "metrics": metrics, "cases": cases, "taxonomy": taxonomy, "read_layers": layers });
    if let Some(count) = count {
        value["finding_count"] = match count.fract() == 0.0 {
            true => json!(*count as i64),
            false => json!(six_places(*count)),
        };
    }
    if let Some(infra) = entry.infra {
        value["infra"] = json!(infra);
    }
    if !entry.judges.is_empty() {
        let judges: BTreeMap<&str, Value> =
            entry.judges.iter().map(|(name, judge)| (name.as_str(), written_judge(judge))).collect();
        value["judges"] = json!(judges);
    }
    if let Some(identity) = &entry.identity {
        let Identity { suite_digest, scorer, model, prompt_sha256, judge, samples, tier } = identity;
        value["identity"] = json!({
            "suite_digest": suite_digest, "scorer": scorer, "model": model, "prompt_sha256": prompt_sha256,
            "judge": judge, "samples": samples, "tier": tier,
        });
    }
    value
}

fn written_judge(judge: &JudgeEntry) -> Value {
    let JudgeEntry { identity: JudgeIdentity { model, rubric_sha256, votes }, cases } = judge;
    let cases: BTreeMap<&str, &str> = cases.iter().map(|(case, mark)| (case.as_str(), mark.as_str())).collect();
    json!({ "model": model, "rubric_sha256": rubric_sha256, "votes": votes, "cases": cases })
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

//! Writes a run record: one key per line, in the order of the format's page; equal values always give equal bytes.

use serde::Serialize;
use serde_json::Value;

use super::json_lines::lines;
use super::stated::with_content_sha256;
use crate::model::{
    Json, LogVerdict, Measures, RunEvidence, RunInputs, RunProvenance, RunRecord, Steps,
};

/// The name of the format.
pub(super) const SCHEMA: &str = "goldgate.run/1";

/// Writes a record; [`super::read_run`] reads the same run back.
pub fn written(record: &RunRecord) -> String {
    let plain =
        serde_json::to_string(&RunRecordForm::of(record)).expect("every key of a record is a text");
    let mut out = String::with_capacity(plain.len() + plain.len() / 4);
    lines(&mut out, &plain, 0);
    out.push('\n');
    with_content_sha256(&out)
}

/// Converts a value to JSON text.
pub fn json(value: &Value) -> Json {
    Json::from(value.to_string())
}

/// The whole record; fields are in the order of the file.
#[derive(Serialize)]
struct RunRecordForm<'a> {
    schema: &'static str,
    agent: &'a str,
    case: &'a str,
    sample: u32,
    status: &'static str,
    error: Option<&'a str>,
    inputs: &'a RunInputs,
    outputs: &'a Json,
    intermediate: &'a Steps,
    evidence: &'a RunEvidence,
    metrics: &'a Measures,
    provenance: OriginForm<'a>,
}

#[derive(Serialize)]
struct OriginForm<'a> {
    target: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    arguments: &'a [String],
    model: Option<&'a str>,
    prompt_package: Option<&'a str>,
    recorded_at: Option<&'a str>,
    commit: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<&'a str>,
    cache: Option<&'a str>,
    agent_sha256: Option<&'a str>,
    input_sha256: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target_sha256: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    log: Option<LogVerdict>,
}

impl<'a> RunRecordForm<'a> {
    fn of(record: &'a RunRecord) -> Self {
        let RunRecord {
            agent,
            case,
            sample,
            status,
            error,
            inputs,
            outputs,
            intermediate,
            evidence,
            metrics,
            provenance,
        } = record;
        Self {
            schema: SCHEMA,
            agent: agent.as_str(),
            case: case.as_str(),
            sample: *sample,
            status: status.as_str(),
            error: error.as_deref(),
            inputs,
            outputs,
            intermediate,
            evidence,
            metrics,
            provenance: OriginForm::of(provenance),
        }
    }
}

impl<'a> OriginForm<'a> {
    fn of(recorded: &'a RunProvenance) -> Self {
        let RunProvenance {
            target,
            arguments,
            provenance,
            recorded_at,
            commit,
            run,
        } = recorded;
        Self {
            target: target.as_deref(),
            arguments,
            model: provenance.model.as_deref(),
            prompt_package: provenance.prompt_package.as_deref(),
            recorded_at: recorded_at.as_deref(),
            commit: commit.as_deref(),
            run: run.as_deref(),
            cache: provenance.cache.as_deref(),
            agent_sha256: provenance.agent_sha256.as_deref(),
            input_sha256: provenance.input_sha256.as_deref(),
            target_sha256: provenance.target_sha256.as_deref(),
            log: provenance.log,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::any;
    use proptest::proptest;
    use serde_json::Value;

    use super::written;
    use crate::files::SourceText;
    use crate::format::run_v1;
    use crate::model::{
        AgentName, CaseId, Json, Measures, Provenance, RepoPath, Run, RunEvidence, RunInputs,
        RunKey, RunProvenance, RunRecord, RunStatus, Steps, SuiteId, Tokens, ToolCall,
    };

    fn record() -> RunRecord {
        let some = |text: &str| Some(text.to_owned());
        let call = ToolCall {
            name: "search".to_owned(),
            arguments: Json::from(r#"{"z": 1, "a": "\ud800"}"#),
            result: Json::from("not JSON"),
            error: some("timed out"),
            latency_ms: Some(12),
            turn: None,
            step: None,
            server: None,
        };
        RunRecord {
            agent: AgentName::new("legal").unwrap(),
            case: CaseId::new("c").unwrap(),
            sample: 2,
            status: RunStatus::Completed,
            error: None,
            inputs: RunInputs {
                prompt: some("What?\n\"x\""),
                repo_snapshot_id: None,
                options: Json::default(),
            },
            outputs: Json::from(
                r#"{"text": "t", "findings": [{"n": 0.10000000000000000555, "b": [1,[2]]}], "gaps": []}"#,
            ),
            intermediate: Steps::Seen {
                node_transitions: Vec::new(),
                tool_calls: vec![call],
                events: Vec::new(),
            },
            evidence: RunEvidence {
                file_paths: vec!["a.rs".to_owned()],
                ..RunEvidence::default()
            },
            metrics: Measures {
                total_tokens: Some(9),
                input_tokens: Some(7),
                output_tokens: Some(2),
                total_latency_ms: Some(40),
                tool_call_counts: BTreeMap::from([("search".to_owned(), 1)]),
                cost_usd: Some(0.25),
                ..Measures::default()
            },
            provenance: RunProvenance {
                target: some("claude"),
                arguments: Vec::new(),
                provenance: Provenance {
                    model: some("m"),
                    prompt_package: some("p"),
                    cache: some("miss"),
                    agent_sha256: some("f"),
                    input_sha256: some("i"),
                    target_sha256: some("t"),
                    log: None,
                },
                recorded_at: some("2026-01-01T00:00:00Z"),
                commit: some("c"),
                run: None,
            },
        }
    }

    fn reading(record: &RunRecord) -> Run {
        let source = SourceText::from_text(RepoPath::root().child("r.json"), written(record));
        let key = RunKey {
            suite: SuiteId::new("s").unwrap(),
            agent: record.agent.clone(),
            case: record.case.clone(),
        };
        run_v1::read_run(&source, &key, record.sample).unwrap()
    }

    const PAGE: &str = r#"{
  "schema": "goldgate.run/1",
  "agent": "legal",
  "case": "c",
  "sample": 2,
  "status": "completed",
  "error": null,
  "inputs": {
    "prompt": "What?\n\"x\"",
    "repo_snapshot_id": null,
    "options": {}
  },
  "outputs": {
    "text": "t",
    "findings": [
      {
        "n": 0.10000000000000000555,
        "b": [1, [2]]
      }
    ],
    "gaps": []
  },
  "intermediate": {
    "node_transitions": [],
    "tool_calls": [
      {
        "name": "search",
        "arguments": {
          "z": 1,
          "a": "\ud800"
        },
        "result": "not JSON",
        "error": "timed out",
        "latency_ms": 12
      }
    ],
    "events": []
  },
  "evidence": {
    "file_paths": ["a.rs"],
    "test_names": [],
    "coverage_refs": []
  },
  "metrics": {
    "total_tokens": 9,
    "input_tokens": 7,
    "output_tokens": 2,
    "total_latency_ms": 40,
    "tokens_per_node": {},
    "latency_per_node": {},
    "tool_call_counts": {
      "search": 1
    },
    "cost_usd": 0.25
  },
  "provenance": {
    "target": "claude",
    "model": "m",
    "prompt_package": "p",
    "recorded_at": "2026-01-01T00:00:00Z",
    "commit": "c",
    "cache": "miss",
    "agent_sha256": "f",
    "input_sha256": "i",
    "target_sha256": "t",
    "content_sha256": "78d09110994153e7080a22864fcf990249653879220b3776960ef57030cafe3e"
  }
}
"#;

    #[test]
    fn fields_are_written_in_the_documented_order() {
        assert_eq!(written(&record()), PAGE);
    }

    #[test]
    fn a_written_value_reads_back_unchanged() {
        let record = record();
        let run = reading(&record);
        let outputs: Value = serde_json::from_str(&run.outputs).unwrap();
        assert_eq!(
            outputs,
            serde_json::from_str::<Value>(record.outputs.text()).unwrap()
        );
        let Tokens {
            input,
            output,
            total,
            latency_ms,
            cost_usd,
            model_calls,
        } = run.tokens;
        assert_eq!(
            (input, output, total, model_calls),
            (Some(7), Some(2), Some(9.0), None)
        );
        assert_eq!((latency_ms, cost_usd), (Some(40.0), Some(0.25)));
        assert_eq!((run.status, run.error), (RunStatus::Completed, None));
        assert_eq!(run.provenance, record.provenance.provenance);
    }

    #[test]
    fn missing_measures_read_back_as_not_recorded() {
        let status = RunStatus::Stalled;
        let empty = RunRecord {
            status,
            error: Some("no answer".to_owned()),
            outputs: Json::default(),
            intermediate: Steps::Own(Json::from("{\"toolCalls\": []}")),
            metrics: Measures::default(),
            provenance: RunProvenance::default(),
            ..record()
        };
        let run = reading(&empty);
        assert_eq!(
            (run.status, run.error.as_deref(), run.tokens),
            (status, Some("no answer"), Tokens::default())
        );
        assert_eq!(
            run.intermediate.as_deref(),
            Some("{\n    \"toolCalls\": []\n  }")
        );
        assert_eq!(run.provenance, Provenance::default());
    }

    proptest! {
        #[test]
        fn no_text_of_an_agent_breaks_its_record(text in any::<String>(), deep in 0_usize..3000) {
            let nested = "[".repeat(deep) + &"]".repeat(deep);
            let call = ToolCall {
                name: text.clone(),
                arguments: Json::from(text.as_str()),
                result: Json::from(nested),
                ..record().intermediate.seen_calls()[0].clone()
            };
            let seen = Steps::Seen { node_transitions: Vec::new(), tool_calls: vec![call], events: Vec::new() };
            let record = RunRecord { intermediate: seen, error: Some(text.clone()), ..record() };
            assert_eq!(reading(&record).error, Some(text));
        }
    }
}

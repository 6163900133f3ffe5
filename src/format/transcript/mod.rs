//! What the readers of other tools' files found, in goldgate's words: problems with their place, and run records.

mod source_texts;

use import::{Call, Ending, Format, Hints, Problem, ProblemKind, Source, Transcript, Usage};
use serde_json::{Map, Value, json};

pub use self::source_texts::source_texts;
use super::json;
use super::run_v1::read_unplaced_run;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::files::SourceText;
use crate::model::{
    AgentName, CaseId, IMPORTED, Json, LogVerdict, Measures, Provenance, RepoPath, Run,
    RunEvidence, RunInputs, RunProvenance, RunRecord, RunStatus, Steps, ToolCall,
};

/// Which parts of a file are the runs. The author of a trace states agent and case in attributes of a span.
pub fn hints<'a>(case_key: Option<&'a str>, agent: Option<&'a str>) -> Hints<'a> {
    Hints {
        case_key,
        agent,
        agent_attribute: "goldgate.agent",
        case_attribute: "goldgate.case",
    }
}

/// Parses a file of transcripts.
///
/// # Errors
/// Invalid JSON with its position, or an empty file.
pub fn parsed(source: &SourceText) -> Result<Source<'_>, Diagnostic> {
    Source::parse(&source.text).map_err(|problem| diagnostic(source, problem))
}

/// Reads all runs of a parsed file, in the file's order.
///
/// # Errors
/// What cannot be read, with its position.
pub fn read_runs(
    source: &SourceText,
    parsed: &Source<'_>,
    format: Format,
    hints: Hints<'_>,
) -> Result<Vec<Transcript>, Diagnostics> {
    parsed.transcripts(format, hints).map_err(|problems| {
        let mut all = Diagnostics::default();
        for problem in problems {
            all.push(diagnostic(source, problem));
        }
        all
    })
}

fn diagnostic(source: &SourceText, problem: Problem) -> Diagnostic {
    let Problem {
        at,
        kind,
        what: description,
        help,
    } = problem;
    let code = match kind {
        ProblemKind::BrokenJson => return json::broken(source, at),
        ProblemKind::WrongForm => return json::wrong_form(source, at, &description),
        ProblemKind::Empty => Code::EMPTY_FILE,
        ProblemKind::BadMessage => Code::BAD_MESSAGE,
        ProblemKind::NoMessages => Code::NO_MESSAGES,
        ProblemKind::NoAnswer => Code::NO_ANSWER,
        ProblemKind::UnaskedResult => Code::ANSWER_WITHOUT_CALL,
        ProblemKind::NoCase => Code::NO_CASE,
        ProblemKind::NoRun => Code::NO_RUN,
    };
    source.problem(at, code, description, help)
}

/// The record of a run under the suite's names.
pub fn run_record(
    run: &Transcript,
    format: Format,
    agent: AgentName,
    case: CaseId,
    sample: u32,
) -> RunRecord {
    if let Some(record) = &run.record {
        return own_record(run, record, format, agent, case, sample);
    }
    let mut metrics = measures(&run.usage);
    for call in &run.calls {
        *metrics
            .tool_call_counts
            .entry(call.name.clone())
            .or_default() += 1;
    }
    RunRecord {
        agent,
        case,
        sample,
        status: run_status(run.ending),
        error: run.error.clone(),
        inputs: RunInputs {
            prompt: run.prompt.clone(),
            ..RunInputs::default()
        },
        outputs: Json::from(Value::Object(outputs(run)).to_string()),
        intermediate: Steps::Seen {
            node_transitions: Vec::new(),
            tool_calls: run.calls.iter().map(tool_call).collect(),
            events: run.events.iter().map(written).collect(),
        },
        evidence: RunEvidence::default(),
        metrics,
        provenance: RunProvenance {
            target: Some(format!("{IMPORTED}{}", format.as_str())),
            provenance: Provenance {
                model: run.model.clone(),
                ..Provenance::default()
            },
            recorded_at: run.started_at.clone(),
            ..RunProvenance::default()
        },
    }
}

/// The record of a run that its own system wrote.
fn own_record(
    run: &Transcript,
    record: &Value,
    format: Format,
    agent: AgentName,
    case: CaseId,
    sample: u32,
) -> RunRecord {
    let source = SourceText::from_text(RepoPath::root(), record.to_string());
    let read = read_unplaced_run(&source).map(|(_, read)| read);
    let read = read.unwrap_or_else(|problem| Run {
        status: RunStatus::Error,
        error: Some(problem.what),
        ..Run::of("{}")
    });
    let Run { tokens, .. } = read;
    let steps = read.intermediate.as_deref().unwrap_or("{}");
    RunRecord {
        agent,
        case,
        sample,
        status: read.status,
        error: read.error.or_else(|| run.error.clone()),
        inputs: RunInputs {
            prompt: run.prompt.clone(),
            ..RunInputs::default()
        },
        outputs: Json::from(&*read.outputs),
        intermediate: Steps::Own(Json::from(steps)),
        evidence: RunEvidence::default(),
        metrics: Measures {
            total_tokens: tokens.total.map(rounded),
            input_tokens: tokens.input,
            output_tokens: tokens.output,
            total_latency_ms: tokens.latency_ms.map(rounded),
            cost_usd: tokens.cost_usd,
            model_calls: tokens.model_calls.map(rounded),
            ..Measures::default()
        },
        provenance: RunProvenance {
            target: Some(format!("{IMPORTED}{}", format.as_str())),
            provenance: Provenance {
                log: run.passed.map(|passed| {
                    if passed {
                        LogVerdict::Pass
                    } else {
                        LogVerdict::Fail
                    }
                }),
                ..read.provenance
            },
            recorded_at: run.started_at.clone(),
            ..RunProvenance::default()
        },
    }
}

fn rounded(number: f64) -> u64 {
    number.round() as u64
}

/// How a run ended.
pub fn run_status(ending: Ending) -> RunStatus {
    match ending {
        Ending::Completed => RunStatus::Completed,
        Ending::Error => RunStatus::Error,
        Ending::Timeout => RunStatus::Timeout,
        Ending::Stalled => RunStatus::Stalled,
        Ending::Cancelled => RunStatus::Cancelled,
    }
}

/// The outputs: the last answer, and the turns if there are several.
fn outputs(run: &Transcript) -> Map<String, Value> {
    let mut outputs = Map::new();
    if let Some(text) = &run.text {
        outputs.insert("text".to_owned(), json!(text));
    }
    if run.turns.len() > 1 {
        let turns = run
            .turns
            .iter()
            .map(|turn| json!({ "user": turn.user, "text": turn.text }));
        outputs.insert("turns".to_owned(), turns.collect());
    }
    outputs
}

fn measures(usage: &Usage) -> Measures {
    Measures {
        total_tokens: usage.total_tokens,
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        total_latency_ms: usage.latency_ms,
        cost_usd: usage.cost_usd,
        ..Measures::default()
    }
}

fn tool_call(call: &Call) -> ToolCall {
    ToolCall {
        name: call.name.clone(),
        server: call.server.clone(),
        arguments: written(&call.arguments),
        result: written(&call.result),
        error: call.error.clone(),
        latency_ms: call.latency_ms,
        turn: call.turn,
        step: call.step,
    }
}

fn written(value: &Value) -> Json {
    Json::from(value.to_string())
}

#[cfg(test)]
mod tests {
    use import::Format;
    use proptest::prelude::any;
    use proptest::proptest;

    use super::{hints, parsed, read_runs, run_record, run_status};
    use crate::files::SourceText;
    use crate::format::run_v1;
    use crate::model::{AgentName, CaseId, RepoPath, RunKey, SuiteId};

    /// One text of each format; parts that one parser accepts are foreign to the others.
    const TEXTS: [&str; 4] = [
        r#"[{"role": "user", "content": "q"}, {"role": "assistant", "content": [{"type": "text", "text": "\ud83d"}],
            "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{\"a\": 1.10}"}}]}]"#,
        r#"{"input": [{"role": "user", "content": "q"}], "output": [{"type": "function_call", "call_id": "1", "name": "f",
            "arguments": "["}, {"type": "function_call_output", "call_id": "1", "output": "r"}]}"#,
        r#"{"system": "s", "messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f",
            "input": {"a": [1e999]}}]}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1"}]}]}"#,
        r#"{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "a", "spanId": "b", "parentSpanId": "b",
            "startTimeUnixNano": "-9223372036854775808", "endTimeUnixNano": 9223372036854775807,
            "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "invoke_agent"}},
            {"key": "gen_ai.completion.7.tool_calls.9.name", "value": {"stringValue": "f"}},
            {"key": "gen_ai.completion.7.tool_calls", "value": {"intValue": "3"}}]}]}]}]}"#,
    ];

    /// Each run of a text, in every format, can be written and read again. Returns the number of runs.
    fn every_run_is_a_record(text: &str) -> usize {
        let source = SourceText::from_text(RepoPath::root().child("t.json"), text.to_owned());
        let key = RunKey {
            suite: SuiteId::new("s").unwrap(),
            agent: AgentName::new("a").unwrap(),
            case: CaseId::new("c").unwrap(),
        };
        let Ok(file) = parsed(&source) else {
            return 0;
        };
        let mut count = 0;
        for format in Format::ALL {
            let runs = read_runs(&source, &file, format, hints(None, None)).unwrap_or_default();
            for (sample, run) in (0_u32..).zip(runs) {
                let record = run_record(&run, format, key.agent.clone(), key.case.clone(), sample);
                let written = run_v1::written(&record);
                let again = SourceText::from_text(RepoPath::root().child("r.json"), written);
                let read = run_v1::read_run(&again, &key, sample).unwrap();
                assert_eq!(read.status, run_status(run.ending));
                count += 1;
            }
        }
        count
    }

    #[test]
    fn every_example_contains_a_run() {
        for text in TEXTS {
            assert!(every_run_is_a_record(text) > 0, "{text}");
        }
    }

    proptest! {
        #[test]
        fn whatever_parses_becomes_a_record(which in 0_usize..4, from in 0_usize..500, length in 0_usize..40, put in any::<String>()) {
            let text = TEXTS[which];
            let from = from.min(text.len());
            let range = from..(from + length).min(text.len());
            let mut text = text.to_owned();
            text.replace_range(range, &put);
            every_run_is_a_record(&text);
        }

        #[test]
        fn a_truncated_or_repeated_transcript_is_read_or_refused(which in 0_usize..4, at in 0_usize..500, put in "[\\[\\]{}\",:0-9ntf ]{0,6}") {
            let text = TEXTS[which];
            let (before, after) = text.split_at(at.min(text.len()));
            every_run_is_a_record(before);
            every_run_is_a_record(&format!("{before}{put}{after}"));
            every_run_is_a_record(&format!("{text}{put}{text}"));
        }
    }
}

//! Converts transcripts of other tools (messages, spans) to run records. Their content is data and is kept.

mod anthropic;
mod content;
mod conversation_builder;
mod openai;
mod otlp;

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::json;
use crate::diag::{Diagnostic, Diagnostics};
use crate::files::SourceText;
use crate::model::{
    AgentName, CaseId, Json, Measures, Provenance, RunEvidence, RunInputs, RunProvenance, RunRecord, RunStatus, Steps,
    ToolCall,
};

/// The format of a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TranscriptFormat {
    /// Message lists of the chat completions, and items of the Responses API.
    OpenAi,
    /// Messages with content blocks.
    Anthropic,
    /// Traces with the GenAI semantic conventions, in OTLP's JSON encoding.
    Otlp,
}

/// One run in a transcript.
#[derive(Debug, Clone, PartialEq)]
pub struct Transcript {
    /// The byte offset at which it starts, for problems of the whole transcript.
    pub at: usize,
    /// The agent's name, if the transcript contains it.
    pub agent: Option<String>,
    /// The case's name, if the transcript contains it.
    pub case: Option<String>,
    /// How the run ended.
    pub status: RunStatus,
    /// The error message, if it did not complete.
    pub error: Option<String>,
    /// The messages of the system and the user before the first answer.
    pub prompt: Option<String>,
    /// The user's first message, if any.
    pub query: Option<String>,
    /// User or system messages after that and before the last answer: the answer does not refer to the first message alone then.
    pub interjected: Option<String>,
    /// The last answer; `None` if the transcript contains no texts.
    pub text: Option<String>,
    /// The tool calls in order.
    pub calls: Vec<ToolCall>,
    /// Messages in between as `{"role", "text"}`, and parts of unknown types as written.
    pub events: Vec<Json>,
    /// Tokens and time.
    pub metrics: Measures,
    /// The model that answered.
    pub model: Option<String>,
    /// When it started, in UTC.
    pub started_at: Option<String>,
    /// Number of omitted parts by type.
    pub left_out: BTreeMap<String, u32>,
}

/// Reads all runs of a file, in the file's order. `case_from` names the span attribute with the case.
///
/// # Errors
/// Invalid content with its position.
pub fn read_transcripts(
    form: TranscriptFormat,
    source: &SourceText,
    case_from: Option<&str>,
) -> Result<Vec<Transcript>, Diagnostics> {
    let documents = documents(source)?;
    match form {
        TranscriptFormat::OpenAi => openai::read_openai(source, &documents),
        TranscriptFormat::Anthropic => anthropic::read_anthropic(source, &documents),
        TranscriptFormat::Otlp => otlp::read_traces(source, &documents, case_from),
    }
}

/// The values of a file: one, or one per line. Any white space separates them, as in JSON lines parsers.
fn documents(source: &SourceText) -> Result<Vec<&RawValue>, Diagnostic> {
    let mut values = serde_json::Deserializer::from_str(&source.text).into_iter::<&RawValue>();
    let mut documents = Vec::new();
    let mut read = 0;
    while let Some(value) = values.next() {
        match value {
            Ok(value) => documents.push(value),
            Err(_) => return Err(broken(source, read)),
        }
        read = values.byte_offset();
    }
    match documents.is_empty() {
        true => Err(source.problem(0, "empty-file", "the file is empty", "provide a transcript as JSON or JSON lines")),
        false => Ok(documents),
    }
}

/// The problem of invalid JSON from a byte offset on.
fn broken(source: &SourceText, start: usize) -> Diagnostic {
    let outcome: Result<&RawValue, Diagnostic> = json::read_json_part(source, start, &source.text[start..]);
    outcome.map_or_else(
        |problem| problem,
        |_| source.problem(start, "broken-json", "invalid JSON", "correct the syntax here"),
    )
}

impl TranscriptFormat {
    /// The name on the command line and in a record's provenance.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Otlp => "otlp",
        }
    }
}

impl Transcript {
    /// The record of this run under the suite's names.
    pub fn record(&self, form: TranscriptFormat, agent: AgentName, case: CaseId, sample: u32) -> RunRecord {
        let outputs = match &self.text {
            Some(text) => serde_json::json!({ "text": text }),
            None => serde_json::json!({}),
        };
        let mut metrics = self.metrics.clone();
        for call in &self.calls {
            *metrics.tool_call_counts.entry(call.name.clone()).or_default() += 1;
        }
        RunRecord {
            agent,
            case,
            sample,
            status: self.status,
            error: self.error.clone(),
            inputs: RunInputs { prompt: self.prompt.clone(), ..RunInputs::default() },
            outputs: Json::from(outputs.to_string()),
            intermediate: Steps::Seen {
                node_transitions: Vec::new(),
                tool_calls: self.calls.clone(),
                events: self.events.clone(),
            },
            evidence: RunEvidence::default(),
            metrics,
            provenance: RunProvenance {
                target: Some(format!("import {}", form.as_str())),
                provenance: Provenance { model: self.model.clone(), ..Provenance::default() },
                recorded_at: self.started_at.clone(),
                ..RunProvenance::default()
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::any;
    use proptest::proptest;

    use super::{TranscriptFormat, read_transcripts};
    use crate::files::SourceText;
    use crate::format::run_v1;
    use crate::model::{AgentName, CaseId, RepoPath, RunKey, SuiteId};

    const FORMS: [TranscriptFormat; 3] =
        [TranscriptFormat::OpenAi, TranscriptFormat::Anthropic, TranscriptFormat::Otlp];

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

    fn every_run_is_a_record(text: &str) {
        let source = SourceText::from_text(RepoPath::root().child("t.json"), text.to_owned());
        let key = RunKey {
            suite: SuiteId::new("s").unwrap(),
            agent: AgentName::new("a").unwrap(),
            case: CaseId::new("c").unwrap(),
        };
        for form in FORMS {
            for (sample, run) in (0_u32..).zip(read_transcripts(form, &source, None).unwrap_or_default()) {
                let text = run_v1::written(&run.record(form, key.agent.clone(), key.case.clone(), sample));
                let file = RepoPath::root().child("r.json");
                assert_eq!(
                    run_v1::read_run(&SourceText::from_text(file, text), &key, sample).unwrap().status,
                    run.status
                );
            }
        }
    }

    #[test]
    fn every_example_contains_a_run() {
        for (text, form) in TEXTS.iter().zip([
            TranscriptFormat::OpenAi,
            TranscriptFormat::OpenAi,
            TranscriptFormat::Anthropic,
            TranscriptFormat::Otlp,
        ]) {
            let source = SourceText::from_text(RepoPath::root().child("t.json"), (*text).to_owned());
            assert_eq!(read_transcripts(form, &source, None).map(|runs| runs.len()), Ok(1), "{text}");
            every_run_is_a_record(text);
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

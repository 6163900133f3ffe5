//! Converts transcripts of other tools (messages, spans) to run records. Their content is data and is kept.

mod anthropic;
mod content;
mod conversation_builder;
mod openai;
mod otlp;
mod recorded_run;

use serde_json::value::RawValue;

pub use self::recorded_run::{Transcript, TranscriptFormat};
use super::json;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::files::SourceText;

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
        true => {
            Err(source.problem(0, Code::EMPTY_FILE, "the file is empty", "provide a transcript as JSON or JSON lines"))
        }
        false => Ok(documents),
    }
}

/// The problem of invalid JSON from a byte offset on.
fn broken(source: &SourceText, start: usize) -> Diagnostic {
    let outcome: Result<&RawValue, Diagnostic> = json::read_json_part(source, start, &source.text[start..]);
    outcome.map_or_else(
        |problem| problem,
        |_| source.problem(start, Code::BROKEN_JSON, "invalid JSON", "correct the syntax here"),
    )
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

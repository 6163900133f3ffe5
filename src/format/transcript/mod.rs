//! Converts transcripts of other tools (messages, spans) to run records. Their content is data and is kept.

mod anthropic;
mod case_key;
mod content;
mod conversation_builder;
mod dates;
mod detect;
mod documents;
mod event_stream;
mod found_calls;
mod inspect;
mod langchain;
mod loose_message;
#[cfg(feature = "models")]
mod model_answers;
mod openai;
mod otlp;
mod promptfoo;
mod recorded_run;
mod request_log;
mod run_trees;
mod source_texts;
mod streamed_calls;

use std::collections::HashSet;
use std::slice;

pub use self::detect::format_of;
#[cfg(feature = "models")]
pub(crate) use self::model_answers::{OwnCalls, answer_transcripts};
use serde_json::value::RawValue;

use self::documents::documents;
use self::found_calls::unread_call;
pub use self::recorded_run::{RunNames, TranscriptFormat};
pub(crate) use self::recorded_run::{Transcript, TranscriptTurn};
use self::request_log::{JoinedConversation, has_exchanges};
pub use self::source_texts::source_texts;
use crate::diag::{Diagnostic, Diagnostics};
use crate::files::SourceText;
use crate::format::lenient;

/// Reads all runs of a file, in the file's order.
pub fn read_transcripts(
    form: TranscriptFormat,
    source: &SourceText,
    names: RunNames<'_>,
) -> Result<Vec<Transcript>, Diagnostics> {
    let documents = documents(source)?;
    let mut runs = match form {
        TranscriptFormat::OpenAi => read_chats(source, &documents, openai::read_openai)?,
        TranscriptFormat::Anthropic => read_chats(source, &documents, anthropic::read_anthropic)?,
        TranscriptFormat::Inspect => inspect::read_inspect(source, &documents)?,
        TranscriptFormat::Langchain => langchain::read_langchain(source, &documents)?,
        TranscriptFormat::Promptfoo => promptfoo::read_promptfoo(source, &documents)?,
        TranscriptFormat::OpenaiEvals => Vec::new(),
        TranscriptFormat::Otlp => return otlp::read_traces(source, &documents, names),
        TranscriptFormat::Langsmith | TranscriptFormat::Langfuse => {
            return run_trees::read_run_trees(form, source, &documents, names);
        }
    };
    if let TranscriptFormat::OpenAi | TranscriptFormat::Anthropic | TranscriptFormat::Langchain =
        form
    {
        refuse_unread_calls(source, &documents, &runs)?;
    }
    dates::add_dates(source, &documents, &mut runs);
    if let Some(key) = names.case_key {
        case_key::name_cases(source, &mut runs, key)?;
    }
    Ok(runs)
}

/// Refuses a call that is in none of the runs, because its form is unknown: the recording would say that it was never made.
fn refuse_unread_calls(
    source: &SourceText,
    documents: &[&RawValue],
    runs: &[Transcript],
) -> Result<(), Diagnostic> {
    let names = |runs: &[Transcript]| -> HashSet<String> {
        runs.iter()
            .flat_map(|run| &run.calls)
            .map(|call| last_part(&call.name).to_owned())
            .collect()
    };
    // An exchange that another one goes on from has no run of its own: then the names of all runs count for each record.
    let recorded: Vec<HashSet<String>> = match documents.len() == runs.len() {
        true => runs.iter().map(|run| names(slice::from_ref(run))).collect(),
        false => vec![names(runs)],
    };
    for (raw, recorded) in documents.iter().zip(recorded.iter().cycle()) {
        let value = lenient::any(raw.get()).unwrap_or_default();
        if let Some(name) = unread_call(&value, &|name| recorded.contains(last_part(name))) {
            return Err(content::foreign_call(source, raw, &name));
        }
    }
    Ok(())
}

/// A tool's name without that of its server.
fn last_part(name: &str) -> &str {
    name.rsplit(['.', '/']).next().unwrap_or(name)
}

type ReadRecords = fn(&SourceText, &[&RawValue]) -> Result<Vec<Transcript>, Diagnostics>;

/// Reads conversations, or exchanges that are put together to conversations. Those have the positions of their first exchange.
fn read_chats(
    source: &SourceText,
    records: &[&RawValue],
    read_records: ReadRecords,
) -> Result<Vec<Transcript>, Diagnostics> {
    if !records.iter().any(|record| has_exchanges(record)) {
        return read_records(source, records);
    }
    let mut problems = Diagnostics::default();
    let mut runs = Vec::new();
    for JoinedConversation { at, text } in request_log::join(source, records)? {
        let joined = SourceText::from_text(source.file.clone(), text);
        let read = documents(&joined)
            .map_err(Diagnostics::from)
            .and_then(|records| read_records(&joined, &records));
        let read = read.map_err(|found| found.all_at(source.point(at)));
        let read = problems.keep_all(read).unwrap_or_default();
        runs.extend(read.into_iter().map(|run| Transcript { at, ..run }));
    }
    problems.or(runs)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::any;
    use proptest::proptest;

    use super::{RunNames, TranscriptFormat, read_transcripts};
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

    fn every_run_is_a_record(text: &str) {
        let source = SourceText::from_text(RepoPath::root().child("t.json"), text.to_owned());
        let key = RunKey {
            suite: SuiteId::new("s").unwrap(),
            agent: AgentName::new("a").unwrap(),
            case: CaseId::new("c").unwrap(),
        };
        for form in TranscriptFormat::OF_RUNS {
            for (sample, run) in (0_u32..)
                .zip(read_transcripts(form, &source, RunNames::default()).unwrap_or_default())
            {
                let text =
                    run_v1::written(&run.record(form, key.agent.clone(), key.case.clone(), sample));
                let file = RepoPath::root().child("r.json");
                assert_eq!(
                    run_v1::read_run(&SourceText::from_text(file, text), &key, sample)
                        .unwrap()
                        .status,
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
            let source =
                SourceText::from_text(RepoPath::root().child("t.json"), (*text).to_owned());
            assert_eq!(
                read_transcripts(form, &source, RunNames::default()).map(|runs| runs.len()),
                Ok(1),
                "{text}"
            );
            every_run_is_a_record(text);
        }
    }

    #[test]
    fn calls_in_the_form_of_another_library_are_refused() {
        let call = r#""toolCallId": "1", "toolName": "delete", "input": {}"#;
        for message in [
            format!(r#""content": "ok", "toolInvocations": [{{ {call} }}]"#),
            format!(r#""content": "ok", "toolCalls": [{{ {call} }}]"#),
            format!(
                r#""content": [{{ "type": "tool-call", {call} }}, {{ "type": "text", "text": "ok" }}]"#
            ),
            format!(r#""content": "ok", "parts": [{{ "type": "tool-delete", {call} }}]"#),
            r#""content": "ok", "parts": [{ "type": "dynamic-tool" }]"#.to_owned(),
        ] {
            let text = format!(
                r#"[{{"role": "user", "content": "q"}}, {{"role": "assistant", {message}}}]"#
            );
            let source = SourceText::from_text(RepoPath::root().child("t.json"), text);
            for form in [TranscriptFormat::OpenAi, TranscriptFormat::Anthropic] {
                let refused = read_transcripts(form, &source, RunNames::default()).unwrap_err();
                let first = refused.first_line();
                assert!(
                    first.contains("is a call in a form that this format does not have"),
                    "{message}: {first}"
                );
            }
        }
        let function = r#"{"name": "delete", "arguments": "{}"}"#;
        let call = format!(
            r#"{{"type": "function_call", "call_id": "a", {}"#,
            &function[1..]
        );
        for (form, item) in [
            (TranscriptFormat::OpenAi, format!(r#"{{"type": "tool_call_item", "raw_item": {call}}}"#)),
            (TranscriptFormat::OpenAi, format!(r#"{{"type": "response.output_item.done", "item": {call}}}"#)),
            (TranscriptFormat::OpenAi, format!(r#"{{"type": "tool_execution", {}"#, &function[1..])),
            (TranscriptFormat::OpenAi, format!(r#"{{"role": "assistant", "content": "x", "tool_call": {{"function": {function}}}}}"#)),
            (TranscriptFormat::OpenAi, format!(r#"{{"role": "assistant", "content": "x", "additional_kwargs": {{"tool_calls": [{{"function": {function}}}]}}}}"#)),
            (TranscriptFormat::OpenAi, r#"{"role": "assistant", "content": "x", "items": [{"functionName": "delete", "arguments": {}}]}"#.to_owned()),
            (TranscriptFormat::Anthropic, r#"{"role": "assistant", "content": [{"type": "text", "text": "x"}, {"toolUse": {"name": "delete", "input": {}}}]}"#.to_owned()),
            (TranscriptFormat::Langchain, r#"{"type": "ai", "content": "x", "tool_call_chunks": [{"id": "a", "name": "delete", "args": "{}"}]}"#.to_owned()),
            (TranscriptFormat::Langchain, r#"{"type": "ai", "content": "x", "blocks": [{"tool_name": "delete", "tool_kwargs": {}}]}"#.to_owned()),
        ] {
            let text = format!(r#"[{{"role": "user", "content": "q"}}, {item}, {{"role": "assistant", "content": "ok"}}]"#);
            let source = SourceText::from_text(RepoPath::root().child("t.json"), text);
            let refused = read_transcripts(form, &source, RunNames::default());
            assert!(refused.is_err(), "{item}: {refused:?}");
        }
        let harmless = r#"[{"role": "assistant", "content": "ok", "toolInvocations": [], "toolCalls": null, "parts": [{"type": "text", "text": "ok"}]}]"#;
        let source = SourceText::from_text(RepoPath::root().child("t.json"), harmless.to_owned());
        assert!(read_transcripts(TranscriptFormat::OpenAi, &source, RunNames::default()).is_ok());
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

//! The run record of an agent that was captured: from what it printed, what it asked its model, and the spans that it exported.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use import::{AnsweredRequest, Call, Ending, Format, OwnCalls, Transcript, answer_transcripts};
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use crate::diag::{Code, Diagnostics};
use crate::files::SourceText;
use crate::format::run_v1;
use crate::format::transcript::{hints, parsed, read_runs, run_record, source_texts};
use crate::model::{
    AgentName, Answerer, CALL_LISTS, CaptureSource, CaseId, ExchangeWire, Json, RecordedExchange,
    RepoPath, RunStatus,
};
use crate::text::visible;

pub struct CapturedRun<'a> {
    /// What its record is made from.
    pub source: CaptureSource,
    pub agent: &'a AgentName,
    pub case: &'a CaseId,
    /// The sample, from 0.
    pub sample: u32,
    pub printed: &'a str,
    /// Its exchanges in the order of their requests.
    pub exchanges: &'a [RecordedExchange],
    /// The bodies of its exports of spans: JSON or protobuf.
    pub spans: &'a [Vec<u8>],
    /// The time of its model, in milliseconds.
    pub latency_ms: u64,
    /// Which of the calls that it tells are its own.
    pub calls: OwnCalls,
    /// What answered when it was recorded.
    pub before: AnswerBefore,
}

/// What the answer of a program was when it was recorded. Code that prints nothing any more does not answer what its model said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerBefore {
    /// It is being recorded now.
    None,
    /// The recording states it.
    By(Answerer),
    /// The recording is of an older goldgate, which did not state it.
    Unstated,
}

/// The record of a captured run: the text of a JSON object. What the agent printed is its answer; an agent that printed nothing
/// answered what its model said last, in a replay only if it did so when it was recorded. A printed object with `outputs` is taken
/// over as its outputs.
///
/// # Errors
/// What of the run cannot be read, so that its calls or its answer are not known.
pub fn captured_record(run: &CapturedRun<'_>) -> Result<String, String> {
    let (form, transcripts) = steps(run)?;
    let answered_by = answered_by(run)?;
    if answered_by == Answerer::Model && transcripts.is_empty() {
        return Err(
            "the program printed nothing and asked no model, so it gave no answer: let it print its answer".to_owned()
        );
    }
    let whole = joined(transcripts.into_iter());
    let mut record = run_record(
        &whole,
        form,
        run.agent.clone(),
        run.case.clone(),
        run.sample,
    );
    record.metrics.total_latency_ms = Some(run.latency_ms);
    record.metrics.model_calls = Some(answered_calls(run.exchanges) as u64);
    let mut own_calls = Vec::new();
    if answered_by == Answerer::Program {
        let printed = printed(run.printed)?;
        record.outputs = Json::from(printed.outputs.to_string());
        (record.status, record.error) = (printed.status, printed.error);
        own_calls = printed.calls;
        for (tool, count) in printed.counts {
            let known = record.metrics.tool_call_counts.entry(tool).or_default();
            *known = count.max(*known);
        }
    }
    let text = run_v1::written(&record);
    let mut fields: Map<String, Value> = serde_json::from_str(&text).unwrap_or_default();
    if let Some(Value::Object(steps)) = fields.get_mut("intermediate") {
        if let Some(Value::Array(calls)) = steps.get_mut("tool_calls") {
            let known: HashSet<String> = calls.iter().map(call_key).collect();
            calls.extend(
                own_calls
                    .into_iter()
                    .filter(|call| !known.contains(&call_key(call))),
            );
        }
        steps.insert("exchanges".to_owned(), json!(run.exchanges));
        // A list, which the turns of a conversation continue.
        steps.insert("answered_by".to_owned(), json!([answered_by]));
    }
    Ok(Value::Object(fields).to_string())
}

/// Whose words the answer is.
fn answered_by(run: &CapturedRun<'_>) -> Result<Answerer, String> {
    if !visible(run.printed)
        .as_deref()
        .unwrap_or(run.printed)
        .trim()
        .is_empty()
    {
        return Ok(Answerer::Program);
    }
    match run.before {
        AnswerBefore::None => Ok(Answerer::Model),
        AnswerBefore::By(answerer) => Ok(answerer),
        AnswerBefore::Unstated => {
            Err("the program printed nothing, and the recording does not state whether it printed its answer: record this case again \
                 with goldgate record"
                .to_owned())
        }
    }
}

/// The number of answers, also those that are of no model, such as those of a moderation.
pub fn answers(exchanges: &[RecordedExchange]) -> usize {
    exchanges
        .iter()
        .filter(|exchange| is_answered(exchange))
        .count()
}

/// The number of exchanges in which a model answered.
fn answered_calls(exchanges: &[RecordedExchange]) -> usize {
    exchanges
        .iter()
        .filter(|exchange| asks_model(exchange) && is_answered(exchange))
        .count()
}

/// What a program printed.
struct PrintedAnswer {
    outputs: Value,
    status: RunStatus,
    error: Option<String>,
    /// The calls that it states of itself.
    calls: Vec<Value>,
    /// The number of its calls by tool, where it states that.
    counts: BTreeMap<String, u64>,
}

/// Reads what a program printed: a run record, or the text of its answer.
///
/// # Errors
/// A status that no run record has.
fn printed(printed: &str) -> Result<PrintedAnswer, String> {
    let printed = printed.trim();
    if is_object(printed)
        && let Ok(Value::Object(mut fields)) = serde_json::from_str(printed)
        && let Some(outputs @ Value::Object(_)) = fields.remove("outputs")
    {
        let status = fields.remove("status").filter(|status| !status.is_null());
        let status = status.map_or(Ok(RunStatus::Completed), serde_json::from_value);
        let status = status.map_err(|error| {
            format!("the program printed a run record with another status: {error}")
        })?;
        let error = fields
            .get("error")
            .and_then(Value::as_str)
            .map(str::to_owned);
        let lists = CALL_LISTS
            .iter()
            .filter_map(|key| fields.get("intermediate")?.get(*key)?.as_array());
        let calls = lists.flatten().cloned().collect();
        let counts = fields
            .get("metrics")
            .map(|metrics| run_v1::tool_call_counts(&metrics.to_string()))
            .unwrap_or_default();
        return Ok(PrintedAnswer {
            outputs,
            status,
            error,
            calls,
            counts,
        });
    }
    let (status, error, calls) = (RunStatus::Completed, None, Vec::new());
    Ok(PrintedAnswer {
        outputs: json!({ "text": printed }),
        status,
        error,
        calls,
        counts: BTreeMap::new(),
    })
}

/// The name and the arguments of a call.
fn call_key(call: &Value) -> String {
    format!("{} {}", call["name"], call["arguments"])
}

fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// The steps of a run, in the format that they were read from.
fn steps(run: &CapturedRun<'_>) -> Result<(Format, Vec<Transcript>), String> {
    let asked = run
        .exchanges
        .iter()
        .filter(|exchange| asks_model(exchange) && is_answered(exchange));
    let asked: Vec<&RecordedExchange> = asked.collect();
    let is_of_spans = match run.source {
        CaptureSource::OpenAi | CaptureSource::Anthropic => false,
        CaptureSource::Otlp => true,
        CaptureSource::Auto => asked.is_empty(),
    };
    if is_of_spans {
        return Ok((Format::Otlp, traces(run)?));
    }
    let form = match asked.first().map(|exchange| exchange.wire) {
        Some(ExchangeWire::Anthropic) => Format::Anthropic,
        Some(ExchangeWire::OpenAi) | None => Format::OpenAi,
    };
    let bodies = asked.iter().map(|exchange| AnsweredRequest {
        request: &exchange.request.body,
        response: &exchange.response.body,
    });
    let mut answers = answer_transcripts(&bodies.collect::<Vec<_>>(), run.calls)?;
    for (step, answer) in (0_u32..).zip(&mut answers) {
        answer
            .calls
            .iter_mut()
            .for_each(|call| call.step = Some(step));
        // Its user did not say this: the agent did, between two answers.
        if step > 0
            && let Some(text) = answer.prompt.take()
        {
            let role = if answer.query.is_some() {
                "user"
            } else {
                "system"
            };
            answer.events.insert(0, Transcript::event(role, &text));
        }
    }
    Ok((form, answers))
}

/// Whether an exchange is a step of a conversation, and no other call such as a list of models.
fn asks_model(exchange: &RecordedExchange) -> bool {
    let path = exchange
        .request
        .path
        .split('?')
        .next()
        .unwrap_or_default()
        .trim_end_matches('/');
    // Some clients have more before it, such as the deployment of Azure.
    ["/chat/completions", "/responses", "/messages"]
        .iter()
        .any(|end| path.ends_with(end))
}

fn is_answered(exchange: &RecordedExchange) -> bool {
    (200..300).contains(&exchange.response.status)
}

/// The conversations in the spans that the agent exported.
fn traces(run: &CapturedRun<'_>) -> Result<Vec<Transcript>, String> {
    let file = RepoPath::root().child("spans");
    let mut lines = Vec::new();
    for body in run.spans {
        for text in source_texts(&file, body.clone()).map_err(unreadable_spans)? {
            let spans: Value = serde_json::from_str(&text.text).map_err(unreadable_spans)?;
            lines.push(spans.to_string());
        }
    }
    let source = SourceText::from_text(file, lines.join("\n"));
    let hints = hints(None, Some(run.agent.as_str()));
    let read = if lines.is_empty() {
        Vec::new()
    } else {
        match parsed(&source)
            .map_err(Diagnostics::from)
            .and_then(|file| read_runs(&source, &file, Format::Otlp, hints))
            .map_err(Diagnostics::sorted)
        {
            Ok(read) => read,
            // Spans of other things, such as requests over HTTP.
            Err(problems) if problems.iter().all(|problem| problem.code == Code::NO_RUN) => {
                Vec::new()
            }
            Err(problems) => {
                return Err(unreadable_spans(
                    problems.first().map_or("", |problem| &problem.what),
                ));
            }
        }
    };
    if read.is_empty() && run.source == CaptureSource::Otlp {
        return Err("the program exported no span of a model, an agent or a tool".to_owned());
    }
    Ok(match run.calls {
        OwnCalls::All => read,
        OwnCalls::OfLastTurn => read.into_iter().map(with_calls_of_last_turn).collect(),
    })
}

fn unreadable_spans(problem: impl fmt::Display) -> String {
    format!("the spans cannot be read: {problem}")
}

/// A transcript without the calls of earlier turns.
fn with_calls_of_last_turn(mut transcript: Transcript) -> Transcript {
    let last = transcript
        .turns
        .len()
        .checked_sub(1)
        .and_then(|last| u32::try_from(last).ok());
    transcript
        .calls
        .retain(|call| call.turn.is_none() || call.turn == last);
    transcript
}

/// One transcript of all conversations of a run: the first one's question, all calls, and the last one's answer.
fn joined(transcripts: impl Iterator<Item = Transcript>) -> Transcript {
    let mut whole: Option<Transcript> = None;
    for next in transcripts {
        whole = Some(match whole {
            None => next,
            Some(mut transcript) => {
                let said = transcript.text.take().filter(|text| !text.is_empty());
                transcript
                    .events
                    .extend(said.map(|text| Transcript::event("assistant", &text)));
                transcript.calls.extend(next.calls);
                transcript.events.extend(next.events);
                transcript.usage.add_tokens_of(&next.usage);
                transcript.text = next.text;
                transcript
            }
        });
    }
    let mut whole = whole.unwrap_or_default();
    // The turns are those between the agent and its model, not those between the user and the agent.
    whole.calls.iter_mut().for_each(|call| call.turn = None);
    Call::clear_single_step(&mut whole.calls);
    // The program ended well: what one of its calls ended with does not decide.
    Transcript {
        ending: Ending::Completed,
        error: None,
        turns: Vec::new(),
        ..whole
    }
}

#[cfg(test)]
mod tests {
    use super::{AnswerBefore, CaptureSource, CapturedRun, OwnCalls, captured_record, printed};
    use crate::model::{AgentName, CaseId, RunStatus};

    fn record(source: CaptureSource, spans: &[Vec<u8>]) -> Result<String, String> {
        let (agent, case) = (AgentName::new("helper").unwrap(), CaseId::new("a").unwrap());
        let (sample, printed, exchanges, latency_ms, calls) = (0, "Hello.", &[], 1, OwnCalls::All);
        captured_record(&CapturedRun {
            source,
            agent: &agent,
            case: &case,
            sample,
            printed,
            exchanges,
            spans,
            latency_ms,
            calls,
            before: AnswerBefore::None,
        })
    }

    #[test]
    fn a_printed_run_record_may_have_anything_as_its_steps() {
        for steps in ["null", "\"none\"", "[1]", "7", "{\"tool_calls\": 7}"] {
            let text = format!("{{\"outputs\": {{\"text\": \"x\"}}, \"intermediate\": {steps}}}");
            let read = printed(&text).unwrap();
            assert!(
                read.calls.is_empty() && read.status == RunStatus::Completed,
                "{steps}"
            );
        }
        assert!(printed("{\"outputs\": {}, \"status\": \"well\"}").is_err());
    }

    #[test]
    fn without_a_span_of_a_model_the_calls_are_known_only_if_the_exchanges_tell_them() {
        let span = r#"{"traceId":"aa","spanId":"bb","name":"GET /","startTimeUnixNano":"1","endTimeUnixNano":"2"}"#;
        let of_http = format!(r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{span}]}}]}}]}}"#)
            .into_bytes();
        for spans in [vec![], vec![of_http]] {
            assert!(
                record(CaptureSource::Auto, &spans)
                    .unwrap()
                    .contains("\"tool_calls\":[]")
            );
            let why = "the program exported no span of a model, an agent or a tool";
            assert_eq!(record(CaptureSource::Otlp, &spans), Err(why.to_owned()));
        }
        let why = record(CaptureSource::Auto, &[b"{".to_vec()]).unwrap_err();
        assert!(why.starts_with("the spans cannot be read: "), "{why}");
    }
}

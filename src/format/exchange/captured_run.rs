//! The run record of an agent that was captured: from what it printed, what it asked its model, and the spans that it exported.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::is_object;
use crate::files::SourceText;
use crate::format::run_v1;
use crate::format::transcript::{Transcript, TranscriptFormat, read_transcripts, source_texts};
use crate::model::{
    AgentName, CaptureSource, CaseId, ExchangeWire, Json, Measures, RecordedExchange, RepoPath, RunStatus,
};

/// What was seen of a run.
pub struct CapturedRun<'a> {
    /// What its record is made from.
    pub source: CaptureSource,
    /// The agent.
    pub agent: &'a AgentName,
    /// The case.
    pub case: &'a CaseId,
    /// The sample, from 0.
    pub sample: u32,
    /// What it printed.
    pub printed: &'a str,
    /// Its exchanges in the order of their requests.
    pub exchanges: &'a [RecordedExchange],
    /// The bodies of its exports of spans: JSON or protobuf.
    pub spans: &'a [Vec<u8>],
    /// The time of its model, in milliseconds.
    pub latency_ms: u64,
    /// Which of the calls in its exchanges it made itself.
    pub calls: OwnCalls,
}

/// Which calls in the exchanges of a run are its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnCalls {
    /// All.
    All,
    /// Those after the user's last message: the run is a turn of a conversation, and its requests repeat the turns before.
    OfLastTurn,
}

/// The record of a captured run: the text of a JSON object. What the agent printed is its answer; an agent that printed nothing
/// answered what its model said last. A printed object with `outputs` is taken over as its outputs.
pub fn captured_record(run: &CapturedRun<'_>) -> String {
    let (form, transcripts) = transcripts(run);
    let own = |transcript: Transcript| match run.calls {
        OwnCalls::All => transcript,
        OwnCalls::OfLastTurn => with_calls_of_last_turn(transcript),
    };
    let whole = joined(transcripts.into_iter().map(own));
    let mut record = whole.record(form, run.agent.clone(), run.case.clone(), run.sample);
    record.metrics.total_latency_ms = Some(run.latency_ms);
    let calls = run.exchanges.iter().filter(|exchange| asks_model(exchange) && is_answered(exchange)).count();
    record.metrics.model_calls = Some(calls as u64);
    if let Some(outputs) = outputs(run.printed) {
        record.outputs = Json::from(outputs.to_string());
    }
    let text = run_v1::written(&record);
    let mut fields: Map<String, Value> = serde_json::from_str(&text).unwrap_or_default();
    if let Some(Value::Object(steps)) = fields.get_mut("intermediate") {
        steps.insert("exchanges".to_owned(), json!(run.exchanges));
    }
    Value::Object(fields).to_string()
}

/// The outputs that an agent printed; `None` if it printed nothing.
fn outputs(printed: &str) -> Option<Value> {
    let printed = printed.trim();
    if printed.is_empty() {
        return None;
    }
    if is_object(printed)
        && let Ok(Value::Object(mut fields)) = serde_json::from_str(printed)
        && let Some(outputs @ Value::Object(_)) = fields.remove("outputs")
    {
        return Some(outputs);
    }
    Some(json!({ "text": printed }))
}

/// The conversations of a run, in the format that they were read from.
fn transcripts(run: &CapturedRun<'_>) -> (TranscriptFormat, Vec<Transcript>) {
    let of_wire = |wire: ExchangeWire| match wire {
        ExchangeWire::OpenAi => TranscriptFormat::OpenAi,
        ExchangeWire::Anthropic => TranscriptFormat::Anthropic,
    };
    let asked = run.exchanges.iter().filter(|exchange| asks_model(exchange) && is_answered(exchange));
    let wire = match run.source {
        CaptureSource::OpenAi => Some(ExchangeWire::OpenAi),
        CaptureSource::Anthropic => Some(ExchangeWire::Anthropic),
        CaptureSource::Otlp => None,
        CaptureSource::Auto => asked.clone().next().map(|exchange| exchange.wire),
    };
    let Some(wire) = wire else { return (TranscriptFormat::Otlp, traces(run.spans)) };
    let lines: Vec<String> =
        asked.filter(|exchange| exchange.wire == wire).map(|exchange| json!(exchange).to_string()).collect();
    (of_wire(wire), read(of_wire(wire), &lines.join("\n")))
}

/// Whether an exchange is a step of a conversation, and no other call such as a list of models.
fn asks_model(exchange: &RecordedExchange) -> bool {
    let path = exchange.request.path.split('?').next().unwrap_or_default();
    ["/chat/completions", "/responses", "/messages"].contains(&path)
}

fn is_answered(exchange: &RecordedExchange) -> bool {
    (200..300).contains(&exchange.response.status)
}

fn traces(spans: &[Vec<u8>]) -> Vec<Transcript> {
    let file = RepoPath::root().child("spans");
    let texts = spans.iter().filter_map(|body| source_texts(&file, body.clone()).ok()).flatten();
    let lines: Vec<String> =
        texts.filter_map(|text| Some(serde_json::from_str::<Value>(&text.text).ok()?.to_string())).collect();
    read(TranscriptFormat::Otlp, &lines.join("\n"))
}

fn read(form: TranscriptFormat, lines: &str) -> Vec<Transcript> {
    let source = SourceText::from_text(RepoPath::root().child("exchanges"), lines.to_owned());
    // What cannot be read has no steps; what the agent printed still counts.
    read_transcripts(form, &source, None).unwrap_or_default()
}

/// A transcript without the calls of earlier turns.
fn with_calls_of_last_turn(mut transcript: Transcript) -> Transcript {
    let last = transcript.turns.len().checked_sub(1).and_then(|last| u32::try_from(last).ok());
    transcript.calls.retain(|call| call.turn.is_none() || call.turn == last);
    transcript
}

/// One transcript of all conversations of a run: the first one's question, all calls, and the last one's answer.
fn joined(transcripts: impl Iterator<Item = Transcript>) -> Transcript {
    let mut whole: Option<Transcript> = None;
    for next in transcripts {
        whole = Some(match whole {
            None => next,
            Some(mut before) => {
                before.calls.extend(next.calls);
                before.events.extend(next.events);
                before.metrics = std::mem::take(&mut before.metrics).with_tokens_of(&next.metrics);
                before.text = next.text.or(before.text);
                before
            }
        });
    }
    let blank = Transcript {
        at: 0,
        agent: None,
        case: None,
        status: RunStatus::Completed,
        error: None,
        prompt: None,
        query: None,
        interjected: None,
        instructed: None,
        turns: Vec::new(),
        text: None,
        calls: Vec::new(),
        events: Vec::new(),
        metrics: Measures::default(),
        model: None,
        started_at: None,
        left_out: BTreeMap::new(),
    };
    let mut whole = whole.unwrap_or(blank);
    // The turns are those between the agent and its model, not those between the user and the agent.
    whole.calls.iter_mut().for_each(|call| call.turn = None);
    // The program ended well: what one of its calls ended with does not decide.
    Transcript { status: RunStatus::Completed, error: None, turns: Vec::new(), ..whole }
}

//! Creates the spans of one sample: the agent's run, and its model and tool calls as children.

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::attributes::{bounded, count, message, number, only, text, text_of};
use super::wire::{OtlpAttribute, OtlpSpan, SpanCode, SpanKind, SpanStatus as Ending};
use super::{Content, ExportedRun};
use crate::format::lenient;
use crate::model::{
    ModelCall, ModelCallResult, Period, RunRecord, RunStatus, StopReason, ToolCall, Traced,
};

/// Most spans of one kind in a sample, so that an endless loop cannot flood the receiver.
const MOST: usize = 1000;
/// Longest span name, in bytes: a model chooses the tool name.
const NAME_BYTES: usize = 128;
/// Longest error text, in bytes.
const ERROR_BYTES: usize = 500;

/// All spans of a sample, the agent's first. Each sample is a trace.
pub fn of(run: &ExportedRun, sample: &Traced) -> Vec<OtlpSpan> {
    let trace = TraceBuilder::of(run, sample);
    let mut spans = vec![trace.agent()];
    let chats = sample.chats.iter().take(MOST).enumerate();
    spans.extend(chats.map(|(index, chat)| trace.chat(index, chat)));
    let calls = sample
        .record
        .intermediate
        .seen_calls()
        .iter()
        .take(MOST)
        .enumerate();
    spans.extend(calls.map(|(index, call)| trace.tool(index, call)));
    spans
}

struct TraceBuilder<'a> {
    sample: &'a Traced,
    content: Content,
    id: [u8; 32],
}

impl<'a> TraceBuilder<'a> {
    /// Ids derive from the run's start and the sample's names: nothing is random, and two runs never share a trace.
    fn of(run: &ExportedRun, sample: &'a Traced) -> Self {
        let RunRecord {
            agent,
            case,
            sample: number,
            ..
        } = &sample.record;
        let names = [
            run.started_at.as_str(),
            sample.suite.as_str(),
            agent.as_str(),
            case.as_str(),
        ];
        let mut hash = Sha256::new();
        for name in names {
            hash.update(name);
            hash.update([0]);
        }
        hash.update(number.to_be_bytes());
        hash.update(sample.period.start.to_be_bytes());
        Self {
            sample,
            content: run.content,
            id: hash.finalize().into(),
        }
    }

    fn span_id(&self, kind: &str, index: usize) -> Vec<u8> {
        let mut hash = Sha256::new();
        hash.update(self.id);
        hash.update(kind);
        hash.update(index.to_be_bytes());
        hash.finalize()[..8].to_vec()
    }

    fn span(
        &self,
        kind: (&str, SpanKind),
        index: usize,
        name: &str,
        period: Period,
        attributes: Vec<OtlpAttribute>,
    ) -> OtlpSpan {
        let (operation, kind) = kind;
        let parent = if operation == AGENT {
            Vec::new()
        } else {
            self.span_id(AGENT, 0)
        };
        OtlpSpan {
            trace_id: self.id[..16].to_vec(),
            span_id: self.span_id(operation, index),
            parent_span_id: parent,
            name: bounded(&format!("{operation} {name}"), NAME_BYTES),
            kind: kind.into(),
            start_time_unix_nano: period.start,
            end_time_unix_nano: period.end.max(period.start),
            attributes,
            status: None,
        }
    }

    fn agent(&self) -> OtlpSpan {
        let Traced {
            suite,
            record,
            period,
            provider,
            chats,
            ..
        } = self.sample;
        let answered_by = record.provenance.provenance.model.as_deref();
        let mut attributes = vec![
            text("gen_ai.operation.name", AGENT),
            text("gen_ai.agent.name", record.agent.as_str()),
        ];
        attributes.extend(text_of("gen_ai.provider.name", provider.as_deref()));
        attributes.extend(text_of(
            "gen_ai.request.model",
            chats.first().map(|chat| chat.asked.as_str()),
        ));
        attributes.extend(text_of("gen_ai.response.model", answered_by));
        attributes.extend(
            record
                .metrics
                .input_tokens
                .map(|tokens| count("gen_ai.usage.input_tokens", tokens)),
        );
        attributes.extend(
            record
                .metrics
                .output_tokens
                .map(|tokens| count("gen_ai.usage.output_tokens", tokens)),
        );
        attributes.push(text("goldgate.suite", suite.as_str()));
        attributes.push(text("goldgate.agent", record.agent.as_str()));
        attributes.push(text("goldgate.case", record.case.as_str()));
        attributes.push(count("goldgate.sample", record.sample.into()));
        attributes.push(text("goldgate.status", record.status.as_str()));
        attributes.extend(text_of(
            "goldgate.target",
            record.provenance.target.as_deref(),
        ));
        attributes.extend(text_of(
            "goldgate.cache",
            record.provenance.provenance.cache.as_deref(),
        ));
        attributes.extend(
            record
                .metrics
                .cost_usd
                .map(|cost| number("goldgate.cost_usd", cost)),
        );
        let calls = record.intermediate.seen_calls().len();
        let missing = calls.saturating_sub(MOST) + chats.len().saturating_sub(MOST);
        attributes.extend((missing > 0).then(|| count("goldgate.spans_left_out", missing as u64)));
        if self.content == Content::Sent {
            let prompt = record.inputs.prompt.as_deref();
            attributes
                .extend(prompt.map(|prompt| message("gen_ai.input.messages", "user", prompt)));
            attributes.push(message(
                "gen_ai.output.messages",
                "assistant",
                &answer(record),
            ));
        }
        let failed = match record.status {
            RunStatus::Completed => None,
            RunStatus::Error | RunStatus::Timeout | RunStatus::Stalled | RunStatus::Cancelled => {
                Some(record.status.as_str())
            }
        };
        let span = self.span(
            (AGENT, SpanKind::Internal),
            0,
            record.agent.as_str(),
            *period,
            attributes,
        );
        self.ended(span, failed, record.error.as_deref())
    }

    fn chat(&self, index: usize, chat: &ModelCall) -> OtlpSpan {
        let ModelCall {
            period,
            provider,
            asked,
            outcome,
        } = chat;
        let mut attributes = vec![
            text("gen_ai.operation.name", CHAT),
            text("gen_ai.provider.name", provider),
        ];
        attributes.push(text("gen_ai.request.model", asked));
        let failed = match outcome {
            ModelCallResult::Turn { model, stop, spent } => {
                attributes.extend(text_of("gen_ai.response.model", model.as_deref()));
                attributes.push(only("gen_ai.response.finish_reasons", reason(stop)));
                attributes.push(count("gen_ai.usage.input_tokens", spent.input));
                attributes.push(count(
                    "gen_ai.usage.cache_read.input_tokens",
                    spent.cached_input,
                ));
                attributes.push(count("gen_ai.usage.output_tokens", spent.output));
                None
            }
            ModelCallResult::Fault(word) => Some(word.as_str()),
        };
        let span = self.span((CHAT, SpanKind::Client), index, asked, *period, attributes);
        self.ended(span, failed, None)
    }

    fn tool(&self, index: usize, call: &ToolCall) -> OtlpSpan {
        let mut attributes = vec![
            text("gen_ai.operation.name", TOOL),
            text("gen_ai.tool.name", &call.name),
        ];
        attributes.push(text("gen_ai.tool.type", "function"));
        if self.content == Content::Sent {
            attributes.push(text("gen_ai.tool.call.arguments", call.arguments.text()));
            attributes.push(text("gen_ai.tool.call.result", call.result.text()));
        }
        let start = self.sample.period.start;
        let length = call.latency_ms.unwrap_or(0).saturating_mul(1_000_000);
        let unknown = Period {
            start,
            end: start.saturating_add(length),
        };
        let period = self.sample.tools.get(index).copied().unwrap_or(unknown);
        let span = self.span(
            (TOOL, SpanKind::Internal),
            index,
            &call.name,
            period,
            attributes,
        );
        self.ended(
            span,
            call.error.as_ref().map(|_| "tool_error"),
            call.error.as_deref(),
        )
    }

    /// The kind of a failure is always exported; its text may come from an agent and follows [`Content`].
    fn ended(&self, mut span: OtlpSpan, failed: Option<&str>, words: Option<&str>) -> OtlpSpan {
        let Some(kind) = failed else { return span };
        span.attributes.push(text("error.type", kind));
        let message = match (self.content, words) {
            (Content::Sent, Some(words)) => bounded(words, ERROR_BYTES),
            (Content::Sent, None) | (Content::Kept, _) => kind.to_owned(),
        };
        OtlpSpan {
            status: Some(Ending {
                message,
                code: SpanCode::Error.into(),
            }),
            ..span
        }
    }
}

const AGENT: &str = "invoke_agent";
const CHAT: &str = "chat";
const TOOL: &str = "execute_tool";

/// The `text` of the outputs if there is one, else the whole outputs.
fn answer(record: &RunRecord) -> String {
    let outputs = record.outputs.text();
    let text = lenient::any(outputs)
        .ok()
        .and_then(|value| value.get("text").and_then(Value::as_str).map(str::to_owned));
    text.unwrap_or_else(|| outputs.to_owned())
}

fn reason(stop: &StopReason) -> &str {
    match stop {
        StopReason::End => "stop",
        StopReason::Length => "length",
        StopReason::Refused => "content_filter",
        StopReason::Other(word) => word,
    }
}

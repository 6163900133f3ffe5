//! Reads OTLP traces in JSON with the GenAI semantic conventions: one trace is one run.

mod answer;
mod calls;
mod messages;
mod openinference;
mod protobuf;
mod span;
mod stated;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::Value;

use self::calls::Calls;
pub use self::protobuf::json_of_protobuf;
pub use self::span::{Attributes, TraceSpan};
use self::span::{SpanOperation, is_inside};
use self::stated::{StatedCall, stated_calls};
use crate::conversations::is_of_limit;
use crate::message::{Message, Part, ResultPart, Role, readable_conversation};
use crate::problem::{Problem, ProblemKind, all_or_problems};
use crate::source::Source;
use crate::transcript::{Call, Hints, Transcript, Turn, Usage};
use crate::usage;

/// Reads the traces of a file, earliest first; a span that was exported twice counts once.
pub fn read_traces(source: &Source<'_>, hints: Hints<'_>) -> Result<Vec<Transcript>, Vec<Problem>> {
    let spans = source
        .documents
        .iter()
        .map(|document| span::spans(source.text, document.raw));
    let spans = all_or_problems(spans)?.into_iter().flatten().collect();
    runs_of(spans, hints)
}

/// The runs of spans, earliest first: each trace with a model, an agent or a tool is a run.
///
/// # Errors
/// No trace is a run, or a run has no attribute with its case.
pub fn runs_of(spans: Vec<TraceSpan>, hints: Hints<'_>) -> Result<Vec<Transcript>, Vec<Problem>> {
    let mut traces: BTreeMap<String, Vec<TraceSpan>> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for mut span in spans {
        openinference::translate(&mut span.attributes);
        // Without an id, or with the id of another tool, it copies no other span.
        let tool = span.tool().map(str::to_owned);
        if span.id.is_empty() || seen.insert((span.trace.clone(), span.id.clone(), tool)) {
            traces.entry(span.trace.clone()).or_default().push(span);
        }
    }
    let mut runs: Vec<TraceSpans> = traces.into_values().map(TraceSpans::of).collect();
    let all = runs.len();
    runs.retain(TraceSpans::is_run);
    runs.sort_by_key(|trace| (trace.start(), trace.at()));
    if runs.is_empty() {
        let description = "this file has no spans of a model, an agent or a tool";
        let help = "provide traces with gen_ai.operation.name (GenAI conventions) or openinference.span.kind (OpenInference)";
        return Err(vec![Problem::new(0, ProblemKind::NoRun, description, help)]);
    }
    let mut transcripts = all_or_problems(runs.iter().map(|trace| trace.transcript(hints)))?;
    if let (Some(first), Ok(foreign @ 1..)) =
        (transcripts.first_mut(), u32::try_from(all - runs.len()))
    {
        first
            .left_out
            .insert("trace without GenAI spans".to_owned(), foreign);
    }
    Ok(transcripts)
}

/// The spans of one trace, earliest first.
struct TraceSpans {
    spans: Vec<TraceSpan>,
}

impl TraceSpans {
    fn of(mut spans: Vec<TraceSpan>) -> Self {
        spans.sort_by_key(|span| (span.start, span.at));
        Self { spans }
    }

    fn is_run(&self) -> bool {
        self.spans
            .iter()
            .any(|span| span.operation() != SpanOperation::Other)
    }

    fn start(&self) -> i64 {
        self.spans.first().map_or(0, |span| span.start)
    }

    fn at(&self) -> usize {
        self.spans.iter().map(|span| span.at).min().unwrap_or(0)
    }

    fn of_operation(&self, operation: SpanOperation) -> impl Iterator<Item = &TraceSpan> {
        self.spans
            .iter()
            .filter(move |span| span.operation() == operation)
    }

    /// The outermost agent span; of several, the last one with this name, else the first. OpenInference also calls the steps of a graph agents: such a
    /// span contains all model calls.
    fn agent(&self, name: Option<&str>, attribute: &str) -> Option<&TraceSpan> {
        let all = self.outermost(SpanOperation::Agent);
        let named = all.iter().copied().rfind(|span| {
            let stated = span.text(&[attribute, "gen_ai.agent.name"]);
            stated
                .zip(name)
                .is_some_and(|(stated, name)| stated.eq_ignore_ascii_case(name))
        });
        let outermost = named.or_else(|| all.first().copied())?;
        if !outermost.attributes.contains_key("openinference.span.kind") {
            return Some(outermost);
        }
        // A step is the agent only if every model's span is inside of it.
        let alone = BTreeSet::from([outermost.id.as_str()]);
        let parents = self.parents();
        let contains_all = self
            .of_operation(SpanOperation::Chat)
            .all(|chat| is_inside(chat, &alone, &parents));
        contains_all.then_some(outermost)
    }

    /// The model calls. Two instrumentations of one call write a span each, one inside the other: the outer one counts.
    fn chats(&self) -> Vec<&TraceSpan> {
        self.outermost(SpanOperation::Chat)
    }

    fn outermost(&self, operation: SpanOperation) -> Vec<&TraceSpan> {
        let all: BTreeSet<&str> = self
            .of_operation(operation)
            .map(|span| span.id.as_str())
            .collect();
        let parents = self.parents();
        self.of_operation(operation)
            .filter(|span| !is_inside(span, &all, &parents))
            .collect()
    }

    fn parents(&self) -> BTreeMap<&str, &str> {
        self.spans
            .iter()
            .map(|span| (span.id.as_str(), span.parent.as_str()))
            .collect()
    }

    fn transcript(&self, hints: Hints<'_>) -> Result<Transcript, Problem> {
        let stated = self.first_text(hints.agent_attribute);
        let agent = self.agent(hints.agent.or(stated.as_deref()), hints.agent_attribute);
        let chats = self.chats();
        let last = chats
            .iter()
            .copied()
            .max_by_key(|span| (span.end, span.start));
        let outputs: Vec<(&TraceSpan, Vec<Message>)> = chats
            .iter()
            .map(|span| (*span, messages::output(span)))
            .collect();
        let text = answer::answer(&self.spans, agent, last);
        let asked = agent
            .map(messages::input)
            .filter(|messages| !messages.is_empty());
        let asked = asked
            .or_else(|| chats.first().map(|span| messages::input(span)))
            .unwrap_or_default();
        let (ending, error) = answer::ended(&self.spans, agent);
        let case = self.first_text(hints.case_key.unwrap_or(hints.case_attribute));
        if let (Some(key), None) = (hints.case_key, &case) {
            let help = "choose an attribute that each trace has on one of its spans";
            let description = format!("no span of this trace has the attribute {key:?}");
            return Err(Problem::new(
                self.at(),
                ProblemKind::NoCase,
                description,
                help,
            ));
        }
        let said = turns(agent, last);
        let mut calls = self.calls(&chats);
        let is_same = said
            .calls
            .iter()
            .map(|(name, _)| name)
            .eq(calls.iter().map(|call| &call.name));
        if is_same {
            for (call, (_, turn)) in calls.iter_mut().zip(&said.calls) {
                call.turn = *turn;
            }
        }
        Ok(Transcript {
            at: self.at(),
            agent: stated.or_else(|| Some(agent?.text(&["gen_ai.agent.name"])?.to_owned())),
            variant: None,
            case,
            ending,
            error,
            prompt: prompt(&asked),
            query: query(&asked),
            interjected: interjected(&asked).or_else(|| {
                agent
                    .is_none()
                    .then(|| interjected(&messages::input(last?)))?
            }),
            instructed: said.instructed,
            turns: said.turns,
            events: between(&outputs, text.as_deref()),
            text,
            calls,
            usage: self.usage(agent, &chats),
            model: last.and_then(model_of).or_else(|| agent.and_then(model_of)),
            is_cut_off: last.is_some_and(is_cut_off),
            started_at: started_at(agent.map_or(self.start(), |span| span.start)),
            record: None,
            passed: None,
            left_out: left_out(
                outputs
                    .iter()
                    .flat_map(|(_, messages)| messages)
                    .chain(&asked),
            ),
        })
    }

    /// The text of an attribute on the first span that has it.
    fn first_text(&self, attribute: &str) -> Option<String> {
        let mut texts = self.spans.iter().filter_map(|span| span.text(&[attribute]));
        texts.next().map(str::to_owned)
    }

    /// The calls that the messages of all spans tell, with the data of the tools' spans, in order of time.
    fn calls(&self, models: &[&TraceSpan]) -> Vec<Call> {
        let mut calls = Calls::default();
        for StatedCall { at, part, .. } in stated_calls(&self.spans, models, &self.parents()) {
            calls.made(part, at);
        }
        let inputs = self.spans.iter().flat_map(messages::input);
        for part in inputs
            .chain(self.spans.iter().flat_map(messages::output))
            .flat_map(|message| message.parts)
        {
            if let Part::Result(ResultPart {
                id: Some(id),
                result,
                ..
            }) = part
            {
                calls.answered(&id, result);
            }
        }
        self.of_operation(SpanOperation::Tool)
            .for_each(|span| calls.executed(span));
        calls.in_order()
    }

    fn usage(&self, agent: Option<&TraceSpan>, chats: &[&TraceSpan]) -> Usage {
        const INPUT: [&str; 2] = ["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"];
        const OUTPUT: [&str; 2] = [
            "gen_ai.usage.output_tokens",
            "gen_ai.usage.completion_tokens",
        ];
        let mut all = Usage::default();
        for span in chats {
            usage::add(&mut all.input_tokens, span.count(&INPUT));
            usage::add(&mut all.output_tokens, span.count(&OUTPUT));
        }
        // An agent's own count is the sum of its calls: use it only if these have none.
        if let (None, None, Some(agent)) = (all.input_tokens, all.output_tokens, agent) {
            all.input_tokens = agent.count(&INPUT);
            all.output_tokens = agent.count(&OUTPUT);
        }
        usage::add(&mut all.total_tokens, all.input_tokens);
        usage::add(&mut all.total_tokens, all.output_tokens);
        let end = self.spans.iter().map(|span| span.end).max().unwrap_or(0);
        all.latency_ms = agent
            .and_then(TraceSpan::latency_ms)
            .or_else(|| span::milliseconds(self.start(), end));
        all
    }
}

/// The messages before the first answer.
fn prompt(messages: &[Message]) -> Option<String> {
    let asked = messages
        .iter()
        .take_while(|message| message.role != Role::Assistant)
        .map(Message::text);
    let texts: Vec<String> = asked.filter(|text| !text.is_empty()).collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

#[derive(Default)]
struct TraceTurns {
    turns: Vec<Turn>,
    instructed: Option<String>,
    /// The calls by name, each with its turn.
    calls: Vec<(String, Option<u32>)>,
}

/// The turns in the messages of the agent's span, else in those of the last call of a model, which has the whole conversation.
fn turns(agent: Option<&TraceSpan>, last: Option<&TraceSpan>) -> TraceTurns {
    let of_agent = agent.filter(|span| !messages::input(span).is_empty());
    let Some(span) = of_agent.or(last) else {
        return TraceTurns::default();
    };
    match readable_conversation(
        messages::input(span)
            .into_iter()
            .chain(messages::output(span)),
    ) {
        Some(read) => TraceTurns {
            turns: read.turns,
            instructed: read.instructed,
            calls: read
                .calls
                .into_iter()
                .map(|call| (call.name, call.turn))
                .collect(),
        },
        None => TraceTurns::default(),
    }
}

/// The user's first message.
fn query(messages: &[Message]) -> Option<String> {
    let mut texts = messages
        .iter()
        .filter(|message| message.role == Role::User)
        .map(Message::text);
    texts.find(|text| !text.is_empty())
}

/// User or system messages after the user's first message.
fn interjected(messages: &[Message]) -> Option<String> {
    let mut after = messages
        .iter()
        .skip_while(|message| message.role != Role::User || message.text().is_empty())
        .skip(1);
    after
        .find(|message| {
            ![Role::Assistant, Role::Tool].contains(&message.role) && !message.text().is_empty()
        })
        .map(Message::text)
}

fn model_of(span: &TraceSpan) -> Option<String> {
    span.text(&["gen_ai.response.model", "gen_ai.request.model"])
        .map(str::to_owned)
}

/// The texts of answers before the last one.
fn between(outputs: &[(&TraceSpan, Vec<Message>)], last: Option<&str>) -> Vec<Value> {
    let texts = outputs
        .iter()
        .flat_map(|(_, messages)| messages)
        .map(Message::text);
    let kept = texts.filter(|text| !text.is_empty() && Some(text.as_str()) != last);
    kept.map(|text| Transcript::event("assistant", &text))
        .collect()
}

fn is_cut_off(model: &TraceSpan) -> bool {
    let reasons = model.attributes.get("gen_ai.response.finish_reasons");
    let mut reasons = reasons.and_then(Value::as_array).into_iter().flatten();
    reasons.any(|reason| reason.as_str().is_some_and(is_of_limit))
}

fn started_at(nanos: i64) -> Option<String> {
    let moment = Timestamp::from_nanosecond(i128::from(nanos))
        .ok()
        .filter(|_| nanos > 0)?;
    Some(moment.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

fn left_out<'a>(messages: impl Iterator<Item = &'a Message>) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    for part in messages.flat_map(|message| &message.parts) {
        if let Part::Other(kind) = part {
            *counts.entry(kind.chars().take(40).collect()).or_default() += 1;
        }
    }
    counts
}

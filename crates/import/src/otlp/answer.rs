//! What a trace says of its end: the answer, and how the run ended.

use std::collections::BTreeMap;

use super::messages;
use super::span::{DEPTH, SpanOperation, TraceSpan};
use crate::message::{Message, Part, Role};
use crate::transcript::Ending;

/// The text of the answer: that of the agent's span, else of the last call of a model. `None` without messages.
pub fn answer(
    spans: &[TraceSpan],
    agent: Option<&TraceSpan>,
    last: Option<&TraceSpan>,
) -> Option<String> {
    agent
        .and_then(|span| answer_of(spans, span))
        .or_else(|| answer_of(spans, last?))
}

/// The text of a span's last message; empty if it is not an answer.
fn answer_of(spans: &[TraceSpan], span: &TraceSpan) -> Option<String> {
    let messages = messages::output(span);
    let message = messages.last()?;
    if is_answer(spans, span, message) {
        Some(message.text())
    } else {
        Some(String::new())
    }
}

/// Whether the last message of a span is an answer. A question and a result are none, as the state of an agent that said nothing ends with them, and
/// neither is what was said before a call whose tool ran. A vendor runs its own tools within one message, which ends with the answer.
fn is_answer(spans: &[TraceSpan], asking: &TraceSpan, message: &Message) -> bool {
    if [Role::User, Role::System, Role::Tool].contains(&message.role) {
        return false;
    }
    let after_text = message
        .parts
        .iter()
        .rposition(|part| matches!(part, Part::Text(text) if !text.is_empty()))
        .map_or(0, |text| text + 1);
    for part in message.parts.iter().skip(after_text) {
        let has_run = match part {
            Part::Call(call) => {
                call.result.is_some() || has_run(spans, asking, (call.id.as_deref(), &call.name))
            }
            Part::Result(_) => true,
            Part::Text(_) | Part::Item(_) | Part::Other(_) | Part::Unreadable(_) => false,
        };
        if has_run {
            return false;
        }
    }
    true
}

/// Whether the tool of a call has run since a span began.
fn has_run(spans: &[TraceSpan], since: &TraceSpan, (id, name): (Option<&str>, &str)) -> bool {
    let mut tools = spans
        .iter()
        .filter(|span| span.operation() == SpanOperation::Tool);
    tools.any(|span| match id.zip(span.call_id()) {
        Some((id, span_id)) => id == span_id,
        None => span.tool() == Some(name) && span.start >= since.start,
    })
}

/// How the run ended: an error of its span, or of one around it, which is what the user saw. Statuses other than error are in the error type.
pub fn ended(spans: &[TraceSpan], agent: Option<&TraceSpan>) -> (Ending, Option<String>) {
    let by_id: BTreeMap<&str, &TraceSpan> =
        spans.iter().map(|span| (span.id.as_str(), span)).collect();
    let Some(innermost) = agent.or_else(|| spans.iter().find(|span| span.parent.is_empty())) else {
        return (Ending::Completed, None);
    };
    let around = std::iter::successors(Some(innermost), |span| {
        by_id.get(span.parent.as_str()).copied()
    })
    .take(DEPTH);
    let mut failed = around.filter_map(|span| Some((span, span.failed.as_deref()?)));
    let Some((span, message)) = failed.next() else {
        let is_cut = innermost.end == 0 && spans.iter().any(|span| span.end > 0);
        let why = "its span has no end, so it was cut off or still ran";
        return if is_cut {
            (Ending::Error, Some(why.to_owned()))
        } else {
            (Ending::Completed, None)
        };
    };
    let kind = span.text(&["error.type"]);
    let status = match kind {
        Some("timeout") => Ending::Timeout,
        Some("stalled") => Ending::Stalled,
        Some("cancelled") => Ending::Cancelled,
        Some(_) | None => Ending::Error,
    };
    let error = if message.is_empty() {
        kind
    } else {
        Some(message)
    };
    (status, error.map(str::to_owned))
}

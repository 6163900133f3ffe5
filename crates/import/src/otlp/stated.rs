//! The calls that the messages of a trace tell, each once: an agent repeats those of its models, a history those before.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::messages;
use super::span::{DEPTH, SpanOperation, TraceSpan, is_inside};
use crate::calls::{calls_within, spelled};
use crate::loose;
use crate::message::{CallPart, Message, Part, Role};

pub struct StatedCall<'t> {
    /// When it was stated first.
    pub at: i64,
    pub part: CallPart,
    origin: &'t TraceSpan,
}

/// The calls in the messages of all spans, in the order of time.
pub fn stated_calls<'t>(
    spans: &'t [TraceSpan],
    models: &[&TraceSpan],
    parents: &BTreeMap<&str, &str>,
) -> Vec<StatedCall<'t>> {
    let mut stated = StatedCalls {
        parents,
        calls: Vec::new(),
        known: HashMap::new(),
    };
    let mut inner_first: Vec<&TraceSpan> = spans.iter().collect();
    inner_first.sort_by_key(|span| std::cmp::Reverse(depth(span, parents)));
    let calls_before = CallsBefore::of(spans);
    for span in &inner_first {
        let mut output = calls_of(own_output(span));
        output.retain(|part| !calls_before.has_id_of(part));
        match span.operation() {
            SpanOperation::Chat if models.iter().any(|model| std::ptr::eq(*model, *span)) => {
                stated.add(span, span.end, output, Repeats::Inside);
            }
            SpanOperation::Chat => stated.add(span, span.end, output, Repeats::InsideOrSameId),
            SpanOperation::Agent => stated.add(span, span.start, output, Repeats::InsideOrSameId),
            SpanOperation::Tool | SpanOperation::Other => {
                stated.add(span, span.end, output, Repeats::All)
            }
        }
    }
    for span in spans {
        let input = (span.start, calls_of(messages::input(span)));
        for (at, mut calls) in std::iter::once(input).chain(elsewhere(span)) {
            calls.retain(|part| !calls_before.has(part));
            stated.add(span, at, calls, Repeats::All);
        }
    }
    stated.calls.sort_by_key(|call| call.at);
    stated.calls
}

/// The calls of the history that a trace began with: those before the message of the user that it answers. They are of earlier turns, or
/// examples.
#[derive(Default)]
struct CallsBefore {
    known: HashSet<StatedAs>,
}

impl CallsBefore {
    fn of(spans: &[TraceSpan]) -> Self {
        let mut by_time: Vec<&TraceSpan> = spans.iter().collect();
        by_time.sort_by_key(|span| span.start);
        let first = by_time
            .into_iter()
            .map(messages::input)
            .find(|input| !input.is_empty());
        let Some(mut history) = first else {
            return Self::default();
        };
        // A tool's result may be in a message of the user, too.
        let last_said = history.iter().rposition(|message| {
            message.role == Role::User
                && message
                    .parts
                    .iter()
                    .any(|part| matches!(part, Part::Text(_)))
        });
        history.truncate(last_said.unwrap_or(0));
        Self {
            known: calls_of(history)
                .iter()
                .filter_map(|part| names(part).into_iter().next())
                .collect(),
        }
    }

    /// Whether a repeated message may be one of them.
    fn has(&self, part: &CallPart) -> bool {
        names(part)
            .first()
            .is_some_and(|name| self.known.contains(name))
    }

    /// Whether a call has the id of one of them. An equal call without an id is another one.
    fn has_id_of(&self, part: &CallPart) -> bool {
        part.id.is_some() && self.has(part)
    }
}

/// The number of spans around a span.
fn depth(span: &TraceSpan, parents: &BTreeMap<&str, &str>) -> usize {
    std::iter::successors(Some(span.parent.as_str()), |id| parents.get(id).copied())
        .take_while(|id| !id.is_empty())
        .take(DEPTH)
        .count()
}

/// The output of a span without the input that it begins with.
fn own_output(span: &TraceSpan) -> Vec<Message> {
    let (input, mut output) = (messages::input(span), messages::output(span));
    if !input.is_empty() && output.starts_with(&input) {
        output.drain(..input.len());
    }
    output
}

fn calls_of(messages: Vec<Message>) -> Vec<CallPart> {
    let parts = messages.into_iter().flat_map(|message| message.parts);
    let calls = parts.filter_map(|part| match part {
        Part::Call(call) => Some(call),
        _ => None,
    });
    calls.collect()
}

/// The calls in attributes outside of the conventions, such as the whole state of a graph, each list with its time.
fn elsewhere(span: &TraceSpan) -> Vec<(i64, Vec<CallPart>)> {
    if span.operation() == SpanOperation::Tool {
        // What a tool was given and returned is data.
        return Vec::new();
    }
    // Single fields of messages, and what describes tools.
    const OTHER: [&str; 7] = [
        "gen_ai.input.",
        "gen_ai.output.",
        "tools",
        ".tool.",
        "argument",
        "parameter",
        ".content",
    ];
    let events = span.events.iter().flat_map(|(_, attributes)| attributes);
    let whole = span
        .attributes
        .iter()
        .chain(events)
        .filter(|(key, _)| !OTHER.iter().any(|part| key.contains(part)));
    let mut lists = Vec::new();
    for (key, value) in whole {
        let at = if key.contains("input") || key.contains("prompt") {
            span.start
        } else {
            span.end
        };
        for calls in calls_within(&loose::embedded(value)) {
            lists.push((at, calls));
        }
    }
    lists
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Repeats {
    /// Those of spans inside it: the others are of other models.
    Inside,
    /// The same, and those with the same id.
    InsideOrSameId,
    All,
}

/// What calls have in common that may be the same one.
#[derive(PartialEq, Eq, Hash, Clone)]
enum StatedAs {
    Id(String, String),
    Content(String, String),
}

struct StatedCalls<'t, 'p> {
    parents: &'p BTreeMap<&'p str, &'p str>,
    calls: Vec<StatedCall<'t>>,
    known: HashMap<StatedAs, Vec<usize>>,
}

impl<'t> StatedCalls<'t, '_> {
    /// Adds the calls of one list that are not among the known ones. Two equal calls of one list are two calls.
    fn add(&mut self, span: &'t TraceSpan, at: i64, list: Vec<CallPart>, repeats: Repeats) {
        let mut used = HashSet::new();
        // Where the search for the next equal call goes on.
        let mut next: HashMap<(StatedAs, bool), usize> = HashMap::new();
        for part in list {
            let same = self.same(span, &part, repeats, |known, has_id, all, may| {
                let from = next.entry((known.clone(), has_id)).or_default();
                let place_of_same = (*from..all.len())
                    .find(|place| !used.contains(&all[*place]) && may(all[*place]))?;
                *from = place_of_same + 1;
                Some(all[place_of_same])
            });
            used.insert(match same {
                Some(index) => self.repeated(
                    index,
                    StatedCall {
                        at,
                        part,
                        origin: span,
                    },
                    repeats,
                ),
                None => self.push(StatedCall {
                    at,
                    part,
                    origin: span,
                }),
            });
        }
    }

    /// The index of the known call that is the same one: by its id, else by its content if one of both has no id.
    fn same(
        &self,
        span: &TraceSpan,
        part: &CallPart,
        repeats: Repeats,
        mut next: impl FnMut(&StatedAs, bool, &[usize], &dyn Fn(usize) -> bool) -> Option<usize>,
    ) -> Option<usize> {
        let around = BTreeSet::from([span.id.as_str()]);
        let is_within = |index: usize| {
            let origin = self.calls[index].origin;
            repeats == Repeats::All
                || std::ptr::eq(origin, span)
                || is_inside(origin, &around, self.parents)
        };
        let has_id = part.id.is_some();
        names(part).iter().find_map(|known| {
            let all = self.known.get(known)?;
            match known {
                StatedAs::Id(..) => next(known, has_id, all, &|at| {
                    repeats != Repeats::Inside || is_within(at)
                }),
                StatedAs::Content(..) => next(known, has_id, all, &|at| {
                    is_within(at) && !(has_id && self.calls[at].part.id.is_some())
                }),
            }
        })
    }

    fn push(&mut self, call: StatedCall<'t>) -> usize {
        let index = self.calls.len();
        for known in names(&call.part) {
            self.known.entry(known).or_default().push(index);
        }
        self.calls.push(call);
        index
    }

    /// Notes that a call was stated again. Of two instrumentations of one model's call, the outer one counts.
    fn repeated(&mut self, index: usize, call: StatedCall<'t>, repeats: Repeats) -> usize {
        let known_call = &mut self.calls[index];
        let had_id = known_call.part.id.is_some();
        let has_id = call.part.id.is_some();
        if !had_id && has_id {
            known_call.part = call.part.clone();
            let known = names(&call.part)
                .into_iter()
                .find(|known| matches!(known, StatedAs::Id(..)));
            if let Some(known) = known {
                self.known.entry(known).or_default().push(index);
            }
        } else if repeats == Repeats::Inside && had_id == has_id {
            known_call.part = call.part.clone();
        }
        if repeats == Repeats::Inside {
            (known_call.at, known_call.origin) = (call.at, call.origin);
        }
        index
    }
}

/// What a call is known by, the strongest first.
fn names(call: &CallPart) -> Vec<StatedAs> {
    let by_id = call
        .id
        .clone()
        .map(|id| StatedAs::Id(id, call.name.clone()));
    let by_content = StatedAs::Content(call.name.clone(), spelled(&call.arguments));
    by_id.into_iter().chain([by_content]).collect()
}

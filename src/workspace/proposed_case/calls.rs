//! The calls that a proposed case expects: those that every sample of the case made, with the arguments that another run has to repeat.

use std::collections::{BTreeSet, HashSet};

use import::Call;
use serde::Serialize;
use serde_json::{Map, Value};

use super::evidence::{Evidence, decoded};
use super::fixed_value::{Support, ValuePlace, is_fixed};

/// The most calls of a proposed trajectory.
const CALLS: usize = 20;
/// The most calls whose order does not matter.
const MOST_PARALLEL: usize = 8;

/// The calls of one sample, or of one turn of it.
pub struct SampleCalls<'a> {
    pub calls: Vec<&'a Call>,
    /// The number of calls of earlier turns, which the evidence has as well.
    pub earlier: usize,
    pub evidence: &'a Evidence,
}

/// What a case expects of the calls.
#[derive(Debug, Default)]
pub struct ProposedCalls {
    /// The tools that every sample called; `None` if some samples called none and others did.
    pub tools: Option<Vec<String>>,
    pub trajectory: Option<ProposedTrajectory>,
    /// What is not expected, because the samples differ.
    pub differing: Vec<String>,
}

/// The calls in their order, with the arguments that another run of the agent has to repeat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProposedTrajectory {
    mode: &'static str,
    tools: Vec<ProposedStep>,
    /// Tools that change something, which no sample called.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    forbidden_tools: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
enum ProposedStep {
    Call(ProposedCall),
    /// Calls of one group: their order is chance.
    Parallel {
        parallel: Vec<ProposedCall>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct ProposedCall {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<ProposedArguments>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct ProposedArguments {
    #[serde(rename = "match")]
    how: &'static str,
    values: Map<String, Value>,
}

/// A call of the first sample, and the same call in the others.
struct CommonCall<'a> {
    /// Its index among the calls that the evidence has.
    index: usize,
    call: &'a Call,
    others: Vec<&'a Call>,
}

impl ProposedCalls {
    /// The calls of the samples of a case. Of the tools of all cases, those that change something and that no sample called are forbidden.
    pub fn of(samples: &[SampleCalls<'_>], writing_tools: &BTreeSet<&str>) -> Self {
        let mut proposed = Self::common(samples);
        if let Some(trajectory) = &mut proposed.trajectory {
            let called: BTreeSet<&str> = samples
                .iter()
                .flat_map(|sample| sample.calls.iter().map(|call| call.name.as_str()))
                .collect();
            let forbidden = writing_tools.difference(&called);
            trajectory.forbidden_tools = forbidden.map(|tool| (*tool).to_owned()).collect();
        }
        proposed
    }

    fn common(samples: &[SampleCalls<'_>]) -> Self {
        let Some((first, others)) = samples.split_first() else {
            return Self::default();
        };
        let support = if others.is_empty() {
            Support::OneSample
        } else {
            Support::SeveralSamples
        };
        let mut differing = Vec::new();
        let common = common_calls(first, others, &mut differing);
        let mut calls: Vec<(usize, ProposedCall)> = Vec::new();
        for common in &common {
            let call = common.proposed(first.evidence, support, &mut differing);
            // What is called again with the same arguments was lost or forgotten.
            if !calls.iter().any(|(_, known)| *known == call) {
                calls.push((first.evidence.group(common.index), call));
            }
        }
        calls.truncate(CALLS);
        let names: Vec<String> = calls.iter().map(|(_, call)| call.name.clone()).collect();
        let tools = distinct(names);
        let is_silent = samples.iter().all(|sample| sample.calls.is_empty());
        let ordered = ProposedTrajectory {
            mode: "in_order",
            tools: steps(&calls),
            forbidden_tools: Vec::new(),
        };
        let trajectory = if calls.is_empty() {
            None
        } else if samples.iter().all(|sample| ordered.is_followed(sample)) {
            Some(ordered)
        } else {
            differing.push("the order of the calls".to_owned());
            Some(ProposedTrajectory {
                mode: "superset",
                tools: calls
                    .into_iter()
                    .map(|(_, call)| ProposedStep::Call(call))
                    .collect(),
                forbidden_tools: Vec::new(),
            })
        };
        Self {
            tools: (is_silent || !tools.is_empty()).then_some(tools),
            trajectory,
            differing: distinct(differing),
        }
    }
}

/// The calls of the first sample that every other one made as well. A call that failed is left out if the tool was called again.
fn common_calls<'a>(
    first: &SampleCalls<'a>,
    others: &[SampleCalls<'a>],
    differing: &mut Vec<String>,
) -> Vec<CommonCall<'a>> {
    let mut unused: Vec<Vec<&Call>> = others.iter().map(SampleCalls::lasting).collect();
    let mut common = Vec::new();
    for call in first.lasting() {
        let mut same = Vec::new();
        for calls in &mut unused {
            let equal = calls.iter().position(|candidate| {
                candidate.name == call.name && candidate.arguments == call.arguments
            });
            let of_tool = calls
                .iter()
                .position(|candidate| candidate.name == call.name);
            if let Some(at) = equal.or(of_tool) {
                same.push(calls.remove(at));
            }
        }
        let index = first
            .calls
            .iter()
            .position(|candidate| std::ptr::eq(*candidate, call));
        match index.filter(|_| same.len() == others.len()) {
            Some(index) => common.push(CommonCall {
                index: first.earlier + index,
                call,
                others: same,
            }),
            None => differing.push(format!("a call of {}", call.name)),
        }
    }
    let rest = unused.into_iter().flatten();
    differing.extend(rest.map(|call| format!("a call of {}", call.name)));
    common
}

impl<'a> SampleCalls<'a> {
    /// The calls without those that failed and were made again.
    fn lasting(&self) -> Vec<&'a Call> {
        let mut lasting = Vec::new();
        for (index, call) in self.calls.iter().enumerate() {
            let mut later = self.calls.iter().skip(index + 1);
            if !has_failed(call) || !later.any(|later_call| later_call.name == call.name) {
                lasting.push(*call);
            }
        }
        lasting
    }
}

/// Whether a call failed: many tools say so in their result.
fn has_failed(call: &Call) -> bool {
    let result = decoded(&call.result);
    let stated = result.get("error").is_some_and(|error| {
        !matches!(error, Value::Null | Value::Bool(false)) && error.as_str() != Some("")
    });
    let begins = result.as_str().is_some_and(|text| {
        let start = text.trim_start().get(..5).unwrap_or_default();
        start.eq_ignore_ascii_case("error")
    });
    call.error.is_some() || stated || begins
}

impl CommonCall<'_> {
    fn proposed(
        &self,
        evidence: &Evidence,
        support: Support,
        differing: &mut Vec<String>,
    ) -> ProposedCall {
        let mut values = Map::new();
        let place = ValuePlace::Argument(self.index);
        for (name, value) in self.call.arguments.as_object().into_iter().flatten() {
            if !is_fixed(name, value, place, evidence, Support::OneSample)
                && !is_fixed(name, value, place, evidence, support)
            {
                continue;
            }
            let is_equal = self.others.iter().all(|call| {
                call.arguments
                    .get(name)
                    .is_some_and(|argument| is_same(value, argument))
            });
            if is_equal {
                values.insert(name.clone(), value.clone());
            } else if is_fixed(name, value, place, evidence, Support::OneSample) {
                differing.push(format!("{name} of {}", self.call.name));
            }
        }
        let args = (!values.is_empty()).then_some(ProposedArguments {
            how: "superset",
            values,
        });
        ProposedCall {
            name: self.call.name.clone(),
            args,
        }
    }
}

/// The calls, those of a group in any order.
fn steps(calls: &[(usize, ProposedCall)]) -> Vec<ProposedStep> {
    let mut steps = Vec::new();
    for group in calls.chunk_by(|(group, _), (next, _)| group == next) {
        let mut calls: Vec<ProposedCall> = group.iter().map(|(_, call)| call.clone()).collect();
        if (2..=MOST_PARALLEL).contains(&calls.len()) {
            steps.push(ProposedStep::Parallel { parallel: calls });
        } else {
            steps.extend(calls.drain(..).map(ProposedStep::Call));
        }
    }
    steps
}

impl ProposedTrajectory {
    /// Whether the calls of a sample have the order: each step after the one before.
    fn is_followed(&self, sample: &SampleCalls<'_>) -> bool {
        let mut next = 0;
        for step in &self.tools {
            let calls = match step {
                ProposedStep::Call(call) => std::slice::from_ref(call),
                ProposedStep::Parallel { parallel } => parallel,
            };
            let mut taken: HashSet<usize> = HashSet::new();
            for call in calls {
                let index = (next..sample.calls.len())
                    .find(|at| !taken.contains(at) && call.is_made_by(sample.calls[*at]));
                let Some(at) = index else { return false };
                taken.insert(at);
            }
            next = taken.into_iter().max().map_or(next, |last| last + 1);
        }
        true
    }
}

impl ProposedCall {
    fn is_made_by(&self, call: &Call) -> bool {
        let mut values = self.args.iter().flat_map(|args| &args.values);
        self.name == call.name
            && values.all(|(name, value)| {
                call.arguments
                    .get(name)
                    .is_some_and(|made| is_same(value, made))
            })
    }
}

/// Whether two values are equal; numbers by their value.
pub fn is_same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left == right || (left.is_f64() || right.is_f64()) && left.as_f64() == right.as_f64()
        }
        _ => left == right,
    }
}

fn distinct(names: Vec<String>) -> Vec<String> {
    let mut known = HashSet::new();
    names
        .into_iter()
        .filter(|name| known.insert(name.clone()))
        .collect()
}

//! Converts live samples to traces.

use std::time::Duration;

use super::session_outcome::SessionOutcome;
use crate::evaluation::plan::Plan;
use crate::format::redact::redacted_record;
use crate::live::engine::{JobOutcome, SampleJob, TimeSpan, TimedCall};
use crate::model::{ModelCall, Period, Provider, Traced, Transport, Wire};
use crate::text::Redactor;

/// Returns the traces of the samples that were made; `epoch` is the start of the run in nanoseconds since 1970.
pub fn traced(
    plan: &Plan,
    jobs: &[SampleJob],
    ended: &SessionOutcome,
    epoch: u64,
    redactor: &Redactor,
) -> Vec<Traced> {
    let mut traced = Vec::new();
    for ((end, index), timeline) in ended
        .finished
        .iter()
        .zip(&ended.called)
        .zip(&ended.timelines)
    {
        let (JobOutcome::Made(record), job) = (end, &jobs[*index]) else {
            continue;
        };
        let actor = job
            .origin
            .target
            .as_ref()
            .and_then(|name| provider_of(plan, name));
        let critic = job
            .refining
            .as_ref()
            .and_then(|refining| Some((refining.critic, provider_of(plan, &refining.target)?)));
        let mut chats = Vec::new();
        for TimedCall {
            stretch,
            queue,
            outcome,
        } in &timeline.chats
        {
            let provider = if *queue == job.queue {
                actor
            } else {
                critic
                    .filter(|(at, _)| at == queue)
                    .map(|(_, provider)| provider)
            };
            if let Some(provider) = provider {
                chats.push(ModelCall {
                    period: period(epoch, stretch),
                    provider: vendor(provider.wire).to_owned(),
                    asked: provider.model.clone(),
                    outcome: outcome.clone(),
                });
            }
        }
        traced.push(Traced {
            suite: job.request.key.suite.clone(),
            record: redacted_record(record.as_ref().clone(), redactor),
            period: period(epoch, &timeline.period),
            provider: actor.map(|provider| vendor(provider.wire).to_owned()),
            chats,
            tools: timeline
                .tools
                .iter()
                .map(|span| period(epoch, span))
                .collect(),
        });
    }
    traced
}

/// The provider of a target; `None` if the target is a program.
fn provider_of<'p>(plan: &'p Plan, target: &str) -> Option<&'p Provider> {
    match &plan.config.targets.get(target)?.transport {
        Transport::Model(provider) => Some(provider),
        Transport::Command { .. } | Transport::Http(_) => None,
    }
}

fn period(epoch: u64, span: &TimeSpan) -> Period {
    Period {
        start: at(epoch, span.from),
        end: at(epoch, span.to),
    }
}

fn at(epoch: u64, since: Duration) -> u64 {
    epoch.saturating_add(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}

/// Returns the vendor's name in the GenAI conventions.
fn vendor(wire: Wire) -> &'static str {
    match wire {
        Wire::Anthropic => "anthropic",
        Wire::OpenAi => "openai",
        Wire::Bedrock => "aws.bedrock",
    }
}

//! Converts live samples to traces.

use std::time::Duration;

use super::session_outcome::SessionOutcome;
use crate::evaluation::plan::Plan;
use crate::format::redact::redacted_record;
use crate::live::engine::{JobOutcome, SampleJob, TimeSpan, TimedCall};
use crate::model::{ModelCall, Period, Traced, Transport, Wire};
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
        let model = |name: &String| match &plan.config.targets.get(name)?.transport {
            Transport::Model(provider) => Some(provider),
            Transport::Command { .. } | Transport::Http(_) => None,
        };
        let actor = job.origin.target.as_ref().and_then(model);
        let critic = job
            .refining
            .as_ref()
            .and_then(|refining| Some((refining.critic, model(&refining.target)?)));
        let period = |stretch: &TimeSpan| Period {
            start: at(epoch, stretch.from),
            end: at(epoch, stretch.to),
        };
        let chats = timeline.chats.iter().filter_map(
            |TimedCall {
                 stretch,
                 queue,
                 outcome,
             }| {
                let asked = if *queue == job.queue {
                    actor?
                } else {
                    critic.filter(|(at, _)| at == queue)?.1
                };
                let (provider, asked) = (vendor(asked.wire).to_owned(), asked.model.clone());
                Some(ModelCall {
                    period: period(stretch),
                    provider,
                    asked,
                    outcome: outcome.clone(),
                })
            },
        );
        traced.push(Traced {
            suite: job.request.key.suite.clone(),
            record: redacted_record(record.as_ref().clone(), redactor),
            period: period(&timeline.period),
            provider: actor.map(|provider| vendor(provider.wire).to_owned()),
            chats: chats.collect(),
            tools: timeline.tools.iter().map(period).collect(),
        });
    }
    traced
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

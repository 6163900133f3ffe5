//! A sample that is a loop of an actor and a critic, asked in turn until the loop ends.

use std::collections::BTreeMap;

use tokio::time::Instant;

use super::sample_calls::{SampleCalls, SampleFailure};
use super::sample_job::{RefinementSetup, SampleJob};
use super::sample_usage::blank;
use super::setup::Engine;
use crate::model::{
    Json, LoopRole, Measures, NextRole, RunRecord, RunStatus, SampleRequest, Steps, TokenUsage,
};

#[derive(Default)]
struct RefinementLoop {
    /// The outputs, in the order of the calls.
    answers: Vec<Json>,
    /// The role of each call.
    parts: Vec<LoopRole>,
    /// Tokens and milliseconds of each role.
    took: BTreeMap<LoopRole, (u64, u64)>,
    models: BTreeMap<LoopRole, String>,
}

impl Engine<'_> {
    /// Asks actor and critic in turn. `keep` receives the outputs after each answer, so that they survive an interruption.
    /// A failed call ends the loop with that reason; the record keeps the attempts before it.
    pub(super) async fn refine<'l>(
        &'l self,
        job: &SampleJob,
        refining: &RefinementSetup,
        calls: SampleCalls<'_, 'l>,
        keep: &dyn Fn(Json),
    ) -> Result<RunRecord, SampleFailure> {
        let SampleCalls {
            permit,
            budget,
            usage,
        } = calls;
        let mut progress = RefinementLoop::default();
        let (status, error) = loop {
            let NextRole::Ask(part, ask) = refining.course.next(&progress.answers) else {
                break (RunStatus::Completed, None);
            };
            let (queue, system) = match part {
                LoopRole::Actor => (job.queue, job.request.system.clone()),
                // The agent's own rules are for the actor alone.
                LoopRole::Critic => (refining.critic, String::new()),
            };
            permit.change(&self.queues, queue);
            let request = SampleRequest {
                system,
                ask,
                ..job.request.clone()
            };
            let spent_before = usage.agent.spent;
            let asked = Instant::now();
            usage.model = None;
            progress.parts.push(part);
            let answer = self.answer(&request, permit, budget, usage).await;
            let took = progress.took.entry(part).or_default();
            took.0 += all_tokens(usage.agent.spent).saturating_sub(all_tokens(spent_before));
            took.1 += u64::try_from(asked.elapsed().as_millis()).unwrap_or(u64::MAX);
            progress
                .models
                .extend(usage.model.take().map(|model| (part, model)));
            match answer {
                Ok(record) if record.status == RunStatus::Completed => {
                    progress.answers.push(record.outputs)
                }
                Ok(record) => {
                    break (
                        record.status,
                        Some(progress.broken(record.error.as_deref().unwrap_or_default())),
                    );
                }
                Err(SampleFailure::Fault(fault)) => {
                    break (fault.status, Some(progress.broken(&fault.what)));
                }
                Err(SampleFailure::Spent(why)) => return Err(SampleFailure::Spent(why)),
            }
            keep(refining.course.outputs(&progress.answers));
        };
        usage.model = progress.model();
        let mut record = blank(&job.request, status, error);
        record.outputs = refining.course.outputs(&progress.answers);
        record.intermediate = progress.steps();
        record.metrics = progress.measures();
        Ok(record)
    }
}

impl RefinementLoop {
    /// The error message: which attempt and role failed, and why.
    fn broken(&self, why: &str) -> String {
        let attempt = self
            .parts
            .iter()
            .filter(|part| **part == LoopRole::Actor)
            .count();
        let part = self.parts.last().map_or("", |part| part.as_str());
        format!("attempt {attempt}, {part}: {why}")
    }

    /// The models that answered, the actor's first, joined by `+`.
    fn model(&self) -> Option<String> {
        let mut models: Vec<&str> = self.models.values().map(String::as_str).collect();
        models.dedup();
        (!models.is_empty()).then(|| models.join("+"))
    }

    fn steps(&self) -> Steps {
        Steps::Seen {
            node_transitions: self
                .parts
                .iter()
                .map(|part| Json::from(format!("\"{}\"", part.as_str())))
                .collect(),
            tool_calls: Vec::new(),
            events: Vec::new(),
        }
    }

    fn measures(&self) -> Measures {
        let mut measures = Measures::default();
        for (part, (tokens, latency)) in &self.took {
            let name = part.as_str();
            measures.tokens_per_node.insert(name.to_owned(), *tokens);
            measures.latency_per_node.insert(name.to_owned(), *latency);
        }
        measures
    }
}

fn all_tokens(spent: TokenUsage) -> u64 {
    spent.input.saturating_add(spent.output)
}

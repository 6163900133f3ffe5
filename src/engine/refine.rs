//! A sample that is a loop of an actor and a critic: whoever the loop names is asked next, until it is at its end.

use std::collections::BTreeMap;

use tokio::time::Instant;

use super::budget::BudgetState;
use super::calls::{Permit, SampleFailure};
use super::sample_usage::{SampleUsage, blank};
use super::schedule::{Engine, RefinementSetup, SampleJob};
use crate::model::{Json, LoopRole, Measures, NextRole, RunRecord, RunStatus, SampleRequest, Steps, TokenUsage};

/// A loop on its way.
#[derive(Default)]
struct RefinementLoop {
    /// The outputs of who was asked, in their order.
    answers: Vec<Json>,
    /// Who was asked.
    parts: Vec<LoopRole>,
    /// Tokens and milliseconds of each.
    took: BTreeMap<LoopRole, (u64, u64)>,
    /// The models that answered.
    models: BTreeMap<LoopRole, String>,
}

impl Engine<'_> {
    /// Asks actor and critic in turn. `keep` is handed the outputs after each answer: what was made until then stays, whatever ends
    /// the loop. A call that gives no answer ends it with that reason, and the record has the attempts before it.
    pub(super) async fn refine<'l>(
        &'l self,
        job: &SampleJob,
        refining: &RefinementSetup,
        seat: &mut Permit<'l>,
        budget: &BudgetState,
        usage: &mut SampleUsage,
        keep: &dyn Fn(Json),
    ) -> Result<RunRecord, SampleFailure> {
        let mut walk = RefinementLoop::default();
        let (status, error) = loop {
            let NextRole::Ask(part, ask) = refining.course.next(&walk.answers) else {
                break (RunStatus::Completed, None);
            };
            let (queue, system) = match part {
                LoopRole::Actor => (job.queue, job.request.system.clone()),
                // The agent's own rules are the actor's.
                LoopRole::Critic => (refining.critic, String::new()),
            };
            seat.change(&self.queues, queue);
            let request = SampleRequest { system, ask, ..job.request.clone() };
            let (before, asked) = (usage.spent, Instant::now());
            usage.model = None;
            walk.parts.push(part);
            let answer = self.answer(&request, seat, budget, usage).await;
            let tokens = |spent: TokenUsage| spent.input.saturating_add(spent.output);
            let took = walk.took.entry(part).or_default();
            took.0 += tokens(usage.spent).saturating_sub(tokens(before));
            took.1 += u64::try_from(asked.elapsed().as_millis()).unwrap_or(u64::MAX);
            walk.models.extend(usage.model.take().map(|model| (part, model)));
            match answer {
                Ok(record) if record.status == RunStatus::Completed => walk.answers.push(record.outputs),
                Ok(record) => break (record.status, Some(walk.broken(record.error.as_deref().unwrap_or_default()))),
                Err(SampleFailure::Fault(fault)) => break (fault.status, Some(walk.broken(&fault.what))),
                Err(SampleFailure::Spent(why)) => return Err(SampleFailure::Spent(why)),
            }
            keep(refining.course.outputs(&walk.answers));
        };
        usage.model = walk.model();
        let mut record = blank(&job.request, status, error);
        record.outputs = refining.course.outputs(&walk.answers);
        record.intermediate = walk.steps();
        record.metrics = walk.measures();
        Ok(record)
    }
}

impl RefinementLoop {
    /// Where a loop broke off, and why.
    fn broken(&self, why: &str) -> String {
        let attempt = self.parts.iter().filter(|part| **part == LoopRole::Actor).count();
        let part = self.parts.last().map_or("", |part| part.as_str());
        format!("attempt {attempt}, {part}: {why}")
    }

    /// Who answered; the actor's model first where they are two.
    fn model(&self) -> Option<String> {
        let mut models: Vec<&str> = self.models.values().map(String::as_str).collect();
        models.dedup();
        (!models.is_empty()).then(|| models.join("+"))
    }

    fn steps(&self) -> Steps {
        let named = |part: &LoopRole| Json::from(format!("\"{}\"", part.as_str()));
        Steps::Seen {
            node_transitions: self.parts.iter().map(named).collect(),
            tool_calls: Vec::new(),
            events: Vec::new(),
        }
    }

    fn measures(&self) -> Measures {
        let by_part = |pick: fn(&(u64, u64)) -> u64| {
            self.took.iter().map(|(part, took)| (part.as_str().to_owned(), pick(took))).collect()
        };
        Measures {
            tokens_per_node: by_part(|(tokens, _)| *tokens),
            latency_per_node: by_part(|(_, latency)| *latency),
            ..Measures::default()
        }
    }
}

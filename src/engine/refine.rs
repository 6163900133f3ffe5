//! A sample that is a loop of an actor and a critic: whoever the loop names is asked next, until it is at its end.

use std::collections::BTreeMap;

use tokio::time::Instant;

use super::bill::{Bill, blank};
use super::budget::Ledger;
use super::calls::{Ended, Seat};
use super::schedule::{Engine, Job, Refining};
use crate::model::{Follow, Json, Measures, Part, Record, Request, Spent, Status, Steps};

/// A loop on its way.
#[derive(Default)]
struct Walk {
    /// The outputs of who was asked, in their order.
    answers: Vec<Json>,
    /// Who was asked.
    parts: Vec<Part>,
    /// Tokens and milliseconds of each.
    took: BTreeMap<Part, (u64, u64)>,
    /// The models that answered.
    models: BTreeMap<Part, String>,
}

impl Engine<'_> {
    /// Asks actor and critic in turn. `keep` is handed the outputs after each answer: what was made until then stays, whatever ends
    /// the loop. A call that gives no answer ends it with that reason, and the record has the attempts before it.
    pub(super) async fn refine<'l>(
        &'l self,
        job: &Job,
        refining: &Refining,
        seat: &mut Seat<'l>,
        ledger: &Ledger,
        bill: &mut Bill,
        keep: &dyn Fn(Json),
    ) -> Result<Record, Ended> {
        let mut walk = Walk::default();
        let (status, error) = loop {
            let Follow::Ask(part, ask) = refining.course.next(&walk.answers) else { break (Status::Completed, None) };
            let (lane, system) = match part {
                Part::Actor => (job.lane, job.request.system.clone()),
                // The agent's own rules are the actor's.
                Part::Critic => (refining.critic, String::new()),
            };
            seat.change(&self.lanes, lane);
            let request = Request { system, ask, ..job.request.clone() };
            let (before, asked) = (bill.spent, Instant::now());
            bill.model = None;
            walk.parts.push(part);
            let answer = self.answer(&request, seat, ledger, bill).await;
            let tokens = |spent: Spent| spent.input.saturating_add(spent.output);
            let took = walk.took.entry(part).or_default();
            took.0 += tokens(bill.spent).saturating_sub(tokens(before));
            took.1 += u64::try_from(asked.elapsed().as_millis()).unwrap_or(u64::MAX);
            walk.models.extend(bill.model.take().map(|model| (part, model)));
            match answer {
                Ok(record) if record.status == Status::Completed => walk.answers.push(record.outputs),
                Ok(record) => break (record.status, Some(walk.broken(record.error.as_deref().unwrap_or_default()))),
                Err(Ended::Fault(fault)) => break (fault.status, Some(walk.broken(&fault.what))),
                Err(Ended::Spent(why)) => return Err(Ended::Spent(why)),
            }
            keep(refining.course.outputs(&walk.answers));
        };
        bill.model = walk.model();
        let mut record = blank(&job.request, status, error);
        record.outputs = refining.course.outputs(&walk.answers);
        record.intermediate = walk.steps();
        record.metrics = walk.measures();
        Ok(record)
    }
}

impl Walk {
    /// Where a loop broke off, and why.
    fn broken(&self, why: &str) -> String {
        let attempt = self.parts.iter().filter(|part| **part == Part::Actor).count();
        let part = self.parts.last().map_or("", |part| part.word());
        format!("attempt {attempt}, {part}: {why}")
    }

    /// Who answered; the actor's model first where they are two.
    fn model(&self) -> Option<String> {
        let mut models: Vec<&str> = self.models.values().map(String::as_str).collect();
        models.dedup();
        (!models.is_empty()).then(|| models.join("+"))
    }

    fn steps(&self) -> Steps {
        let named = |part: &Part| Json::from(format!("\"{}\"", part.word()));
        Steps::Seen {
            node_transitions: self.parts.iter().map(named).collect(),
            tool_calls: Vec::new(),
            events: Vec::new(),
        }
    }

    fn measures(&self) -> Measures {
        let by_part = |pick: fn(&(u64, u64)) -> u64| {
            self.took.iter().map(|(part, took)| (part.word().to_owned(), pick(took))).collect()
        };
        Measures {
            tokens_per_node: by_part(|(tokens, _)| *tokens),
            latency_per_node: by_part(|(_, latency)| *latency),
            ..Measures::default()
        }
    }
}

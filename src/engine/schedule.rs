//! Who is asked when: every sample waits for a place on its lane, and gives it back while it waits for its next try.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::{Either, select};
use futures_util::stream::FuturesUnordered;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::Voice;
use super::bill::{Bill, blank, measured};
use super::budget::{Ledger, Limits, Prices};
use super::calls::{Ended, Seat};
use super::retry::Patience;
use crate::model::{Answered, Interruption, Json, Record, Recorded, RepoPath, Request, Spent};
use crate::suites::{Refinement, Shelf};

/// One target: who answers, and how many at once.
pub struct Lane {
    /// Who answers.
    pub voice: Voice,
    /// The model's name in the config, for prices; a program has none.
    pub model: Option<String>,
    pub(super) places: Semaphore,
}

impl Lane {
    /// A lane of this many places.
    pub fn new(voice: Voice, model: Option<String>, concurrency: u32) -> Self {
        Self { voice, model, places: Semaphore::new(concurrency.max(1) as usize) }
    }
}

/// One sample to be made.
pub struct Job {
    /// What is asked.
    pub request: Request,
    /// Whom, by its place among the lanes.
    pub lane: usize,
    /// Where the record will say that it comes from; model, and cost are added.
    pub origin: Recorded,
    /// How many samples of its pair come before it at least: those of a lower round are asked first.
    pub round: u32,
    /// The loop that the request begins, where one answer is not all.
    pub refining: Option<Refining>,
}

/// What makes a sample a loop of the job's target, which acts, and another one, which judges.
pub struct Refining {
    /// Says what is asked next.
    pub course: Arc<dyn Refinement>,
    /// Who judges, by its place among the lanes.
    pub critic: usize,
    /// The critic's target, by its name in the config.
    pub target: String,
}

/// What became of a job.
#[derive(Debug, Clone, PartialEq)]
pub enum Finished {
    /// It was made, or came to an end without an answer.
    Made(Box<Record>),
    /// It was not needed any more: no answer could change a verdict.
    Spared,
    /// It was called off.
    CalledOff {
        /// Why: the budget, the time, or a person.
        why: Interruption,
        /// The record's `outputs`, as far as they came: a loop's attempts. They are no result.
        outputs: Json,
    },
}

/// When a sample was made, from the start of the run on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Timeline {
    /// From its first call to its end.
    pub period: Stretch,
    /// Its calls of a model, repeated tries among them.
    pub chats: Vec<Called>,
    /// Its tool calls.
    pub tools: Vec<Stretch>,
}

/// One call.
#[derive(Debug, Clone, PartialEq)]
pub struct Called {
    /// When.
    pub stretch: Stretch,
    /// Whom, by its place among the lanes.
    pub lane: usize,
    /// What came of it.
    pub outcome: Answered,
}

/// From when to when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stretch {
    /// The start.
    pub from: Duration,
    /// The end.
    pub to: Duration,
}

/// What a run of the engine came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Each job's end, at its own place.
    pub finished: Vec<Finished>,
    /// When each was made; of one that was called off nothing is known.
    pub timelines: Vec<Timeline>,
    /// What agents' own programs wrote to stderr, by the job's place; nothing of those that were called off.
    pub complaints: BTreeMap<usize, String>,
    /// What was spent.
    pub spending: Spending,
}

/// What was spent on a whole run.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spending {
    /// Calls made.
    pub calls: u64,
    /// Of these, repeated ones.
    pub retries: u64,
    /// Tokens.
    pub spent: Spent,
    /// US dollars, where every call had a price.
    pub cost_usd: Option<f64>,
}

/// Who is told what happens, and asked whether it is still needed.
pub trait Events {
    /// Whether the job's answer can still change a verdict.
    fn is_needed(&self, job: usize) -> bool;
    /// A job came to its end. What has to survive a crash is kept now.
    fn finished(&self, job: usize, finished: &Finished);
}

/// What runs live samples.
pub struct Engine<'a> {
    /// The targets.
    pub lanes: Vec<Lane>,
    /// How long a call is tried.
    pub patience: Patience,
    /// What may be spent.
    pub limits: Limits,
    /// What models cost.
    pub prices: Prices,
    /// The folders that tools may look into.
    pub folders: &'a BTreeMap<RepoPath, Box<dyn Shelf>>,
}

impl Engine<'_> {
    /// Makes the samples; a job's end stands at its own place. `stop` ends with the reason why no more is made: what is on its
    /// way is then called off, and what is finished stays.
    pub async fn run(&self, jobs: &[&Job], events: &dyn Events, stop: impl Future<Output = Interruption>) -> Outcome {
        let ledger = Ledger::new(self.limits);
        let begun = Instant::now();
        // What loops on their way came to stays when they are called off.
        let halves: RefCell<BTreeMap<usize, Json>> = RefCell::default();
        let mut order: Vec<usize> = (0..jobs.len()).collect();
        order.sort_by_key(|place| jobs[*place].round);
        let mut open: FuturesUnordered<_> =
            order.into_iter().map(|place| self.job(place, jobs[place], &ledger, events, (begun, &halves))).collect();
        let mut finished: Vec<Option<Finished>> = jobs.iter().map(|_| None).collect();
        let mut timelines: Vec<Timeline> = jobs.iter().map(|_| Timeline::default()).collect();
        let mut complaints = BTreeMap::new();
        let mut spending = Spending::default();
        let mut unpriced = false;
        let mut stop = pin!(stop);
        let reason = loop {
            match select(open.next(), stop.as_mut()).await {
                Either::Left((None, _)) => break None,
                Either::Left((Some((place, end, bill)), _)) => {
                    events.finished(place, &end);
                    finished[place] = Some(end);
                    timelines[place] = bill.timeline;
                    if !bill.complaints.is_empty() {
                        complaints.insert(place, bill.complaints);
                    }
                    spending.calls += bill.tries;
                    spending.retries += bill.tries - bill.calls;
                    spending.spent = spending.spent.and(bill.spent);
                    unpriced |= bill.unpriced;
                    spending.cost_usd =
                        bill.cost.map_or(spending.cost_usd, |cost| Some(spending.cost_usd.unwrap_or(0.0) + cost));
                }
                Either::Right((reason, _)) => break Some(reason),
            }
        };
        drop(open);
        if unpriced {
            spending.cost_usd = None;
        }
        // Without a reason every job came to its own end.
        let why = reason.unwrap_or(Interruption::Terminated);
        let mut halves = halves.into_inner();
        let called_off = |(place, end): (usize, Option<Finished>)| {
            let off = || Finished::CalledOff { why, outputs: halves.remove(&place).unwrap_or_default() };
            end.unwrap_or_else(off)
        };
        let finished = finished.into_iter().enumerate().map(called_off).collect();
        Outcome { finished, timelines, complaints, spending }
    }

    /// Ends the agents' own programs that wait for further requests.
    pub async fn close(&self) {
        for lane in &self.lanes {
            match &lane.voice {
                Voice::Program(program) => program.close().await,
                Voice::Model(_) => {}
            }
        }
    }

    async fn job(
        &self,
        place: usize,
        job: &Job,
        ledger: &Ledger,
        events: &dyn Events,
        (run, halves): (Instant, &RefCell<BTreeMap<usize, Json>>),
    ) -> (usize, Finished, Bill) {
        let mut bill = Bill::new(run);
        let mut seat = Seat::on(&self.lanes, job.lane);
        seat.take().await;
        if !events.is_needed(place) {
            return (place, Finished::Spared, bill);
        }
        let begun = Instant::now();
        let ended = match &job.refining {
            None => self.answer(&job.request, &mut seat, ledger, &mut bill).await,
            Some(refining) => {
                let keep = |outputs: Json| {
                    halves.borrow_mut().insert(place, outputs);
                };
                self.refine(job, refining, &mut seat, ledger, &mut bill, &keep).await
            }
        };
        drop(seat);
        let took = begun.elapsed();
        bill.timeline.period = bill.stretch(begun);
        let end = match ended {
            Ok(record) => Finished::Made(Box::new(measured(record, job, &bill, took))),
            Err(Ended::Fault(fault)) => {
                let record = blank(&job.request, fault.status, Some(fault.what));
                Finished::Made(Box::new(measured(record, job, &bill, took)))
            }
            Err(Ended::Spent(why)) => {
                let outputs = halves.borrow_mut().remove(&place).unwrap_or_default();
                Finished::CalledOff { why, outputs }
            }
        };
        (place, end, bill)
    }
}

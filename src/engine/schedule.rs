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

use super::TargetClient;
use super::budget::{BudgetState, Prices, SpendingLimits};
use super::calls::{Permit, SampleFailure};
use super::retry::RetryPolicy;
use super::sample_usage::{SampleUsage, blank, measured};
use crate::model::{
    Interruption, Json, ModelCallResult, RepoPath, RunProvenance, RunRecord, SampleRequest, TokenUsage,
};
use crate::suites::{Files, Refinement};

/// One target: who answers, and how many at once.
pub struct TargetQueue {
    /// Who answers.
    pub client: TargetClient,
    /// The model's name in the config, for prices; a program has none.
    pub model: Option<String>,
    pub(super) places: Semaphore,
}

impl TargetQueue {
    /// A lane of this many places.
    pub fn new(client: TargetClient, model: Option<String>, concurrency: u32) -> Self {
        Self { client, model, places: Semaphore::new(concurrency.max(1) as usize) }
    }
}

/// One sample to be made.
pub struct SampleJob {
    /// What is asked.
    pub request: SampleRequest,
    /// Whom, by its place among the lanes.
    pub queue: usize,
    /// Where the record will say that it comes from; model, and cost are added.
    pub origin: RunProvenance,
    /// How many samples of its pair come before it at least: those of a lower round are asked first.
    pub round: u32,
    /// The loop that the request begins, where one answer is not all.
    pub refining: Option<RefinementSetup>,
}

/// What makes a sample a loop of the job's target, which acts, and another one, which judges.
pub struct RefinementSetup {
    /// Says what is asked next.
    pub course: Arc<dyn Refinement>,
    /// Who judges, by its place among the lanes.
    pub critic: usize,
    /// The critic's target, by its name in the config.
    pub target: String,
}

/// What became of a job.
#[derive(Debug, Clone, PartialEq)]
pub enum JobOutcome {
    /// It was made, or came to an end without an answer.
    Made(Box<RunRecord>),
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
    pub period: TimeSpan,
    /// Its calls of a model, repeated tries among them.
    pub chats: Vec<TimedCall>,
    /// Its tool calls.
    pub tools: Vec<TimeSpan>,
}

/// One call.
#[derive(Debug, Clone, PartialEq)]
pub struct TimedCall {
    /// When.
    pub stretch: TimeSpan,
    /// Whom, by its place among the lanes.
    pub queue: usize,
    /// What came of it.
    pub outcome: ModelCallResult,
}

/// From when to when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimeSpan {
    /// The start.
    pub from: Duration,
    /// The end.
    pub to: Duration,
}

/// What a run of the engine came to.
#[derive(Debug, Clone, PartialEq)]
pub struct EngineOutcome {
    /// Each job's end, at its own place.
    pub finished: Vec<JobOutcome>,
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
    pub spent: TokenUsage,
    /// US dollars, where every call had a price.
    pub cost_usd: Option<f64>,
}

/// Who is told what happens, and asked whether it is still needed.
pub trait EngineEvents {
    /// Whether the job's answer can still change a verdict.
    fn is_needed(&self, job: usize) -> bool;
    /// A job came to its end. What has to survive a crash is kept now.
    fn finished(&self, job: usize, finished: &JobOutcome);
}

/// What runs live samples.
pub struct Engine<'a> {
    /// The targets.
    pub queues: Vec<TargetQueue>,
    /// How long a call is tried.
    pub retry: RetryPolicy,
    /// What may be spent.
    pub limits: SpendingLimits,
    /// What models cost.
    pub prices: Prices,
    /// The folders that tools may look into.
    pub folders: &'a BTreeMap<RepoPath, Box<dyn Files>>,
}

impl Engine<'_> {
    /// Makes the samples; a job's end stands at its own place. `stop` ends with the reason why no more is made: what is on its
    /// way is then called off, and what is finished stays.
    pub async fn run(
        &self,
        jobs: &[&SampleJob],
        events: &dyn EngineEvents,
        stop: impl Future<Output = Interruption>,
    ) -> EngineOutcome {
        let budget = BudgetState::new(self.limits);
        let begun = Instant::now();
        // What loops on their way came to stays when they are called off.
        let halves: RefCell<BTreeMap<usize, Json>> = RefCell::default();
        let mut order: Vec<usize> = (0..jobs.len()).collect();
        order.sort_by_key(|index| jobs[*index].round);
        let mut open: FuturesUnordered<_> =
            order.into_iter().map(|index| self.job(index, jobs[index], &budget, events, (begun, &halves))).collect();
        let mut finished: Vec<Option<JobOutcome>> = jobs.iter().map(|_| None).collect();
        let mut timelines: Vec<Timeline> = jobs.iter().map(|_| Timeline::default()).collect();
        let mut complaints = BTreeMap::new();
        let mut spending = Spending::default();
        let mut unpriced = false;
        let mut stop = pin!(stop);
        let reason = loop {
            match select(open.next(), stop.as_mut()).await {
                Either::Left((None, _)) => break None,
                Either::Left((Some((index, end, usage)), _)) => {
                    events.finished(index, &end);
                    finished[index] = Some(end);
                    timelines[index] = usage.timeline;
                    if !usage.complaints.is_empty() {
                        complaints.insert(index, usage.complaints);
                    }
                    spending.calls += usage.tries;
                    spending.retries += usage.tries - usage.calls;
                    spending.spent = spending.spent.and(usage.spent);
                    unpriced |= usage.unpriced;
                    spending.cost_usd =
                        usage.cost.map_or(spending.cost_usd, |cost| Some(spending.cost_usd.unwrap_or(0.0) + cost));
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
        let called_off = |(index, end): (usize, Option<JobOutcome>)| {
            let off = || JobOutcome::CalledOff { why, outputs: halves.remove(&index).unwrap_or_default() };
            end.unwrap_or_else(off)
        };
        let finished = finished.into_iter().enumerate().map(called_off).collect();
        EngineOutcome { finished, timelines, complaints, spending }
    }

    /// Ends the agents' own programs that wait for further requests.
    pub async fn close(&self) {
        for queue in &self.queues {
            match &queue.client {
                TargetClient::Program(program) => program.close().await,
                TargetClient::Model(_) => {}
            }
        }
    }

    async fn job(
        &self,
        index: usize,
        job: &SampleJob,
        budget: &BudgetState,
        events: &dyn EngineEvents,
        (run, halves): (Instant, &RefCell<BTreeMap<usize, Json>>),
    ) -> (usize, JobOutcome, SampleUsage) {
        let mut usage = SampleUsage::new(run);
        let mut seat = Permit::on(&self.queues, job.queue);
        seat.take().await;
        if !events.is_needed(index) {
            return (index, JobOutcome::Spared, usage);
        }
        let begun = Instant::now();
        let ended = match &job.refining {
            None => self.answer(&job.request, &mut seat, budget, &mut usage).await,
            Some(refining) => {
                let keep = |outputs: Json| {
                    halves.borrow_mut().insert(index, outputs);
                };
                self.refine(job, refining, &mut seat, budget, &mut usage, &keep).await
            }
        };
        drop(seat);
        let took = begun.elapsed();
        usage.timeline.period = usage.stretch(begun);
        let end = match ended {
            Ok(record) => JobOutcome::Made(Box::new(measured(record, job, &usage, took))),
            Err(SampleFailure::Fault(fault)) => {
                let record = blank(&job.request, fault.status, Some(fault.what));
                JobOutcome::Made(Box::new(measured(record, job, &usage, took)))
            }
            Err(SampleFailure::Spent(why)) => {
                let outputs = halves.borrow_mut().remove(&index).unwrap_or_default();
                JobOutcome::CalledOff { why, outputs }
            }
        };
        (index, end, usage)
    }
}

//! Schedules samples: every sample waits for a permit of its target queue, and releases it while it waits for a retry.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;

use futures_util::StreamExt;
use futures_util::future::{Either, select};
use futures_util::stream::FuturesUnordered;
use tokio::time::Instant;

use super::TargetClient;
use super::budget::BudgetState;
use super::sample_calls::{SampleCalls, SampleFailure};
use super::sample_job::SampleJob;
use super::sample_usage::{SampleUsage, UnreportedUsage, blank, measured};
use super::setup::Engine;
use super::target_queue::Permit;
use super::timeline::Timeline;
use crate::model::{Interruption, Json, RunRecord, TokenUsage};

#[derive(Debug, Clone, PartialEq)]
pub enum JobOutcome {
    /// The sample has a record, with an answer or an error.
    Made(Box<RunRecord>),
    /// Skipped: no answer could change a verdict any more.
    Spared,
    CalledOff {
        /// The budget, the time limit, or a person.
        why: Interruption,
        /// The record's `outputs` so far, the attempts of a loop. They are not a result.
        outputs: Json,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct EngineOutcome {
    /// The end of each job, indexed like the jobs.
    pub finished: Vec<JobOutcome>,
    /// The timeline of each job, indexed like the jobs; empty for interrupted jobs.
    pub timelines: Vec<Timeline>,
    /// The stderr of agents' own programs, by job index; without interrupted jobs.
    pub complaints: BTreeMap<usize, String>,
    pub spending: Spending,
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spending {
    /// Calls, retries included.
    pub calls: u64,
    /// Retried calls among them.
    pub retries: u64,
    pub spent: TokenUsage,
    /// US dollars, where every call had a price.
    pub cost_usd: Option<f64>,
    pub unreported: UnreportedUsage,
}

/// Receives the events of a run, and decides which jobs are still needed.
pub trait EngineEvents {
    /// Whether the job's answer can still change a verdict.
    fn is_needed(&self, job: usize) -> bool;
    /// Called when a job ends; whatever has to survive a crash must be saved here.
    fn finished(&self, job: usize, finished: &JobOutcome);
}

impl Engine<'_> {
    /// Runs all jobs. Results are indexed like `jobs`. When `stop` resolves, unfinished jobs are interrupted with that
    /// reason; finished ones are kept.
    pub async fn run(
        &self,
        jobs: &[&SampleJob],
        events: &dyn EngineEvents,
        stop: impl Future<Output = Interruption>,
    ) -> EngineOutcome {
        let budget = BudgetState::new(self.limits);
        let begun = Instant::now();
        // Partial outputs of running loops, kept for an interruption.
        let halves: RefCell<BTreeMap<usize, Json>> = RefCell::default();
        let mut order: Vec<usize> = (0..jobs.len()).collect();
        order.sort_by_key(|index| jobs[*index].round);
        let mut open: FuturesUnordered<_> = order
            .into_iter()
            .map(|index| self.job(index, jobs[index], &budget, events, (begun, &halves)))
            .collect();
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
                    spending.unreported = spending.unreported.and(usage.unreported);
                    for paid in [usage.agent, usage.user] {
                        spending.spent = spending.spent.and(paid.spent);
                        unpriced |= paid.unpriced;
                        spending.cost_usd = paid.cost.map_or(spending.cost_usd, |cost| {
                            Some(spending.cost_usd.unwrap_or(0.0) + cost)
                        });
                    }
                }
                Either::Right((reason, _)) => break Some(reason),
            }
        };
        drop(open);
        if unpriced {
            spending.cost_usd = None;
        }
        // Without a reason every job has ended by itself.
        let why = reason.unwrap_or(Interruption::Terminated);
        let mut halves = halves.into_inner();
        let mut outcomes = Vec::new();
        for (index, end) in finished.into_iter().enumerate() {
            outcomes.push(end.unwrap_or_else(|| JobOutcome::CalledOff {
                why,
                outputs: halves.remove(&index).unwrap_or_default(),
            }));
        }
        EngineOutcome {
            finished: outcomes,
            timelines,
            complaints,
            spending,
        }
    }

    /// Stops the agents' own programs that wait for further requests.
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
        let mut permit = Permit::on(&self.queues, job.queue);
        permit.take().await;
        if !events.is_needed(index) {
            return (index, JobOutcome::Spared, usage);
        }
        let begun = Instant::now();
        let ended = match &job.refining {
            None => {
                self.answer(&job.request, &mut permit, budget, &mut usage)
                    .await
            }
            Some(refining) => {
                let calls = SampleCalls {
                    permit: &mut permit,
                    budget,
                    usage: &mut usage,
                };
                self.refine(job, refining, calls, &|outputs| {
                    halves.borrow_mut().insert(index, outputs);
                })
                .await
            }
        };
        drop(permit);
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

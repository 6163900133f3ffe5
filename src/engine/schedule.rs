//! Who is asked when: every sample waits for a place on its lane, and gives it back while it waits for its next try.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::Either;
use futures_util::future::select;
use futures_util::stream::FuturesUnordered;
use tokio::sync::Semaphore;
use tokio::sync::SemaphorePermit;
use tokio::time::Instant;
use tokio::time::sleep;

use super::Model;
use super::Pending;
use super::Program;
use super::Voice;
use super::budget::Ledger;
use super::budget::Limits;
use super::budget::Prices;
use super::budget::Spender;
use super::conversation::Next;
use super::conversation::Talk;
use super::retry::Patience;
use crate::diag::Diagnostic;
use crate::model::Answered;
use crate::model::Evidence;
use crate::model::Fault;
use crate::model::Inputs;
use crate::model::Json;
use crate::model::Measures;
use crate::model::Record;
use crate::model::Recorded;
use crate::model::RepoPath;
use crate::model::Request;
use crate::model::Spent;
use crate::model::Status;
use crate::model::Steps;
use crate::model::Toolbox;
use crate::suites::Entry;
use crate::suites::Shelf;

/// One target: who answers, and how many at once.
pub struct Lane {
    /// Who answers.
    pub voice: Voice,
    /// The model's name in the config, for prices; a program has none.
    pub model: Option<String>,
    places: Semaphore,
}

impl Lane {
    /// A lane of so many places.
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
}

/// What became of a job.
#[derive(Debug, Clone, PartialEq)]
pub enum Finished {
    /// It was made, or came to an end without an answer.
    Made(Box<Record>),
    /// It was not needed any more: no answer could change a verdict.
    Spared,
    /// It was called off: the budget, the time, or a person.
    CalledOff(String),
}

/// When a sample was made, from the start of the run on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Timeline {
    /// From its first call to its end.
    pub period: Stretch,
    /// Its calls of a model, repeated tries among them.
    pub chats: Vec<(Stretch, Answered)>,
    /// Its tool calls.
    pub tools: Vec<Stretch>,
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

/// Why a sample ended without an answer.
enum Ended {
    Fault(Fault),
    Spent(Spender),
}

/// What one sample took.
struct Bill {
    calls: u64,
    tries: u64,
    spent: Spent,
    cost: Option<f64>,
    unpriced: bool,
    model: Option<String>,
    /// The start of the run.
    begun: Instant,
    timeline: Timeline,
}

impl Engine<'_> {
    /// Makes the samples; a job's end stands at its own place. `stop` ends with the reason why no more is made: what is on its
    /// way is then called off, and what is finished stays.
    pub async fn run(&self, jobs: &[&Job], events: &dyn Events, stop: impl Future<Output = String>) -> Outcome {
        let ledger = Ledger::new(self.limits);
        let begun = Instant::now();
        let mut order: Vec<usize> = (0..jobs.len()).collect();
        order.sort_by_key(|place| jobs[*place].round);
        let mut open: FuturesUnordered<_> =
            order.into_iter().map(|place| self.job(place, jobs[place], &ledger, events, begun)).collect();
        let mut finished: Vec<Option<Finished>> = jobs.iter().map(|_| None).collect();
        let mut timelines: Vec<Timeline> = jobs.iter().map(|_| Timeline::default()).collect();
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
        let called_off = |end: Option<Finished>| {
            end.unwrap_or_else(|| Finished::CalledOff(reason.clone().unwrap_or_else(|| "it was called off".to_owned())))
        };
        Outcome { finished: finished.into_iter().map(called_off).collect(), timelines, spending }
    }

    async fn job(
        &self,
        place: usize,
        job: &Job,
        ledger: &Ledger,
        events: &dyn Events,
        run: Instant,
    ) -> (usize, Finished, Bill) {
        let lane = &self.lanes[job.lane];
        let mut bill = Bill::new(run);
        let mut seat = Seat { lane, permit: None };
        seat.take().await;
        if !events.is_needed(place) {
            return (place, Finished::Spared, bill);
        }
        let begun = Instant::now();
        let ended = match &lane.voice {
            Voice::Model(model) => self.talk(&**model, job, &mut seat, ledger, &mut bill).await,
            Voice::Program(program) => self.start(&**program, job, &mut seat, ledger, &mut bill).await,
        };
        drop(seat);
        let took = begun.elapsed();
        bill.timeline.period = bill.stretch(begun);
        let end = match ended {
            Ok(record) => Finished::Made(Box::new(measured(record, job, &bill, took))),
            Err(Ended::Fault(fault)) => {
                Finished::Made(Box::new(measured(blank(job, fault.status, Some(fault.what)), job, &bill, took)))
            }
            Err(Ended::Spent(spender)) => Finished::CalledOff(spender.says().to_owned()),
        };
        (place, end, bill)
    }

    /// Talks with a model until it has said its last.
    async fn talk(
        &self,
        model: &dyn Model,
        job: &Job,
        seat: &mut Seat<'_>,
        ledger: &Ledger,
        bill: &mut Bill,
    ) -> Result<Record, Ended> {
        let mut talk = Talk::new(&job.request, self.folder(&job.request));
        loop {
            let turn = self.call(seat, ledger, bill, || model.turn(talk.conversation())).await?;
            let answered = Answered::Turn { model: turn.model.clone(), stop: turn.stop.clone(), spent: turn.spent };
            if let Some((_, outcome)) = bill.timeline.chats.last_mut() {
                *outcome = answered;
            }
            bill.model = turn.model.clone().or(bill.model.take());
            let priced = seat.lane.model.as_deref().and_then(|model| self.prices.cost(model, &turn.spent));
            bill.pay(ledger, turn.spent, priced);
            let (calls, asked) = (turn.calls.len(), Instant::now());
            let next = talk.take(turn);
            // Canned results and files are there at once: the calls of one turn share its time.
            let stretch = bill.stretch(asked);
            bill.timeline.tools.extend(std::iter::repeat_n(stretch, calls));
            if let Next::Done = next {
                break;
            }
        }
        let said = talk.said(&job.request.ask.tools);
        Ok(Record {
            outputs: said.outputs,
            intermediate: said.steps,
            evidence: Evidence { file_paths: said.read, ..Evidence::default() },
            ..blank(job, Status::Completed, None)
        })
    }

    /// Lets an agent's own program run; what it took is what it says.
    async fn start(
        &self,
        program: &dyn Program,
        job: &Job,
        seat: &mut Seat<'_>,
        ledger: &Ledger,
        bill: &mut Bill,
    ) -> Result<Record, Ended> {
        let record = self.call(seat, ledger, bill, || program.run(&job.request)).await?;
        let told = &record.metrics;
        let input = told.input_tokens.or(told.total_tokens).unwrap_or(0);
        let spent = Spent { input, cached_input: 0, output: told.output_tokens.unwrap_or(0) };
        bill.model.clone_from(&record.provenance.provenance.model);
        bill.pay(ledger, spent, told.cost_usd);
        Ok(record)
    }

    fn folder(&self, request: &Request) -> &dyn Shelf {
        match &request.ask.tools {
            Toolbox::Folder { root, .. } => self.folders.get(root).map_or(&Nowhere, |shelf| &**shelf),
            Toolbox::Empty | Toolbox::Canned(_) => &Nowhere,
        }
    }

    /// Makes a call until it is answered, given up, or the budget is spent. The place on the lane is free while it waits.
    async fn call<'m, T>(
        &self,
        seat: &mut Seat<'_>,
        ledger: &Ledger,
        bill: &mut Bill,
        make: impl Fn() -> Pending<'m, T>,
    ) -> Result<T, Ended> {
        let mut tries = 0;
        loop {
            seat.take().await;
            let slip = ledger.open().map_err(Ended::Spent)?;
            bill.calls += u64::from(tries == 0);
            bill.tries += 1;
            tries += 1;
            let asked = Instant::now();
            let outcome = make().await;
            let told = outcome.as_ref().err().map_or(String::new(), |fault| fault.status.word().to_owned());
            bill.timeline.chats.push((bill.stretch(asked), Answered::Fault(told)));
            let fault = match outcome {
                Ok(answer) => {
                    slip.answered();
                    return Ok(answer);
                }
                Err(fault) => fault,
            };
            drop(slip);
            match self.patience.wait(&fault, tries, fastrand::f64()) {
                None => return Err(Ended::Fault(fault)),
                Some(wait) => {
                    seat.permit = None;
                    sleep(wait).await;
                }
            }
        }
    }
}

impl Bill {
    /// Nothing taken yet, in a run that began then.
    fn new(begun: Instant) -> Self {
        Self {
            calls: 0,
            tries: 0,
            spent: Spent::default(),
            cost: None,
            unpriced: false,
            model: None,
            begun,
            timeline: Timeline::default(),
        }
    }

    /// From then until now, counted from the start of the run.
    fn stretch(&self, from: Instant) -> Stretch {
        let since = |then: Instant| then.saturating_duration_since(self.begun);
        Stretch { from: since(from), to: since(Instant::now()) }
    }

    fn pay(&mut self, ledger: &Ledger, spent: Spent, cost: Option<f64>) {
        self.spent = self.spent.and(spent);
        match cost {
            Some(cost) => self.cost = Some(self.cost.unwrap_or(0.0) + cost),
            None => self.unpriced = true,
        }
        ledger.pay(&spent, cost);
    }
}

/// A sample's place on its lane.
struct Seat<'a> {
    lane: &'a Lane,
    permit: Option<SemaphorePermit<'a>>,
}

impl Seat<'_> {
    async fn take(&mut self) {
        if self.permit.is_none() {
            // The semaphore is never closed.
            self.permit = self.lane.places.acquire().await.ok();
        }
    }
}

/// A folder with nothing in it, for runs that may not look anywhere.
struct Nowhere;

impl Shelf for Nowhere {
    fn list(&self, folder: &RepoPath) -> Result<Vec<Entry>, Diagnostic> {
        Err(nothing(folder))
    }

    fn bytes(&self, file: &RepoPath) -> Result<Vec<u8>, Diagnostic> {
        Err(nothing(file))
    }
}

fn nothing(path: &RepoPath) -> Diagnostic {
    Diagnostic::of_file(path, "missing-file", "there is nothing to look at", "name a fixture repository")
}

fn blank(job: &Job, status: Status, error: Option<String>) -> Record {
    Record {
        agent: job.request.key.agent.clone(),
        case: job.request.key.case.clone(),
        sample: job.request.sample,
        status,
        error,
        inputs: Inputs { prompt: Some(job.request.ask.prompt.clone()), ..Inputs::default() },
        outputs: Json::default(),
        intermediate: Steps::default(),
        evidence: Evidence::default(),
        metrics: Measures::default(),
        provenance: Recorded::default(),
    }
}

/// The record with what was seen from outside: tokens, time, cost, and where it comes from.
fn measured(mut record: Record, job: &Job, bill: &Bill, took: Duration) -> Record {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    record.intermediate.seen_calls().iter().for_each(|call| *counts.entry(call.name.clone()).or_insert(0) += 1);
    let metrics = &mut record.metrics;
    if bill.spent != Spent::default() {
        metrics.input_tokens = metrics.input_tokens.or(Some(bill.spent.input));
        metrics.output_tokens = metrics.output_tokens.or(Some(bill.spent.output));
        metrics.total_tokens = metrics.total_tokens.or(Some(bill.spent.input.saturating_add(bill.spent.output)));
    }
    metrics.total_latency_ms = metrics.total_latency_ms.or(u64::try_from(took.as_millis()).ok());
    metrics.cost_usd = metrics.cost_usd.or(bill.cost.filter(|_| !bill.unpriced));
    if metrics.tool_call_counts.is_empty() {
        metrics.tool_call_counts = counts;
    }
    let told = record.provenance.provenance.model.take();
    record.provenance = job.origin.clone();
    record.provenance.provenance.model = told.or_else(|| bill.model.clone());
    record.provenance.provenance.cache = Some("miss".to_owned());
    record
}

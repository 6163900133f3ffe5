//! One request and its calls: tried again where that may help, until it is answered, given up, or the budget is spent.

use tokio::sync::SemaphorePermit;
use tokio::time::{Instant, sleep};

use super::budget::BudgetState;
use super::conversation::{NextTurn, OngoingConversation};
use super::sample_usage::{SampleUsage, blank};
use super::schedule::{Engine, TargetQueue, TimedCall};
use super::{Model, Pending, Program, TargetClient};
use crate::diag::{Diagnostic, ReadFailure};
use crate::model::{
    CallError, Interruption, ModelCallResult, RepoPath, RunEvidence, RunRecord, RunStatus, SampleRequest, TokenUsage,
    Toolbox,
};
use crate::suites::{Entry, Files};

/// Why a sample ended without an answer.
pub enum SampleFailure {
    /// A call gave none.
    Fault(CallError),
    /// The budget is spent.
    Spent(Interruption),
}

impl Engine<'_> {
    /// Asks whoever answers on the seat's lane.
    pub(super) async fn answer(
        &self,
        request: &SampleRequest,
        seat: &mut Permit<'_>,
        budget: &BudgetState,
        usage: &mut SampleUsage,
    ) -> Result<RunRecord, SampleFailure> {
        match &seat.queue.client {
            TargetClient::Model(model) => self.talk(&**model, request, seat, budget, usage).await,
            TargetClient::Program(program) => self.start(&**program, request, seat, budget, usage).await,
        }
    }

    /// Talks with a model until it has said its last.
    async fn talk(
        &self,
        model: &dyn Model,
        request: &SampleRequest,
        seat: &mut Permit<'_>,
        budget: &BudgetState,
        usage: &mut SampleUsage,
    ) -> Result<RunRecord, SampleFailure> {
        let mut talk = OngoingConversation::new(request, self.folder(request));
        loop {
            let turn = self.call(seat, budget, usage, || model.turn(talk.conversation())).await?;
            let answered =
                ModelCallResult::Turn { model: turn.model.clone(), stop: turn.stop.clone(), spent: turn.spent };
            if let Some(called) = usage.timeline.chats.last_mut() {
                called.outcome = answered;
            }
            usage.model = turn.model.clone().or(usage.model.take());
            let priced = seat.queue.model.as_deref().and_then(|model| self.prices.cost(model, &turn.spent));
            usage.pay(budget, turn.spent, priced);
            let (calls, asked) = (turn.calls.len(), Instant::now());
            let next = talk.take(turn);
            // Canned results and files are there at once: the calls of one turn share its time.
            let stretch = usage.stretch(asked);
            usage.timeline.tools.extend(std::iter::repeat_n(stretch, calls));
            if let NextTurn::Done = next {
                break;
            }
        }
        let said = talk.finish(&request.ask.tools);
        Ok(RunRecord {
            outputs: said.outputs,
            intermediate: said.steps,
            evidence: RunEvidence { file_paths: said.read, ..RunEvidence::default() },
            ..blank(request, RunStatus::Completed, None)
        })
    }

    /// Lets an agent's own program run; what it took is what it says.
    async fn start(
        &self,
        program: &dyn Program,
        request: &SampleRequest,
        seat: &mut Permit<'_>,
        budget: &BudgetState,
        usage: &mut SampleUsage,
    ) -> Result<RunRecord, SampleFailure> {
        let ran = self.call(seat, budget, usage, || program.run(request)).await;
        usage.complaints.push_str(&program.complaints(request).unwrap_or_default());
        let record = ran?;
        let told = &record.metrics;
        let input = told.input_tokens.or(told.total_tokens).unwrap_or(0);
        let spent = TokenUsage { input, cached_input: 0, output: told.output_tokens.unwrap_or(0) };
        usage.model.clone_from(&record.provenance.provenance.model);
        usage.pay(budget, spent, told.cost_usd);
        Ok(record)
    }

    fn folder(&self, request: &SampleRequest) -> &dyn Files {
        match &request.ask.tools {
            Toolbox::Folder { root, .. } => self.folders.get(root).map_or(&EmptyFolder, |files| &**files),
            Toolbox::Empty | Toolbox::Canned(_) => &EmptyFolder,
        }
    }

    /// Makes a call until it is answered, given up, or the budget is spent. The place on the lane is free while it waits.
    async fn call<'m, T>(
        &self,
        seat: &mut Permit<'_>,
        budget: &BudgetState,
        usage: &mut SampleUsage,
        make: impl Fn() -> Pending<'m, T>,
    ) -> Result<T, SampleFailure> {
        let mut tries = 0;
        loop {
            seat.take().await;
            let reservation = budget.open().map_err(SampleFailure::Spent)?;
            usage.calls += u64::from(tries == 0);
            usage.tries += 1;
            tries += 1;
            let asked = Instant::now();
            let outcome = make().await;
            let told = outcome.as_ref().err().map_or(String::new(), |fault| fault.status.as_str().to_owned());
            let called =
                TimedCall { stretch: usage.stretch(asked), queue: seat.at, outcome: ModelCallResult::Fault(told) };
            usage.timeline.chats.push(called);
            let fault = match outcome {
                Ok(answer) => {
                    reservation.answered();
                    return Ok(answer);
                }
                Err(fault) => fault,
            };
            drop(reservation);
            match self.retry.wait(&fault, tries, fastrand::f64()) {
                None => return Err(SampleFailure::Fault(fault)),
                Some(wait) => {
                    seat.permit = None;
                    sleep(wait).await;
                }
            }
        }
    }
}

/// A sample's place on its lane.
pub struct Permit<'a> {
    queue: &'a TargetQueue,
    /// The lane's place among all.
    at: usize,
    permit: Option<SemaphorePermit<'a>>,
}

impl<'a> Permit<'a> {
    /// No place yet, on this lane.
    pub fn on(queues: &'a [TargetQueue], at: usize) -> Self {
        Self { queue: &queues[at], at, permit: None }
    }

    /// Moves to another lane; the place on the one before is free.
    pub fn change(&mut self, queues: &'a [TargetQueue], at: usize) {
        if self.at != at {
            *self = Self::on(queues, at);
        }
    }

    /// Waits for a place, unless it has one.
    pub async fn take(&mut self) {
        if self.permit.is_none() {
            // The semaphore is never closed.
            self.permit = self.queue.places.acquire().await.ok();
        }
    }
}

/// A folder with nothing in it, for runs that may not look anywhere.
struct EmptyFolder;

impl Files for EmptyFolder {
    fn list_all(&self, folder: &RepoPath) -> Result<Vec<Entry>, Diagnostic> {
        Err(nothing(folder))
    }

    fn bytes(&self, file: &RepoPath) -> Result<Vec<u8>, Diagnostic> {
        Err(nothing(file))
    }
}

fn nothing(path: &RepoPath) -> Diagnostic {
    Diagnostic::of_read(path, ReadFailure::MissingFile, "there is nothing to look at", "name a fixture repository")
}

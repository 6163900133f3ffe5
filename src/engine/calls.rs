//! One request and its calls: tried again where that may help, until it is answered, given up, or the budget is spent.

use tokio::sync::SemaphorePermit;
use tokio::time::{Instant, sleep};

use super::bill::{Bill, blank};
use super::budget::Ledger;
use super::conversation::{Next, Talk};
use super::schedule::{Called, Engine, Lane};
use super::{Model, Pending, Program, Voice};
use crate::diag::Diagnostic;
use crate::model::{Answered, Evidence, Fault, Interruption, Record, RepoPath, Request, Spent, Status, Toolbox};
use crate::suites::{Entry, Shelf};

/// Why a sample ended without an answer.
pub enum Ended {
    /// A call gave none.
    Fault(Fault),
    /// The budget is spent.
    Spent(Interruption),
}

impl Engine<'_> {
    /// Asks whoever answers on the seat's lane.
    pub(super) async fn answer(
        &self,
        request: &Request,
        seat: &mut Seat<'_>,
        ledger: &Ledger,
        bill: &mut Bill,
    ) -> Result<Record, Ended> {
        match &seat.lane.voice {
            Voice::Model(model) => self.talk(&**model, request, seat, ledger, bill).await,
            Voice::Program(program) => self.start(&**program, request, seat, ledger, bill).await,
        }
    }

    /// Talks with a model until it has said its last.
    async fn talk(
        &self,
        model: &dyn Model,
        request: &Request,
        seat: &mut Seat<'_>,
        ledger: &Ledger,
        bill: &mut Bill,
    ) -> Result<Record, Ended> {
        let mut talk = Talk::new(request, self.folder(request));
        loop {
            let turn = self.call(seat, ledger, bill, || model.turn(talk.conversation())).await?;
            let answered = Answered::Turn { model: turn.model.clone(), stop: turn.stop.clone(), spent: turn.spent };
            if let Some(called) = bill.timeline.chats.last_mut() {
                called.outcome = answered;
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
        let said = talk.said(&request.ask.tools);
        Ok(Record {
            outputs: said.outputs,
            intermediate: said.steps,
            evidence: Evidence { file_paths: said.read, ..Evidence::default() },
            ..blank(request, Status::Completed, None)
        })
    }

    /// Lets an agent's own program run; what it took is what it says.
    async fn start(
        &self,
        program: &dyn Program,
        request: &Request,
        seat: &mut Seat<'_>,
        ledger: &Ledger,
        bill: &mut Bill,
    ) -> Result<Record, Ended> {
        let ran = self.call(seat, ledger, bill, || program.run(request)).await;
        bill.complaints.push_str(&program.complaints(request).unwrap_or_default());
        let record = ran?;
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
            let called = Called { stretch: bill.stretch(asked), lane: seat.at, outcome: Answered::Fault(told) };
            bill.timeline.chats.push(called);
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

/// A sample's place on its lane.
pub struct Seat<'a> {
    lane: &'a Lane,
    /// The lane's place among all.
    at: usize,
    permit: Option<SemaphorePermit<'a>>,
}

impl<'a> Seat<'a> {
    /// No place yet, on this lane.
    pub fn on(lanes: &'a [Lane], at: usize) -> Self {
        Self { lane: &lanes[at], at, permit: None }
    }

    /// Moves to another lane; the place on the one before is free.
    pub fn change(&mut self, lanes: &'a [Lane], at: usize) {
        if self.at != at {
            *self = Self::on(lanes, at);
        }
    }

    /// Waits for a place, unless it has one.
    pub async fn take(&mut self) {
        if self.permit.is_none() {
            // The semaphore is never closed.
            self.permit = self.lane.places.acquire().await.ok();
        }
    }
}

/// A folder with nothing in it, for runs that may not look anywhere.
struct Nowhere;

impl Shelf for Nowhere {
    fn list_all(&self, folder: &RepoPath) -> Result<Vec<Entry>, Diagnostic> {
        Err(nothing(folder))
    }

    fn bytes(&self, file: &RepoPath) -> Result<Vec<u8>, Diagnostic> {
        Err(nothing(file))
    }
}

fn nothing(path: &RepoPath) -> Diagnostic {
    Diagnostic::of_file(path, "missing-file", "there is nothing to look at", "name a fixture repository")
}

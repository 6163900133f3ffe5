//! One request and its calls: retried where a retry may help, until answered, failed, or out of budget.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::budget::{BudgetRefusal, BudgetState, CallEstimate, Reservation};
use super::conversation::{NextTurn, OngoingConversation};
use super::sample_calls::{SampleCalls, SampleFailure};
use super::sample_usage::{Caller, SampleUsage, blank, tokens_of, unreported};
use super::setup::Engine;
use super::simulated_user::UserSide;
use super::target_queue::{Permit, TargetQueue};
use super::timeline::TimedCall;
use super::{Model, Pending, Program, TargetClient};
use crate::diag::{Diagnostic, ReadFailure};
use crate::files::{Entry, Files};
use crate::model::{
    Charge, Conversation, ConversationSoFar, ModelCallResult, ModelTurn, RepoPath, RunEvidence,
    RunRecord, RunStatus, SampleRequest, TokenUsage, Toolbox, UserTurns,
};

/// How often a call that waits for the first answer looks whether it is there.
const LOOK: Duration = Duration::from_millis(10);

impl Engine<'_> {
    /// Sends the request to the client of the permit's target queue.
    pub(super) async fn answer<'l>(
        &'l self,
        request: &SampleRequest,
        permit: &mut Permit<'l>,
        budget: &BudgetState,
        usage: &mut SampleUsage,
    ) -> Result<RunRecord, SampleFailure> {
        match &permit.queue.client {
            TargetClient::Model(model) => {
                self.converse(&**model, request, permit, budget, usage)
                    .await
            }
            TargetClient::Program(program) => match request.ask.turns {
                UserTurns::Single => self.start(&**program, request, permit, budget, usage).await,
                UserTurns::Scripted(_) | UserTurns::Simulated(_) => {
                    self.talk(&**program, request, permit, budget, usage).await
                }
            },
        }
    }

    /// Runs a model's conversation until its last turn.
    async fn converse<'l>(
        &'l self,
        model: &dyn Model,
        request: &SampleRequest,
        permit: &mut Permit<'l>,
        budget: &BudgetState,
        usage: &mut SampleUsage,
    ) -> Result<RunRecord, SampleFailure> {
        let mut conversation = OngoingConversation::new(request, self.folder(request));
        let mut user = UserSide::of(&request.ask);
        loop {
            let calls = SampleCalls {
                permit,
                budget,
                usage,
            };
            let turn = self
                .turn(model, conversation.conversation(), Caller::Agent, calls)
                .await?;
            usage.model = turn.model.clone().or(usage.model.take());
            let (calls, begun) = (turn.calls.len(), Instant::now());
            let next = conversation.take(turn);
            // Canned results and files need no waiting: the calls of one turn share one time span.
            let stretch = usage.stretch(begun);
            usage
                .timeline
                .tools
                .extend(std::iter::repeat_n(stretch, calls));
            match next {
                NextTurn::Agent => {}
                NextTurn::Done => break,
                NextTurn::User => {
                    let calls = SampleCalls {
                        permit,
                        budget,
                        usage,
                    };
                    match self
                        .next_message(&mut user, conversation.said(), calls)
                        .await?
                    {
                        Some(message) => conversation.hear(message.text),
                        None => break,
                    }
                }
            }
        }
        let outcome = conversation.finish(&request.ask.tools, user.record());
        Ok(RunRecord {
            outputs: outcome.outputs,
            intermediate: outcome.steps,
            evidence: RunEvidence {
                file_paths: outcome.read,
                ..RunEvidence::default()
            },
            ..blank(request, RunStatus::Completed, None)
        })
    }

    /// Asks a model for its next turn.
    pub(super) async fn turn(
        &self,
        model: &dyn Model,
        conversation: &Conversation,
        caller: Caller,
        SampleCalls {
            permit,
            budget,
            usage,
        }: SampleCalls<'_, '_>,
    ) -> Result<ModelTurn, SampleFailure> {
        let asked = conversation.bytes();
        let estimate = self.estimate(permit.queue, asked);
        let turn = self
            .call(permit, (budget, estimate), usage, || {
                model.turn(conversation)
            })
            .await?;
        let answered = ModelCallResult::Turn {
            model: turn.model.clone(),
            stop: turn.stop.clone(),
            spent: turn.spent,
        };
        if let Some(called) = usage.timeline.chats.last_mut() {
            called.outcome = answered;
        }
        let estimated = unreported(turn.spent, asked, turn.bytes());
        let is_reported = estimated == TokenUsage::default();
        usage.pay(
            budget,
            caller,
            turn.spent,
            self.cost(permit.queue, &turn.spent).filter(|_| is_reported),
        );
        let cost = self.cost(permit.queue, &turn.spent.and(estimated));
        usage.pay_unreported(budget, estimated, cost);
        Ok(turn)
    }

    /// Runs the agent's own program. Usage is taken from its record.
    pub(super) async fn start(
        &self,
        program: &dyn Program,
        request: &SampleRequest,
        permit: &mut Permit<'_>,
        budget: &BudgetState,
        usage: &mut SampleUsage,
    ) -> Result<RunRecord, SampleFailure> {
        let bytes_before = request
            .conversation
            .as_ref()
            .map_or(0, ConversationSoFar::bytes);
        let asked = request.system.len()
            + request
                .ask
                .prompt
                .len()
                .max(request.ask.inputs.to_string().len())
            + bytes_before;
        let estimate = self.estimate(permit.queue, asked);
        let ran = self
            .call(permit, (budget, estimate), usage, || program.run(request))
            .await;
        usage
            .complaints
            .push_str(&program.complaints(request).unwrap_or_default());
        let record = ran?;
        let reported = &record.metrics;
        let input = reported.input_tokens.or(reported.total_tokens).unwrap_or(0);
        let spent = TokenUsage {
            input,
            cached_input: 0,
            output: reported.output_tokens.unwrap_or(0),
        };
        usage.model.clone_from(&record.provenance.provenance.model);
        let (cost, total) = (reported.cost_usd, spent.input.saturating_add(spent.output));
        // A program may report one number for all its tokens.
        let estimated = match total {
            0 => unreported(spent, asked, record.outputs.text().len()),
            _ => TokenUsage::default(),
        };
        usage.pay(budget, Caller::Agent, spent, cost);
        usage.pay_unreported(budget, estimated, None);
        usage.unreported.unpriced += u64::from(cost.is_none());
        Ok(record)
    }

    /// What a call with this many bytes takes at most, if its answer is as long as it may be.
    fn estimate(&self, queue: &TargetQueue, asked: usize) -> CallEstimate {
        let spent = TokenUsage {
            input: tokens_of(asked),
            cached_input: 0,
            output: queue.most_output,
        };
        let cost = self.cost(queue, &spent);
        CallEstimate {
            tokens: spent.input.saturating_add(spent.output),
            cost_usd: cost.unwrap_or(0.0),
        }
    }

    /// The price of these tokens in US dollars; `None` if the target is not a model, or has no price.
    fn cost(&self, queue: &TargetQueue, spent: &TokenUsage) -> Option<f64> {
        self.prices.cost(queue.model.as_deref()?, spent)
    }

    /// Reserves a call as soon as the budget allows it.
    async fn reserve(
        budget: &BudgetState,
        estimate: CallEstimate,
    ) -> Result<Reservation<'_>, SampleFailure> {
        loop {
            match budget.open(estimate) {
                Ok(reservation) => return Ok(reservation),
                Err(BudgetRefusal::Reached(why)) => return Err(SampleFailure::Spent(why)),
                Err(BudgetRefusal::UntilAnswer) => sleep(LOOK).await,
            }
        }
    }

    fn folder(&self, request: &SampleRequest) -> &dyn Files {
        match &request.ask.tools {
            Toolbox::Folder { root, .. } => self
                .folders
                .get(root)
                .map_or(&EmptyFolder, |files| &**files),
            Toolbox::Empty | Toolbox::Canned(_) => &EmptyFolder,
        }
    }

    /// Retries a call until it is answered, fails for good, or the budget is spent. The queue permit is free between two
    /// tries.
    async fn call<'m, T>(
        &self,
        permit: &mut Permit<'_>,
        (budget, estimate): (&BudgetState, CallEstimate),
        usage: &mut SampleUsage,
        make: impl Fn() -> Pending<'m, T>,
    ) -> Result<T, SampleFailure> {
        let mut tries = 0;
        loop {
            permit.take().await;
            let reservation = Self::reserve(budget, estimate).await?;
            usage.calls += u64::from(tries == 0);
            usage.tries += 1;
            tries += 1;
            let asked = Instant::now();
            let outcome = make().await;
            let status = outcome
                .as_ref()
                .err()
                .map_or(String::new(), |fault| fault.status.as_str().to_owned());
            let called = TimedCall {
                stretch: usage.stretch(asked),
                queue: permit.at,
                outcome: ModelCallResult::Fault(status),
            };
            usage.timeline.chats.push(called);
            let fault = match outcome {
                Ok(answer) => {
                    reservation.answered();
                    return Ok(answer);
                }
                Err(fault) => fault,
            };
            match fault.charge {
                Charge::Never => drop(reservation),
                Charge::Possible => {
                    // What it used is unknown, so it counts as the most that it may have used.
                    let spent = TokenUsage {
                        input: estimate.tokens,
                        ..TokenUsage::default()
                    };
                    usage.pay_unreported(budget, spent, Some(estimate.cost_usd));
                    reservation.answered();
                }
            }
            match self.retry.wait(&fault, tries, fastrand::f64()) {
                None => return Err(SampleFailure::Fault(fault)),
                Some(wait) => {
                    permit.permit = None;
                    sleep(wait).await;
                }
            }
        }
    }
}

/// An empty folder, for runs without access to files.
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
    Diagnostic::of_read(
        path,
        ReadFailure::MissingFile,
        "this run has no folder",
        "name a fixture repository",
    )
}

//! The usage of one sample, and its record with that usage.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::budget::BudgetState;
use super::sample_job::SampleJob;
use super::timeline::{TimeSpan, Timeline};
use crate::model::{
    Json, Measures, RunEvidence, RunInputs, RunProvenance, RunRecord, RunStatus, SampleRequest,
    Steps, TokenUsage,
};

/// Calls whose usage was not reported, with an estimate from bytes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct UnreportedUsage {
    pub calls: u64,
    pub tokens: TokenUsage,
    /// US dollars; 0 without a price.
    pub cost_usd: f64,
    /// Calls of programs that reported no cost.
    pub unpriced: u64,
}

impl UnreportedUsage {
    /// The sum of both.
    pub fn and(self, other: Self) -> Self {
        Self {
            calls: self.calls + other.calls,
            tokens: self.tokens.and(other.tokens),
            cost_usd: self.cost_usd + other.cost_usd,
            unpriced: self.unpriced + other.unpriced,
        }
    }
}

/// Bytes for one token. Texts in English have about four, other scripts and JSON fewer.
const BYTES_OF_TOKEN: usize = 3;

/// An estimate of the tokens of a text with this many bytes.
pub fn tokens_of(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(BYTES_OF_TOKEN)).unwrap_or(u64::MAX)
}

/// An estimate of the tokens that an answer should have reported, from the bytes of the request and the answer.
pub fn unreported(spent: TokenUsage, asked: usize, answered: usize) -> TokenUsage {
    TokenUsage {
        input: unless_reported(spent.input, asked),
        cached_input: 0,
        output: unless_reported(spent.output, answered),
    }
}

/// An estimate of the tokens of a text with this many bytes; zero if their number was reported.
fn unless_reported(reported: u64, bytes: usize) -> u64 {
    if reported == 0 { tokens_of(bytes) } else { 0 }
}

/// Who makes a call of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// The agent: the usage is part of its record.
    Agent,
    /// The simulated user: the usage counts for the budget alone.
    User,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Payments {
    pub spent: TokenUsage,
    /// US dollars of the calls with a known price.
    pub cost: Option<f64>,
    /// Whether a call had no known price.
    pub unpriced: bool,
}

impl Payments {
    fn add(&mut self, spent: TokenUsage, cost: Option<f64>) {
        self.spent = self.spent.and(spent);
        match cost {
            Some(cost) => self.cost = Some(self.cost.unwrap_or(0.0) + cost),
            None => self.unpriced = true,
        }
    }
}

/// Calls, tokens, cost and time of one sample.
pub struct SampleUsage {
    /// Calls without their retries.
    pub calls: u64,
    /// Calls with their retries.
    pub tries: u64,
    /// What the agent's calls have cost.
    pub agent: Payments,
    /// What the simulated user's calls have cost.
    pub user: Payments,
    /// The time that the simulated user took.
    pub user_time: Duration,
    /// Calls whose usage was not reported, and what the budget counts for them.
    pub unreported: UnreportedUsage,
    /// The model that answered last.
    pub model: Option<String>,
    /// What an agent's own program wrote to stderr.
    pub complaints: String,
    /// Start of the whole run; times are relative to it.
    begun: Instant,
    /// When the calls of the sample were made.
    pub timeline: Timeline,
}

impl SampleUsage {
    /// No usage yet, in a run that started at `begun`.
    pub fn new(begun: Instant) -> Self {
        Self {
            calls: 0,
            tries: 0,
            agent: Payments::default(),
            user: Payments::default(),
            user_time: Duration::ZERO,
            unreported: UnreportedUsage::default(),
            model: None,
            complaints: String::new(),
            begun,
            timeline: Timeline::default(),
        }
    }

    /// The time span from `from` until now, relative to the start of the run.
    pub fn stretch(&self, from: Instant) -> TimeSpan {
        TimeSpan {
            from: from.saturating_duration_since(self.begun),
            to: Instant::now().saturating_duration_since(self.begun),
        }
    }

    pub fn pay(
        &mut self,
        budget: &BudgetState,
        caller: Caller,
        spent: TokenUsage,
        cost: Option<f64>,
    ) {
        match caller {
            Caller::Agent => self.agent.add(spent, cost),
            Caller::User => self.user.add(spent, cost),
        }
        budget.pay(&spent, cost);
    }

    /// Adds the tokens that an answer did not report. The budget counts them; the record does not.
    pub fn pay_unreported(&mut self, budget: &BudgetState, tokens: TokenUsage, cost: Option<f64>) {
        if tokens != TokenUsage::default() {
            let cost_usd = cost.unwrap_or(0.0);
            self.unreported = self.unreported.and(UnreportedUsage {
                calls: 1,
                tokens,
                cost_usd,
                unpriced: 0,
            });
            budget.pay(&tokens, cost);
        }
    }
}

/// A record of the request with a status and without any output.
pub fn blank(request: &SampleRequest, status: RunStatus, error: Option<String>) -> RunRecord {
    RunRecord {
        agent: request.key.agent.clone(),
        case: request.key.case.clone(),
        sample: request.sample,
        status,
        error,
        inputs: RunInputs {
            prompt: Some(request.ask.prompt.clone()),
            ..RunInputs::default()
        },
        outputs: Json::default(),
        intermediate: Steps::default(),
        evidence: RunEvidence::default(),
        metrics: Measures::default(),
        provenance: RunProvenance::default(),
    }
}

/// Adds tokens, time, cost and origin to a record; what the agent reported itself is kept.
pub fn measured(
    mut record: RunRecord,
    job: &SampleJob,
    usage: &SampleUsage,
    took: Duration,
) -> RunRecord {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    record
        .intermediate
        .seen_calls()
        .iter()
        .for_each(|call| *counts.entry(call.name.clone()).or_insert(0) += 1);
    let metrics = &mut record.metrics;
    let Payments {
        spent,
        cost,
        unpriced,
    } = usage.agent;
    if spent != TokenUsage::default() {
        metrics.input_tokens = metrics.input_tokens.or(Some(spent.input));
        metrics.output_tokens = metrics.output_tokens.or(Some(spent.output));
        metrics.total_tokens = metrics
            .total_tokens
            .or(Some(spent.input.saturating_add(spent.output)));
    }
    let took = took.saturating_sub(usage.user_time);
    metrics.total_latency_ms = metrics
        .total_latency_ms
        .or(u64::try_from(took.as_millis()).ok());
    metrics.cost_usd = metrics.cost_usd.or(cost.filter(|_| !unpriced));
    if metrics.tool_call_counts.is_empty() {
        metrics.tool_call_counts = counts;
    }
    let reported = record.provenance.provenance.model.take();
    record.provenance = job.origin.clone();
    record.provenance.provenance.model = reported.or_else(|| usage.model.clone());
    record.provenance.provenance.cache = Some("miss".to_owned());
    record
}

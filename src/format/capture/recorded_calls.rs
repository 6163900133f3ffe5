//! The exchanges with a model that a recording keeps, for a replay.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::captured_run::AnswerBefore;
use crate::model::{Answerer, RecordedExchange};

/// The parts of a recording that a replay of its exchanges needs.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedExchanges {
    /// The exchanges in the order of their requests.
    pub exchanges: Vec<RecordedExchange>,
    /// The time of the recorded run, in milliseconds.
    pub latency_ms: Option<u64>,
    /// What answered each user message; empty if the recording does not state it.
    pub answered_by: Vec<Answerer>,
}

impl RecordedExchanges {
    /// What answered the message of a turn, from 0.
    #[must_use]
    pub fn answer_of(&self, turn: usize) -> AnswerBefore {
        self.answered_by
            .get(turn)
            .map_or(AnswerBefore::Unstated, |by| AnswerBefore::By(*by))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoExchanges {
    /// It was not made by `goldgate record` or a target with `capture`.
    NotCaptured,
    NotCompleted,
    /// They cannot be read, for this reason.
    Unreadable(String),
}

#[derive(Deserialize)]
struct RecordingKeys<'a> {
    status: String,
    #[serde(borrow)]
    intermediate: Option<&'a RawValue>,
    metrics: Option<LatencyKey>,
}

#[derive(Deserialize)]
struct LatencyKey {
    total_latency_ms: Option<f64>,
}

#[derive(Deserialize)]
struct ExchangeList<'a> {
    #[serde(borrow)]
    exchanges: Option<&'a RawValue>,
    answered_by: Option<&'a RawValue>,
}

/// Reads the exchanges of a recording.
pub fn recorded_exchanges(text: &str) -> Result<RecordedExchanges, NoExchanges> {
    let keys: RecordingKeys<'_> = serde_json::from_str(text).map_err(unreadable)?;
    if keys.status != "completed" {
        return Err(NoExchanges::NotCompleted);
    }
    let list: Option<ExchangeList<'_>> = keys
        .intermediate
        .and_then(|steps| serde_json::from_str(steps.get()).ok());
    let Some(ExchangeList {
        exchanges: Some(exchanges),
        answered_by,
    }) = list
    else {
        return Err(NoExchanges::NotCaptured);
    };
    let exchanges = serde_json::from_str(exchanges.get()).map_err(unreadable)?;
    let answered_by = answered_by
        .map_or(Ok(Vec::new()), |by| serde_json::from_str(by.get()))
        .map_err(unreadable)?;
    let latency = keys.metrics.and_then(|metrics| metrics.total_latency_ms);
    let latency_ms = latency.map(|latency| latency.max(0.0).round() as u64);
    Ok(RecordedExchanges {
        exchanges,
        latency_ms,
        answered_by,
    })
}

fn unreadable(error: serde_json::Error) -> NoExchanges {
    NoExchanges::Unreadable(error.to_string())
}

//! What an endpoint saw of a run.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::model::{InputLimit, RecordedExchange};

/// What an endpoint saw of a run, in the order of the requests.
#[derive(Default)]
pub struct Observed(Mutex<ObservedState>);

#[derive(Default)]
struct ObservedState {
    /// One entry for each request to a model; `None` until its answer has ended, and if it broke off.
    exchanges: Vec<Option<RecordedExchange>>,
    spans: Vec<Vec<u8>>,
    bytes: usize,
    refusal: Option<String>,
    rejected: Option<&'static str>,
    unreachable: Option<String>,
}

/// The result of a run, as the endpoint saw it.
pub struct Observation {
    pub exchanges: Vec<RecordedExchange>,
    pub spans: Vec<Vec<u8>>,
    /// Why its requests could not all be answered, however it ended.
    pub refusal: Option<String>,
    /// Why a request was not taken for one of the agent.
    pub rejected: Option<&'static str>,
    /// Why the model's server did not answer its last request.
    pub unreachable: Option<String>,
}

impl Observed {
    /// Reserves the place of a request in the order.
    ///
    /// # Errors
    /// There are too many.
    pub fn begin(&self) -> Result<usize, String> {
        let mut state = self.state();
        if InputLimit::EXCHANGES.is_exceeded_by(state.exchanges.len() + 1) {
            let why = format!(
                "the agent made more than {} model calls",
                InputLimit::EXCHANGES
            );
            state.refusal.get_or_insert(why.clone());
            return Err(why);
        }
        state.exchanges.push(None);
        Ok(state.exchanges.len() - 1)
    }

    /// Counts bytes of a request or an answer.
    ///
    /// # Errors
    /// There are too many.
    pub fn count(&self, bytes: usize) -> Result<(), String> {
        let mut state = self.state();
        state.bytes = state.bytes.saturating_add(bytes);
        if !InputLimit::EXCHANGED.is_exceeded_by(state.bytes) {
            return Ok(());
        }
        let why = format!(
            "the requests and answers of the agent are larger than {}",
            InputLimit::EXCHANGED
        );
        state.refusal.get_or_insert(why.clone());
        Err(why)
    }

    pub fn keep(&self, place: usize, exchange: RecordedExchange) {
        let mut state = self.state();
        state.unreachable = None;
        if let Some(slot) = state.exchanges.get_mut(place) {
            *slot = Some(exchange);
        }
    }

    pub fn keep_spans(&self, body: Vec<u8>) {
        self.state().spans.push(body);
    }

    /// Notes why a request was refused. The first reason stays.
    pub fn refuse(&self, why: String) {
        self.state().refusal.get_or_insert(why);
    }

    /// Notes why a request was not taken for one of the agent.
    pub fn reject(&self, why: &'static str) {
        self.state().rejected = Some(why);
    }

    /// Notes why the model's server did not answer. A later answer makes up for it.
    pub fn unreachable(&self, why: String) {
        self.state().unreachable = Some(why);
    }

    /// What was seen so far.
    pub fn observation(&self) -> Observation {
        let mut state = self.state();
        Observation {
            exchanges: state.exchanges.drain(..).flatten().collect(),
            spans: std::mem::take(&mut state.spans),
            refusal: state.refusal.take(),
            rejected: state.rejected.take(),
            unreachable: state.unreachable.take(),
        }
    }

    fn state(&self) -> MutexGuard<'_, ObservedState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::Observed;
    use crate::model::InputLimit;

    #[test]
    fn an_agent_makes_at_most_1000_calls_of_models() {
        let observed = Observed::default();
        assert!((0..1000).all(|place| observed.begin() == Ok(place)));
        let why = "the agent made more than 1,000 model calls".to_owned();
        assert_eq!(observed.begin(), Err(why.clone()));
        assert_eq!(observed.observation().refusal, Some(why));
    }

    #[test]
    fn an_agent_exchanges_at_most_16_mib() {
        let observed = Observed::default();
        assert_eq!(observed.count(InputLimit::EXCHANGED.count() - 1), Ok(()));
        assert_eq!(observed.count(1), Ok(()));
        assert!(
            observed
                .count(1)
                .is_err_and(|why| why.contains("larger than 16 MiB"))
        );
        assert!(observed.observation().refusal.is_some());
    }
}

//! What all connections of an endpoint share.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::observed::Observed;
use super::recorded_answers::RecordedAnswers;
use super::sample_key::SampleKey;
use super::upstream::Upstreams;

/// How an endpoint answers model calls.
pub enum EndpointMode {
    /// It passes them on, and records them.
    Forward(Arc<Upstreams>),
    /// It answers from a recording, and calls nobody.
    Replay(RecordedAnswers),
}

/// What all connections share.
pub struct EndpointState {
    /// How calls are answered.
    pub mode: EndpointMode,
    pub port: u16,
    /// What a request has to send.
    pub key: SampleKey,
    pub observed: Observed,
    /// Requests whose answer has not ended.
    open: AtomicUsize,
}

impl EndpointState {
    pub fn new(mode: EndpointMode, port: u16, key: SampleKey) -> Self {
        Self {
            mode,
            port,
            key,
            observed: Observed::default(),
            open: AtomicUsize::new(0),
        }
    }

    /// The number of requests whose answer has not ended.
    pub fn open_requests(&self) -> usize {
        self.open.load(Ordering::Acquire)
    }
}

/// A request whose answer has not ended; it ends with this value.
pub struct OpenRequest(Arc<EndpointState>);

impl OpenRequest {
    /// Counts a request as open.
    pub fn new(state: &Arc<EndpointState>) -> Self {
        state.open.fetch_add(1, Ordering::AcqRel);
        Self(state.clone())
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::AcqRel);
    }
}

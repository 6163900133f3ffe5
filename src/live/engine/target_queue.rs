//! A target with its concurrency limit.

use tokio::sync::{Semaphore, SemaphorePermit};

use super::TargetClient;

/// One target: its client and its concurrency limit.
pub struct TargetQueue {
    pub client: TargetClient,
    /// The model's name in the config, for prices; `None` for a program.
    pub model: Option<String>,
    /// The most tokens of one answer.
    pub most_output: u64,
    pub(super) places: Semaphore,
}

/// The most tokens of one answer of a target that does not state it.
const USUAL_OUTPUT: u64 = 4096;

impl TargetQueue {
    /// A queue with up to `concurrency` calls at once, at least one.
    pub fn new(client: TargetClient, model: Option<String>, concurrency: u32) -> Self {
        Self {
            client,
            model,
            most_output: USUAL_OUTPUT,
            places: Semaphore::new(concurrency.max(1) as usize),
        }
    }

    /// The same queue, with the most tokens of one answer where the config states it.
    pub fn with_most_output(self, tokens: Option<u32>) -> Self {
        Self {
            most_output: tokens.map_or(self.most_output, u64::from),
            ..self
        }
    }
}

/// A sample's permit to make calls on one target queue.
pub struct Permit<'a> {
    pub(super) queue: &'a TargetQueue,
    /// Index of the queue.
    pub(super) at: usize,
    /// The permit, once acquired.
    pub(super) permit: Option<SemaphorePermit<'a>>,
}

impl<'a> Permit<'a> {
    /// Not yet acquired, on the queue at `index`.
    pub fn on(queues: &'a [TargetQueue], at: usize) -> Self {
        Self {
            queue: &queues[at],
            at,
            permit: None,
        }
    }

    /// Moves to another queue and releases the permit of the previous one.
    pub fn change(&mut self, queues: &'a [TargetQueue], at: usize) {
        if self.at != at {
            *self = Self::on(queues, at);
        }
    }

    /// Waits for a permit, unless it has one already.
    pub async fn take(&mut self) {
        if self.permit.is_none() {
            // The semaphore is never closed.
            self.permit = self.queue.places.acquire().await.ok();
        }
    }
}

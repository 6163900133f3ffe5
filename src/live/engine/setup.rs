//! What a run of the engine needs: targets, retries, limits, prices and folders.

use std::collections::BTreeMap;

use super::budget::{Prices, SpendingLimits};
use super::retry::RetryPolicy;
use super::target_queue::TargetQueue;
use crate::files::Files;
use crate::model::RepoPath;

/// Runs live samples.
pub struct Engine<'a> {
    pub queues: Vec<TargetQueue>,
    /// The index of each target, by its name in the config.
    pub indices: BTreeMap<String, usize>,
    /// When a call is retried.
    pub retry: RetryPolicy,
    pub limits: SpendingLimits,
    pub prices: Prices,
    /// The folders that tools may read.
    pub folders: &'a BTreeMap<RepoPath, Box<dyn Files>>,
}

//! The result for which an approval is wanted.

use crate::format::event::Event;
use crate::model::Report;
use crate::publish::ConfigKey;

/// Which approval to find.
#[derive(Clone, Copy)]
pub struct ApprovalQuery<'a> {
    /// The key of the config.
    pub key: &'a ConfigKey,
    /// The event of the job.
    pub event: &'a Event,
    /// The graded commit.
    pub commit: &'a str,
    /// The content of the baseline file at the graded commit.
    pub committed: Option<&'a [u8]>,
    /// Finds out which account the token belongs to, before an approval is checked that this account may have recorded.
    pub learn: &'a dyn Fn(&Report),
}

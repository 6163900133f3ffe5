//! What the branch that a change is merged into shows.

use crate::gate::compare::ComparedPair;
use crate::model::Identity;

/// The own recordings of a branch's tip for one agent, graded by the rules of that commit.
pub struct BaseMeasurement<'a> {
    /// The branch, for messages.
    pub branch: Option<&'a str>,
    pub pairs: &'a [ComparedPair<'a>],
    /// What the pairs were measured with.
    pub identity: &'a Identity,
}

impl BaseMeasurement<'_> {
    /// The name of the branch in a sentence.
    pub fn name(&self) -> &str {
        self.branch.unwrap_or("the base commit")
    }
}

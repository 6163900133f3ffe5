//! GraphQL: the one mutation that writes a commit.

use super::Answer;
use super::Request;
use super::State;
use super::missing;

/// Commits that were written.
#[derive(Default)]
pub struct Commits {}

/// `POST /graphql`.
pub fn answer(_request: &Request, _state: &mut State) -> Answer {
    missing()
}

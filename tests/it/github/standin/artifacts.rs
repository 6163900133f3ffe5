//! Workflow runs and their artifacts.

use super::Answer;
use super::Request;
use super::State;

/// What runs have uploaded.
#[derive(Default)]
pub struct Artifacts {}

/// The storage behind the redirect of an artifact's download: it stands outside of the API and takes no token.
pub fn stored(_request: &Request, _state: &mut State) -> Option<Answer> {
    None
}

/// `actions/…`.
pub fn answer(_request: &Request, _segments: &[&str], _state: &mut State) -> Option<Answer> {
    None
}

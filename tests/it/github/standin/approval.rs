//! What an approval needs: labels, permissions, commit statuses.

use super::Answer;
use super::Request;
use super::State;

/// Labels, permissions and statuses.
#[derive(Default)]
pub struct Approvals {}

/// `issues/N/labels`, `collaborators/LOGIN/permission`, `statuses/SHA`, `commits/SHA/statuses`.
pub fn answer(_request: &Request, _segments: &[&str], _state: &mut State) -> Option<Answer> {
    None
}

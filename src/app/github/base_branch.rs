//! The base branch of a job, and which of its commits' own numbers may excuse a failed gate.

use super::environment::payload;
use crate::app::cli_error::CliError;
use crate::app::pipeline::base_branch::{BaseBranch, ValuesOf};
use crate::format::event::Event;
use crate::format::event_action;
use crate::world::{Env, GitHub};

/// Returns the base branch of an event.
///
/// The numbers of a commit excuse a gate only if that commit passed the gates or an approval. So they count on the default branch
/// and on branches that require checks, and in a merge queue only those of the commit that the branch already has: the base commit of a
/// group may be the group before it, which can still fail.
///
/// # Errors
/// An invalid event payload.
pub fn base_branch(env: &Env, event: &Event, github: Option<&GitHub>) -> Result<BaseBranch, CliError> {
    let (Some(base), Some(github)) = (&event.base, github) else { return Ok(BaseBranch::default()) };
    let Some(name) = event.into.clone() else {
        return Ok(BaseBranch { name: None, values: ValuesOf::Nothing });
    };
    let values = match event.pull_request {
        Some(_) => {
            let default = match payload(env)? {
                Some(source) => event_action::read_event_action(&source)?.default_branch,
                None => None,
            };
            // Without an answer nothing is excused, which only makes the gate stricter.
            let requires_checks = || github.branch_rules(&name).is_ok_and(|rules| !rules.required.is_empty());
            match default.as_ref() == Some(&name) || requires_checks() {
                true => ValuesOf::Base,
                false => ValuesOf::Nothing,
            }
        }
        None => match github.merge_base(&name, base) {
            Ok(landed) if landed == *base => ValuesOf::Base,
            Ok(landed) => ValuesOf::Commit(landed),
            Err(_) => ValuesOf::Nothing,
        },
    };
    Ok(BaseBranch { name: Some(name), values })
}

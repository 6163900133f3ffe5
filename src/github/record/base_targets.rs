//! Whether the base branch may say who gets the keys. Anybody with write access can push a branch with a config of their own, also one
//! that a protected pattern fits, and open a pull request into it. So the default branch has to name what the base branch names.

use super::context::RecordContext;
use crate::files::SourceText;
use crate::github::base_branch::{known_default, relies_on_checks};
use crate::github::requests::needs;
use crate::model::{Config, RecordPolicy, Target, Transport};
use crate::render::CliError;
use crate::suites::read_config;

/// Whether the targets of the base commit's config may be called with the keys.
///
/// # Errors
/// A failed request.
pub fn are_trusted(context: &RecordContext<'_>) -> Result<bool, CliError> {
    let RecordContext {
        github, pull, base, ..
    } = context;
    if relies_on_checks(github, &pull.into)? != Some(true) {
        return Ok(false);
    }
    let default = known_default(github)?;
    if default == pull.into {
        return Ok(true);
    }
    let tip = github
        .branch(&default)
        .map_err(needs("the default branch cannot be read", "contents: read"))?;
    let (Some(config), Some(known)) = (
        config(context, base)?,
        tip.map(|tip| config(context, &tip)).transpose()?.flatten(),
    ) else {
        return Ok(false);
    };
    Ok(config
        .targets
        .values()
        .all(|target| is_known(target, &known)))
}

/// The config at a commit; `None` if it has none, or none that can be read.
fn config(context: &RecordContext<'_>, commit: &str) -> Result<Option<Config>, CliError> {
    let bytes = context.file(&context.config, commit)?;
    let source = bytes.and_then(|bytes| SourceText::new(context.config.clone(), bytes).ok());
    Ok(source.and_then(|source| read_config(&source).ok()))
}

fn is_known(target: &Target, known: &Config) -> bool {
    match (&target.transport, target.record) {
        (Transport::Model(model), _) if model.base_url.is_none() => true,
        (Transport::Model(_), _) | (Transport::Http(_), RecordPolicy::Trusted) => known
            .targets
            .values()
            .any(|known| is_same_address(&target.transport, &known.transport)),
        // The program itself is a file of the branch.
        (Transport::Command { .. }, RecordPolicy::Trusted) => false,
        (Transport::Command { .. } | Transport::Http(_), RecordPolicy::Models) => true,
    }
}

fn is_same_address(left: &Transport, right: &Transport) -> bool {
    match (left, right) {
        (Transport::Model(left), Transport::Model(right)) => {
            (left.wire, &left.base_url, &left.api_key_env)
                == (right.wire, &right.base_url, &right.api_key_env)
        }
        (left, right) => left == right,
    }
}

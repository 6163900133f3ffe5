//! The commit that `--base` names.

use anyhow::Context;

use crate::app::cli::BaseArgs;
use crate::evaluation::run_options::{RunOptions, UncommittedFiles};
use crate::render::words::short;
use crate::world::Git;

/// Sets the job's base commit: the one that `name` names, or with `--merge-base` the one where this branch began. That commit is the base
/// for everything: config, rules, golden files and baseline. The returned note names it, if `name` is not its id.
///
/// # Errors
/// The commit does not exist, the name is ambiguous, or the clone is too shallow.
pub fn name_base(
    job: &mut RunOptions,
    name: Option<&str>,
    options: &BaseArgs,
    git: &Git,
) -> anyhow::Result<Option<String>> {
    let Some(name) = name else { return Ok(None) };
    if options.dirty {
        job.uncommitted = UncommittedFiles::Judged;
    }
    let tip = git
        .commit(name)
        .map_err(|error| anyhow::anyhow!("--base {error:#}"))?;
    let commit = if options.merge_base {
        git.fork_point(&tip)
            .with_context(|| format!("--base {name}"))?
    } else {
        tip.clone()
    };
    let is_id = tip.starts_with(name);
    let is_branch = name != "HEAD" && !is_id && !name.contains(['~', '^', '@', ':']);
    let short_id = short(Some(&commit));
    let note = if commit != tip {
        Some(format!(
            "compared with {short_id}, where this branch left {name}"
        ))
    } else if is_id {
        None
    } else {
        Some(format!("compared with {short_id}, the commit of {name}"))
    };
    job.base_branch = is_branch.then(|| name.to_owned());
    job.base = Some(commit);
    Ok(note)
}

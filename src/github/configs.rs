//! The configs that one step judges: the path of the input `config`, or those that its patterns match.

use std::collections::BTreeSet;
use std::path::Path;

use super::approval::Decision;
use super::inputs::{ActionInputs, bad_input};
use super::requests::needs;
use super::resolve::{Context, Source};
use crate::diag::{Diagnostic, ReadFailure};
use crate::evaluation::graded_run::GradedRun;
use crate::evaluation::run_options::RunOptions;
use crate::files::{EntryKind, Files};
use crate::github::client::GitHub;
use crate::model::{PathGlob, RepoPath};
use crate::render::CliError;
use crate::world::{Disk, World};

/// Returns the inputs for each config that a job judges, sorted by its path. A pattern is looked up in the judged files and in those of the
/// base commit: who removes a config does not get rid of its gate.
///
/// # Errors
/// An invalid pattern, none that matches, or a failed request.
pub fn judged_configs(
    world: &World,
    inputs: &ActionInputs,
    github: Option<&GitHub>,
    context: &Context,
) -> Result<Vec<ActionInputs>, CliError> {
    let workspace = world.env.get("GITHUB_WORKSPACE").unwrap_or(".");
    match &context.source {
        Source::Checkout => {
            let commits: Vec<&str> = context.event.base.as_deref().into_iter().collect();
            configs(inputs, Some(workspace), github, &commits)
        }
        Source::Data(merge) => configs(inputs, None, github, &[&merge.base, &merge.merge]),
    }
}

/// The same for the files of a folder and of commits.
///
/// # Errors
/// The same.
pub fn configs(
    inputs: &ActionInputs,
    folder: Option<&str>,
    github: Option<&GitHub>,
    commits: &[&str],
) -> Result<Vec<ActionInputs>, CliError> {
    if !inputs.has_patterns() {
        return Ok(vec![inputs.clone()]);
    }
    let patterns: Result<Vec<PathGlob>, String> = inputs
        .config
        .split_whitespace()
        .map(|pattern| PathGlob::new(&RepoPath::root(), pattern))
        .collect();
    let patterns = patterns.map_err(|why| {
        let message = format!("config is {:?}, which {why}", inputs.config);
        bad_input(
            message,
            "write paths and patterns, such as services/*/goldgate.yaml",
        )
    })?;
    let mut paths = BTreeSet::new();
    if let Some(folder) = folder {
        let disk = Disk::open(Path::new(folder))?;
        for pattern in &patterns {
            walk(&disk, pattern.folder(), pattern, &mut paths)?;
        }
    }
    for (github, commit) in commits.iter().filter_map(|commit| Some((github?, commit))) {
        let unread = needs("the files of a commit cannot be read", "contents: read");
        let tree = github.tree(commit).map_err(unread)?.unwrap_or_default();
        let named = tree
            .into_keys()
            .filter(|path| patterns.iter().any(|pattern| pattern.matches(path)));
        paths.extend(named);
    }
    if paths.is_empty() {
        let message = format!("config is {:?}, and no file matches", inputs.config);
        return Err(bad_input(message, "correct the pattern").into());
    }
    let inputs_by_config = paths
        .iter()
        .map(|path| inputs.of_config(path.as_str(), paths.len()));
    Ok(inputs_by_config.collect::<Result<_, _>>()?)
}

/// A config with its result.
pub struct JudgedConfig {
    /// The inputs for this config.
    pub inputs: ActionInputs,
    /// What was graded.
    pub job: RunOptions,
    /// Its result.
    pub done: GradedRun,
    /// What was decided about the label for it.
    pub decision: Decision,
}

/// Adds the files below a folder that a pattern matches. Hidden folders are not looked into.
fn walk(
    disk: &Disk,
    folder: &RepoPath,
    pattern: &PathGlob,
    paths: &mut BTreeSet<RepoPath>,
) -> Result<(), Diagnostic> {
    let entries = match disk.list_all(folder) {
        Ok(entries) => entries,
        Err(problem) if problem.is_read_failure(ReadFailure::MissingFolder) => return Ok(()),
        Err(problem) => return Err(problem),
    };
    for entry in entries {
        let path = folder.child(&entry.name);
        match entry.kind {
            EntryKind::Folder if !entry.name.starts_with('.') => walk(disk, &path, pattern, paths)?,
            // A link is refused when it is read.
            EntryKind::File | EntryKind::Link(_) if pattern.matches(&path) => {
                paths.insert(path);
            }
            EntryKind::Folder | EntryKind::File | EntryKind::Link(_) => {}
        }
    }
    Ok(())
}

/// Refuses results that different people would have to approve: one label is for all of them.
///
/// # Errors
/// Two configs of the base branch say different things below `approval`.
pub fn has_one_policy(results: &[JudgedConfig]) -> Result<(), Diagnostic> {
    let Some((first, others)) = results.split_first() else {
        return Ok(());
    };
    match others
        .iter()
        .find(|result| result.done.policy != first.done.policy)
    {
        None => Ok(()),
        Some(second) => Err(bad_input(
            format!(
                "{} and {} say different things below approval, and one label is for both",
                first.inputs.config, second.inputs.config
            ),
            "make approval equal in the configs of the base branch, or give each config a step of its own",
        )),
    }
}

//! `goldgate run --update-baseline`.

use crate::app::cli::RunArgs;
use crate::diag::{Code, Diagnostic};
use crate::evaluation::graded_run::GradedRun;
use crate::format::baseline_v1;
use crate::model::InputLimit;
use crate::render::CliError;
use crate::workspace::baseline::{Need, Replaced, is_unmeasured, kept_because_worse, load};
use crate::world::{Disk, World};

/// Writes the numbers of a run into the baseline of the working tree.
///
/// # Errors
/// A run without numbers, a config without a baseline, or a file that cannot be read or written.
pub fn update_baseline(
    done: &GradedRun,
    args: &RunArgs,
    world: &World,
) -> Result<Updated, CliError> {
    let mut agents = done.report.agents().peekable();
    if agents.peek().is_none() {
        let message = "nothing was graded, so the baseline cannot be updated";
        return Err(not_updated(args, message, "run a suite"));
    }
    if agents.all(|agent| agent.cases.is_empty()) {
        let message = "every case is a draft, so the baseline cannot be updated";
        return Err(not_updated(args, message, "accept cases: goldgate review"));
    }
    let (disk, file) = match (&args.baseline, &done.config.baseline) {
        (Some(path), _) => Disk::of_file(path)?,
        (None, Some(file)) => (Disk::of_config(&args.config)?.0, file.clone()),
        (None, None) => return Err(no_baseline(args)),
    };
    // Another run may have written numbers of other suites in the meantime.
    let _lock = disk.lock(&file)?;
    let current = load(&disk, &file, Need::Configured)?;
    let renamed = current.clone().map(|current| current.renamed(&done.config));
    let replaced = if args.all {
        Replaced::Everything
    } else {
        Replaced::Better
    };
    let old = renamed.as_ref().or(done.against.as_ref());
    let worse = if args.all {
        Vec::new()
    } else {
        kept_because_worse(old, &done.report)
    };
    let proposed = done.proposed_after(old, replaced);
    // Two branches that measure the same numbers would conflict in the time alone.
    let is_unchanged = match &current {
        Some(current) => {
            current.suites == proposed.suites
                && current.samples == proposed.samples
                && current.tool_version == proposed.tool_version
        }
        None => proposed.suites.is_empty(),
    };
    if !is_unchanged {
        if let Some(note) = disk.ignored_note([file.clone()]) {
            world.tell(&note);
        }
        disk.replace_own(&file, &InputLimit::BASELINE, &|out| {
            baseline_v1::write_baseline(&proposed, out)
        })?;
    }
    if !args.view.quiet {
        for suite in &done.report.suites {
            for agent in suite.agents.iter().filter(|agent| is_unmeasured(agent)) {
                let who = format!("{}/{}", suite.id, agent.agent);
                world.tell(&format!(
                    "{who}: no case was measured, so its numbers in the baseline are unchanged"
                ));
            }
        }
        for suite in done
            .report
            .suites
            .iter()
            .filter(|suite| done.is_of_other_tier(suite))
        {
            world.tell(&format!(
                "{}: the baseline has the numbers of its deterministic tier, so those of the model tier are not written",
                suite.id
            ));
        }
        if is_unchanged {
            world.tell(&format!("no number moved, so {file} is unchanged"));
        } else {
            world.tell(&format!(
                "wrote {file}; commit it to the base branch to use it"
            ));
        }
    }
    for (who, why) in &worse {
        world.tell(&format!(
            "{who} {why}, so its entry in the baseline stays; --all replaces it"
        ));
    }
    if worse.is_empty() {
        Ok(Updated::Whole)
    } else {
        Ok(Updated::WithoutWorse)
    }
}

/// The problem of a config that does not say where the baseline is.
pub fn no_baseline(args: &RunArgs) -> CliError {
    let help = "add baseline: baselines/latest.json";
    not_updated(args, "the config has no baseline", help)
}

fn not_updated(args: &RunArgs, message: &str, help: &str) -> CliError {
    Diagnostic::of_file(&args.config, Code::NO_BASELINE, message, help).into()
}

/// What became of a baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Updated {
    Whole,
    /// Agents that are worse kept their entries.
    WithoutWorse,
}

//! `goldgate run`: plans, grades, judges and prints the result.

mod update_baseline;

use std::path::Path;

use self::update_baseline::{Updated, no_baseline, update_baseline};
use crate::app::base_commit::name_base;
use crate::app::cli::{CacheArg, RunArgs, TierArg};
use crate::diag::{Code, Diagnostic};
use crate::evaluation::graded_run::GradedRun;
use crate::evaluation::recorded_agents::NoEvidence;
use crate::evaluation::run_options::{AgentScope, DecidingTiers, RunOptions, UncommittedFiles};
use crate::evaluation::selection::Selection;
use crate::files::Files;
use crate::model::{Authority, BaselineUse, Loudness, Report, Tier};
use crate::render::{CliError, plural};
use crate::suites::read_config;
use crate::workspace::failed_cases::{failed_before, last_run, prepare_last_run, save_failed};
use crate::workspace::shard_part::write_part;
use crate::workspace::worktree::{BaseSource, grade_worktree, locally};
use crate::workspace::{baseline, show, snapshots};
use crate::world::{Disk, Git, World};
use crate::{live, report};

/// The exit code if the baseline could not be updated because numbers are missing.
const NO_VERDICT: u8 = 3;
/// The exit code if results are worse.
const FAILED: u8 = 1;

/// Returns the options of a run from the command line.
///
/// # Errors
/// Options that contradict each other, or invalid patterns.
fn job(args: &RunArgs) -> Result<RunOptions, CliError> {
    for (option, given) in [("--case", &args.chosen.case), ("--tag", &args.chosen.tag)] {
        if args.update_baseline && !given.is_empty() {
            let message =
                format!("--update-baseline with {option} would save numbers of only some cases");
            return Err(Diagnostic::of_command_line(
                Code::CONTRADICTION,
                message,
                format!("omit {option}"),
            )
            .into());
        }
    }
    let tiers = match args.tier {
        TierArg::Deterministic => vec![Tier::Deterministic],
        TierArg::Model => vec![Tier::Model],
        TierArg::All => vec![Tier::Deterministic, Tier::Model],
    };
    if args.affected && tiers != [Tier::Model] {
        let message = "--affected is for the model tier: recordings are graded in seconds, and their verdict is about all agents";
        return Err(
            Diagnostic::of_command_line(Code::CONTRADICTION, message, "add --tier model").into(),
        );
    }
    let blocking = args.blocking || (!args.non_blocking && tiers.contains(&Tier::Deterministic));
    Ok(RunOptions {
        config: args.config.clone(),
        wanted: Selection {
            tiers,
            samples: args.samples.and_then(|stated| stated.0),
            shard: args.shard,
            target: args.target.clone(),
            ..args.chosen.chosen()?
        },
        scope: if args.affected {
            AgentScope::Affected
        } else {
            AgentScope::All
        },
        authority: if blocking {
            Authority::Blocking
        } else {
            Authority::Advisory
        },
        deciding: if args.blocking {
            DecidingTiers::Every
        } else {
            DecidingTiers::Deterministic
        },
        commit: None,
        base: None,
        base_branch: None,
        uncommitted: UncommittedFiles::Refused,
        live: live::LiveOptions {
            record: args.record.clone(),
            least: if args.record.is_some() {
                live::LeastSamples::AsRecorded
            } else {
                live::LeastSamples::AsStated
            },
            current: if args.missing || args.until_right {
                live::CurrentRecordings::Kept
            } else {
                live::CurrentRecordings::Replaced
            },
            caching: match args.cache {
                None => live::Caching::Off,
                Some(CacheArg::Usual) => live::Caching::Usual,
                Some(CacheArg::All) => live::Caching::All,
            },
            resume: if args.resume {
                live::Resume::Yes
            } else {
                live::Resume::No
            },
            earlier: live::EarlierAnswers::All,
            // Samples can only be skipped if all cases are known and no file is written from the results.
            sparing: if args.until_right {
                live::EarlyStopping::FirstRight
            } else if args.update_baseline || args.record.is_some() || args.shard.is_some() {
                live::EarlyStopping::Off
            } else {
                live::EarlyStopping::Exact
            },
            loudness: if args.view.quiet {
                Loudness::Quiet
            } else {
                Loudness::Usual
            },
            max_cost_usd: args.max_cost_usd,
            keys: live::KeyHosts::Any,
            upstream: None,
            recorder: None,
        },
        parts: None,
    })
}

/// Saves the failed cases for a later `--failed`. A folder that cannot be written does not change the verdict.
fn keep_failed(disk: &Disk, done: &GradedRun, args: &RunArgs, world: &World) {
    if let Err(error) = save_failed(disk, &done.config.results, &done.report)
        && !args.view.quiet
    {
        world.tell(&format!(
            "--failed will not know the failed cases of this run: {error:#}"
        ));
    }
}

/// Returns why the numbers cannot become the baseline; without a reason the report says that they do.
fn planned_baseline(report: &mut Report, replaces_all: bool) -> Vec<String> {
    let unusable = baseline::unusable_numbers(report);
    let is_kept = !replaces_all && report.agents().any(baseline::fails_hard);
    if !is_kept && unusable.is_empty() && report.called_off.is_none() {
        report.baseline_use = BaselineUse::Written;
        report::begin_baseline(report);
    }
    unusable
}

/// `goldgate run`.
///
/// # Errors
/// Bad input, or a failed call. A failed gate is reported by the exit code.
pub fn run(args: &RunArgs, world: &World) -> Result<u8, CliError> {
    let mut job = job(args)?;
    let (disk, config) = Disk::of_config(&args.config)?;
    if args.failed {
        let results = read_config(&disk.text(&config)?)?.results;
        job.wanted.failed = Some(failed_before(&disk, &results, &job.wanted.tiers)?);
    }
    let git = Git::of(&disk);
    if args.update_baseline
        && args.baseline.is_none()
        && read_config(&disk.text(&config)?)?.baseline.is_none()
    {
        return Err(no_baseline(args));
    }
    let note = name_base(&mut job, args.base.as_deref(), &args.base_options, &git)?;
    // A baseline that will be written need not exist yet.
    let named = args.baseline.as_deref();
    let is_new = args.update_baseline
        && named
            .and_then(|path| Disk::of_file(path).ok())
            .is_some_and(|(disk, file)| !disk.holds(&file));
    let mut done = if is_new {
        let base_source = match job.base.as_deref() {
            Some(commit) => BaseSource::Commit(&git, commit),
            None => BaseSource::None,
        };
        grade_worktree(&job, world, base_source, &NoEvidence, &|_, _, _| Ok(None))?
    } else {
        locally(&job, &git, named, world)?
    };
    done.report.notes.extend(note);
    if let Some(folder) = &args.out {
        let folder = Disk::create(Path::new(folder))?;
        show::write_all(&folder, &done.report, &done.proposed())?;
        write_part(&folder, &job, &done)?;
    }
    keep_failed(&disk, &done, args, world);
    let unusable = if args.update_baseline {
        planned_baseline(&mut done.report, args.all)
    } else {
        Vec::new()
    };
    let shown = show::render_report(&done.report, args.view.format, args.view.detail(), world);
    world.say(&shown);
    if args.open {
        open_report(args, &disk, &done, world)?;
    }
    let writes = args.update_baseline || args.update_snapshots;
    if let Some(interruption) = done.report.called_off.filter(|_| writes) {
        let subject = if args.update_baseline {
            "baseline was"
        } else {
            "snapshots were"
        };
        world.tell(&format!(
            "no {subject} written, because samples are missing: {}",
            interruption.message()
        ));
        return Ok(done.report.exit_code());
    }
    if !unusable.is_empty() {
        world.tell(&format!("no baseline was written: {}", unusable.join("; ")));
        return Ok(NO_VERDICT);
    }
    let updated = if args.update_baseline {
        update_baseline(&done, args, world)?
    } else {
        Updated::Whole
    };
    if args.update_snapshots {
        let written = snapshots::write(&disk, &done.config, &done.report)?;
        if !args.view.quiet {
            world.tell(&format!(
                "wrote {}",
                plural(written, "snapshot", "snapshots")
            ));
        }
    }
    let code = match updated {
        // What could not be compared with the old baseline is in the new one.
        Updated::Whole if args.update_baseline && lacks_comparison_alone(&done.report) => 0,
        Updated::Whole => done.report.exit_code(),
        Updated::WithoutWorse => FAILED,
    };
    if code == 0 && args.record.is_some() && has_no_answer(&done.report) {
        world.tell("nothing was recorded");
        return Ok(NO_VERDICT);
    }
    world.keep(done);
    Ok(code)
}

/// Whether a run has no verdict only because its cases were graded by other rules than those of the baseline.
fn lacks_comparison_alone(report: &Report) -> bool {
    let policies = report.agents().filter_map(|agent| agent.policy.as_ref());
    let uncompared = policies
        .filter(|policy| !policy.not_compared.is_empty())
        .count();
    report.exit_code() == NO_VERDICT && uncompared > 0 && report.not_gateable.len() == uncompared
}

/// Writes the report as a page and opens it.
fn open_report(
    args: &RunArgs,
    disk: &Disk,
    done: &GradedRun,
    world: &World,
) -> Result<(), CliError> {
    let folder = match &args.out {
        Some(folder) => Disk::create(Path::new(folder))?,
        None => {
            prepare_last_run(disk, &done.config.results)?;
            disk.within(&last_run(&done.config.results))?
        }
    };
    Ok(show::open_report(&folder, &done.report, world)?)
}

/// Whether nothing was called and no case has a sample, as without a key.
fn has_no_answer(report: &Report) -> bool {
    let mut cases = report.agents().flat_map(|agent| agent.shown());
    report.usage.calls + report.usage.cached == 0 && !cases.any(|case| case.completed > 0)
}

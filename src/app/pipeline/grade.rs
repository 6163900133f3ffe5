//! Grades and judges files, and assembles the report.

use super::base_judgement::{BaseInputs, GradedHere, TierRuns, base_judgement};
use super::evaluate::Evaluated;
use super::grade_tier::{RunsFrom, assemble_report, grade_tier};
use super::graded_run::GradedRun;
use super::live_runs::LiveRuns;
use super::plan::{Plan, plan_with_reads};
use super::run_options::RunOptions;
use super::snapshots;
use super::tiers::{TierOutcome, not_run};
use crate::app::cli_error::CliError;
use crate::files::{BaseFiles, Files, OtherCommit, sha256_hex};
use crate::golden_changes::Sides;
use crate::model::{Baseline, Interruption, RepoPath, Ruling, RunUsage, Tier};
use crate::report;
use crate::world::Clock;

/// Reads the baseline to compare with, given the config's baseline file.
pub type BaselineProvider<'a> = &'a dyn Fn(Option<&RepoPath>) -> Result<Option<Baseline>, CliError>;

/// The inputs of grading.
pub struct GradeInputs<'a> {
    /// The files to grade.
    pub files: &'a dyn Files,
    /// The config's path in them.
    pub config: &'a RepoPath,
    /// Makes the live samples of a tier.
    pub make: &'a dyn Fn(&Plan, Tier) -> Result<LiveRuns, CliError>,
    /// Reads the baseline to compare with, given the config's baseline file.
    pub baseline: BaselineProvider<'a>,
    /// The base commit, if the runs are also judged by its rules.
    pub base: Option<&'a dyn BaseFiles>,
}

/// Grades and judges the given files.
///
/// # Errors
/// Bad input, or a failed call. A failed gate is not an error.
pub fn grade_files(job: &RunOptions, clock: &Clock, inputs: &GradeInputs<'_>) -> Result<GradedRun, CliError> {
    let (started_at, files) = (clock.now(), inputs.files);
    let other = inputs.base.map(|base| base as &dyn OtherCommit);
    let plan = plan_with_reads(files, other, inputs.config, job.wanted.clone(), clock)?;
    let config_sha256 = sha256_hex(&files.bytes(inputs.config)?);
    let against = (inputs.baseline)(plan.config.baseline.as_ref())?;
    let mut notes = Vec::new();
    let tiers = &plan.wanted.tiers;
    let mut not_gateable = Vec::new();
    let mut usage = RunUsage::default();
    let (mut called_off, mut model_tier, mut agents_not_run) = (None::<Interruption>, None, Vec::new());
    let mut runs = Vec::new();
    for tier in tiers {
        if called_off.is_some_and(Interruption::is_signal) {
            break;
        }
        let mut made = (inputs.make)(&plan, *tier)?;
        called_off = called_off.max(made.called_off);
        let from = RunsFrom { made: &made, parts: job.parts.as_deref(), other };
        let tiered = grade_tier(&plan, *tier, files, from, against.as_ref())?;
        let mut refusals = not_run(*tier, tiers, &made.not_run, &tiered.suites);
        refusals.extend(tiered.not_gateable);
        // If the tier decides, the message is already one of the reasons for a missing verdict.
        if !job.decides(*tier) {
            notes.extend(made.not_run.iter().map(|one| one.message.clone()));
        }
        agents_not_run.append(&mut made.not_run);
        notes.append(&mut made.notes);
        usage = usage.and(made.usage);
        if job.decides(*tier) {
            if *tier == Tier::Model {
                let verdict = Ruling::of_all(tiered.suites.iter().map(|suite| &suite.verdict));
                model_tier = Some(TierOutcome { verdict, not_gateable: refusals.clone() });
            }
            not_gateable.extend(refusals);
        }
        runs.push(TierRuns { tier: *tier, made, suites: tiered.suites });
    }
    // A tier that does not decide by the head's rules does not decide by the base's either.
    let deciding: Vec<&TierRuns> = runs.iter().filter(|runs| job.decides(runs.tier)).collect();
    let judged = inputs.base.map(|base| {
        base_judgement(&BaseInputs {
            sides: Sides { base, head: files },
            head: &plan,
            tiers: &deciding,
            deciding: &job.compared_tiers(),
            baseline: against.as_ref(),
            graded_here: if job.parts.is_none() { GradedHere::Yes } else { GradedHere::No },
            clock,
        })
    });
    drop(deciding);
    let suites = runs.into_iter().flat_map(|runs| runs.suites).collect();
    let mut report = assemble_report(job, clock, started_at, Evaluated { suites, not_gateable }, notes);
    report.config = Some(inputs.config.clone());
    report.usage = RunUsage { wall_ms: report.usage.wall_ms, ..usage };
    report.base = report.base.or_else(|| against.as_ref().and_then(|baseline| baseline.commit.clone()));
    if let Some((changes, refusals)) = judged {
        report::refuse(&mut report, refusals);
        report::govern(&mut report, changes, None);
    }
    snapshots::compare(files, &plan.config, &mut report)?;
    let Plan { config, suites, .. } = plan;
    // The process ends after this run, so freeing the memory would only cost time.
    std::mem::forget(suites);
    if let Some(interruption) = called_off {
        report::call_off(&mut report, interruption);
    }
    Ok(GradedRun { report, config_sha256, against, config, model_tier, not_run: agents_not_run })
}

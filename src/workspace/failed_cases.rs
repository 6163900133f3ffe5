//! The cases that failed in the last run, which `run --failed` grades again.

use std::collections::BTreeSet;

use crate::diag::{Code, Diagnostic, ReadFailure};
use crate::files::Files;
use crate::format::failed_v1::{FailedCase, read_failed, written};
use crate::model::{AgentReport, Exclusion, PairResult, RepoPath, Report, SuiteReport, Tier};
use crate::world::Disk;

/// The folder of the last run's files in the config's folder `results`. Git ignores it.
pub fn last_run(results: &RepoPath) -> RepoPath {
    results.child("last")
}

fn file(results: &RepoPath) -> RepoPath {
    last_run(results).child("failed.json")
}

/// Creates the folder of the last run's files, so that git ignores it.
pub fn prepare_last_run(disk: &Disk, results: &RepoPath) -> anyhow::Result<()> {
    let ignore = last_run(results).child(".gitignore");
    if disk.holds(&ignore) {
        Ok(())
    } else {
        disk.replace(&ignore, b"*\n")
    }
}

/// Returns the cases of these tiers that failed in the last run.
///
/// # Errors
/// No case failed, or none is known.
pub fn failed_before(
    disk: &Disk,
    results: &RepoPath,
    tiers: &[Tier],
) -> Result<BTreeSet<FailedCase>, Diagnostic> {
    let file = file(results);
    let known = match disk.text(&file) {
        Ok(source) => read_failed(&source)?,
        Err(problem) if problem.is_read_failure(ReadFailure::MissingFile) => BTreeSet::new(),
        Err(problem) => return Err(problem),
    };
    let failed: BTreeSet<FailedCase> = known
        .into_iter()
        .filter(|case| tiers.contains(&case.tier))
        .collect();
    if failed.is_empty() {
        return Err(Diagnostic::of_command_line(
            Code::NOTHING_SELECTED,
            "--failed: no case failed in the last run of these tiers",
            "run without --failed",
        ));
    }
    Ok(failed)
}

/// Saves which cases failed. Cases that this run did not grade keep their state.
pub fn save_failed(disk: &Disk, results: &RepoPath, report: &Report) -> anyhow::Result<()> {
    let path = file(results);
    // A broken file is replaced: it holds nothing that cannot be graded again.
    let old = disk
        .text(&path)
        .ok()
        .and_then(|source| read_failed(&source).ok())
        .unwrap_or_default();
    let graded: BTreeSet<FailedCase> = report
        .suite_cases()
        .map(|(suite, agent, case)| named(suite, agent, case))
        .collect();
    let mut new: BTreeSet<FailedCase> = old.difference(&graded).cloned().collect();
    new.extend(
        report
            .suite_cases()
            .filter(|(_, agent, case)| has_failed(agent, case))
            .map(|(suite, agent, case)| named(suite, agent, case)),
    );
    if new == old {
        return Ok(());
    }
    prepare_last_run(disk, results)?;
    disk.replace_input(&path, written(&new).as_bytes())
}

fn named(suite: &SuiteReport, agent: &AgentReport, case: &PairResult) -> FailedCase {
    FailedCase {
        tier: suite.tier,
        suite: suite.id.clone(),
        agent: agent.agent.clone(),
        case: case.case.clone(),
    }
}

/// Whether a case has to be looked at: a check or one of its values fails, it moved a failed gate, or it was not measured.
fn has_failed(agent: &AgentReport, case: &PairResult) -> bool {
    match case.exclusion {
        Exclusion::Quarantined => false,
        Exclusion::NoMajority => true,
        Exclusion::Counted => {
            case.verdict.fails()
                || case.failed_checks().next().is_some()
                || moved_a_gate(agent, case)
        }
    }
}

fn moved_a_gate(agent: &AgentReport, case: &PairResult) -> bool {
    let failed = agent.metrics.iter().filter(|metric| metric.verdict.fails());
    failed
        .flat_map(|metric| &metric.evidence.cases)
        .any(|evidence| evidence.case == case.case)
}

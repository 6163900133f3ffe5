//! The baseline's own pull request: it needs no label if every entry that it moves is what an approved, merged pull request measured.
//!
//! Nothing in that pull request is believed. Its file has to be, byte for byte, the proposal that this run computes from the
//! recordings, and it may change no other golden file. Each moved entry has to equal the entry of a result that somebody approved
//! on a pull request that was merged since the present baseline was captured.

use std::collections::BTreeSet;

use super::measured_run::{RunQuery, evidence};
use crate::app::pipeline::baseline;
use crate::app::pipeline::graded_run::GradedRun;
use crate::diag::Diagnostic;
use crate::files::SourceText;
use crate::format::baseline_v1;
use crate::format::event::Event;
use crate::model::{AgentName, Approval, Baseline, BaselineEntry, BranchOrigin, PullRequestDetails, RepoPath, SuiteId};
use crate::publish::{ConfigKey, approval};
use crate::report;
use crate::world::{GitHub, GitHubError, MergedPull};

/// Maximum number of merged pull requests whose approvals are read.
const MOST: usize = 20;

/// Returns the approval that merged pull requests give to the baseline's own pull request, if they do. `committed` is the content
/// of the baseline file at its head.
pub fn approval_of_merges(
    github: &GitHub,
    key: &ConfigKey,
    event: &Event,
    done: &mut GradedRun,
    committed: &[u8],
) -> Option<Approval> {
    let file = done.config.baseline.clone()?;
    let changes = &done.report.golden_changes;
    // An approval also lifts the reasons for a missing verdict, and nobody has seen those of this pull request.
    if !done.report.not_gateable.is_empty()
        || changes.is_empty()
        || changes.iter().any(|change| change.file.as_ref() != Some(&file))
    {
        return None;
    }
    let number = event.pull_request.as_ref().map(|pull_request| pull_request.number).or(event.queued)?;
    match found(github, key, number, &file, done, committed) {
        Ok(found) => found,
        Err(_) => {
            let note = "the approvals of merged pull requests cannot be read, so this baseline needs the label";
            done.report.notes.push(note.to_owned());
            None
        }
    }
}

fn found(
    github: &GitHub,
    key: &ConfigKey,
    number: u64,
    file: &RepoPath,
    done: &GradedRun,
    committed: &[u8],
) -> Result<Option<Approval>, GitHubError> {
    let pull = github.pull(number)?;
    if pull.branch != key.branch() || pull.origin != BranchOrigin::Same {
        return Ok(None);
    }
    let Some(moved) = moved_entries(done, file, committed) else { return Ok(None) };
    let since = done.against.as_ref().and_then(|before| before.captured_at.as_deref());
    let Some(identity) = github.identity() else { return Ok(None) };
    let mut left: BTreeSet<Moved> = moved.into_iter().collect();
    let mut approvals: Vec<Approval> = Vec::new();
    for merged in merged_since(github, &pull, since)? {
        if left.is_empty() {
            break;
        }
        let statuses = github.statuses(&merged.head)?;
        let Some(standing) = approval::standing(&statuses, key, identity, &merged.head) else { continue };
        let Some(config) = &done.report.config else { continue };
        let query = RunQuery { commit: &merged.head, config, key, before: None };
        let Ok(run) = evidence(github, &query)? else { continue };
        // The approval names the digest of what somebody approved; an artifact with another result proves nothing.
        if report::result_digest(&run.report, Some(file)) != standing.digest {
            continue;
        }
        let count = left.len();
        let measured = entries(&baseline::proposed(None, &run.report));
        left.retain(|one| !measured.contains(one));
        if left.len() < count {
            let by = format!("{} on pull request {}", standing.by, merged.number);
            approvals.push(Approval { by, ..standing });
        }
    }
    let Some(newest) = approvals.iter().max_by(|one, other| one.at.cmp(&other.at)).filter(|_| left.is_empty()) else {
        return Ok(None);
    };
    let by: Vec<&str> = approvals.iter().map(|approval| approval.by.as_str()).collect();
    Ok(Some(Approval {
        by: by.join(", "),
        at: newest.at.clone(),
        head: pull.head.clone(),
        digest: report::result_digest(&done.report, Some(file)),
    }))
}

/// The merged pull requests into the same branch since this time, newest first.
fn merged_since(
    github: &GitHub,
    pull: &PullRequestDetails,
    since: Option<&str>,
) -> Result<Vec<MergedPull>, GitHubError> {
    let mut merged = github.merged_pulls(&pull.into)?;
    // All these times are in one format in UTC, so they compare as texts.
    merged.retain(|one| since.is_none_or(|since| one.at.as_str() >= since));
    merged.truncate(MOST);
    Ok(merged)
}

/// An entry with its suite and agent, as its bytes in a baseline.
type Moved = (SuiteId, AgentName, String);

/// The entries that the committed baseline moves; `None` if it is not the proposal of this run.
fn moved_entries(done: &GradedRun, file: &RepoPath, committed: &[u8]) -> Option<Vec<Moved>> {
    let read = |bytes: &[u8]| -> Result<Baseline, Diagnostic> {
        baseline_v1::read_baseline(&SourceText::new(file.clone(), bytes.to_vec())?)
    };
    let own = read(committed).ok()?;
    let before = done.against.clone().unwrap_or_default();
    let proposed = done.proposed();
    // Its origin is the one of the run that wrote it: not before the present baseline, and not in the future.
    let in_time = before.captured_at <= own.captured_at && own.captured_at <= proposed.captured_at;
    let entries_kept = own.accepted.starts_with(&before.accepted) && own.accepted.len() <= before.accepted.len() + 1;
    let Baseline { commit, captured_at, tool_version, accepted, samples: _, suites: _ } = own.clone();
    let expected = Baseline { commit, captured_at, tool_version, accepted, ..proposed };
    if !in_time || !entries_kept || baseline_v1::written(&expected).as_bytes() != committed {
        return None;
    }
    let known = entries(&before);
    Some(entries(&own).into_iter().filter(|one| !known.contains(one)).collect())
}

fn entries(baseline: &Baseline) -> BTreeSet<Moved> {
    let all = baseline.suites.iter().flat_map(|(suite, agents)| {
        agents.iter().map(move |(agent, entry)| (suite.clone(), agent.clone(), text(suite, agent, entry)))
    });
    all.collect()
}

fn text(suite: &SuiteId, agent: &AgentName, entry: &BaselineEntry) -> String {
    let suites = [(suite.clone(), [(agent.clone(), entry.clone())].into())].into();
    baseline_v1::written(&Baseline { suites, ..Baseline::default() })
}

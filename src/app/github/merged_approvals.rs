//! The baseline's own pull request: it needs no label if every entry that it moves is what an approved, merged pull request measured.
//!
//! Nothing in that pull request is believed. Its file has to be, byte for byte, the proposal that this run computes from the
//! recordings, with the entry in `accepted` that `mode: baseline-pr` writes, and it may change no other golden file. Each moved entry
//! has to equal the entry of a result that somebody approved on a pull request that was merged since the present baseline was
//! captured, and before the committed one was.

use std::collections::BTreeSet;

use super::approval_query::ApprovalQuery;
use super::approved_results::approved_result;
use super::measured_run::RunQuery;
use crate::app::pipeline::baseline;
use crate::app::pipeline::graded_run::GradedRun;
use crate::diag::Diagnostic;
use crate::files::{SourceText, sha256_hex};
use crate::format::baseline_v1;
use crate::model::{
    Acceptance, AgentName, Approval, Baseline, BaselineEntry, BranchOrigin, PullRequestDetails,
    RepoPath, SuiteId,
};
use crate::publish::approval::ApprovalScope;
use crate::publish::baseline_pr::is_entered;
use crate::publish::{BaselineMove, approval};
use crate::world::{GitHub, GitHubError, MergedPull};
use crate::{publish, report};

/// Maximum number of approved pull requests whose result is read. GitHub lists the 100 newest closed ones, and whether one is approved
/// takes one request.
const MOST: usize = 20;

/// Returns the approval that merged pull requests give to the baseline's own pull request, if they do. After a push, or in a merge queue,
/// `number` is that of the pull request that the commit contains.
pub fn approval_of_merges(
    github: &GitHub,
    query: &ApprovalQuery<'_>,
    number: u64,
    done: &mut GradedRun,
) -> Option<Approval> {
    let committed = query.committed?;
    let file = done.config.baseline.clone()?;
    let changes = &done.report.golden_changes;
    // An approval also lifts the reasons for a missing verdict, and nobody has seen those of this pull request.
    if !done.report.not_gateable.is_empty()
        || changes.is_empty()
        || changes
            .iter()
            .any(|change| change.file.as_ref() != Some(&file))
    {
        return None;
    }
    match found(github, query, (number, &file), done, committed) {
        Ok(found) => found,
        Err(_) => {
            let note = "the approvals of merged pull requests cannot be read, so this baseline needs the label";
            done.report.notes.push(note.to_owned());
            None
        }
    }
}

/// The approval of the pull request with this number, if it is the own one of this baseline file.
fn found(
    github: &GitHub,
    query: &ApprovalQuery<'_>,
    (number, file): (u64, &RepoPath),
    done: &GradedRun,
    committed: &[u8],
) -> Result<Option<Approval>, GitHubError> {
    let ApprovalQuery {
        key, event, learn, ..
    } = *query;
    let pull = github.pull(number)?;
    if pull.branch != key.branch() || pull.origin != BranchOrigin::Same {
        return Ok(None);
    }
    learn(&done.report);
    let (Some(identity), Some(base)) = (github.identity(), &event.base) else {
        return Ok(None);
    };
    let before_sha256 = github.file(file, base)?.map(|bytes| sha256_hex(&bytes));
    let by = ProposalAuthor {
        identity,
        pull: &pull,
        before_sha256,
    };
    let Some(own) = committed_proposal(done, file, committed, &by) else {
        return Ok(None);
    };
    // What the file says about its origin has to be true as well.
    let Some(commit) = &own.commit else {
        return Ok(None);
    };
    if !github.branch_has(&pull.into, commit)? {
        return Ok(None);
    }
    let since = done
        .against
        .as_ref()
        .and_then(|before| before.captured_at.as_deref());
    let known = done.against.as_ref().map(entries).unwrap_or_default();
    let mut left: BTreeSet<Moved> = entries(&own)
        .into_iter()
        .filter(|one| !known.contains(one))
        .collect();
    let mut approvals: Vec<Approval> = Vec::new();
    let mut results = 0;
    for merged in merged_since(github, &pull, since)? {
        if left.is_empty() || results == MOST {
            break;
        }
        // A measurement from before the merge cannot be one of its result.
        if own
            .captured_at
            .as_ref()
            .is_none_or(|captured_at| *captured_at < merged.at)
        {
            continue;
        }
        let statuses = github.statuses(&merged.head)?;
        let scope = ApprovalScope {
            key,
            identity,
            pull: Some(merged.number),
        };
        let standing = approval::all_standing(&statuses, scope, &merged.head);
        let Some(config) = done.report.config.as_ref().filter(|_| !standing.is_empty()) else {
            continue;
        };
        results += 1;
        let query = RunQuery {
            number: Some(merged.number),
            commit: &merged.head,
            config,
            key,
            before: None,
            result: None,
        };
        let count = left.len();
        let mut newest: Option<Approval> = None;
        for standing in standing {
            let Some(result) = approved_result(github, &query, &standing, Some(file))? else {
                continue;
            };
            let measured = entries(&baseline::proposed(done.against.as_ref(), &result));
            left.retain(|one| !measured.contains(one));
            newest = newest.or(Some(standing));
        }
        if let Some(newest) = newest.filter(|_| left.len() < count) {
            let by = format!("{} on pull request {}", newest.by, merged.number);
            approvals.push(Approval { by, ..newest });
        }
    }
    let Some(newest) = approvals
        .iter()
        .max_by(|one, other| one.at.cmp(&other.at))
        .filter(|_| left.is_empty())
    else {
        return Ok(None);
    };
    let by: Vec<&str> = approvals
        .iter()
        .map(|approval| approval.by.as_str())
        .collect();
    Ok(Some(Approval {
        by: by.join(", "),
        at: newest.at.clone(),
        head: pull.head.clone(),
        digest: report::result_digest(&done.report, Some(file)),
        reason: None,
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
    Ok(merged)
}

/// An entry with its suite and agent, as its bytes in a baseline.
type Moved = (SuiteId, AgentName, String);

/// Who writes the entry of the baseline's own pull request, and about what.
struct ProposalAuthor<'a> {
    /// The account of the job's token.
    identity: &'a str,
    pull: &'a PullRequestDetails,
    /// The digest of the base commit's baseline file.
    before_sha256: Option<String>,
}

impl ProposalAuthor<'_> {
    /// Whether an entry is what `mode: baseline-pr` writes. The pull request has no number yet when its first commit is written.
    fn wrote(
        &self,
        entry: &Acceptance,
        moves: &[BaselineMove],
        (earliest, latest): (Option<&str>, Option<&str>),
    ) -> bool {
        let Acceptance {
            by,
            at,
            pull_request,
            reason,
            previous_sha256,
        } = entry;
        // The gate and the job that opens the pull request may have tokens of different accounts.
        (by == self.identity || *by == self.pull.author)
            && earliest.is_none_or(|earliest| earliest <= at.as_str())
            && latest.is_none_or(|latest| at.as_str() <= latest)
            && pull_request.is_none_or(|number| number == self.pull.number)
            && *reason == publish::reason(&self.pull.description)
            && *previous_sha256 == self.before_sha256
            && is_entered(entry, moves)
    }
}

/// The committed baseline, if it is the proposal of this run.
fn committed_proposal(
    done: &GradedRun,
    file: &RepoPath,
    committed: &[u8],
    by: &ProposalAuthor<'_>,
) -> Option<Baseline> {
    let read = |bytes: &[u8]| -> Result<Baseline, Diagnostic> {
        baseline_v1::read_baseline(&SourceText::new(file.clone(), bytes.to_vec())?)
    };
    let own = read(committed).ok()?;
    let before = done.against.clone().unwrap_or_default();
    let proposed = done.proposed();
    // Its time is that of the run that wrote it: not before the present baseline, and not in the future.
    let in_time = before.captured_at <= own.captured_at && own.captured_at <= proposed.captured_at;
    let times = (own.captured_at.as_deref(), proposed.captured_at.as_deref());
    let moves = publish::moves(done.against.as_ref(), &done.report);
    let is_kept = match own.accepted.strip_prefix(before.accepted.as_slice()) {
        Some([]) => true,
        Some([entry]) => by.wrote(entry, &moves, times),
        Some([_, _, ..]) | None => false,
    };
    let Baseline {
        commit,
        captured_at,
        tool_version: _,
        accepted,
        samples: _,
        suites: _,
    } = own.clone();
    let expected = Baseline {
        commit,
        captured_at,
        accepted,
        ..proposed
    };
    (in_time && is_kept && baseline_v1::written(&expected).as_bytes() == committed).then_some(own)
}

fn entries(baseline: &Baseline) -> BTreeSet<Moved> {
    let all = baseline.suites.iter().flat_map(|(suite, agents)| {
        agents
            .iter()
            .map(move |(agent, entry)| (suite.clone(), agent.clone(), text(suite, agent, entry)))
    });
    all.collect()
}

fn text(suite: &SuiteId, agent: &AgentName, entry: &BaselineEntry) -> String {
    let suites = [(suite.clone(), [(agent.clone(), entry.clone())].into())].into();
    baseline_v1::written(&Baseline {
        suites,
        ..Baseline::default()
    })
}

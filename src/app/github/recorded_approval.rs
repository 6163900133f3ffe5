//! Finds the approval of a run's result and applies it.

use super::approval_query::ApprovalQuery;
use super::approved_results::{approved_result_of, named_parts, unread};
use super::joint_approval;
use super::measured_run::RunQuery;
use super::merged_approvals::approval_of_merges;
use crate::app::cli_error::CliError;
use crate::app::pipeline::graded_run::GradedRun;
use crate::format::event::Event;
use crate::model::{Approval, Baseline, NoVerdict, Report, Ruling};
use crate::publish::approval::ApprovalScope;
use crate::publish::{approval, reason};
use crate::report;
use crate::world::GitHub;

/// Returns the approval that counts for a result: the one on the graded commit, for a push or a merge group those of its pull requests,
/// and for the pull request with the baseline those of the merged pull requests. Without the permission to read them, adds a
/// note and returns `None`.
///
/// # Errors
/// A failed request to GitHub.
pub fn find_approval(
    github: &GitHub,
    query: &ApprovalQuery<'_>,
    done: &mut GradedRun,
) -> Result<Option<Approval>, CliError> {
    let event = query.event;
    // Nobody can have approved the commit of a merge group: it is new.
    let is_group = event.pull_request.is_none() && event.push.is_none();
    if !is_group && let Some(approval) = on_commit(github, query, done)? {
        return Ok(Some(with_reason(github, event, approval)));
    }
    let found = match &event.pull_request {
        None => joint_approval::approval_of_contained(github, query, done)?,
        Some(pull_request) => approval_of_merges(github, query, pull_request.number, done),
    };
    Ok(found.map(|approval| with_reason(github, event, approval)))
}

/// The approval with the reason in the description of the pull request. It is for readers only, so a failed request leaves it out.
fn with_reason(github: &GitHub, event: &Event, approval: Approval) -> Approval {
    let pull = event
        .pull_request
        .as_ref()
        .and_then(|pull_request| github.pull(pull_request.number).ok());
    Approval {
        reason: pull.and_then(|pull| reason(&pull.description)),
        ..approval
    }
}

/// Returns the approval recorded on a commit for the digest of this result, if any.
fn on_commit(
    github: &GitHub,
    query: &ApprovalQuery<'_>,
    done: &mut GradedRun,
) -> Result<Option<Approval>, CliError> {
    let ApprovalQuery {
        key, commit, learn, ..
    } = *query;
    let statuses = match github.statuses(commit) {
        Ok(statuses) => statuses,
        Err(error) => return unread(error, "statuses: read", done),
    };
    if !approval::is_claimed(&statuses, key) {
        return Ok(None);
    }
    learn(&done.report);
    let Some(identity) = github.identity() else {
        let note = "approvals cannot be checked, because GitHub does not say which account the token belongs to";
        done.report.notes.push(note.to_owned());
        return Ok(None);
    };
    let baseline = done.config.baseline.as_ref();
    let digest = report::result_digest(&done.report, baseline);
    let pull = query
        .event
        .pull_request
        .as_ref()
        .map(|pull_request| pull_request.number);
    let standing = approval::all_standing(
        &statuses,
        ApprovalScope {
            key,
            identity,
            pull,
        },
        commit,
    );
    if let Some(whole) = standing.iter().find(|approval| approval.digest == digest) {
        return Ok(Some(whole.clone()));
    }
    let mut left = Vec::new();
    for approval in &standing {
        let Some(approved) = approved(github, query, approval, done)? else {
            continue;
        };
        left = report::uncovered(&done.report, &[approved]);
        if left.is_empty() {
            return Ok(Some(Approval {
                digest,
                ..approval.clone()
            }));
        }
    }
    if !standing.is_empty() {
        let of_other =
            "the approval of this commit does not count, because it is for another result";
        let what = if left.is_empty() {
            String::new()
        } else {
            format!(", without {}", named_parts(&left))
        };
        done.report
            .notes
            .push(format!("{of_other}{what}: add the label again"));
    }
    Ok(None)
}

/// The result of this commit that somebody approved. It is another one than today's if the base branch moved on, for example by an
/// approved change of another agent.
fn approved(
    github: &GitHub,
    query: &ApprovalQuery<'_>,
    approval: &Approval,
    done: &GradedRun,
) -> Result<Option<Report>, CliError> {
    let Some(config) = &done.report.config else {
        return Ok(None);
    };
    let number = query
        .event
        .pull_request
        .as_ref()
        .map(|pull_request| pull_request.number);
    let run = RunQuery {
        number,
        commit: query.commit,
        config,
        key: query.key,
        before: None,
        result: None,
    };
    match approved_result_of(github, &run, approval, done) {
        Ok(found) => Ok(found),
        // Then only the approval of exactly this result counts.
        Err(error) if error.is_denied() => Ok(None),
        Err(error) => Err(error
            .explained("the approved result cannot be read", "actions: read")
            .into()),
    }
}

/// Returns the approved result, judged again against the approved baseline.
///
/// # Errors
/// Bad input, or a failed request.
pub fn apply_approval(
    done: GradedRun,
    approval: Approval,
    committed: Option<&Baseline>,
    again: impl FnOnce(Baseline) -> Result<GradedRun, CliError>,
) -> Result<GradedRun, CliError> {
    let proposed = done.proposed();
    let accepted = approval::accepted(done.against.as_ref(), committed, &proposed).clone();
    let ruled = again(accepted)?;
    let mut report = report::approved(done.report.clone(), ruled.report, approval);
    if let Some(model) = &done.model_tier {
        report.verdict = Ruling::of_all([&report.verdict, &model.verdict]);
        report::refuse(&mut report, model.not_gateable.clone());
    }
    Ok(GradedRun { report, ..done })
}

/// Returns the approved result of a run with only the model tier. The models are not called again, so the gates are still judged
/// against the base commit's baseline, and the approval covers only the golden changes.
pub fn approved_as_measured(done: GradedRun, approval: Approval) -> GradedRun {
    let mut report = done.report.clone();
    if let Some(model) = &done.model_tier {
        report.verdict = model.verdict.clone();
        let lasting = std::mem::take(&mut report.lasting)
            .into_iter()
            .map(NoVerdict::Lasting);
        let before = std::mem::take(&mut report.not_gateable);
        report::refuse(
            &mut report,
            model.not_gateable.iter().cloned().chain(lasting).collect(),
        );
        report.lifted = before
            .into_iter()
            .filter(|why| !report.not_gateable.contains(why))
            .collect();
    }
    report.notes.push(format!(
        "{} approved the golden changes of this result",
        approval.by
    ));
    report.approval = Some(approval);
    GradedRun { report, ..done }
}

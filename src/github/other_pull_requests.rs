//! Other open pull requests with the same head commit. A check belongs to the commit, so the worst of their verdicts counts.

use super::approval::decide;
use super::base_branch::{known_default, not_required, relies_on_checks, requires_any, rules};
use super::graded_data::grade_as_data;
use super::inputs::ActionInputs;
use super::requests::needs;
use super::resolve::{head_against, judged_merge};
use crate::evaluation::graded_run::GradedRun;
use crate::format::event::Event;
use crate::github::client::{GitHub, GitHubError, GitHubRefusal, OpenPull};
use crate::model::{
    Authority, BranchOrigin, NotGateable, OtherOutcome, OtherPullRequest, RepoPath, Report, Tier,
};
use crate::render::{CliError, words};
use crate::report;
use crate::world::World;

/// The permissions that listing pull requests needs.
const PERMISSION: &str = "pull-requests: read` and `contents: read";
/// Maximum number of other base branches that are judged.
const MOST: usize = 4;

/// Judges the other open pull requests with the head of this event's pull request, each by its own base commit, and adds their
/// verdicts to the report. Their files are read as data, so only recordings can be judged. A head whose base branch requires no checks is
/// judged for the default branch as well: its check counts there once the pull request gets another base branch, and GitHub starts no
/// run if a workflow's token changes that.
///
/// # Errors
/// Too many of them, or a failed request.
pub fn judge_others(
    world: &World,
    inputs: &ActionInputs,
    github: &GitHub,
    event: &Event,
    others: &OtherPulls,
    done: &mut GradedRun,
) -> Result<(), CliError> {
    if !decides(inputs) {
        return Ok(());
    }
    done.report.notes.extend(others.notes.iter().cloned());
    let others = counted(github, others.pulls.clone(), done)?;
    let default = default_to_judge(github, event, &others)?;
    if let Some(default) = default {
        judge_for_default(world, inputs, github, event, &default, done)?;
    }
    for pull in others {
        let number = pull.number;
        let (outcome, why) = match judged(world, inputs, github, event, number) {
            Ok(Some(report)) => (outcome_of(&report), words::headline(&report)),
            Ok(None) => (
                OtherOutcome::Passes,
                format!("{} has no {}", pull.into, inputs.config),
            ),
            Err(error) => (OtherOutcome::NoVerdict, error.messages().join("; ")),
        };
        let judged_pull = OtherPullRequest {
            number,
            into: pull.into,
            outcome,
        };
        let note = format!("{}: {why}", words::other(&judged_pull));
        report::add_other(&mut done.report, judged_pull, note);
    }
    Ok(())
}

/// The other open pull requests with the head of an event.
#[derive(Default)]
pub struct OtherPulls {
    pulls: Vec<OpenPull>,
    /// Why they are not known.
    notes: Vec<String>,
}

impl OtherPulls {
    /// Lists them, where the job gives a verdict that blocks.
    ///
    /// # Errors
    /// A failed request.
    pub fn listed(inputs: &ActionInputs, github: &GitHub, event: &Event) -> Result<Self, CliError> {
        let mut others = Self::default();
        if decides(inputs) {
            others.pulls = listed(github, event, &mut others.notes)?;
        }
        Ok(others)
    }
}

fn decides(inputs: &ActionInputs) -> bool {
    let is_blocking = inputs.authority == Authority::Blocking;
    is_blocking && inputs.tiers.contains(&Tier::Deterministic) && inputs.shard.is_none()
}

fn outcome_of(report: &Report) -> OtherOutcome {
    match report.exit_code() {
        0 => OtherOutcome::Passes,
        1 => OtherOutcome::Fails,
        _ => OtherOutcome::NoVerdict,
    }
}

/// A default branch for which the head is judged as well.
struct DefaultBranch {
    name: String,
    why: String,
}

/// The default branch, if this pull request is into a branch that does not require what it requires, and no other one with this head is
/// into the default branch.
fn default_to_judge(
    github: &GitHub,
    event: &Event,
    others: &[OpenPull],
) -> Result<Option<DefaultBranch>, CliError> {
    let (Some(_), Some(into)) = (&event.pull_request, &event.into) else {
        return Ok(None);
    };
    let name = known_default(github)?;
    if *into == name || others.iter().any(|pull| pull.into == name) {
        return Ok(None);
    }
    let into_rules = rules(github, into)?;
    let default = rules(github, &name)?;
    // Where nothing requires the check, nobody can use the one of another branch.
    if default
        .as_ref()
        .is_some_and(|default| !requires_any(default))
    {
        return Ok(None);
    }
    let why = match (&into_rules, &default) {
        (None, None) => return Ok(None),
        (None, Some(_)) => format!("it is unknown what {into} requires"),
        (Some(into_rules), _) if !requires_any(into_rules) => format!("{into} requires no checks"),
        (Some(_), None) => return Ok(None),
        (Some(into_rules), Some(default)) => {
            match not_required(into, into_rules, default).as_slice() {
                [] => return Ok(None),
                missing => format!(
                    "{into} does not require {}, as {name} does",
                    missing.join(", ")
                ),
            }
        }
    };
    Ok(Some(DefaultBranch { name, why }))
}

/// Judges the head against the commit where it left the default branch. Unless it passes, this run has no verdict.
fn judge_for_default(
    world: &World,
    inputs: &ActionInputs,
    github: &GitHub,
    event: &Event,
    default: &DefaultBranch,
    done: &mut GradedRun,
) -> Result<(), CliError> {
    let Event {
        into,
        pull_request: Some(pull_request),
        head: Some(head),
        ..
    } = event
    else {
        return Ok(());
    };
    let DefaultBranch { name, why: reason } = default;
    let (event, merged) =
        head_against(github, name, pull_request.number, head, pull_request.origin)?;
    if !asks_for_anything(inputs, github, &event, &merged.base)? {
        return Ok(());
    }
    let (outcome, why) = match grade_as_data(world, inputs, github, &event, &merged) {
        Ok((_, judged)) => (outcome_of(&judged.report), words::headline(&judged.report)),
        Err(error) => (OtherOutcome::NoVerdict, error.messages().join("; ")),
    };
    if outcome != OtherOutcome::Passes {
        let verdict = words::other_outcome(outcome);
        let into = into.as_deref().unwrap_or_default();
        let words = format!(
            "{reason}, so the commit is judged for {name} as well (or require the gate in {into}), and there it {verdict}: {}",
            why.trim_end_matches('.')
        );
        report::refuse(&mut done.report, vec![NotGateable::new(words)]);
    }
    Ok(())
}

/// Returns the pull requests to judge. If they are for too many branches, those into branches that rely on no checks do not count: nobody
/// needs the check to merge into one.
fn counted(
    github: &GitHub,
    others: Vec<OpenPull>,
    done: &mut GradedRun,
) -> Result<Vec<OpenPull>, CliError> {
    if others.len() <= MOST {
        return Ok(others);
    }
    let (mut counted, mut left_out) = (Vec::new(), 0);
    for pull in others {
        match relies_on_checks(github, &pull.into)? {
            Some(true) | None => counted.push(pull),
            Some(false) => left_out += 1,
        }
    }
    if counted.len() > MOST {
        return Err(anyhow::anyhow!(
            "no verdict: this head commit has open pull requests into more than {} branches that require checks; close some of them",
            MOST + 1
        )
        .into());
    }
    let pulls = words::plural(left_out, "pull request has", "pull requests have");
    done.report.notes.push(format!(
        "{pulls} the same head commit and {} not judged: too many, and into branches that require no check",
        if left_out == 1 { "is" } else { "are" }
    ));
    Ok(counted)
}

/// Judges one pull request. Returns `None` if its base branch has no config and so asks for nothing.
fn judged(
    world: &World,
    inputs: &ActionInputs,
    github: &GitHub,
    event: &Event,
    number: u64,
) -> Result<Option<Report>, CliError> {
    let head = event.head.as_deref().unwrap_or_default();
    let origin = event
        .pull_request
        .as_ref()
        .map_or(BranchOrigin::Fork, |pull_request| pull_request.origin);
    let (event_of_other, merged) = judged_merge(github, number, head, origin)?;
    if !asks_for_anything(inputs, github, &event_of_other, &merged.base)? {
        return Ok(None);
    }
    let (_, mut done) = grade_as_data(world, inputs, github, &event_of_other, &merged)?;
    decide(world, inputs, github, (&event_of_other, None), &mut done)?;
    Ok(Some(done.report))
}

/// Returns the other open pull requests with the head of an event's pull request, one for each other base branch: those into the same
/// branch have the same result. A check belongs to a commit, so a pass for one base branch would count for all of them. After a push
/// these are all pull requests with the pushed commit as their head: each of them judges its merge, and the push does not. Without the
/// right to list them, a push adds a note to `notes`.
///
/// # Errors
/// A failed request.
fn listed(
    github: &GitHub,
    event: &Event,
    notes: &mut Vec<String>,
) -> Result<Vec<OpenPull>, CliError> {
    let Some(head) = event
        .head
        .as_ref()
        .filter(|_| event.pull_request.is_some() || event.push.is_some())
    else {
        return Ok(Vec::new());
    };
    let number = event
        .pull_request
        .as_ref()
        .map(|pull_request| pull_request.number);
    let open = match (github.every_open_pull(), number) {
        (Ok(open), _) => with_those_of_branch(github, event, open)?,
        // An older Enterprise Server may not list a commit's pull requests: then those of the same branch are compared.
        (
            Err(GitHubError::Missing | GitHubError::Refused(GitHubRefusal::Permission(_))),
            Some(number),
        ) => of_branch(github, number)?,
        (Err(error), None) if error.is_denied() => {
            notes.push(
                error
                    .explained(UNREAD_PULLS, "pull-requests: read")
                    .to_string(),
            );
            return Ok(Vec::new());
        }
        (Err(error), _) => return Err(needs(UNREAD_PULLS, PERMISSION)(error)),
    };
    let into = event.into.as_deref().filter(|_| number.is_some());
    let mut others: Vec<OpenPull> = open
        .into_iter()
        .filter(|pull| Some(pull.number) != number && pull.head == *head)
        .filter(|pull| into != Some(pull.into.as_str()))
        .collect();
    others.sort_by(|left, right| (&left.into, left.number).cmp(&(&right.into, right.number)));
    others.dedup_by(|later, first| later.into == first.into);
    others.sort_by_key(|pull| pull.number);
    Ok(others)
}

/// Adds the open pull requests of the event's branch: for a commit of the default branch GitHub lists only the merged ones (GitHub docs,
/// "List pull requests associated with a commit").
fn with_those_of_branch(
    github: &GitHub,
    event: &Event,
    mut open: Vec<OpenPull>,
) -> Result<Vec<OpenPull>, CliError> {
    match (&event.pull_request, &event.push) {
        (Some(pull), _) if open.iter().all(|listed| listed.number != pull.number) => {
            open.extend(of_branch(github, pull.number)?)
        }
        (None, Some(push)) => {
            let of_branch = github.own_open_pulls(&push.branch);
            open.extend(of_branch.map_err(needs(
                "the branch's pull requests cannot be read",
                PERMISSION,
            ))?);
        }
        (Some(_) | None, _) => {}
    }
    Ok(open)
}

const UNREAD_PULLS: &str = "the commit's pull requests cannot be read";

/// Returns the open pull requests from the branch of this one.
fn of_branch(github: &GitHub, number: u64) -> Result<Vec<OpenPull>, CliError> {
    let unread = "the branch's pull requests cannot be read";
    let pull = github.pull(number).map_err(needs(unread, PERMISSION))?;
    match pull
        .label
        .as_deref()
        .and_then(|label| label.split_once(':'))
    {
        Some((owner, branch)) => github
            .open_pulls(owner, branch)
            .map_err(needs(unread, PERMISSION)),
        None => Ok(Vec::new()),
    }
}

/// Whether the base branch of a pull request has the config: at its base commit, or at the tip, which is another commit after a
/// conflict.
fn asks_for_anything(
    inputs: &ActionInputs,
    github: &GitHub,
    event: &Event,
    base: &str,
) -> Result<bool, CliError> {
    let config = inputs.config_file()?;
    if has_file(github, &config, base)? {
        return Ok(true);
    }
    let tip = match (&event.tip, &event.into) {
        (None, Some(into)) => github
            .branch(into)
            .map_err(needs("its base branch cannot be read", "contents: read"))?,
        (Some(_), _) | (None, None) => None,
    };
    tip.map_or(Ok(false), |tip| has_file(github, &config, &tip))
}

/// Whether a commit has a file. The listing of the commit decides: a file that GitHub does not find may also be one that this token may not
/// read.
fn has_file(github: &GitHub, file: &RepoPath, commit: &str) -> Result<bool, CliError> {
    let refused = needs(
        "the config of its base branch cannot be read",
        "contents: read",
    );
    match github.tree(commit).map_err(&refused)? {
        Some(tree) => Ok(tree.contains_key(file)),
        None => Ok(github.file(file, commit).map_err(&refused)?.is_some()),
    }
}

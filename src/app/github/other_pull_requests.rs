//! Other open pull requests with the same head commit. A check belongs to the commit, so the worst of their verdicts counts.

use super::base_branch::{known_default, not_required, relies_on_checks, requires_any, rules};
use super::comment::CommentInput;
use super::current_pull_request::OtherPulls;
use super::graded_data::grade_as_data;
use super::inputs::ActionInputs;
use super::links::links;
use super::pull_request_context::needs;
use super::{comment, current_pull_request};
use crate::app::cli_error::CliError;
use crate::app::pipeline::graded_run::GradedRun;
use crate::format::event::Event;
use crate::model::{
    Authority, BranchOrigin, NoVerdict, OtherOutcome, OtherPullRequest, RepoPath, Report, Tier,
};
use crate::render::words;
use crate::report;
use crate::world::{GitHub, OpenPull, World};

/// Maximum number of other base branches that are judged.
const MOST: usize = 4;

/// Judges the other open pull requests with the head of this event's pull request, each by its own base commit, and adds their
/// verdicts to the report. Their files are read as data, so only recordings can be judged. A head whose base branch requires no checks is
/// judged for the default branch as well: its check counts there once the pull request gets another base branch, and GitHub starts no
/// run if a workflow's token changes that. Returns the current head of the event's pull request, if GitHub listed it and no time passed
/// since then.
///
/// # Errors
/// Too many of them, or a failed request.
pub fn judge_others(
    world: &World,
    inputs: &ActionInputs,
    github: &GitHub,
    event: &Event,
    done: &mut GradedRun,
) -> Result<Option<String>, CliError> {
    let decides =
        inputs.authority == Authority::Blocking && inputs.tiers.contains(&Tier::Deterministic);
    if !decides || inputs.shard.is_some() {
        return Ok(None);
    }
    let OtherPulls { own_head, others } =
        current_pull_request::others(github, event, &mut done.report.notes)?;
    let others = counted(github, others, done)?;
    let default = default_to_judge(github, event, &others)?;
    let own_head = own_head.filter(|_| others.is_empty() && default.is_none());
    if let Some(default) = default {
        judge_for_default(world, inputs, github, event, &default, done)?;
    }
    for other in others {
        let number = other.number;
        let (outcome, why) = match judged(world, inputs, github, event, number) {
            Ok(Some(report)) => (outcome_of(&report), words::headline(&report)),
            Ok(None) => (
                OtherOutcome::Passes,
                format!("{} has no {}", other.into, inputs.config),
            ),
            Err(error) => (OtherOutcome::NoVerdict, error.messages().join("; ")),
        };
        let verdict = words::other_outcome(outcome);
        let note = format!(
            "pull request {number} into {} has the same head commit and {verdict}: {why}",
            other.into
        );
        done.report.notes.push(note);
        done.report.others.push(OtherPullRequest {
            number,
            into: other.into,
            outcome,
        });
    }
    Ok(own_head)
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
    if *into == name || others.iter().any(|other| other.into == name) {
        return Ok(None);
    }
    let (own, default) = (rules(github, into)?, rules(github, &name)?);
    // Where nothing requires the check, nobody can use the one of another branch.
    if default
        .as_ref()
        .is_some_and(|default| !requires_any(default))
    {
        return Ok(None);
    }
    let why = match (&own, &default) {
        (None, None) => return Ok(None),
        (None, Some(_)) => format!("it is unknown what {into} requires"),
        (Some(own), _) if !requires_any(own) => format!("{into} requires no checks"),
        (Some(_), None) => return Ok(None),
        (Some(own), Some(default)) => match not_required(into, own, default).as_slice() {
            [] => return Ok(None),
            missing => format!(
                "{into} does not require {}, as {name} does",
                missing.join(", ")
            ),
        },
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
        pull_request: Some(own),
        head: Some(head),
        ..
    } = event
    else {
        return Ok(());
    };
    let DefaultBranch { name, why: reason } = default;
    let (event, merged) =
        current_pull_request::head_against(github, name, own.number, head, own.origin)?;
    if !asks_for_anything(inputs, github, &event, &merged.base)? {
        return Ok(());
    }
    let (outcome, why) = match grade_as_data(world, inputs, github, &event, &merged, &|_| ()) {
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
        report::refuse(&mut done.report, vec![NoVerdict::lasting(words)]);
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
    for other in others {
        match relies_on_checks(github, &other.into)? {
            Some(true) | None => counted.push(other),
            Some(false) => left_out += 1,
        }
    }
    if counted.len() > MOST {
        let what = format!(
            "no verdict: this head commit has open pull requests into more than {} branches that require checks; close some of them",
            MOST + 1
        );
        return Err(anyhow::anyhow!(what).into());
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
    let (own, merged) = current_pull_request::judged_merge(github, number, head, origin)?;
    if !asks_for_anything(inputs, github, &own, &merged.base)? {
        return Ok(None);
    }
    let (_, done) = grade_as_data(world, inputs, github, &own, &merged, &|_| ())?;
    let report = done.report;
    // A run that was started by hand is the only one of all pull requests of its branch.
    let is_only_run = world.env.get("GITHUB_EVENT_NAME") == Some("workflow_dispatch");
    if let Some(pull_request) = own
        .pull_request
        .as_ref()
        .filter(|_| is_only_run && inputs.comment)
    {
        let links = links(&world.env, inputs, &report);
        let input = CommentInput {
            report: &report,
            links: &links,
            run: comment::this_run(world),
            current_head: None,
        };
        comment::comment(world, inputs, pull_request, Some(github), &input);
    }
    Ok(Some(report))
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
    let refused = || {
        needs(
            "the config of its base branch cannot be read",
            "contents: read",
        )
    };
    match github.tree(commit).map_err(refused())? {
        Some(tree) => Ok(tree.contains_key(file)),
        None => Ok(github.file(file, commit).map_err(refused())?.is_some()),
    }
}

//! Reads what GitHub says about a pull request with a label: events, runs, pushes.

use crate::github::client::{GitHub, GitHubError, WorkflowJob, WorkflowRun};
use crate::github::requests::needs;
use crate::model::{
    ApprovalPolicy, BranchPush, ByAuthor, LabelEvent, Permission, PullRequestDetails,
};
use crate::publish::approval::{
    ApprovalRefusal, BranchUpdate, GateRun, GivenLabel, Snapshot, is_bot, set_by,
};
use crate::render::CliError;
use crate::world::{Env, World};

/// The file of the gate's workflow, where nothing names another one.
const SHIPPED: &str = "goldgate.yml";
/// The name of the gate's job in the shipped workflows. A job of another name counts with all jobs of its run.
const JOB: &str = "goldgate";
/// Maximum number of runs whose jobs are asked for.
const RUNS: usize = 5;
/// Maximum number of merges of the base branch that are looked through.
const UPDATES: usize = 5;

/// A snapshot of a pull request.
pub struct PullSnapshot<'a> {
    pull: &'a PullRequestDetails,
    labels: Vec<LabelEvent>,
    permission: Permission,
    pushes: Vec<BranchPush>,
    runs: Vec<GateRun>,
    updates: Vec<BranchUpdate>,
}

impl<'a> PullSnapshot<'a> {
    /// Reads it.
    ///
    /// # Errors
    /// A failed request.
    pub fn read(
        github: &GitHub,
        world: &World,
        pull: &'a PullRequestDetails,
        policy: &ApprovalPolicy,
    ) -> Result<Self, CliError> {
        let labels = github
            .label_events(pull.number)
            .map_err(needs("the timeline cannot be read", "pull-requests: read"))?;
        let mut snapshot = Self {
            pull,
            labels,
            permission: Permission::None,
            pushes: Vec::new(),
            runs: Vec::new(),
            updates: Vec::new(),
        };
        let Some(label) = set_by(&snapshot.labels, &policy.label).cloned() else {
            return Ok(snapshot);
        };
        if !is_bot(&label.by) {
            snapshot.permission = github.permission_of(&label.by).map_err(needs(
                "the permission of whoever set the label cannot be read",
                "contents: read",
            ))?;
        }
        if snapshot.permission < policy.approvers {
            return Ok(snapshot);
        }
        snapshot.pushes = pushes(github, pull)?;
        snapshot.runs = runs(github, world, (pull, &snapshot.pushes), &label.at)?;
        // An update of the branch matters only where whoever set the label may have pushed.
        let may_be_pusher = snapshot.pushes.is_empty()
            || snapshot
                .pushes
                .iter()
                .any(|push| may_be_by(push, &label.by));
        if policy.by_author == ByAuthor::DoesNotCount && may_be_pusher {
            snapshot.updates = super::updates::updates(github, pull, UPDATES)?;
        }
        Ok(snapshot)
    }

    /// What the label approves, or why it approves nothing.
    ///
    /// # Errors
    /// The label does not count.
    pub fn given(&self, policy: &ApprovalPolicy) -> Result<GivenLabel, ApprovalRefusal> {
        let Self {
            pull,
            labels,
            permission,
            pushes,
            runs,
            updates,
        } = self;
        let snapshot = Snapshot {
            pull,
            labels,
            permission: *permission,
            pushes,
            runs,
            updates,
        };
        snapshot.given(policy)
    }

    /// The runs as GitHub lists them now, newest first; `None` if one has begun since. GitHub may list this run itself a moment later.
    ///
    /// # Errors
    /// A failed request.
    pub fn same_runs(
        &self,
        github: &GitHub,
        world: &World,
    ) -> Result<Option<Vec<GateRun>>, CliError> {
        let current = runs_of_workflow(github, &world.env, self.pull, &self.pushes)?;
        let known = newest(&self.runs).max(own_run(&world.env));
        Ok((newest(&current) <= known).then_some(current))
    }
}

/// Whether this account may have pushed; GitHub does not always name it.
fn may_be_by(push: &BranchPush, account: &str) -> bool {
    push.by
        .as_deref()
        .is_none_or(|by| by.eq_ignore_ascii_case(account))
}

/// The id of the newest of some runs, newest first.
fn newest(runs: &[GateRun]) -> Option<u64> {
    runs.first().map(|run| run.id)
}

/// The id of this run.
pub fn own_run(env: &Env) -> Option<u64> {
    env.get("GITHUB_RUN_ID").and_then(|run| run.parse().ok())
}

/// The pushes to the branch of a pull request; none if they cannot be read: an older Enterprise Server has no activity list, and a private
/// fork does not show it.
fn pushes(github: &GitHub, pull: &PullRequestDetails) -> Result<Vec<BranchPush>, CliError> {
    let Some(repository) = &pull.head_repository else {
        return Ok(Vec::new());
    };
    match github.pushes_to(repository, &pull.branch) {
        Ok(pushes) => Ok(pushes),
        Err(error) if error.is_denied() => Ok(Vec::new()),
        Err(error) => Err(needs(
            "the user who pushed the head cannot be read",
            "contents: read",
        )(error)),
    }
}

/// The runs of this workflow on a pull request, newest first. Of those that began before the label, the end of the gate's job is asked
/// for, up to the first one that had ended before it.
fn runs(
    github: &GitHub,
    world: &World,
    (pull, pushes): (&PullRequestDetails, &[BranchPush]),
    label_at: &str,
) -> Result<Vec<GateRun>, CliError> {
    let mut runs = runs_of_workflow(github, &world.env, pull, pushes)?;
    let older = runs
        .iter_mut()
        .filter(|run| run.created_at.as_str() < label_at);
    for run in older.take(RUNS) {
        run.ended_at = ended_at(github, run.id).map_err(needs(
            "the jobs of an earlier run cannot be read",
            "actions: read",
        ))?;
        if run
            .ended_at
            .as_ref()
            .is_some_and(|at| at.as_str() < label_at)
        {
            break;
        }
    }
    Ok(runs)
}

/// The runs of this job's workflow on a pull request, newest first. `pushes` are those to its branch.
///
/// # Errors
/// A failed request.
pub fn runs_of_workflow(
    github: &GitHub,
    env: &Env,
    pull: &PullRequestDetails,
    pushes: &[BranchPush],
) -> Result<Vec<GateRun>, CliError> {
    let unread = needs("the runs of this workflow cannot be read", "actions: read");
    let file = match workflow_file(env) {
        Some(file) => file,
        // An older server does not name it.
        None => match github.workflow_run(own_run(env).unwrap_or_default()) {
            Ok(run) => file_of(&run.workflow).to_owned(),
            Err(GitHubError::Missing) => SHIPPED.to_owned(),
            Err(error) => return Err(unread(error)),
        },
    };
    // In a queue and on a push, the event does not say which of the two workflows this is.
    let events: &[&str] = match env.get("GITHUB_EVENT_NAME") {
        Some(PLAIN) => &[PLAIN],
        Some(TRUSTED) => &[TRUSTED],
        _ => &[PLAIN, TRUSTED],
    };
    let mut runs: Vec<GateRun> = Vec::new();
    for event in events {
        // Where GitHub lists the runs of `pull_request_target` is not documented, so their names say which head they are about.
        let branch = (*event == PLAIN).then_some(pull.branch.as_str());
        let listed = github.runs_of(&file, event, branch).map_err(&unread)?;
        for run in listed {
            let is_of_pull = *event == TRUSTED
                || (run.branch.as_ref() == Some(&pull.branch)
                    && run.head_name == pull.head_repository);
            if run.event != *event || !is_of_pull {
                continue;
            }
            let run = gate_run(run);
            let is_of_head = *event == PLAIN
                || run.head == pull.head
                || pushes.iter().any(|push| push.after == run.head);
            if is_of_head {
                runs.push(run);
            }
        }
        if !runs.is_empty() {
            break;
        }
    }
    runs.sort_by_key(|run| std::cmp::Reverse(run.id));
    Ok(runs)
}

const PLAIN: &str = "pull_request";
const TRUSTED: &str = "pull_request_target";

/// The file name of this job's workflow: `GITHUB_WORKFLOW_REF` is `owner/name/.github/workflows/file.yml@ref`.
fn workflow_file(env: &Env) -> Option<String> {
    let (path, _) = env.get("GITHUB_WORKFLOW_REF")?.split_once('@')?;
    Some(file_of(path).to_owned())
}

fn file_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn gate_run(run: WorkflowRun) -> GateRun {
    let mut named: Vec<String> = Vec::new();
    for word in run.title.split_whitespace() {
        if word.len() >= 40 && word.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            named.push(word.to_owned());
        }
    }
    // The name of a run of the trusted workflow begins with the head.
    let head = match named.as_slice() {
        [head, _] => head.clone(),
        _ => run.head,
    };
    let is_green = ["success", "neutral", "skipped"];
    GateRun {
        id: run.id,
        head,
        named,
        created_at: run.created_at.unwrap_or_default(),
        ended_at: None,
        is_red: run
            .conclusion
            .is_some_and(|conclusion| !is_green.contains(&conclusion.as_str())),
        by: run.actor,
    }
}

/// The conclusions of a job that showed no result.
const WITHOUT_RESULT: [&str; 4] = ["action_required", "cancelled", "skipped", "timed_out"];

/// When the gate's job of a run's first attempt ended; `None` if it did not, or showed no result.
fn ended_at(github: &GitHub, run: u64) -> Result<Option<String>, GitHubError> {
    let jobs = github.jobs_of_first_attempt(run)?;
    let gate_jobs: Vec<_> = jobs.iter().filter(|job| job.name == JOB).collect();
    let counted = if gate_jobs.is_empty() {
        jobs.iter().collect()
    } else {
        gate_jobs
    };
    let ends: Option<Vec<&String>> = counted.into_iter().map(end_of_result).collect();
    Ok(ends.and_then(|ends| ends.into_iter().max().cloned()))
}

/// When a job ended that showed a result.
fn end_of_result(job: &WorkflowJob) -> Option<&String> {
    let conclusion = job.conclusion.as_deref();
    if conclusion.is_some_and(|conclusion| WITHOUT_RESULT.contains(&conclusion)) {
        return None;
    }
    job.completed_at.as_ref()
}

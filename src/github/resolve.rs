//! What a job is about: the only place that knows events, checkouts and merges.
//!
//! | event | judged | compared with |
//! |---|---|---|
//! | `pull_request`, `pull_request_target` | GitHub's present merge of the head | its first parent |
//! | `merge_group` | the group's commit | the payload's `base_sha` |
//! | `push` to the default branch, or to one that requires checks | the pushed commit | the tip before |
//! | `push` to another branch | the pushed commit | the commit where it left the default branch |
//! | any other | the commit of the run | its first parent on the default branch, else the commit where it left it |
//!
//! A payload is as old as its event: a run that is started again has the base and the head of that time. So a pull request is always
//! asked for on GitHub, and the checkout counts only if it is the commit that is judged.

mod commits;
mod pull_request;

use std::path::Path;

use self::commits::{group, pushed, unattached};
pub use self::pull_request::{TestMerge, head_against, judged_merge};
use super::environment::event_of;
use super::inputs::{ActionInputs, inside};
use super::requests::no_verdict;
use crate::format::event::Event;
use crate::github::client::GitHub;
use crate::model::{PullRequest, PullRequestDetails, Tier};
use crate::render::CliError;
use crate::text::short_commit;
use crate::workspace::worktree::own_history;
use crate::world::{Disk, Env, World, head_commit};

/// What a job is about.
pub struct Context {
    /// The event with the commits that it is about now.
    pub event: Event,
    /// The pull request that the event is about, as GitHub has it now.
    pub pull: Option<PullRequestDetails>,
    /// Where the judged files are.
    pub source: Source,
    /// Why nothing is compared, if a reader has to know it.
    pub remark: Option<&'static str>,
}

/// Where the judged files are.
pub enum Source {
    /// In the checkout.
    Checkout,
    /// In a commit that is read as data: the checkout is another one, or is not to be trusted.
    Data(TestMerge),
}

/// What resolving needs.
struct Resolving<'a> {
    world: &'a World,
    inputs: &'a ActionInputs,
    github: &'a GitHub,
    event: Event,
    /// The commit that is checked out, if it is known.
    here: Option<String>,
}

/// Returns what the event of a job is about.
///
/// # Errors
/// No verdict is possible, or a request failed.
pub fn resolve(
    world: &World,
    inputs: &ActionInputs,
    github: Option<&GitHub>,
) -> Result<Context, CliError> {
    let event = event_of(&world.env)?;
    let Some(github) = github else {
        return without_token(inputs, event);
    };
    let workspace = world.env.get("GITHUB_WORKSPACE").unwrap_or(".");
    let here = if is_of_base_branch(&world.env) {
        None
    } else if inputs.has_patterns() {
        commit_of_folder(workspace)?
    } else {
        checked_out_commit(&inside(workspace, &inputs.config))?
    };
    let resolving = Resolving {
        world,
        inputs,
        github,
        event,
        here,
    };
    match &resolving.event {
        Event {
            pull_request: Some(_),
            ..
        } => resolving.pull_request(),
        Event { base: Some(_), .. } => {
            let event = group(&resolving.event, github)?;
            resolving.of_its_commit(event, None)
        }
        _ if !inputs.is_compared() => Ok(Context {
            event: resolving.event,
            pull: None,
            source: Source::Checkout,
            remark: None,
        }),
        Event {
            push: Some(push), ..
        } => {
            let (event, remark) = pushed(resolving.event.clone(), push, github)?;
            resolving.of_its_commit(event, remark)
        }
        _ => {
            let event = unattached(&world.env, resolving.event.clone(), github)?;
            resolving.of_its_commit(event, None)
        }
    }
}

/// The commit that is checked out; `None` without a checkout, or without its config.
fn checked_out_commit(config: &str) -> Result<Option<String>, CliError> {
    if !Path::new(config).exists() {
        return Ok(None);
    }
    let (disk, _) = Disk::of_config(config)?;
    own_history(&disk, config)?;
    Ok(head_commit(&disk))
}

/// The commit that is checked out in a folder, where patterns name the configs.
fn commit_of_folder(folder: &str) -> Result<Option<String>, CliError> {
    if !Path::new(folder).is_dir() {
        return Ok(None);
    }
    Ok(head_commit(&Disk::open(Path::new(folder))?))
}

/// Whether the workflow is one of the base branch: what its job checked out is not what is judged.
fn is_of_base_branch(env: &Env) -> bool {
    env.get("GITHUB_EVENT_NAME") == Some("pull_request_target")
}

/// Without a token the base commit of a pull request, a merge group or a push cannot be read.
fn without_token(inputs: &ActionInputs, event: Event) -> Result<Context, CliError> {
    let has_base = event.base.is_some() || event.push.is_some();
    if has_base && inputs.is_compared() {
        return Err(no_verdict(
            "the token is missing or empty, so the base commit, whose rules and baseline count, cannot be read; set the input token (a secret \
             is empty in the runs of forks and of Dependabot, github.token is not)",
        ));
    }
    Ok(Context {
        event,
        pull: None,
        source: Source::Checkout,
        remark: None,
    })
}

impl Resolving<'_> {
    fn pull_request(self) -> Result<Context, CliError> {
        let Some(pull_request) = self.event.pull_request.clone() else {
            return without_token(self.inputs, self.event);
        };
        let head = self
            .event
            .head
            .clone()
            .unwrap_or_else(|| pull_request.head.clone());
        if !self.can_read_data() {
            return self.checked_out(&pull_request, &head);
        }
        let number = pull_request.number;
        let (event, merge, pull) =
            pull_request::merge_only(self.github, number, &head, pull_request.origin)?;
        let source = if self.here.as_ref() == Some(&merge.merge) {
            Source::Checkout
        } else {
            Source::Data(merge)
        };
        Ok(Context {
            event,
            pull: Some(pull),
            source,
            remark: None,
        })
    }

    /// The checkout of a job in which a command has to run.
    fn checked_out(self, pull_request: &PullRequest, head: &str) -> Result<Context, CliError> {
        let here = self.here.clone().or_else(|| {
            let of_event = self.world.env.get("GITHUB_SHA");
            of_event.map(str::to_owned)
        });
        let Some(here) = here else {
            return Err(no_verdict(
                "the checkout has no .git folder, so it is not known which commit it is; install git before actions/checkout",
            ));
        };
        let (event, pull) = pull_request::checked_out(self.github, pull_request, head, &here)?;
        Ok(Context {
            event,
            pull: Some(pull),
            source: Source::Checkout,
            remark: None,
        })
    }

    /// A push, a merge group or a run without a pull request is about one commit, and its result counts for that commit.
    fn of_its_commit(
        self,
        event: Event,
        remark: Option<&'static str>,
    ) -> Result<Context, CliError> {
        let commit = commit_of(&event, &self.world.env);
        let Some(commit) = commit.filter(|commit| self.here.as_ref() != Some(commit)) else {
            return Ok(Context {
                event,
                pull: None,
                source: Source::Checkout,
                remark,
            });
        };
        // Of another event, GitHub names the default branch, and the workflow may mean what it checks out.
        let is_about_its_commit = self
            .world
            .env
            .get("GITHUB_EVENT_NAME")
            .is_none_or(|name| !OF_DEFAULT_BRANCH.contains(&name))
            || self.here.is_none();
        match event.base.clone() {
            Some(base) if self.can_read_data() && is_about_its_commit => Ok(Context {
                event,
                pull: None,
                source: Source::Data(TestMerge {
                    base,
                    merge: commit,
                }),
                remark,
            }),
            Some(_) | None => Err(no_verdict(&format!(
                "this run is about {}, but the checkout is {}: leave out `ref` in actions/checkout",
                short_commit(&commit),
                self.here.as_deref().map_or("no commit", short_commit)
            ))),
        }
    }

    /// Whether this job can read a commit as data: only recordings of the deterministic tier can be, and shards are made of checkouts.
    fn can_read_data(&self) -> bool {
        let is_whole = self.inputs.shard.is_none() && self.inputs.parts.is_none();
        self.inputs.tiers == [Tier::Deterministic] && is_whole
    }
}

/// The commit that a result is about, if the event or the runner names it.
pub fn commit_of(event: &Event, env: &Env) -> Option<String> {
    event
        .head
        .clone()
        .or_else(|| env.get("GITHUB_SHA").map(str::to_owned))
}

/// The events whose commit is not what happened: the head of the default branch, or of the branch that somebody chose (docs, "Events that
/// trigger workflows").
const OF_DEFAULT_BRANCH: [&str; 5] = [
    "issue_comment",
    "repository_dispatch",
    "schedule",
    "workflow_dispatch",
    "workflow_run",
];

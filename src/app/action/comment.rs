//! Writes the comment: read, plan, act, read back.

use std::time::Duration;

use super::inputs::ActionInputs;
use crate::model::{BranchOrigin, PullRequest, Report, RunNumber};
use crate::publish;
use crate::publish::{CommentPlan, CommentRequest, ReportOrigin, StaleComment};
use crate::render::markdown::Links;
use crate::world::{GitHub, GitHubError, World};

/// What is written, and where it comes from.
pub struct CommentInput<'a> {
    /// The report.
    pub report: &'a Report,
    /// Where the rest can be read.
    pub links: &'a Links,
    /// The run that measured it.
    pub run: RunNumber,
    /// Whose run that is.
    pub witness: ReportOrigin,
}

/// What became of the comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommentOutcome {
    /// It stands at this address.
    Written(String),
    /// A newer one stands there.
    Left,
    /// It could not be written, and a warning says why.
    Failed,
}

impl CommentOutcome {
    /// The address, where it was written.
    pub fn url(&self) -> Option<&str> {
        match self {
            Self::Written(url) => Some(url),
            Self::Left | Self::Failed => None,
        }
    }
}

/// The run that this job is.
pub fn this_run(world: &World) -> RunNumber {
    let number = |name| world.env.get(name).and_then(|text| text.parse().ok()).unwrap_or_default();
    RunNumber { run: number("GITHUB_RUN_ID"), attempt: number("GITHUB_RUN_ATTEMPT") }
}

/// Writes the comment. A failure is one warning, and never changes the verdict.
pub fn comment(
    world: &World,
    inputs: &ActionInputs,
    pull_request: &PullRequest,
    github: Option<&GitHub>,
    said: &CommentInput<'_>,
) -> CommentOutcome {
    let warn = |text: &str| {
        world.say(&format!("::warning title=goldgate::{text}\n"));
        CommentOutcome::Failed
    };
    let Some(github) = github else { return warn("no token is given, so there is no comment: set the input token") };
    match upsert(world, inputs, pull_request, github, said) {
        Ok(outcome) => outcome,
        Err(GitHubError::Forbidden | GitHubError::Missing) => match (pull_request.origin, said.witness) {
            (BranchOrigin::Fork, ReportOrigin::Own) => warn(
                "the comment could not be written: a pull request from a fork has a read-only token; the verdict stands, and the summary has everything",
            ),
            (BranchOrigin::Same, _) | (BranchOrigin::Fork, ReportOrigin::Stranger) => warn(
                "the comment could not be written: the job needs the permission `pull-requests: write`; the verdict stands",
            ),
        },
        Err(GitHubError::Failed(error)) => {
            let text = format!("the comment could not be written: {error:#}; the verdict stands");
            warn(&text.replace(['\r', '\n'], " "))
        }
    }
}

/// Rounds of read, plan, act, read back.
const ROUNDS: u32 = 8;
/// How long a writer waits before it looks again: longer than another one takes from reading to writing. GitHub has no
/// conditional write, so whoever wrote over a section cannot know it; whoever was written over can, by looking again.
const SETTLE: Duration = Duration::from_millis(400);

fn upsert(
    world: &World,
    inputs: &ActionInputs,
    pull_request: &PullRequest,
    github: &GitHub,
    said: &CommentInput<'_>,
) -> Result<CommentOutcome, GitHubError> {
    let author = github.author()?;
    let key = inputs.key(said.report);
    let mut last = None;
    for round in 0..ROUNDS {
        let current_head = github.head_of(pull_request.number)?;
        let request = CommentRequest {
            report: said.report,
            links: said.links,
            key: key.as_str(),
            head: &pull_request.head,
            current_head: &current_head,
            run: said.run,
            witness: said.witness,
            author: &author,
        };
        let plan = publish::plan(&request, &github.comments(pull_request.number)?);
        if let CommentPlan::Nothing(why) = plan {
            let why = match why {
                StaleComment::NewerHead => "a run on a newer commit has written the comment already",
                StaleComment::LaterRun => "a later run has written the comment already",
                StaleComment::Trusted => "the comment has the verdict of a job that the pull request does not control",
            };
            world.say(&format!("::notice title=goldgate::{why}; it is left as it is\n"));
            return Ok(CommentOutcome::Left);
        }
        match acted(github, pull_request.number, plan) {
            // Another writer may have come between reading and writing: what stands there now decides.
            Ok(url) => {
                std::thread::sleep(pause(said.run, round));
                if publish::is_settled(&request, &github.comments(pull_request.number)?) {
                    return Ok(CommentOutcome::Written(url));
                }
            }
            Err(GitHubError::Failed(error)) => last = Some(error),
            // Whoever merged two comments has removed the one that was written to.
            Err(GitHubError::Missing) if round + 1 < ROUNDS => {}
            Err(refused) => return Err(refused),
        }
    }
    Err(GitHubError::Failed(last.unwrap_or_else(|| anyhow::anyhow!("other writers came between {ROUNDS} times"))))
}

/// Two that met once must not meet in every round.
fn pause(run: RunNumber, round: u32) -> Duration {
    let own = u64::from(std::process::id()) ^ run.run ^ run.attempt;
    match round {
        0 => SETTLE,
        _ => SETTLE + Duration::from_millis(own.wrapping_mul(2_654_435_761) % (200 * u64::from(round))),
    }
}

/// Does what is planned and gives the comment's address.
fn acted(github: &GitHub, pull_request: u64, plan: CommentPlan) -> Result<String, GitHubError> {
    match plan {
        CommentPlan::Nothing(_) => Ok(String::new()),
        CommentPlan::Create(body) => Ok(github.create_comment(pull_request, &body)?.url),
        CommentPlan::Update { id, body, remove } => {
            let updated = github.update_comment(id, &body)?;
            for other in remove {
                match github.remove_comment(other) {
                    // The other writer was faster.
                    Ok(()) | Err(GitHubError::Missing) => {}
                    Err(refused) => return Err(refused),
                }
            }
            Ok(updated.url)
        }
    }
}

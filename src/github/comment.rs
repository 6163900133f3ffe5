//! Writes the comment: read, plan, write, read back.

use std::time::Duration;

use super::inputs::ActionInputs;
use super::job_output::warn;
use super::requests::needs;
use crate::github::client::{GitHub, GitHubError};
use crate::model::{Comment, PullRequest, Report, RunNumber};
use crate::publish;
use crate::publish::{
    CommentPlan, CommentRequest, ConfigKey, ConfigResult, Note, NoteSubject, StaleComment,
};
use crate::world::World;

/// The content of a comment and the run it comes from.
pub struct CommentInput<'a> {
    /// The results of the step's configs.
    pub results: &'a [ConfigResult<'a>],
    /// The run that measured it.
    pub run: RunNumber,
}

/// Returns the run and attempt of this job, 0 where unknown.
pub fn this_run(world: &World) -> RunNumber {
    RunNumber {
        run: number_in(world, "GITHUB_RUN_ID"),
        attempt: number_in(world, "GITHUB_RUN_ATTEMPT"),
    }
}

/// The number in an environment variable; zero if it has none.
fn number_in(world: &World, variable: &str) -> u64 {
    let text = world.env.get(variable).unwrap_or_default();
    text.parse().unwrap_or_default()
}

/// Writes the comment. A failure is reported as a warning and never changes the verdict.
pub fn comment(
    world: &World,
    inputs: &ActionInputs,
    pull_request: &PullRequest,
    github: Option<&GitHub>,
    input: &CommentInput<'_>,
) {
    let Some(github) = github else {
        return add_warning(
            world,
            "no comment was written, because the token is missing: set the input token",
        );
    };
    if let Err(error) = upsert(world, inputs, pull_request, github, input) {
        let error = error.explained("the comment could not be written", "pull-requests: write");
        let text =
            format!("{error:#}; the verdict does not change, and the summary has the full result");
        add_warning(world, &text.replace(['\r', '\n'], " "));
    }
}

fn add_warning(world: &World, text: &str) {
    world.command(&format!("::warning title=goldgate::{text}\n"));
}

/// Maximum rounds of read, plan, write, read back.
const ROUNDS: u32 = 8;
/// The wait before the read-back: longer than another writer takes from reading to writing. GitHub has no conditional
/// write, so the writer whose section was overwritten has to detect it by reading again.
const SETTLE: Duration = Duration::from_millis(400);

fn upsert(
    world: &World,
    inputs: &ActionInputs,
    pull_request: &PullRequest,
    github: &GitHub,
    input: &CommentInput<'_>,
) -> Result<(), GitHubError> {
    let reports: Vec<&Report> = input.results.iter().map(|result| result.report).collect();
    let key = inputs.key_of_results(&reports);
    let (mut last, mut created) = (None, None);
    for round in 0..ROUNDS {
        let current_head = github.head_of(pull_request.number)?;
        let comments = present_comments(github, pull_request.number, created)?;
        let request = CommentRequest {
            results: input.results,
            key: key.as_str(),
            head: &pull_request.head,
            current_head: &current_head,
            run: input.run,
            // Without a comment of this key, none is of this account.
            author: publish::may_exist(key.as_str(), &comments)
                .then(|| github.identity())
                .flatten(),
        };
        let plan = publish::plan(&request, &comments);
        if let CommentPlan::Nothing(why) = plan {
            let why = match why {
                StaleComment::NewerHead => {
                    "a run on a newer commit has already written the comment"
                }
                StaleComment::LaterRun => "a later run has already written the comment",
            };
            world.command(&format!(
                "::notice title=goldgate::{why}; it is left unchanged\n"
            ));
            return Ok(());
        }
        match acted(github, pull_request.number, plan) {
            // Another writer may have written between the read and the write: the current text decides.
            Ok(written) => {
                if let ActedComment::Created(id) = written {
                    created = Some(id);
                }
                std::thread::sleep(pause(input.run, round));
                // A created comment tells the account.
                let request = CommentRequest {
                    author: github.identity(),
                    ..request
                };
                if publish::is_settled(
                    &request,
                    &present_comments(github, pull_request.number, created)?,
                ) {
                    return Ok(());
                }
            }
            Err(GitHubError::Failed(error)) => last = Some(error),
            // Another writer merged two comments and removed the one that this round wrote to.
            Err(GitHubError::Missing) if round + 1 < ROUNDS => {}
            Err(refused) => return Err(refused),
        }
    }
    Err(GitHubError::Failed(last.unwrap_or_else(|| {
        anyhow::anyhow!("other writers changed the comment in all {ROUNDS} rounds")
    })))
}

/// Returns the wait before the read-back, different for each process so that two writers do not collide in every round.
fn pause(run: RunNumber, round: u32) -> Duration {
    let seed = u64::from(std::process::id()) ^ run.run ^ run.attempt;
    match round {
        0 => SETTLE,
        _ => {
            SETTLE
                + Duration::from_millis(seed.wrapping_mul(2_654_435_761) % (200 * u64::from(round)))
        }
    }
}

/// The comments of a pull request. GitHub may list a comment a moment after it was created, so that one is read by its id.
fn present_comments(
    github: &GitHub,
    number: u64,
    created: Option<u64>,
) -> Result<Vec<Comment>, GitHubError> {
    let mut comments = github.comments(number)?;
    if let Some(id) = created.filter(|id| comments.iter().all(|comment| comment.id != *id)) {
        match github.comment(id) {
            Ok(comment) => comments.push(comment),
            // Another writer merged it into another comment.
            Err(GitHubError::Missing) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(comments)
}

/// What became of the comment.
enum ActedComment {
    /// It was created with this id.
    Created(u64),
    /// The one with this id was updated.
    Updated(u64),
    Kept,
}

/// Executes the plan.
fn acted(
    github: &GitHub,
    pull_request: u64,
    plan: CommentPlan,
) -> Result<ActedComment, GitHubError> {
    match plan {
        CommentPlan::Nothing(_) => Ok(ActedComment::Kept),
        CommentPlan::Create(body) => {
            let comment = github.create_comment(pull_request, &body)?;
            Ok(ActedComment::Created(comment.id))
        }
        CommentPlan::Update { id, body, remove } => {
            github.update_comment(id, &body)?;
            for duplicate in remove {
                match github.remove_comment(duplicate) {
                    // Another writer removed it first.
                    Ok(()) | Err(GitHubError::Missing) => {}
                    Err(refused) => return Err(refused),
                }
            }
            Ok(ActedComment::Updated(id))
        }
    }
}

/// A note in the comment, below the tiers or in the place of one.
pub struct CommentNote<'a> {
    /// Its section.
    pub about: NoteSubject,
    /// The kind of its alert, such as `NOTE`.
    pub alert: &'static str,
    /// Its headline.
    pub headline: &'a str,
    /// Its text, as Markdown with all untrusted text escaped.
    pub text: &'a str,
}

/// Writes a note about a head commit into the comment of a pull request, and reads it back. A failure is only reported as a warning.
pub fn write_note(
    world: &World,
    github: &GitHub,
    place: (u64, &str, &ConfigKey),
    note: &CommentNote<'_>,
) {
    if let Err(why) = upsert_note(world, github, place, note) {
        let error = needs("the comment could not be written", "pull-requests: write")(why);
        warn(world, &error);
    }
}

fn upsert_note(
    world: &World,
    github: &GitHub,
    (number, head, key): (u64, &str, &ConfigKey),
    note: &CommentNote<'_>,
) -> Result<(), GitHubError> {
    let CommentNote {
        about,
        alert,
        headline,
        text,
    } = *note;
    let mut last = None;
    for _ in 0..ROUNDS {
        let current_head = github.head_of(number)?;
        let note = Note {
            about,
            alert,
            headline,
            text,
            key: key.as_str(),
            head,
            current_head: &current_head,
            run: this_run(world),
            author: github.identity(),
        };
        let plan = publish::plan_note(&note, &github.comments(number)?);
        match acted(github, number, plan) {
            Ok(ActedComment::Kept) => return Ok(()),
            Ok(ActedComment::Created(id) | ActedComment::Updated(id))
                if publish::is_note_written(&note, &github.comment(id)?.body) =>
            {
                return Ok(());
            }
            Ok(_) => {}
            Err(GitHubError::Failed(error)) => last = Some(error),
            Err(refused) => return Err(refused),
        }
    }
    Err(GitHubError::Failed(last.unwrap_or_else(|| {
        anyhow::anyhow!("other writers changed the comment in all {ROUNDS} rounds")
    })))
}

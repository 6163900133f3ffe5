//! Writes the comment: read, plan, act, read back.

use super::inputs::Inputs;
use crate::model::Origin;
use crate::model::PullRequest;
use crate::model::Report;
use crate::model::RunNumber;
use crate::publish;
use crate::publish::Plan;
use crate::publish::Request;
use crate::publish::Stale;
use crate::render::markdown::Links;
use crate::world::GitHub;
use crate::world::Refusal;
use crate::world::World;

/// Writes the comment and gives its address. A failure is one warning, and never changes the verdict.
pub fn comment(
    world: &World,
    inputs: &Inputs,
    pull_request: &PullRequest,
    github: Option<&GitHub>,
    report: &Report,
    links: &Links,
) -> Option<String> {
    let warn = |text: &str| {
        world.say(&format!("::warning title=goldgate::{text}\n"));
        None
    };
    let Some(github) = github else { return warn("no token is given, so there is no comment: set the input token") };
    match upsert(world, inputs, pull_request, github, report, links) {
        Ok(url) => url,
        Err(Refusal::Forbidden | Refusal::Missing) => match pull_request.origin {
            Origin::Fork => warn(
                "the comment could not be written: a pull request from a fork has a read-only token; the verdict stands, and the summary has everything",
            ),
            Origin::Same => warn(
                "the comment could not be written: the job needs the permission `pull-requests: write`; the verdict stands",
            ),
        },
        Err(Refusal::Failed(error)) => {
            let text = format!("the comment could not be written: {error:#}; the verdict stands");
            warn(&text.replace(['\r', '\n'], " "))
        }
    }
}

/// Rounds of read, plan, act, read back.
const ROUNDS: usize = 5;

fn upsert(
    world: &World,
    inputs: &Inputs,
    pull_request: &PullRequest,
    github: &GitHub,
    report: &Report,
    links: &Links,
) -> Result<Option<String>, Refusal> {
    let number = |name| world.env.get(name).and_then(|text| text.parse().ok()).unwrap_or_default();
    let author = github.author()?;
    let mut last = None;
    for _ in 0..ROUNDS {
        let current_head = github.head_of(pull_request.number)?;
        let request = Request {
            report,
            links,
            key: &inputs.comment_key,
            head: &pull_request.head,
            current_head: &current_head,
            run: RunNumber { run: number("GITHUB_RUN_ID"), attempt: number("GITHUB_RUN_ATTEMPT") },
            author: &author,
        };
        let written = match publish::plan(&request, &github.comments(pull_request.number)?) {
            Plan::Nothing(why) => {
                let why = match why {
                    Stale::NewerHead => "a run on a newer commit has written the comment already",
                    Stale::LaterRun => "a later run has written the comment already",
                };
                world.say(&format!("::notice title=goldgate::{why}; it is left as it is\n"));
                return Ok(None);
            }
            Plan::Create(body) => github.create_comment(pull_request.number, &body),
            Plan::Update { id, body, remove } => {
                let updated = github.update_comment(id, &body);
                if updated.is_ok() {
                    remove.into_iter().try_for_each(|other| github.remove_comment(other))?;
                }
                updated
            }
        };
        match written {
            // Another writer may have come between reading and writing: what stands there now decides.
            Ok(comment) if publish::is_written(&request, &github.comment(comment.id)?.body) => {
                return Ok(Some(comment.url));
            }
            Ok(_) => {}
            Err(Refusal::Failed(error)) => last = Some(error),
            Err(refused) => return Err(refused),
        }
    }
    Err(Refusal::Failed(last.unwrap_or_else(|| anyhow::anyhow!("other writers came between {ROUNDS} times"))))
}

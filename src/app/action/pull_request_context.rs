//! What the modes that govern a pull request have before them, and how they say what they did.

use std::path::Path;

use super::inputs::ActionInputs;
use super::measured_run::RunQuery;
use super::{event_of, github, payload};
use crate::app::cli_error::CliError;
use crate::diag::Diagnostic;
use crate::format::event_action::EventAction;
use crate::format::{SourceText, baseline_v1, config, event_action};
use crate::model::{Approval, Baseline, PullRequest, PullRequestDetails, RepoPath, RunNumber, StatusState};
use crate::publish;
use crate::publish::{CommentPlan, ConfigKey, Note, NoteSubject, approval};
use crate::render::line;
use crate::world::{Env, GitHub, GitHubError, World, append};

/// What is known before anything is decided.
pub struct PullRequestContext<'a> {
    /// The outside.
    pub world: &'a World,
    /// The inputs.
    pub inputs: &'a ActionInputs,
    /// The repository.
    pub github: GitHub,
    /// What happened, and who did it.
    pub act: EventAction,
    /// The pull request as the event has it.
    pub seen: PullRequest,
    /// The pull request now.
    pub pull: PullRequestDetails,
    /// The name under which this token writes.
    pub identity: String,
    /// The tip of the branch that it is for.
    pub base: String,
    /// The config that is approved.
    pub config: RepoPath,
    /// Its key.
    pub key: ConfigKey,
}

/// Rounds of writing the note and reading it back.
const ROUNDS: usize = 5;

impl<'a> PullRequestContext<'a> {
    /// Reads what is needed; `None` where the event is about no pull request, which is said.
    ///
    /// # Errors
    /// What could not be read.
    pub fn open(world: &'a World, inputs: &'a ActionInputs) -> Result<Option<Self>, CliError> {
        let event = event_of(&world.env)?;
        let Some(seen) = event.pull_request else {
            world.say("::notice title=goldgate::this event has no pull request, so there is nothing to do\n");
            return Ok(None);
        };
        let act = match payload(&world.env)? {
            Some(source) => event_action::read_event_action(&source)?,
            None => EventAction::default(),
        };
        let github = open(&world.env)?;
        let pull =
            github.pull(seen.number).map_err(needs("the pull request cannot be read", "pull-requests: write"))?;
        let identity = github.author().map_err(needs("the token's own name cannot be read", "pull-requests: write"))?;
        let tip = github.branch(&pull.into).map_err(needs("the base branch cannot be read", "contents: read"))?;
        let base = tip.unwrap_or_else(|| pull.base.clone());
        let config = inputs.config_file()?;
        let key = inputs.key_of(&config);
        Ok(Some(Self { world, inputs, github, act, seen, pull, identity, base, config, key }))
    }

    /// The approval that stands on a commit.
    ///
    /// # Errors
    /// Why it could not be read.
    pub fn standing(&self, commit: &str) -> Result<Option<Approval>, CliError> {
        let statuses = self.github.statuses(commit);
        let statuses = statuses.map_err(needs("the commit's statuses cannot be read", "statuses: write"))?;
        Ok(approval::standing(&statuses, &self.key, &self.identity, commit))
    }

    /// Keeps an approval, or that it was withdrawn, and reads it back.
    ///
    /// # Errors
    /// Why it is not kept.
    pub fn keep(&self, commit: &str, state: StatusState, description: &str) -> Result<(), CliError> {
        let set = self.github.set_status(
            commit,
            &self.key.status(),
            state,
            description,
            run_address(&self.world.env).as_deref(),
        );
        set.map_err(needs("the approval cannot be kept", "statuses: write"))?;
        let stands = self.standing(commit)?.is_some();
        match stands == (state == StatusState::Success) {
            true => Ok(()),
            false => {
                Err(anyhow::anyhow!("the status {} was written and does not stand there", self.key.status()).into())
            }
        }
    }

    /// What this config's run left behind on a commit.
    pub fn query<'q>(&'q self, commit: &'q str) -> RunQuery<'q> {
        RunQuery { commit, config: &self.config, key: &self.key, before: None }
    }

    /// The baseline's file, as the config of the base commit names it.
    ///
    /// # Errors
    /// What in the config cannot be, or that it names none.
    pub fn baseline_file(&self) -> Result<RepoPath, CliError> {
        baseline_file(self.inputs, |file| self.file(file, &self.base))
    }

    /// A file at a commit.
    ///
    /// # Errors
    /// Why it could not be read.
    pub fn file(&self, file: &RepoPath, commit: &str) -> Result<Option<Vec<u8>>, CliError> {
        self.github.file(file, commit).map_err(needs(&format!("{file} cannot be read"), "contents: read"))
    }

    /// Writes a note into the comment, and reads it back. A failure is one warning, and changes nothing else.
    pub fn note(&self, about: NoteSubject, alert: &'static str, says: &str, text: &str) {
        self.note_on(&self.pull.head, about, alert, says, text);
    }

    /// The same about a commit that became the head meanwhile.
    pub fn note_on(&self, head: &str, about: NoteSubject, alert: &'static str, says: &str, text: &str) {
        let Err(why) = self.noted(head, about, alert, says, text) else { return };
        let said = needs("the comment could not be written", "pull-requests: write")(why);
        warn(self.world, &said);
    }

    fn noted(
        &self,
        head: &str,
        about: NoteSubject,
        alert: &'static str,
        says: &str,
        text: &str,
    ) -> Result<(), GitHubError> {
        let number = |name| self.world.env.get(name).and_then(|text| text.parse().ok()).unwrap_or_default();
        let mut last = None;
        for _ in 0..ROUNDS {
            let current_head = self.github.head_of(self.pull.number)?;
            let note = Note {
                about,
                alert,
                says,
                text,
                key: self.key.as_str(),
                head,
                current_head: &current_head,
                run: RunNumber { run: number("GITHUB_RUN_ID"), attempt: number("GITHUB_RUN_ATTEMPT") },
                author: &self.identity,
            };
            let written = match publish::plan_note(&note, &self.github.comments(self.pull.number)?) {
                CommentPlan::Nothing(_) => return Ok(()),
                CommentPlan::Create(body) => self.github.create_comment(self.pull.number, &body),
                CommentPlan::Update { id, body, remove } => {
                    let updated = self.github.update_comment(id, &body);
                    if updated.is_ok() {
                        remove.into_iter().try_for_each(|other| self.github.remove_comment(other))?;
                    }
                    updated
                }
            };
            match written {
                Ok(comment) if publish::is_note_written(&note, &self.github.comment(comment.id)?.body) => return Ok(()),
                Ok(_) => {}
                Err(GitHubError::Failed(error)) => last = Some(error),
                Err(refused) => return Err(refused),
            }
        }
        Err(GitHubError::Failed(last.unwrap_or_else(|| anyhow::anyhow!("other writers came between {ROUNDS} times"))))
    }
}

/// The repository, which these modes cannot do without.
///
/// # Errors
/// That no token is given.
pub fn open(env: &Env) -> Result<GitHub, CliError> {
    github(env)?.ok_or_else(|| anyhow::anyhow!("no token is given: set the input token").into())
}

/// The baseline's file, as a config names it.
///
/// # Errors
/// What in the config cannot be, or that it names none.
pub fn baseline_file(
    inputs: &ActionInputs,
    read: impl FnOnce(&RepoPath) -> Result<Option<Vec<u8>>, CliError>,
) -> Result<RepoPath, CliError> {
    let inside = |path: &str| {
        RepoPath::root().join(path).map_err(|bad| {
            let what = format!("baseline is {path:?}, which {bad}");
            Diagnostic::of_file("action input", "path-outside", what, "write a path inside the repository")
        })
    };
    if let Some(path) = &inputs.baseline {
        return Ok(inside(path)?);
    }
    let file = inputs.config_file()?;
    let missing = |what: &str, help: &str| CliError::from(Diagnostic::of_file(&file, "no-baseline", what, help));
    let Some(bytes) = read(&file)? else {
        return Err(missing("there is no such file on the base commit", "correct the input config"));
    };
    let config = config::read_config(&SourceText::new(file.clone(), bytes)?)?;
    config.baseline.ok_or_else(|| missing("the config names no baseline", "add baseline: baselines/latest.json"))
}

/// A baseline out of a file's bytes.
///
/// # Errors
/// What in it cannot be.
pub fn baseline_of(file: &RepoPath, bytes: Option<&Vec<u8>>) -> Result<Option<Baseline>, CliError> {
    let Some(bytes) = bytes else { return Ok(None) };
    Ok(Some(baseline_v1::read_baseline(&SourceText::new(file.clone(), bytes.clone())?)?))
}

/// A refusal of GitHub's, with the permission that the job lacks.
pub fn needs(what: &str, permission: &str) -> impl Fn(GitHubError) -> CliError {
    move |refusal| match refusal {
        GitHubError::Forbidden | GitHubError::Missing => {
            anyhow::anyhow!("{what}: the job needs the permission `{permission}`").into()
        }
        GitHubError::Failed(error) => error.context(what.to_owned()).into(),
    }
}

/// What the outside refused becomes one warning, and the exit code that says that the work was not done.
///
/// # Errors
/// Bad input.
pub fn warned(world: &World, outcome: Result<u8, CliError>) -> Result<u8, CliError> {
    match outcome {
        Err(CliError::Work(error)) => {
            let trouble = CliError::Work(error);
            warn(world, &trouble);
            Ok(trouble.exit_code())
        }
        other => other,
    }
}

/// One warning.
pub fn warn(world: &World, trouble: &CliError) {
    let text = trouble.messages().join("\n");
    world.say(&format!("::warning title=goldgate::{}\n", line(&text, 500)));
}

/// One line of the log.
pub fn log(world: &World, text: &str) {
    world.say(&format!("goldgate: {}\n", line(text, 500)));
}

/// Writes the step's outputs.
///
/// # Errors
/// Why the runner's file could not be written.
pub fn outputs(world: &World, values: &[(&str, &str)]) -> Result<(), CliError> {
    let Some(file) = world.env.get("GITHUB_OUTPUT") else { return Ok(()) };
    let text: String = values.iter().map(|(name, value)| format!("{name}={}\n", line(value, 500))).collect();
    append(Path::new(file), &text)?;
    Ok(())
}

/// The address of this run.
pub fn run_address(env: &Env) -> Option<String> {
    let (server, repository) = (env.get("GITHUB_SERVER_URL")?, env.get("GITHUB_REPOSITORY")?);
    env.get("GITHUB_RUN_ID").map(|run| format!("{server}/{repository}/actions/runs/{run}"))
}

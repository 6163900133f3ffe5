//! The context of the modes that approve and commit a baseline, and how they report what they did.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;
use std::{fmt, thread};

use super::environment::{action_of, event_of, github};
use super::inputs::{ActionInputs, path_of_input};
use super::job_output;
use super::job_output::add_to_summary;
use super::measured_run::RunQuery;
use crate::app::cli_error::CliError;
use crate::diag::one_line;
use crate::files::SourceText;
use crate::format::baseline_v1;
use crate::format::event_action::EventAction;
use crate::model::{
    Approval, Baseline, CommitStatus, LabelChange, LabelEvent, Permission, PullRequest,
    PullRequestDetails, RepoPath, RunNumber, StatusState,
};
use crate::publish;
use crate::publish::approval::{ApprovalScope, PullRequestEvent};
use crate::publish::{CommentPlan, ConfigKey, Note, NoteSubject, approval};
use crate::render::{inline, line};
use crate::suites::read_config;
use crate::world::{Env, GitHub, GitHubError, World, append};

/// The pull request, event and config that a mode works on.
pub struct PullRequestContext<'a> {
    /// Environment, log and clock.
    pub world: &'a World,
    /// The inputs.
    pub inputs: &'a ActionInputs,
    /// The repository.
    pub github: GitHub,
    /// The action of the event and its actor.
    pub act: EventAction,
    /// The pull request in the event's payload.
    pub seen: PullRequest,
    /// The current pull request.
    pub pull: PullRequestDetails,
    /// The tip of the base branch.
    pub base: String,
    /// The config whose result is approved.
    pub config: RepoPath,
    /// The config's key.
    pub key: ConfigKey,
}

/// How often is read what GitHub may show a moment after it was written, and the pause before reading it again.
pub const LOOKS: usize = 3;
pub const PAUSE: Duration = Duration::from_secs(2);

/// Maximum rounds of writing the note and reading it back.
const ROUNDS: usize = 5;

impl<'a> PullRequestContext<'a> {
    /// Reads the event, the pull request and the base branch. Returns `None`, with a notice, if the event has no pull request.
    ///
    /// # Errors
    /// Bad input, or a failed request.
    pub fn open(world: &'a World, inputs: &'a ActionInputs) -> Result<Option<Self>, CliError> {
        let event = event_of(&world.env)?;
        let Some(seen) = event.pull_request else {
            log(world, "this event has no pull request, so nothing is done");
            return Ok(None);
        };
        let act = action_of(&world.env)?.unwrap_or_default();
        let github = open(&world.env)?;
        let pull = github.pull(seen.number).map_err(needs(
            "the pull request cannot be read",
            "pull-requests: write",
        ))?;
        let tip = github
            .branch(&pull.into)
            .map_err(needs("the base branch cannot be read", "contents: read"))?;
        let base = tip.unwrap_or_else(|| pull.base.clone());
        let config = inputs.config_file()?;
        let key = inputs.key_of(&config);
        let mut context = Self {
            world,
            inputs,
            github,
            act,
            seen,
            pull,
            base,
            config,
            key,
        };
        context.await_label()?;
        Ok(Some(context))
    }

    /// Reads the pull request again while it does not show the change of a label that started this run: GitHub may show it later.
    fn await_label(&mut self) -> Result<(), CliError> {
        for _ in 1..LOOKS {
            let is_shown = match self.event() {
                PullRequestEvent::Labeled(label) => self.set_label(label).is_some(),
                PullRequestEvent::Unlabeled(label) => self.set_label(label).is_none(),
                PullRequestEvent::Pushed | PullRequestEvent::Opened | PullRequestEvent::Other => {
                    true
                }
            };
            if is_shown {
                break;
            }
            thread::sleep(PAUSE);
            let now = self.github.pull(self.seen.number);
            self.pull = now.map_err(needs(
                "the pull request cannot be read",
                "pull-requests: write",
            ))?;
        }
        Ok(())
    }

    /// Returns the name of a label as the pull request has it; `None` if it does not have it.
    pub fn set_label(&self, wanted: &str) -> Option<&str> {
        self.pull
            .labels
            .iter()
            .find(|label| approval::is_label(label, wanted))
            .map(String::as_str)
    }

    /// Returns what happened to the pull request.
    pub fn event(&self) -> PullRequestEvent<'_> {
        match (self.act.action.as_deref(), self.act.label.as_deref()) {
            (Some("labeled"), Some(label)) => PullRequestEvent::Labeled(label),
            (Some("unlabeled"), Some(label)) => PullRequestEvent::Unlabeled(label),
            (Some("synchronize"), _) => PullRequestEvent::Pushed,
            (Some("opened" | "reopened"), _) => PullRequestEvent::Opened,
            _ => PullRequestEvent::Other,
        }
    }

    /// Returns the label changes from the timeline, with the removals of this label that goldgate made itself.
    ///
    /// # Errors
    /// A failed request.
    pub fn label_events(&self, label: &str) -> Result<Vec<LabelEvent>, CliError> {
        let (number, identity) = (self.pull.number, self.github.identity());
        let events = self.github.label_events(number);
        let mut events =
            events.map_err(needs("the timeline cannot be read", "pull-requests: write"))?;
        let is_removed = |event: &LabelEvent| {
            event.change == LabelChange::Removed && Some(event.by.as_str()) == identity
        };
        let mut statuses = Vec::new();
        if events.iter().any(is_removed) {
            // An earlier step of the job may have committed, or somebody pushed: the mark is on the head before.
            let before = self.act.before.as_deref();
            let heads = [
                Some(self.pull.head.as_str()),
                Some(self.seen.head.as_str()),
                before,
            ];
            for head in heads.into_iter().flatten().collect::<BTreeSet<_>>() {
                statuses.extend(self.statuses(head)?);
            }
        }
        approval::mark_own_removals(
            &mut events,
            (number, label),
            (identity, self.run()),
            &statuses,
        );
        Ok(events)
    }

    /// The permission of whoever set a label; none where nobody did or GitHub names nobody.
    ///
    /// # Errors
    /// A failed request.
    pub fn permission_of(&self, given: Option<&LabelEvent>) -> Result<Permission, CliError> {
        match given
            .map(|given| given.by.as_str())
            .filter(|giver| !giver.is_empty())
        {
            // A workflow's token may set labels, and GitHub's answer for an app is not documented.
            Some(giver) if giver.ends_with("[bot]") => Ok(Permission::None),
            Some(giver) => {
                let permission = self.github.permission_of(giver);
                permission.map_err(needs(
                    "the permission of whoever set the label cannot be read",
                    "contents: read",
                ))
            }
            None => Ok(Permission::None),
        }
    }

    /// The id of this run.
    fn run(&self) -> &str {
        self.world.env.get("GITHUB_RUN_ID").unwrap_or_default()
    }

    /// Removes a label. A status says before that goldgate removes it. Without that status, the removal counts as one of a person or of
    /// another workflow, which can only make a gate fail.
    ///
    /// # Errors
    /// A failed request.
    pub fn remove_label(&self, label: &str) -> Result<(), CliError> {
        let number = self.pull.number;
        let mark = approval::removal_mark(number, label, self.run());
        // After a push that is taken back, the head before it is the head again.
        let before = self
            .act
            .before
            .as_deref()
            .filter(|_| matches!(self.event(), PullRequestEvent::Pushed));
        for commit in [Some(self.pull.head.as_str()), before]
            .into_iter()
            .flatten()
        {
            let set = self.github.set_status(
                commit,
                approval::REMOVAL,
                StatusState::Success,
                &mark,
                None,
            );
            if let Err(error) = set {
                warn(
                    self.world,
                    &needs(
                        "the removal of the label cannot be recorded",
                        "statuses: write",
                    )(error),
                );
            }
        }
        let removed = self
            .github
            .remove_label(number, self.set_label(label).unwrap_or(label));
        removed.map_err(needs("the label cannot be removed", "pull-requests: write"))
    }

    /// Returns the current approval of a commit.
    ///
    /// # Errors
    /// A failed request.
    pub fn current_approval(&self, commit: &str) -> Result<Option<Approval>, CliError> {
        let statuses = self.statuses(commit)?;
        if approval::is_claimed(&statuses, &self.key) {
            self.learn_identity();
        }
        let Some(identity) = self.github.identity() else {
            return Ok(None);
        };
        let scope = ApprovalScope {
            key: &self.key,
            identity,
            pull: Some(self.pull.number),
        };
        Ok(approval::standing(&statuses, scope, commit))
    }

    /// Returns the statuses of a commit, newest first.
    ///
    /// # Errors
    /// A failed request.
    pub fn statuses(&self, commit: &str) -> Result<Vec<CommitStatus>, CliError> {
        let statuses = self.github.statuses(commit);
        statuses.map_err(needs(
            "the commit's statuses cannot be read",
            "statuses: write",
        ))
    }

    /// Writes a note if GitHub does not say which account the token belongs to: the author of the note says it.
    pub fn learn_identity(&self) {
        if self.github.identity().is_none() {
            let text = "### Approval\n\nThe label is being checked.";
            self.note(
                NoteSubject::Approval,
                "NOTE",
                "The label is being checked.",
                text,
            );
        }
    }

    /// Records an approval or its withdrawal as a commit status, and reads it back.
    ///
    /// # Errors
    /// The status could not be written, or differs when read back.
    pub fn record(
        &self,
        commit: &str,
        state: StatusState,
        description: &str,
    ) -> Result<(), CliError> {
        self.record_for(&self.key, commit, state, description)?;
        for look in 0..LOOKS {
            if look > 0 {
                thread::sleep(PAUSE);
            }
            if self.current_approval(commit)?.is_some() == (state == StatusState::Success) {
                return Ok(());
            }
        }
        Err(anyhow::anyhow!(
            "the status {} was written but cannot be read back",
            self.key.status()
        )
        .into())
    }

    /// Records an approval of another config, or its withdrawal, as a commit status.
    ///
    /// # Errors
    /// The status could not be written.
    pub fn record_for(
        &self,
        key: &ConfigKey,
        commit: &str,
        state: StatusState,
        description: &str,
    ) -> Result<(), CliError> {
        let address = self
            .world
            .env
            .get("GITHUB_RUN_ID")
            .and_then(|run| self.run_url(run));
        let set = self.github.set_status(
            commit,
            &key.status(),
            state,
            description,
            address.as_deref(),
        );
        set.map_err(needs("the approval cannot be recorded", "statuses: write"))
    }

    /// Returns the URL of a workflow run.
    pub fn run_url(&self, run: impl fmt::Display) -> Option<String> {
        let env = &self.world.env;
        let (server, repository) = (env.get("GITHUB_SERVER_URL")?, env.get("GITHUB_REPOSITORY")?);
        Some(format!("{server}/{repository}/actions/runs/{run}"))
    }

    /// Returns the query for this config's run on a commit.
    pub fn query<'q>(&'q self, commit: &'q str) -> RunQuery<'q> {
        RunQuery {
            number: Some(self.pull.number),
            commit,
            config: &self.config,
            key: &self.key,
            before: None,
            result: None,
        }
    }

    /// Returns the baseline file: from the input `baseline`, else from the config of the base commit, else from that of the head. `None`
    /// without a baseline: golden changes are approved in any case.
    ///
    /// # Errors
    /// An invalid config of the base commit, or a failed request.
    pub fn baseline_file(&self) -> Result<Option<RepoPath>, CliError> {
        let of_base = baseline_file(self.inputs, |file| self.file(file, &self.base))?;
        match of_base {
            Some(file) => Ok(Some(file)),
            // The head's config is data of others: one that cannot be read names no baseline.
            None => {
                let of_head = self.file(&self.config, &self.pull.head)?;
                Ok(configured_baseline(&self.config, |_| Ok(of_head))
                    .ok()
                    .flatten())
            }
        }
    }

    /// Reads a file at a commit; `None` if it does not exist.
    ///
    /// # Errors
    /// A failed request.
    pub fn file(&self, file: &RepoPath, commit: &str) -> Result<Option<Vec<u8>>, CliError> {
        self.github
            .file(file, commit)
            .map_err(needs(&format!("{file} cannot be read"), "contents: read"))
    }

    /// Writes a note into the comment and reads it back. A failure is only reported as a warning.
    pub fn note(&self, about: NoteSubject, alert: &'static str, headline: &str, text: &str) {
        self.note_on(&self.pull.head, about, alert, headline, text);
    }

    /// Like `note`, for a commit that became the head in the meantime.
    pub fn note_on(
        &self,
        head: &str,
        about: NoteSubject,
        alert: &'static str,
        headline: &str,
        text: &str,
    ) {
        let Err(why) = self.write_note(head, about, alert, headline, text) else {
            return;
        };
        let error = needs("the comment could not be written", "pull-requests: write")(why);
        warn(self.world, &error);
    }

    fn write_note(
        &self,
        head: &str,
        about: NoteSubject,
        alert: &'static str,
        headline: &str,
        text: &str,
    ) -> Result<(), GitHubError> {
        let number = |name| {
            self.world
                .env
                .get(name)
                .and_then(|text| text.parse().ok())
                .unwrap_or_default()
        };
        let mut last = None;
        for _ in 0..ROUNDS {
            let current_head = self.github.head_of(self.pull.number)?;
            let note = Note {
                about,
                alert,
                headline,
                text,
                key: self.key.as_str(),
                head,
                current_head: &current_head,
                run: RunNumber {
                    run: number("GITHUB_RUN_ID"),
                    attempt: number("GITHUB_RUN_ATTEMPT"),
                },
                author: self.github.identity(),
            };
            let written = match publish::plan_note(&note, &self.github.comments(self.pull.number)?)
            {
                CommentPlan::Nothing(_) => return Ok(()),
                CommentPlan::Create(body) => self.github.create_comment(self.pull.number, &body),
                CommentPlan::Update { id, body, remove } => {
                    let updated = self.github.update_comment(id, &body);
                    if updated.is_ok() {
                        remove
                            .into_iter()
                            .try_for_each(|other| self.github.remove_comment(other))?;
                    }
                    updated
                }
            };
            match written {
                Ok(comment)
                    if publish::is_note_written(&note, &self.github.comment(comment.id)?.body) =>
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
}

/// Returns the GitHub client, which these modes require.
///
/// # Errors
/// The token is missing.
pub fn open(env: &Env) -> Result<GitHub, CliError> {
    github(env)?.ok_or_else(|| anyhow::anyhow!("the token is missing: set the input token").into())
}

/// Returns the baseline file: from the input `baseline`, else from the config that `read` returns. `None` if neither names one.
///
/// # Errors
/// An invalid config.
pub fn baseline_file(
    inputs: &ActionInputs,
    read: impl FnOnce(&RepoPath) -> Result<Option<Vec<u8>>, CliError>,
) -> Result<Option<RepoPath>, CliError> {
    if let Some(path) = &inputs.baseline {
        return Ok(Some(path_of_input("baseline", path)?));
    }
    configured_baseline(&inputs.config_file()?, read)
}

/// Returns the baseline file that a config names.
fn configured_baseline(
    file: &RepoPath,
    read: impl FnOnce(&RepoPath) -> Result<Option<Vec<u8>>, CliError>,
) -> Result<Option<RepoPath>, CliError> {
    let Some(bytes) = read(file)? else {
        return Ok(None);
    };
    Ok(read_config(&SourceText::new(file.clone(), bytes)?)?.baseline)
}

/// Parses a baseline from a file's content; `None` without content.
///
/// # Errors
/// An invalid baseline.
pub fn baseline_of(file: &RepoPath, bytes: Option<&Vec<u8>>) -> Result<Option<Baseline>, CliError> {
    let Some(bytes) = bytes else { return Ok(None) };
    Ok(Some(baseline_v1::read_baseline(&SourceText::new(
        file.clone(),
        bytes.clone(),
    )?)?))
}

/// Returns a function that turns a GitHub error into a CLI error and names the permission that the job needs.
pub fn needs(what: &str, permission: &str) -> impl Fn(GitHubError) -> CliError {
    move |error| error.explained(what, permission).into()
}

/// Returns why two commits have no merge base.
pub fn no_merge_base(error: GitHubError) -> CliError {
    match error {
        // GitHub answers the same in both cases.
        GitHubError::Missing => anyhow::anyhow!(
            "no verdict: the head and its base have no common history, or the job needs the permission `contents: read`"
        )
        .into(),
        error => needs("the merge base cannot be read", "contents: read")(error),
    }
}

/// Reports a failed request as a warning and returns its exit code.
///
/// # Errors
/// Bad input.
pub fn warned(world: &World, outcome: Result<u8, CliError>) -> Result<u8, CliError> {
    match outcome {
        Err(CliError::Work(cause)) => {
            let error = CliError::Work(cause);
            job_output::say_error(world, "warning", &error);
            Ok(error.exit_code())
        }
        other => other,
    }
}

/// Prints a warning annotation.
pub fn warn(world: &World, error: &CliError) {
    let text = error.messages().join("\n");
    world.command(&format!("::warning title=goldgate::{}\n", line(&text, 500)));
}

/// Prints a line to the log, and adds it to the job summary.
pub fn log(world: &World, text: &str) {
    world.say(&format!("goldgate: {}\n", one_line(&line(text, 500))));
    if add_to_summary(world, &format!("- {}\n", inline(text, 500))).is_err() {
        world.command("::warning title=goldgate::the job summary cannot be written\n");
    }
}

/// Writes the step's outputs.
///
/// # Errors
/// The runner's output file cannot be written.
pub fn outputs(world: &World, values: &[(&str, &str)]) -> Result<(), CliError> {
    let Some(file) = world.env.get("GITHUB_OUTPUT") else {
        return Ok(());
    };
    let text: String = values
        .iter()
        .map(|(name, value)| format!("{name}={}\n", line(value, 500)))
        .collect();
    append(Path::new(file), &text)?;
    Ok(())
}

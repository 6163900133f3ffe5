//! The pull request that is recorded, and how the recording reports what it did.

use std::thread;

use crate::files::SourceText;
use crate::format::event_action::EventAction;
use crate::github::client::GitHub;
use crate::github::comment::{CommentNote, write_note};
use crate::github::environment::{action_of, event_of};
use crate::github::inputs::ActionInputs;
use crate::github::job_output::log;
use crate::github::requests::{LOOKS, PAUSE, needs, open};
use crate::model::{
    ApprovalPolicy, LabelEvent, Permission, PullRequest, PullRequestDetails, RepoPath,
};
use crate::publish::{ConfigKey, NoteSubject, approval};
use crate::render::CliError;
use crate::suites::read_config;
use crate::world::World;

/// The pull request, event and config that a mode works on.
pub struct RecordContext<'a> {
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
    /// Who may set the label, by the config at the tip of the base branch.
    pub policy: ApprovalPolicy,
}

impl<'a> RecordContext<'a> {
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
        let bytes = github.file(&config, &base);
        let bytes = bytes.map_err(needs(
            "the config of the base branch cannot be read",
            "contents: read",
        ))?;
        let source = bytes
            .map(|bytes| SourceText::new(config.clone(), bytes))
            .transpose()?;
        let policy = match source {
            Some(source) => read_config(&source)?.approval,
            None => ApprovalPolicy::default(),
        };
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
            policy,
        };
        context.await_label()?;
        Ok(Some(context))
    }

    /// Reads the pull request again while it does not show the label that started this run: GitHub may show it later.
    fn await_label(&mut self) -> Result<(), CliError> {
        for _ in 1..LOOKS {
            if self
                .added()
                .is_none_or(|label| self.set_label(label).is_some())
            {
                break;
            }
            thread::sleep(PAUSE);
            let pull = self.github.pull(self.seen.number);
            self.pull = pull.map_err(needs(
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

    /// Returns the label that was added, if that is what happened.
    pub fn added(&self) -> Option<&str> {
        let is_added = self.act.action.as_deref() == Some("labeled");
        self.act.label.as_deref().filter(|_| is_added)
    }

    /// Returns the label changes from the timeline.
    ///
    /// # Errors
    /// A failed request.
    pub fn label_events(&self) -> Result<Vec<LabelEvent>, CliError> {
        let events = self.github.label_events(self.pull.number);
        events.map_err(needs("the timeline cannot be read", "pull-requests: write"))
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
            Some(giver) if approval::is_bot(giver) => Ok(Permission::None),
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

    /// Removes a label.
    ///
    /// # Errors
    /// A failed request.
    pub fn remove_label(&self, label: &str) -> Result<(), CliError> {
        let name = self.set_label(label).unwrap_or(label);
        let removed = self.github.remove_label(self.pull.number, name);
        removed.map_err(needs("the label cannot be removed", "pull-requests: write"))
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
        let note = CommentNote {
            about,
            alert,
            headline,
            text,
        };
        write_note(
            self.world,
            &self.github,
            (self.pull.number, head, &self.key),
            &note,
        );
    }
}

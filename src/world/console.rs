//! The process environment: variables, clock and standard streams.

use std::any::Any;
use std::io;
use std::io::{BufRead, IsTerminal, Read, Write};
use std::sync::{Mutex, OnceLock, PoisonError, RwLock};

use anyhow::Context;
use terminal_size::{Width, terminal_size_of};

use super::clock::Clock;
use super::env::Env;
use crate::diag::{Diagnostic, ReadFailure, one_line, without_runner_commands};
use crate::files::{SourceText, too_large};
use crate::model::{Config, InputLimit, RepoPath, Transport};
use crate::text::{PersonalData, Redactor};

/// What printed commands of this program begin with, if they name the repository's paths.
const COMMANDS: [&str; 2] = ["`goldgate ", "goldgate run --config "];

/// Longest answer of a person, in bytes; the rest becomes the next answer.
const LONGEST_ANSWER: u64 = 16 * 1024;

/// Everything outside this process.
#[derive(Debug)]
pub struct World {
    /// The environment.
    pub env: Env,
    /// The clock.
    pub clock: Clock,
    /// When results have colours.
    pub colours: Colours,
    /// What is neither printed nor written.
    redactor: RwLock<Redactor>,
    /// Why printing a result failed; the first error only.
    unprinted: OnceLock<String>,
    /// Whether something that was printed names a command to run.
    named_command: OnceLock<()>,
    /// Values that are not freed.
    kept: Mutex<Vec<Box<dyn Any + Send>>>,
}

/// When results are printed in colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colours {
    /// On a terminal, unless the environment says otherwise.
    Auto,
    Always,
    Never,
}

impl World {
    /// The real environment and clock.
    pub fn of_process() -> Self {
        let env = Env::of_process();
        let clock = Clock::new(env.get("SOURCE_DATE_EPOCH"));
        let redactor = RwLock::new(Redactor::new(env.secrets(), Vec::new()));
        let (unprinted, named_command, kept) = Default::default();
        Self {
            env,
            clock,
            colours: Colours::Auto,
            redactor,
            unprinted,
            named_command,
            kept,
        }
    }

    /// Reads standard input completely, up to the size limit of files.
    ///
    /// # Errors
    /// It cannot be read, is too large, or is not UTF-8.
    pub fn input(&self) -> Result<SourceText, Diagnostic> {
        let name = RepoPath::root().child("standard input");
        let mut bytes = Vec::new();
        let read = io::stdin()
            .lock()
            .take(InputLimit::FILE.most + 1)
            .read_to_end(&mut bytes);
        read.map_err(|error| {
            Diagnostic::of_read(
                &name,
                ReadFailure::Unreadable,
                error.to_string(),
                "pass a text on standard input",
            )
        })?;
        if InputLimit::FILE.is_exceeded_by(bytes.len()) {
            return Err(too_large(&name, &InputLimit::FILE));
        }
        SourceText::new(name, bytes)
    }

    /// Prints a result. A closed pipe is not a failure; other errors are kept for [`World::unprinted`]. On a runner, texts of others in it are no
    /// commands.
    pub fn say(&self, text: &str) {
        let is_on_runner = ["GITHUB_ACTIONS", "TF_BUILD"]
            .iter()
            .any(|name| self.env.get(name).is_some());
        if is_on_runner {
            self.command(&without_runner_commands(text));
        } else {
            self.command(text);
        }
    }

    /// Prints commands for the runner of a job. No text of others is in it as it was.
    pub fn command(&self, text: &str) {
        self.look_for_command(text);
        let mut out = io::stdout().lock();
        self.printed(
            out.write_all(self.redactor().without_values(text).as_bytes())
                .and_then(|()| out.flush()),
        );
    }

    /// Records the outcome of printing.
    pub fn printed(&self, outcome: io::Result<()>) {
        match outcome {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                let _ = self.unprinted.set(error.to_string());
            }
            Ok(()) | Err(_) => {}
        }
    }

    /// Why a result could not be printed; `None` if all were.
    pub fn unprinted(&self) -> Option<&str> {
        self.unprinted.get().map(String::as_str)
    }

    /// Keeps a value until the process ends: freeing it before would only cost time.
    pub fn keep(&self, value: impl Any + Send) {
        if let Ok(mut kept) = self.kept.lock() {
            kept.push(Box::new(value));
        }
    }

    /// Asks a person and returns the answer without its line break; `None` at the end of input.
    pub fn ask(&self, prompt: &str) -> anyhow::Result<Option<String>> {
        let mut out = io::stdout().lock();
        // An error is ignored as in `say`: the person then does not answer.
        let _ = out.write_all(prompt.as_bytes()).and_then(|()| out.flush());
        let mut answer = Vec::new();
        let input = io::stdin();
        let read = input
            .lock()
            .take(LONGEST_ANSWER)
            .read_until(b'\n', &mut answer);
        read.context("while reading standard input")?;
        if !input.is_terminal() {
            // A terminal echoes the typed line break; redirected input does not.
            let _ = out.write_all(b"\n");
        }
        Ok((!answer.is_empty()).then(|| String::from_utf8_lossy(&answer).trim().to_owned()))
    }

    /// Whether a person can be asked: input and output are a terminal.
    pub fn is_interactive(&self) -> bool {
        io::stdin().is_terminal() && io::stdout().is_terminal()
    }

    /// Prints a one-line message for people to stderr.
    pub fn tell(&self, text: &str) {
        self.look_for_command(text);
        let _ = writeln!(io::stderr().lock(), "{}", one_line(&self.redacted(text)));
    }

    fn look_for_command(&self, text: &str) {
        if COMMANDS.iter().any(|command| text.contains(command)) {
            let _ = self.named_command.set(());
        }
    }

    /// Whether something that was printed names a command of this program.
    pub fn has_named_command(&self) -> bool {
        self.named_command.get().is_some()
    }

    /// The message without secrets: what it quotes can contain them.
    pub fn redacted(&self, message: &str) -> String {
        self.redactor().excerpt(message).into_owned()
    }

    /// What removes secrets from everything that is printed or written.
    pub fn redactor(&self) -> Redactor {
        let redactor = self.redactor.read();
        redactor.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Removes secrets as a config says, from now on: in addition to the values of variables that are named like a key, those of the variables
    /// that its targets name, and what its patterns match. `rules` is the config that has the patterns, which is another one where a base
    /// commit judges.
    pub fn redact_by(&self, config: &Config, rules: &Config) {
        let personal = self.redactor().personal();
        self.set_redactor(self.redactor_by(config, rules).with_personal(personal));
    }

    /// Replaces personal data in what is written, from now on.
    pub fn replace_personal_data(&self) {
        self.set_redactor(self.redactor().with_personal(PersonalData::Replaced));
    }

    fn set_redactor(&self, redactor: Redactor) {
        let mut known = self
            .redactor
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *known = redactor;
    }

    /// The redactor of [`World::redact_by`], for what is written by another config than what is printed.
    pub fn redactor_by(&self, config: &Config, rules: &Config) -> Redactor {
        let targets = config.targets.values().chain(rules.targets.values());
        let variables = targets.filter_map(|target| match &target.transport {
            Transport::Model(provider) => provider.api_key_env.as_deref(),
            Transport::Command { .. } | Transport::Http(_) => None,
        });
        let values = variables.filter_map(|name| self.env.get(name));
        let patterns = rules.redact.iter().map(|pattern| pattern.regex().clone());
        Redactor::new(values.chain(self.env.secrets()), patterns.collect())
    }

    /// Whether results are printed in colour.
    pub fn shows_colours(&self) -> bool {
        match self.colours {
            Colours::Always => true,
            Colours::Never => false,
            // https://no-color.org and https://force-color.org: any value that is not empty counts.
            Colours::Auto if self.env.get("NO_COLOR").is_some() => false,
            Colours::Auto if self.env.get("FORCE_COLOR").is_some() => true,
            Colours::Auto => self.env.get("TERM") != Some("dumb") && io::stdout().is_terminal(),
        }
    }

    /// The width of results in columns: COLUMNS, else the terminal's, else 120; at least 40 and at most 400.
    pub fn columns(&self) -> u16 {
        let stated = self.env.get("COLUMNS").and_then(|text| text.parse().ok());
        stated
            .or_else(|| terminal_size_of(io::stdout()).map(|(Width(columns), _)| columns))
            .filter(|columns| (40..=400).contains(columns))
            .unwrap_or(120)
    }
}

//! What this process is given: its environment, its clock, its two streams.

use std::io;
use std::io::{BufRead, IsTerminal, Read, Write};
use std::sync::OnceLock;

use anyhow::Context;

use super::clock::Clock;
use super::env::Env;
use crate::diag::{Diagnostic, ReadFailure, one_line};
use crate::format::{MAX_FILE_BYTES, SourceText, too_large};
use crate::model::RepoPath;

/// How loud progress is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loudness {
    /// It is shown.
    Usual,
    /// It is not.
    Quiet,
}
/// The longest answer that is read, in bytes; what is longer comes as the next answer.
const LONGEST_ANSWER: u64 = 16 * 1024;

/// The outside of one process.
#[derive(Debug)]
pub struct World {
    /// The environment.
    pub env: Env,
    /// The clock.
    pub clock: Clock,
    /// Why a result could not be printed; the first of it.
    unprinted: OnceLock<String>,
}

impl World {
    /// The real one.
    pub fn of_process() -> Self {
        let env = Env::of_process();
        let clock = Clock::new(env.get("SOURCE_DATE_EPOCH"));
        Self { env, clock, unprinted: OnceLock::new() }
    }

    /// Everything that comes in on standard input, up to the size of the largest file that is read.
    ///
    /// # Errors
    /// Why it cannot be read, that it is too large, or that it is no UTF-8.
    pub fn input(&self) -> Result<SourceText, Diagnostic> {
        let name = RepoPath::root().child("standard input");
        let mut bytes = Vec::new();
        let read = io::stdin().lock().take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes);
        read.map_err(|error| {
            Diagnostic::of_read(&name, ReadFailure::Unreadable, error.to_string(), "give a text on standard input")
        })?;
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(too_large(&name));
        }
        SourceText::new(name, bytes)
    }

    /// Prints a result. A reader that went away is no failure of the run; what else goes wrong is kept for [`World::unprinted`].
    pub fn say(&self, text: &str) {
        let mut out = io::stdout().lock();
        self.printed(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
    }

    /// Takes note of how printing went.
    pub fn printed(&self, outcome: io::Result<()>) {
        match outcome {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                let _ = self.unprinted.set(error.to_string());
            }
            Ok(()) | Err(_) => {}
        }
    }

    /// Why a result could not be printed, where it could not.
    pub fn unprinted(&self) -> Option<&str> {
        self.unprinted.get().map(String::as_str)
    }

    /// Asks a person and gives the answer, without its line break; `None` at the end of input.
    ///
    /// # Errors
    /// Why standard input cannot be read.
    pub fn ask(&self, prompt: &str) -> anyhow::Result<Option<String>> {
        let mut out = io::stdout().lock();
        // As in `say`: that nobody sees the question shows by the answer.
        let _ = out.write_all(prompt.as_bytes()).and_then(|()| out.flush());
        let mut answer = Vec::new();
        let input = io::stdin();
        let read = input.lock().take(LONGEST_ANSWER).read_until(b'\n', &mut answer);
        read.context("while reading standard input")?;
        if !input.is_terminal() {
            // A terminal shows the line break that was typed; of a file nothing is shown.
            let _ = out.write_all(b"\n");
        }
        Ok((!answer.is_empty()).then(|| String::from_utf8_lossy(&answer).trim().to_owned()))
    }

    /// Says something to people, in one line.
    pub fn tell(&self, text: &str) {
        let _ = writeln!(io::stderr().lock(), "{}", one_line(text));
    }

    /// Whether results go to a terminal that shows colours.
    pub fn shows_colours(&self) -> bool {
        self.env.get("NO_COLOR").is_none() && self.env.get("TERM") != Some("dumb") && io::stdout().is_terminal()
    }

    /// How many columns results may take.
    pub fn columns(&self) -> u16 {
        let stated =
            self.env.get("COLUMNS").and_then(|text| text.parse().ok()).filter(|columns| (40..=400).contains(columns));
        stated.unwrap_or(120)
    }
}

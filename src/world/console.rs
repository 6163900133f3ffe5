//! What this process is given: its environment, its clock, its two streams.

use std::io;
use std::io::IsTerminal;
use std::io::Write;

use super::clock::Clock;
use super::env::Env;

/// The outside of one process.
#[derive(Debug)]
pub struct World {
    /// The environment.
    pub env: Env,
    /// The clock.
    pub clock: Clock,
}

impl World {
    /// The real one.
    pub fn of_process() -> Self {
        let env = Env::of_process();
        let clock = Clock::new(env.get("SOURCE_DATE_EPOCH"));
        Self { env, clock }
    }

    /// Prints a result. A reader that went away is no failure of the run.
    pub fn say(&self, text: &str) {
        let _ = io::stdout().lock().write_all(text.as_bytes());
    }

    /// Says something to people.
    pub fn tell(&self, text: &str) {
        let _ = writeln!(io::stderr().lock(), "{text}");
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

//! How far a run is: a bar on a terminal, a line now and then elsewhere, nothing where quiet is asked for.

use std::cell::Cell;
use std::io;
use std::io::{IsTerminal, Write};

use indicatif::{ProgressBar, ProgressStyle};

use super::console::Loudness;

/// How far a run of a known length is.
pub struct Progress {
    length: usize,
    done: Cell<usize>,
    told: Cell<usize>,
    bar: Option<ProgressBar>,
    loudness: Loudness,
}

/// Lines that a whole run may take where there is no terminal.
const LINES: usize = 10;

impl Progress {
    /// Of this many samples.
    pub fn of(length: usize, loudness: Loudness) -> Self {
        let shown = loudness == Loudness::Usual && io::stderr().is_terminal();
        let bar = shown.then(|| {
            let style = ProgressStyle::with_template("{bar:30} {pos}/{len} samples, {elapsed}, {eta} left{msg}");
            ProgressBar::new(length as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        Self { length, done: Cell::new(0), told: Cell::new(0), bar, loudness }
    }

    /// One more sample is at its end; `lost` of all have no answer.
    pub fn step(&self, lost: usize) {
        self.done.set(self.done.get() + 1);
        let lost = if lost == 0 { String::new() } else { format!(", {lost} without an answer") };
        match (&self.bar, self.loudness) {
            (Some(bar), _) => {
                bar.set_message(lost);
                bar.inc(1);
            }
            (None, Loudness::Quiet) => {}
            (None, Loudness::Usual) => {
                let tenth = self.done.get() * LINES / self.length.max(1);
                if tenth > self.told.get() {
                    self.told.set(tenth);
                    let _ = writeln!(io::stderr().lock(), "{} of {} samples{lost}", self.done.get(), self.length);
                }
            }
        }
    }

    /// The run is at its end.
    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

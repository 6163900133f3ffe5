//! Progress of a run: a bar on a terminal, about ten lines elsewhere, nothing with `--quiet`.

use std::cell::Cell;
use std::io;
use std::io::{IsTerminal, Write};

use indicatif::{ProgressBar, ProgressStyle};

use super::console::Loudness;

/// Progress of a run with a known number of samples.
pub struct Progress {
    length: usize,
    done: Cell<usize>,
    reported: Cell<usize>,
    bar: Option<ProgressBar>,
    loudness: Loudness,
}

/// Maximum number of lines per run without a terminal.
const LINES: usize = 10;

impl Progress {
    /// Progress over `length` samples.
    pub fn of(length: usize, loudness: Loudness) -> Self {
        let is_shown = loudness == Loudness::Usual && io::stderr().is_terminal();
        let bar = is_shown.then(|| {
            let style = ProgressStyle::with_template("{bar:30} {pos}/{len} samples, {elapsed}, {eta} left{msg}");
            ProgressBar::new(length as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        Self { length, done: Cell::new(0), reported: Cell::new(0), bar, loudness }
    }

    /// Counts one finished sample; the numbers are those of all samples so far without an answer, and of those that were not needed.
    pub fn step(&self, lost: usize, spared: u64) {
        self.done.set(self.done.get() + 1);
        let lost = if lost == 0 { String::new() } else { format!(", {lost} without an answer") };
        let lost = if spared == 0 { lost } else { format!("{lost}, {spared} not needed") };
        match (&self.bar, self.loudness) {
            (Some(bar), _) => {
                bar.set_message(lost);
                bar.inc(1);
            }
            (None, Loudness::Quiet) => {}
            (None, Loudness::Usual) => {
                let tenth = self.done.get() * LINES / self.length.max(1);
                if tenth > self.reported.get() {
                    self.reported.set(tenth);
                    let _ = writeln!(io::stderr().lock(), "{} of {} samples{lost}", self.done.get(), self.length);
                }
            }
        }
    }

    /// Removes the bar at the end of the run.
    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

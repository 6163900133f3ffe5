//! Progress of a run: a bar for each agent on a terminal, about ten lines elsewhere, nothing with `--quiet`.

use std::cell::{Cell, RefCell};
use std::io;
use std::io::{IsTerminal, Write};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::model::Loudness;

/// Progress of a run with a known number of samples.
pub struct Progress {
    /// The agent of each sample, as an index of `agents`.
    samples: Vec<usize>,
    agents: RefCell<Vec<AgentProgress>>,
    done: Cell<usize>,
    reported: Cell<usize>,
    bars: Option<MultiProgress>,
    loudness: Loudness,
}

/// One agent with its samples so far.
struct AgentProgress {
    spent: SampleSpending,
    bar: Option<ProgressBar>,
}

/// What a sample used; 0 where it is not known.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SampleSpending {
    pub tokens: u64,
    pub cost_usd: f64,
}

/// Maximum number of lines per run without a terminal.
const LINES: usize = 10;

/// The longest name of an agent before its bar, in characters.
const NAME: usize = 32;

impl Progress {
    /// Progress over samples; each is named by its suite and agent.
    pub fn of(samples: &[String], loudness: Loudness) -> Self {
        let mut names: Vec<&String> = Vec::new();
        let mut agents_of_samples: Vec<usize> = Vec::new();
        for name in samples {
            let known = names.iter().position(|known| *known == name);
            agents_of_samples.push(known.unwrap_or(names.len()));
            if known.is_none() {
                names.push(name);
            }
        }
        let is_shown = loudness == Loudness::Usual && io::stderr().is_terminal();
        let bars = is_shown.then(MultiProgress::new);
        let width = names
            .iter()
            .map(|name| name.chars().count())
            .max()
            .unwrap_or_default()
            .min(NAME);
        let mut agents = Vec::new();
        for (index, name) in names.iter().enumerate() {
            let length = agents_of_samples
                .iter()
                .filter(|agent| **agent == index)
                .count();
            agents.push(AgentProgress {
                spent: SampleSpending::default(),
                bar: bars.as_ref().map(|bars| bars.add(bar(name, width, length))),
            });
        }
        Self {
            samples: agents_of_samples,
            agents: RefCell::new(agents),
            done: Cell::new(0),
            reported: Cell::new(0),
            bars,
            loudness,
        }
    }

    /// Counts one finished sample and what it used; the numbers are those of all samples so far without an answer, and of those that
    /// were not needed.
    pub fn step(&self, sample: usize, used: SampleSpending, lost: usize, spared: u64) {
        self.done.set(self.done.get() + 1);
        let mut agents = self.agents.borrow_mut();
        if let Some(agent) = self
            .samples
            .get(sample)
            .and_then(|index| agents.get_mut(*index))
        {
            agent.spent.tokens += used.tokens;
            agent.spent.cost_usd += used.cost_usd;
            if let Some(bar) = &agent.bar {
                bar.set_message(spent(agent.spent));
                bar.inc(1);
            }
        }
        match (&self.bars, self.loudness) {
            (Some(_), _) | (None, Loudness::Quiet) => {}
            (None, Loudness::Usual) => {
                let tenth = self.done.get() * LINES / self.samples.len().max(1);
                if tenth > self.reported.get() {
                    self.reported.set(tenth);
                    let text = line(self.done.get(), self.samples.len(), lost, spared);
                    let _ = writeln!(io::stderr().lock(), "{text}");
                }
            }
        }
    }

    /// Removes the bars at the end of the run.
    pub fn end(&self) {
        self.agents
            .borrow()
            .iter()
            .filter_map(|agent| agent.bar.as_ref())
            .for_each(ProgressBar::finish_and_clear);
    }
}

fn bar(name: &str, width: usize, length: usize) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{prefix} {bar:24} {pos}/{len}, {elapsed}, {eta} left{msg}");
    let name: String = name.chars().take(NAME).collect();
    ProgressBar::new(length as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        .with_prefix(format!("{name:width$}"))
}

/// How many samples are done, for a log.
fn line(done: usize, length: usize, lost: usize, spared: u64) -> String {
    let lost = if lost == 0 {
        String::new()
    } else {
        format!(", {lost} without an answer")
    };
    let spared = if spared == 0 {
        String::new()
    } else {
        format!(", {spared} not needed")
    };
    format!("{done} of {length} samples{lost}{spared}")
}

/// Tokens and dollars, as far as they are known: `, 1234 tokens, $0.0120`.
fn spent(used: SampleSpending) -> String {
    let tokens = if used.tokens == 0 {
        String::new()
    } else {
        format!(", {} tokens", used.tokens)
    };
    let cost = if used.cost_usd == 0.0 {
        String::new()
    } else {
        format!(", ${:.4}", used.cost_usd)
    };
    format!("{tokens}{cost}")
}

#[cfg(test)]
mod tests {
    use super::{Loudness, Progress, SampleSpending, line, spent};

    #[test]
    fn each_agent_has_what_its_samples_used() {
        let names = ["a/x", "b/y", "a/x"].map(str::to_owned);
        let progress = Progress::of(&names, Loudness::Quiet);
        for (sample, tokens) in [(0, 10), (1, 5), (2, 1)] {
            progress.step(
                sample,
                SampleSpending {
                    tokens,
                    cost_usd: 0.25,
                },
                0,
                0,
            );
        }
        let agents = progress.agents.borrow();
        let texts: Vec<String> = agents.iter().map(|agent| spent(agent.spent)).collect();
        assert_eq!(texts, [", 11 tokens, $0.5000", ", 5 tokens, $0.2500"]);
        assert_eq!(spent(SampleSpending::default()), "");
        assert_eq!(
            line(3, 9, 1, 2),
            "3 of 9 samples, 1 without an answer, 2 not needed"
        );
    }
}

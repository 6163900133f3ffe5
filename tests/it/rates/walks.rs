//! Agents over several runs: their baselines are updated, lose a little each time, or are corrected; several of them share a run.

use std::fmt::Write;

use goldgate::chance::{BETTER, holm, samples_to_lose};

use super::agents::{ALPHA, Comparison, Dice, Kind, Quality, Samples, draw};

/// The rates of every walk, in a line each.
pub fn lines(rounds: u64) -> String {
    let mut out = String::new();
    let percent = |share: f64| format!("{:.1}", 100.0 * share);
    for agents in [1, 2, 4, 10] {
        let red = share(rounds, |dice| several_agents(agents, dice));
        writeln!(
            out,
            "{agents} unchanged agents, 12 x 3: red {}",
            percent(red)
        )
        .unwrap();
    }
    for (cases, samples) in [(12, 3), (40, 3), (40, 5)] {
        let red = share(rounds, |dice| updated(cases, samples, dice));
        writeln!(
            out,
            "re-recording 60 with updates, {cases} x {samples}: red {}",
            percent(red)
        )
        .unwrap();
        let seen = share(rounds, |dice| ten_losses(cases, samples, dice));
        writeln!(
            out,
            "ten losses of 2 points, {cases} x {samples}: seen {}",
            percent(seen)
        )
        .unwrap();
    }
    let seen = share(rounds, lost_again);
    writeln!(
        out,
        "corrected, merged and lost again, 12 x 5: seen {}",
        percent(seen)
    )
    .unwrap();
    let red = share(rounds, cached);
    writeln!(
        out,
        "one answer three times, counted once, 40: red {}",
        percent(red)
    )
    .unwrap();
    out
}

pub fn share(rounds: u64, is_counted: impl Fn(&mut Dice) -> bool) -> f64 {
    let counted = (0..rounds).filter(|round| is_counted(&mut Dice(round * 7919 + 17)));
    counted.count() as f64 / rounds as f64
}

/// An agent of 95 %, and its samples so far.
struct Agent {
    rates: Vec<f64>,
    baseline: Samples,
    samples: usize,
}

impl Agent {
    fn of(cases: usize, samples: usize, dice: &mut Dice) -> Self {
        let rates = Quality::Around(0.95).cases(cases, dice);
        let baseline = draw(Kind::ToolUse, &rates, samples, dice);
        Self {
            rates,
            baseline,
            samples,
        }
    }

    fn compared<'a>(&'a self, run: &'a Samples, all_cases: usize) -> Comparison<'a> {
        Comparison {
            kind: Kind::ToolUse,
            rates: &self.rates,
            reference: &self.baseline,
            run,
            all_cases,
        }
    }

    /// Runs once and updates its baseline. Returns whether the run was red.
    fn run(&mut self, dice: &mut Dice) -> bool {
        let run = draw(Kind::ToolUse, &self.rates, self.samples, dice);
        let compared = self.compared(&run, self.rates.len());
        let (is_red, p) = (compared.is_red(dice), compared.p());
        if !is_red && p.is_some_and(|p| p >= BETTER) {
            self.baseline = run;
        }
        is_red
    }
}

/// Whether a run of unchanged agents of 12 cases is red.
pub fn several_agents(agents: usize, dice: &mut Dice) -> bool {
    let (mut tested, mut is_red) = (Vec::new(), false);
    for _ in 0..agents {
        let agent = Agent::of(12, 3, dice);
        let run = draw(Kind::ToolUse, &agent.rates, 3, dice);
        let compared = agent.compared(&run, 12 * agents);
        tested.extend(compared.p());
        is_red |= compared.is_red_without_test(dice);
    }
    is_red || holm(ALPHA, &tested).iter().any(|share| share.is_red)
}

/// Whether the last of 60 re-recordings of an unchanged agent is red.
fn updated(cases: usize, samples: usize, dice: &mut Dice) -> bool {
    let mut agent = Agent::of(cases, samples, dice);
    let runs = (0..60).map(|_| agent.run(dice));
    runs.last().unwrap_or(false)
}

/// Whether one of ten pull requests is red that lose 2 points in every case.
pub fn ten_losses(cases: usize, samples: usize, dice: &mut Dice) -> bool {
    let mut agent = Agent::of(cases, samples, dice);
    (0..10).any(|_| {
        agent
            .rates
            .iter_mut()
            .for_each(|rate| *rate = (*rate - 0.02).max(0.0));
        agent.run(dice)
    })
}

/// Whether a case that was always wrong, and is right in enough samples to replace them, is seen when it is lost.
pub fn lost_again(dice: &mut Dice) -> bool {
    let mut agent = Agent::of(12, 5, dice);
    agent.baseline[0] = draw(Kind::ToolUse, &[0.0], 5, dice).remove(0);
    agent.baseline[0] = draw(Kind::ToolUse, &[1.0], samples_to_lose(5, 12), dice).remove(0);
    agent.rates[0] = 0.0;
    agent.run(dice)
}

/// Whether an unchanged agent is red whose cache gives one answer to every sample: only the first one counts.
fn cached(dice: &mut Dice) -> bool {
    let agent = Agent::of(40, 1, dice);
    let run = draw(Kind::ToolUse, &agent.rates, 1, dice);
    agent.compared(&run, 40).is_red(dice)
}

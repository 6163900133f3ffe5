//! How often the rules of the policy `regression` are red by chance, and how often they see a loss: simulated agents, judged by the function
//! that the program calls.

use std::fmt::Write;

use libtest_mimic::Trial;

use self::agents::{Cell, Change, Kind, QUALITIES, Quality};
use crate::trial;

pub mod agents;
mod program;
mod walks;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "chance makes the rules of regression red as rarely as they say",
            some_rates,
        ),
        trial(
            "the program says what the simulated function says",
            program::agrees,
        ),
        // It takes half an hour, and writes the tables into the file that this names.
        trial("every rate of the rules of regression", every_rate)
            .with_ignored_flag(std::env::var_os("GOLDGATE_RATES").is_none()),
    ]
}

/// One cell of each kind, with the bounds of 400 rounds: three standard errors above what the contract allows.
fn some_rates() {
    let rounds = 400;
    let error = |share: f64| 3.0 * (share * (1.0 - share) / rounds as f64).sqrt();
    for kind in Kind::ALL {
        for (name, quality) in QUALITIES {
            let red = Cell::of(kind, quality, 6, 3).red(rounds);
            assert!(red <= 0.08 + error(0.08), "{kind:?} {name}: {red}");
        }
    }
    let steady = Quality::Around(0.95);
    let single = Cell::of(Kind::ToolUse, steady, 40, 1).red(rounds);
    assert!(single <= 0.07 + error(0.07), "{single}");
    for (change, least) in [(Change::Spread(0.1), 0.95), (Change::Lost(4), 0.98)] {
        let red = Cell::of(Kind::ToolUse, steady, 40, 5)
            .with(change)
            .red(rounds);
        assert!(red >= least - error(least), "{change:?}: {red}");
    }
    for (samples, least) in [(1, 0.90), (3, 0.82), (5, 0.82)] {
        let cell = Cell::of(Kind::ToolUse, steady, 12, samples).with(Change::Lost(1));
        let red = cell.red(rounds);
        assert!(red >= least - error(least), "{samples}: {red}");
    }
    let several = walks::share(rounds, |dice| walks::several_agents(4, dice));
    assert!(several <= 0.06 + error(0.06), "{several}");
    let lost_again = walks::share(rounds, walks::lost_again);
    assert!(lost_again >= 0.85 - error(0.85), "{lost_again}");
    let losses = walks::share(100, |dice| walks::ten_losses(40, 5, dice));
    assert!(losses >= 0.95 - 2.0 * error(0.95), "{losses}");
}

fn every_rate() {
    let mut out = String::new();
    // Graded scores of many samples take a second each.
    let rounds = |cell: &Cell| match (cell.kind, cell.cases * cell.samples[1]) {
        (Kind::Findings | Kind::Interview, 121..) => 200,
        _ => 2000,
    };
    let percent = |share: f64| format!("{:.1}", 100.0 * share);
    for kind in Kind::ALL {
        writeln!(out, "\n{kind:?}, unchanged agents, red in %\n").unwrap();
        let sizes = [3, 6, 12, 40, 100, 200];
        let header: Vec<String> = sizes.iter().map(|cases| format!("{cases} cases")).collect();
        writeln!(out, "| agent | samples | {} |", header.join(" | ")).unwrap();
        writeln!(out, "|---|---|{}", "---|".repeat(sizes.len())).unwrap();
        for (name, quality) in QUALITIES {
            for samples in [[1, 1], [3, 3], [5, 5], [10, 10], [10, 3]] {
                let cells: Vec<String> = sizes
                    .iter()
                    .map(|cases| {
                        let cell = Cell {
                            samples,
                            ..Cell::of(kind, quality, *cases, 1)
                        };
                        percent(cell.red(rounds(&cell)))
                    })
                    .collect();
                let [reference, run] = samples;
                writeln!(
                    out,
                    "| {name} | {reference}, {run} | {} |",
                    cells.join(" | ")
                )
                .unwrap();
            }
        }
    }
    writeln!(out, "\nLosses, 95% agents, red in %\n\n| kind | cases | samples | 10 points each | a tenth lost | one lost |\n|---|---|---|---|---|---|"
    ).unwrap();
    for (kind, cases, samples) in [
        (Kind::ToolUse, 12, 1),
        (Kind::ToolUse, 12, 3),
        (Kind::ToolUse, 12, 5),
        (Kind::ToolUse, 40, 1),
        (Kind::ToolUse, 40, 3),
        (Kind::ToolUse, 40, 5),
        (Kind::Findings, 12, 3),
        (Kind::Findings, 40, 3),
    ] {
        let cell = Cell::of(kind, Quality::Around(0.95), cases, samples);
        let tenth = (cases as f64 / 10.0).round() as usize;
        let rates: Vec<String> = [Change::Spread(0.1), Change::Lost(tenth), Change::Lost(1)]
            .into_iter()
            .map(|change| percent(cell.with(change).red(rounds(&cell))))
            .collect();
        writeln!(
            out,
            "| {kind:?} | {cases} | {samples} | {} |",
            rates.join(" | ")
        )
        .unwrap();
    }
    write!(
        out,
        "\nSeveral runs, 95% agents, in %\n\n{}",
        walks::lines(2000)
    )
    .unwrap();
    let file = std::env::var_os("GOLDGATE_RATES").unwrap();
    std::fs::write(file, out).unwrap();
}

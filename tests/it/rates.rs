//! How often the rules of the policy `regression` are red by chance, and how often they see a loss: simulated agents, judged by the function
//! that the program calls.

use std::fmt::Write;

use goldgate::chance::{CaseSamples, RegressionInput, Sample, Score, regression};
use libtest_mimic::Trial;
use statrs::distribution::{Beta, ContinuousCDF};

use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "chance makes the rules of regression red as rarely as they say",
            some_rates,
        ),
        // It takes half an hour, and writes the tables into the file that this names.
        trial("every rate of the rules of regression", every_rate)
            .with_ignored_flag(std::env::var_os("GOLDGATE_RATES").is_none()),
    ]
}

/// The error rate of the rule that tests.
const ALPHA: f64 = 0.05;

/// Numbers between 0 and 1 (Knuth's MMIX, "The Art of Computer Programming", 3.3.4).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// How good the cases of an agent are.
#[derive(Debug, Clone, Copy)]
enum Quality {
    /// Beta of strength 19 around a mean.
    Around(f64),
    /// A tenth are coin flips, the rest 97 %.
    Flips,
    /// A quarter are of any rate, the rest 95 %.
    Mixed,
}

const QUALITIES: [(&str, Quality); 6] = [
    ("99%", Quality::Around(0.99)),
    ("95%", Quality::Around(0.95)),
    ("85%", Quality::Around(0.85)),
    ("70%", Quality::Around(0.70)),
    ("97% and coin flips", Quality::Flips),
    ("95% and any", Quality::Mixed),
];

impl Quality {
    fn cases(self, count: usize, dice: &mut Dice) -> Vec<f64> {
        let beta = match self {
            Self::Around(mean) => Some(Beta::new(19.0 * mean, 19.0 * (1.0 - mean)).unwrap()),
            Self::Flips | Self::Mixed => None,
        };
        let case = |_| match (self, &beta) {
            (_, Some(beta)) => beta.inverse_cdf(dice.next()),
            (Self::Flips, _) => [0.97, 0.5][usize::from(dice.next() < 0.1)],
            (_, None) => match dice.next() < 0.25 {
                true => dice.next(),
                false => 0.95,
            },
        };
        (0..count).map(case).collect()
    }
}

/// What a sample of a case is.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Right or wrong.
    ToolUse,
    /// Four findings, each found or not, and one that is wrong.
    Findings,
}

impl Kind {
    fn sample(self, quality: f64, dice: &mut Dice) -> Sample {
        match self {
            Self::ToolUse => {
                let passes = dice.next() < quality;
                let score = [Score::ZERO, Score::ONE][usize::from(passes)];
                Sample { score, passes }
            }
            Self::Findings => {
                let found = (0..4).filter(|_| dice.next() < quality).count();
                let wrong = usize::from(dice.next() >= quality);
                // F1 of `found` of four expected ones, with `wrong` others.
                let f1 = 2.0 * found as f64 / (4 + found + wrong) as f64;
                Sample {
                    score: Score::of(f1),
                    passes: found == 4 && wrong == 0,
                }
            }
        }
    }
}

/// What happens to the agent between reference and run.
#[derive(Debug, Clone, Copy)]
enum Change {
    None,
    /// Every case loses this.
    Spread(f64),
    /// These cases are never right again.
    Lost(usize),
}

#[derive(Debug, Clone, Copy)]
struct Cell {
    kind: Kind,
    quality: Quality,
    cases: usize,
    /// Samples of a case in the reference and in the run.
    samples: [usize; 2],
    change: Change,
}

impl Cell {
    fn of(kind: Kind, quality: Quality, cases: usize, samples: usize) -> Self {
        Self {
            kind,
            quality,
            cases,
            samples: [samples, samples],
            change: Change::None,
        }
    }

    fn with(self, change: Change) -> Self {
        Self { change, ..self }
    }

    /// The share of runs that are red, after the samples that a lost case asks for.
    fn red(self, rounds: u64) -> f64 {
        let red = (0..rounds).filter(|round| self.is_red(&mut Dice(round * 7919 + 17)));
        red.count() as f64 / rounds as f64
    }

    fn is_red(self, dice: &mut Dice) -> bool {
        let before = self.quality.cases(self.cases, dice);
        let after: Vec<f64> = before
            .iter()
            .enumerate()
            .map(|(place, quality)| match self.change {
                Change::None => *quality,
                Change::Spread(loss) => (quality - loss).max(0.0),
                Change::Lost(lost) if place < lost => 0.0,
                Change::Lost(_) => *quality,
            })
            .collect();
        let [in_reference, in_run] = self.samples;
        let mut cases: Vec<CaseSamples> = before
            .iter()
            .zip(&after)
            .map(|(before, after)| CaseSamples {
                reference: (0..in_reference)
                    .map(|_| self.kind.sample(*before, dice))
                    .collect(),
                run: (0..in_run)
                    .map(|_| self.kind.sample(*after, dice))
                    .collect(),
            })
            .collect();
        let input = RegressionInput {
            samples: in_run,
            cases: self.cases,
            floor: None,
        };
        let first = regression(&cases, &input);
        let is_tested_red = first.p.is_some_and(|p| p <= ALPHA + 1e-12);
        if is_tested_red || first.has_collapsed() || !first.lost.is_empty() {
            return true;
        }
        // One at a time, up to the first right one.
        for (place, missing) in first.asked {
            for _ in 0..missing {
                let sample = self.kind.sample(after[place], dice);
                cases[place].run.push(sample);
                if sample.passes {
                    break;
                }
            }
        }
        !regression(&cases, &input).lost.is_empty()
    }
}

/// One cell of each kind, with the bounds of 400 rounds: three standard errors above what the contract allows.
fn some_rates() {
    let rounds = 400;
    let error = |share: f64| 3.0 * (share * (1.0 - share) / rounds as f64).sqrt();
    for kind in [Kind::ToolUse, Kind::Findings] {
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
}

fn every_rate() {
    let mut out = String::new();
    // Graded scores of many samples take a second each.
    let rounds = |cell: &Cell| match (cell.kind, cell.cases * cell.samples[1]) {
        (Kind::Findings, 121..) => 200,
        (Kind::ToolUse | Kind::Findings, _) => 2000,
    };
    let percent = |share: f64| format!("{:.1}", 100.0 * share);
    for kind in [Kind::ToolUse, Kind::Findings] {
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
    let file = std::env::var_os("GOLDGATE_RATES").unwrap();
    std::fs::write(file, out).unwrap();
}

//! Simulated agents, whose samples are judged by the function that the program calls.

use goldgate::chance::{CaseSamples, Regression, RegressionInput, Sample, Score, regression};
use statrs::distribution::{Beta, ContinuousCDF};

/// The error rate of the rule that tests.
pub const ALPHA: f64 = 0.05;

/// Numbers between 0 and 1 (Knuth's MMIX, "The Art of Computer Programming", 3.3.4).
pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// How good the cases of an agent are.
#[derive(Debug, Clone, Copy)]
pub enum Quality {
    /// Beta of strength 19 around a mean.
    Around(f64),
    /// A tenth are coin flips, the rest 97 %.
    Flips,
    /// A quarter are of any rate, the rest 95 %.
    Mixed,
}

pub const QUALITIES: [(&str, Quality); 6] = [
    ("99%", Quality::Around(0.99)),
    ("95%", Quality::Around(0.95)),
    ("85%", Quality::Around(0.85)),
    ("70%", Quality::Around(0.70)),
    ("97% and coin flips", Quality::Flips),
    ("95% and any", Quality::Mixed),
];

impl Quality {
    pub fn cases(self, count: usize, dice: &mut Dice) -> Vec<f64> {
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
pub enum Kind {
    /// Right or wrong.
    ToolUse,
    /// Four findings, each found or not, and one that is wrong.
    Findings,
    /// Five checks: a wrong sample fails one to five of them.
    Evidence,
    /// Six dimensions of 0 to 2 points, of which nine points are enough, and an atom that is found or not.
    Interview,
}

impl Kind {
    pub const ALL: [Self; 4] = [
        Self::ToolUse,
        Self::Findings,
        Self::Evidence,
        Self::Interview,
    ];

    pub fn sample(self, quality: f64, dice: &mut Dice) -> Sample {
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
            Self::Evidence => {
                let passes = dice.next() < quality;
                let failed = if passes {
                    0.0
                } else {
                    1.0 + (dice.next() * 5.0).floor()
                };
                Sample {
                    score: Score::of(1.0 - failed / 5.0),
                    passes,
                }
            }
            Self::Interview => {
                let points: f64 = (0..6)
                    .map(|_| {
                        if dice.next() < quality {
                            2.0
                        } else {
                            (dice.next() * 2.0).floor()
                        }
                    })
                    .sum();
                Sample {
                    score: Score::of(points / 12.0),
                    passes: points >= 9.0 && dice.next() < quality,
                }
            }
        }
    }
}

/// What happens to the agent between reference and run.
#[derive(Debug, Clone, Copy)]
pub enum Change {
    None,
    /// Every case loses this.
    Spread(f64),
    /// These cases are never right again.
    Lost(usize),
}

#[derive(Debug, Clone, Copy)]
pub struct Cell {
    pub kind: Kind,
    pub quality: Quality,
    pub cases: usize,
    /// Samples of a case in the reference and in the run.
    pub samples: [usize; 2],
    pub change: Change,
}

impl Cell {
    pub fn of(kind: Kind, quality: Quality, cases: usize, samples: usize) -> Self {
        Self {
            kind,
            quality,
            cases,
            samples: [samples, samples],
            change: Change::None,
        }
    }

    pub fn with(self, change: Change) -> Self {
        Self { change, ..self }
    }

    /// The share of runs that are red, after the samples that a lost case asks for.
    pub fn red(self, rounds: u64) -> f64 {
        let red = (0..rounds).filter(|round| self.is_red(&mut Dice(round * 7919 + 17)));
        red.count() as f64 / rounds as f64
    }

    /// How often each case is right in the reference, and in the run.
    pub fn rates(self, dice: &mut Dice) -> (Vec<f64>, Vec<f64>) {
        let before = self.quality.cases(self.cases, dice);
        let after = before
            .iter()
            .enumerate()
            .map(|(place, quality)| match self.change {
                Change::None => *quality,
                Change::Spread(loss) => (quality - loss).max(0.0),
                Change::Lost(lost) if place < lost => 0.0,
                Change::Lost(_) => *quality,
            })
            .collect();
        (before, after)
    }

    fn is_red(self, dice: &mut Dice) -> bool {
        let (before, after) = self.rates(dice);
        let [in_reference, in_run] = self.samples;
        let reference = draw(self.kind, &before, in_reference, dice);
        let run = draw(self.kind, &after, in_run, dice);
        Comparison {
            kind: self.kind,
            rates: &after,
            reference: &reference,
            run: &run,
            all_cases: self.cases,
        }
        .is_red(dice)
    }
}

/// The samples of each case.
pub type Samples = Vec<Vec<Sample>>;

/// As many samples of each case.
pub fn draw(kind: Kind, rates: &[f64], count: usize, dice: &mut Dice) -> Samples {
    rates
        .iter()
        .map(|rate| (0..count).map(|_| kind.sample(*rate, dice)).collect())
        .collect()
}

/// A run of an agent, and what it is compared with.
pub struct Comparison<'a> {
    pub kind: Kind,
    /// How often each case is right in the run.
    pub rates: &'a [f64],
    pub reference: &'a Samples,
    pub run: &'a Samples,
    /// The cases of all agents.
    pub all_cases: usize,
}

impl Comparison<'_> {
    /// Whether a rule is red, after the samples that a lost case asks for.
    pub fn is_red(&self, dice: &mut Dice) -> bool {
        let p = self.p();
        p.is_some_and(|p| p <= ALPHA + 1e-12) || self.is_red_without_test(dice)
    }

    pub fn p(&self) -> Option<f64> {
        self.judged().p
    }

    pub fn judged(&self) -> Regression {
        regression(&self.cases(), &self.input())
    }

    /// Whether a case is lost or the pass rate below the floor, after the samples that a lost case asks for.
    pub fn is_red_without_test(&self, dice: &mut Dice) -> bool {
        let mut cases = self.cases();
        let first = regression(&cases, &self.input());
        if first.has_collapsed() || !first.lost.is_empty() {
            return true;
        }
        // One at a time, up to the first right one.
        for (place, missing) in first.asked {
            for _ in 0..missing {
                let sample = self.kind.sample(self.rates[place], dice);
                cases[place].run.push(sample);
                if sample.passes {
                    break;
                }
            }
        }
        !regression(&cases, &self.input()).lost.is_empty()
    }

    fn cases(&self) -> Vec<CaseSamples> {
        self.reference
            .iter()
            .zip(self.run)
            .map(|(reference, run)| CaseSamples {
                reference: reference.clone(),
                run: run.clone(),
            })
            .collect()
    }

    fn input(&self) -> RegressionInput {
        RegressionInput {
            samples: self.run.first().map_or(0, Vec::len),
            cases: self.all_cases,
            floor: None,
        }
    }
}

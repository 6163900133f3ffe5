//! How the sum of a run's scores would be distributed had nothing changed, for a picture.

use super::Score;
use super::moments::Moments;
use super::test::{CaseSums, ScoredCase};

/// The most bars of a picture.
const BARS: f64 = 60.0;
/// How far from the mean the bars reach, in standard deviations.
const REACH: f64 = 3.5;

/// The distribution of the sum of the run's scores over the cases that both sides measured.
#[derive(Debug, Clone, PartialEq)]
pub struct NullDistribution {
    /// The sum of this run, in scores.
    pub observed: f64,
    /// The least sum of the first bar.
    pub first: f64,
    /// The width of a bar: it has the sums from its least one to below the next bar's.
    pub width: f64,
    /// The probability of each bar.
    pub shares: Vec<f64>,
}

impl NullDistribution {
    /// The distribution of which [`mid_p`](super::mid_p) is the lower end; `None` if there is nothing to test. The bars have 99.9% of it, and
    /// the observed sum.
    pub fn of(cases: &[ScoredCase<'_>]) -> Option<Self> {
        let sums = CaseSums::of(cases)?;
        let Moments { mean, variance, .. } = sums.moments();
        let deviation = variance.sqrt();
        let observed = sums.observed() as f64;
        let least = (mean - REACH * deviation).max(0.0).min(observed).floor();
        let most = (mean + REACH * deviation)
            .min(sums.most() as f64)
            .max(observed)
            .ceil();
        let width = ((most - least + 1.0) / BARS).ceil();
        let count = ((most - least + 1.0) / width).ceil() as usize;
        let edges: Vec<u64> = (0..=count)
            .map(|bar| (least + bar as f64 * width) as u64)
            .collect();
        let below = sums.below_each(&edges);
        let (constant, unit) = (sums.constant() as f64, f64::from(sums.unit()));
        Some(Self {
            observed: in_scores(constant + observed * unit),
            first: in_scores(constant + least * unit),
            width: in_scores(width * unit),
            shares: below
                .windows(2)
                .map(|ends| (ends[1] - ends[0]).max(0.0))
                .collect(),
        })
    }
}

/// 840ths as scores.
fn in_scores(parts: f64) -> f64 {
    parts / f64::from(Score::ONE.parts())
}

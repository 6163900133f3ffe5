//! The exact permutation test within each case: for pass and fail it is the exact conditional Cochran-Mantel-Haenszel test with mid-p, and
//! McNemar's with one sample a case (Agresti 2013, "Categorical Data Analysis", 3.5 and 6.4).
//!
//! If nothing changed, the samples of a case in reference and run are of one kind, and every choice of the run's among all of them is as
//! likely. So the distribution of the sum of the run's scores is known: case by case over all choices, and then of the sum of all cases.

use std::collections::{BTreeMap, HashMap};

use super::Score;
use super::moments::Moments;

/// The most steps of an exact computation: cells so far, times sums of the next case.
const EXACT: u64 = 1_000_000_000;
/// The most steps for the cases that spread most, where the others are summed by their moments.
const WIDEST: u64 = 100_000_000;
/// The most cells of all cases together there.
const CELLS: usize = 1 << 15;

/// The scores of one case.
#[derive(Debug, Clone, Copy)]
pub struct ScoredCase<'a> {
    /// Of each sample in the reference.
    pub reference: &'a [Score],
    /// Of each sample in the run.
    pub run: &'a [Score],
}

/// The probability that a run of an unchanged agent has a smaller sum of scores than this one, with half of that it has the same. `None` if
/// there is nothing to test: in each case all scores are equal, or one side has none.
///
/// Exact up to 1,000 million steps. Beyond that the cases that spread least are summed by their mean, variance and third moment.
pub fn mid_p(cases: &[ScoredCase<'_>]) -> Option<f64> {
    let sums = CaseSums::of(cases)?;
    let exact = exact(&sums.pools, sums.observed(), EXACT);
    Some(exact.unwrap_or_else(|| Nearly::new(&sums.pools, WIDEST, CELLS).below(sums.observed())))
}

/// The cases whose scores differ, with their scores as multiples of a unit above the least one of the case.
pub struct CaseSums {
    pools: Vec<Pool>,
    /// In 840ths of a score.
    unit: u32,
    /// What every choice of the run's samples has in common, in 840ths.
    constant: u64,
}

impl CaseSums {
    /// `None` if no case is left.
    pub fn of(cases: &[ScoredCase<'_>]) -> Option<Self> {
        let mut pools: Vec<Pool> = cases.iter().filter_map(Pool::of).collect();
        let unit = pools
            .iter()
            .flat_map(|pool| &pool.values)
            .fold(0, |divisor, value| common_divisor(divisor, *value));
        for pool in &mut pools {
            for value in &mut pool.values {
                *value /= unit;
            }
            pool.sum /= unit;
        }
        // In one order, so that the rounding does not depend on that of the cases.
        pools.sort_by(|left, right| left.most().cmp(&right.most()).then(left.cmp(right)));
        let all: u64 = cases
            .iter()
            .filter(|case| !case.reference.is_empty())
            .flat_map(|case| case.run)
            .map(|score| u64::from(score.parts()))
            .sum();
        let above: u64 = pools.iter().map(|pool| u64::from(pool.sum)).sum();
        (!pools.is_empty()).then_some(Self {
            pools,
            unit,
            constant: all - above * u64::from(unit),
        })
    }

    /// The sum of the run's scores, in units above [`constant`](Self::constant).
    pub fn observed(&self) -> u64 {
        self.pools.iter().map(|pool| u64::from(pool.sum)).sum()
    }

    /// The greatest sum of a choice.
    pub fn most(&self) -> u64 {
        self.pools.iter().map(|pool| pool.most() as u64).sum()
    }

    pub fn unit(&self) -> u32 {
        self.unit
    }

    pub fn constant(&self) -> u64 {
        self.constant
    }

    pub fn moments(&self) -> Moments {
        self.pools
            .iter()
            .fold(Moments::default(), |all, pool| all.with(pool.moments()))
    }

    /// The probability of less than each of these sums, which ascend: exact up to a fiftieth of the steps of the test.
    pub fn below_each(&self, sums: &[u64]) -> Vec<f64> {
        let bound = sums.last().copied().unwrap_or_default();
        if let Some(distribution) = convolved(&self.pools, bound, EXACT / 50) {
            let mut below = 0.0;
            let mut cells = distribution.cells.iter().enumerate().peekable();
            return sums
                .iter()
                .map(|sum| {
                    while let Some((_, share)) = cells.next_if(|(cell, _)| (*cell as u64) < *sum) {
                        below += share;
                    }
                    below
                })
                .collect();
        }
        let nearly = Nearly::new(&self.pools, WIDEST / 50, CELLS / 50);
        sums.iter().map(|sum| nearly.below(*sum)).collect()
    }
}

fn common_divisor(left: u32, right: u32) -> u32 {
    if right == 0 {
        return left;
    }
    common_divisor(right, left % right)
}

/// Sums in ascending order, each with its probability.
type Sums = Vec<(usize, f64)>;

/// All scores of a case, the least one as zero.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Pool {
    /// In ascending order.
    values: Vec<u32>,
    /// How many of them are the run's.
    drawn: usize,
    /// Their sum in the run.
    sum: u32,
}

impl Pool {
    fn of(case: &ScoredCase<'_>) -> Option<Self> {
        let both = case.reference.iter().chain(case.run);
        let (least, most) = (both.clone().min()?, both.clone().max()?);
        if least == most || case.reference.is_empty() || case.run.is_empty() {
            return None;
        }
        let run = case.run.iter();
        let mut values: Vec<u32> = both.map(|score| score.parts() - least.parts()).collect();
        values.sort_unstable();
        Some(Self {
            values,
            drawn: case.run.len(),
            sum: run.map(|score| score.parts() - least.parts()).sum(),
        })
    }

    /// The greatest sum of a choice.
    fn most(&self) -> usize {
        let greatest = self.values.iter().rev().take(self.drawn);
        greatest.map(|value| *value as usize).sum()
    }

    /// The probability of each sum that a choice can have.
    fn sums(&self) -> Sums {
        let width = self.most() + 1;
        // By the number of chosen values, then by their sum.
        let mut ways = vec![vec![0.0_f64; width]; self.drawn + 1];
        ways[0][0] = 1.0;
        for (seen, value) in self.values.iter().enumerate() {
            for chosen in (1..=self.drawn.min(seen + 1)).rev() {
                let (fewer, more) = ways.split_at_mut(chosen);
                let shifted = more[0].iter_mut().skip(*value as usize);
                for (cell, ways_without) in shifted.zip(&fewer[chosen - 1]) {
                    *cell += ways_without;
                }
            }
        }
        let counts = &ways[self.drawn];
        let all: f64 = counts.iter().sum();
        counts
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0.0)
            .map(|(sum, count)| (sum, count / all))
            .collect()
    }

    fn moments(&self) -> Moments {
        Moments::of_choice(&self.values, self.drawn)
    }
}

/// The distribution of a sum of cases, up to a bound: a sum above it stays above it.
struct Distribution {
    cells: Vec<f64>,
    bound: usize,
    steps: u64,
}

impl Distribution {
    fn up_to(bound: usize) -> Self {
        Self {
            cells: vec![1.0],
            bound,
            steps: 0,
        }
    }

    fn add(&mut self, sums: &[(usize, f64)]) {
        self.steps = self.steps_with(sums);
        let widest = sums.last().map_or(0, |(sum, _)| *sum);
        let width = (self.cells.len() + widest).min(self.bound + 1);
        let mut next = vec![0.0; width];
        for (sum, probability) in sums {
            let shifted = next.iter_mut().skip(*sum);
            for (cell, share) in shifted.zip(&self.cells) {
                *cell += probability * share;
            }
        }
        self.cells = next;
    }

    fn steps_with(&self, sums: &[(usize, f64)]) -> u64 {
        self.steps + self.cells.len() as u64 * sums.len() as u64
    }
}

/// The sums of each pool; equal pools are counted once.
#[derive(Default)]
struct KnownSums<'a>(HashMap<(&'a [u32], usize), Sums>);

impl<'a> KnownSums<'a> {
    fn of(&mut self, pool: &'a Pool) -> &[(usize, f64)] {
        let key = (pool.values.as_slice(), pool.drawn);
        self.0.entry(key).or_insert_with(|| pool.sums())
    }
}

/// `None` if it takes more steps.
fn exact(pools: &[Pool], sum: u64, most_steps: u64) -> Option<f64> {
    let distribution = convolved(pools, sum, most_steps)?;
    let bound = distribution.bound;
    let equal = distribution.cells.get(bound).copied().unwrap_or_default();
    let less: f64 = distribution.cells.iter().take(bound).sum();
    Some(less + equal / 2.0)
}

/// The distribution of the sum of these cases, up to a bound; `None` if it takes more steps.
fn convolved(pools: &[Pool], bound: u64, most_steps: u64) -> Option<Distribution> {
    let mut distribution = Distribution::up_to(usize::try_from(bound).ok()?);
    let mut known = KnownSums::default();
    for pool in pools {
        let sums = known.of(pool);
        if distribution.steps_with(sums) > most_steps {
            return None;
        }
        distribution.add(sums);
    }
    Some(distribution)
}

/// A distribution of which the cases that spread most are summed exactly, because a few of them may make lumps, and the many others, which
/// are nearly normal together, by their moments.
struct Nearly {
    /// In cells of this width.
    widest: Distribution,
    width: usize,
    others: Moments,
}

impl Nearly {
    fn new(pools: &[Pool], most_steps: u64, most_cells: usize) -> Self {
        let most: usize = pools.iter().map(Pool::most).sum();
        let width = most.div_ceil(most_cells);
        let mut by_spread: Vec<(&Pool, Moments)> =
            pools.iter().map(|pool| (pool, pool.moments())).collect();
        by_spread.sort_by(|(_, left), (_, right)| right.variance.total_cmp(&left.variance));
        let mut widest = Distribution::up_to(usize::MAX - 1);
        let mut known = KnownSums::default();
        let mut added = 0.0;
        let mut left = by_spread.as_slice();
        while let [(pool, _), rest @ ..] = left {
            let (cells, more) = in_cells(known.of(pool), width);
            if rest.is_empty() || widest.steps_with(&cells) > most_steps {
                break;
            }
            widest.add(&cells);
            added += more;
            left = rest;
        }
        let others = left
            .iter()
            .fold(Moments::default(), |all, (_, moments)| all.with(*moments));
        Self {
            widest,
            width,
            others: others.without_variance(added),
        }
    }

    /// The probability of less than this sum, with half of that it is equal.
    fn below(&self, sum: u64) -> f64 {
        let cells = self.widest.cells.iter().enumerate();
        let shares = cells.map(|(cell, probability)| {
            let left = sum as f64 - (cell * self.width) as f64;
            probability * self.others.below(left)
        });
        shares.sum::<f64>().clamp(0.0, 1.0)
    }
}

/// The same in cells of a width: each probability is divided between two cells so that the mean stays. The second value is the variance
/// that this adds.
fn in_cells(sums: &[(usize, f64)], width: usize) -> (Sums, f64) {
    let mut cells: BTreeMap<usize, f64> = BTreeMap::new();
    let mut added = 0.0;
    for (sum, probability) in sums {
        let (cell, rest) = (sum / width, sum % width);
        let above = rest as f64 / width as f64;
        *cells.entry(cell).or_default() += probability * (1.0 - above);
        if rest > 0 {
            *cells.entry(cell + 1).or_default() += probability * above;
        }
        added += probability * (rest * (width - rest)) as f64;
    }
    (cells.into_iter().collect(), added)
}

#[cfg(test)]
mod tests {
    use super::{CELLS, Distribution, EXACT, Nearly, Pool, ScoredCase, WIDEST};
    use crate::chance::Score;

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

    /// Where exact computations end, the other one takes over without a step: at most 0.1 points where p is at most 10 %.
    #[test]
    fn the_border_of_exact_is_smooth() {
        // The share of zeros, and the lowest of the other scores.
        for (zeros, lowest) in [(0.005, 0.95), (0.03, 0.9), (0.2, 0.3), (0.5, 0.0)] {
            for round in 0..2 {
                let mut dice = Dice(round + 1);
                let mut score = || match dice.next() < zeros {
                    true => Score::ZERO,
                    false => Score::of(lowest + (1.0 - lowest) * dice.next()),
                };
                let samples: Vec<(Vec<Score>, Vec<Score>)> = (0..50)
                    .map(|_| {
                        let mut four = || (0..4).map(|_| score()).collect();
                        (four(), four())
                    })
                    .collect();
                let case = |(reference, run): &(Vec<Score>, Vec<Score>)| {
                    Pool::of(&ScoredCase { reference, run })
                };
                let pools: Vec<Pool> = samples.iter().filter_map(case).collect();
                let mut exact = Distribution::up_to(usize::MAX - 1);
                for pool in &pools {
                    exact.add(&pool.sums());
                }
                // In proportion: with half of the cases, half of the cells and a quarter of the steps.
                let share = exact.steps as f64 / EXACT as f64;
                let steps = (WIDEST as f64 * share) as u64;
                let nearly = Nearly::new(&pools, steps, (CELLS as f64 * share.sqrt()) as usize);
                // Sums at which p is at most 10 %.
                let mut less = 0.0;
                for (sum, equal) in exact.cells.iter().enumerate() {
                    let p = less + equal / 2.0;
                    less += equal;
                    if p > 0.1 {
                        break;
                    }
                    if p > 1e-6 && sum % 61 == 0 {
                        let other = nearly.below(sum as u64);
                        assert!(
                            (p - other).abs() < 1e-3,
                            "{zeros} {lowest} {round}: {p} {other}"
                        );
                    }
                }
            }
        }
    }
}

//! The test against two other ways to compute it.

use proptest::collection::vec;
use proptest::prelude::{
    Just, ProptestConfig, Strategy, prop_assert, prop_assert_eq, prop_oneof, proptest,
};

use super::{NullDistribution, Score, ScoredCase, mid_p};

/// The scores of a case in the reference and in the run.
type Case = (Vec<Score>, Vec<Score>);

fn scored(cases: &[Case]) -> Vec<ScoredCase<'_>> {
    cases
        .iter()
        .map(|(reference, run)| ScoredCase { reference, run })
        .collect()
}

fn score() -> impl Strategy<Value = Score> {
    prop_oneof![
        Just(Score::ZERO),
        Just(Score::ONE),
        (1..4_u32).prop_map(|part| Score::of(f64::from(part) / 4.0)),
        (0..1_000_000_u32).prop_map(|part| Score::of(f64::from(part) / 1e6)),
    ]
}

fn cases(most: usize, samples: usize) -> impl Strategy<Value = Vec<Case>> {
    vec(
        (vec(score(), 1..=samples), vec(score(), 1..=samples)),
        1..=most,
    )
}

fn sum_of(scores: &[Score]) -> u32 {
    scores.iter().map(|score| score.parts()).sum()
}

/// Every choice of the run's samples of every case.
fn by_enumeration(cases: &[Case]) -> Option<f64> {
    let observed: u32 = cases.iter().map(|(_, run)| sum_of(run)).sum();
    let mut choices: Vec<u32> = vec![0];
    for (reference, run) in cases {
        let pooled = [reference.as_slice(), run].concat();
        let sums: Vec<u32> = (0_u32..1 << pooled.len())
            .filter(|choice| choice.count_ones() as usize == run.len())
            .map(|choice| {
                let chosen = pooled.iter().enumerate();
                chosen
                    .filter(|(at, _)| choice >> at & 1 == 1)
                    .map(|(_, score)| score.parts())
                    .sum()
            })
            .collect();
        choices = choices
            .iter()
            .flat_map(|sum| sums.iter().map(move |more| sum + more))
            .collect();
    }
    let all_equal = choices.iter().all(|choice| *choice == choices[0]);
    let less = choices.iter().filter(|sum| **sum < observed).count();
    let equal = choices.iter().filter(|sum| **sum == observed).count();
    (!all_equal).then(|| (less as f64 + equal as f64 / 2.0) / choices.len() as f64)
}

/// A point on the unit circle, or a polynomial's coefficient there.
type Complex = (f64, f64);

fn times(left: Complex, right: Complex) -> Complex {
    (
        left.0 * right.0 - left.1 * right.1,
        left.0 * right.1 + left.1 * right.0,
    )
}

/// The characteristic function of the sum, a product of elementary symmetric polynomials, and its inverse.
fn by_waves(cases: &[Case]) -> f64 {
    let observed: u32 = cases.iter().map(|(_, run)| sum_of(run)).sum();
    let most: u32 = cases.iter().map(|(_, run)| 840 * run.len() as u32).sum();
    let points = most as usize + 1;
    let mut waves: Vec<Complex> = Vec::with_capacity(points);
    for point in 0..points {
        let angle = std::f64::consts::TAU * point as f64 / points as f64;
        let mut value: Complex = (1.0, 0.0);
        for (reference, run) in cases {
            let mut polynomial: Vec<Complex> = vec![(0.0, 0.0); run.len() + 1];
            polynomial[0] = (1.0, 0.0);
            let (mut all, mut ways) = (0.0, 1.0);
            for score in reference.iter().chain(run) {
                let turn = angle * f64::from(score.parts());
                for chosen in (1..=run.len()).rev() {
                    let (real, imaginary) = times(polynomial[chosen - 1], (turn.cos(), turn.sin()));
                    polynomial[chosen].0 += real;
                    polynomial[chosen].1 += imaginary;
                }
                all += 1.0;
            }
            for chosen in 0..run.len() {
                ways *= (all - chosen as f64) / (chosen as f64 + 1.0);
            }
            let (real, imaginary) = polynomial[run.len()];
            value = times(value, (real / ways, imaginary / ways));
        }
        waves.push(value);
    }
    let less: f64 = (0..observed).map(|sum| probability(&waves, sum)).sum();
    less + probability(&waves, observed) / 2.0
}

fn probability(waves: &[Complex], sum: u32) -> f64 {
    let points = waves.len();
    let mut all = 0.0;
    for (point, (real, imaginary)) in waves.iter().enumerate() {
        let angle = std::f64::consts::TAU * point as f64 * f64::from(sum) / points as f64;
        all += real * angle.cos() + imaginary * angle.sin();
    }
    all / points as f64
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_choices_are_counted(cases in cases(3, 3)) {
        match (mid_p(&scored(&cases)), by_enumeration(&cases)) {
            (Some(p), Some(expected)) => prop_assert!((p - expected).abs() < 1e-12, "{p} {expected}"),
            (found, expected) => prop_assert_eq!(found, expected),
        }
    }

    /// The bars have the whole distribution but its ends, and the observed sum of the run is in them.
    #[test]
    fn the_bars_are_the_distribution(cases in cases(4, 4)) {
        let Some(NullDistribution { observed, first, width, shares }) = NullDistribution::of(&scored(&cases)) else {
            prop_assert_eq!(mid_p(&scored(&cases)), None);
            return Ok(());
        };
        let sum: f64 = cases
            .iter()
            .flat_map(|(_, run)| run)
            .map(|score| f64::from(score.parts()) / f64::from(Score::ONE.parts()))
            .sum();
        prop_assert!((sum - observed).abs() < 1e-9, "{sum} {observed}");
        let bar = ((observed - first) / width + 1e-9).floor() as usize;
        let before: f64 = shares[..bar].iter().sum();
        let p = mid_p(&scored(&cases)).unwrap_or_default();
        prop_assert!(before < p + 1e-9 && p < before + shares[bar] + 1e-3, "{before} {p} {}", shares[bar]);
        let all: f64 = shares.iter().sum();
        prop_assert!((0.99..1.0 + 1e-9).contains(&all), "{all}");
    }

    /// The order of cases and samples changes no bit.
    #[test]
    fn order_does_not_matter(cases in cases(6, 5)) {
        let turned: Vec<Case> = cases
            .iter()
            .rev()
            .map(|(reference, run)| (reference.iter().rev().copied().collect(), run.iter().rev().copied().collect()))
            .collect();
        prop_assert_eq!(mid_p(&scored(&cases)), mid_p(&scored(&turned)));
    }

    /// The p of a run and of the same samples the other way round are one together: with mid-p a tie counts half on each side.
    #[test]
    fn reference_and_run_are_mirrored(cases in cases(6, 5)) {
        let swapped: Vec<Case> = cases.iter().map(|(reference, run)| (run.clone(), reference.clone())).collect();
        if let (Some(p), Some(other)) = (mid_p(&scored(&cases)), mid_p(&scored(&swapped))) {
            prop_assert!((p + other - 1.0).abs() < 1e-9, "{p} {other}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn waves_agree(cases in cases(3, 3)) {
        if let Some(p) = mid_p(&scored(&cases)) {
            let expected = by_waves(&cases);
            prop_assert!((p - expected).abs() < 1e-9, "{p} {expected}");
        }
    }
}

/// One sample a case of pass and fail is McNemar's test: only how many cases changed, and in which direction.
#[test]
fn one_sample_is_mcnemar() {
    let flip = |reference, run| (vec![reference], vec![run]);
    let mut cases = vec![flip(Score::ONE, Score::ZERO); 5];
    cases.push(flip(Score::ZERO, Score::ONE));
    cases.extend(vec![flip(Score::ONE, Score::ONE); 30]);
    // Of 2^6 = 64: one with none right, and half of six with one.
    assert_eq!(mid_p(&scored(&cases)), Some(4.0 / 64.0));
}

#[test]
fn nothing_to_test() {
    assert_eq!(mid_p(&[]), None);
    let same = vec![(vec![Score::ONE; 3], vec![Score::ONE; 2])];
    assert_eq!(mid_p(&scored(&same)), None);
    let unmeasured = vec![(vec![Score::ONE, Score::ZERO], vec![])];
    assert_eq!(mid_p(&scored(&unmeasured)), None);
}

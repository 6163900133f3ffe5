//! The rules of the policy `regression` on the samples of one agent: the test, the lost cases, the floor.

use super::lost::samples_to_lose;
use super::null::NullDistribution;
use super::score::Score;
use super::test::{ScoredCase, mid_p};

/// The share of the reference's pass rate below which a run has collapsed.
const COLLAPSE: f64 = 1.0 / 3.0;
/// The passed samples that a reference needs before its pass rate says anything.
const FEWEST_PASSED: usize = 3;

/// The p from which a run is better. A run that is taken because it was better was partly lucky, and the next one is compared with it:
/// taken at 99 %, false alarms climb to 19 % in 60 re-recordings (40 cases of five samples); taken at 99.95 %, they stay below 7 %.
pub const BETTER: f64 = 0.9995;

/// A measured sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// Its score.
    pub score: Score,
    /// Whether all of its checks pass.
    pub passes: bool,
}

/// The samples of one case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CaseSamples {
    /// In the reference; none if the case is new.
    pub reference: Vec<Sample>,
    /// In the run, those that were asked for because of a failure last.
    pub run: Vec<Sample>,
}

/// What the rules have to know of the run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RegressionInput {
    /// Number of samples of a case of the run that test and floor use: its first ones.
    pub samples: usize,
    /// Number of cases of the whole run: chance has this many cases to lose one of.
    pub cases: usize,
    /// The stated least pass rate.
    pub floor: Option<f64>,
}

/// What the rules say. Cases are named by their place.
#[derive(Debug, Clone, PartialEq)]
pub struct Regression {
    /// The p of the test; `None` if there is nothing to test.
    pub p: Option<f64>,
    /// The cases that are lost: right in every sample of the reference, and wrong in as many of the run as chance hardly makes wrong.
    pub lost: Vec<usize>,
    /// The cases that are wrong in every sample of the run, but in too few, each with the number of samples that are missing.
    pub asked: Vec<(usize, usize)>,
    /// The mean over all samples of all cases of whether they pass; `None` without a sample.
    pub pass_rate: Option<f64>,
    /// The pass rate below which the run has collapsed; `None` if none is stated and the reference passes too rarely to say it.
    pub floor: Option<f64>,
}

impl Regression {
    /// Whether the pass rate is below the floor.
    pub fn has_collapsed(&self) -> bool {
        let both = self.pass_rate.zip(self.floor);
        both.is_some_and(|(rate, floor)| rate < floor)
    }
}

/// Applies the rules to the cases of an agent.
pub fn regression(cases: &[CaseSamples], input: &RegressionInput) -> Regression {
    let (mut lost, mut asked) = (Vec::new(), Vec::new());
    for (place, case) in cases.iter().enumerate() {
        match state(case, input.cases) {
            CaseState::Kept => {}
            CaseState::Lost => lost.push(place),
            CaseState::Asked(missing) => asked.push((place, missing)),
        }
    }
    let run = cases
        .iter()
        .flat_map(|case| case.run.iter().take(input.samples));
    let reference = cases.iter().flat_map(|case| &case.reference);
    Regression {
        p: with_scores(cases, input.samples, mid_p),
        lost,
        asked,
        pass_rate: Passed::of(run).rate(),
        floor: input.floor.or_else(|| floor(&Passed::of(reference))),
    }
}

/// The distribution of the sum of the run's scores, had nothing changed, with this number of samples of a case; `None` if there is nothing
/// to test.
pub fn null_distribution(cases: &[CaseSamples], samples: usize) -> Option<NullDistribution> {
    with_scores(cases, samples, NullDistribution::of)
}

/// The scores of the reference, and of the first samples of the run.
fn with_scores<T>(
    cases: &[CaseSamples],
    samples: usize,
    result: impl FnOnce(&[ScoredCase<'_>]) -> T,
) -> T {
    let scores: Vec<(Vec<Score>, Vec<Score>)> = cases
        .iter()
        .map(|case| {
            let reference = case.reference.iter().map(|sample| sample.score);
            let run = case.run.iter().take(samples);
            (
                reference.collect(),
                run.map(|sample| sample.score).collect(),
            )
        })
        .collect();
    let scored: Vec<ScoredCase<'_>> = scores
        .iter()
        .map(|(reference, run)| ScoredCase { reference, run })
        .collect();
    result(&scored)
}

enum CaseState {
    Kept,
    Lost,
    /// With the number of missing samples.
    Asked(usize),
}

fn state(case: &CaseSamples, cases: usize) -> CaseState {
    let is_steady = !case.reference.is_empty() && case.reference.iter().all(|sample| sample.passes);
    if !is_steady || case.run.is_empty() {
        return CaseState::Kept;
    }
    let needed = samples_to_lose(case.reference.len(), cases);
    let first = &case.run[..case.run.len().min(needed)];
    if first.iter().any(|sample| sample.passes) {
        CaseState::Kept
    } else if first.len() == needed {
        CaseState::Lost
    } else {
        CaseState::Asked(needed - first.len())
    }
}

/// How many of some samples pass.
struct Passed {
    passed: usize,
    all: usize,
}

impl Passed {
    fn of<'a>(samples: impl Iterator<Item = &'a Sample>) -> Self {
        let mut counted = Self { passed: 0, all: 0 };
        for sample in samples {
            counted.passed += usize::from(sample.passes);
            counted.all += 1;
        }
        counted
    }

    fn rate(&self) -> Option<f64> {
        (self.all > 0).then(|| self.passed as f64 / self.all as f64)
    }
}

fn floor(reference: &Passed) -> Option<f64> {
    match reference.rate() {
        None => Some(COLLAPSE),
        Some(rate) => (reference.passed >= FEWEST_PASSED).then_some(rate * COLLAPSE),
    }
}

#[cfg(test)]
mod tests {
    use super::{CaseSamples, RegressionInput, Sample, regression};
    use crate::chance::Score;

    /// `+` passes, `-` fails.
    fn samples(marks: &str) -> Vec<Sample> {
        let sample = |mark| match mark {
            '+' => Sample {
                score: Score::ONE,
                passes: true,
            },
            _ => Sample {
                score: Score::ZERO,
                passes: false,
            },
        };
        marks.chars().map(sample).collect()
    }

    fn case(reference: &str, run: &str) -> CaseSamples {
        CaseSamples {
            reference: samples(reference),
            run: samples(run),
        }
    }

    fn input(samples: usize, cases: usize) -> RegressionInput {
        RegressionInput {
            samples,
            cases,
            floor: None,
        }
    }

    #[test]
    fn a_lost_case_needs_enough_samples() {
        let lost = |reference: &str, run: &str, cases| {
            let found = regression(&[case(reference, run)], &input(3, cases));
            (found.lost.len(), found.asked.first().map(|(_, more)| *more))
        };
        assert_eq!(lost("+++", "---", 12), (0, Some(3)));
        assert_eq!(lost("+++", "------", 12), (1, None));
        assert_eq!(lost("+++", "-----+", 12), (0, None));
        // More samples than are needed: the first ones decide.
        assert_eq!(lost("+++", "------+", 12), (1, None));
        assert_eq!(lost("++-", "------", 12), (0, None));
        assert_eq!(lost("", "------", 12), (0, None));
        assert_eq!(lost("+", "-", 12), (0, Some(9)));
        assert_eq!(lost("+++++", "-----", 51), (1, None));
    }

    /// They were asked for because of a failure.
    #[test]
    fn asked_samples_count_for_the_lost_case_alone() {
        let cases = |run: &str| [case("+++", run), case("+++", "++-"), case("++-", "+++")];
        let before = regression(&cases("---"), &input(3, 12));
        let after = regression(&cases("---++++++"), &input(3, 12));
        assert_eq!(
            (before.p, before.pass_rate, before.floor),
            (after.p, after.pass_rate, after.floor)
        );
        assert!(before.asked == [(0, 3)] && after.asked.is_empty());
    }

    #[test]
    fn a_collapse_is_below_a_third() {
        let is_below = |reference: &str, run: &str, floor| {
            let input = RegressionInput {
                floor,
                ..input(1, 4)
            };
            let single = |marks: &str, at: usize| marks.get(at..=at).unwrap_or_default().to_owned();
            let most = reference.len().max(run.len());
            let cases: Vec<CaseSamples> = (0..most)
                .map(|at| case(&single(reference, at), &single(run, at)))
                .collect();
            regression(&cases, &input).has_collapsed()
        };
        assert!(is_below("++++", "+---", None));
        assert!(
            !is_below("+++-", "+---", None),
            "a quarter is a third of three quarters"
        );
        assert!(
            !is_below("++--", "----", None),
            "two right samples say nothing"
        );
        assert!(is_below("", "+---", None) && !is_below("", "++--", None));
        assert!(is_below("++--", "+---", Some(0.5)));
    }
}

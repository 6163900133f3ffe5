//! Counts the cases that pass by majority, and those that pass in every sample.

use super::FEWEST_CASES;
use super::proportion::share_interval;
use super::quantile::ten_places;
use crate::model::{Exclusion, PairResult, Passing, Reliability, Standing};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseDependence {
    /// Each case has its own document.
    Apart,
    /// Some cases share a document: an interval for independent cases would be too narrow.
    Together,
}

/// The reliability over the counted pairs of an agent; `None` if no pair counts.
///
/// A pair passes every sample (pass^N: Yao et al., "τ-bench", 2024, with all N samples drawn, so that their estimator is the plain share)
/// if all its planned samples completed and passed. A pair that lost a sample fails if a completed sample fails; otherwise its result is
/// unknown: it is left out and counted, because a lost sample proves nothing.
pub fn reliability<'p>(
    pairs: impl Iterator<Item = &'p PairResult>,
    cases: CaseDependence,
) -> Option<Reliability> {
    let counted: Vec<&PairResult> = pairs
        .filter(|pair| pair.exclusion == Exclusion::Counted)
        .collect();
    if counted.is_empty() {
        return None;
    }
    let majority = counted.iter().filter(|pair| pair.passed.passes()).count();
    let steady = counted
        .iter()
        .copied()
        .filter(|pair| pair.passed == Standing::Passes);
    let (whole, untold): (Vec<_>, Vec<_>) = steady.partition(|pair| pair.completed == pair.planned);
    let stopped_early = untold.iter().filter(|pair| pair.lost.is_empty()).count();
    let several = counted.iter().any(|pair| pair.planned > 1);
    Some(Reliability {
        majority: passing(majority, counted.len(), cases),
        every: several.then(|| passing(whole.len(), counted.len() - untold.len(), cases)),
        every_before: None,
        pass_hat: pass_hat(&counted),
        untold: u32::try_from(untold.len()).unwrap_or(u32::MAX),
        stopped_early: u32::try_from(stopped_early).unwrap_or(u32::MAX),
    })
}

fn passing(passed: usize, whole: usize, cases: CaseDependence) -> Passing {
    Passing {
        passed: u32::try_from(passed).unwrap_or(u32::MAX),
        of: u32::try_from(whole).unwrap_or(u32::MAX),
        ci95: match cases {
            CaseDependence::Apart => share_interval(passed, whole),
            CaseDependence::Together => None,
        },
    }
}

/// pass^k for every k up to the samples that each case has: the mean over the cases of `C(c, k) / C(n, k)`, with `c` of `n` samples right (Yao
/// et al. 2024).
fn pass_hat(counted: &[&PairResult]) -> Vec<f64> {
    let samples = counted.iter().map(|pair| pair.completed).min().unwrap_or(0);
    if counted.len() < FEWEST_CASES || samples < 2 {
        return Vec::new();
    }
    let mut means = Vec::new();
    for count in 1..=samples {
        let sum: f64 = counted.iter().map(|pair| all_right(pair, count)).sum();
        means.push(ten_places(sum / counted.len() as f64));
    }
    means
}

/// The probability that this many of the samples of a case, drawn without replacement, are all right.
fn all_right(pair: &PairResult, count: u32) -> f64 {
    let (right, all) = (pair.passing.unwrap_or(0), pair.completed);
    (0..count)
        .map(|drawn| f64::from(right.saturating_sub(drawn)) / f64::from(all - drawn))
        .product()
}

#[cfg(test)]
mod tests {
    use super::{CaseDependence, reliability};
    use crate::fold;
    use crate::fold::{GradedSample, PairMeta};
    use crate::model::{
        AgentName, AnsweredBy, CaseId, Check, CheckKey, CheckName, CheckOutcome, Failure, Grade,
        Layer, PairResult, RepoPath, Tag, UngradedReason,
    };

    /// Samples of one pair: `+` passes, `-` fails, `.` is lost.
    fn pair(samples: &str) -> PairResult {
        let graded = samples.chars().map(|char| {
            let outcome = match char {
                '+' => CheckOutcome::Passed,
                '-' => CheckOutcome::Failed(Box::new(Failure {
                    tag: Tag::Model,
                    detail: String::new(),
                    next_action: String::new(),
                })),
                _ => return GradedSample::Lost(UngradedReason::NotRecorded),
            };
            let name = CheckName {
                word: "c".to_owned().into(),
                key: CheckKey::Only,
            };
            let checks = vec![Check {
                name,
                line: 1,
                outcome,
                expected: None,
            }];
            GradedSample::Completed(Grade {
                values: Vec::new(),
                checks,
                layer: Layer::Structured,
                shortfalls: Vec::new(),
                kept: None,
            })
        });
        let heading = PairMeta {
            case: CaseId::new("c").unwrap(),
            agent: AgentName::new("a").unwrap(),
            golden: RepoPath::root(),
            answered_by: AnsweredBy::default(),
        };
        fold::pair(&[], heading, graded.collect())
    }

    /// Number of passed cases, and of how many.
    type Count = (u32, u32);

    /// The counts by majority, in every sample, and unknown, for several pairs.
    fn counts(pairs: &[&str]) -> Option<(Count, Option<Count>, u32)> {
        let pairs: Vec<PairResult> = pairs.iter().map(|samples| pair(samples)).collect();
        let found = reliability(pairs.iter(), CaseDependence::Apart)?;
        let every = found.every.map(|every| (every.passed, every.of));
        Some((
            (found.majority.passed, found.majority.of),
            every,
            found.untold,
        ))
    }

    #[test]
    fn a_case_passes_every_sample_if_all_completed_and_passed() {
        for (pairs, expected) in [
            (&["+", "-"][..], Some(((1, 2), None, 0))),
            (
                &["+++", "++-", "--+", "---"][..],
                Some(((2, 4), Some((1, 4)), 0)),
            ),
            // Two of three completed and passed: the third is unknown. One failure is enough.
            (&["++.", "+++"][..], Some(((2, 2), Some((1, 1)), 1))),
            (&["+-.", "+++"][..], Some(((1, 2), Some((1, 2)), 0))),
            // No majority completed: the pair is excluded from everything.
            (&["+..", "+++"][..], Some(((1, 1), Some((1, 1)), 0))),
            (&["+.."][..], None),
            (&[][..], None),
        ] {
            assert_eq!(counts(pairs), expected, "{pairs:?}");
        }
    }

    #[test]
    fn no_more_cases_pass_every_sample_than_the_majority() {
        let samples = ["+++", "++-", "+--", "---", "++.", "+-.", "--.", "..."];
        for one in samples {
            for other in samples {
                for third in samples {
                    let Some(((majority, counted), Some((every, of)), untold)) =
                        counts(&[one, other, third])
                    else {
                        continue;
                    };
                    assert!(
                        every <= majority && of + untold == counted,
                        "{one} {other} {third}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_case_that_was_not_sampled_further_lost_no_sample() {
        let stopped = PairResult {
            planned: 5,
            spared: 2,
            ..pair("+++")
        };
        let pairs = [stopped, pair("+++.+"), pair("+++++")];
        let found = reliability(pairs.iter(), CaseDependence::Apart).unwrap();
        assert_eq!((found.untold, found.stopped_early), (2, 1));
    }

    #[test]
    fn cases_that_share_a_document_have_no_interval() {
        let pairs = [
            pair("+++"),
            pair("++-"),
            pair("+++"),
            pair("+++"),
            pair("---"),
        ];
        assert!(
            reliability(pairs.iter(), CaseDependence::Apart)
                .unwrap()
                .majority
                .ci95
                .is_some()
        );
        let together = reliability(pairs.iter(), CaseDependence::Together).unwrap();
        assert_eq!(
            (together.majority.ci95, together.every.unwrap().ci95),
            (None, None)
        );
    }
}

//! The policy `regression` on the results of one agent: what its samples are compared with, and what the four rules say.

use std::collections::{BTreeMap, BTreeSet};

use crate::chance::{
    CaseSamples, NullDistribution, Regression, RegressionInput, Sample, Score, null_distribution,
    regression,
};
use crate::model::{
    AskedCase, BaselineEntry, BrokenRule, CaseId, EPSILON, Exclusion, NeverClass, PairResult,
    SampledCase, ScoredSample,
};

/// The length of an answer, in characters, from which two equal ones are no chance.
const LONG_ANSWER: u32 = 200;
/// The samples of a case in which a guard has to be broken by most, if it was broken in the only one.
const SAMPLES_OF_GUARD: u32 = 3;

/// Whether another sample could have another result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeats {
    /// A model answers.
    Differ,
    /// The result is computed: one sample is enough.
    Alike,
}

/// What the rules have to know of an agent.
#[derive(Clone, Copy)]
pub struct PolicyInput<'a> {
    /// The results of its cases.
    pub results: &'a [PairResult],
    /// The committed baseline's entry.
    pub baseline: Option<&'a BaselineEntry>,
    /// The base commit's own runs, graded by the same rules, if they are known.
    pub base: Option<&'a [PairResult]>,
    /// The samples of a case that the config states.
    pub samples: Option<u32>,
    /// The cases of the whole run.
    pub cases: usize,
    /// The stated least pass rate.
    pub floor: Option<f64>,
    /// What the agent never does.
    pub guards: &'a [NeverClass],
    /// Whether another sample could have another result.
    pub repeats: Repeats,
    /// The chance of a false alarm over all agents.
    pub alpha: f64,
}

/// The p of the test, with what missing samples could make of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tested {
    /// Of the samples that there are.
    pub p: f64,
    /// If every missing sample scored 0.
    pub least: f64,
    /// If every missing sample scored 1.
    pub most: f64,
}

/// What the test of an agent is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestReference {
    /// The committed baseline, or the base commit's own runs where there is none.
    Baseline,
    /// The base commit's own runs, which fail the test against the baseline themselves.
    BaseRuns,
}

/// What the rules say of one agent. Whether its test is red depends on the other agents of the run.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyOutcome {
    /// The test; `None` if there is nothing to test.
    pub test: Option<Tested>,
    /// Where the sums of an unchanged agent's scores would lie.
    pub null: Option<NullDistribution>,
    pub reference: TestReference,
    /// The p of the base commit's own runs against the baseline, if they are known.
    pub base_p: Option<f64>,
    /// Whether its scores differ from those of the base commit's own runs; also if these are not known.
    pub moved: Moved,
    /// The lost cases.
    pub lost: Vec<LostCase>,
    /// The cases that may be lost, each with the number of samples that say it.
    pub asked: Vec<AskedCase>,
    /// The guards that most samples of a case break.
    pub broken: Vec<BrokenRule>,
    /// The pass rate of the run, and what missing samples could make of it.
    pub pass_rate: Option<PassRate>,
    /// The least pass rate.
    pub floor: Option<f64>,
    /// The reference's pass rate.
    pub before: Option<f64>,
    /// The number of compared cases, and of the samples of a case in the run.
    pub compared: usize,
    pub samples: usize,
    /// Whether another sample could have another result.
    pub repeats: Repeats,
    /// The cases that score less than in the reference, those that lost most first.
    pub drops: Vec<Drop>,
    /// The cases that the base commit lost itself, or is asked about.
    pub lost_on_base: Vec<CaseId>,
    /// The guards that the reference breaks already, with the case.
    pub broken_before: Vec<BrokenRule>,
    /// The cases that were graded by other rules than the reference, and whose old runs are not there to be graded again.
    pub not_compared: Vec<CaseId>,
    /// The sides whose samples count once, because each is the same.
    pub cached: Vec<CachedSide>,
}

/// Whether an agent's scores differ from those of the base commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moved {
    Yes,
    No,
}

/// A side of the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CachedSide {
    Reference,
    Run,
}

/// A lost case, with the numbers of samples that say it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostCase {
    pub case: CaseId,
    /// Its samples in the reference, all right.
    pub before: usize,
    /// Its samples in the run, all wrong.
    pub now: usize,
}

/// A case that scores less than in the reference.
#[derive(Debug, Clone, PartialEq)]
pub struct Drop {
    pub case: CaseId,
    /// The mean of its scores in the reference.
    pub before: f64,
    /// The mean of its scores in the run.
    pub now: f64,
    /// How many of its samples pass in the reference, and in the run.
    pub right_before: RightSamples,
    pub right_now: RightSamples,
}

/// How many of some samples pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RightSamples {
    pub right: usize,
    pub of: usize,
}

impl RightSamples {
    fn of(samples: &[Sample]) -> Self {
        Self {
            right: samples.iter().filter(|sample| sample.passes).count(),
            of: samples.len(),
        }
    }
}

/// A pass rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PassRate {
    /// Of the samples that there are.
    pub measured: f64,
    /// If every missing sample failed.
    pub least: f64,
    /// If every missing sample passed.
    pub most: f64,
}

impl PolicyOutcome {
    /// Whether a rule other than the test is red, or asks for samples.
    pub fn is_red_without_test(&self) -> bool {
        !self.lost.is_empty()
            || !self.asked.is_empty()
            || !self.broken.is_empty()
            || self.collapse() != Collapse::No
    }

    /// Whether the pass rate is below the floor.
    pub fn collapse(&self) -> Collapse {
        let Some((rate, floor)) = self.pass_rate.zip(self.floor) else {
            return Collapse::No;
        };
        let (least, most) = (rate.least < floor - EPSILON, rate.most < floor - EPSILON);
        match (least, most) {
            (true, true) => Collapse::Yes,
            (false, false) => Collapse::No,
            (true, false) | (false, true) => Collapse::Open,
        }
    }
}

/// Whether a pass rate is below its floor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Collapse {
    Yes,
    No,
    /// The missing samples decide.
    Open,
}

/// Applies the rules to an agent.
pub fn policy_outcome(input: &PolicyInput<'_>) -> PolicyOutcome {
    let sides = Sides::of(input);
    let regression = sides.regression(input);
    let base_regression = sides.base_against_reference(input);
    let fails_on_base = base_regression.as_ref().is_some_and(|base_regression| {
        base_regression
            .p
            .is_some_and(|p| p <= input.alpha + EPSILON)
    });
    let reference = if fails_on_base {
        TestReference::BaseRuns
    } else {
        TestReference::Baseline
    };
    let measured = match reference {
        TestReference::Baseline => regression.p,
        TestReference::BaseRuns => sides.p(reference, Missing::Left),
    };
    let test = measured.map(|p| sides.tested(reference, p));
    let collapsed_on_base = base_regression
        .as_ref()
        .is_some_and(Regression::has_collapsed);
    let floor = if collapsed_on_base {
        sides.floor_of_base(input)
    } else {
        regression.floor
    };
    let mut outcome = PolicyOutcome {
        test,
        null: null_distribution(&sides.compared(reference, Missing::Left), sides.count),
        reference,
        base_p: base_regression
            .as_ref()
            .and_then(|base_regression| base_regression.p),
        moved: sides.moved,
        lost: Vec::new(),
        asked: Vec::new(),
        broken: Vec::new(),
        pass_rate: sides.pass_rate(),
        floor,
        before: sides.reference_rate(),
        compared: sides
            .cases
            .iter()
            .filter(|case| !case.samples.reference.is_empty())
            .count(),
        samples: sides.count,
        repeats: input.repeats,
        drops: sides.drops(reference),
        lost_on_base: Vec::new(),
        broken_before: Vec::new(),
        not_compared: sides.not_compared.clone(),
        cached: sides.cached.clone(),
    };
    sides.add_lost(input, &regression, base_regression.as_ref(), &mut outcome);
    add_broken(input, &mut outcome);
    outcome
}

/// The pairs that count.
fn counted(results: &[PairResult]) -> impl Iterator<Item = &PairResult> + Clone {
    results
        .iter()
        .filter(|pair| pair.exclusion == Exclusion::Counted)
}

/// What missing samples count as.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    /// They are left out.
    Left,
    As(Sample),
}

const WRONG: Sample = Sample {
    score: Score::ZERO,
    passes: false,
};

const RIGHT: Sample = Sample {
    score: Score::ONE,
    passes: true,
};

/// A case of the run with its samples.
struct SidedCase<'a> {
    case: &'a CaseId,
    samples: CaseSamples,
    /// The number of samples that the run lost.
    missing: usize,
    /// The base commit's own samples.
    base: Vec<Sample>,
}

/// The samples of an agent and of what they are compared with.
struct Sides<'a> {
    cases: Vec<SidedCase<'a>>,
    /// The samples of a case that test and floor use.
    count: usize,
    moved: Moved,
    not_compared: Vec<CaseId>,
    cached: Vec<CachedSide>,
}

impl<'a> Sides<'a> {
    fn of(input: &PolicyInput<'a>) -> Self {
        let base: BTreeMap<&CaseId, &PairResult> = input
            .base
            .into_iter()
            .flat_map(counted)
            .map(|pair| (&pair.case, pair))
            .collect();
        let run_is_cached = are_cached(counted(input.results));
        let base_is_cached = are_cached(base.values().copied());
        let count = if run_is_cached {
            1
        } else if let Some(stated) = input.samples {
            stated as usize
        } else {
            planned_samples(input.baseline, counted(input.results))
        };
        let mut reference_is_cached = false;
        let (mut cases, mut not_compared) = (Vec::new(), Vec::new());
        for pair in counted(input.results) {
            let base_pair = base
                .get(&pair.case)
                .filter(|base_pair| is_same_question(base_pair.input_sha256.as_ref(), pair));
            let base_samples = base_pair.map_or_else(Vec::new, |base_pair| {
                let count = if base_is_cached { 1 } else { count };
                base_pair.scored.iter().take(count).map(sample).collect()
            });
            let reference = match reference_of(input.baseline, pair) {
                CaseReference::Baseline(known) => {
                    let is_cached = input.baseline.is_some_and(|entry| entry.cached);
                    reference_is_cached |= is_cached;
                    let all = known.scores.len();
                    sampled(known, if is_cached { 1 } else { all })
                }
                CaseReference::None => base_samples.clone(),
                CaseReference::New => Vec::new(),
                CaseReference::GradedOtherwise => {
                    if base_pair.is_none() {
                        not_compared.push(pair.case.clone());
                    }
                    base_samples.clone()
                }
            };
            let run = if run_is_cached {
                pair.scored.iter().take(1).map(sample).collect()
            } else {
                pair.scored.iter().map(sample).collect()
            };
            cases.push(SidedCase {
                case: &pair.case,
                samples: CaseSamples { reference, run },
                missing: if run_is_cached { 0 } else { pair.lost.len() },
                base: base_samples,
            });
        }
        let moved = if input.base.is_some() && !has_moved(counted(input.results), &base) {
            Moved::No
        } else {
            Moved::Yes
        };
        let mut cached = Vec::new();
        if reference_is_cached || (input.baseline.is_none() && base_is_cached) {
            cached.push(CachedSide::Reference);
        }
        if run_is_cached {
            cached.push(CachedSide::Run);
        }
        Self {
            cases,
            count,
            moved,
            not_compared,
            cached,
        }
    }

    /// The rules on the run.
    fn regression(&self, input: &PolicyInput<'_>) -> Regression {
        let cases: Vec<CaseSamples> = self.cases.iter().map(|case| case.samples.clone()).collect();
        regression(&cases, &self.input(input))
    }

    fn input(&self, input: &PolicyInput<'_>) -> RegressionInput {
        RegressionInput {
            samples: self.count,
            cases: input.cases,
            floor: input.floor,
        }
    }

    /// The rules on the base commit's own runs; `None` if these are not known.
    fn base_against_reference(&self, input: &PolicyInput<'_>) -> Option<Regression> {
        input.base?;
        let cases: Vec<CaseSamples> = self
            .cases
            .iter()
            .map(|case| CaseSamples {
                reference: case.samples.reference.clone(),
                run: case.base.clone(),
            })
            .collect();
        Some(regression(&cases, &self.input(input)))
    }

    /// The samples that are compared, with those that the run lost as these.
    fn compared(&self, reference: TestReference, missing: Missing) -> Vec<CaseSamples> {
        self.cases
            .iter()
            .map(|case| {
                let samples = with_missing(case, self.count, missing);
                match reference {
                    TestReference::Baseline => samples,
                    TestReference::BaseRuns => CaseSamples {
                        reference: case.base.clone(),
                        ..samples
                    },
                }
            })
            .collect()
    }

    /// The p of the test, with the samples that the run lost as these; `None` if there is nothing to test.
    fn p(&self, reference: TestReference, missing: Missing) -> Option<f64> {
        let cases = self.compared(reference, missing);
        let input = RegressionInput {
            samples: self.count,
            cases: cases.len(),
            floor: None,
        };
        regression(&cases, &input).p
    }

    /// The measured p, with the ends that missing samples could give.
    fn tested(&self, reference: TestReference, measured: f64) -> Tested {
        let (mut least, mut most) = (measured, measured);
        if self.cases.iter().any(|case| case.missing > 0) {
            least = self.p(reference, Missing::As(WRONG)).unwrap_or(measured);
            most = self.p(reference, Missing::As(RIGHT)).unwrap_or(measured);
        }
        Tested {
            p: measured,
            least,
            most,
        }
    }

    fn drops(&self, reference: TestReference) -> Vec<Drop> {
        let mut drops: Vec<Drop> = self
            .cases
            .iter()
            .filter_map(|case| self.drop_of(case, reference))
            .collect();
        drops.sort_by(|left, right| loss(right).total_cmp(&loss(left)));
        drops
    }

    /// The drop of a case; `None` if its mean score is not lower.
    fn drop_of(&self, case: &SidedCase<'_>, reference: TestReference) -> Option<Drop> {
        let reference = match reference {
            TestReference::Baseline => &case.samples.reference,
            TestReference::BaseRuns => &case.base,
        };
        let run = &case.samples.run[..case.samples.run.len().min(self.count)];
        let (reference_score, run_score) = (mean_score(reference)?, mean_score(run)?);
        if run_score >= reference_score {
            return None;
        }
        Some(Drop {
            case: case.case.clone(),
            before: reference_score,
            now: run_score,
            right_before: RightSamples::of(reference),
            right_now: RightSamples::of(run),
        })
    }

    fn pass_rate(&self) -> Option<PassRate> {
        Some(PassRate {
            measured: self.pass_rate_with(Missing::Left)?,
            least: self.pass_rate_with(Missing::As(WRONG))?,
            most: self.pass_rate_with(Missing::As(RIGHT))?,
        })
    }

    fn pass_rate_with(&self, missing: Missing) -> Option<f64> {
        let (mut passed, mut all) = (0_usize, 0_usize);
        for case in &self.cases {
            let run = with_missing(case, self.count, missing).run;
            for sample in run.into_iter().take(self.count) {
                all += 1;
                passed += usize::from(sample.passes);
            }
        }
        (all > 0).then(|| passed as f64 / all as f64)
    }

    fn reference_rate(&self) -> Option<f64> {
        let (mut passed, mut all) = (0_usize, 0_usize);
        for sample in self.cases.iter().flat_map(|case| &case.samples.reference) {
            all += 1;
            passed += usize::from(sample.passes);
        }
        (all > 0).then(|| passed as f64 / all as f64)
    }

    /// The floor that the base commit's own runs give, where they are below the other one.
    fn floor_of_base(&self, input: &PolicyInput<'_>) -> Option<f64> {
        let cases: Vec<CaseSamples> = self
            .cases
            .iter()
            .map(|case| CaseSamples {
                reference: case.base.clone(),
                run: Vec::new(),
            })
            .collect();
        let input = RegressionInput {
            floor: None,
            ..self.input(input)
        };
        regression(&cases, &input).floor
    }

    /// Adds the cases that are lost or asked about, without those that the base commit lost itself.
    fn add_lost(
        &self,
        input: &PolicyInput<'_>,
        regression: &Regression,
        base_regression: Option<&Regression>,
        outcome: &mut PolicyOutcome,
    ) {
        let on_base = base_regression.map(lost_or_asked).unwrap_or_default();
        let mut all: Vec<(usize, Option<usize>)> = Vec::new();
        for index in &regression.lost {
            all.push((*index, None));
        }
        for (index, missing) in &regression.asked {
            all.push((*index, Some(*missing)));
        }
        all.sort_unstable();
        for (index, missing) in all {
            let SidedCase { case, samples, .. } = &self.cases[index];
            if on_base.contains(&index) {
                outcome.lost_on_base.push((*case).clone());
                continue;
            }
            let (in_reference, in_run) = (samples.reference.len(), samples.run.len());
            match missing.filter(|_| input.repeats == Repeats::Differ) {
                Some(more) => outcome.asked.push(AskedCase {
                    case: (*case).clone(),
                    before: in_reference,
                    now: in_run,
                    more,
                    command: None,
                    class: None,
                }),
                None => outcome.lost.push(LostCase {
                    case: (*case).clone(),
                    before: in_reference,
                    now: in_run,
                }),
            }
        }
    }
}

fn loss(drop: &Drop) -> f64 {
    drop.before - drop.now
}

/// The cases that the rules call lost or ask about, by their indices.
fn lost_or_asked(regression: &Regression) -> BTreeSet<usize> {
    let asked = regression.asked.iter().map(|(index, _)| *index);
    regression.lost.iter().copied().chain(asked).collect()
}

/// The samples of a case, with the missing ones.
fn with_missing(case: &SidedCase<'_>, count: usize, missing: Missing) -> CaseSamples {
    let mut samples = case.samples.clone();
    if let Missing::As(sample) = missing {
        let room = count.saturating_sub(samples.run.len()).min(case.missing);
        samples.run.extend(std::iter::repeat_n(sample, room));
    }
    samples
}

/// What a case is compared with.
pub(super) enum CaseReference<'a> {
    Baseline(&'a SampledCase),
    /// Without a baseline.
    None,
    /// The baseline does not have it, or it asks something else now.
    New,
    /// The baseline's samples were graded by other rules.
    GradedOtherwise,
}

pub(super) fn reference_of<'a>(
    baseline: Option<&'a BaselineEntry>,
    pair: &PairResult,
) -> CaseReference<'a> {
    let Some(entry) = baseline else {
        return CaseReference::None;
    };
    match entry.samples.get(&pair.case) {
        None if entry.last_values(&pair.case).is_some() => CaseReference::GradedOtherwise,
        None => CaseReference::New,
        Some(known) if !is_same_question(known.input_sha256.as_ref(), pair) => CaseReference::New,
        Some(known) if known.graded_by == pair.graded_by => CaseReference::Baseline(known),
        Some(_) => CaseReference::GradedOtherwise,
    }
}

/// Whether samples with this input digest were asked the same as a pair; unknown is the same.
fn is_same_question(input: Option<&String>, pair: &PairResult) -> bool {
    let both = input.zip(pair.input_sha256.as_ref());
    both.is_none_or(|(left, right)| left == right)
}

pub(super) fn sample(scored: &ScoredSample) -> Sample {
    Sample {
        score: Score::of(scored.score),
        passes: scored.passes,
    }
}

pub(super) fn sampled(known: &SampledCase, count: usize) -> Vec<Sample> {
    let both = known.scores.iter().zip(&known.passed).take(count);
    both.map(|(score, passes)| Sample {
        score: Score::of(*score),
        passes: *passes,
    })
    .collect()
}

/// Whether a cache most likely gave the answers: each case has the same in every sample, and one of them is long.
pub fn are_cached<'p>(results: impl Iterator<Item = &'p PairResult> + Clone) -> bool {
    let mut repeated = results
        .clone()
        .filter(|pair| pair.scored.len() > 1)
        .peekable();
    repeated.peek().is_some()
        && repeated.all(|pair| pair.same_answer.is_some())
        && results
            .clone()
            .any(|pair| pair.same_answer.is_some_and(|length| length >= LONG_ANSWER))
}

/// The number of samples that most cases have, of equally frequent ones the larger.
pub fn usual_samples<'p>(results: impl Iterator<Item = &'p PairResult>) -> usize {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for pair in results {
        *counts.entry(pair.planned as usize).or_default() += 1;
    }
    let most = counts
        .into_iter()
        .max_by_key(|(samples, cases)| (*cases, *samples));
    most.map_or(1, |(samples, _)| samples)
}

/// The number of samples that most cases have. A case that a rule may have asked about has further ones, so it does not count.
fn planned_samples<'p>(
    baseline: Option<&BaselineEntry>,
    results: impl Iterator<Item = &'p PairResult> + Clone,
) -> usize {
    let mut others = results
        .clone()
        .filter(|pair| !may_be_asked(pair, baseline))
        .peekable();
    if others.peek().is_some() {
        usual_samples(others)
    } else {
        usual_samples(results)
    }
}

/// Whether a rule may have asked about a case: it passed in the baseline, and fails in all samples but the last.
fn may_be_asked(pair: &PairResult, baseline: Option<&BaselineEntry>) -> bool {
    let known = baseline.and_then(|entry| entry.samples.get(&pair.case));
    let is_steady = known.is_some_and(|known| known.passed.iter().all(|passes| *passes));
    let before_last = match pair.scored.split_last() {
        Some((_, others)) => others,
        None => &[],
    };
    is_steady && before_last.iter().all(|sample| !sample.passes)
}

/// Whether the scores of some case differ from the base commit's own runs, whatever their order.
fn has_moved<'p>(
    mut results: impl Iterator<Item = &'p PairResult>,
    base: &BTreeMap<&CaseId, &PairResult>,
) -> bool {
    results.any(|pair| {
        base.get(&pair.case)
            .is_none_or(|base_pair| sorted_scores(base_pair) != sorted_scores(pair))
    })
}

fn sorted_scores(pair: &PairResult) -> Vec<u32> {
    let scores = pair.scored.iter();
    let mut scores: Vec<u32> = scores
        .map(|sample| Score::of(sample.score).parts())
        .collect();
    scores.sort_unstable();
    scores
}

/// Adds the guards that a case breaks.
fn add_broken(input: &PolicyInput<'_>, outcome: &mut PolicyOutcome) {
    let base: BTreeMap<&CaseId, &PairResult> = input
        .base
        .into_iter()
        .flatten()
        .map(|pair| (&pair.case, pair))
        .collect();
    for pair in input
        .results
        .iter()
        .filter(|pair| pair.exclusion == Exclusion::Counted)
    {
        for broken in &pair.broken {
            let count = pair.completed;
            if !input.guards.contains(&broken.class) || 2 * broken.samples <= count {
                continue;
            }
            let known = input
                .baseline
                .and_then(|entry| entry.samples.get(&pair.case));
            let base_pair = base.get(&pair.case);
            let is_broken_before = known.is_some_and(|known| known.broken.contains(&broken.class))
                || base_pair.is_some_and(|base_pair| {
                    base_pair
                        .broken
                        .iter()
                        .any(|base_rule| base_rule.class == broken.class)
                });
            let rule = BrokenRule {
                class: broken.class,
                case: pair.case.clone(),
            };
            if is_broken_before {
                outcome.broken_before.push(rule);
            } else if count == 1 && input.repeats == Repeats::Differ {
                outcome.asked.push(AskedCase {
                    case: rule.case,
                    before: 0,
                    now: 1,
                    more: (SAMPLES_OF_GUARD - count) as usize,
                    command: None,
                    class: Some(broken.class),
                });
            } else {
                outcome.broken.push(rule);
            }
        }
    }
}

/// The mean score of some samples; `None` without any.
fn mean_score(samples: &[Sample]) -> Option<f64> {
    let sum: u32 = samples.iter().map(|sample| sample.score.parts()).sum();
    (!samples.is_empty())
        .then(|| f64::from(sum) / f64::from(Score::ONE.parts()) / samples.len() as f64)
}

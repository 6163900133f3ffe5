//! What the policy `regression` adds to the report of an agent: a number with a gate for each rule, the cases behind it, and notes.

use super::about_agent;
use super::evidence::{failed_checks, listed};
use crate::chance::{NullDistribution, detection};
use crate::gate::{
    CachedSide, Collapse, Drop, PolicyOutcome, Repeats, RightSamples, TestReference,
};
use crate::model::{
    AgentReport, AskedCase, BaseCommitValue, Better, BrokenRule, COVERAGE, CaseEvidence, CaseId,
    Comparison, Difference, EvidenceLine, EvidenceSource, GateKind, GateRuling, MetricEvidence,
    MetricReport, NotGateable, POLICY_METRICS, PairResult, Policy, PolicyReport, Ruling, SuiteId,
    UnchangedSums, UngradedReason, Unit, Verdict, six_places,
};
use crate::text::named;

/// The most differences of a case.
const DIFFERENCES: usize = 4;

/// How the test of an agent ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TestRuling {
    /// The chance of a false alarm of all agents together.
    pub alpha: f64,
    /// What p was held against; `None` if nothing was tested.
    pub limit: Option<f64>,
    /// The number of agents that share the chance of a false alarm.
    pub tested: usize,
    pub state: TestState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestState {
    Green,
    Red,
    /// The missing samples decide.
    Open,
}

/// Adds what the policy `regression` says of an agent to its report. Returns why it has no verdict, if it has none.
pub fn add_regression(
    suite: &SuiteId,
    report: &mut AgentReport,
    outcome: &PolicyOutcome,
    test: TestRuling,
    branch: Option<&str>,
    record_missing: Option<&str>,
) -> Vec<NotGateable> {
    let base = branch.unwrap_or("the base commit");
    let mut refused = Vec::new();
    if test.state == TestState::Open || outcome.collapse() == Collapse::Open {
        let mut lost = report.cases.iter().flat_map(|case| &case.lost);
        let are_unrecorded = lost.all(|lost| lost.why == UngradedReason::NotRecorded);
        let why = match record_missing.filter(|_| are_unrecorded) {
            Some(record) => format!(
                "more samples are planned than are recorded, and the missing ones decide whether it regressed; {record}"
            ),
            None => {
                "samples are missing that decide whether it regressed; run or record them again"
                    .to_owned()
            }
        };
        refused.push(about_agent(suite, &report.agent, &why));
    }
    if let Some(why) = uncompared(report, outcome) {
        refused.push(about_agent(suite, &report.agent, &why));
    }
    // Where nothing failed, how much would have been seen comes before what is said of the recordings.
    report.notes.splice(0..0, green_words(outcome, test));
    report.notes.extend(notes(outcome, base));
    let metrics = [
        test_metric(report, outcome, test, branch),
        lost_metric(report, outcome, test.state),
        never_metric(report, outcome),
        floor_metric(report, outcome),
    ];
    report.metrics.extend(metrics);
    let tested = u32::try_from(test.tested).unwrap_or(u32::MAX);
    report.policy = Some(Box::new(PolicyReport {
        name: Policy::Regression,
        p: outcome.test.map(|test| test.p),
        unchanged: outcome.null.as_ref().map(unchanged_sums),
        alpha: Some(test.alpha),
        limit: test.limit,
        tested,
        lost: outcome.lost.iter().map(|lost| lost.case.clone()).collect(),
        asked: outcome.asked.clone(),
        never: outcome.broken.clone(),
        not_compared: outcome.not_compared.clone(),
        floor: outcome.floor,
        pass_rate: outcome.pass_rate.map(|rate| rate.measured),
        pass_rate_before: outcome.before,
        cases: u32::try_from(outcome.compared).unwrap_or(u32::MAX),
        samples: u32::try_from(outcome.samples).unwrap_or(u32::MAX),
    }));
    report.verdict = Ruling::of_all(report.metrics.iter().map(|metric| &metric.verdict));
    report.complete();
    refused
}

fn unchanged_sums(null: &NullDistribution) -> UnchangedSums {
    UnchangedSums {
        observed: six_places(null.observed),
        first: six_places(null.first),
        width: six_places(null.width),
        shares: null.shares.iter().copied().map(six_places).collect(),
    }
}

/// Why too few cases can be compared.
fn uncompared(report: &AgentReport, outcome: &PolicyOutcome) -> Option<String> {
    let cases = &outcome.not_compared;
    if cases.is_empty() {
        return None;
    }
    let coverage = report
        .metrics
        .iter()
        .find(|metric| metric.name == COVERAGE)?;
    let least = coverage.gates.iter().find_map(|gate| gate.threshold)?;
    let planned = report.cases.len() as f64;
    let covered = coverage.value? - cases.len() as f64 / planned;
    (covered < least || outcome.compared == 0).then(|| {
        format!(
            "{} not compared, because the baseline's samples were graded by other rules and the base commit's recordings cannot be graded again: {}; \
             write the baseline again with `goldgate run --update-baseline`",
            cases_are(cases.len()),
            named(cases)
        )
    })
}

fn cases_are(count: usize) -> String {
    match count {
        1 => "1 case is".to_owned(),
        count => format!("{count} cases are"),
    }
}

fn notes(outcome: &PolicyOutcome, base: &str) -> Vec<String> {
    let mut notes = Vec::new();
    for side in &outcome.cached {
        let side = match side {
            CachedSide::Reference => "the reference",
            CachedSide::Run => "this run",
        };
        notes.push(format!(
            "every sample of a case is the same in {side}, as from a cache: only the first one counts"
        ));
    }
    if !outcome.lost_on_base.is_empty() {
        notes.push(format!(
            "wrong on {base} already: {}",
            named(&outcome.lost_on_base)
        ));
    }
    for BrokenRule { class, case } in &outcome.broken_before {
        notes.push(format!("{} was broken before: {case}", class.as_str()));
    }
    if outcome.samples == 1
        && outcome.repeats == Repeats::Differ
        && (outcome.test.is_some() || outcome.is_red_without_test())
    {
        notes.push("one sample a case cannot tell chance from change; record three".to_owned());
    }
    notes
}

/// What a green test means: how often losses are seen with these cases and samples.
fn green_words(outcome: &PolicyOutcome, test: TestRuling) -> Option<String> {
    let is_green = test.state == TestState::Green && !outcome.is_red_without_test();
    let p = outcome.test.filter(|_| is_green)?.p;
    let (cases, samples) = (outcome.compared, outcome.samples);
    let seen = detection(cases, samples, outcome.before?)?;
    let samples = match samples {
        1 => "1 sample".to_owned(),
        several => format!("{several} samples"),
    };
    Some(format!(
        "no regression found (p = {}); with {cases} cases and {samples}, a loss of 10 points in every case is seen in about {}, a lost case in about {}",
        percent(p),
        percent(seen.spread),
        percent(seen.lost)
    ))
}

fn percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

fn metric(
    name: &str,
    (value, better, unit): (Option<f64>, Better, Unit),
    gate: GateRuling,
    evidence: MetricEvidence,
) -> MetricReport {
    MetricReport {
        name: name.to_owned(),
        value,
        ci95: None,
        comparison: Comparison::default(),
        aggregate: "rule".to_owned(),
        better,
        unit,
        verdict: gate.ruling.clone(),
        gates: vec![gate],
        evidence,
        past: Vec::new(),
    }
}

fn gate(kind: GateKind, threshold: Option<f64>, ruling: Ruling) -> GateRuling {
    GateRuling {
        gate: kind,
        threshold,
        from_baseline: false,
        zone: 0.0,
        in_zone: None,
        hard: true,
        ruling,
        base_commit: None,
    }
}

fn ruling(is_red: bool) -> Ruling {
    Ruling::Judged(if is_red { Verdict::Fail } else { Verdict::Pass })
}

fn test_metric(
    report: &AgentReport,
    outcome: &PolicyOutcome,
    test: TestRuling,
    branch: Option<&str>,
) -> MetricReport {
    let judged = match test.state {
        TestState::Green => ruling(false),
        TestState::Red => ruling(true),
        TestState::Open => Ruling::Judged(Verdict::Inconclusive),
    };
    let evidence = match test.state {
        TestState::Green => MetricEvidence::default(),
        TestState::Red | TestState::Open => {
            listed(&outcome.drops, |drop| drop_evidence(report, drop))
        }
    };
    let p = outcome.test.map(|test| test.p);
    let mut gate = gate(GateKind::Test, test.limit, judged);
    gate.base_commit = match (outcome.reference, outcome.base_p) {
        (TestReference::BaseRuns, Some(value)) => Some(BaseCommitValue {
            branch: branch.map(str::to_owned),
            value,
        }),
        (TestReference::BaseRuns, None) | (TestReference::Baseline, _) => None,
    };
    metric(
        POLICY_METRICS[0],
        (p, Better::Higher, Unit::Share),
        gate,
        evidence,
    )
}

/// A case that scores less than before: by how much, and which checks fail.
fn drop_evidence(report: &AgentReport, drop: &Drop) -> CaseEvidence {
    // Where as many are right, the score tells what is worse.
    let scores = if drop.right_before == drop.right_now {
        DropScores::Shown
    } else {
        DropScores::Left
    };
    let sides = (
        drop_side(drop.right_before, "before", drop.before, scores),
        drop_side(drop.right_now, "now", drop.now, scores),
    );
    evidence(
        report,
        &drop.case,
        sides,
        (Some(drop.now), Some(drop.before)),
    )
}

#[derive(Clone, Copy)]
enum DropScores {
    Shown,
    Left,
}

fn drop_side(samples: RightSamples, when: &str, score: f64, scores: DropScores) -> String {
    let RightSamples { right, of: all } = samples;
    let right = format!("right in {right} of {all} {when}");
    match scores {
        DropScores::Shown => format!("{right}, score {score:.2}"),
        DropScores::Left => right,
    }
}

fn evidence(
    report: &AgentReport,
    case: &CaseId,
    (expected, produced): (String, String),
    (value, baseline): (Option<f64>, Option<f64>),
) -> CaseEvidence {
    let pair = report.cases.iter().find(|pair| pair.case == *case);
    let line = pair
        .and_then(|pair| pair.checks.first())
        .map_or(1, |check| check.location.line);
    let whole = Difference {
        line,
        expected,
        produced,
    };
    let checks = pair
        .into_iter()
        .flat_map(|pair| failed_checks(pair, |_| true));
    let samples = EvidenceLine::unchecked(EvidenceSource::Samples, whole);
    let differences = std::iter::once(samples).chain(checks);
    let differences = differences.take(DIFFERENCES).collect();
    CaseEvidence {
        case: case.clone(),
        value,
        baseline,
        differences,
    }
}

fn lost_metric(report: &AgentReport, outcome: &PolicyOutcome, test: TestState) -> MetricReport {
    // More samples settle the case alone: what another rule says stays.
    let is_settled = test == TestState::Red || outcome.collapse() == Collapse::Yes;
    let lost = outcome
        .lost
        .iter()
        .map(|lost| (&lost.case, (lost.before, lost.now), None));
    let asked = outcome
        .asked
        .iter()
        .filter(|asked| asked.class.is_none())
        .map(|asked| (&asked.case, (asked.before, asked.now), Some(asked)));
    let all: Vec<(&CaseId, (usize, usize), Option<&AskedCase>)> = lost.chain(asked).collect();
    let cases = listed(&all, |(case, (in_reference, in_run), asked)| {
        let more = asked.map_or(String::new(), |asked| {
            format!("; {} more samples would tell", asked.more)
        });
        let sides = (
            format!("right in {in_reference} of {in_reference} before"),
            format!("wrong in {in_run} of {in_run} now{more}"),
        );
        // A case that is asked about has no value yet.
        let value = if asked.is_some() { None } else { Some(0.0) };
        let mut evidence = evidence(report, case, sides, (value, Some(1.0)));
        if let Some(asked) = asked.filter(|_| !is_settled) {
            add_missing(&mut evidence, asked);
        }
        evidence
    });
    let value = Some(all.len() as f64);
    let gate = gate(GateKind::Lost, Some(0.0), ruling(!all.is_empty()));
    metric(
        POLICY_METRICS[1],
        (value, Better::Lower, Unit::Count),
        gate,
        cases,
    )
}

/// Adds the samples that are missing, and the command that records them.
fn add_missing(evidence: &mut CaseEvidence, asked: &AskedCase) {
    let Some(first) = evidence.differences.first() else {
        return;
    };
    let all = asked.now + asked.more;
    let command = asked.command.as_ref();
    let missing = Difference {
        line: first.difference.line,
        expected: format!(
            "{} more samples, red if all {all} are wrong, or an approval",
            asked.more
        ),
        produced: command.map_or("not recorded yet".to_owned(), |command| {
            format!("not recorded yet: `{command}`")
        }),
    };
    evidence
        .differences
        .insert(1, EvidenceLine::unchecked(EvidenceSource::Missing, missing));
}

fn never_metric(report: &AgentReport, outcome: &PolicyOutcome) -> MetricReport {
    let asked = outcome
        .asked
        .iter()
        .filter_map(|asked: &AskedCase| Some((asked.class?, &asked.case, Some(asked))));
    let all: Vec<_> = outcome
        .broken
        .iter()
        .map(|broken| (broken.class, &broken.case, None))
        .chain(asked)
        .collect();
    let cases = listed(&all, |(class, case, asked)| {
        let produced = match asked {
            None => "in most samples",
            Some(_) => "in its only sample",
        };
        let sides = (format!("never: {}", class.as_str()), produced.to_owned());
        let mut evidence = evidence(report, case, sides, (None, None));
        if let Some(first) = evidence.differences.first_mut() {
            first.source = EvidenceSource::Number;
        }
        if let Some(asked) = asked {
            add_missing(&mut evidence, asked);
        }
        evidence
    });
    let value = Some(all.len() as f64);
    let gate = gate(GateKind::Never, Some(0.0), ruling(!all.is_empty()));
    metric(
        POLICY_METRICS[2],
        (value, Better::Lower, Unit::Count),
        gate,
        cases,
    )
}

fn floor_metric(report: &AgentReport, outcome: &PolicyOutcome) -> MetricReport {
    let judged = match outcome.collapse() {
        Collapse::Yes => ruling(true),
        Collapse::No => ruling(false),
        Collapse::Open => Ruling::Judged(Verdict::Inconclusive),
    };
    let failing: Vec<&PairResult> = if outcome.collapse() == Collapse::No {
        Vec::new()
    } else {
        report
            .cases
            .iter()
            .filter(|pair| !pair.passed.passes())
            .collect()
    };
    let cases = listed(&failing, |pair| {
        let passing = pair.passing.unwrap_or(0);
        let produced = format!("right in {passing} of {}", pair.completed);
        evidence(
            report,
            &pair.case,
            ("needs a right answer".to_owned(), produced),
            (None, None),
        )
    });
    let value = outcome.pass_rate.map(|rate| rate.measured);
    let gate = gate(GateKind::Floor, outcome.floor, judged);
    let mut metric = metric(
        POLICY_METRICS[3],
        (value, Better::Higher, Unit::Share),
        gate,
        cases,
    );
    metric.comparison = Comparison {
        baseline: outcome.before,
        delta: value
            .zip(outcome.before)
            .map(|(value, baseline)| value - baseline),
        ..Comparison::default()
    };
    metric
}

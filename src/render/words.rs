//! Sentences that several formats share.

pub use super::headline::{command, headline, passes_by_approval};
use super::number::p_in_percent;
use super::plain::line;
use crate::model::{
    AgentReport, Approval, BaseCommitValue, CaseTrend, GateKind, GateRuling, GoldenChange,
    MetricReport, NotGateable, OtherOutcome, OtherPullRequest, PairResult, Quarantine, Report,
    Ruling, SuiteReport, Unit, Verdict, Weight, grouped, metric_value,
};
use crate::text::clauses;

/// The longest name in a sentence, in characters.
pub const NAME: usize = 80;

/// The longest reason for a missing verdict, in characters: it has the commands that give one.
const REASON: usize = 1_200;

/// The longest words of a golden change, in characters.
pub const CHANGE: usize = 500;

/// The longest note, in characters.
const NOTE: usize = 500;

/// Why a verdict is missing, on one line.
pub fn reason(why: &NotGateable) -> String {
    clauses(&why.0, REASON)
}

/// The words of a golden change, on one line.
pub fn change(change: &GoldenChange) -> String {
    clauses(&change.words, CHANGE)
}

/// A note, on one line.
pub fn note(text: &str) -> String {
    clauses(text, NOTE)
}

/// What to do about the changes that need an approval and have none, with who adds which label; `None` if there are none.
pub fn next_of_changes(report: &Report, who: &str) -> Option<String> {
    let changes = match report.unapproved().count() {
        0 => return None,
        1 => "the change that needs an approval is",
        _ => "the changes that need an approval are",
    };
    Some(format!("If {changes} intended, {who}"))
}

/// Who adds which label, where the workflow that names the label is not known.
pub const PUSH_FIRST: &str =
    "push; somebody with write access adds a label (`goldgate:accept-baseline` by default)";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GateCounts {
    pub pass: usize,
    pub inconclusive: usize,
    pub fail: usize,
    pub skipped: usize,
}

impl GateCounts {
    pub fn of<'a>(suites: impl IntoIterator<Item = &'a SuiteReport>) -> Self {
        Self::of_agents(suites.into_iter().flat_map(|suite| &suite.agents))
    }

    pub fn of_agents<'a>(agents: impl IntoIterator<Item = &'a AgentReport>) -> Self {
        let mut tally = Self::default();
        // What no case can have is not shown, so its gates are not counted.
        let metrics = agents
            .into_iter()
            .flat_map(|agent| &agent.metrics)
            .filter(|metric| !metric.is_silent());
        for gate in metrics.flat_map(|metric| &metric.gates) {
            match gate.ruling {
                Ruling::Judged(Verdict::Pass) => tally.pass += 1,
                Ruling::Judged(Verdict::Inconclusive) => tally.inconclusive += 1,
                Ruling::Judged(Verdict::Fail) => tally.fail += 1,
                Ruling::Skipped(_) | Ruling::Off(_) => tally.skipped += 1,
            }
        }
        tally
    }

    /// The counts that are not zero: `gates: 3 passed, 1 failed`.
    pub fn to_words(self) -> String {
        let counts = self.to_counts();
        if counts.is_empty() {
            "no gate".to_owned()
        } else {
            format!("gates: {counts}")
        }
    }

    /// The counts that are not zero: `3 passed, 1 failed`.
    pub fn to_counts(self) -> String {
        let Self {
            pass,
            inconclusive,
            fail,
            skipped,
        } = self;
        let named = [
            (pass, "passed"),
            (inconclusive, "inconclusive"),
            (fail, "failed"),
            (skipped, "skipped"),
        ];
        let parts: Vec<String> = named
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        parts.join(", ")
    }
}

/// The verdict on a head, as a predicate.
pub fn other_outcome(outcome: OtherOutcome) -> &'static str {
    match outcome {
        OtherOutcome::Passes => "passes",
        OtherOutcome::NoVerdict => "has no verdict",
        OtherOutcome::Fails => "fails",
    }
}

/// The verdict on another pull request with the same head.
pub fn other(pull_request: &OtherPullRequest) -> String {
    let OtherPullRequest {
        number,
        into,
        outcome,
    } = pull_request;
    let outcome = other_outcome(*outcome);
    format!("pull request {number} into {into} has the same head commit and {outcome}")
}

/// The base commit, with its branch if known and as `escape` returns it: `main at f95f852b`.
pub fn base(report: &Report, escape: impl Fn(&str) -> String) -> String {
    let commit = short(report.base.as_deref());
    report
        .base_branch
        .as_deref()
        .map_or(commit.to_owned(), |branch| {
            format!("{} at {commit}", escape(branch))
        })
}

/// The graded commit after a word for it. Where the base commit is checked out, the graded files are changes on top of it.
pub fn graded_commit(report: &Report, word: &str) -> String {
    let commit = short(report.commit.as_deref());
    if report.commit.is_some() && report.commit == report.base {
        format!("working tree at {commit}")
    } else {
        format!("{word} {commit}")
    }
}

/// Whether a golden change needs an approval, and whether it has one.
pub fn weight(report: &Report, change: &GoldenChange) -> &'static str {
    match (change.weight, &report.approval) {
        (Weight::Listed, _) => "listed",
        (Weight::NeedsApproval, Some(_)) => "approved",
        (Weight::NeedsApproval, None) => "needs approval",
    }
}

/// Who approved which commit, and when.
pub fn approval(approval: &Approval) -> String {
    let Approval {
        by,
        at,
        head,
        reason: _,
    } = approval;
    format!("approved by {by} at {at} for commit {}", short(Some(head)))
}

/// A count with its noun: `1 line`, `2 lines`.
pub fn plural(count: usize, singular: &str, several: &str) -> String {
    format!(
        "{} {}",
        grouped(&count.to_string()),
        if count == 1 { singular } else { several }
    )
}

/// How many failed checks decide no failed gate.
pub fn outside_gates(count: usize) -> String {
    plural(
        count,
        "failed check that decides no failed gate",
        "failed checks that decide no failed gate",
    )
}

/// A gate in one short phrase: `≥ 80% (band 2 pp)`. If the base commit fails it as well, its value follows.
pub fn gate(metric: &MetricReport, gate: &GateRuling) -> String {
    gate_with(metric, gate, |branch| line(branch, NAME))
}

/// Like [`gate`], with the branch's name as `escape` returns it.
pub fn gate_with(
    metric: &MetricReport,
    gate: &GateRuling,
    escape: impl Fn(&str) -> String,
) -> String {
    limit(metric, gate) + &base_commit_value(metric, gate, escape)
}

/// What the base commit's own value is, if it fails the gate as well; else empty.
fn base_commit_value(
    metric: &MetricReport,
    gate: &GateRuling,
    escape: impl Fn(&str) -> String,
) -> String {
    let Some(BaseCommitValue { branch, value }) = &gate.base_commit else {
        return String::new();
    };
    let branch = branch
        .as_deref()
        .map_or("the base commit".to_owned(), escape);
    let value = metric_value(metric.unit, Some(*value));
    let baseline = match metric.comparison.baseline.filter(|_| gate.from_baseline) {
        Some(baseline) => format!(
            "; baseline {}, update pending",
            metric_value(metric.unit, Some(baseline))
        ),
        None => String::new(),
    };
    format!("; {branch} is already at {value}{baseline}")
}

/// How a case moved since the baseline. The checks of a case may pass while its numbers are below a limit.
pub fn trend(case: &PairResult) -> &'static str {
    match (case.trend, case.passed.passes()) {
        (CaseTrend::NewlyFailing, false) => "newly failing",
        (CaseTrend::NewlyFailing, true) => "newly below a limit",
        (CaseTrend::NewlyPassing, _) => "newly passing",
        (CaseTrend::New, _) => "new",
        (CaseTrend::StillFailing, _) => "still failing",
        (CaseTrend::StillPassing, _) => "still passing",
        (CaseTrend::Unknown, _) => "unknown",
    }
}

/// The words of [`trend`] for cases that moved, the worst first.
pub const MOVED_TRENDS: [&str; 4] = [
    "newly failing",
    "newly below a limit",
    "newly passing",
    "new",
];

/// A rate in whole percent. One between the ends is never shown as 0% or 100%.
pub fn whole_percent(rate: f64) -> String {
    match rate {
        rate if rate > 0.0 && rate < 0.005 => "<1%".to_owned(),
        rate if (0.995..1.0).contains(&rate) => ">99%".to_owned(),
        rate => format!("{:.0}%", rate * 100.0),
    }
}

/// The direction in which a value in the band of a gate may change.
pub fn change_word(gate: &GateRuling) -> &'static str {
    if gate.gate == GateKind::Max {
        "rise"
    } else {
        "drop"
    }
}

/// The limit of a gate alone.
pub fn limit(metric: &MetricReport, gate: &GateRuling) -> String {
    let limit = metric_value(metric.unit, gate.threshold);
    let band = match (gate.zone > 0.0, gate.in_zone) {
        (false, _) => String::new(),
        (true, None) => format!(" (band {})", spread(metric.unit, gate.zone)),
        (true, Some(tolerance)) => format!(
            " (band {}, in it {} ≤ {})",
            spread(metric.unit, gate.zone),
            change_word(gate),
            spread(metric.unit, tolerance)
        ),
    };
    let source = if gate.from_baseline { " baseline" } else { "" };
    let change = spread(metric.unit, gate.threshold.unwrap_or_default());
    match (gate.gate, gate.threshold) {
        (GateKind::Min, None) => format!("≥ baseline{band}"),
        (GateKind::Max, None) => format!("≤ baseline{band}"),
        (GateKind::Min, Some(_)) => format!("≥ {limit}{source}{band}"),
        (GateKind::Max, Some(_)) => format!("≤ {limit}{source}{band}"),
        (GateKind::MaxDrop, _) => format!("drop ≤ {change}"),
        (GateKind::MaxRise, _) => format!("rise ≤ {change}"),
        (GateKind::Test, Some(_)) => format!("p > {limit}"),
        (GateKind::Test, None) => "nothing to test".to_owned(),
        (GateKind::Lost | GateKind::Never, _) => "0".to_owned(),
        (GateKind::Floor, Some(_)) => format!("≥ {limit}"),
        (GateKind::Floor, None) => "no floor yet".to_owned(),
    }
}

/// The value of a metric. If only some cases were compared with the baseline, their value follows in brackets.
pub fn value(metric: &MetricReport) -> String {
    let tested = metric.gates.iter().find(|gate| gate.gate == GateKind::Test);
    if let (Some(p), Some(limit)) = (metric.value, tested.and_then(|gate| gate.threshold)) {
        return p_in_percent(p, limit);
    }
    let whole = metric_value(metric.unit, metric.value);
    match metric.compared() {
        None => whole,
        compared => format!(
            "{whole} ({} of those compared)",
            metric_value(metric.unit, compared)
        ),
    }
}

/// A width or standard deviation: in percentage points for shares.
pub fn spread(unit: Unit, width: f64) -> String {
    match unit {
        Unit::Share => metric_value(unit, Some(width)).replace('%', " pp"),
        Unit::Count | Unit::Points | Unit::Spread | Unit::Dollars => {
            metric_value(unit, Some(width))
        }
    }
}

/// Why a case is not part of the gates, and until when.
pub fn quarantine(pair: &PairResult) -> String {
    let Some(Quarantine {
        owner,
        reason,
        expires,
    }) = pair.quarantine.as_deref()
    else {
        return "in quarantine".to_owned();
    };
    let result = match (pair.has_majority(), pair.passed.passes()) {
        (false, _) => "is inconclusive",
        (true, true) => "passes",
        (true, false) => "fails",
    };
    format!("in quarantine until {expires}, owned by {owner}; it {result} now: {reason}")
}

/// What a draft does now: `passes`, or the first check that it fails.
pub fn draft(pair: &PairResult) -> String {
    let failed = pair.failed_checks().next();
    match (pair.has_majority(), pair.passed.passes(), failed) {
        (false, ..) => "is inconclusive".to_owned(),
        (true, true, _) => "passes".to_owned(),
        (true, false, Some(check)) => format!("fails {}", check.name),
        (true, false, None) => "fails".to_owned(),
    }
}

/// The number of samples that pass: ` (2 of 3 pass)`; empty for one sample or if unknown.
pub fn samples_passed(pair: &PairResult) -> String {
    match pair.passing {
        Some(passing) if pair.completed > 1 => format!(" ({passing} of {} pass)", pair.completed),
        Some(_) | None => String::new(),
    }
}

/// The first 8 digits of a commit.
pub fn short(commit: Option<&str>) -> &str {
    commit.map_or("unknown", |commit| commit.get(..8).unwrap_or(commit))
}

/// The tiers of a report: `deterministic and model`.
pub fn tiers(report: &Report) -> String {
    report
        .tiers
        .iter()
        .map(|tier| tier.as_str())
        .collect::<Vec<_>>()
        .join(" and ")
}

/// The longest reason why a sample is missing, in characters.
pub const WHY_LOST: usize = 400;

/// Why samples of a case are missing, those in a row with the same reason together: `samples 0 to 2: error: …`.
pub fn lost_samples(case: &PairResult, clean: impl Fn(&str) -> String) -> String {
    let runs = case
        .lost
        .chunk_by(|left, right| left.why == right.why && left.sample + 1 == right.sample);
    let mut texts = Vec::new();
    for run in runs {
        let (Some(first), Some(last)) = (run.first(), run.last()) else {
            continue;
        };
        let samples = if first.sample == last.sample {
            format!("sample {}", first.sample)
        } else {
            format!("samples {} to {}", first.sample, last.sample)
        };
        texts.push(format!("{samples}: {}", clean(&first.why.text())));
    }
    texts.join("; ")
}

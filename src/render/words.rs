//! The sentences that several formats share.

use super::evidence;
use crate::model::{
    Approval, Authority, ChangeClass, GateKind, GateRuling, GoldenChange, MetricReport, PairResult, Quarantine, Report,
    Ruling, SuiteReport, Unit, Verdict, Weight, grouped, metric_value,
};

/// The longest name in a sentence.
pub const NAME: usize = 80;

/// How many gates were ruled in which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GateCounts {
    /// Passed.
    pub pass: usize,
    /// Could not be told.
    pub inconclusive: usize,
    /// Failed.
    pub fail: usize,
    /// Not judged.
    pub skipped: usize,
}

impl GateCounts {
    /// Counts the gates of some suites.
    pub fn of<'a>(suites: impl IntoIterator<Item = &'a SuiteReport>) -> Self {
        let mut tally = Self::default();
        let agents = suites.into_iter().flat_map(|suite| &suite.agents);
        for gate in agents.flat_map(|agent| &agent.metrics).flat_map(|metric| &metric.gates) {
            match gate.ruling {
                Ruling::Judged(Verdict::Pass) => tally.pass += 1,
                Ruling::Judged(Verdict::Inconclusive) => tally.inconclusive += 1,
                Ruling::Judged(Verdict::Fail) => tally.fail += 1,
                Ruling::Skipped(_) => tally.skipped += 1,
            }
        }
        tally
    }

    /// The counts in words, without those that are zero.
    pub fn to_words(self) -> String {
        let Self { pass, inconclusive, fail, skipped } = self;
        let named = [(pass, "passed"), (inconclusive, "inconclusive"), (fail, "failed"), (skipped, "skipped")];
        let parts: Vec<String> =
            named.into_iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
        if parts.is_empty() { "no gate".to_owned() } else { format!("gates: {}", parts.join(", ")) }
    }
}

/// The verdict in words that a tired reader understands.
pub fn headline(report: &Report) -> String {
    let tally = GateCounts::of(&report.suites);
    let failed = failed_gates(report, tally.fail);
    if let Some(interruption) = report.called_off {
        let why = interruption.message();
        return format!("No verdict: {why} before all samples were made. This is not a pass.");
    }
    if report.is_held_by_changes() {
        let changes = plural(report.unapproved().count(), "golden change needs", "golden changes need");
        let base = report.unapproved().filter(|change| change.class == ChangeClass::BaseRules).count();
        let worse = match (tally.fail, base) {
            (0, 0) => String::new(),
            (0, base) => format!(
                "Passes by the rules of this change, but {} by those of the base commit: ",
                plural(base, "gate fails", "gates fail")
            ),
            (_, _) => format!("{failed}, and "),
        };
        return format!("{worse}{changes} an approval. This blocks the merge.");
    }
    match (report.verdict.verdict(), report.authority) {
        (Some(Verdict::Fail), Authority::Blocking) => format!("Merge blocked: {failed}."),
        (Some(Verdict::Fail), Authority::Advisory) => format!("{failed}. This does not block the merge."),
        (_, Authority::Blocking) if !report.not_gateable.is_empty() => {
            "No verdict can be given. This blocks the merge.".to_owned()
        }
        (None, _) => "Nothing was judged. This is not a pass.".to_owned(),
        (Some(Verdict::Inconclusive), Authority::Advisory) if !report.not_gateable.is_empty() => {
            "No verdict can be given. This does not block the merge.".to_owned()
        }
        (Some(Verdict::Inconclusive), _) => {
            format!("No gate fails, but {} could not be told.", plural(tally.inconclusive, "gate", "gates"))
        }
        (Some(Verdict::Pass), _) => format!("All gates hold: {}.", plural(tally.pass, "gate", "gates")),
    }
}

/// The first failed gate with its numbers, and how many more there are.
fn failed_gates(report: &Report, count: usize) -> String {
    let failed = evidence::failed_metrics(report);
    let Some(first) = failed.first() else { return plural(count, "gate fails", "gates fail") };
    let more = match count.saturating_sub(1) {
        0 => String::new(),
        more => format!(" + {}", plural(more, "more gate", "more gates")),
    };
    format!("{} {}{more}", first.agent.agent, evidence::failed_gate(first.metric, first.gate))
}

/// What a golden change asks for, and whether it has it.
pub fn weight(report: &Report, change: &GoldenChange) -> &'static str {
    match (change.weight, &report.approval) {
        (Weight::Listed, _) => "listed",
        (Weight::NeedsApproval, Some(_)) => "approved",
        (Weight::NeedsApproval, None) => "needs approval",
    }
}

/// Who approved, and when.
pub fn approval(approval: &Approval) -> String {
    let Approval { by, at, head, digest: _ } = approval;
    format!("approved by {by} at {at} for the commit {}", short(Some(head)))
}

/// A count with its noun.
pub fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{} {}", grouped(&count.to_string()), if count == 1 { one } else { many })
}

/// A gate in one short phrase.
pub fn gate(metric: &MetricReport, gate: &GateRuling) -> String {
    let limit = metric_value(metric.unit, gate.threshold);
    let band = if gate.zone > 0.0 { format!(" (band {})", spread(metric.unit, gate.zone)) } else { String::new() };
    let source = if gate.from_baseline { " baseline" } else { "" };
    let change = || spread(metric.unit, gate.threshold.unwrap_or_default());
    match (gate.gate, gate.threshold) {
        (GateKind::Min, None) => format!("≥ baseline{band}"),
        (GateKind::Max, None) => format!("≤ baseline{band}"),
        (GateKind::Min, Some(_)) => format!("≥ {limit}{source}{band}"),
        (GateKind::Max, Some(_)) => format!("≤ {limit}{source}{band}"),
        (GateKind::MaxDrop, _) => format!("drop ≤ {}", change()),
        (GateKind::MaxRise, _) => format!("rise ≤ {}", change()),
    }
}

/// The number of a metric, and that over the cases that were compared with the baseline, where these are not all.
pub fn value(metric: &MetricReport) -> String {
    let whole = metric_value(metric.unit, metric.value);
    match metric.compared() {
        None => whole,
        compared => format!("{whole} ({} of those compared)", metric_value(metric.unit, compared)),
    }
}

/// A width: percentage points for shares.
pub fn spread(unit: Unit, width: f64) -> String {
    match unit {
        Unit::Share => metric_value(unit, Some(width)).replace('%', " pp"),
        Unit::Count | Unit::Points | Unit::Spread => metric_value(unit, Some(width)),
    }
}

/// Why a pair does not gate, and until when.
pub fn quarantine(pair: &PairResult) -> String {
    let Some(Quarantine { owner, reason, expires }) = pair.quarantine.as_deref() else {
        return "in quarantine".to_owned();
    };
    let stands = match (pair.has_majority(), pair.passed.passes()) {
        (false, _) => "could not be told",
        (true, true) => "passes",
        (true, false) => "fails",
    };
    format!("in quarantine until {expires}, owned by {owner}; it {stands} now: {reason}")
}

/// How many of several samples pass, in brackets; empty where there is one, or where the report does not say.
pub fn samples_passed(pair: &PairResult) -> String {
    match pair.passing {
        Some(passing) if pair.completed > 1 => format!(" ({passing} of {} pass)", pair.completed),
        Some(_) | None => String::new(),
    }
}

/// A commit as people read it.
pub fn short(commit: Option<&str>) -> &str {
    commit.map_or("unknown", |commit| commit.get(..8).unwrap_or(commit))
}

/// The tiers of a report.
pub fn tiers(report: &Report) -> String {
    report.tiers.iter().map(|tier| tier.as_str()).collect::<Vec<_>>().join(" and ")
}

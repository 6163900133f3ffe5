//! The one sentence that says what a report means.

use std::collections::BTreeSet;

use super::evidence::FailedMetric;
use super::plain::line;
use super::words::{GateCounts, NAME, limit, plural};
use super::{evidence, since_base, words};
use crate::model::{
    AgentReport, Approval, Authority, BaselineUse, CaseChoice, CaseTrend, ChangeClass, Exclusion,
    GateKind, NotGateable, PairResult, Reliability, Report, Ruling, Verdict, Weight, metric_value,
};
use crate::suites::KINDS;
use crate::text::{clauses, config_option, first_clause};

/// The verdict in one or two short sentences.
pub fn headline(report: &Report) -> String {
    let tally = GateCounts::of(&report.suites);
    let failed = failed_gates(report, tally.fail);
    if let Some(interruption) = report.called_off {
        let why = interruption.message();
        return format!("No verdict: {why} before all samples were recorded. This is not a pass.");
    }
    let has_verdict =
        report.not_gateable.is_empty() || report.verdict.verdict() == Some(Verdict::Fail);
    if report.is_held_by_changes() && has_verdict {
        let changes = plural(
            report.unapproved().count(),
            "golden change needs",
            "golden changes need",
        );
        let base = report
            .unapproved()
            .filter(|change| change.class == ChangeClass::BaseRules)
            .count();
        let worse = match (tally.fail, base) {
            (0, 0) => String::new(),
            (0, base) => format!(
                "the gates pass with the rules of this change, but {} with those of the base commit; ",
                plural(base, "gate fails", "gates fail")
            ),
            (_, _) => format!("{failed}, and "),
        };
        let first = report.not_gateable.first().map(what);
        let first = first.map_or(String::new(), |why| {
            format!(" Fix this first, because no approval covers it: {why}.")
        });
        return format!("Merge blocked: {worse}{changes} an approval.{first}");
    }
    if let (Some(pull_request), Authority::Blocking) = (report.worst_other(), report.authority)
        && (tally.fail == 0 || report.approval.is_some())
        && report.not_gateable.is_empty()
    {
        return format!("Merge blocked: {}.", words::other(pull_request));
    }
    if let Some(first_run) = first_run(report, tally) {
        return first_run;
    }
    match (report.verdict.verdict(), report.authority) {
        (Some(Verdict::Fail), Authority::Blocking) => {
            format!("Merge blocked: {failed}.{}", also(report))
        }
        (Some(Verdict::Fail), Authority::Advisory) => {
            format!("{failed}. This does not block the merge.")
        }
        (_, Authority::Blocking) if needs_baseline(report) => {
            format!("{NEEDS_BASELINE} {} writes one.", make_baseline(report))
        }
        (_, Authority::Blocking) if !report.not_gateable.is_empty() => {
            let changes = match report.unapproved().count() {
                0 => String::new(),
                count => format!(
                    " Then {} an approval.",
                    plural(count, "golden change needs", "golden changes need")
                ),
            };
            format!(
                "Merge blocked: no verdict is possible: {}{changes}",
                missing(report)
            )
        }
        (None, _) if report.baseline_use == BaselineUse::Begun => BEGUN.to_owned(),
        (None, _) => "No gate was evaluated. This is not a pass.".to_owned(),
        (Some(Verdict::Inconclusive), Authority::Advisory) if !report.not_gateable.is_empty() => {
            format!(
                "No verdict is possible, which does not block the merge: {}",
                missing(report)
            )
        }
        (Some(Verdict::Inconclusive), _) => {
            let gates = plural(tally.inconclusive, "gate is", "gates are");
            format!(
                "No gate fails, but {gates} inconclusive{}.",
                undecided(report)
            )
        }
        (Some(Verdict::Pass), _) => passed(report, tally.pass),
    }
}

/// The first reason for no verdict where a gate fails as well: a correction of the agent alone does not remove it.
fn also(report: &Report) -> String {
    let first = report.not_gateable.first();
    first.map_or(String::new(), |why| format!(" Also: {}.", what(why)))
}

/// The result of a run that writes the first baseline, where every gate compares with it.
const BEGUN: &str = "First run: without a baseline, only coverage is checked. These numbers become the baseline, and all gates judge from the next run on.";

/// The result of a run in which every gate waits for a baseline.
const NEEDS_BASELINE: &str =
    "Merge blocked: no verdict is possible, because every evaluated gate needs a baseline.";

/// Whether a verdict is missing only because the gates compare with a baseline that does not exist.
fn needs_baseline(report: &Report) -> bool {
    let mut pairs = report.agents().flat_map(|agent| &agent.cases);
    let mut gates = report.metrics().flat_map(|metric| &metric.gates);
    report.baseline_use == BaselineUse::Compared
        && report.verdict.verdict().is_none()
        && report.not_gateable.len() == 1
        && pairs.any(|pair| pair.exclusion == Exclusion::Counted)
        && !has_baseline(report)
        && !report.agents().any(is_in_baseline)
        && gates.any(|gate| gate.from_baseline && matches!(gate.ruling, Ruling::Skipped(_)))
}

/// Whether a baseline has an agent. Its numbers may not be comparable with those of the baseline.
fn is_in_baseline(agent: &AgentReport) -> bool {
    agent.taxonomy_before.is_some() || agent.infra_before.is_some() || !agent.removed.is_empty()
}

/// The command that makes a baseline, as code.
pub fn make_baseline(report: &Report) -> String {
    command(report, "run", " --update-baseline")
}

/// A command of goldgate with the config of a report, as code.
pub fn command(report: &Report, verb: &str, options: &str) -> String {
    let config = report
        .config
        .as_ref()
        .map_or(String::new(), |config| config_option(config.as_str()));
    format!("`goldgate {verb}{config}{options}`")
}

/// The result of a run without any baseline to compare with: which gates pass on their own limits, and how to get a baseline.
fn first_run(report: &Report, tally: GateCounts) -> Option<String> {
    let next = match report.baseline_use {
        BaselineUse::Compared => format!(
            "There is no baseline yet; {} makes one.",
            make_baseline(report)
        ),
        BaselineUse::Existing => "The baseline does not have these numbers yet.".to_owned(),
        BaselineUse::Written | BaselineUse::Begun => {
            "These numbers become the baseline.".to_owned()
        }
        BaselineUse::Added => {
            "This change adds the first baseline, which counts after the merge.".to_owned()
        }
    };
    // Without a baseline the base commit's own runs are compared.
    let may_be_without = matches!(
        report.baseline_use,
        BaselineUse::Compared | BaselineUse::Added
    );
    let is_first =
        !report.agents().any(is_in_baseline) && (may_be_without || !has_baseline(report));
    let judged = report.not_gateable.is_empty() && is_first;
    match report
        .verdict
        .verdict()
        .filter(|_| judged && report.approval.is_none())?
    {
        Verdict::Fail => {
            let passes = plural(tally.pass, "gate passes", "gates pass");
            let mut failed = evidence::failed_metrics(report).into_iter();
            let is_any_upper =
                failed.any(|failed| matches!(failed.gate.gate, GateKind::Max | GateKind::MaxRise));
            let side = if is_any_upper { "outside" } else { "below" };
            let fails = match tally.fail {
                1 => format!("1 is {side} its limit"),
                count => format!("{count} are {side} their limits"),
            };
            let advisory = match report.authority {
                Authority::Blocking => "",
                Authority::Advisory => " This does not block the merge.",
            };
            let until = match report.baseline_use {
                BaselineUse::Written => {
                    " A fixed limit fails until the agent meets it or its cases are corrected."
                }
                BaselineUse::Compared
                | BaselineUse::Existing
                | BaselineUse::Begun
                | BaselineUse::Added => "",
            };
            let gates = failed_gates(report, tally.fail);
            Some(format!(
                "First run: {passes}, {fails}: {gates}. {next}{until}{advisory}"
            ))
        }
        Verdict::Pass => Some(format!(
            "First run: {} {next}",
            lower_first(&passed(report, tally.pass))
        )),
        Verdict::Inconclusive => None,
    }
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| {
        first.to_lowercase().chain(chars).collect()
    })
}

/// The longest reason in a headline, in characters.
const REASON: usize = 480;

/// What a reason for a missing verdict is about: its first clause. The whole reason, with what to do, is below the headline.
fn what(why: &NotGateable) -> String {
    clauses(first_clause(&why.0), REASON)
}

/// The first reason for a missing verdict.
fn missing(report: &Report) -> String {
    let first = report.not_gateable.first().map_or(String::new(), what);
    match report.not_gateable.len() {
        0 | 1 => format!("{first}."),
        count => format!(
            "{first} + {}.",
            plural(count - 1, "more reason", "more reasons")
        ),
    }
}

/// The first inconclusive gate with its numbers.
fn undecided(report: &Report) -> String {
    for agent in report.agents() {
        for metric in &agent.metrics {
            let mut gates = metric.gates.iter();
            let gate = gates.find(|gate| gate.ruling == Ruling::Judged(Verdict::Inconclusive));
            if let Some(gate) = gate {
                let value = metric_value(metric.unit, metric.value);
                let name = line(&metric.name, NAME);
                return format!(
                    ": {} {name} {value}, needs {}; more cases or samples decide it, goldgate calibrate says how many",
                    agent.agent,
                    limit(metric, gate)
                );
            }
        }
    }
    String::new()
}

/// How many pairs of agent and case pass in every sample, if some pass only in most: no metric shows that.
fn in_every_sample(report: &Report) -> Option<String> {
    let (mut most, mut every, mut pairs) = (0, 0, 0);
    for (_, agent) in report.suite_agents() {
        let Some(reliability) = &agent.reliability else {
            continue;
        };
        let (majority, always) = (reliability.majority, reliability.every);
        // Where samples are missing, the two are not of the same pairs.
        let Some(always) = always.filter(|always| majority.of == always.of) else {
            continue;
        };
        most += majority.passed;
        every += always.passed;
        pairs += always.of;
    }
    let known: Option<Vec<u32>> = report
        .agents()
        .filter_map(|agent| agent.reliability.as_ref())
        .filter(|reliability| reliability.every.is_some())
        .map(|reliability| reliability.every_before)
        .collect();
    let earlier = known.map(|known| known.iter().sum::<u32>());
    let earlier = match earlier.filter(|earlier| *earlier != every) {
        Some(earlier) => format!(", {earlier} before"),
        None => String::new(),
    };
    (every < most).then(|| {
        format!("{every} of {pairs} pairs of agent and case pass in every sample{earlier}")
    })
}

/// How many gates pass on how many cases.
pub(super) fn passed(report: &Report, gates: usize) -> String {
    // Both tiers may grade a case.
    let (mut all, mut lost) = (BTreeSet::new(), BTreeSet::new());
    for (suite, agent) in report.suite_agents() {
        for pair in &agent.cases {
            all.insert((&suite.id, &pair.case));
            if pair.exclusion == Exclusion::NoMajority {
                lost.insert((&suite.id, &pair.case));
            }
        }
    }
    let (all, lost) = (all.len(), lost.len());
    let cases = match (plural(all, "case", "cases"), lost) {
        (cases, 0) => cases,
        (cases, _) => format!("{} of {cases}", all - lost),
    };
    let lost = without_result(report);
    if let Some(approved) = approved(report) {
        return approved;
    }
    let excused = newly_failing(report) + &excused_gates(report);
    let uses = since_base::greater_uses(report).map_or(String::new(), |uses| format!("; {uses}"));
    let fallen = report
        .agents()
        .filter_map(|agent| agent.reliability.as_ref())
        .any(Reliability::has_fallen);
    let nothing_moved = uses.is_empty() && has_baseline(report) && !has_moved(report);
    let moved = match (nothing_moved && !fallen, in_every_sample(report)) {
        (true, None) => " (no number moved)".to_owned(),
        (true, Some(fewer)) => format!(" (no number moved; {fewer})"),
        (false, Some(fewer)) if fallen => format!(" ({fewer})"),
        (false, _) => String::new(),
    };
    let partly = match report.choice {
        CaseChoice::All => "",
        CaseChoice::Matching => {
            " Only cases that match --case or --tag were graded; the others are not judged."
        }
        CaseChoice::Failed => {
            " Only cases that failed before were graded; the others are not judged."
        }
    };
    match gates {
        0 => format!("No gate fails.{lost}{partly}"),
        1 => format!("The only gate passes on {cases}{moved}{uses}{excused}.{lost}{partly}"),
        _ => format!(
            "All {} pass on {cases}{moved}{uses}{excused}.{lost}{partly}",
            plural(gates, "gate", "gates")
        ),
    }
}

/// The number of cases without a result that are named.
const LOST: usize = 3;

/// The length of the reason why a case has no result, in characters.
const LOST_REASON: usize = 80;

/// A sentence that names the cases without a result, with the reasons; empty if there are none.
fn without_result(report: &Report) -> String {
    let pairs = report.agents().flat_map(|agent| &agent.cases);
    let lost: Vec<&PairResult> = pairs
        .filter(|pair| pair.exclusion == Exclusion::NoMajority)
        .collect();
    let named = lost.iter().take(LOST).map(|pair| {
        let why = pair.lost.first().map_or("no sample".to_owned(), |lost| {
            line(&lost.why.text(), LOST_REASON)
        });
        format!("{} ({why})", line(pair.case.as_str(), NAME))
    });
    let named = named.collect::<Vec<_>>().join(", ");
    match lost.len() {
        0 => String::new(),
        all if all > LOST => format!(" Without a result: {named} and {} more.", all - LOST),
        _ => format!(" Without a result: {named}."),
    }
}

/// Who approved what; `None` without an approval.
fn approved(report: &Report) -> Option<String> {
    let Approval { by, reason, .. } = report.approval.as_ref()?;
    let mut approved = report.agents().flat_map(|agent| {
        let failed = agent.metrics.iter().filter_map(|metric| {
            let gate = evidence::approved_gate(report.approval.as_ref(), metric)?;
            Some((metric, gate))
        });
        failed.map(move |(metric, gate)| (agent, metric, gate))
    });
    let first = approved.next();
    let more = match approved.count() {
        0 => String::new(),
        more => format!(" + {}", plural(more, "more number", "more numbers")),
    };
    let reason = reason.as_deref().map_or(String::new(), |why| {
        format!(" Reason: {}", line(why, REASON))
    });
    let subject = match first {
        Some((agent, metric, gate)) => format!(
            "{} {} {} (baseline {}, {}){more}",
            agent.agent,
            line(&metric.name, NAME),
            metric_value(metric.unit, metric.value),
            metric_value(metric.unit, metric.comparison.baseline),
            limit(metric, gate)
        ),
        None => {
            let changes = report.golden_changes.iter();
            let needing = changes.filter(|change| change.weight == Weight::NeedsApproval);
            plural(needing.count(), "golden change", "golden changes")
        }
    };
    Some(format!(
        "Passes by approval of {}: {subject}.{reason}",
        line(by, NAME)
    ))
}

/// Whether the run passes only by an approval.
pub fn passes_by_approval(report: &Report) -> bool {
    report.approval.is_some() && report.verdict == Ruling::Judged(Verdict::Pass)
}

/// Whether any number is compared with a baseline.
fn has_baseline(report: &Report) -> bool {
    report
        .metrics()
        .any(|metric| metric.comparison.baseline.is_some())
}

/// Whether any number is shown as moved.
fn has_moved(report: &Report) -> bool {
    report.metrics().any(evidence::has_moved)
}

/// The cases that passed in the baseline and fail now, if no gate fails because of them.
fn newly_failing(report: &Report) -> String {
    let cases: Vec<&str> = report
        .agents()
        .flat_map(|agent| &agent.cases)
        .filter(|case| {
            case.trend == CaseTrend::NewlyFailing && case.exclusion == Exclusion::Counted
        })
        .map(|case| case.case.as_str())
        .collect();
    match cases.as_slice() {
        [] => String::new(),
        [case] => format!("; 1 case passed before and fails now: {case}"),
        [first, ..] => format!(
            "; {} cases passed before and fail now: {first} and others",
            cases.len()
        ),
    }
}

/// How many of the gates pass only because the base branch fails them as well.
fn excused_gates(report: &Report) -> String {
    let gates = report.metrics().flat_map(|metric| &metric.gates);
    match gates
        .filter(|gate| gate.base_commit.is_some() && !gate.ruling.fails())
        .count()
    {
        0 => String::new(),
        1 => "; 1 gate is excused because the base branch fails it as well".to_owned(),
        count => format!("; {count} gates are excused because the base branch fails them as well"),
    }
}

/// The agent; with its suite if the kind names the agent.
fn agent_name(failed: &FailedMetric<'_>) -> String {
    let FailedMetric { suite, agent, .. } = failed;
    let is_own = KINDS.iter().any(|kind| {
        kind.name == suite.kind && kind.agents.own_agent() == Some(agent.agent.as_str())
    });
    if is_own {
        format!("{}/{}", suite.id, agent.agent)
    } else {
        agent.agent.to_string()
    }
}

/// The first failed gate with its numbers, and the number of further ones.
pub(super) fn failed_gates(report: &Report, count: usize) -> String {
    let failed = evidence::failed_metrics(report);
    let Some(first) = failed.first() else {
        return plural(count, "gate fails", "gates fail");
    };
    let more = match count.saturating_sub(1) {
        0 => String::new(),
        more => format!(" + {}", plural(more, "more gate", "more gates")),
    };
    format!(
        "{} {}{more}",
        agent_name(first),
        evidence::failed_gate(first.metric, first.gate)
    )
}

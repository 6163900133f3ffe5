//! Puts the report together. Nothing is computed twice: what others ask later was decided here.

mod approved;
mod digest;
mod evidence;

use std::collections::BTreeMap;

pub use self::approved::approved;
pub use self::digest::result_digest;

use self::evidence::add_evidence;
use crate::fold;
use crate::gate::{Comparability, GateOutcome};
use crate::model::{
    AgentName, AgentReport, Approval, Authority, BaselineEntry, COVERAGE, CaseId, CaseReport, EPSILON, Exclusion,
    GoldenChange, Identity, Interruption, Layer, MetricSpec, NotGateable, PairResult, Report, Ruling, Shard, SuiteId,
    SuiteReport, Tier, Verdict,
};
use crate::text::line;

/// An agent's part of the report, with why no verdict can be given on it.
pub struct AgentPart {
    /// What is shown.
    pub report: AgentReport,
    /// Why no verdict can be given; empty where one can.
    pub not_gateable: Vec<NotGateable>,
}

/// What is known of an agent when its part is put together.
pub struct AgentFacts<'a> {
    /// Its suite.
    pub suite: &'a SuiteId,
    /// Its name.
    pub agent: AgentName,
    /// The metrics of its kind.
    pub specs: &'a [MetricSpec],
    /// What it was measured with.
    pub identity: Identity,
    /// Its pairs, by case.
    pub pairs: Vec<PairResult>,
    /// What the kind has to say beside the numbers.
    pub remarks: Vec<String>,
    /// Why what was graded carries no verdict, where it does not.
    pub refused: Option<String>,
    /// Cases that are listed and not run.
    pub retired: Vec<(CaseId, String)>,
    /// The judgement on it.
    pub judgement: GateOutcome,
    /// The baseline's entry.
    pub before: Option<&'a BaselineEntry>,
}

/// Puts one agent's part together.
pub fn agent_part(facts: AgentFacts<'_>) -> AgentPart {
    let AgentFacts { suite, agent, specs, identity, pairs, remarks, refused, retired, judgement, before } = facts;
    let GateOutcome { metrics, verdict, reliability, cases, removed, comparability, lost_metrics } = judgement;
    let mut not_gateable = Vec::new();
    let mut refuse = |why: String| not_gateable.push(NotGateable(format!("{suite}/{agent}: {why}")));
    if fold::all_excluded(&pairs) {
        refuse("every case is excluded, because no majority of its samples completed".to_owned());
    }
    let coverage = metrics.iter().find(|metric| metric.name == COVERAGE);
    if coverage.is_some_and(|coverage| coverage.verdict == Ruling::Judged(Verdict::Inconclusive)) {
        refuse(not_covered(&pairs, before));
    }
    // Where a gate fails, that says more.
    if !lost_metrics.is_empty() && verdict.verdict() == Some(Verdict::Inconclusive) {
        refuse(format!(
            "not measured any more: {}; the baseline has a number, and no case of this run gives one",
            lost_metrics.join(", ")
        ));
    }
    refused.into_iter().for_each(&mut refuse);
    let waits = metrics
        .iter()
        .filter(|metric| metric.value.is_some())
        .flat_map(|metric| &metric.gates)
        .any(|gate| gate.from_baseline && !gate.is_off() && gate.ruling.verdict().is_none());
    let comparable = matches!(comparability, Comparability::Comparable(_));
    let mut notes = remarks;
    notes.extend(match comparability {
        Comparability::Absent => vec!["no baseline: gates that need one are skipped".to_owned()],
        Comparability::Comparable(remarks) => remarks,
        Comparability::Incomparable(why) => {
            if waits {
                refuse(why.clone());
            }
            vec![why]
        }
    });
    let cases =
        pairs.into_iter().zip(cases).map(|(pair, (verdict, trend))| CaseReport { pair, verdict, trend }).collect();
    let mut report = AgentReport {
        agent,
        verdict,
        identity,
        metrics,
        judges: Vec::new(),
        reliability,
        cases,
        retired,
        removed,
        notes,
        taxonomy_before: before.filter(|entry| !entry.cases.is_empty()).map(|entry| entry.taxonomy.clone()),
        infra_before: before.and_then(|entry| entry.infra),
    };
    add_evidence(specs, &mut report, before.filter(|_| comparable));
    report.notes.extend(before.and_then(|entry| read_otherwise(&entry.layers, &report.layers())));
    AgentPart { report, not_gateable }
}

/// How many cases that were not measured are named.
const NAMED: usize = 10;

/// How much of a sample's error is shown.
const ERROR: usize = 80;

/// Which cases were not measured, and why; those that the baseline measured come first.
fn not_covered(pairs: &[PairResult], before: Option<&BaselineEntry>) -> String {
    let planned = pairs.iter().filter(|pair| pair.exclusion != Exclusion::Quarantined).count();
    let lost = pairs.iter().filter(|pair| pair.exclusion == Exclusion::NoMajority);
    let had = |pair: &&PairResult| {
        before.and_then(|entry| entry.cases.get(&pair.case)).is_some_and(|values| !values.is_empty())
    };
    let (known, fresh): (Vec<&PairResult>, Vec<&PairResult>) = lost.partition(had);
    let count = known.len() + fresh.len();
    let named = |pairs: &[&PairResult]| {
        let named = pairs.iter().take(NAMED).map(|pair| {
            let why = pair.lost.first().map_or("no sample".to_owned(), |lost| line(&lost.why.text(), ERROR));
            format!("{} ({why})", pair.case)
        });
        let more = match pairs.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{}{more}", named.collect::<Vec<_>>().join(", "))
    };
    let parts = [("measured in the baseline", &known), ("not in the baseline", &fresh)];
    let parts = parts.into_iter().filter(|(_, pairs)| !pairs.is_empty());
    let parts: Vec<String> = parts.map(|(what, pairs)| format!("{what}: {}", named(pairs))).collect();
    format!("{count} of {planned} cases not measured; {}", parts.join("; "))
}

/// Cases that count nowhere may be few: what was lost and what is in quarantine together come to at most a tenth of a suite.
pub fn too_many_left_out(suite: &SuiteReport) -> Option<NotGateable> {
    let pairs = || suite.agents.iter().flat_map(|agent| &agent.cases).map(|case| case.pair.exclusion);
    let count = |wanted: Exclusion| pairs().filter(|exclusion| *exclusion == wanted).count();
    let (all, lost, quarantined) = (pairs().count(), count(Exclusion::NoMajority), count(Exclusion::Quarantined));
    // A quarantine alone was counted before anything ran; lost cases alone are named by the coverage.
    let told = suite
        .agents
        .iter()
        .flat_map(|agent| &agent.metrics)
        .any(|metric| metric.name == COVERAGE && metric.verdict == Ruling::Judged(Verdict::Inconclusive));
    (!told && lost > 0 && quarantined > 0 && (lost + quarantined) * 10 > all).then(|| {
        let lost = if lost == 1 { "1 case was".to_owned() } else { format!("{lost} cases were") };
        let quarantined = if quarantined == 1 { "1 is".to_owned() } else { format!("{quarantined} are") };
        let id = &suite.id;
        NotGateable(format!(
            "{id}: {lost} not measured and {quarantined} in quarantine, more than a tenth of {all} together"
        ))
    })
}

/// That answers are read in another way than at the baseline: the first sign of a prompt that lost its output format.
fn read_otherwise(before: &BTreeMap<Layer, u32>, now: &BTreeMap<Layer, u32>) -> Option<String> {
    // Shares, not counts: a run of more samples reads no differently for that.
    let share = |counts: &BTreeMap<Layer, u32>, layer: Layer| {
        let all: u32 = counts.values().sum();
        f64::from(counts.get(&layer).copied().unwrap_or(0)) / f64::from(all.max(1))
    };
    let same = |layer: &Layer| (share(before, *layer) - share(now, *layer)).abs() < EPSILON;
    if before.is_empty() || now.is_empty() || Layer::ALL.iter().all(same) {
        return None;
    }
    let said = |counts: &BTreeMap<Layer, u32>| {
        let parts: Vec<String> = counts.iter().map(|(layer, count)| format!("{count} {}", layer.as_str())).collect();
        parts.join(", ")
    };
    Some(format!("answers are read in another way than at the baseline: {} before, {} now", said(before), said(now)))
}

/// Puts one suite together.
pub fn suite(id: SuiteId, kind: &str, tier: Tier, agents: Vec<AgentReport>) -> SuiteReport {
    let verdict = Ruling::of_all(agents.iter().map(|agent| &agent.verdict));
    SuiteReport { id, kind: kind.to_owned(), tier, verdict, agents }
}

/// How a part says that it is one.
pub const PART: &str = "this is the part";

/// Makes a report that of a part: aggregates over a part of the cases say nothing about the whole, so no gate is judged on them.
pub fn part(report: &mut Report, shard: Shard) {
    let skipped = || Ruling::Skipped("a part of the suite: `goldgate merge` decides".to_owned());
    for suite in &mut report.suites {
        suite.verdict = skipped();
        for agent in &mut suite.agents {
            agent.verdict = skipped();
            for metric in &mut agent.metrics {
                metric.verdict = skipped();
                metric.gates.iter_mut().for_each(|gate| gate.ruling = skipped());
            }
        }
    }
    report.verdict = skipped();
    report.not_gateable.clear();
    report.authority = Authority::Advisory;
    report.notes.push(format!("{PART} {shard} of the cases: `goldgate merge` joins the parts, and judges"));
}

/// Adds reasons why no verdict can be given: with one, the run is not a pass, whatever its gates say.
pub fn refuse(report: &mut Report, why: Vec<NotGateable>) {
    report.not_gateable.extend(why);
    report.not_gateable.sort();
    report.not_gateable.dedup();
    if !report.not_gateable.is_empty() && report.verdict == Ruling::Judged(Verdict::Pass) {
        report.verdict = Ruling::Judged(Verdict::Inconclusive);
    }
}

/// Takes the verdict from a run that was called off: what was measured until then says nothing about the rest.
pub fn call_off(report: &mut Report, interruption: Interruption) {
    let why = format!("not all samples were made: {}", interruption.message());
    report.called_off = Some(interruption);
    report.verdict = Ruling::Skipped(why.clone());
    report.not_gateable.push(NotGateable(why));
}

/// Adds what changed in the golden set, and who approved it. In a run that blocks, an unapproved change that needs an approval
/// is a fail, whatever the gates say.
pub fn govern(report: &mut Report, mut changes: Vec<GoldenChange>, approval: Option<Approval>) {
    changes.sort_by(|one, other| {
        (one.weight, one.class, &one.file, &one.words).cmp(&(other.weight, other.class, &other.file, &other.words))
    });
    report.golden_changes = changes;
    report.approval = approval;
    if report.is_held_by_changes() && report.called_off.is_none() {
        report.verdict = Ruling::Judged(Verdict::Fail);
    }
}

#[cfg(test)]
mod tests {
    use super::{govern, refuse};
    use crate::model::{
        Approval, Authority, ChangeClass, GoldenChange, NotGateable, Report, Ruling, RunUsage, Tier, Verdict, Weight,
    };

    fn passed(authority: Authority, tier: Tier) -> Report {
        Report {
            tool_version: "0.0.0".to_owned(),
            config: None,
            commit: None,
            base: None,
            tiers: vec![tier],
            authority,
            samples: 1,
            started_at: String::new(),
            finished_at: String::new(),
            suites: Vec::new(),
            verdict: Ruling::Judged(Verdict::Pass),
            not_gateable: Vec::new(),
            called_off: None,
            golden_changes: Vec::new(),
            approval: None,
            notes: Vec::new(),
            usage: RunUsage::default(),
        }
    }

    #[test]
    fn a_change_holds_a_blocking_run_until_somebody_approves_it() {
        let approval = || {
            let [by, at, head, digest] = ["a", "b", "c", "d"].map(str::to_owned);
            Some(Approval { by, at, head, digest })
        };
        let table = [
            (Authority::Blocking, Tier::Deterministic, Weight::NeedsApproval, None, 1),
            (Authority::Blocking, Tier::Deterministic, Weight::NeedsApproval, approval(), 0),
            (Authority::Blocking, Tier::Deterministic, Weight::Listed, None, 0),
            (Authority::Advisory, Tier::Deterministic, Weight::NeedsApproval, None, 0),
            (Authority::Blocking, Tier::Model, Weight::NeedsApproval, None, 1),
        ];
        for (authority, tier, weight, approval, code) in table {
            let mut report = passed(authority, tier);
            govern(
                &mut report,
                vec![GoldenChange { words: "x".to_owned(), weight, file: None, class: ChangeClass::Config }],
                approval,
            );
            let verdict = if code == 1 { Verdict::Fail } else { Verdict::Pass };
            assert_eq!((report.exit_code(), &report.verdict), (code, &Ruling::Judged(verdict)), "{report:?}");
        }
    }

    #[test]
    fn a_run_without_a_verdict_does_not_say_that_it_passes() {
        let why = || vec![NotGateable("stale".to_owned())];
        let table = [
            (Ruling::Judged(Verdict::Pass), Vec::new(), Ruling::Judged(Verdict::Pass), 0),
            (Ruling::Judged(Verdict::Pass), why(), Ruling::Judged(Verdict::Inconclusive), 3),
            (Ruling::Judged(Verdict::Fail), why(), Ruling::Judged(Verdict::Fail), 1),
        ];
        for (verdict, refusals, expected, code) in table {
            let mut report = Report { verdict, ..passed(Authority::Blocking, Tier::Deterministic) };
            refuse(&mut report, refusals);
            assert_eq!((&report.verdict, report.exit_code()), (&expected, code));
        }
    }

    #[test]
    fn what_needs_an_approval_stands_first() {
        let mut report = passed(Authority::Blocking, Tier::Deterministic);
        let change = |words: &str, weight| GoldenChange {
            words: words.to_owned(),
            weight,
            file: None,
            class: ChangeClass::Config,
        };
        let changes =
            vec![change("a", Weight::Listed), change("c", Weight::NeedsApproval), change("b", Weight::NeedsApproval)];
        govern(&mut report, changes, None);
        let words: Vec<&str> = report.golden_changes.iter().map(|change| change.words.as_str()).collect();
        assert_eq!(words, ["b", "c", "a"]);
    }
}

//! Whether a changed baseline needs an approval, by the numbers that this change measures.

use super::baseline;
use super::baseline::Replaced;
use crate::evaluation::graded_run::CommittedBaseline;
use crate::files::{Files, SourceText};
use crate::format::baseline_v1;
use crate::gate::{BaseNumber, PlannedGate, Subject, planned_in, ruling};
use crate::model::{
    AgentName, Baseline, BaselineEntry, BaselineRule, CaseId, Config, GoldenChange, NEWLY_FAILING,
    PASSED, RepoPath, Report, Ruling, RunSource, SuiteId, Tier, Verdict, Weight,
};
use crate::publish::{has_same_entries, is_worse, moves, rounded};
use crate::suites::kind;
use crate::text::config_option;

/// The most differences that are named.
const NAMED: usize = 3;

/// Weighs the changes of the baseline by the numbers that this change measures: a first baseline has to have them, and a changed one is
/// only listed if it has them and none is worse.
pub fn weighed(
    changes: Vec<GoldenChange>,
    head: &dyn Files,
    against: Option<&Baseline>,
    (config, rule): (&Config, BaselineRule),
    report: &Report,
) -> Vec<GoldenChange> {
    match (&config.baseline, against) {
        (Some(_), Some(_)) if rule == BaselineRule::Any => changes,
        (Some(file), Some(against)) => list_measured(changes, file, head, against, report),
        (Some(file), None) => weigh_first(changes, file, head, (config, report)),
        (None, _) => changes,
    }
}

/// Whether the committed baseline has the numbers that this change measures.
pub fn committed_baseline(
    head: &dyn Files,
    against: Option<&Baseline>,
    config: &Config,
    report: &Report,
) -> CommittedBaseline {
    match (&config.baseline, against) {
        (Some(file), Some(against)) if is_measured(file, head, against, report) => {
            CommittedBaseline::Measured
        }
        _ => CommittedBaseline::Other,
    }
}

/// A first baseline replaces the stricter limits of gates that have none, so numbers that this change does not measure need an approval.
fn weigh_first(
    changes: Vec<GoldenChange>,
    file: &RepoPath,
    head: &dyn Files,
    measured: (&Config, &Report),
) -> Vec<GoldenChange> {
    if changes
        .iter()
        .all(|change| change.file.as_ref() != Some(file))
    {
        return changes;
    }
    let Some(differs) = not_as_measured(file, head, measured) else {
        return changes;
    };
    let config = config_option(measured.0.file.as_str());
    let more = format!("{differs}: write it again with `goldgate run{config} --update-baseline`");
    reweighed(
        changes,
        |change| change.file.as_ref() == Some(file),
        Weight::NeedsApproval,
        &more,
    )
}

/// Gives some of the changes another weight, and says why.
fn reweighed(
    mut changes: Vec<GoldenChange>,
    is_chosen: impl Fn(&GoldenChange) -> bool,
    weight: Weight,
    why: &str,
) -> Vec<GoldenChange> {
    for change in &mut changes {
        if is_chosen(change) {
            change.words = format!("{}; {why}", change.words);
            change.weight = weight;
        }
    }
    changes
}

/// How the numbers of a first baseline differ from those that were measured; `None` if all are those. What was not measured does not count. An
/// agent that each run calls may have other numbers, but no lower ones than its gates tolerate.
fn not_as_measured(
    file: &RepoPath,
    head: &dyn Files,
    (config, report): (&Config, &Report),
) -> Option<String> {
    let bytes = head.baseline_bytes(file).ok()?;
    let parsed =
        SourceText::new(file.clone(), bytes).and_then(|source| baseline_v1::read_baseline(&source));
    let head_baseline = match parsed {
        Ok(baseline) => baseline,
        Err(problem) => return Some(format!("it cannot be read ({problem})")),
    };
    let measured = rounded(&baseline::proposed(None, report, Replaced::Everything));
    let mut differences = Vec::new();
    for (suite, agents) in rounded(&head_baseline) {
        for (agent, entry) in agents {
            let name = format!("`{suite}/{agent}`");
            let Some(measured) = measured.get(&suite).and_then(|agents| agents.get(&agent)) else {
                let tier = entry
                    .identity
                    .as_ref()
                    .and_then(|identity| identity.tier.as_deref());
                if !is_configured(config, &suite, &agent, tier) {
                    let tier = tier.map_or(String::new(), |tier| format!(" in the {tier} tier"));
                    differences.push(format!("{name} is not in the config{tier}"));
                }
                continue;
            };
            let is_called = is_live(config, &suite, &agent);
            for (metric, value) in &measured.metrics {
                let stated = entry.metrics.get(metric).copied();
                let differs = if is_called {
                    hides_failure(config, &suite, metric, (stated, *value))
                } else {
                    stated != Some(*value)
                };
                match stated {
                    Some(stated) if differs => {
                        differences.push(format!("{metric} of {name} is {value}, not {stated}"));
                    }
                    None if differs => {
                        differences
                            .push(format!("{metric} of {name} is {value}, and is not in it"));
                    }
                    Some(_) | None => {}
                }
            }
            let cases = if is_called {
                hidden_cases(config, &suite, &entry, measured)
            } else {
                other_cases(&entry, measured)
            };
            differences.extend(cases.map(|difference| format!("{difference} ({name})")));
        }
    }
    let more = differences.len().saturating_sub(NAMED);
    differences.truncate(NAMED);
    differences.extend((more > 0).then(|| format!("and {more} more differ")));
    (!differences.is_empty()).then(|| differences.join(", "))
}

/// Whether a gate would fail if the number that a baseline states were measured, and the measured one were the baseline's: the same fall is
/// hidden from every later change.
fn hides_failure(
    config: &Config,
    suite: &SuiteId,
    metric: &str,
    (stated, measured): (Option<f64>, f64),
) -> bool {
    for planned in gates_of(config, suite, metric) {
        let ruling = ruling(
            &planned.gate,
            &Subject::alone(stated),
            &BaseNumber::Known(measured),
        );
        let is_tolerated = matches!(
            ruling.gate.ruling,
            Ruling::Judged(Verdict::Pass | Verdict::Inconclusive)
        );
        if planned.off.is_none() && ruling.gate.from_baseline && !is_tolerated {
            return true;
        }
    }
    false
}

const MISSING: &str = "the values of some cases are missing";

fn lacks(entry: &BaselineEntry, measured: &BaselineEntry, case: &CaseId) -> bool {
    measured.measured(case).is_some() && entry.measured(case).is_none()
}

/// Which cases of a called agent an entry hides from the gates: those without values, and where single cases are gated, those that pass now and
/// not in the entry.
fn hidden_cases(
    config: &Config,
    suite: &SuiteId,
    entry: &BaselineEntry,
    measured: &BaselineEntry,
) -> Option<&'static str> {
    if measured
        .cases
        .keys()
        .any(|case| lacks(entry, measured, case))
    {
        return Some(MISSING);
    }
    let is_gated = gates_of(config, suite, NEWLY_FAILING)
        .iter()
        .any(|planned| planned.off.is_none());
    let hides_case = measured
        .cases
        .keys()
        .any(|case| passes(measured, case) && !passes(entry, case));
    (is_gated && hides_case).then_some("cases that pass now fail in it")
}

/// Whether most samples of the case pass.
fn passes(entry: &BaselineEntry, case: &CaseId) -> bool {
    let passed = entry
        .measured(case)
        .and_then(|values| values.get(PASSED))
        .map(Vec::as_slice)
        .unwrap_or_default();
    let count = passed.iter().filter(|passed| **passed == Some(1.0)).count();
    2 * count > passed.len()
}

/// What the cases of an entry lack of the measured ones, or have otherwise. Without its cases, or with them as earlier ones, an entry would
/// compare no case.
fn other_cases(entry: &BaselineEntry, measured: &BaselineEntry) -> Option<&'static str> {
    if measured
        .cases
        .keys()
        .any(|case| lacks(entry, measured, case))
    {
        return Some(MISSING);
    }
    let has_other_values = entry
        .cases
        .iter()
        .any(|(case, values)| measured.cases.get(case).is_some_and(|new| new != values));
    let differ = has_other_values || entry.earlier != measured.earlier;
    differ.then_some("single cases have other values")
}

/// The gates of a metric in the deterministic tier.
fn gates_of(config: &Config, suite: &SuiteId, metric: &str) -> Vec<PlannedGate> {
    let Some(suite) = config.suite(suite) else {
        return Vec::new();
    };
    let specs = kind(&suite.kind).map_or_else(Vec::new, |kind| kind.metrics_in(suite));
    let specs = specs.iter().filter(|spec| spec.name == metric);
    specs
        .filter_map(|spec| planned_in(spec, suite, Tier::Deterministic).ok())
        .flatten()
        .collect()
}

/// Whether the config has an agent, with runs in the tier of its entry. Some kinds have agents of their own.
fn is_configured(
    config: &Config,
    suite: &SuiteId,
    agent: &AgentName,
    stated: Option<&str>,
) -> bool {
    let Some(suite) = config.suite(suite) else {
        return false;
    };
    if suite.agents.is_empty() {
        return true;
    }
    let Some(agent) = suite.agents.get(agent) else {
        return false;
    };
    let tier = suite
        .tiers
        .iter()
        .find(|tier| Some(tier.as_str()) == stated);
    match tier {
        Some(tier) => agent.source(*tier).is_some(),
        None => stated.is_none(),
    }
}

/// Whether the deterministic tier calls an agent, so that two runs may have other numbers.
fn is_live(config: &Config, suite: &SuiteId, agent: &AgentName) -> bool {
    let suite = config.suite(suite);
    let source = suite.and_then(|suite| suite.agents.get(agent)?.deterministic.as_ref());
    matches!(source, Some(RunSource::Live(live)) if live.exchanges.is_none())
}

/// Lists a changed baseline without asking for an approval, if its numbers are those that this change measures, and none of them is worse
/// than the base commit's baseline. Entries that this run does not measure equal those of the base commit's baseline. So no gate of a
/// later change gets weaker: worse numbers need an approval.
fn list_measured(
    changes: Vec<GoldenChange>,
    file: &RepoPath,
    head: &dyn Files,
    against: &Baseline,
    report: &Report,
) -> Vec<GoldenChange> {
    if !changes.iter().any(|change| is_edit(change, file))
        || !is_measured_and_not_worse(file, head, against, report)
    {
        return changes;
    }
    reweighed(
        changes,
        |change| is_edit(change, file),
        Weight::Listed,
        "its numbers are those of this change, and none is worse",
    )
}

fn is_edit(change: &GoldenChange, file: &RepoPath) -> bool {
    change.weight == Weight::NeedsApproval && change.file.as_ref() == Some(file)
}

fn is_measured_and_not_worse(
    file: &RepoPath,
    head: &dyn Files,
    against: &Baseline,
    report: &Report,
) -> bool {
    is_measured(file, head, against, report) && !moves(Some(against), report).iter().any(is_worse)
}

/// Whether a committed baseline has the numbers that this change measures, and keeps who accepted the earlier ones.
fn is_measured(file: &RepoPath, head: &dyn Files, against: &Baseline, report: &Report) -> bool {
    let Ok(bytes) = head.baseline_bytes(file) else {
        return false;
    };
    let parsed =
        SourceText::new(file.clone(), bytes).and_then(|source| baseline_v1::read_baseline(&source));
    let Ok(head_baseline) = parsed else {
        return false;
    };
    // With the worse samples, if somebody approved them, or without.
    let measured = [Replaced::Better, Replaced::BetterAndWorse];
    let is_measured = measured.into_iter().any(|replaced| {
        has_same_entries(
            &head_baseline,
            &baseline::proposed(Some(against), report, replaced),
        )
    });
    // Who accepted earlier numbers is not rewritten by hand.
    let keeps_acceptances = head_baseline.accepted.starts_with(&against.accepted);
    is_measured && keeps_acceptances
}

//! The committed baseline: its path and its numbers.

use std::collections::{BTreeMap, BTreeSet};

use super::Sides;
use super::edits::listed;
use super::found::ChangeCollector;
use crate::diag::ReadFailure;
use crate::files::{FileMatch, SourceText};
use crate::format::baseline_v1;
use crate::model::{AgentName, Baseline, Config, RepoPath, SuiteId};

/// Compares the baselines that the two configs name.
pub fn compare(sides: &Sides<'_>, base: &Config, head: &Config, collector: &mut ChangeCollector) {
    match (&base.baseline, &head.baseline) {
        (None, None) => {}
        (None, Some(file)) => {
            collector.lists(format!("the config names a baseline: {file}"), Some(file))
        }
        (Some(file), None) => collector.needs(
            format!("the config no longer names a baseline; it was {file}"),
            Some(&head.file),
        ),
        (Some(old), Some(new)) => {
            if old != new {
                collector.needs(
                    format!("the config names another baseline: {old} -> {new}"),
                    Some(&head.file),
                );
            }
            contents(sides, old, new, head, collector);
        }
    }
}

fn contents(
    sides: &Sides<'_>,
    old: &RepoPath,
    new: &RepoPath,
    config: &Config,
    collector: &mut ChangeCollector,
) {
    let (base, head) = (
        sides.base.baseline_bytes(old),
        sides.head.baseline_bytes(new),
    );
    let (base, head) = match (base, head) {
        (Err(problem), Ok(_)) if problem.is_read_failure(ReadFailure::MissingFile) => {
            return collector.lists(format!("the first baseline: {new}"), Some(new));
        }
        (Err(problem), Err(_)) if problem.is_read_failure(ReadFailure::MissingFile) => return,
        (_, Err(problem)) if problem.is_read_failure(ReadFailure::MissingFile) => {
            return collector.needs(format!("the baseline {old} removed"), Some(old));
        }
        (Ok(base), Ok(head)) => (base, head),
        (Err(problem), _) | (_, Err(problem)) => {
            return collector.needs(
                format!("the baseline cannot be compared: {problem}"),
                Some(new),
            );
        }
    };
    if sides.base.likeness(old, new) == FileMatch::Same {
        return;
    }
    let base = read_baseline(old, base, config);
    let head = read_baseline(new, head, config);
    let (Some(base), Some(head)) = (base, head) else {
        return collector.needs("the baseline edited".to_owned(), Some(new));
    };
    if base == head {
        return;
    }
    if numbers(&base) != numbers(&head) {
        let difference = listed(&moved(&base, &head)).unwrap_or_else(|| other_data(&base, &head));
        return collector.needs(format!("the baseline edited: {difference}"), Some(new));
    }
    if is_older(&base, &head) {
        collector.needs(
            "the time of the baseline moved back, so older approvals would count".to_owned(),
            Some(new),
        );
    } else {
        collector.lists(
            "the baseline was rewritten with the same numbers".to_owned(),
            Some(new),
        );
    }
}

/// A baseline under the names of the head's config; `None` if the file is not valid.
fn read_baseline(file: &RepoPath, bytes: Vec<u8>, config: &Config) -> Option<Baseline> {
    let source = SourceText::new(file.clone(), bytes).ok()?;
    let baseline = baseline_v1::read_baseline(&source).ok()?;
    Some(baseline.renamed(config))
}

/// What differs between baselines with the same metrics.
fn other_data(base: &Baseline, head: &Baseline) -> String {
    let (mut has_other_identity, mut has_other_cases) = (false, false);
    for (suite, agents) in &head.suites {
        for (agent, new) in agents {
            let Some(old) = base.entry(suite, agent) else {
                continue;
            };
            has_other_identity |= old.identity != new.identity;
            has_other_cases |= (&old.cases, &old.earlier) != (&new.cases, &new.earlier);
        }
    }
    let mut parts = Vec::new();
    if has_other_identity {
        parts.push("what the numbers are of (expectations, prompts or models)");
    }
    if has_other_cases {
        parts.push("values of single cases");
    }
    if parts.is_empty() {
        return "no metric, but counts of failures or other recorded data".to_owned();
    }
    format!("no metric, but {}", parts.join(" and "))
}

/// Whether a baseline claims to be older: approvals since its time count for the baseline pull request.
fn is_older(base: &Baseline, head: &Baseline) -> bool {
    head.captured_at < base.captured_at
}

/// A baseline without its origin (commit, time, version), which no number is compared with.
fn numbers(baseline: &Baseline) -> Baseline {
    Baseline {
        commit: None,
        captured_at: None,
        tool_version: None,
        ..baseline.clone()
    }
}

/// Every metric that moved.
fn moved(base: &Baseline, head: &Baseline) -> Vec<String> {
    let (old, new) = (metrics(base), metrics(head));
    let keys: BTreeSet<_> = old.keys().chain(new.keys()).collect();
    let mut moved = Vec::new();
    for key in keys {
        if old.get(key) != new.get(key) {
            let (suite, agent, metric) = key;
            moved.push(format!(
                "{metric} of `{suite}/{agent}` {} -> {}",
                number_or_none(old.get(key)),
                number_or_none(new.get(key))
            ));
        }
    }
    moved
}

/// The metrics of a baseline by suite, agent and name.
fn metrics(baseline: &Baseline) -> BTreeMap<(&SuiteId, &AgentName, &String), f64> {
    let mut metrics = BTreeMap::new();
    for (suite, agents) in &baseline.suites {
        for (agent, entry) in agents {
            for (metric, value) in &entry.metrics {
                metrics.insert((suite, agent, metric), *value);
            }
        }
    }
    metrics
}

fn number_or_none(value: Option<&f64>) -> String {
    value.map_or("none".to_owned(), ToString::to_string)
}

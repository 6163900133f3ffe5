//! The committed baseline: its path and its numbers.

use std::collections::BTreeSet;

use super::Sides;
use super::edits::listed;
use super::found::ChangeCollector;
use crate::diag::ReadFailure;
use crate::files::{FileMatch, SourceText};
use crate::format::baseline_v1;
use crate::model::{Baseline, Config, RepoPath};

/// Compares the baselines that the two configs name.
pub fn compare(sides: &Sides<'_>, before: &Config, after: &Config, found: &mut ChangeCollector) {
    match (&before.baseline, &after.baseline) {
        (None, None) => {}
        (None, Some(file)) => {
            found.lists(format!("the config names a baseline: {file}"), Some(file))
        }
        (Some(file), None) => found.needs(
            format!("the config no longer names a baseline; it was {file}"),
            Some(&after.file),
        ),
        (Some(old), Some(new)) => {
            if old != new {
                found.needs(
                    format!("the config names another baseline: {old} -> {new}"),
                    Some(&after.file),
                );
            }
            contents(sides, (old, new), after, found);
        }
    }
}

fn contents(
    sides: &Sides<'_>,
    (old, new): (&RepoPath, &RepoPath),
    config: &Config,
    found: &mut ChangeCollector,
) {
    let (before, after) = (
        sides.base.baseline_bytes(old),
        sides.head.baseline_bytes(new),
    );
    let (before, after) = match (before, after) {
        (Err(problem), Ok(_)) if problem.is_read_failure(ReadFailure::MissingFile) => {
            return found.lists(format!("the first baseline: {new}"), Some(new));
        }
        (Err(problem), Err(_)) if problem.is_read_failure(ReadFailure::MissingFile) => return,
        (_, Err(problem)) if problem.is_read_failure(ReadFailure::MissingFile) => {
            return found.needs(format!("the baseline {old} removed"), Some(old));
        }
        (Ok(before), Ok(after)) => (before, after),
        (Err(problem), _) | (_, Err(problem)) => {
            return found.needs(
                format!("the baseline cannot be compared: {problem}"),
                Some(new),
            );
        }
    };
    if sides.base.likeness(old, new) == FileMatch::Same {
        return;
    }
    let read = |file: &RepoPath, bytes| {
        baseline_v1::read_baseline(&SourceText::new(file.clone(), bytes).ok()?).ok()
    };
    let renamed = |baseline: Baseline| baseline.renamed(config);
    let (before, after) = (read(old, before), read(new, after));
    match (before.map(renamed), after.map(renamed)) {
        (Some(before), Some(after)) if before == after => {}
        (Some(before), Some(after)) if numbers(&before) == numbers(&after) => {
            match is_older(&before, &after) {
                false => found.lists(
                    "the baseline was rewritten with the same numbers".to_owned(),
                    Some(new),
                ),
                true => found.needs(
                    "the time of the baseline moved back, so older approvals would count"
                        .to_owned(),
                    Some(new),
                ),
            }
        }
        (Some(before), Some(after)) => {
            let what =
                listed(&moved(&before, &after)).unwrap_or_else(|| other_data(&before, &after));
            found.needs(format!("the baseline edited: {what}"), Some(new));
        }
        (None, _) | (_, None) => found.needs("the baseline edited".to_owned(), Some(new)),
    }
}

/// What differs between baselines with the same metrics.
fn other_data(before: &Baseline, after: &Baseline) -> String {
    let pairs = || {
        let agents = after
            .suites
            .iter()
            .flat_map(|(suite, agents)| agents.iter().map(move |(name, new)| (suite, name, new)));
        agents.filter_map(|(suite, name, new)| Some((before.entry(suite, name)?, new)))
    };
    let mut what = Vec::new();
    if pairs().any(|(old, new)| old.identity != new.identity) {
        what.push("what the numbers are of (expectations, prompts or models)");
    }
    if pairs().any(|(old, new)| (&old.cases, &old.earlier) != (&new.cases, &new.earlier)) {
        what.push("values of single cases");
    }
    match what.as_slice() {
        [] => "no metric, but counts of failures or other recorded data".to_owned(),
        what => format!("no metric, but {}", what.join(" and ")),
    }
}

/// Whether a baseline claims to be older: approvals since its time count for the baseline pull request.
fn is_older(before: &Baseline, after: &Baseline) -> bool {
    after.captured_at < before.captured_at
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
fn moved(before: &Baseline, after: &Baseline) -> Vec<String> {
    let of = |baseline: &Baseline| {
        let agents = baseline.suites.iter().flat_map(|(suite, agents)| {
            agents
                .iter()
                .map(move |(agent, entry)| (suite, agent, entry))
        });
        let rows = agents.flat_map(|(suite, agent, entry)| {
            entry.metrics.iter().map(move |(metric, value)| {
                ((suite.clone(), agent.clone(), metric.clone()), *value)
            })
        });
        rows.collect::<std::collections::BTreeMap<_, f64>>()
    };
    let (old, new) = (of(before), of(after));
    let keys: BTreeSet<_> = old.keys().chain(new.keys()).collect();
    let render = |value: Option<&f64>| value.map_or("none".to_owned(), ToString::to_string);
    keys.into_iter()
        .filter(|key| old.get(key) != new.get(key))
        .map(|key| {
            let (suite, agent, metric) = key;
            format!(
                "{metric} of `{suite}/{agent}` {} -> {}",
                render(old.get(key)),
                render(new.get(key))
            )
        })
        .collect()
}

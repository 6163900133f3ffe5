//! Snapshots: the graded values of each case, saved in a file for review by `run --update-snapshots`.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::files::Files;
use crate::format::json;
use crate::model::{
    AgentReport, COVERAGE, Config, Exclusion, NEWLY_FAILING, PairResult, RepoPath, Report,
};
use crate::render::CliError;
use crate::world::Disk;

/// The graded values of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct CaseSnapshot {
    /// The measuring conditions: a change of these explains other differences.
    scorer: Option<String>,
    suite_digest: Option<String>,
    agent_sha256: Option<String>,
    /// The metric values, rounded to six decimals.
    metrics: BTreeMap<String, Option<f64>>,
    failing: Vec<String>,
}

impl CaseSnapshot {
    fn of(agent: &AgentReport, case: &PairResult) -> Self {
        let rounded = |value: f64| (value * 1e6).round() / 1e6;
        // Metrics that every kind has are left out.
        let own = |name: &str| ![COVERAGE, NEWLY_FAILING].contains(&name);
        let values = agent
            .metrics
            .iter()
            .zip(&case.values)
            .filter(|(metric, _)| own(&metric.name));
        let failing = case.failed_checks();
        Self {
            scorer: agent.identity.scorer.clone(),
            suite_digest: agent.identity.suite_digest.clone(),
            agent_sha256: agent.identity.agent_sha256.clone(),
            metrics: values
                .map(|(metric, value)| (metric.name.clone(), value.value.map(rounded)))
                .collect(),
            failing: failing.map(|check| check.name.to_string()).collect(),
        }
    }

    /// Describes the differences; `None` if equal.
    fn difference(&self, now: &Self) -> Option<String> {
        let shown = |value: Option<&Option<f64>>| match value {
            Some(Some(number)) => number.to_string(),
            Some(None) | None => "none".to_owned(),
        };
        let names = self
            .metrics
            .keys()
            .chain(now.metrics.keys())
            .collect::<BTreeSet<_>>();
        let moved = names.into_iter().filter(|name| {
            self.metrics.get(*name).copied().flatten() != now.metrics.get(*name).copied().flatten()
        });
        let mut parts: Vec<String> = moved
            .map(|name| {
                format!(
                    "{name} {} → {}",
                    shown(self.metrics.get(name)),
                    shown(now.metrics.get(name))
                )
            })
            .collect();
        let fresh: Vec<&str> = now
            .failing
            .iter()
            .filter(|name| !self.failing.contains(name))
            .map(String::as_str)
            .collect();
        if !fresh.is_empty() {
            parts.push(format!("now failing {}", fresh.join(", ")));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// Returns the reason for a difference, if known.
    fn explained(&self, now: &Self) -> Option<&'static str> {
        match () {
            () if self.scorer != now.scorer => Some("the scorer changed"),
            () if self.agent_sha256 != now.agent_sha256 => Some("the agent's files changed"),
            () if self.suite_digest != now.suite_digest => Some("cases or expectations changed"),
            () => None,
        }
    }
}

/// Adds a note to each agent for every case that differs from its snapshot.
pub fn compare(files: &dyn Files, config: &Config, report: &mut Report) -> Result<(), CliError> {
    for suite in &mut report.suites {
        // Listed once, because most suites have many cases but no snapshots.
        let Some(folder) =
            folder(files, config, suite.id.as_str()).filter(|folder| files.list(folder).is_ok())
        else {
            continue;
        };
        for agent in &mut suite.agents {
            let mut notes = Vec::new();
            let kept = files
                .list(&folder.child(agent.agent.as_str()))
                .unwrap_or_default();
            let kept: BTreeSet<String> = kept.into_iter().map(|entry| entry.name).collect();
            for case in agent
                .cases
                .iter()
                .filter(|case| case.exclusion != Exclusion::NoMajority)
            {
                let own = format!("{}.json", case.case);
                if !kept.contains(&own) {
                    continue;
                }
                let file = folder.child(agent.agent.as_str()).child(&own);
                let before: CaseSnapshot = json::whole(&files.text(&file)?)?;
                let now = CaseSnapshot::of(agent, case);
                if let Some(difference) = before.difference(&now) {
                    let why = before.explained(&now).unwrap_or("unexplained");
                    notes.push(format!(
                        "{} differs from its snapshot ({why}): {difference}",
                        case.case
                    ));
                }
            }
            agent.notes.extend(notes);
        }
    }
    Ok(())
}

/// Writes the snapshot of every case that ran and was not excluded. Returns their number.
pub fn write(disk: &Disk, config: &Config, report: &Report) -> anyhow::Result<usize> {
    let mut written = 0;
    for suite in &report.suites {
        let Some(folder) = folder(disk, config, suite.id.as_str()) else {
            continue;
        };
        for agent in &suite.agents {
            for case in agent
                .cases
                .iter()
                .filter(|case| case.exclusion != Exclusion::NoMajority)
            {
                let file = folder
                    .child(agent.agent.as_str())
                    .child(&format!("{}.json", case.case));
                let mut text = serde_json::to_string_pretty(&CaseSnapshot::of(agent, case))?;
                text.push('\n');
                disk.replace(&file, text.as_bytes())?;
                written += 1;
            }
        }
    }
    Ok(written)
}

/// Returns the folder `snapshots` in the suite's folder, or next to a suite that is a file.
fn folder(files: &dyn Files, config: &Config, suite: &str) -> Option<RepoPath> {
    let path = &config
        .suites
        .iter()
        .find(|one| one.id.as_str() == suite)?
        .path;
    let base = if files.list(path).is_ok() {
        path.clone()
    } else {
        path.parent()
    };
    Some(base.child("snapshots"))
}

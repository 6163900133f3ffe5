//! The baselines in git's history.

use crate::evaluation::graded_run::GradedRun;
use crate::files::{HistoryExtent, SourceText};
use crate::format::baseline_v1;
use crate::model::{Baseline, MetricReport, RepoPath};
use crate::report::{NumberName, numbers_of_baseline};
use crate::world::{Disk, FileVersion, FileVersions, Git, Objects};

/// The number of committed baselines that a report shows of a number.
const PAST: u32 = 10;

/// The baseline of one commit; `None` if the commit removed the file.
pub fn committed_baseline(git: &Git, version: &FileVersion) -> Result<Option<Baseline>, String> {
    let Some(blob) = &version.blob else {
        return Ok(None);
    };
    let bytes = git.blob(blob).map_err(|error| format!("{error:#}"))?;
    let source =
        SourceText::new(version.path.clone(), bytes).map_err(|problem| problem.to_string())?;
    baseline_v1::read_baseline(&source)
        .map(Some)
        .map_err(|problem| problem.to_string())
}

/// Adds the values of the last committed baselines to each number that has a gate and evidence. A folder without history and a shallow
/// clone have no such values, because nothing is fetched for them.
pub fn add_past_baselines(done: &mut GradedRun, disk: &Disk) {
    let Some(file) = done.config.baseline.clone() else {
        return;
    };
    let mut shown = metrics_with_evidence(done);
    if shown.is_empty() {
        return;
    }
    let past: Vec<_> = past_baselines(&Git::of(disk), &file)
        .iter()
        .map(numbers_of_baseline)
        .collect();
    for (name, metric) in &mut shown {
        let values: Vec<Option<f64>> = past
            .iter()
            .map(|numbers| numbers.get(name).copied())
            .collect();
        // A single value has no history.
        if values.iter().flatten().count() > 1 {
            metric.past = values;
        }
    }
}

fn metrics_with_evidence(done: &mut GradedRun) -> Vec<(NumberName, &mut MetricReport)> {
    let mut metrics = Vec::new();
    for suite in &mut done.report.suites {
        for agent in &mut suite.agents {
            for metric in &mut agent.metrics {
                if !metric.gates.is_empty() && !metric.evidence.cases.is_empty() {
                    let name = (
                        suite.id.to_string(),
                        agent.agent.to_string(),
                        metric.name.clone(),
                    );
                    metrics.push((name, metric));
                }
            }
        }
    }
    metrics
}

/// The last committed baselines, oldest first. Those that cannot be read are left out, and a shallow clone has none.
pub fn past_baselines(git: &Git, file: &RepoPath) -> Vec<Baseline> {
    let versions = match git.versions(file, PAST) {
        Ok(FileVersions {
            versions,
            extent: HistoryExtent::Whole,
        }) => versions,
        Ok(FileVersions {
            versions: _,
            extent: HistoryExtent::Shallow,
        })
        | Err(_) => Vec::new(),
    };
    versions
        .iter()
        .rev()
        .filter_map(|version| committed_baseline(git, version).ok().flatten())
        .collect()
}

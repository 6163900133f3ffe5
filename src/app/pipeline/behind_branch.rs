//! A branch that is behind its base branch, which got better after the branch began.

use crate::files::{BaseFiles, FileMatch, FilePaths, Files, files_below};
use crate::model::{AgentReport, Baseline, Config, MOVED, MetricReport, RepoPath, Report, SuiteId};

/// The files that show whether a branch is behind.
pub struct BehindFiles<'a> {
    /// Of the commit where the branch began.
    pub began: &'a dyn BaseFiles,
    /// Of the newest commit of the base branch.
    pub tip: &'a dyn BaseFiles,
    pub head: &'a dyn Files,
}

/// Whether a gate fails that compares with the baseline, and the base branch got better after this branch began: its baseline has a
/// better number than the one where the branch began, or its agent has newer recordings, while this branch kept the old ones.
pub fn is_behind(
    report: &Report,
    config: &Config,
    began: Option<&Baseline>,
    files: &BehindFiles<'_>,
) -> bool {
    report.suite_agents().any(|(suite, agent)| {
        let failed: Vec<&MetricReport> = agent
            .metrics
            .iter()
            .filter(|metric| fails_by_comparison(metric))
            .collect();
        !failed.is_empty()
            && (has_better_baseline(&suite.id, agent, &failed, began)
                || keeps_old_recordings(&suite.id, agent, config, files))
    })
}

fn fails_by_comparison(metric: &MetricReport) -> bool {
    metric
        .gates
        .iter()
        .any(|gate| gate.from_baseline && gate.ruling.fails())
}

fn has_better_baseline(
    suite: &SuiteId,
    agent: &AgentReport,
    failed: &[&MetricReport],
    began: Option<&Baseline>,
) -> bool {
    let Some(entry) = began.and_then(|began| began.entry(suite, &agent.agent)) else {
        return false;
    };
    failed.iter().any(|metric| {
        let numbers = entry
            .metrics
            .get(&metric.name)
            .copied()
            .zip(metric.comparison.baseline);
        numbers.is_some_and(|(before, now)| metric.better.loss(now, before) > MOVED)
    })
}

/// Whether the recordings of an agent are those of the commit where the branch began, and the base branch has others.
fn keeps_old_recordings(
    suite: &SuiteId,
    report: &AgentReport,
    config: &Config,
    files: &BehindFiles<'_>,
) -> bool {
    let agent = config
        .suite(suite)
        .and_then(|one| one.agents.get(&report.agent));
    let Some(folder) = agent.and_then(|agent| agent.deterministic.as_ref()?.recordings()) else {
        return false;
    };
    let folder = folder.child(report.agent.as_str());
    let Ok(recordings) = files_below(files.head, &folder) else {
        return false;
    };
    has_same(files.began, &folder, &recordings) && !has_same(files.tip, &folder, &recordings)
}

/// Whether a commit has exactly these files in a folder.
fn has_same(commit: &dyn BaseFiles, folder: &RepoPath, files: &FilePaths) -> bool {
    files_below(commit, folder).is_ok_and(|own| own.keys().eq(files.keys()))
        && files
            .values()
            .all(|file| commit.likeness(file, file) == FileMatch::Same)
}

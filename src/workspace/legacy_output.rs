//! Additional result files in the layout of the earlier system of a kind.

use crate::format::report_v1;
use crate::model::{RepoPath, Report, SuiteReport};
use crate::suites::{LegacyOutput, kind};
use crate::world::{Disk, NoFile};

struct LegacyFile {
    path: RepoPath,
    text: String,
    keep: OverwritePolicy,
}

/// What to do if the file exists.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OverwritePolicy {
    /// Replace it.
    Latest,
    /// Keep it and give the new file another name.
    Every,
}

/// Writes the additional files of all suites.
pub fn write(folder: &Disk, report: &Report) -> anyhow::Result<()> {
    for LegacyFile { path, text, keep } in files(report) {
        let path = match keep {
            OverwritePolicy::Latest => path,
            OverwritePolicy::Every => unused_path(folder, &path),
        };
        folder.replace(&path, text.as_bytes())?;
    }
    Ok(())
}

fn files(report: &Report) -> Vec<LegacyFile> {
    let stamp: String = report
        .finished_at
        .chars()
        .filter(|char| char.is_ascii_digit() || *char == 'T')
        .collect();
    let root = RepoPath::root();
    let (mut files_to_write, mut evaluated) = (Vec::new(), Vec::new());
    for suite in &report.suites {
        let stderr = root.child(suite.id.as_str()).child("stderr");
        for case in suite.agents.iter().flat_map(|agent| &agent.cases) {
            for (sample, text) in &case.complaints {
                let name = format!("{}-{}-{sample}.txt", case.agent, case.case);
                files_to_write.push(LegacyFile {
                    path: stderr.child(&name),
                    text: text.clone(),
                    keep: OverwritePolicy::Latest,
                });
            }
        }
        match kind(&suite.kind).map_or(LegacyOutput::None, |kind| kind.legacy_output) {
            LegacyOutput::None => {}
            LegacyOutput::History => {
                let folder = root.child(suite.id.as_str());
                let text = report_v1::written(&only(report, &[suite]));
                let history = folder
                    .child("history")
                    .child(&format!("eval_{stamp}Z.json"));
                files_to_write.push(LegacyFile {
                    path: folder.child("latest.json"),
                    text: text.clone(),
                    keep: OverwritePolicy::Latest,
                });
                files_to_write.push(of_every_run(history, text));
            }
            LegacyOutput::Attempts => {
                let folder = root.child(suite.id.as_str()).child("attempts");
                for case in suite.agents.iter().flat_map(|agent| &agent.cases) {
                    for (sample, kept) in &case.kept {
                        let name = format!("{}-{}-{sample}.json", case.agent, case.case);
                        files_to_write.push(LegacyFile {
                            path: folder.child(&name),
                            text: kept.to_string(),
                            keep: OverwritePolicy::Latest,
                        });
                    }
                }
            }
            LegacyOutput::Evaluations => {
                let name = format!("{}-{stamp}.json", suite.id);
                files_to_write.push(of_every_run(
                    root.child("golden").child(&name),
                    report_v1::written(&only(report, &[suite])),
                ));
                evaluated.push(suite);
            }
        }
    }
    if !evaluated.is_empty() {
        let part = only(report, &evaluated);
        files_to_write.push(of_every_run(
            root.child(&format!("evaluation-{stamp}.json")),
            report_v1::written(&part),
        ));
        files_to_write.push(of_every_run(
            root.child(&format!("summary-{stamp}.json")),
            report_v1::summary(&part),
        ));
    }
    files_to_write
}

fn of_every_run(path: RepoPath, text: String) -> LegacyFile {
    LegacyFile {
        path,
        text,
        keep: OverwritePolicy::Every,
    }
}

/// Returns the report with only these suites.
fn only(report: &Report, suites: &[&SuiteReport]) -> Report {
    Report {
        suites: suites.iter().map(|suite| (*suite).clone()).collect(),
        ..report.clone()
    }
}

/// Returns the path itself, or the first of `name-2.json`, `name-3.json`, … that does not exist.
fn unused_path(folder: &Disk, path: &RepoPath) -> RepoPath {
    let stem = path.name().strip_suffix(".json").unwrap_or(path.name());
    let more = (2..).map(|number| path.parent().child(&format!("{stem}-{number}.json")));
    let mut names = std::iter::once(path.clone()).chain(more);
    names
        .find(|name| folder.read(name) == Err(NoFile::Missing))
        .unwrap_or_else(|| path.clone())
}

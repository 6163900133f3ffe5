//! The files of a commit that grading with a config may read.

use std::collections::BTreeSet;

use crate::model::{Config, PathGlob, RepoPath, RunSource};
use crate::suites;
use crate::suites::{FixtureFolder, setting_files};

/// Returns which files grading with these configs may read.
pub fn wanted_by<'a>(
    configs: &'a [&'a Config],
    baseline: Option<&RepoPath>,
) -> impl Fn(&RepoPath) -> bool + 'a {
    let paths: BTreeSet<RepoPath> = configs
        .iter()
        .flat_map(|config| paths(config, baseline))
        .collect();
    let fingerprints: Vec<&PathGlob> = configs
        .iter()
        .flat_map(|config| &config.suites)
        .flat_map(|suite| suite.agents.values())
        .flat_map(|agent| &agent.fingerprint)
        .collect();
    move |path| {
        paths.iter().any(|place| path.is_within(place))
            || fingerprints.iter().any(|glob| glob.matches(path))
    }
}

/// Returns every file and folder that grading with this config may read.
fn paths(config: &Config, baseline: Option<&RepoPath>) -> BTreeSet<RepoPath> {
    let judges = config.suites.iter().flat_map(|suite| {
        let rubrics = suite.judges.iter().map(|judge| &judge.rubric);
        rubrics.chain(
            suite
                .judges
                .iter()
                .filter_map(|judge| judge.labels.as_ref()),
        )
    });
    let mut paths: BTreeSet<RepoPath> = judges.chain([&config.file]).cloned().collect();
    paths.extend(baseline.or(config.baseline.as_ref()).cloned());
    for suite in &config.suites {
        paths.insert(suite.path.clone());
        let parent = suite.path.parent();
        let kind = suites::kind(&suite.kind);
        paths.extend(
            setting_files(kind.map(|kind| &kind.settings), suite)
                .into_iter()
                .map(|file| file.path),
        );
        let fixtures = kind.map(|kind| kind.fixtures);
        if fixtures == Some(FixtureFolder::BesideSuite) && parent != RepoPath::root() {
            paths.insert(parent.clone());
        }
        if suites::is_case_file(&suite.path) {
            // The other files of the suite are in the folder of its cases.
            if parent == RepoPath::root() {
                paths.extend(["contracts", "rules.yaml"].map(|name| parent.child(name)));
            } else {
                paths.insert(parent);
            }
        }
        // The snapshots of a suite file are in the same folder.
        paths.insert(suite.path.parent().child("snapshots"));
        for agent in suite.agents.values() {
            paths.extend(agent.prompt.clone());
            if let Some(RunSource::Replay(place)) = &agent.deterministic {
                paths.insert(place.root().clone());
            }
        }
    }
    paths
}

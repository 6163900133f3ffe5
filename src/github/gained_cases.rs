//! Cases that the base branch gained after a pull request's branch began. The pull request could not record them, so a change of its
//! prompt makes them stale.

use std::collections::BTreeSet;

use crate::evaluation::graded_run::GradedRun;
use crate::format::event::Event;
use crate::format::recording_layout::RecordingPaths;
use crate::github::client::{GitHub, Tree};
use crate::model::{AgentName, RecordingPlace, RunSource, Tier};
use crate::render::plural;

/// Number of cases that the note names.
const NAMED: usize = 5;

/// Adds a note that names the cases without a recording in the head commit, if the run has no verdict. If GitHub does not answer,
/// the note is left out.
pub fn name_gained_cases(github: &GitHub, event: &Event, done: &mut GradedRun) {
    let (Some(_), Some(head), false) = (
        &event.pull_request,
        &event.head,
        done.report.not_gateable.is_empty(),
    ) else {
        return;
    };
    let Ok(Some(tree)) = github.tree(head) else {
        return;
    };
    let mut gained = BTreeSet::new();
    for suite in done
        .report
        .suites
        .iter()
        .filter(|suite| suite.tier == Tier::Deterministic)
    {
        let Some(config) = done.config.suite(&suite.id) else {
            continue;
        };
        for agent in &suite.agents {
            let source = config
                .agents
                .get(&agent.agent)
                .and_then(|agent| agent.deterministic.as_ref());
            let Some(RunSource::Replay(place)) = source else {
                continue;
            };
            for case in agent.cases.iter().filter(|case| case.completed > 0) {
                let case = &case.case;
                if !has_recording(&tree, place, &agent.agent, case.as_str()) {
                    gained.insert(format!("{}/{}/{case}", suite.id, agent.agent));
                }
            }
        }
    }
    if gained.is_empty() {
        return;
    }
    let branch = event.into.as_deref().unwrap_or("the base branch");
    let named: Vec<&str> = gained.iter().take(NAMED).map(String::as_str).collect();
    let more = match gained.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    done.report.notes.push(format!(
        "{branch} gained {} after this branch began: {}{more}; merge {branch} into this branch and record {} there",
        plural(gained.len(), "case", "cases"),
        named.join(", "),
        if gained.len() == 1 { "it" } else { "them" },
    ));
}

/// Whether the commit has a recording of the case.
fn has_recording(tree: &Tree, place: &RecordingPlace, agent: &AgentName, case: &str) -> bool {
    match place {
        RecordingPlace::Folder(folder) => {
            let paths = RecordingPaths::in_agent_folder(folder.child(agent.as_str()), case);
            let samples = format!("{}/", paths.folder());
            let below = tree.keys().any(|path| path.as_str().starts_with(&samples));
            tree.contains_key(&paths.single()) || below
        }
        RecordingPlace::Pattern(pattern) => tree.keys().any(|path| {
            pattern
                .recording(agent, path)
                .is_some_and(|recording| recording.case.is_none_or(|recorded| recorded == case))
        }),
    }
}

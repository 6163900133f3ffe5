//! The recordings of the base commit by what their runs made, however they are written and in whichever folder they are.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};

use super::Sides;
use super::recording_change::{RunContent, recordings};
use super::recording_lists::recorded_files;
use crate::files::BaseFiles;
use crate::model::{AgentName, Config, RepoPath};

/// The recordings of all agents of the base commit's config. They are read when the first one is looked for.
pub struct RecordedContents<'a> {
    base: &'a dyn BaseFiles,
    config: &'a Config,
    by_content: OnceCell<PlacesByContent>,
}

/// Recordings by the name of their agent and the digest of their content.
type PlacesByContent = HashMap<(AgentName, String), Vec<RecordedPlace>>;

/// A recording of the base commit.
struct RecordedPlace {
    file: RepoPath,
    content: RunContent,
}

impl<'a> RecordedContents<'a> {
    /// None are read yet.
    pub fn of(sides: &Sides<'a>, config: &'a Config) -> Self {
        Self {
            base: sides.base,
            config,
            by_content: OnceCell::new(),
        }
    }

    /// The files of the base commit with the content of this recording of the head: those with the same bytes, and recordings of agents with this name
    /// that may be of the same run, because it is not dated later.
    pub fn like(&self, agent: &AgentName, file: &RepoPath, text: &str) -> Vec<RepoPath> {
        let mut found = self.base.files_like(file);
        let Some(now) = RunContent::of(text) else {
            return found;
        };
        let places = self
            .by_content
            .get_or_init(|| self.read())
            .get(&(agent.clone(), now.sha256.clone()));
        let older = places
            .into_iter()
            .flatten()
            .filter(|place| !now.is_later_than(&place.content));
        found.extend(older.map(|place| place.file.clone()));
        found.sort();
        found.dedup();
        found
    }

    fn read(&self) -> PlacesByContent {
        let agents = self.config.suites.iter().flat_map(|suite| &suite.agents);
        let folders = agents.flat_map(|(name, agent)| {
            agent
                .recordings()
                .map(move |folder| (name, folder.child(name.as_str())))
        });
        let mut by_content = PlacesByContent::new();
        for (name, folder) in folders.collect::<BTreeSet<_>>() {
            let files = recorded_files(self.base, &folder).unwrap_or_default();
            for recorded in recordings(files).into_values() {
                let Ok(source) = self.base.text(&recorded.file) else {
                    continue;
                };
                let Some(content) = RunContent::of(&source.text) else {
                    continue;
                };
                let place = RecordedPlace {
                    file: recorded.file,
                    content,
                };
                by_content
                    .entry((name.clone(), place.content.sha256.clone()))
                    .or_default()
                    .push(place);
            }
        }
        by_content
    }
}

//! What `recordings: { trust: ci }` asks for: the lists of recordings in the artifacts of the recording workflow's runs.
//!
//! A run counts that `pull_request_target` started and that succeeded: no branch changes what such a run does. Its name has the number of
//! the pull request. On a server other than github.com such a run may take its file from the base branch, so nothing counts there.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::thread;

use super::merged_pulls::push_steps;
use super::requests::PAUSE;
use crate::evaluation::recorded_agents::RecorderEvidence;
use crate::format::archive;
use crate::format::archive::ArchiveLimits;
use crate::format::event::Event;
use crate::format::recorded_v1::{FILE, Recorded, RecordedDigests};
use crate::github::client::{GitHub, GitHubError, WorkflowRun, if_found};
use crate::model::RepoPath;
use crate::world::Env;

/// The file of the recording workflow.
const WORKFLOW: &str = "goldgate-record.yml";
/// The event that starts it.
const EVENT: &str = "pull_request_target";
/// The only server where the workflow's file is known to be the default branch's.
const SERVER: &str = "https://github.com";
/// Maximum number of runs whose lists are read.
const RUNS: usize = 20;
/// How often is looked again while a run works: its commit starts the gate before it has ended.
const WAITS: usize = 15;

/// The lists of the runs for the pull requests of an event, read when the first recording asks for them.
pub struct ListedRecordings<'a> {
    env: &'a Env,
    github: Option<&'a GitHub>,
    event: &'a Event,
    listed: OnceLock<Result<Lists, String>>,
}

/// The newest digests by path, and whether a list has expired.
#[derive(Default)]
struct Lists {
    newest: BTreeMap<String, RecordedDigests>,
    has_expired: bool,
}

impl<'a> ListedRecordings<'a> {
    /// The lists for an event.
    pub fn of(env: &'a Env, github: Option<&'a GitHub>, event: &'a Event) -> Self {
        Self {
            env,
            github,
            event,
            listed: OnceLock::new(),
        }
    }

    fn read(&self) -> Result<Lists, String> {
        let Some(github) = self.github else {
            return Err(
                "without a token nobody knows whether it did; set the input token".to_owned(),
            );
        };
        if self.env.get("GITHUB_SERVER_URL") != Some(SERVER) {
            return Err(format!(
                "on a server other than {SERVER} it cannot be shown that it did"
            ));
        }
        let pulls = self.pulls(github).map_err(unread)?;
        let mut runs = recording_runs(github, &pulls).map_err(unread)?;
        for _ in 0..WAITS {
            if runs.iter().all(|run| run.conclusion.is_some()) {
                break;
            }
            thread::sleep(PAUSE);
            runs = recording_runs(github, &pulls).map_err(unread)?;
        }
        let mut lists = Lists::default();
        runs.retain(|run| run.conclusion.as_deref() == Some("success"));
        for run in runs.iter().take(RUNS) {
            lists.add(github, run, &pulls).map_err(unread)?;
        }
        Ok(lists)
    }

    /// The pull requests that the event is about.
    fn pulls(&self, github: &GitHub) -> Result<Vec<u64>, GitHubError> {
        let judged = self.event.pull_request.as_ref().map(|pull| pull.number);
        match judged.or(self.event.queued) {
            Some(number) => Ok(vec![number]),
            None => {
                let steps = push_steps(github, self.event)?;
                Ok(steps.into_iter().filter_map(|step| step.number).collect())
            }
        }
    }
}

fn unread(error: GitHubError) -> String {
    let message = "the runs of the recording workflow cannot be read";
    error.explained(message, "actions: read").to_string()
}

/// The runs that record one of these pull requests, newest first.
fn recording_runs(github: &GitHub, pulls: &[u64]) -> Result<Vec<WorkflowRun>, GitHubError> {
    let names: Vec<String> = pulls.iter().map(|number| format!("#{number}")).collect();
    let mut runs = if_found(github.runs_of(WORKFLOW, EVENT, None))?.unwrap_or_default();
    runs.retain(|run| {
        let mut words = run.title.split_whitespace();
        run.event == EVENT && words.any(|word| names.iter().any(|name| name == word))
    });
    runs.sort_by_key(|run| Reverse(run.id));
    Ok(runs)
}

impl Lists {
    /// Adds the lists of a run that is older than those before.
    fn add(
        &mut self,
        github: &GitHub,
        run: &WorkflowRun,
        pulls: &[u64],
    ) -> Result<(), GitHubError> {
        for artifact in github.artifacts(run.id)? {
            let archive = if artifact.expired {
                None
            } else {
                match github.artifact(artifact.id, ArchiveLimits::DOWNLOAD) {
                    // It expired a moment ago.
                    Err(GitHubError::Missing | GitHubError::Unusable(_)) => None,
                    read => Some(read?),
                }
            };
            self.has_expired |= archive.is_none();
            let list = archive.and_then(|archive| list_in(&archive));
            let matching = list.filter(|list| pulls.contains(&list.pull_request));
            for (file, digests) in matching.into_iter().flat_map(|list| list.recordings) {
                self.newest.entry(file).or_insert(digests);
            }
        }
        Ok(())
    }
}

/// The list in an artifact; `None` if it has none.
fn list_in(archive: &[u8]) -> Option<Recorded> {
    let unpacked = archive::zip(archive, ArchiveLimits::REPOSITORY, &is_list).ok()?;
    Recorded::read(unpacked.files.values().next()?)
}

fn is_list(path: &RepoPath) -> bool {
    path.as_str() == FILE
}

impl RecorderEvidence for ListedRecordings<'_> {
    fn shows(&self, file: &RepoPath, digests: &RecordedDigests) -> Result<(), String> {
        let lists = self.listed.get_or_init(|| self.read()).as_ref();
        let lists = lists.map_err(Clone::clone)?;
        match lists.newest.get(file.as_str()) {
            Some(listed) if listed == digests => Ok(()),
            Some(_) => Err("its newest list has other digests; record again".to_owned()),
            None if lists.has_expired => Err("a list of it has expired; record again".to_owned()),
            None => Err(format!(
                "no successful run of {WORKFLOW} for this pull request lists them; record again"
            )),
        }
    }
}

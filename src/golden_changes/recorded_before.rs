//! Recordings without digests that an earlier commit already has, beside other files of the agent: they were not made with the present ones. The base
//! commit cannot show it: the prompt was edited again after recording, main was merged and the recordings were not made again, or older ones
//! were taken from the history.

use std::collections::{BTreeMap, BTreeSet};

use super::agent_files::agent_files;
use super::found::ChangeCollector;
use super::record_command::{RecordedCases, record_again};
use super::recorded_elsewhere::is_telling;
use super::recording_change::{CaseSample, RecordedFile};
use super::recording_comparison::{ComparedAgent, RecordingComparison};
use super::sides::Sides;
use crate::files::{BaseFiles, FileMatch, FilePaths, HistoryExtent};
use crate::format::lenient;
use crate::format::recording_layout::case_and_sample;
use crate::model::{Agent, RecordingAge, RepoPath, Weight};
use crate::text::{named, short_commit};

/// The oldest commit that has a recording.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct OldestCommit {
    id: String,
    /// The agent's files with another content than there.
    changed: BTreeSet<String>,
    kept: Keeping,
}

/// Whether all later commits have the recording, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Keeping {
    Always,
    /// Another one was in its place for a while: the agent may have given its answer again.
    WithBreaks,
}

impl RecordingComparison<'_> {
    /// Reports new recordings that an earlier commit has beside other files of the agent. Of the commits that have a recording, the oldest decides: it
    /// is where it was made, or the files were brought back together with it.
    pub fn recorded_before(&self, found: &mut ChangeCollector, after: &Agent) {
        let keys: Vec<&CaseSample> = self.made().filter(|key| self.is_undated(key)).collect();
        if keys.is_empty() {
            return;
        }
        let (oldest, unseen) = self.oldest_commits(&keys, after);
        let mut by_commit: BTreeMap<&OldestCommit, Vec<&CaseSample>> = BTreeMap::new();
        let other = oldest.iter().filter(|(_, commit)| !commit.changed.is_empty());
        other.for_each(|(key, commit)| by_commit.entry(commit).or_default().push(*key));
        let are_most = 2 * by_commit.values().map(Vec::len).sum::<usize>() > keys.len();
        for (commit, keys) in &by_commit {
            let weight = match commit.kept {
                Keeping::WithBreaks if !are_most => Weight::Listed,
                Keeping::Always | Keeping::WithBreaks => Weight::NeedsApproval,
            };
            self.report_older(found, commit, keys, weight);
        }
        if let (Some(unseen), true) = (unseen, by_commit.is_empty()) {
            let what = format!("without digests may be older than the agent's files, as {unseen}");
            self.add_line(found, &keys, Weight::Listed, self.counted(&keys, &what));
        }
    }

    /// The oldest commit that has each recording, and why some are perhaps not seen.
    fn oldest_commits<'k>(
        &self,
        keys: &[&'k CaseSample],
        after: &Agent,
    ) -> (BTreeMap<&'k CaseSample, OldestCommit>, Option<String>) {
        let mut oldest: BTreeMap<&CaseSample, OldestCommit> = BTreeMap::new();
        let mut replaced: BTreeSet<&CaseSample> = BTreeSet::new();
        let looked = self.sides.base.past_commits(&self.recording_folders(), &mut |id, files| {
            let (held, other): (Vec<&CaseSample>, Vec<&CaseSample>) =
                keys.iter().partition(|key| self.is_held(files, key));
            let sides = Sides { base: files, head: self.sides.head };
            let changed = if held.is_empty() { BTreeSet::new() } else { changed_since(&sides, after) };
            for key in held {
                let kept = if replaced.contains(key) { Keeping::WithBreaks } else { Keeping::Always };
                oldest.insert(key, OldestCommit { id: id.to_owned(), changed: changed.clone(), kept });
            }
            replaced.extend(other);
        });
        match looked {
            Ok(HistoryExtent::Whole) => (oldest, None),
            Ok(HistoryExtent::Shallow) => (oldest, Some("this clone is shallow".to_owned())),
            Err(why) => (BTreeMap::new(), Some(format!("the history cannot be read: {why}"))),
        }
    }

    fn report_older(&self, found: &mut ChangeCollector, commit: &OldestCommit, keys: &[&CaseSample], weight: Weight) {
        let ComparedAgent { suite, agent, config, .. } = self.owner;
        let changed: Vec<&str> = commit.changed.iter().map(String::as_str).collect();
        let (id, changed) = (short_commit(&commit.id), named(&changed));
        let what = self
            .counted(keys, &format!("without digests that commit {id} already has, with another version of {changed}"));
        let next = match weight {
            Weight::Listed => "the agent may have given these answers again".to_owned(),
            Weight::NeedsApproval => {
                let again = record_again(config, suite, Some(agent), self.folder.as_str(), RecordedCases::All);
                format!("if they were made with the present version, commit both together, otherwise {again}")
            }
        };
        self.add_line(found, keys, weight, format!("{what}; {next}"));
    }

    /// Whether only its content tells a recording from another run's.
    fn is_undated(&self, key: &CaseSample) -> bool {
        let text = self.new.get(key).and_then(|recorded| self.sides.head.text(&recorded.file).ok());
        let is_telling = |text: &str| is_telling(&lenient::whole(text).unwrap_or_default());
        self.age(key) == Some(RecordingAge::Unknown) && text.is_some_and(|source| is_telling(&source.text))
    }

    /// Whether a commit has a recording of the head under the name of its case and sample.
    fn is_held(&self, files: &dyn BaseFiles, key: &CaseSample) -> bool {
        self.new.get(key).is_some_and(|recorded| {
            let is_named = |file: &RepoPath| file.as_str().ends_with(&format!("/{}", recorded.name));
            files.likeness(&recorded.file, &recorded.file) == FileMatch::Same
                || files.files_like(&recorded.file).iter().any(is_named)
        })
    }

    /// The folders of the agent's recordings on both commits.
    fn recording_folders(&self) -> Vec<RepoPath> {
        let folder = |recorded: &RecordedFile| {
            let folder = recorded.file.as_str().strip_suffix(&recorded.name)?.trim_end_matches('/');
            RepoPath::root().join(folder).ok()
        };
        let of = [self.new, self.old].map(|all| all.values().next().and_then(folder));
        let all: BTreeSet<RepoPath> = of.into_iter().flatten().collect();
        all.into_iter().collect()
    }
}

/// The files of an agent whose content is another than in a past commit. A file that only moved has the same.
fn changed_since(sides: &Sides<'_>, agent: &Agent) -> BTreeSet<String> {
    let (Ok(Some((old, _))), Ok(Some((new, _)))) = (agent_files(sides.base, agent), agent_files(sides.head, agent))
    else {
        return BTreeSet::new();
    };
    let inner = |file: &RepoPath, folder: &RepoPath| {
        file.as_str()
            .strip_prefix(folder.as_str())
            .and_then(|inner| case_and_sample(inner.strip_prefix('/')?).map(drop))
    };
    let is_recording = |file: &RepoPath| agent.recorded.iter().any(|folder| inner(file, folder).is_some());
    let arrived: FilePaths = new
        .iter()
        .filter(|(path, _)| !old.contains_key(*path))
        .map(|(path, file)| (path.clone(), file.clone()))
        .collect();
    let is_same = |file: &RepoPath| match sides.base.has_file(file, None) {
        true => sides.head.is_ignored(file) || !sides.base.files_like(file).is_empty(),
        false => sides.base.likeness(file, file) == FileMatch::Same,
    };
    let is_kept = |file: &RepoPath| {
        sides.base.likeness(file, file) == FileMatch::Same
            || arrived.values().any(|other| sides.base.likeness(file, other) == FileMatch::Same)
    };
    let changed = new.iter().filter(|(_, file)| !is_same(file));
    let left = old.iter().filter(|(path, file)| !new.contains_key(*path) && !is_kept(file));
    changed.chain(left).filter(|(_, file)| !is_recording(file)).map(|(path, _)| path.clone()).collect()
}

//! Recordings without digests that an earlier commit already has, with other files of the agent: they were not made with the present ones. The base
//! commit cannot show it: the prompt was edited again after recording, main was merged and the recordings were not made again, or older ones
//! were taken from the history.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::agent_files::agent_files;
use super::found::ChangeCollector;
use super::record_command::{RecordedCases, record_again};
use super::recorded_elsewhere::{Evidence, case_below, evidence};
use super::recording_change::{
    CaseSample, RecordedFile, Recordings, RunContent, counted_recordings,
};
use super::sides::Sides;
use crate::files::{CommitRecordings, FileMatch, FilePaths, HistoryCut, Predecessors};
use crate::format::lenient;
use crate::format::recording_layout::case_and_sample;
use crate::model::{
    Agent, AgentName, ChangeClass, Config, RecordingAge, RepoPath, SuiteId, Weight,
};
use crate::text::{named, short_commit};

/// New recordings of an agent, which are looked for in the history.
pub struct HistorySearch<'a> {
    pub sides: &'a Sides<'a>,
    /// The config of the head.
    pub config: &'a Config,
    pub suite: &'a SuiteId,
    pub name: &'a AgentName,
    pub agent: &'a Agent,
    /// The head's folder of recordings.
    pub folder: &'a RepoPath,
    /// The agent's folders of recordings on both commits.
    pub places: BTreeSet<RepoPath>,
    /// The recordings of the base commit; none of an added agent.
    pub old: &'a Recordings,
    pub new: &'a Recordings,
    /// The age of a recording by the digests in its text.
    pub age: &'a dyn Fn(&CaseSample, &str) -> RecordingAge,
}

/// A new recording without digests.
struct Undated<'a> {
    recorded: &'a RecordedFile,
    content: RunContent,
    evidence: Evidence,
    /// The number of its oldest known commit.
    oldest: Option<usize>,
    kept: Keeping,
}

/// Whether all later commits have a recording, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Keeping {
    Always,
    /// Another one was in its place for a while: the agent may have given its answer again.
    WithBreaks,
}

/// A commit that has recordings with other files of the agent: its id, these files, and what follows.
type OlderCommit = (String, BTreeSet<String>, Weight);

impl HistorySearch<'_> {
    /// Reports those of `keys` that an earlier commit has with other files of the agent, and returns those that need an approval. Of the commits that
    /// have a recording, the oldest decides: it is where it was made, or the files were brought back together with it.
    pub fn report_older<'k>(
        &self,
        found: &mut ChangeCollector,
        keys: impl Iterator<Item = &'k CaseSample>,
    ) -> BTreeSet<&'k CaseSample> {
        let mut undated: BTreeMap<&CaseSample, Undated<'_>> = keys
            .filter_map(|key| Some((key, self.undated(key)?)))
            .collect();
        if undated.is_empty() {
            return BTreeSet::new();
        }
        let places: Vec<RepoPath> = self.places.iter().cloned().collect();
        let changed = self.sides.base.past_commits(&places).and_then(|past| {
            self.find_oldest(&mut undated, &past.commits);
            Ok((self.changed_files(&undated, &past.commits)?, past))
        });
        let (changed, past) = match changed {
            Ok(known) => known,
            Err(why) => {
                let what = format!(
                    "without digests may be older than the agent's files: the history cannot be read: {why}"
                );
                self.add_line(
                    found,
                    &undated.keys().copied().collect::<Vec<_>>(),
                    Weight::Listed,
                    &what,
                    "",
                );
                return BTreeSet::new();
            }
        };
        let none = BTreeSet::new();
        let of = |one: &Undated<'_>| one.oldest.and_then(|at| changed.get(&at)).unwrap_or(&none);
        let is_other = |one: &Undated<'_>| !of(one).is_empty();
        let count =
            |fits: &dyn Fn(&Undated<'_>) -> bool| undated.values().filter(|one| fits(one)).count();
        let are_most = 2 * count(&is_other) > undated.len();
        let mut older: BTreeMap<OlderCommit, Vec<&CaseSample>> = BTreeMap::new();
        let mut begun_earlier = Vec::new();
        for (key, one) in &undated {
            let Some(commit) = one.oldest.and_then(|at| past.commits.get(at)) else {
                continue;
            };
            if !is_other(one) {
                begun_earlier
                    .extend((commit.predecessors == Predecessors::Unknown).then_some(*key));
                continue;
            }
            let weight = match (one.evidence, one.kept) {
                (Evidence::Measures, Keeping::Always) => Weight::NeedsApproval,
                (Evidence::Measures, Keeping::WithBreaks) | (Evidence::Texts, _) if are_most => {
                    Weight::NeedsApproval
                }
                (Evidence::Measures | Evidence::Texts, _) => Weight::Listed,
            };
            older
                .entry((commit.id.clone(), of(one).clone(), weight))
                .or_default()
                .push(*key);
        }
        self.add_older(found, &older);
        if let (Some(cut), false) = (past.cut, begun_earlier.is_empty()) {
            let what = match cut {
                HistoryCut::Shallow => {
                    "without digests may be older than the agent's files, as this clone is shallow"
                        .to_owned()
                }
                HistoryCut::Limited(count) => {
                    format!(
                        "without digests may be older than the agent's files: the last {count} commits of their folder have them"
                    )
                }
            };
            let next = if cut == HistoryCut::Shallow {
                "; `git fetch --unshallow`, or `fetch-depth: 0` of the checkout, shows it"
            } else {
                ""
            };
            self.add_line(found, &begun_earlier, Weight::Listed, &what, next);
        }
        let blocked = older
            .into_iter()
            .filter(|((.., weight), _)| *weight == Weight::NeedsApproval);
        blocked.flat_map(|(_, keys)| keys).collect()
    }

    /// A recording of which only its content tells whether it is another run's.
    fn undated(&self, key: &CaseSample) -> Option<Undated<'_>> {
        let recorded = self.new.get(key)?;
        let text = self.sides.head.text(&recorded.file).ok()?.text;
        if (self.age)(key, &text) != RecordingAge::Unknown {
            return None;
        }
        let evidence = evidence(&lenient::whole(&text)?)?;
        Some(Undated {
            recorded,
            content: RunContent::of(&text)?,
            evidence,
            oldest: None,
            kept: Keeping::Always,
        })
    }

    /// Finds the oldest commit that has each recording: the same bytes, or as long as later commits have it the same content.
    fn find_oldest(
        &self,
        undated: &mut BTreeMap<&CaseSample, Undated<'_>>,
        commits: &[CommitRecordings],
    ) {
        let base = self.sides.base;
        let of_text = |text: &str| RunContent::of(text).map(|content| content.sha256);
        let of_base = |old: &RecordedFile| {
            Some((
                base.id_of(&old.file)?,
                of_text(&base.text(&old.file).ok()?.text),
            ))
        };
        let mut contents: HashMap<String, Option<String>> =
            self.old.values().filter_map(of_base).collect();
        for (at, commit) in commits.iter().enumerate() {
            let there = self.recorded_in(commit);
            let unknown = undated.iter().filter_map(|(key, one)| {
                let id = *there.get(*key)?;
                let is_known = one.kept == Keeping::WithBreaks
                    || contents.contains_key(id)
                    || base.is_stored_as(&one.recorded.file, id);
                (!is_known).then_some(id)
            });
            let unknown: BTreeSet<&str> = unknown.collect();
            let unknown: Vec<&str> = unknown.into_iter().collect();
            let read = if unknown.is_empty() {
                BTreeMap::new()
            } else {
                base.contents(&unknown)
            };
            for id in unknown {
                let text = read
                    .get(id)
                    .and_then(|bytes| std::str::from_utf8(bytes).ok());
                contents.insert(id.to_owned(), text.and_then(of_text));
            }
            for (key, one) in undated.iter_mut() {
                let is_same = |id: &&str| {
                    base.is_stored_as(&one.recorded.file, id)
                        || contents
                            .get(*id)
                            .is_some_and(|known| known.as_ref() == Some(&one.content.sha256))
                };
                match there.get(*key).filter(|id| is_same(id)) {
                    Some(_) => one.oldest = Some(at),
                    // Before it was made, on other branches, or while another one was in its place.
                    None => one.kept = Keeping::WithBreaks,
                }
            }
        }
    }

    /// The ids of the recordings that a commit has.
    fn recorded_in<'c>(&self, commit: &'c CommitRecordings) -> BTreeMap<CaseSample, &'c str> {
        let of = |(file, id): (&'c RepoPath, &'c String)| {
            let place = self.places.iter().find(|place| file.is_within(place))?;
            let name = file
                .as_str()
                .strip_prefix(place.as_str())?
                .trim_start_matches('/');
            let (case, sample) = case_and_sample(name)?;
            Some(((case.to_owned(), sample), id.as_str()))
        };
        commit.files.iter().filter_map(of).collect()
    }

    /// The files of the agent that differ from those in the oldest commits, by the number of the commit.
    fn changed_files(
        &self,
        undated: &BTreeMap<&CaseSample, Undated<'_>>,
        commits: &[CommitRecordings],
    ) -> Result<BTreeMap<usize, BTreeSet<String>>, String> {
        let oldest: BTreeSet<usize> = undated.values().filter_map(|one| one.oldest).collect();
        let mut all = BTreeMap::new();
        for at in oldest {
            let Some(commit) = commits.get(at) else {
                continue;
            };
            self.sides.base.look_at(&commit.id, &mut |files| {
                all.insert(
                    at,
                    changed_since(
                        &Sides {
                            base: files,
                            head: self.sides.head,
                        },
                        self.agent,
                    ),
                );
            })?;
        }
        Ok(all)
    }

    fn add_older(
        &self,
        found: &mut ChangeCollector,
        older: &BTreeMap<OlderCommit, Vec<&CaseSample>>,
    ) {
        for ((commit, changed, weight), keys) in older {
            let changed: Vec<&str> = changed.iter().map(String::as_str).collect();
            let (id, changed) = (short_commit(commit), named(&changed));
            let what = format!(
                "without digests that commit {id} already has, with other files of the agent ({changed})"
            );
            let next = match weight {
                Weight::Listed => "; the agent may have given these answers again".to_owned(),
                Weight::NeedsApproval => {
                    let again = record_again(
                        self.config,
                        self.suite,
                        Some(self.name),
                        self.folder.as_str(),
                        RecordedCases::All,
                    );
                    format!(
                        "; if they were made with the present files, put both into one commit (`git rebase --interactive`), otherwise {again}; a date in recordings (`provenance.recorded_at`) shows when they were made"
                    )
                }
            };
            self.add_line(found, keys, *weight, &what, &next);
        }
    }

    fn add_line(
        &self,
        found: &mut ChangeCollector,
        keys: &[&CaseSample],
        weight: Weight,
        what: &str,
        next: &str,
    ) {
        let recorded: Vec<&RecordedFile> =
            keys.iter().filter_map(|key| self.new.get(*key)).collect();
        let names: Vec<&str> = recorded
            .iter()
            .map(|recorded| recorded.name.as_str())
            .collect();
        let words =
            counted_recordings(&names, &format!("{}/{}", self.suite, self.name), what) + next;
        found.add(
            ChangeClass::Recording,
            weight,
            words,
            recorded.first().map(|recorded| &recorded.file),
        );
    }
}

/// The files of an agent whose content is another than in a past commit. A file that only moved has the same.
fn changed_since(sides: &Sides<'_>, agent: &Agent) -> BTreeSet<String> {
    let (Ok(Some((old, _))), Ok(Some((new, _)))) = (
        agent_files(sides.base, agent),
        agent_files(sides.head, agent),
    ) else {
        return BTreeSet::new();
    };
    let is_recording = |file: &RepoPath| {
        agent
            .recorded
            .iter()
            .any(|folder| case_below(file, folder).is_some())
    };
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
            || arrived
                .values()
                .any(|other| sides.base.likeness(file, other) == FileMatch::Same)
    };
    let changed = new.iter().filter(|(_, file)| !is_same(file));
    let left = old
        .iter()
        .filter(|(path, file)| !new.contains_key(*path) && !is_kept(file));
    changed
        .chain(left)
        .filter(|(_, file)| !is_recording(file))
        .map(|(path, _)| path.clone())
        .collect()
}

//! Reads recorded runs, found by their paths. A missing, duplicate, foreign or broken recording is an error.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::live_layout::LiveLayout;
use super::plan::{LoadedSuite, Plan, RulesSource, source_of};
use super::read_runs::ReadRuns;
use super::required_samples::{
    RequiredSamples, RunRecordings, again, has_several_agents, recorded_count,
};
use super::sample_count::SampleCount;
use crate::diag::{Code, Diagnostic, Diagnostics, ReadFailure};
use crate::files::{EntryKind, Files};
use crate::format::Step::{At, Key};
use crate::format::output_fields::OutputFields;
use crate::format::recorded_attempts::recording_text;
use crate::format::recording_layout::{PlacedRecordings, RecordingPaths, patterned, sample_number};
use crate::format::yaml::{YamlDialect, yaml_as_json};
use crate::format::{JsonCursor, run_v1};
use crate::golden_changes::{Maker, RecordCommand};
use crate::model::{
    AgentName, Baseline, CaseId, Config, RecordingPattern, RecordingPlace, RepoPath, Run, RunKey,
    RunSource, RunStatus, Sample, SuiteConfig, SuiteId, Tier, UngradedReason,
};
use crate::suites::{CaseStage, Pair, kind};

/// A source of runs. The deterministic tier gets one that can only read recordings.
pub trait RunReader: Sync {
    /// Whether this source has the runs of a pair: an agent may only run in the other tier.
    fn has(&self, pair: &Pair) -> bool;

    /// Returns all planned samples of a pair, each completed or with a reason why not.
    fn samples(&self, pair: &Pair, count: SampleCount) -> Result<Vec<Sample>, Diagnostics>;

    /// Where the repository keeps the recordings of a pair's first run: a file, or a folder with a file for each sample. `None` if it
    /// was called live.
    fn recording(&self, _pair: &Pair) -> Option<RepoPath> {
        None
    }

    /// Returns what the pair's agent wrote to stderr during live runs, by sample. Recordings do not contain it.
    fn complaints(&self, _pair: &Pair) -> BTreeMap<u32, String> {
        BTreeMap::new()
    }
}

/// The recordings of a plan's agents in one tier.
pub struct Replay<'a> {
    files: &'a dyn Files,
    layout: &'a LiveLayout,
    folders: BTreeMap<SuiteId, BTreeMap<AgentName, RecordingFolder>>,
    /// What the agents of each suite write.
    fields: BTreeMap<SuiteId, OutputFields>,
    rules: RulesSource,
    /// The samples that each run must have of its own.
    least: RequiredSamples<'a>,
    /// The runs that both judgements read.
    read: Option<&'a ReadRuns>,
}

/// One agent's folder of recordings.
struct RecordingFolder {
    path: RepoPath,
    /// By case: a file, a folder, or (an error) both.
    entries: HashMap<String, RecordingLayout>,
    /// What to do to get the recordings that the agent lacks.
    record_missing: String,
}

#[derive(Clone, PartialEq, Eq)]
enum RecordingLayout {
    File,
    Folder,
    Both,
    /// The samples that a pattern names.
    Samples(BTreeMap<u32, RepoPath>),
}

/// How a missing recording is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AbsentRecording {
    /// A problem: nothing is graded.
    Refused,
    Lost,
}

impl<'a> Replay<'a> {
    /// Lists the recordings of every agent that replays in this tier.
    ///
    /// # Errors
    /// Folders that cannot be listed, or entries that are not recordings.
    pub fn open(
        files: &'a dyn Files,
        plan: &Plan,
        tier: Tier,
        layout: &'a LiveLayout,
    ) -> Result<Self, Diagnostics> {
        Self::of(files, plan, &plan.config, tier, layout)
    }

    /// Lists the recordings of a plan's pairs in the folders of another config.
    pub fn of(
        files: &'a dyn Files,
        plan: &Plan,
        config: &Config,
        tier: Tier,
        layout: &'a LiveLayout,
    ) -> Result<Self, Diagnostics> {
        let mut problems = Diagnostics::default();
        let mut folders: BTreeMap<SuiteId, BTreeMap<AgentName, RecordingFolder>> = BTreeMap::new();
        let runs = plan
            .suites
            .iter()
            .flat_map(|loaded| loaded.suite.pairs_to_run())
            .flat_map(|pair| &pair.runs);
        let mut asked: BTreeMap<&SuiteId, BTreeMap<&AgentName, BTreeSet<CaseId>>> = BTreeMap::new();
        for key in runs {
            let agents = asked.entry(&key.suite).or_default();
            let cases = agents.entry(&key.agent).or_default();
            cases.insert(key.case.clone());
        }
        let suites = config
            .suites
            .iter()
            .filter(|suite| asked.contains_key(&suite.id));
        let fields = suites
            .clone()
            .filter_map(|suite| Some((suite.id.clone(), kind(&suite.kind)?.output_fields(suite))))
            .collect();
        let agents: Vec<(&SuiteId, &AgentName, RecordingPlace)> = suites
            .flat_map(|suite| {
                suite
                    .agents
                    .iter()
                    .map(move |(name, agent)| (&suite.id, name, agent))
            })
            .filter_map(|(suite, name, agent)| {
                let place = match source_of(agent, tier)? {
                    RunSource::Replay(place) => place.clone(),
                    RunSource::Live(_) => {
                        let made = layout.folders.get(&(suite.clone(), name.clone()))?;
                        RecordingPlace::Folder(made.clone())
                    }
                };
                Some((suite, name, place))
            })
            .collect();
        let listed: Vec<_> = agents
            .into_par_iter()
            .map(|(suite, name, place)| {
                let missing = |makers: &BTreeSet<Maker>| {
                    let command = RecordCommand {
                        config,
                        suite,
                        agent: name,
                        makers,
                    };
                    command.record_missing_hint(&place)
                };
                let listed = match &place {
                    RecordingPlace::Folder(folder) => {
                        RecordingFolder::list(files, folder.child(name.as_str()))
                    }
                    RecordingPlace::Pattern(pattern) => {
                        let cases = asked.get(suite).and_then(|agents| agents.get(name));
                        let none = BTreeSet::new();
                        let cases = cases.unwrap_or(&none);
                        patterned(files, pattern, name, cases)
                            .map(|placed| RecordingFolder::of_pattern(pattern, placed))
                    }
                };
                let listed = listed.map(|folder| {
                    let cases = asked.get(suite).and_then(|agents| agents.get(name));
                    let mut cases = cases.into_iter().flatten();
                    let lacks_some = cases.any(|case| !folder.entries.contains_key(case.as_str()));
                    let makers = if lacks_some {
                        folder.makers(files)
                    } else {
                        BTreeSet::new()
                    };
                    RecordingFolder {
                        record_missing: missing(&makers),
                        ..folder
                    }
                });
                let listed = listed.map_err(|problem| {
                    if !problem.is_read_failure(ReadFailure::MissingFolder) {
                        return problem;
                    }
                    Diagnostic {
                        help: missing(&BTreeSet::new()),
                        ..problem
                    }
                });
                (suite, name, listed)
            })
            .collect();
        for (suite, name, folder) in listed {
            if let Some(folder) = problems.keep(folder) {
                folders
                    .entry(suite.clone())
                    .or_default()
                    .insert(name.clone(), folder);
            }
        }
        let least = RequiredSamples::stated(plan, tier);
        problems.or(Self {
            files,
            layout,
            folders,
            fields,
            rules: plan.rules,
            least,
            read: None,
        })
    }

    /// Returns the same recordings; the head's judgement leaves the runs that it reads to that of the base.
    pub fn read_in_both(self, read: Option<&'a ReadRuns>) -> Self {
        Self { read, ..self }
    }

    /// Returns the same recordings as those of the base commit, which does not have every case.
    pub fn of_base_commit(self) -> Self {
        Self {
            rules: RulesSource::Base,
            ..self
        }
    }

    /// Returns the same recordings; those that a baseline has are not replaced by others of the same run.
    pub fn measured_in(self, baseline: Option<&'a Baseline>) -> Self {
        Self {
            least: self.least.with_baseline(baseline),
            ..self
        }
    }

    /// Reports recordings that no case uses.
    pub fn foreign(&self, plan: &Plan) -> Diagnostics {
        let mut asked: HashMap<&RepoPath, HashSet<&str>> = HashMap::new();
        for key in plan
            .suites
            .iter()
            .flat_map(|loaded| loaded.suite.pairs_to_run())
            .flat_map(|pair| &pair.runs)
        {
            if let Some(folder) = self.folder(key) {
                asked
                    .entry(&folder.path)
                    .or_default()
                    .insert(key.case.as_str());
            }
        }
        // A retired case may keep its recordings.
        for suite in &plan.suites {
            let agents = self
                .folders
                .get(&suite.config.id)
                .into_iter()
                .flat_map(BTreeMap::values);
            for folder in agents {
                let names = suite.suite.retired().iter().map(|(case, _)| case.as_str());
                asked.entry(&folder.path).or_default().extend(names);
            }
        }
        let loaded: BTreeSet<&SuiteId> = plan
            .suites
            .iter()
            .map(|loaded: &LoadedSuite| &loaded.config.id)
            .collect();
        // Suites that were not selected may have the same agent and the same folder.
        let elsewhere: BTreeSet<RepoPath> = plan
            .config
            .suites
            .iter()
            .filter(|suite| !loaded.contains(&suite.id))
            .flat_map(SuiteConfig::recording_folders)
            .collect();
        let mut problems = Diagnostics::default();
        let listed = self
            .folders
            .iter()
            .filter(|(suite, _)| loaded.contains(suite));
        let listed =
            listed.flat_map(|(suite, agents)| agents.values().map(move |folder| (suite, folder)));
        for (suite, folder) in listed.filter(|(_, folder)| !elsewhere.contains(&folder.path)) {
            let asked = asked.get(&folder.path);
            let left = folder
                .entries
                .iter()
                .filter(|(name, _)| !asked.is_some_and(|asked| asked.contains(name.as_str())));
            for (name, form) in left {
                let file = folder.recording(name, form);
                let what =
                    format!("this recording does not belong to any case of the suite \"{suite}\"");
                problems.push(Diagnostic::of_file(
                    file,
                    Code::FOREIGN_RECORDING,
                    what,
                    "add its golden file, or remove it",
                ));
            }
        }
        problems
    }

    /// Reports the stated fields that no recording has.
    pub fn unmapped(&self, plan: &Plan) -> Diagnostics {
        let mut problems = Diagnostics::default();
        if plan.wanted.is_part() {
            return problems;
        }
        for (suite, fields) in &self.fields {
            for (name, paths) in fields.in_no_record() {
                let what = format!(
                    "no recording of the suite \"{suite}\" has {paths}, which its fields name for {name}"
                );
                let help = "correct the path, or remove it from fields";
                let index = plan.config.suite(suite).map_or(0, |suite| suite.index);
                let path = [Key("suites"), At(index), Key("fields"), Key(name)];
                let source = self.files.text(&plan.config.file);
                let json = source.and_then(|source| yaml_as_json(source, YamlDialect::Config));
                problems.push(match json {
                    Ok(json) => JsonCursor::whole(&json).problem_of_key(
                        &path,
                        Code::UNKNOWN_KEY,
                        what,
                        help,
                    ),
                    Err(unreadable) => unreadable,
                });
            }
        }
        problems
    }

    /// How a missing recording of a case that counts is treated. Under the base commit's rules it is a lost sample, else a problem.
    fn absent(&self) -> AbsentRecording {
        match self.rules {
            RulesSource::Head => AbsentRecording::Refused,
            RulesSource::Base => AbsentRecording::Lost,
        }
    }

    fn folder(&self, key: &RunKey) -> Option<&RecordingFolder> {
        self.folders.get(&key.suite)?.get(&key.agent)
    }

    /// Returns the recordings of one run, by sample number.
    fn recordings(
        &self,
        key: &RunKey,
        absent: AbsentRecording,
    ) -> Result<BTreeMap<u32, RepoPath>, Diagnostics> {
        let Some(folder) = self.folder(key) else {
            let what = format!(
                "the agent \"{}\" of the suite \"{}\" has no recordings in this tier",
                key.agent, key.suite
            );
            return Err(Diagnostic::of_file(
                key.case.as_str(),
                Code::NO_RECORDING,
                what,
                "add replay: FOLDER to the agent",
            )
            .into());
        };
        let paths = folder.paths(key.case.as_str());
        let (file, inner) = (paths.single(), paths.folder());
        match folder.entries.get(key.case.as_str()) {
            None if absent == AbsentRecording::Lost => Ok(BTreeMap::new()),
            None => Err(unrecorded(key, &file, &folder.record_missing).into()),
            Some(RecordingLayout::File) => Ok(BTreeMap::from([(0, file)])),
            Some(RecordingLayout::Samples(files)) => Ok(files.clone()),
            Some(RecordingLayout::Both) => {
                let what = format!(
                    "the case \"{}\" has two recordings of sample 0: this file and the folder {inner}",
                    key.case
                );
                Err(
                    Diagnostic::of_file(&file, Code::DUPLICATE_RECORDING, what, "keep one of them")
                        .into(),
                )
            }
            Some(RecordingLayout::Folder) => numbered(self.files, &inner),
        }
    }

    /// Returns the files of the recordings of one run, with their content.
    #[cfg(feature = "models")]
    pub fn recorded(&self, key: &RunKey) -> Result<Vec<(RepoPath, Run)>, Diagnostics> {
        let files = self.recordings(key, self.absent())?;
        let mut problems = Diagnostics::default();
        let runs = files.into_iter().filter_map(|(sample, file)| {
            let run = problems.keep(self.run(key, sample, &file))?;
            Some((file, run))
        });
        let runs = runs.collect();
        problems.or(runs)
    }

    /// The recording of a run that is compared with further samples of another agent. Live runs are made for every number.
    fn again<'f>(
        &self,
        (key, files): &'f RunRecordings<'_>,
        number: u32,
    ) -> Option<(&'f u32, &'f RepoPath)> {
        let is_live = self
            .layout
            .folders
            .contains_key(&(key.suite.clone(), key.agent.clone()));
        if is_live || number < self.least.of(key) {
            None
        } else {
            again(files, number)
        }
    }

    fn run(&self, key: &RunKey, sample: u32, file: &RepoPath) -> Result<Run, Diagnostic> {
        let none = OutputFields::default();
        let fields = self.fields.get(&key.suite).unwrap_or(&none);
        let of_sample = || (file.clone(), key.clone(), sample, fields.stated().clone());
        let known = match self.rules {
            RulesSource::Head => None,
            RulesSource::Base => self.read.and_then(|read| read.take(&of_sample())),
        };
        if let Some(run) = known {
            return Ok(run);
        }
        let run = run_v1::read_run_with(&recording_text(self.files, file)?, key, sample, fields)?;
        if let (RulesSource::Head, Some(read)) = (self.rules, self.read) {
            read.keep(of_sample(), &run);
        }
        Ok(run)
    }
}

impl RecordingFolder {
    fn list(files: &dyn Files, path: RepoPath) -> Result<Self, Diagnostic> {
        let mut entries: HashMap<String, RecordingLayout> = HashMap::new();
        for entry in files.list(&path)? {
            let (name, form) = match (entry.kind, entry.name.strip_suffix(".json")) {
                (EntryKind::File, Some(stem)) => (stem.to_owned(), RecordingLayout::File),
                (EntryKind::Folder, _) => (entry.name, RecordingLayout::Folder),
                (EntryKind::File, None) if is_readme(&entry.name) => continue,
                (EntryKind::File | EntryKind::Link(_), _) => {
                    let what = "this file is not a recording".to_owned();
                    return Err(Diagnostic::of_file(
                        path.child(&entry.name),
                        Code::FOREIGN_RECORDING,
                        what,
                        "recordings are named {case}.json or {case}/{sample}.json; rename or remove it",
                    ));
                }
            };
            entries
                .entry(name)
                .and_modify(|before| *before = RecordingLayout::Both)
                .or_insert(form);
        }
        Ok(Self {
            path,
            entries,
            record_missing: String::new(),
        })
    }

    /// The recordings of an agent that a pattern names. Other files below its root are the user's own.
    fn of_pattern(pattern: &RecordingPattern, placed: PlacedRecordings) -> Self {
        let mut samples: HashMap<String, BTreeMap<u32, RepoPath>> = HashMap::new();
        for ((case, sample), file) in placed {
            samples.entry(case).or_default().insert(sample, file);
        }
        let entries = samples
            .into_iter()
            .map(|(case, files)| (case, RecordingLayout::Samples(files)));
        Self {
            path: pattern.root().clone(),
            entries: entries.collect(),
            record_missing: String::new(),
        }
    }

    /// What made the recording of its first case.
    fn makers(&self, files: &dyn Files) -> BTreeSet<Maker> {
        let first = self.entries.iter().min_by_key(|(case, _)| case.as_str());
        let file = first.map(|(case, layout)| match layout {
            RecordingLayout::File | RecordingLayout::Samples(_) => self.recording(case, layout),
            RecordingLayout::Folder | RecordingLayout::Both => self.paths(case).sample(0),
        });
        let source = file.and_then(|file| files.text(&file).ok());
        source
            .map(|source| Maker::stated_in(&source.text))
            .into_iter()
            .collect()
    }

    fn paths(&self, case: &str) -> RecordingPaths {
        RecordingPaths::in_agent_folder(self.path.clone(), case)
    }

    fn recording(&self, case: &str, layout: &RecordingLayout) -> RepoPath {
        match layout {
            RecordingLayout::File => self.paths(case).single(),
            RecordingLayout::Samples(files) => {
                let first = files.values().next();
                first.map_or_else(|| self.paths(case).single(), RepoPath::clone)
            }
            RecordingLayout::Folder | RecordingLayout::Both => self.paths(case).folder(),
        }
    }
}

/// The problem of a case without a recording, which would be this file. `record` says how to make it.
pub fn unrecorded(key: &RunKey, file: &RepoPath, record: &str) -> Diagnostic {
    let what = format!("{}: the case \"{}\" has no recording", key.agent, key.case);
    let help = format!("restore it from git if it was lost, {record}, or remove its golden file");
    Diagnostic::of_file(file, Code::NO_RECORDING, what, help)
}

/// Whether a file in a folder of recordings is documentation.
fn is_readme(name: &str) -> bool {
    name.rsplit_once('.')
        .is_some_and(|(_, ending)| ending.eq_ignore_ascii_case("md"))
        || name == "README"
}

/// Lists the numbered recordings of a folder: `0.json`, `1.json`, …
fn numbered(files: &dyn Files, folder: &RepoPath) -> Result<BTreeMap<u32, RepoPath>, Diagnostics> {
    let mut found = BTreeMap::new();
    let mut problems = Diagnostics::default();
    for entry in files.list(folder)? {
        match (entry.kind, sample_number(&entry.name)) {
            (EntryKind::File, Some(number)) => {
                found.insert(number, folder.child(&entry.name));
            }
            (EntryKind::File, None) if is_readme(&entry.name) => {}
            (EntryKind::File | EntryKind::Folder | EntryKind::Link(_), _) => {
                let what = "this file is not a numbered recording".to_owned();
                problems.push(Diagnostic::of_file(
                    folder.child(&entry.name),
                    Code::FOREIGN_RECORDING,
                    what,
                    "recordings of a case are named 0.json to 999.json; rename or remove it",
                ));
            }
        }
    }
    if found.is_empty() && problems.is_empty() {
        problems.push(Diagnostic::of_file(
            folder,
            Code::NO_RECORDING,
            "the folder has no recording",
            "record 0.json here, or remove the golden file",
        ));
    }
    problems.or(found)
}

impl RunReader for Replay<'_> {
    fn has(&self, pair: &Pair) -> bool {
        pair.runs.iter().all(|key| self.folder(key).is_some())
    }

    fn samples(&self, pair: &Pair, count: SampleCount) -> Result<Vec<Sample>, Diagnostics> {
        if pair.runs.is_empty() {
            // The case itself contains the content to grade: always one sample.
            return Ok(vec![Sample::Completed(Vec::new())]);
        }
        let mut problems = Diagnostics::default();
        let absent = match pair.marks.stage {
            CaseStage::Accepted => self.absent(),
            CaseStage::Draft => AbsentRecording::Lost,
        };
        let recordings: Vec<_> = pair
            .runs
            .iter()
            .filter_map(|key| Some((key, problems.keep_all(self.recordings(key, absent))?)))
            .collect();
        let recorded = recordings
            .iter()
            .map(|(_, files)| recorded_count(files))
            .max()
            .unwrap_or(0);
        // Every sample of an agent is compared, even if another agent has fewer.
        let is_paired_again = |number: u32| number < recorded && has_several_agents(&recordings);
        let planned = match count {
            SampleCount::Exactly(count) => count,
            SampleCount::AtLeast(count) => count.max(recorded),
        };
        let least = u32::from(absent == AbsentRecording::Lost);
        let mut samples = Vec::new();
        for number in 0..planned.max(least) {
            let mut runs = Vec::with_capacity(recordings.len());
            let (mut lost, mut spared, mut ended) = (None, false, None);
            for run in &recordings {
                let (key, files) = run;
                let again = || self.again(run, number).filter(|_| is_paired_again(number));
                let Some((own, file)) = files.get_key_value(&number).or_else(again) else {
                    if self.layout.spared.contains(&((*key).clone(), number)) {
                        spared = true;
                    } else {
                        lost = lost.or(Some(UngradedReason::NotRecorded));
                    }
                    continue;
                };
                match problems.keep(self.run(key, *own, file)) {
                    Some(run) if run.status == RunStatus::Completed => runs.push(run),
                    Some(run) => {
                        lost = lost.or(Some(UngradedReason::Ended {
                            status: run.status,
                            error: run.error.clone(),
                        }));
                        ended = ended.or(Some(Box::new(run)));
                    }
                    None => {}
                }
            }
            samples.push(match (lost, spared) {
                (Some(why), _) => Sample::Inconclusive { why, run: ended },
                (None, true) => Sample::Spared,
                (None, false) => Sample::Completed(runs),
            });
        }
        problems.or(samples)
    }

    fn recording(&self, pair: &Pair) -> Option<RepoPath> {
        let key = pair.runs.first()?;
        let folder = self.folder(key)?;
        let is_live = self
            .layout
            .folders
            .contains_key(&(key.suite.clone(), key.agent.clone()));
        let layout = folder.entries.get(key.case.as_str()).filter(|_| !is_live)?;
        Some(folder.recording(key.case.as_str(), layout))
    }

    fn complaints(&self, pair: &Pair) -> BTreeMap<u32, String> {
        let mut outputs: BTreeMap<u32, String> = BTreeMap::new();
        // Most runs have no output on stderr, so return early.
        if self.layout.complaints.is_empty() {
            return outputs;
        }
        for key in &pair.runs {
            let own = self
                .layout
                .complaints
                .range((key.clone(), 0)..=(key.clone(), u32::MAX));
            own.for_each(|((_, sample), text)| outputs.entry(*sample).or_default().push_str(text));
        }
        outputs
    }
}

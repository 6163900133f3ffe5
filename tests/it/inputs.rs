//! The comparison with the base commit sees every file that a case is asked with and graded by.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use goldgate::diag::Diagnostic;
use goldgate::files::{Entry, Files, files_below};
use goldgate::format::run_v1;
use goldgate::model::{
    Ask, Config, RepoPath, Run, RunKey, RunSource, RunStatus, SuiteConfig, Tier, Toolbox,
};
use goldgate::suites::{GradeContext, Pair, Suite, kind, read_config};
use goldgate::world::Disk;
use libtest_mimic::Trial;

use crate::repository::root;
use crate::trial;

/// Kinds whose grading opens the documents that an answer cites: nobody can know them before, and grading records them itself.
const OPEN_WHAT_IS_CITED: [&str; 2] = ["findings", "cross_agent"];

/// Kinds that are asked with files that opening the suite does not read.
const ASKED_WITH_FILES: [&str; 2] = ["findings", "evidence"];

pub fn trials() -> Vec<Trial> {
    let config = bundled();
    let suites = config.suites.clone().into_iter().map(|suite| {
        let config = config.clone();
        let sentence =
            "every file that a case is asked with or graded by is compared with the base commit's";
        trial(format!("{}: {sentence}", suite.id), move || {
            all_compared(&config, &suite)
        })
    });
    suites.collect()
}

fn bundled() -> Config {
    let disk = Disk::open(root()).unwrap();
    read_config(&disk.text(&RepoPath::root().child("goldgate.yaml")).unwrap()).unwrap()
}

/// The repository, with a list of the files that were read.
struct ListedFiles {
    disk: Disk,
    read: Mutex<BTreeSet<RepoPath>>,
}

impl Files for ListedFiles {
    fn list_all(&self, folder: &RepoPath) -> Result<Vec<Entry>, Diagnostic> {
        self.disk.list_all(folder)
    }

    fn bytes(&self, file: &RepoPath) -> Result<Vec<u8>, Diagnostic> {
        self.read.lock().unwrap().insert(file.clone());
        self.disk.bytes(file)
    }
}

impl ListedFiles {
    /// The files that were read since the last call.
    fn taken(&self) -> BTreeSet<RepoPath> {
        std::mem::take(&mut *self.read.lock().unwrap())
    }
}

fn all_compared(config: &Config, suite: &SuiteConfig) {
    let files = ListedFiles {
        disk: Disk::open(root()).unwrap(),
        read: Mutex::default(),
    };
    let opened = (kind(&suite.kind).unwrap().open)(suite, &files)
        .unwrap_or_else(|_| panic!("{} opens", suite.id));
    let of_suite = files.taken();
    let mut beyond = 0;
    for pair in opened.pairs() {
        opened.read_inputs(pair, &files);
        let compared: BTreeSet<RepoPath> = of_suite.union(&files.taken()).cloned().collect();
        let asked = asked_with(opened.as_ref(), pair, &files);
        beyond += asked.difference(&of_suite).count();
        let graded = graded_by(opened.as_ref(), pair, &recorded(config, pair), &files);
        let graded = if OPEN_WHAT_IS_CITED.contains(&&*suite.kind) {
            BTreeSet::new()
        } else {
            graded
        };
        for file in asked.union(&graded) {
            assert!(
                compared.contains(file),
                "{file} is read for {}/{} and not compared",
                pair.agent,
                pair.case
            );
        }
    }
    assert_eq!(
        beyond > 0,
        ASKED_WITH_FILES.contains(&&*suite.kind),
        "{beyond} files are read for asking alone"
    );
}

/// The files that the agents of a pair are asked with, those that their tools give among them.
fn asked_with(suite: &dyn Suite, pair: &Pair, files: &ListedFiles) -> BTreeSet<RepoPath> {
    for run in &pair.runs {
        if let Some(Ask {
            tools: Toolbox::Folder { root, .. },
            ..
        }) = suite.ask(pair, run, files).unwrap()
        {
            let below = files_below(files, &root).unwrap();
            below.values().for_each(|file| drop(files.bytes(file)));
        }
    }
    drop(suite.refinement(pair, files).unwrap());
    files.taken()
}

/// The files that the first sample of a pair is graded by.
fn graded_by(
    suite: &dyn Suite,
    pair: &Pair,
    runs: &[Run],
    files: &ListedFiles,
) -> BTreeSet<RepoPath> {
    let prompts = BTreeMap::new();
    if runs.iter().all(|run| run.status == RunStatus::Completed) {
        suite
            .grade(pair, runs, &GradeContext::new(files, &prompts))
            .unwrap();
    }
    files.taken()
}

/// The recorded runs of the first sample of a pair.
fn recorded(config: &Config, pair: &Pair) -> Vec<Run> {
    let disk = Disk::open(root()).unwrap();
    let run = |key: &RunKey| {
        let suite = config
            .suites
            .iter()
            .find(|suite| suite.id == key.suite)
            .unwrap();
        let Some(RunSource::Replay(place)) = suite.agents[&key.agent].source(Tier::Deterministic)
        else {
            panic!("{} has no recordings", key.agent)
        };
        let folder = place.root().child(key.agent.as_str());
        let file = folder.child(&format!("{}.json", key.case));
        let text = disk
            .text(&file)
            .or_else(|_| disk.text(&folder.child(key.case.as_str()).child("0.json")));
        run_v1::read_run(&text.unwrap(), key, 0).unwrap()
    };
    pair.runs.iter().map(run).collect()
}

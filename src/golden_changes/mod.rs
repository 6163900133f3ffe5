//! What changed between the base commit and the head in what agents are measured with: the config, the baseline, golden files,
//! recordings. Pure: it compares files of two commits, and says the difference in words.

mod agent_files;
mod baseline;
mod cases;
mod edits;
mod files;
mod found;
mod gates;
mod judges;
mod reads;
mod recordings;
mod scoring;
mod settings;

use std::collections::BTreeSet;

use crate::diag::ReadFailure;
use crate::format::{SourceText, config};
use crate::model::{
    Agent, AgentName, Config, GoldenChange, NotGateable, RecordingAge, RepoPath, RunKey, SuiteConfig, SuiteId, Tier,
};
use crate::suites::Files;

pub use self::cases::SuiteSide;
use self::found::ChangeCollector;
pub use self::reads::{DifferentRead, FolderNames, HeadCommit, OtherCommit, ReadFor, ReadLog, RecordedFiles};
pub use self::settings::{SETTINGS, SettingRule, Treatment};

/// The files of the base commit.
pub trait BaseFiles: Files + OtherCommit {
    /// A file with one of these names, in whatever folder.
    ///
    /// # Errors
    /// Why not every folder can be looked into, in words.
    fn find(&self, names: &[&str]) -> Result<Option<RepoPath>, String>;

    /// Whether the base commit's file `before` holds the same as the head's file `after`.
    fn likeness(&self, before: &RepoPath, after: &RepoPath) -> FileMatch;
}

/// Whether a file of the base commit and one of the head are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileMatch {
    /// They hold the same.
    Same,
    /// They differ, or one of them cannot be read.
    Differs,
}

/// The two sides of a comparison.
#[derive(Clone, Copy)]
pub struct Sides<'a> {
    /// The files of the base commit.
    pub base: &'a dyn BaseFiles,
    /// The files of the head.
    pub head: &'a dyn Files,
}

/// What people call the config.
const USUAL: [&str; 2] = ["goldgate.yaml", "goldgate.yml"];

/// What the base commit says of how agents are measured.
pub enum BaseConfig {
    /// Its config.
    Known(Box<Config>),
    /// It has none; what that asks for.
    Absent(GoldenChange),
    /// This version cannot read it; the text says why.
    Unreadable(String),
}

/// Reads the config of the base commit; `file` is that of the head.
pub fn base_config(base: &dyn BaseFiles, file: &RepoPath) -> BaseConfig {
    let bytes = match base.bytes(file) {
        Err(problem) if problem.is_read_failure(ReadFailure::MissingFile) => {
            return BaseConfig::Absent(absent(base, file));
        }
        Err(problem) => return BaseConfig::Unreadable(problem.to_string()),
        Ok(bytes) => bytes,
    };
    let read = SourceText::new(file.clone(), bytes).map_err(Into::into).and_then(|source| config::read_config(&source));
    match read {
        Ok(config) => BaseConfig::Known(Box::new(config)),
        Err(problems) => BaseConfig::Unreadable(problems.sorted().first().map(ToString::to_string).unwrap_or_default()),
    }
}

/// A config that is not there yet is new only where the base commit has none at all: else it takes the place of another one.
fn absent(base: &dyn BaseFiles, file: &RepoPath) -> GoldenChange {
    let mut found = ChangeCollector::default();
    match base.find(&[&[file.name()][..], &USUAL].concat()) {
        Ok(None) => found.lists(
            format!("the config {file} is new: there is nothing on the base commit to compare with"),
            Some(file),
        ),
        Ok(Some(own)) => found
            .needs(format!("the config is {file}, which the base commit does not have; its own is {own}"), Some(file)),
        Err(why) => found.needs(
            format!(
                "the config is {file}, which the base commit does not have; whether it has another is unknown: {why}"
            ),
            Some(file),
        ),
    }
    found.all().remove(0)
}

/// What is known of the head's recordings.
pub struct KnownRecordings<'a> {
    /// The tiers whose recordings are compared: those that decide.
    pub tiers: &'a [Tier],
    /// How old a recording of an agent is by the digests in its text, as the freshness of a run has it.
    pub age: &'a dyn Fn(&SuiteId, &AgentName, &str) -> RecordingAge,
}

/// What was found: the changes, and why no verdict can be given.
#[derive(Default)]
pub struct GoldenChanges {
    found: ChangeCollector,
    refusals: Vec<NotGateable>,
}

impl GoldenChanges {
    /// Compares the configs, the baselines and the gates; `deciding` are the tiers whose verdicts count.
    pub fn of(sides: &Sides<'_>, before: &Config, after: &Config, deciding: &[Tier]) -> Self {
        let mut guarded = Self::default();
        let found = &mut guarded.found;
        baseline::compare(sides, before, after, found);
        settings::compare(before, after, deciding, found);
        for suite in &after.suites {
            let Some(old) = same_suite(before, suite) else { continue };
            gates::compare(old, suite, found);
            scoring::compare(old, suite, found);
            judges::compare(sides, old, suite, found);
        }
        guarded
    }

    /// Compares the recordings. They are the most files and the last that matter: where the number of reads is limited, golden files
    /// come first.
    pub fn recordings(&mut self, sides: &Sides<'_>, before: &Config, after: &Config, recordings: &KnownRecordings<'_>) {
        for suite in &after.suites {
            let Some(old) = same_suite(before, suite) else { continue };
            for (name, agent) in &suite.agents {
                if let Some(agent_before) = old.agents.get(name) {
                    let who =
                        recordings::RecordingOwner { suite: &suite.id, agent: name, file: &after.file, recordings };
                    let refusals = recordings::compare(sides, &who, agent_before, agent, &mut self.found);
                    self.refusals.extend(refusals);
                }
            }
        }
    }

    /// Compares the cases of one suite.
    pub fn cases(&mut self, sides: &Sides<'_>, before: SuiteSide<'_>, after: SuiteSide<'_>) {
        cases::compare(sides, before, after, &mut self.found);
    }

    /// Adds what somebody else found.
    pub fn add(&mut self, change: GoldenChange) {
        let GoldenChange { words, weight, file, class } = change;
        self.found.add(class, weight, words, file.as_ref());
    }

    /// Adds a reason why no verdict can be given.
    pub fn refuse(&mut self, why: String) {
        self.refusals.push(NotGateable(why));
    }

    /// The changes in the order in which they are reported, and why no verdict can be given.
    pub fn all(self) -> (Vec<GoldenChange>, Vec<NotGateable>) {
        (self.found.all(), self.refusals)
    }
}

/// Samples that were added to a tier's recordings of agents that did not change: their cases are judged without them, too.
pub fn added_samples(sides: &Sides<'_>, before: &Config, after: &Config, tier: Tier) -> BTreeSet<(RunKey, u32)> {
    let mut added = BTreeSet::new();
    for suite in &after.suites {
        let Some(old) = same_suite(before, suite) else { continue };
        for (name, agent) in &suite.agents {
            if let Some(agent_before) = old.agents.get(name) {
                let who = recordings::RunsOf { suite: &suite.id, agent: name, tier };
                added.extend(recordings::added(sides, &who, agent_before, agent));
            }
        }
    }
    added
}

/// The suite of the other config that is compared with this one: the same id and kind.
pub fn same_suite<'a>(config: &'a Config, suite: &SuiteConfig) -> Option<&'a SuiteConfig> {
    config.suites.iter().find(|other| other.id == suite.id && other.kind == suite.kind)
}

/// Whether two suites are judged by the same settings. Where runs come from, and who made them, is none of these.
pub fn same_rules(before: &SuiteConfig, after: &SuiteConfig) -> bool {
    let rules = |suite: &SuiteConfig| {
        let mut suite = SuiteConfig { index: 0, judges: Vec::new(), ..suite.clone() };
        for agent in suite.agents.values_mut() {
            *agent = Agent { role: agent.role, ..Agent::default() };
        }
        suite
    };
    rules(before) == rules(after)
}

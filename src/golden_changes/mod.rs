//! Detects changes of the config, the gates, the baseline, golden files and recordings between the base commit and the head. It
//! compares files of two commits and reads nothing else.

mod agent_files;
mod baseline;
mod case_edit;
mod cases;
mod edits;
mod files;
mod found;
mod gates;
mod judges;
mod record_command;
mod recordings;
mod renamed;
mod settings;
mod sides;

use crate::diag::ReadFailure;
use crate::files::{BaseFiles, SourceText};
use crate::model::{Agent, Config, GoldenChange, NotGateable, RepoPath, SuiteConfig, Tier};
use crate::suites::read_config;

pub use self::agent_files::{
    FileListChange, FilesDigests, RecordedAgain, agent_files, files_of_pattern, is_listed, is_named,
};
pub use self::cases::SuiteSide;
use self::found::ChangeCollector;
pub use self::record_command::{Maker, RecordCommand, RecordedCases, stamp_command};
pub use self::recordings::{
    AgentRecordings, Answers, BaseName, BaseProof, Content, Digest, FilesChange, GoneRecording,
    GradedRecording, Motion, NamedRecording, Origin, Proof, RecordingReport,
};
pub use self::renamed::{RenamedBase, idle_name};
pub use self::settings::SETTINGS;
pub use self::sides::{Sides, same_suite};

/// The usual names of the config.
const USUAL: [&str; 2] = ["goldgate.yaml", "goldgate.yml"];

/// The base commit's config.
pub enum BaseConfig {
    /// Its config.
    Known(Box<Config>),
    /// It has no config; the change to report.
    Absent(GoldenChange),
    /// This version cannot read it; the reason.
    Unreadable(String),
}

/// Reads the config of the base commit; `file` is the path of the head's config.
pub fn base_config(base: &dyn BaseFiles, file: &RepoPath) -> BaseConfig {
    let bytes = match base.bytes(file) {
        Err(problem) if problem.is_read_failure(ReadFailure::MissingFile) => {
            return BaseConfig::Absent(absent(base, file));
        }
        Err(problem) => return BaseConfig::Unreadable(problem.to_string()),
        Ok(bytes) => bytes,
    };
    let read = SourceText::new(file.clone(), bytes)
        .map_err(Into::into)
        .and_then(|source| read_config(&source));
    match read {
        Ok(config) => BaseConfig::Known(Box::new(config)),
        Err(problems) => BaseConfig::Unreadable(problems.first_line()),
    }
}

/// A config that the base commit does not have. It is new only if the base commit has no config at all; else it replaces one.
fn absent(base: &dyn BaseFiles, file: &RepoPath) -> GoldenChange {
    let mut collector = ChangeCollector::default();
    match base.find(&[&[file.name()][..], &USUAL].concat()) {
        Ok(None) => {
            collector.lists(format!("the config {file} is new: the base commit has no config to compare with"), Some(file))
        }
        Ok(Some(base_config)) => collector.needs(
            format!("the config is {file}, which the base commit does not have; the base commit has {base_config}"),
            Some(file),
        ),
        Err(why) => collector.needs(
            format!(
                "the config is {file}, which the base commit does not have; whether it has another is unknown: {why}"
            ),
            Some(file),
        ),
    }
    collector.all().remove(0)
}

/// The changes, and the reasons why there is no verdict.
#[derive(Default)]
pub struct GoldenChanges {
    collector: ChangeCollector,
    refusals: Vec<NotGateable>,
}

impl GoldenChanges {
    /// Compares the configs, the baselines and the gates; `deciding` are the tiers whose verdicts count.
    pub fn of(sides: &Sides<'_>, base: &Config, head: &Config, deciding: &[Tier]) -> Self {
        let mut changes = Self::default();
        let collector = &mut changes.collector;
        baseline::compare(sides, base, head, collector);
        settings::compare(base, head, deciding, collector);
        for suite in &head.suites {
            let Some(old) = same_suite(base, suite) else {
                continue;
            };
            gates::compare(old, suite, collector);
            judges::compare(sides, old, suite, collector);
        }
        changes
    }

    /// Decides on the recordings of an agent.
    pub fn recordings(&mut self, recordings: &AgentRecordings<'_>) -> RecordingReport {
        recordings.report(&mut self.collector)
    }

    /// Compares the list of an agent's files.
    pub fn file_list(&mut self, change: &FileListChange<'_>) {
        change.report(&mut self.collector);
    }

    /// Compares the cases of one suite.
    pub fn cases(&mut self, sides: &Sides<'_>, base: SuiteSide<'_>, head: SuiteSide<'_>) {
        cases::compare(sides, base, head, &mut self.collector);
    }

    /// Adds a change that was found elsewhere.
    pub fn add(&mut self, change: GoldenChange) {
        let GoldenChange {
            words,
            weight,
            file: _,
            class,
            files,
            content: _,
        } = change;
        self.collector.add_about(class, weight, words, &files);
    }

    /// Adds a reason why there is no verdict.
    pub fn refuse(&mut self, why: NotGateable) {
        self.refusals.push(why);
    }

    /// The changes in report order, and the reasons why there is no verdict.
    pub fn all(self) -> (Vec<GoldenChange>, Vec<NotGateable>) {
        (self.collector.all(), self.refusals)
    }
}

/// Whether two suites are graded by the same settings. The source of their runs does not count.
pub fn same_rules(base: &SuiteConfig, head: &SuiteConfig) -> bool {
    rules_of(base) == rules_of(head)
}

/// The settings of a suite by which its runs are graded.
fn rules_of(suite: &SuiteConfig) -> SuiteConfig {
    let mut suite = SuiteConfig {
        index: 0,
        was: None,
        judges: Vec::new(),
        ..suite.clone()
    };
    for agent in suite.agents.values_mut() {
        *agent = Agent {
            role: agent.role,
            ..Agent::default()
        };
    }
    suite
}

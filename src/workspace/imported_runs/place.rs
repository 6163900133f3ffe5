//! Where recordings are written, and which runs.

use std::collections::BTreeMap;
use std::path::Path;

use import::{Format, Transcript};

use crate::files::SourceText;
use crate::format::transcript::run_status;
use crate::model::{AgentName, CaseId, RunStatus};
use crate::workspace::run_record_file::RunRecordFile;
use crate::world::Disk;

/// The most characters of a query that are shown.
pub const SHOWN: usize = 80;

pub struct RecordingsPlace<'a> {
    /// Their folder.
    pub out: &'a str,
    /// The config with their agents and cases; `None` for goldgate.yaml if it exists.
    pub config: Option<&'a str>,
    pub existing: ExistingRecordings,
    pub samples: SamplesOfCase,
    /// What `goldgate import` is given to make them again; empty if unknown.
    pub arguments: Vec<String>,
}

/// The most paths that a recording states.
const STATED_PATHS: usize = 10;

/// What `goldgate import` is given to read these files again, with the paths below the root of the repository; empty of standard input, of
/// files outside of the repository, and of many files.
pub fn import_arguments(
    format: Option<Format>,
    paths: &[String],
    options: &[String],
) -> Vec<String> {
    let Ok((_, folder)) = Disk::around(Path::new(".")) else {
        return Vec::new();
    };
    let below_root: Option<Vec<String>> = paths
        .iter()
        .map(|path| Some(folder.join(path).ok().filter(|_| path != "-")?.to_string()))
        .collect();
    match below_root {
        Some(below_root) if below_root.len() <= STATED_PATHS => format
            .map(|format| format.as_str().to_owned())
            .into_iter()
            .chain(below_root)
            .chain(options.iter().cloned())
            .collect(),
        Some(_) | None => Vec::new(),
    }
}

/// What happens to existing recordings, and to runs whose input differs from the case's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExistingRecordings {
    /// Both are errors.
    Refused,
    /// Recordings with other content are replaced, and such runs are imported with an unknown input.
    Replaced,
}

/// What makes runs samples of one case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SamplesOfCase {
    /// The user says the same in each.
    SameMessages,
    /// They name the same case. A model plays the user, and says something else in each.
    Trials,
}

impl SamplesOfCase {
    /// By the option `--trials`.
    pub fn of(trials: bool) -> Self {
        if trials {
            Self::Trials
        } else {
            Self::SameMessages
        }
    }
}

/// A run, and the file from which it was read.
#[derive(Clone, Copy)]
pub struct ImportedRun<'a> {
    pub run: &'a Transcript,
    pub source: &'a SourceText,
    pub form: Format,
}

/// The runs by agent and case.
pub type NamedRuns<'a> = BTreeMap<(AgentName, CaseId), CaseRuns<'a>>;

/// The runs of a case, which become its samples: those of transcripts, and then those of run records.
#[derive(Default)]
pub struct CaseRuns<'a> {
    /// In order.
    pub transcripts: Vec<ImportedRun<'a>>,
    /// By their sample numbers, or else in order.
    pub records: Vec<&'a RunRecordFile>,
}

impl CaseRuns<'_> {
    /// The number of runs.
    pub fn len(&self) -> usize {
        self.transcripts.len() + self.records.len()
    }

    /// The files of those that did not complete.
    pub fn failed(&self) -> impl Iterator<Item = &SourceText> {
        let transcripts = self
            .transcripts
            .iter()
            .map(|imported| (run_status(imported.run.ending), imported.source));
        let records = self
            .records
            .iter()
            .map(|record| (record.status, &record.source));
        transcripts
            .chain(records)
            .filter(|(status, _)| *status != RunStatus::Completed)
            .map(|(_, source)| source)
    }
}

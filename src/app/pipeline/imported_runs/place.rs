//! Where recordings are written, and which runs.

use crate::files::SourceText;
use crate::format::transcript::{Transcript, TranscriptFormat};

/// The most characters of a query that are shown.
pub const SHOWN: usize = 80;

pub struct RecordingsPlace<'a> {
    /// Their folder.
    pub out: &'a str,
    /// The config with their agents and cases; `None` for goldgate.yaml if it exists.
    pub config: Option<&'a str>,
    pub existing: ExistingRecordings,
}

/// What happens to existing recordings, and to runs whose input differs from the case's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExistingRecordings {
    /// Both are errors.
    Refused,
    /// Recordings are replaced, and such runs are imported with an unknown input.
    Replaced,
}

/// A run, and the file from which it was read.
#[derive(Clone, Copy)]
pub struct ImportedRun<'a> {
    pub run: &'a Transcript,
    pub source: &'a SourceText,
    pub form: TranscriptFormat,
}

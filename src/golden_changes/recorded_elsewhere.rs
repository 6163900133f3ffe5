//! Recordings that the base commit has under another name: from another folder, case or agent. A recording without a digest of the present agent
//! that only changed its place was not made again.

use serde_json::Value;

use super::recording_change::CaseSample;
use super::recording_comparison::RecordingComparison;

/// The fewest bytes of outputs that are hardly given twice: two short answers may be the same.
const LONG: usize = 24;

impl RecordingComparison<'_> {
    /// Whether the base commit has the bytes of a recording in one file, of another name. What it has in several is a usual answer.
    pub fn is_from_elsewhere(&self, key: &CaseSample) -> bool {
        let Some(recorded) = self.new.get(key).filter(|_| !self.is_proved(key)) else { return false };
        let Ok(bytes) = self.sides.head.bytes(&recorded.file) else { return false };
        let run: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let own = self.old.get(key).map(|before| &before.file);
        run["outputs"].to_string().len() >= LONG
            && matches!(self.sides.base.files_like(&recorded.file).as_slice(), [file] if Some(file) != own)
    }
}

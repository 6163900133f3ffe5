//! Which recordings count: [`decide`] puts each graded recording of an agent into a row of one table.
//!
//! A recording states four digests: of the agent's files, of what the case asks, of what is called, and of its own content.
//! [`Proof`] says what they prove today, [`Content`] how it differs from the base commit's recording, and [`Motion`] whether what it was
//! made with differs between the commits. Nothing here reads files; the words of the rows are in [`row_words`].

mod graded;
mod row_words;
mod table;

pub use self::graded::{BaseProof, Content, Digest, GradedRecording, Motion, Proof};
pub use self::row_words::{
    AgentRecordings, Answers, BaseName, FilesChange, GoneRecording, NamedRecording, Origin,
    RecordingReport,
};
use self::table::{Recorder, decide, effect, is_new_in_change};

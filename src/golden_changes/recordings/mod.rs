//! Which recordings count: [`decide`] puts each graded recording of an agent into a row of one table.
//!
//! A recording states four digests: of the agent's files, of what the case asks, of what is called, and of its own content.
//! [`Proof`] says what they prove today, [`Content`] how it differs from the base commit's recording, and [`Motion`] whether what it was
//! made with differs between the commits. Nothing here reads files; the words of the rows are in [`row_words`].

mod row_words;
mod table;

pub use self::row_words::{AgentRecordings, Answers, NamedRecording, Origin, RecordingReport};
use self::table::{decide, effect};

/// One of the digests that a recording states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Digest {
    /// Of the agent's files.
    Agent,
    /// Of what the case asks.
    Input,
    /// Of what is called.
    Target,
    /// Of the recording's own content.
    Content,
}

/// What the digests of a recording prove today.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// Those that it has to state are there, and all that are compared equal today's.
    Current,
    /// It lacks this one.
    Missing(Digest),
    /// This one differs from today's.
    Stale(Digest),
}

impl Proof {
    /// Whether the recording is of the present agent and of the present input.
    pub fn is_current(self) -> bool {
        self == Self::Current
    }
}

/// What the digests of the base commit's recording prove on the base commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BaseProof {
    /// It was current.
    Current,
    /// It lacked a digest, or was stale.
    Other,
}

/// How a recording differs from the base commit's of the same case and sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// The base commit has no recording of its case.
    OfNewCase,
    /// The base commit has other samples of its case.
    OfNewSample,
    /// The same content.
    Same(BaseProof),
    /// Another content.
    Changed(BaseProof),
}

/// Whether what a recording was made with differs between the two commits: the case's input, the agent's files or its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Motion {
    /// It is the same on both.
    Still,
    /// It differs.
    Moved,
}

/// What the table needs to know of a graded recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GradedRecording {
    /// What its digests prove.
    pub proof: Proof,
    /// How it differs from the base commit's.
    pub content: Content,
    /// Whether what it was made with moved.
    pub motion: Motion,
}

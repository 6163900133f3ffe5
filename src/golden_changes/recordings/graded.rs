//! What is known of a graded recording: the facts that the table of recordings is about.

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

//! Who answered a case.

/// The model and the agent's files: part of a measurement's identity.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AnsweredBy {
    /// The model, if recorded.
    pub model: Option<String>,
    /// The digest of the agent's files, if recorded.
    pub agent_sha256: Option<String>,
}

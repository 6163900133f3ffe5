//! What all spans of an export share.

/// The run whose samples are exported.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportedRun {
    /// When the run started; trace ids derive from it and the sample's names.
    pub started_at: String,
    /// Resource attributes such as `service.name`, in the order of export.
    pub resource: Vec<(String, String)>,
    /// Whether texts are exported.
    pub content: Content,
}

/// Whether prompts, tool calls and answers are exported; they may contain secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// They are not exported.
    Kept,
    /// They are exported.
    Sent,
}

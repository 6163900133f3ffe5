//! How much a run says while it runs.

/// Whether progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loudness {
    /// Progress is shown.
    Usual,
    /// No progress is shown.
    Quiet,
}

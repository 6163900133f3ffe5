//! Where the names in a comment lead to.

/// Links to more information.
#[derive(Debug, Clone, Default)]
pub struct Links {
    /// The address of a file of the repository at the head commit, without the file: `https://…/blob/SHA`.
    pub files: Option<String>,
    /// The address of the run.
    pub run: Option<String>,
    /// The label that approves moved numbers.
    pub label: Option<String>,
    /// The line that gives the reason for a worse number, if one is needed.
    pub reason: Option<&'static str>,
}

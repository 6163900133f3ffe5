//! The branch that a change is merged into.

/// The branch that a change is merged into.
#[derive(Debug, Clone, Default)]
pub struct BaseBranch {
    /// Its name, for messages.
    pub name: Option<String>,
    /// The newest commit of the branch, if it is another one than the base commit: its config and its baseline judge. A branch that
    /// began at an old commit is compared with that commit, but it does not choose old rules.
    pub rules: Option<String>,
}

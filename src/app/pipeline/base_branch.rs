//! The branch of the base commit, and which of its commits' own numbers count.

/// The branch of the base commit.
#[derive(Debug, Clone, Default)]
pub struct BaseBranch {
    /// Its name, for messages.
    pub name: Option<String>,
    /// The commit whose own numbers excuse a failed gate.
    pub values: ValuesOf,
}

/// The commit whose own numbers excuse a failed gate: a commit that the base branch has.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ValuesOf {
    /// The base commit.
    #[default]
    Base,
    /// This commit, because the branch does not have the base commit yet.
    #[cfg_attr(not(feature = "github"), allow(dead_code, reason = "only a merge queue has such a base commit"))]
    Commit(String),
    /// None: the commits of the branch need not have passed a gate.
    #[cfg_attr(not(feature = "github"), allow(dead_code, reason = "only a pull request has such a base branch"))]
    Nothing,
}

impl ValuesOf {
    /// The commit of the branch that counts in place of the base commit.
    pub fn other_commit(&self) -> Option<&str> {
        match self {
            Self::Commit(commit) => Some(commit),
            Self::Base | Self::Nothing => None,
        }
    }

    /// The files that count: those of the base commit, or those of the other commit.
    pub fn choose<'a, T: ?Sized>(&self, base: Option<&'a T>, other: Option<&'a T>) -> Option<&'a T> {
        match self {
            Self::Base => base,
            Self::Commit(_) => other,
            Self::Nothing => None,
        }
    }
}

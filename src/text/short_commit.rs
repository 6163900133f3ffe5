//! Commits in a sentence.

/// The first 7 digits of a commit, as Git and GitHub print it.
pub fn short_commit(commit: &str) -> &str {
    commit.get(..7).unwrap_or(commit)
}

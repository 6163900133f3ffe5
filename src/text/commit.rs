//! Names of commits.

/// The first 7 digits of a commit, as Git and GitHub print it.
pub fn short_commit(commit: &str) -> &str {
    commit.get(..7).unwrap_or(commit)
}

/// Whether a name is the whole digest of a commit, which no branch or tag can move.
pub fn is_commit(name: &str) -> bool {
    name.len() == 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

//! Small parts of GitHub's answers.

use serde::Deserialize;

/// A commit or another object.
#[derive(Deserialize)]
pub(super) struct ShaForm {
    pub(super) sha: String,
}

#[derive(Deserialize)]
pub(super) struct NamedForm {
    pub(super) name: String,
}

/// A user, by the login alone.
#[derive(Deserialize)]
pub(super) struct LoginForm {
    pub(super) login: String,
}

//! Small parts of GitHub's answers.

use serde::Deserialize;

use crate::model::BranchOrigin;

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

/// Where the head of a pull request is, by the repositories of its head and its base. A head without one was in a fork that is gone.
pub fn origin_of(head: Option<u64>, base: Option<u64>) -> BranchOrigin {
    if head.is_some() && head == base {
        BranchOrigin::Same
    } else {
        BranchOrigin::Fork
    }
}

//! Commits files to a branch, and manages pull requests.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use super::forms::ShaForm;
use super::{GitHub, GitHubError, GitHubRefusal, if_found};
use crate::model::RepoPath;
use crate::text::encoded_segment;

/// GraphQL mutation that adds a commit if the branch's head is the expected one.
const COMMIT: &str = include_str!("commit.graphql");

#[derive(Debug, Clone, Copy)]
pub struct FileCommit<'a> {
    pub file: &'a RepoPath,
    pub text: &'a str,
    /// The first line of the commit message.
    pub headline: &'a str,
}

#[derive(Debug, Clone, Copy)]
pub struct FilesCommit<'a> {
    pub additions: &'a BTreeMap<RepoPath, String>,
    pub removals: &'a BTreeSet<RepoPath>,
    /// The first line of the commit message.
    pub headline: &'a str,
    /// The rest of the commit message.
    pub body: &'a str,
}

/// Why a commit was not created.
#[derive(Debug)]
pub enum NotCommitted {
    /// The branch's head is not the expected one.
    Moved,
    /// Any other failure.
    Refused(GitHubError),
}

impl From<GitHubError> for NotCommitted {
    fn from(refusal: GitHubError) -> Self {
        Self::Refused(refusal)
    }
}

impl GitHub {
    /// Adds a commit of one file to a branch whose head must be `head`, and returns the new commit.
    ///
    /// # Errors
    /// The branch moved, or GitHub refused.
    pub fn commit_on(
        &self,
        branch: &str,
        head: &str,
        file_commit: &FileCommit<'_>,
    ) -> Result<String, NotCommitted> {
        let additions = json!([{ "path": file_commit.file.as_str(), "contents": STANDARD.encode(file_commit.text) }]);
        let message = json!({ "headline": file_commit.headline });
        self.commit(branch, head, &message, &json!({ "additions": additions }))
    }

    /// Adds a commit of several files to a branch whose head must be `head`, and returns the new commit.
    ///
    /// # Errors
    /// The branch moved, or GitHub refused.
    pub fn commit_files_on(
        &self,
        branch: &str,
        head: &str,
        files_commit: &FilesCommit<'_>,
    ) -> Result<String, NotCommitted> {
        let FilesCommit {
            additions,
            removals,
            headline,
            body,
        } = files_commit;
        let additions: Vec<Value> = additions
            .iter()
            .map(|(file, text)| json!({ "path": file.as_str(), "contents": STANDARD.encode(text) }))
            .collect();
        let deletions: Vec<Value> = removals
            .iter()
            .map(|file| json!({ "path": file.as_str() }))
            .collect();
        let message = json!({ "headline": headline, "body": body });
        self.commit(
            branch,
            head,
            &message,
            &json!({ "additions": additions, "deletions": deletions }),
        )
    }

    fn commit(
        &self,
        branch: &str,
        head: &str,
        message: &Value,
        changes: &Value,
    ) -> Result<String, NotCommitted> {
        let input = json!({
            "branch": { "repositoryNameWithOwner": self.repository, "branchName": branch },
            "message": message,
            "expectedHeadOid": head,
            "fileChanges": changes,
        });
        let body = json!({ "query": COMMIT, "variables": { "input": input } });
        let form: CommittedForm =
            self.post(&self.graphql.path, &body, "while committing to the branch")?;
        if let Some(error) = form.errors.first() {
            return Err(error.refusal());
        }
        let oid = form.data.and_then(|data| Some(data.created?.commit?.oid));
        oid.ok_or_else(|| {
            GitHubError::Failed(anyhow::anyhow!("GitHub's answer names no commit")).into()
        })
    }

    /// Creates a commit of one file on top of `parent` and sets a branch to it, replacing its old head.
    pub fn put_on(
        &self,
        branch: &str,
        parent: &str,
        file_commit: &FileCommit<'_>,
    ) -> Result<String, GitHubError> {
        let doing = "while writing the baseline's branch";
        let path = self.path(&format!("/git/commits/{parent}"));
        let below: BelowForm = self.get(&path, doing)?;
        let path = self.path("/git/trees");
        let entry = json!({ "path": file_commit.file.as_str(), "mode": "100644", "type": "blob", "content": file_commit.text });
        let body = json!({ "base_tree": below.tree.sha, "tree": [entry] });
        let tree: ShaForm = self.post(&path, &body, doing)?;
        let path = self.path("/git/commits");
        let body =
            json!({ "message": file_commit.headline, "tree": tree.sha, "parents": [parent] });
        let commit: ShaForm = self.post(&path, &body, doing)?;
        match self.branch(branch)? {
            Some(_) => {
                let path = self.path(&format!(
                    "/git/refs/{}",
                    encoded_segment(&format!("heads/{branch}"))
                ));
                self.ask(
                    &Method::PATCH,
                    &path,
                    Some(&json!({ "sha": commit.sha, "force": true })),
                    doing,
                )?;
            }
            None => {
                let body = json!({ "ref": format!("refs/heads/{branch}"), "sha": commit.sha });
                self.ask(&Method::POST, &self.path("/git/refs"), Some(&body), doing)?;
            }
        }
        Ok(commit.sha)
    }

    /// The head commit of a branch; `None` if the branch does not exist.
    pub fn branch(&self, name: &str) -> Result<Option<String>, GitHubError> {
        let path = self.path(&format!(
            "/git/ref/{}",
            encoded_segment(&format!("heads/{name}"))
        ));
        Ok(
            if_found(self.get::<RefForm>(&path, "while looking for the branch"))?
                .map(|form| form.object.sha),
        )
    }

    /// Opens a pull request and returns its number.
    pub fn open_pull(
        &self,
        from: &str,
        into: &str,
        title: &str,
        body: &str,
    ) -> Result<u64, GitHubError> {
        let path = self.path("/pulls");
        let body = json!({ "title": title, "head": from, "base": into, "body": body });
        Ok(self
            .post::<NumberForm>(&path, &body, "while opening the pull request")?
            .number)
    }

    /// Sets the title and description of a pull request.
    pub fn describe_pull(&self, number: u64, title: &str, body: &str) -> Result<(), GitHubError> {
        self.change_pull(number, &json!({ "title": title, "body": body }))
    }

    /// Closes a pull request.
    pub fn close_pull(&self, number: u64, description: &str) -> Result<(), GitHubError> {
        self.change_pull(number, &json!({ "state": "closed", "body": description }))
    }

    fn change_pull(&self, number: u64, body: &Value) -> Result<(), GitHubError> {
        let path = self.path(&format!("/pulls/{number}"));
        self.ask(
            &Method::PATCH,
            &path,
            Some(body),
            "while updating the pull request",
        )
        .map(|_| ())
    }
}

#[derive(Deserialize)]
struct CommittedForm {
    data: Option<DataForm>,
    #[serde(default)]
    errors: Vec<GraphQlErrorForm>,
}

#[derive(Deserialize)]
struct DataForm {
    #[serde(rename = "createCommitOnBranch")]
    created: Option<CreatedForm>,
}

#[derive(Deserialize)]
struct CreatedForm {
    commit: Option<OidForm>,
}

#[derive(Deserialize)]
struct OidForm {
    oid: String,
}

#[derive(Deserialize)]
struct GraphQlErrorForm {
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    message: String,
}

impl GraphQlErrorForm {
    fn refusal(&self) -> NotCommitted {
        let denied = GitHubError::from(GitHubRefusal::Permission(Vec::new()));
        match self.kind.as_deref() {
            Some("STALE_DATA") => NotCommitted::Moved,
            Some("FORBIDDEN" | "INSUFFICIENT_SCOPES") => denied.into(),
            Some("NOT_FOUND") => GitHubError::Missing.into(),
            Some(_) | None => {
                let message: String = self.message.chars().take(200).collect();
                GitHubError::Failed(anyhow::anyhow!(message).context("GitHub did not commit"))
                    .into()
            }
        }
    }
}

#[derive(Deserialize)]
struct BelowForm {
    tree: ShaForm,
}

#[derive(Deserialize)]
struct RefForm {
    object: ShaForm,
}

#[derive(Deserialize)]
struct NumberForm {
    number: u64,
}

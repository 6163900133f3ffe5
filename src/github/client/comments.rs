//! Comments on pull requests.

use http::Method;
use serde::Deserialize;
use serde_json::json;

use super::forms::{LoginForm, ShaForm};
use super::{GitHub, GitHubError, parsed};
use crate::model::Comment;

impl GitHub {
    /// The current head commit of a pull request.
    pub fn head_of(&self, pull_request: u64) -> Result<String, GitHubError> {
        let path = self.path(&format!("/pulls/{pull_request}"));
        let form: CommentPullForm = self.get(&path, "while reading the pull request's head")?;
        Ok(form.head.sha)
    }

    /// All comments of a pull request.
    pub fn comments(&self, pull_request: u64) -> Result<Vec<Comment>, GitHubError> {
        let path = self.path(&format!("/issues/{pull_request}/comments"));
        let forms: Vec<CommentForm> = self.entries(&path, "while reading the comments")?;
        Ok(forms.into_iter().map(Comment::from).collect())
    }

    /// Creates a comment. It is not retried after a lost answer, because the comment may exist already; the caller checks.
    pub fn create_comment(&self, pull_request: u64, body: &str) -> Result<Comment, GitHubError> {
        let path = self.path(&format!("/issues/{pull_request}/comments"));
        let body = json!({ "body": body });
        let comment: Comment = self
            .post::<CommentForm>(&path, &body, "while posting the comment")?
            .into();
        self.learn_identity(&comment.author);
        Ok(comment)
    }

    /// Replaces the text of a comment.
    pub fn update_comment(&self, id: u64, body: &str) -> Result<Comment, GitHubError> {
        // octocrab's own update_comment sends POST, which GitHub does not document.
        let path = self.path(&format!("/issues/comments/{id}"));
        let answer = self.ask(
            &Method::PATCH,
            &path,
            Some(&json!({ "body": body })),
            "while updating the comment",
        )?;
        Ok(parsed::<CommentForm>(&answer, &path)?.into())
    }

    /// A comment by id.
    pub fn comment(&self, id: u64) -> Result<Comment, GitHubError> {
        let path = self.path(&format!("/issues/comments/{id}"));
        Ok(self
            .get::<CommentForm>(&path, "while reading the comment back")?
            .into())
    }

    /// Deletes a comment.
    pub fn remove_comment(&self, id: u64) -> Result<(), GitHubError> {
        let path = self.path(&format!("/issues/comments/{id}"));
        self.ask(
            &Method::DELETE,
            &path,
            None,
            "while removing a second comment",
        )
        .map(|_| ())
    }
}

#[derive(Deserialize)]
struct CommentPullForm {
    head: ShaForm,
}

#[derive(Deserialize)]
struct CommentForm {
    id: u64,
    #[serde(default)]
    body: Option<String>,
    html_url: Option<String>,
    user: Option<LoginForm>,
}

impl From<CommentForm> for Comment {
    fn from(form: CommentForm) -> Self {
        Self {
            id: form.id,
            // A deleted user has not written a comment of ours.
            author: form.user.map_or(String::new(), |user| user.login),
            body: form.body.unwrap_or_default(),
            url: form.html_url.unwrap_or_default(),
        }
    }
}

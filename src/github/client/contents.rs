//! Reads files of a repository at a commit.

use anyhow::Context;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use super::{GitHub, GitHubError, if_found};
use crate::model::RepoPath;
use crate::text::encoded_segment;

impl GitHub {
    /// The bytes of a file at a commit; `None` if it does not exist.
    pub fn file(&self, file: &RepoPath, commit: &str) -> Result<Option<Vec<u8>>, GitHubError> {
        // Slashes are encoded: the path is one segment of the route, which GitHub accepts.
        let encoded = encoded_segment(file.as_str());
        let path = self.path(&format!("/contents/{encoded}?ref={commit}"));
        let doing = "while reading a file of the base commit";
        let Some(form) = if_found(self.get(&path, doing))? else {
            return Ok(None);
        };
        match content(&form)? {
            Some(bytes) => Ok(Some(bytes)),
            None => self.ask_raw(&path, doing).map(|answer| Some(answer.body)),
        }
    }
}

/// A file's bytes from the contents API's base64; `None` if the file is over the API's limit of 1 MB.
fn content(form: &ContentForm) -> Result<Option<Vec<u8>>, GitHubError> {
    if form.encoding != "base64" {
        return Ok(None);
    }
    let plain: String = form
        .content
        .chars()
        .filter(|char| !char.is_whitespace())
        .collect();
    STANDARD
        .decode(plain)
        .context("the file's base64 is broken")
        .map(Some)
        .map_err(GitHubError::Failed)
}

#[derive(Deserialize)]
struct ContentForm {
    #[serde(default)]
    content: String,
    encoding: String,
}

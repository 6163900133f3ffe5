//! The labels of the repository.

use http::Method;
use serde_json::json;

use super::{GitHub, GitHubError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RepositoryLabel<'a> {
    /// Its name. GitHub ignores letter case.
    pub name: &'a str,
    /// Six hexadecimal digits.
    pub color: &'a str,
    /// At most 100 characters.
    pub description: &'a str,
}

impl GitHub {
    /// Creates a label if the repository does not have it. Returns whether it was created.
    pub fn ensure_label(&self, label: &RepositoryLabel<'_>) -> Result<bool, GitHubError> {
        if self.has_label(label.name)? {
            return Ok(false);
        }
        let RepositoryLabel {
            name,
            color,
            description,
        } = label;
        let body = json!({ "name": name, "color": color, "description": description });
        match self.ask(
            &Method::POST,
            &self.path("/labels"),
            Some(&body),
            "while creating the label",
        ) {
            Ok(_) => Ok(true),
            // Another job may have created it meanwhile.
            Err(error) if error.is_denied() || !self.has_label(name)? => Err(error),
            Err(_) => Ok(false),
        }
    }
}

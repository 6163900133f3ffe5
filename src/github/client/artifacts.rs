//! Artifacts of workflow runs.

use serde::Deserialize;

use super::{GitHub, GitHubError, PAGE};

/// An artifact of a run: a zip archive.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Artifact {
    pub id: u64,
    /// Whether GitHub has deleted its content.
    pub expired: bool,
}

impl GitHub {
    /// The artifacts of a run; at most one page.
    pub fn artifacts(&self, run: u64) -> Result<Vec<Artifact>, GitHubError> {
        let path = self.path(&format!("/actions/runs/{run}/artifacts?per_page={PAGE}"));
        let form: ArtifactsForm = self.get(&path, "while listing the run's artifacts")?;
        Ok(form.artifacts)
    }

    /// The zip archive of an artifact, at most `limit` bytes. The download address gets no token.
    pub fn artifact(&self, id: u64, limit: u64) -> Result<Vec<u8>, GitHubError> {
        let path = self.path(&format!("/actions/artifacts/{id}/zip"));
        self.download(&path, limit, "while downloading the artifact")
    }
}

#[derive(Deserialize)]
struct ArtifactsForm {
    artifacts: Vec<Artifact>,
}

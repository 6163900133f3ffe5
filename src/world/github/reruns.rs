//! Starts a workflow run again, on the same commit and under the same checks.

use serde_json::json;

use super::{GitHub, GitHubError};

/// Which jobs of a run are started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RerunScope {
    /// The failed jobs, and the jobs that need them.
    FailedJobs,
    /// All jobs: a green run has no failed ones.
    AllJobs,
}

impl GitHub {
    /// Starts a finished run again as its next attempt.
    ///
    /// # Errors
    /// The run is in progress, has no failed job, or the request failed.
    pub fn rerun(&self, run: u64, scope: RerunScope) -> Result<(), GitHubError> {
        let what = match scope {
            RerunScope::FailedJobs => "rerun-failed-jobs",
            RerunScope::AllJobs => "rerun",
        };
        let path = self.path(&format!("/actions/runs/{run}/{what}"));
        // A second request finds the run in progress.
        self.ask_repeatable(&path, &json!({}), "while starting the run again")
            .map(|_| ())
    }
}

//! Workflow runs.

use serde::Deserialize;
use serde_json::json;

use super::account::AccountForm;
use super::{GitHub, GitHubError, PAGE};
use crate::text::encoded_segment;

/// A workflow run of this repository, as reported by GitHub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkflowRun {
    pub id: u64,
    /// The commit that it is listed under.
    pub head: String,
    /// The branch of that commit, in the head's repository.
    pub branch: Option<String>,
    /// That repository, as `owner/name`; `None` if it was deleted.
    pub head_name: Option<String>,
    /// The name of the event that started it.
    pub event: String,
    /// Its `run-name`.
    pub title: String,
    /// Its conclusion; `None` while it runs.
    pub conclusion: Option<String>,
    /// When its first attempt started, in GitHub's format.
    pub created_at: Option<String>,
    /// The path of its workflow.
    pub workflow: String,
    /// The user who caused it; for a push to a pull request, who pushed.
    pub actor: Option<String>,
}

/// A job of a run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct WorkflowJob {
    pub name: String,
    /// When it ended, in GitHub's format; `None` while it runs.
    pub completed_at: Option<String>,
    /// `success`, `failure`, `cancelled` and others, once it has ended.
    pub conclusion: Option<String>,
}

impl GitHub {
    /// A workflow run by id.
    pub fn workflow_run(&self, id: u64) -> Result<WorkflowRun, GitHubError> {
        let path = self.path(&format!("/actions/runs/{id}"));
        Ok(self
            .get::<WorkflowRunForm>(&path, "while reading the run")?
            .into())
    }

    /// The newest runs of a workflow that an event started, on a branch if one is named: one page.
    pub fn runs_of(
        &self,
        file: &str,
        event: &str,
        branch: Option<&str>,
    ) -> Result<Vec<WorkflowRun>, GitHubError> {
        let branch = branch.map_or(String::new(), |branch| {
            format!("&branch={}", encoded_segment(branch))
        });
        let path = self.path(&format!(
            "/actions/workflows/{}/runs?event={event}{branch}&per_page={PAGE}",
            encoded_segment(file)
        ));
        let form: RunsForm = self.get(&path, "while listing the runs of the workflow")?;
        Ok(form
            .workflow_runs
            .into_iter()
            .map(WorkflowRun::from)
            .collect())
    }

    /// The jobs of the first attempt of a run.
    pub fn jobs_of_first_attempt(&self, run: u64) -> Result<Vec<WorkflowJob>, GitHubError> {
        let path = self.path(&format!(
            "/actions/runs/{run}/attempts/1/jobs?per_page={PAGE}"
        ));
        let form: JobsForm = self.get(&path, "while listing the jobs of a run")?;
        Ok(form.jobs)
    }

    /// Starts the failed jobs of a finished run again, on the same commit and under the same checks.
    ///
    /// # Errors
    /// The run is in progress, has no failed job, or the request failed.
    pub fn rerun_failed_jobs(&self, run: u64) -> Result<(), GitHubError> {
        let path = self.path(&format!("/actions/runs/{run}/rerun-failed-jobs"));
        // A second request finds the run in progress.
        self.ask_repeatable(&path, &json!({}), "while starting the run again")
            .map(|_| ())
    }
}

#[derive(Deserialize)]
struct RunsForm {
    workflow_runs: Vec<WorkflowRunForm>,
}

#[derive(Deserialize)]
struct JobsForm {
    jobs: Vec<WorkflowJob>,
}

#[derive(Deserialize)]
struct WorkflowRunForm {
    id: u64,
    head_sha: String,
    head_branch: Option<String>,
    event: String,
    display_title: Option<String>,
    conclusion: Option<String>,
    created_at: Option<String>,
    path: String,
    head_repository: Option<RunRepositoryForm>,
    actor: Option<AccountForm>,
}

#[derive(Deserialize)]
struct RunRepositoryForm {
    full_name: Option<String>,
}

impl From<WorkflowRunForm> for WorkflowRun {
    fn from(form: WorkflowRunForm) -> Self {
        Self {
            id: form.id,
            head: form.head_sha,
            branch: form.head_branch,
            head_name: form.head_repository.and_then(|from| from.full_name),
            event: form.event,
            title: form.display_title.unwrap_or_default(),
            conclusion: form.conclusion,
            created_at: form.created_at,
            workflow: form.path,
            actor: form.actor.map(AccountForm::login),
        }
    }
}

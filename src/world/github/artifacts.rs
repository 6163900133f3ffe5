//! Runs of workflows, and what they left behind.

use http::Method;
use serde::Deserialize;

use super::{GitHub, GitHubError, PAGE, parsed};

/// A run of a workflow of this repository, as GitHub tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkflowRun {
    /// Its number.
    pub id: u64,
    /// The attempt at it.
    pub attempt: u64,
    /// The commit that it ran on.
    pub head: String,
    /// The branch of that commit, in the head's repository.
    pub branch: Option<String>,
    /// The event that started it.
    pub event: String,
    /// How it ended; `None` while it runs.
    pub conclusion: Option<String>,
    /// The workflow's file.
    pub workflow: String,
    /// The number of the repository that the commit is from; `None` where that is gone.
    pub head_repository: Option<u64>,
    /// Who owns that repository.
    pub head_owner: Option<String>,
    /// Who caused it; of a push to a pull request, who pushed.
    pub actor: Option<String>,
}

/// A file that a run left behind: a zip archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// Its number.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// Whether GitHub has thrown it away.
    pub expired: bool,
    /// The run that left it.
    pub run: Option<u64>,
    /// When it was uploaded.
    pub at: Option<String>,
}

impl GitHub {
    /// One run.
    ///
    /// # Errors
    /// Why GitHub did not answer.
    pub fn workflow_run(&self, id: u64) -> Result<WorkflowRun, GitHubError> {
        let path = self.path(&format!("/actions/runs/{id}"));
        let answer = self.ask(&Method::GET, &path, None, "while asking for the run")?;
        Ok(parsed::<WorkflowRunForm>(&answer, &path)?.into())
    }

    /// The completed runs on a commit that an event of this name started, the newest first; at most a page of them.
    ///
    /// # Errors
    /// Why GitHub did not answer.
    pub fn runs_on(&self, commit: &str, event: &str) -> Result<Vec<WorkflowRun>, GitHubError> {
        let path =
            self.path(&format!("/actions/runs?head_sha={commit}&event={event}&status=completed&per_page={PAGE}"));
        let answer = self.ask(&Method::GET, &path, None, "while asking for the runs on a commit")?;
        let form: RunsForm = parsed(&answer, &path)?;
        let mut runs: Vec<WorkflowRun> = form.workflow_runs.into_iter().map(WorkflowRun::from).collect();
        runs.sort_by_key(|run| std::cmp::Reverse((run.id, run.attempt)));
        Ok(runs)
    }

    /// The artifacts of a run that have this name, the newest first: an attempt that is repeated adds its own.
    ///
    /// # Errors
    /// Why GitHub did not answer.
    pub fn artifacts(&self, run: u64, name: &str) -> Result<Vec<Artifact>, GitHubError> {
        let path = self.path(&format!("/actions/runs/{run}/artifacts?name={name}&per_page={PAGE}"));
        let answer = self.ask(&Method::GET, &path, None, "while asking for the run's artifacts")?;
        Ok(called(parsed(&answer, &path)?, name))
    }

    /// The artifacts of the whole repository that have this name, the newest first; at most a page of them.
    ///
    /// # Errors
    /// Why GitHub did not answer.
    pub fn artifacts_called(&self, name: &str) -> Result<Vec<Artifact>, GitHubError> {
        let path = self.path(&format!("/actions/artifacts?name={name}&per_page={PAGE}"));
        let answer = self.ask(&Method::GET, &path, None, "while asking for the artifacts of a name")?;
        Ok(called(parsed(&answer, &path)?, name))
    }

    /// The zip archive of an artifact, at most `limit` bytes of it. The address that GitHub names for it gets no token.
    ///
    /// # Errors
    /// Why there is none.
    pub fn artifact(&self, id: u64, limit: u64) -> Result<Vec<u8>, GitHubError> {
        let path = self.path(&format!("/actions/artifacts/{id}/zip"));
        self.download(&path, limit, "while downloading the artifact")
    }
}

#[derive(Deserialize)]
struct RunsForm {
    workflow_runs: Vec<WorkflowRunForm>,
}

#[derive(Deserialize)]
struct WorkflowRunForm {
    id: u64,
    #[serde(default)]
    run_attempt: Option<u64>,
    head_sha: String,
    head_branch: Option<String>,
    event: String,
    conclusion: Option<String>,
    path: String,
    head_repository: Option<ArtifactRepositoryForm>,
    actor: Option<OwnerForm>,
}

#[derive(Deserialize)]
struct ArtifactRepositoryForm {
    id: u64,
    owner: Option<OwnerForm>,
}

#[derive(Deserialize)]
struct OwnerForm {
    login: String,
}

#[derive(Deserialize)]
struct ArtifactsForm {
    artifacts: Vec<ArtifactForm>,
}

#[derive(Deserialize)]
struct ArtifactForm {
    id: u64,
    name: String,
    expired: bool,
    created_at: Option<String>,
    workflow_run: Option<OfRunForm>,
}

#[derive(Deserialize)]
struct OfRunForm {
    id: Option<u64>,
}

/// A server that does not know the filter gives them all, and one artifact has another name.
fn called(form: ArtifactsForm, name: &str) -> Vec<Artifact> {
    let all = form.artifacts.into_iter().map(|ArtifactForm { id, name, expired, created_at, workflow_run }| Artifact {
        id,
        name,
        expired,
        run: workflow_run.and_then(|run| run.id),
        at: created_at,
    });
    let mut found: Vec<Artifact> = all.filter(|artifact| artifact.name == name).collect();
    found.sort_by_key(|artifact| std::cmp::Reverse(artifact.id));
    found
}

impl From<WorkflowRunForm> for WorkflowRun {
    fn from(form: WorkflowRunForm) -> Self {
        let (head_repository, owner) = form.head_repository.map(|from| (from.id, from.owner)).unzip();
        Self {
            id: form.id,
            attempt: form.run_attempt.unwrap_or(1),
            head: form.head_sha,
            branch: form.head_branch,
            event: form.event,
            conclusion: form.conclusion,
            workflow: form.path,
            head_repository,
            head_owner: owner.flatten().map(|owner| owner.login),
            actor: form.actor.map(|actor| actor.login),
        }
    }
}

//! Workflow runs and their artifacts.

use serde::Deserialize;

use super::account::AccountForm;
use super::forms::LoginForm;
use super::{GitHub, GitHubError, PAGE};

/// A workflow run of this repository, as reported by GitHub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkflowRun {
    pub id: u64,
    pub attempt: u64,
    /// The commit that it ran on.
    pub head: String,
    /// The branch of that commit, in the head's repository.
    pub branch: Option<String>,
    /// The name of the event that started it.
    pub event: String,
    /// Its conclusion; `None` while it runs.
    pub conclusion: Option<String>,
    /// When its present attempt started, in GitHub's format.
    pub started_at: Option<String>,
    /// When its first attempt started.
    pub created_at: Option<String>,
    pub workflow: String,
    /// The id of the repository that contains the commit; `None` if it was deleted.
    pub head_repository: Option<u64>,
    /// The owner of that repository.
    pub head_owner: Option<String>,
    /// The user who caused it; for a push to a pull request, who pushed.
    pub actor: Option<String>,
}

/// An artifact of a run: a zip archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    pub id: u64,
    pub name: String,
    /// Whether GitHub has deleted its content.
    pub expired: bool,
    /// The id of the run that uploaded it.
    pub run: Option<u64>,
    /// The commit that this run is listed under.
    pub head: Option<String>,
    /// The time of the upload.
    pub at: Option<String>,
}

impl GitHub {
    /// A workflow run by id.
    pub fn workflow_run(&self, id: u64) -> Result<WorkflowRun, GitHubError> {
        let path = self.path(&format!("/actions/runs/{id}"));
        Ok(self
            .get::<WorkflowRunForm>(&path, "while reading the run")?
            .into())
    }

    /// The runs on a commit that were started by this event, newest first; at most one page. A run in progress may have uploaded its
    /// result already.
    pub fn runs_on(&self, commit: &str, event: &str) -> Result<Vec<WorkflowRun>, GitHubError> {
        let path = self.path(&format!(
            "/actions/runs?head_sha={commit}&event={event}&per_page={PAGE}"
        ));
        let form: RunsForm = self.get(&path, "while listing the runs on a commit")?;
        let mut runs: Vec<WorkflowRun> = form
            .workflow_runs
            .into_iter()
            .map(WorkflowRun::from)
            .collect();
        runs.sort_by_key(|run| std::cmp::Reverse((run.id, run.attempt)));
        Ok(runs)
    }

    /// The artifacts of a run with this name, newest first; each attempt adds its own.
    pub fn artifacts(&self, run: u64, name: &str) -> Result<Vec<Artifact>, GitHubError> {
        let path = self.path(&format!(
            "/actions/runs/{run}/artifacts?name={name}&per_page={PAGE}"
        ));
        Ok(called(
            self.get(&path, "while listing the run's artifacts")?,
            name,
        ))
    }

    /// All artifacts of a run, newest first; at most one page.
    pub fn all_artifacts(&self, run: u64) -> Result<Vec<Artifact>, GitHubError> {
        let path = self.path(&format!("/actions/runs/{run}/artifacts?per_page={PAGE}"));
        Ok(artifacts(
            self.get(&path, "while listing the run's artifacts")?,
        ))
    }

    /// The artifacts of the repository with this name, newest first; at most one page.
    pub fn artifacts_called(&self, name: &str) -> Result<Vec<Artifact>, GitHubError> {
        let path = self.path(&format!("/actions/artifacts?name={name}&per_page={PAGE}"));
        Ok(called(
            self.get(&path, "while listing the artifacts with a name")?,
            name,
        ))
    }

    /// The zip archive of an artifact, at most `limit` bytes. The download address gets no token.
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
    run_started_at: Option<String>,
    created_at: Option<String>,
    path: String,
    head_repository: Option<ArtifactRepositoryForm>,
    actor: Option<AccountForm>,
}

#[derive(Deserialize)]
struct ArtifactRepositoryForm {
    id: u64,
    owner: Option<LoginForm>,
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
    head_sha: Option<String>,
}

/// Converts and filters by name, because a server may ignore the filter in the request.
fn called(form: ArtifactsForm, name: &str) -> Vec<Artifact> {
    artifacts(form)
        .into_iter()
        .filter(|artifact| artifact.name == name)
        .collect()
}

fn artifacts(form: ArtifactsForm) -> Vec<Artifact> {
    let all = form.artifacts.into_iter().map(
        |ArtifactForm {
             id,
             name,
             expired,
             created_at,
             workflow_run,
         }| {
            let (run, head) = workflow_run.map_or((None, None), |run| (run.id, run.head_sha));
            Artifact {
                id,
                name,
                expired,
                run,
                head,
                at: created_at,
            }
        },
    );
    let mut found: Vec<Artifact> = all.collect();
    found.sort_by_key(|artifact| std::cmp::Reverse(artifact.id));
    found
}

impl From<WorkflowRunForm> for WorkflowRun {
    fn from(form: WorkflowRunForm) -> Self {
        let (head_repository, owner) = form
            .head_repository
            .map(|from| (from.id, from.owner))
            .unzip();
        Self {
            id: form.id,
            attempt: form.run_attempt.unwrap_or(1),
            head: form.head_sha,
            branch: form.head_branch,
            event: form.event,
            conclusion: form.conclusion,
            started_at: form.run_started_at,
            created_at: form.created_at,
            workflow: form.path,
            head_repository,
            head_owner: owner.flatten().map(|owner| owner.login),
            actor: form.actor.map(AccountForm::login),
        }
    }
}

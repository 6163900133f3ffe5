//! What an approval needs: the pull request as it is now, its labels, what somebody may do, the statuses of a commit.

use http::Method;
use serde::Deserialize;
use serde_json::json;

use super::{GitHub, GitHubError, PAGE, PAGES, escaped, parsed};
use crate::model::{
    BranchOrigin, CommitStatus, LabelChange, LabelEvent, Permission, PullRequestDetails, PullState, StatusState,
};

impl GitHub {
    /// A pull request as it is now.
    ///
    /// # Errors
    /// Why GitHub did not answer.
    pub fn pull(&self, number: u64) -> Result<PullRequestDetails, GitHubError> {
        let path = self.path(&format!("/pulls/{number}"));
        let answer = self.ask(&Method::GET, &path, None, "while reading the pull request")?;
        Ok(parsed::<ApprovalPullForm>(&answer, &path)?.into())
    }

    /// What somebody may do in this repository. Who is no collaborator may do nothing.
    ///
    /// # Errors
    /// Why GitHub did not answer.
    pub fn permission_of(&self, login: &str) -> Result<Permission, GitHubError> {
        let path = self.path(&format!("/collaborators/{}/permission", escaped(login)));
        match self.ask(&Method::GET, &path, None, "while asking what the label's giver may do") {
            Ok(answer) => Ok(parsed::<PermissionForm>(&answer, &path)?.into()),
            Err(GitHubError::Missing) => Ok(Permission::None),
            Err(other) => Err(other),
        }
    }

    /// The statuses of a commit, the newest first.
    ///
    /// # Errors
    /// Why GitHub did not answer.
    pub fn statuses(&self, commit: &str) -> Result<Vec<CommitStatus>, GitHubError> {
        let mut all = Vec::new();
        for page in 1..=PAGES {
            let path = self.path(&format!("/commits/{commit}/statuses?per_page={PAGE}&page={page}"));
            let answer = self.ask(&Method::GET, &path, None, "while reading the commit's statuses")?;
            let forms: Vec<CommitStatusForm> = parsed(&answer, &path)?;
            let count = forms.len();
            all.extend(forms.into_iter().map(CommitStatus::from));
            if !answer.has_next(count) {
                break;
            }
        }
        Ok(all)
    }

    /// Sets a status of a commit.
    ///
    /// # Errors
    /// Why GitHub did not do it.
    pub fn set_status(
        &self,
        commit: &str,
        context: &str,
        state: StatusState,
        description: &str,
        address: Option<&str>,
    ) -> Result<(), GitHubError> {
        let path = self.path(&format!("/statuses/{commit}"));
        let mut body = json!({ "state": state.as_str(), "context": context, "description": description });
        if let Some(address) = address {
            body["target_url"] = json!(address);
        }
        self.ask(&Method::POST, &path, Some(&body), "while setting the commit's status").map(|_| ())
    }

    /// The labels that came and went, the oldest first. The timeline says who did it; an event's sender is whoever caused the event.
    ///
    /// # Errors
    /// Why GitHub did not answer.
    pub fn label_events(&self, pull_request: u64) -> Result<Vec<LabelEvent>, GitHubError> {
        let mut all = Vec::new();
        for page in 1..=PAGES {
            let path = self.path(&format!("/issues/{pull_request}/timeline?per_page={PAGE}&page={page}"));
            let answer = self.ask(&Method::GET, &path, None, "while reading the timeline")?;
            let forms: Vec<TimelineForm> = parsed(&answer, &path)?;
            let count = forms.len();
            all.extend(forms.into_iter().filter_map(TimelineForm::of_label));
            if !answer.has_next(count) {
                break;
            }
        }
        Ok(all)
    }

    /// Who pushed a commit to a branch of a repository, where the repository's activity still shows it.
    ///
    /// # Errors
    /// Why GitHub did not answer.
    pub fn pusher_of(&self, repository: &str, branch: &str, commit: &str) -> Result<Option<String>, GitHubError> {
        let reference = escaped(&format!("refs/heads/{branch}"));
        let path = format!("/repos/{repository}/activity?ref={reference}&per_page={PAGE}");
        let answer = self.ask(&Method::GET, &path, None, "while asking who pushed the head")?;
        let pushes: Vec<ActivityForm> = parsed(&answer, &path)?;
        let push = pushes.into_iter().find(|push| push.after == commit);
        Ok(push.and_then(|push| push.actor).map(|actor| actor.login))
    }

    /// Takes a label away; one that is gone already is as well.
    ///
    /// # Errors
    /// Why GitHub did not do it.
    pub fn remove_label(&self, pull_request: u64, label: &str) -> Result<(), GitHubError> {
        let path = self.path(&format!("/issues/{pull_request}/labels/{}", escaped(label)));
        match self.ask(&Method::DELETE, &path, None, "while removing the label") {
            Ok(_) | Err(GitHubError::Missing) => Ok(()),
            Err(other) => Err(other),
        }
    }
}

#[derive(Deserialize)]
struct ApprovalPullForm {
    number: u64,
    state: String,
    user: Option<ApprovalUserForm>,
    body: Option<String>,
    #[serde(default)]
    labels: Vec<ApprovalLabelForm>,
    head: ApprovalBranchForm,
    base: ApprovalBranchForm,
}

#[derive(Deserialize)]
struct ApprovalUserForm {
    login: String,
}

#[derive(Deserialize)]
struct ApprovalLabelForm {
    name: String,
}

#[derive(Deserialize)]
struct ApprovalBranchForm {
    sha: String,
    label: Option<String>,
    #[serde(rename = "ref")]
    branch: String,
    repo: Option<ApprovalRepositoryForm>,
}

#[derive(Deserialize)]
struct ApprovalRepositoryForm {
    id: u64,
    full_name: Option<String>,
}

/// An entry of the timeline; most kinds have other keys.
#[derive(Deserialize)]
struct TimelineForm {
    event: Option<String>,
    actor: Option<ApprovalUserForm>,
    created_at: Option<String>,
    label: Option<ApprovalLabelForm>,
}

impl TimelineForm {
    fn of_label(self) -> Option<LabelEvent> {
        let change = match self.event.as_deref()? {
            "labeled" => LabelChange::Added,
            "unlabeled" => LabelChange::Removed,
            _ => return None,
        };
        let by = self.actor.map_or(String::new(), |user| user.login);
        Some(LabelEvent { label: self.label?.name, change, by, at: self.created_at? })
    }
}

#[derive(Deserialize)]
struct ActivityForm {
    after: String,
    actor: Option<ApprovalUserForm>,
}

#[derive(Deserialize)]
struct PermissionForm {
    permission: String,
    role_name: Option<String>,
}

#[derive(Deserialize)]
struct CommitStatusForm {
    state: String,
    context: String,
    description: Option<String>,
    creator: Option<ApprovalUserForm>,
    created_at: String,
}

impl From<ApprovalPullForm> for PullRequestDetails {
    fn from(form: ApprovalPullForm) -> Self {
        let repository = |branch: &ApprovalBranchForm| branch.repo.as_ref().map(|repo| repo.id);
        // A fork that was deleted has no repository any more; it is foreign all the same.
        let origin = match (repository(&form.head), repository(&form.base)) {
            (Some(head), Some(base)) if head == base => BranchOrigin::Same,
            _ => BranchOrigin::Fork,
        };
        Self {
            number: form.number,
            state: if form.state == "open" { PullState::Open } else { PullState::Closed },
            author: form.user.map_or(String::new(), |user| user.login),
            head: form.head.sha,
            branch: form.head.branch,
            head_repository: form.head.repo.and_then(|repo| repo.full_name),
            label: form.head.label,
            origin,
            base: form.base.sha,
            into: form.base.branch,
            labels: form.labels.into_iter().map(|label| label.name).collect(),
            description: form.body.unwrap_or_default(),
        }
    }
}

impl From<PermissionForm> for Permission {
    fn from(form: PermissionForm) -> Self {
        // `permission` folds maintain into write and triage into read, and says of a role that a company made what it builds on;
        // `role_name` tells the two apart, and can say nothing else.
        match (form.permission.as_str(), form.role_name.as_deref()) {
            ("admin", _) => Self::Admin,
            ("write", Some("maintain")) => Self::Maintain,
            ("write", _) => Self::Write,
            ("read", Some("triage")) => Self::Triage,
            ("read", _) => Self::Read,
            _ => Self::None,
        }
    }
}

impl From<CommitStatusForm> for CommitStatus {
    fn from(form: CommitStatusForm) -> Self {
        Self {
            context: form.context,
            state: match form.state.as_str() {
                "success" => StatusState::Success,
                "failure" => StatusState::Failure,
                _ => StatusState::Other,
            },
            description: form.description.unwrap_or_default(),
            creator: form.creator.map_or(String::new(), |user| user.login),
            at: form.created_at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PermissionForm;
    use crate::model::Permission;

    #[test]
    fn the_finer_role_tells_apart_and_lifts_nobody() {
        for (permission, role, wanted) in [
            ("admin", Some("admin"), Permission::Admin),
            ("write", Some("maintain"), Permission::Maintain),
            ("write", Some("write"), Permission::Write),
            ("write", Some("releaser"), Permission::Write),
            ("write", None, Permission::Write),
            ("read", Some("triage"), Permission::Triage),
            ("read", Some("admin"), Permission::Read),
            ("read", Some("read"), Permission::Read),
            ("none", Some("admin"), Permission::None),
            ("owner", Some("admin"), Permission::None),
        ] {
            let form = PermissionForm { permission: permission.to_owned(), role_name: role.map(str::to_owned) };
            assert_eq!(Permission::from(form), wanted, "{permission} {role:?}");
        }
    }
}

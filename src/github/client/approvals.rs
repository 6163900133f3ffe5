//! The GitHub data for an approval: the pull request, its labels, a user's permission, the pushes to a branch.

use http::Method;
use serde::Deserialize;

use super::account::AccountForm;
use super::forms::{NamedForm, origin_of};
use super::{GitHub, GitHubError, PAGE, if_found};
use crate::model::{
    BranchPush, LabelChange, LabelEvent, Permission, PullRequestDetails, PullState,
};
use crate::text::encoded_segment;

impl GitHub {
    /// The current state of a pull request.
    pub fn pull(&self, number: u64) -> Result<PullRequestDetails, GitHubError> {
        let path = self.path(&format!("/pulls/{number}"));
        Ok(self.details_of(self.get(&path, "while reading the pull request")?))
    }

    /// The details of a pull request. Its answer has the name of the default branch, too.
    pub(super) fn details_of(&self, form: ApprovalPullForm) -> PullRequestDetails {
        if let Some(name) = form
            .base
            .repo
            .as_ref()
            .and_then(|repo| repo.default_branch.clone())
        {
            // Known from another answer, it is the same.
            let _ = self.default_branch.set(name);
        }
        form.into()
    }

    /// A user's permission in this repository; `None` for anybody who is not a collaborator.
    pub fn permission_of(&self, login: &str) -> Result<Permission, GitHubError> {
        let path = self.path(&format!(
            "/collaborators/{}/permission",
            encoded_segment(login)
        ));
        let doing = "while checking the permission of the user who set the label";
        Ok(if_found(self.get::<PermissionForm>(&path, doing))?
            .map_or(Permission::None, Permission::from))
    }

    /// All label changes, oldest first, from the timeline: it names who changed the label, unlike the sender of an event.
    pub fn label_events(&self, pull_request: u64) -> Result<Vec<LabelEvent>, GitHubError> {
        let path = self.path(&format!("/issues/{pull_request}/timeline"));
        let forms: Vec<TimelineForm> = self.entries(&path, "while reading the timeline")?;
        Ok(forms
            .into_iter()
            .filter_map(TimelineForm::of_label)
            .collect())
    }

    /// The pushes to a branch that the activity of its repository shows, newest first.
    pub fn pushes_to(
        &self,
        repository: &str,
        branch: &str,
    ) -> Result<Vec<BranchPush>, GitHubError> {
        let reference = encoded_segment(&format!("refs/heads/{branch}"));
        let path = format!("/repos/{repository}/activity?ref={reference}&per_page={PAGE}");
        let pushes: Vec<ActivityForm> = self.get(&path, "while looking up who pushed the head")?;
        Ok(pushes.into_iter().map(BranchPush::from).collect())
    }

    /// Removes a label; a label that is already gone is not an error.
    pub fn remove_label(&self, pull_request: u64, label: &str) -> Result<(), GitHubError> {
        let path = self.path(&format!(
            "/issues/{pull_request}/labels/{}",
            encoded_segment(label)
        ));
        if_found(self.ask(&Method::DELETE, &path, None, "while removing the label")).map(|_| ())
    }
}

impl From<ActivityForm> for BranchPush {
    fn from(form: ActivityForm) -> Self {
        Self {
            before: form.before,
            after: form.after,
            by: form.actor.map(AccountForm::login),
            at: form.timestamp,
        }
    }
}

#[derive(Deserialize)]
pub(super) struct ApprovalPullForm {
    number: u64,
    state: String,
    user: Option<AccountForm>,
    body: Option<String>,
    #[serde(default)]
    labels: Vec<NamedForm>,
    head: ApprovalBranchForm,
    base: ApprovalBranchForm,
}

#[derive(Deserialize)]
struct ApprovalBranchForm {
    sha: String,
    label: Option<String>,
    #[serde(rename = "ref")]
    branch: String,
    repo: Option<ApprovalRepositoryForm>,
}

impl ApprovalBranchForm {
    fn repository_id(&self) -> Option<u64> {
        self.repo.as_ref().map(|repo| repo.id)
    }
}

#[derive(Deserialize)]
struct ApprovalRepositoryForm {
    id: u64,
    full_name: Option<String>,
    default_branch: Option<String>,
}

/// An entry of the timeline; other kinds of entries have other keys.
#[derive(Deserialize)]
struct TimelineForm {
    event: Option<String>,
    actor: Option<AccountForm>,
    created_at: Option<String>,
    label: Option<NamedForm>,
}

impl TimelineForm {
    fn of_label(self) -> Option<LabelEvent> {
        let change = match self.event.as_deref()? {
            "labeled" => LabelChange::Added,
            "unlabeled" => LabelChange::Removed,
            _ => return None,
        };
        let by = self.actor.map_or(String::new(), AccountForm::login);
        Some(LabelEvent {
            label: self.label?.name,
            change,
            by,
            at: self.created_at?,
        })
    }
}

#[derive(Deserialize)]
struct ActivityForm {
    #[serde(default)]
    before: String,
    after: String,
    actor: Option<AccountForm>,
    #[serde(default)]
    timestamp: String,
}

#[derive(Deserialize)]
struct PermissionForm {
    permission: String,
    role_name: Option<String>,
    user: Option<RoleOwnerForm>,
}

#[derive(Deserialize)]
struct RoleOwnerForm {
    permissions: Option<RolePermissionsForm>,
}

#[derive(Deserialize)]
struct RolePermissionsForm {
    #[serde(default)]
    maintain: bool,
}

impl From<ApprovalPullForm> for PullRequestDetails {
    fn from(form: ApprovalPullForm) -> Self {
        let origin = origin_of(form.head.repository_id(), form.base.repository_id());
        Self {
            number: form.number,
            state: if form.state == "open" {
                PullState::Open
            } else {
                PullState::Closed
            },
            author: form.user.map_or(String::new(), AccountForm::login),
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
        // `permission` reports maintain as write and triage as read, and for a custom role that of its base role. `role_name` distinguishes
        // these; what a custom role inherits is in the user's permissions.
        let permissions = form.user.and_then(|user| user.permissions);
        let may_maintain = permissions.is_some_and(|permissions| permissions.maintain);
        match (form.permission.as_str(), form.role_name.as_deref()) {
            ("admin", _) => Self::Admin,
            ("write", Some("maintain")) => Self::Maintain,
            ("write", _) if may_maintain => Self::Maintain,
            ("write", _) => Self::Write,
            ("read", Some("triage")) => Self::Triage,
            ("read", _) => Self::Read,
            _ => Self::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::PermissionForm;
    use crate::model::Permission;

    #[test]
    fn the_role_name_refines_a_permission_and_never_raises_it() {
        let maintain = json!({ "permissions": { "maintain": true } });
        let push = json!({ "login": "alice", "permissions": { "push": true, "maintain": false } });
        for (permission, role, user, expected) in [
            ("admin", "admin", &maintain, Permission::Admin),
            ("write", "maintain", &json!({}), Permission::Maintain),
            ("write", "releaser", &maintain, Permission::Maintain),
            ("write", "write", &push, Permission::Write),
            ("write", "maintainer", &push, Permission::Write),
            ("read", "triage", &push, Permission::Triage),
            ("read", "admin", &maintain, Permission::Read),
            ("read", "read", &push, Permission::Read),
            ("none", "admin", &maintain, Permission::None),
            ("owner", "admin", &maintain, Permission::None),
        ] {
            let answer = json!({ "permission": permission, "role_name": role, "user": user });
            let form: PermissionForm = serde_json::from_value(answer.clone()).unwrap();
            assert_eq!(Permission::from(form), expected, "{answer}");
        }
        let without_role: PermissionForm =
            serde_json::from_value(json!({ "permission": "write" })).unwrap();
        assert_eq!(Permission::from(without_role), Permission::Write);
    }
}

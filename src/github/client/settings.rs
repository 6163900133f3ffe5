//! Reads a repository's settings: default branch, labels, required checks, merge queue, and whether an image can be pulled.

use std::sync::PoisonError;

use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use super::branch_rules::{BranchRules, OwnerReview, QueueGrouping, RequiredCheck};
use super::forms::NamedForm;
use super::response::PAGE;
use super::{GitHub, GitHubError, if_found, parsed};
use crate::text::encoded_segment;
use crate::world::web;

const QUEUE: &str = "query ($owner: String!, $name: String!, $branch: String!) { repository(owner: $owner, name: $name) { \
                     mergeQueue(branch: $branch) { configuration { mergingStrategy } } } }";

/// Whether an image can be pulled without a login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImageState {
    /// It can.
    Public,
    /// The registry refused with this HTTP status.
    Refused(u16),
}

/// Which branches may use an environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnvironmentUse {
    AnyBranch,
    /// Only protected branches, or those that it names.
    SomeBranches,
}

impl GitHub {
    /// Which branches may use an environment; `None` if it does not exist.
    pub fn environment(&self, name: &str) -> Result<Option<EnvironmentUse>, GitHubError> {
        let path = self.path(&format!("/environments/{}", encoded_segment(name)));
        let environment =
            if_found(self.get::<EnvironmentForm>(&path, "while reading the environment"))?;
        Ok(environment.map(|form| match form.deployment_branch_policy {
            None => EnvironmentUse::AnyBranch,
            Some(_) => EnvironmentUse::SomeBranches,
        }))
    }

    /// The name of the default branch now. The payload of an event has the name that it had then.
    pub fn default_branch(&self) -> Result<String, GitHubError> {
        if let Some(known) = self.default_branch.get() {
            return Ok(known.clone());
        }
        let path = self.path("");
        let branch = self
            .get::<SettingsForm>(&path, "while reading the repository")?
            .default_branch;
        Ok(self.default_branch.get_or_init(|| branch).clone())
    }

    /// Whether the repository has a label; letter case does not matter.
    pub fn has_label(&self, name: &str) -> Result<bool, GitHubError> {
        let path = self.path(&format!("/labels/{}", encoded_segment(name)));
        Ok(if_found(self.ask(&Method::GET, &path, None, "while looking for the label"))?.is_some())
    }

    /// The names of branches that a ruleset or branch protection covers, at most 100.
    pub fn protected_branches(&self) -> Result<Vec<String>, GitHubError> {
        let path = self.path(&format!("/branches?protected=true&per_page={PAGE}"));
        Ok(self
            .get::<Vec<NamedForm>>(&path, "while reading the protected branches")?
            .into_iter()
            .map(|branch| branch.name)
            .collect())
    }

    /// What rulesets and branch protection require of a branch. Asked once for each branch.
    pub fn branch_rules(&self, branch: &str) -> Result<BranchRules, GitHubError> {
        let mut known = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(rules) = known.get(branch) {
            return Ok(rules.clone());
        }
        let rules = self.read_branch_rules(branch)?;
        known.insert(branch.to_owned(), rules.clone());
        Ok(rules)
    }

    fn read_branch_rules(&self, branch: &str) -> Result<BranchRules, GitHubError> {
        let doing = "while reading the rules of the branch";
        let mut rules = BranchRules::default();
        let path = self.path(&format!("/rules/branches/{}", encoded_segment(branch)));
        // Servers before Enterprise Server 3.11 have no rulesets.
        let listed: Vec<BranchRuleForm> = if_found(self.entries(&path, doing))?.unwrap_or_default();
        for BranchRuleForm { kind, parameters } in listed {
            match kind.as_str() {
                "required_status_checks" => {
                    let Some(checks) = parameters.required_status_checks else {
                        return Err(unlisted_checks(branch));
                    };
                    rules
                        .required
                        .extend(checks.into_iter().map(RequiredCheck::from));
                }
                "workflows" => rules.workflows.extend(
                    parameters
                        .workflows
                        .into_iter()
                        .map(|workflow| workflow.path),
                ),
                "pull_request" if parameters.require_code_owner_review => {
                    rules.owners = OwnerReview::Required;
                }
                "merge_queue" => {
                    let grouping = parameters.grouping_strategy.unwrap_or_default();
                    rules.queue = Some(QueueGrouping::of(&grouping));
                }
                _ => {}
            }
        }
        let path = self.path(&format!("/branches/{}", encoded_segment(branch)));
        let form: ProtectedForm = self.get(&path, doing)?;
        let classic = form
            .protection
            .and_then(|protection| protection.required_status_checks);
        if let Some(checks) = classic {
            rules
                .required
                .extend(checks.all().ok_or_else(|| unlisted_checks(branch))?);
        }
        rules.required.sort();
        rules.required.dedup();
        Ok(rules)
    }

    /// How the merge queue of a branch decides. Rulesets say it; a queue of classic branch protection is only in GraphQL. `None` if neither
    /// shows it.
    pub fn queue_grouping(&self, branch: &str) -> Result<Option<QueueGrouping>, GitHubError> {
        match self.branch_rules(branch) {
            Ok(BranchRules {
                queue: Some(grouping),
                ..
            }) => return Ok(Some(grouping)),
            Ok(_) => {}
            Err(error) if error.is_denied() => {}
            Err(error) => return Err(error),
        }
        let (owner, name) = self.repository.split_once('/').unwrap_or_default();
        let variables = json!({ "owner": owner, "name": name, "branch": branch });
        let body = json!({ "query": QUEUE, "variables": variables });
        let path = &self.graphql.path;
        let answer = self.ask_repeatable(path, &body, "while reading the merge queue")?;
        let answer: Value = parsed(&answer, path)?;
        let strategy = answer.pointer("/data/repository/mergeQueue/configuration/mergingStrategy");
        Ok(strategy.and_then(Value::as_str).map(QueueGrouping::of))
    }

    /// The `action.yml` of an action at a commit, tag or branch; `None` if it does not exist.
    pub fn action_file(
        &self,
        action: &str,
        reference: &str,
    ) -> Result<Option<String>, GitHubError> {
        let path = format!(
            "/repos/{action}/contents/action.yml?ref={}",
            encoded_segment(reference)
        );
        let file = if_found(self.ask_raw(&path, "while reading the action"))?;
        Ok(file.map(|answer| String::from_utf8_lossy(&answer.body).into_owned()))
    }

    /// Whether an image such as `ghcr.io/owner/name@sha256:…` can be pulled without a login, as a runner pulls it.
    pub fn image_state(&self, image: &str) -> anyhow::Result<ImageState> {
        let (name, digest) = image
            .rsplit_once('@')
            .or_else(|| image.rsplit_once(':'))
            .unwrap_or((image, "latest"));
        let (host, name) = name
            .split_once('/')
            .ok_or_else(|| anyhow::anyhow!("the image {image:?} names no registry"))?;
        let scheme = if host.starts_with("127.0.0.1:") {
            "http"
        } else {
            "https"
        };
        let address = format!("{scheme}://{host}/v2/{name}/manifests/{digest}");
        self.runtime.block_on(async {
            let client = web::client()?;
            let first = manifest_request(&client, &address).send().await?;
            let challenge = first
                .headers()
                .get("www-authenticate")
                .and_then(|value| value.to_str().ok());
            let status = match challenge.and_then(token_address) {
                Some(realm) if first.status().as_u16() == 401 => {
                    let granted: Value =
                        serde_json::from_slice(&client.get(realm).send().await?.bytes().await?)
                            .unwrap_or(Value::Null);
                    match granted["token"].as_str() {
                        Some(token) => manifest_request(&client, &address)
                            .bearer_auth(token)
                            .send()
                            .await?
                            .status(),
                        None => first.status(),
                    }
                }
                _ => first.status(),
            };
            Ok(if status.is_success() {
                ImageState::Public
            } else {
                ImageState::Refused(status.as_u16())
            })
        })
    }
}

fn manifest_request(client: &reqwest::Client, address: &str) -> reqwest::RequestBuilder {
    client.get(address).header(
        "accept",
        "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json, \
         application/vnd.docker.distribution.manifest.list.v2+json, application/vnd.docker.distribution.manifest.v2+json",
    )
}

/// The address of a registry's token service, from its challenge `Bearer realm="…",service="…",scope="…"`
/// (distribution specification, "Token Authentication").
fn token_address(challenge: &str) -> Option<String> {
    let fields = challenge.strip_prefix("Bearer ")?;
    let mut query: Vec<String> = Vec::new();
    for name in ["service", "scope"] {
        if let Some(value) = quoted_field(fields, name) {
            query.push(format!("{name}={}", encoded_segment(value)));
        }
    }
    Some(format!(
        "{}?{}",
        quoted_field(fields, "realm")?,
        query.join("&")
    ))
}

/// The value of `name="value"`.
fn quoted_field<'f>(fields: &'f str, name: &str) -> Option<&'f str> {
    let (_, rest) = fields.split_once(&format!("{name}=\""))?;
    rest.split_once('"').map(|(value, _)| value)
}

fn unlisted_checks(branch: &str) -> GitHubError {
    GitHubError::Failed(anyhow::anyhow!(
        "GitHub's answer does not list the required checks of {branch}"
    ))
}

#[derive(Deserialize)]
struct EnvironmentForm {
    deployment_branch_policy: Option<Value>,
}

#[derive(Deserialize)]
struct SettingsForm {
    default_branch: String,
}

#[derive(Deserialize)]
struct BranchRuleForm {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    parameters: BranchRuleParametersForm,
}

#[derive(Deserialize, Default)]
struct BranchRuleParametersForm {
    required_status_checks: Option<Vec<BranchRuleCheckForm>>,
    #[serde(default)]
    workflows: Vec<RuleWorkflowForm>,
    grouping_strategy: Option<String>,
    #[serde(default)]
    require_code_owner_review: bool,
}

#[derive(Deserialize)]
struct RuleWorkflowForm {
    path: String,
}

#[derive(Deserialize)]
struct BranchRuleCheckForm {
    context: String,
    #[serde(alias = "integration_id")]
    app_id: Option<i64>,
}

impl From<BranchRuleCheckForm> for RequiredCheck {
    fn from(form: BranchRuleCheckForm) -> Self {
        // Branch protection writes -1 for any app.
        Self {
            name: form.context,
            app: form.app_id.and_then(|id| u64::try_from(id).ok()),
        }
    }
}

#[derive(Deserialize)]
struct ProtectedForm {
    protection: Option<ProtectionForm>,
}

#[derive(Deserialize)]
struct ProtectionForm {
    required_status_checks: Option<ProtectionChecksForm>,
}

#[derive(Deserialize)]
struct ProtectionChecksForm {
    checks: Option<Vec<BranchRuleCheckForm>>,
    /// The names alone, as older servers list them.
    contexts: Option<Vec<String>>,
}

impl ProtectionChecksForm {
    fn all(self) -> Option<Vec<RequiredCheck>> {
        if let Some(checks) = self.checks {
            return Some(checks.into_iter().map(RequiredCheck::from).collect());
        }
        let contexts = self.contexts?.into_iter();
        Some(
            contexts
                .map(|name| RequiredCheck { name, app: None })
                .collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::token_address;

    #[test]
    fn a_challenge_names_the_token_service() {
        let challenge = r#"Bearer realm="https://ghcr.io/token",service="ghcr.io",scope="repository:acme/goldgate:pull""#;
        let wanted =
            "https://ghcr.io/token?service=ghcr.io&scope=repository%3Aacme%2Fgoldgate%3Apull";
        assert_eq!(token_address(challenge).as_deref(), Some(wanted));
        assert_eq!(token_address("Basic realm=\"x\""), None);
    }
}

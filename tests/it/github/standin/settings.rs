//! A repository's settings, another repository's action, and a container registry.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Answer, Body, Request, Standin, State, forbidden, missing, ok, status};

/// What the settings say.
#[derive(Default)]
pub struct Settings {
    /// The rules of the default branch, from rulesets.
    rules: Vec<Value>,
    /// The required checks of classic branch protection.
    protected: Vec<Value>,
    /// `action.yml` of acme/goldgate, with the reference it is asked for.
    action: Option<(String, String)>,
    /// Other branches with the checks that rulesets require of them.
    guarded: Vec<(String, String)>,
    /// Environments with the branches that may use them.
    environments: Vec<(String, Value)>,
    /// Whether the image needs a login.
    private: bool,
    /// What GraphQL says of the merge queue, which classic branch protection has too.
    queue: Queue,
}

#[derive(Default, Clone, Copy)]
pub enum Queue {
    #[default]
    All,
    HeadOnly,
    Hidden,
}

impl Settings {
    pub fn queue_strategy(&self) -> Option<&'static str> {
        match self.queue {
            Queue::All => Some("ALLGREEN"),
            Queue::HeadOnly => Some("HEADGREEN"),
            Queue::Hidden => None,
        }
    }
}

impl Standin {
    pub fn rule(&self, rule: Value) {
        self.change(|state| state.settings.rules.push(rule));
    }

    pub fn queue(&self, queue: Queue) {
        self.change(|state| state.settings.queue = queue);
    }

    pub fn protect(&self, check: Value) {
        self.change(|state| state.settings.protected.push(check));
    }

    /// A ruleset requires a check of this branch.
    pub fn guard(&self, branch: &str) {
        self.require(branch, "goldgate");
    }

    /// A ruleset requires this check of a branch.
    pub fn require(&self, branch: &str, check: &str) {
        self.change(|state| {
            state
                .settings
                .guarded
                .push((branch.to_owned(), check.to_owned()))
        });
    }

    /// An environment; `null` lets every branch use it.
    pub fn environment(&self, name: &str, branches: Value) {
        self.change(|state| {
            state
                .settings
                .environments
                .push((name.to_owned(), branches))
        });
    }

    pub fn create_label(&self, name: &str) {
        self.change(|state| state.labels.add(name));
    }

    /// The action at a commit says that its image is in this server's registry.
    pub fn action_at(&self, reference: &str, image: &str) {
        let text = format!("name: goldgate\nruns:\n  using: docker\n  image: {image}\n");
        self.change(|state| state.settings.action = Some((reference.to_owned(), text)));
    }

    pub fn hide_image(&self) {
        self.change(|state| state.settings.private = true);
    }
}

/// The repository itself, `rules/branches/NAME`, `branches/NAME`.
pub fn answer(request: &Request, segments: &[&str], state: &mut State) -> Option<Answer> {
    let settings = &state.settings;
    let known = matches!(
        segments,
        ["environments", _] | [] | ["rules", "branches", _] | ["branches", ..]
    );
    if request.method != "GET" || !known {
        return None;
    }
    // https://docs.github.com/rest/repos/rules: "Metadata" repository permissions (read).
    if !state.allows("metadata: read") {
        return Some(forbidden("metadata=read"));
    }
    Some(match segments {
        [] => ok(
            json!({ "full_name": "acme/agents", "default_branch": state.pulls.default_branch() }),
        ),
        // https://docs.github.com/rest/deployments/environments#get-an-environment
        ["environments", name] => match settings.environments.iter().find(|(own, _)| own == name) {
            Some((name, branches)) => {
                ok(json!({ "name": name, "deployment_branch_policy": branches }))
            }
            None => missing(),
        },
        // https://docs.github.com/rest/repos/rules#get-rules-for-a-branch
        ["rules", "branches", "main"] => ok(json!(settings.rules)),
        ["rules", "branches", name] => {
            let rule = |(_, check): &(String, String)| {
                let parameters = json!({ "required_status_checks": [{ "context": check }] });
                json!({ "type": "required_status_checks", "parameters": parameters })
            };
            let rules: Vec<Value> = settings
                .guarded
                .iter()
                .filter(|(branch, _)| branch == name)
                .map(rule)
                .collect();
            ok(json!(rules))
        }
        ["branches", name] if *name != "main" => match state.pulls.head_of(name) {
            Some(sha) => {
                let none = json!({ "enforcement_level": "off", "contexts": [], "checks": [] });
                ok(json!({
                    "name": name,
                    "commit": { "sha": sha },
                    "protected": settings.guarded.iter().any(|(branch, _)| branch == name),
                    "protection": { "enabled": false, "required_status_checks": none },
                }))
            }
            None => missing(),
        },
        // https://docs.github.com/rest/branches/branches#list-branches: "Setting to true returns only branches protected by branch
        // protections or rulesets."
        ["branches"] if request.asked("protected").as_deref() == Some("true") => {
            let of_main =
                (!settings.protected.is_empty() || !settings.rules.is_empty()).then_some("main");
            let names: BTreeSet<&str> = settings
                .guarded
                .iter()
                .map(|(branch, _)| branch.as_str())
                .chain(of_main)
                .collect();
            ok(names
                .into_iter()
                .map(|name| json!({ "name": name, "protected": true }))
                .collect())
        }
        // https://docs.github.com/rest/branches/branches#get-a-branch
        ["branches", "main"] => {
            let contexts: Vec<&Value> = settings
                .protected
                .iter()
                .map(|check| &check["context"])
                .collect();
            let checks = json!({ "enforcement_level": "everyone", "contexts": contexts, "checks": settings.protected });
            ok(json!({
                "name": "main",
                "protected": !settings.protected.is_empty(),
                "protection": { "enabled": !settings.protected.is_empty(), "required_status_checks": checks },
            }))
        }
        _ => missing(),
    })
}

/// Routes outside of the repository: the action's own repository and the registry (https://github.com/opencontainers/distribution-spec,
/// "Pulling manifests"; https://distribution.github.io/distribution/spec/auth/token).
pub fn elsewhere(request: &Request, state: &mut State) -> Option<Answer> {
    let settings = &state.settings;
    if request.path == "/repos/acme/goldgate/contents/action.yml" {
        return Some(match &settings.action {
            Some((reference, text))
                if request.asked("ref").as_deref() == Some(reference) && request.raw =>
            {
                Answer {
                    status: 200,
                    headers: String::new(),
                    body: Body::Bytes(text.clone().into_bytes()),
                }
            }
            Some(_) | None => missing(),
        });
    }
    if request.path == "/token" {
        assert!(
            !request.has_token,
            "the registry must not get GitHub's token"
        );
        // A registry hands out a token to anybody and refuses what it may not do.
        return Some(ok(json!({ "token": "anonymous" })));
    }
    let manifest = request.path.strip_prefix("/v2/acme/goldgate/manifests/")?;
    Some(match (request.has_token, settings.private) {
        (false, _) => {
            let realm = format!("http://127.0.0.1:{}/token", state.port);
            let scope = "repository:acme/goldgate:pull";
            let challenge = format!(
                "www-authenticate: Bearer realm=\"{realm}\",service=\"registry\",scope=\"{scope}\"\r\n"
            );
            Answer {
                headers: challenge,
                ..status(401, json!({}))
            }
        }
        (true, true) => status(403, json!({ "errors": [{ "code": "DENIED" }] })),
        (true, false) if manifest.starts_with("sha256:") => ok(json!({ "schemaVersion": 2 })),
        (true, false) => missing(),
    })
}

//! What an agent calls by the config of the head, and what recordings state otherwise.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::called_targets::{calls, live, model};
use crate::format::called_target::{is_full_name, target_digest};
use crate::model::{Agent, Config};

/// What an agent calls by the config of the head.
pub struct PresentCalls {
    target: String,
    /// The model of the target; `None` for a program or a server.
    model: Option<String>,
    /// The digest of what is called.
    digest: String,
    /// The targets that are called otherwise.
    others: BTreeSet<String>,
    /// The models of all targets: any may play the user of a conversation.
    models: BTreeMap<String, String>,
}

/// What a recording was made with, if the agent calls something else.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum OtherCall {
    /// A target of the config.
    Target(String),
    /// A model.
    Model(String),
    /// A model that played the user of the conversation.
    User(String),
}

impl PresentCalls {
    /// What an agent calls; `None` if it calls nothing.
    pub fn of(config: &Config, agent: &Agent) -> Option<Self> {
        let target = &live(agent)?.target;
        let own = config.targets.get(target)?;
        let others = config
            .targets
            .iter()
            .filter(|(_, other)| calls(other) != calls(own));
        let models = config
            .targets
            .iter()
            .filter_map(|(name, target)| Some((name.clone(), model(target)?)));
        Some(Self {
            target: target.clone(),
            model: model(own),
            digest: target_digest(own),
            others: others.map(|(name, _)| name.clone()).collect(),
            models: models.collect(),
        })
    }

    /// The target that the agent calls.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// Whether the config has the model.
    pub fn has_model(&self) -> bool {
        self.model.is_some()
    }

    /// Whether another target has this model.
    pub fn is_of_other_target(&self, full: &str) -> bool {
        self.models
            .iter()
            .any(|(name, model)| *name != self.target && is_full_name(full, model))
    }

    /// What a recording states. `user` returns the target that plays the user of its case.
    pub fn other(
        &self,
        recording: &Value,
        user: impl Fn() -> Option<String>,
    ) -> BTreeSet<OtherCall> {
        let stated = |pointer: &str| recording.pointer(pointer).and_then(Value::as_str);
        let digest = stated("/provenance/target_sha256");
        let is_other_target = |target: &&str| match digest {
            Some(digest) => digest != self.digest,
            None => self.others.contains(*target),
        };
        let other_target = stated("/provenance/target").filter(is_other_target);
        let is_other = |full: &&str, model: Option<&String>| {
            model.is_some_and(|model| !is_full_name(full, model))
        };
        let other_model =
            stated("/provenance/model").filter(|full| is_other(full, self.model.as_ref()));
        let is_other_user =
            |full: &&str| is_other(full, user().and_then(|user| self.models.get(&user)));
        let other_user = stated("/outputs/user/model").filter(is_other_user);
        let own = match other_target {
            Some(target) => Some(OtherCall::Target(target.to_owned())),
            None => other_model.map(|model| OtherCall::Model(model.to_owned())),
        };
        own.into_iter()
            .chain(other_user.map(|model| OtherCall::User(model.to_owned())))
            .collect()
    }

    /// What is said of recordings that state it.
    pub fn words(&self, other: &OtherCall) -> String {
        match (other, &self.model) {
            (OtherCall::Target(target), _) if *target == self.target => {
                format!(
                    "made with the target {target} before its model, address or settings changed: record them again with it"
                )
            }
            (OtherCall::Target(target), _) => {
                format!(
                    "made with the target {target}, while the agent calls {}: record them with that",
                    self.target
                )
            }
            (OtherCall::Model(made), Some(model)) => {
                format!(
                    "made with the model {made}, while the target {} has {model}: record them with that; if {model} answers as {made}, \
                     write that name into the config",
                    self.target
                )
            }
            (OtherCall::Model(made), None) => format!("made with the model {made}"),
            (OtherCall::User(made), _) => {
                format!(
                    "made with {made} as the user, while the target of the user has another model"
                )
            }
        }
    }
}

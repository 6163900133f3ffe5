//! What an agent calls, on both sides: a recording was made with it, as with the files of the agent.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::model::{Agent, Config, LiveSource, RecordPolicy, RunSource, Target, Transport};

/// The targets of the base commit that are called otherwise now. Recordings that name them were made with something else.
#[derive(Debug, Default)]
pub struct ChangedTargets {
    /// The names of the agent's own.
    own: BTreeSet<String>,
    /// The models that no target has any more. One of them may have played the user of a conversation.
    gone: BTreeSet<String>,
    /// Those that a target has.
    kept: BTreeSet<String>,
}

impl ChangedTargets {
    /// Compares what an agent of both configs calls in the model tier, by what is called and not by its name. An agent that calls nothing
    /// on one of the sides has no other target.
    pub fn of((base, before): (&Config, &Agent), (head, after): (&Config, &Agent)) -> Self {
        let (Some(RunSource::Live(old)), Some(RunSource::Live(new))) = (&before.model, &after.model) else {
            return Self::default();
        };
        let called = |config: &'_ Config, live: &LiveSource| -> Vec<Target> {
            live.targets().filter_map(|name| config.targets.get(name)).map(calls).collect()
        };
        let now = called(head, new);
        let is_gone = |name: &&String| base.targets.get(*name).is_some_and(|target| !now.contains(&calls(target)));
        let models = |config: &Config| -> BTreeSet<String> { config.targets.values().filter_map(model).collect() };
        Self {
            own: old.targets().filter(is_gone).cloned().collect(),
            gone: models(base).difference(&models(head)).cloned().collect(),
            kept: models(head),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.own.is_empty() && self.gone.is_empty()
    }

    /// The target with which a recording says that it was made, if it is one of these.
    pub fn made(&self, recording: &str) -> Option<String> {
        let run: Value = serde_json::from_str(recording).ok()?;
        let own = run["provenance"]["target"].as_str().filter(|target| self.own.contains(*target));
        // A vendor answers with the full name of a model.
        let is_of = |full: &str, models: &BTreeSet<String>| models.iter().any(|model| full.starts_with(model.as_str()));
        let is_gone = |full: &&str| is_of(full, &self.gone) && !is_of(full, &self.kept);
        let user = run["outputs"]["user"]["model"].as_str().filter(is_gone);
        own.map(|target| format!("the target {target}")).or(user.map(|model| format!("{model} as the user")))
    }
}

/// A target without what does not change its answers: limits, the name of its key, and who may call it.
pub fn calls(target: &Target) -> Target {
    let mut transport = target.transport.clone();
    if let Transport::Model(provider) = &mut transport {
        provider.api_key_env = None;
    }
    Target { transport, concurrency: None, timeout: None, stall: None, record: RecordPolicy::default() }
}

fn model(target: &Target) -> Option<String> {
    match &target.transport {
        Transport::Model(provider) => Some(provider.model.clone()),
        Transport::Command { .. } | Transport::Http(_) => None,
    }
}

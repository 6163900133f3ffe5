//! Checks the agents of a config and the sources of their runs.

use std::collections::BTreeMap;

use super::ConfigReader;
use super::form::{AgentForm, RoleForm, SourceForm};
use crate::diag::Code;
use crate::format::yaml::Step;
use crate::format::yaml::Step::{At, Key};
use crate::model::{Agent, LiveSource, Role, RunSource, StalePolicy, Target};

impl ConfigReader<'_> {
    pub(super) fn agent(
        &mut self,
        index: usize,
        name: &str,
        form: AgentForm,
        targets: &BTreeMap<String, Target>,
    ) -> Agent {
        let mut prompt = None;
        let mut source = |tier: &'static str, form: Option<SourceForm>| {
            let at = [Key("suites"), At(index), Key("agents"), Key(name), Key(tier)];
            let form = form?;
            if let Some(path) = &form.prompt {
                let path = self.path(&at, path);
                prompt = prompt.take().or(Some(path));
            }
            self.source(&at, form, targets)
        };
        let (deterministic, model) = (source("deterministic", form.deterministic), source("model", form.model));
        let role = match form.role {
            None | Some(RoleForm::Actor) => Role::Actor,
            Some(RoleForm::Critic) => Role::Critic,
        };
        let (fingerprint, no_fingerprint) = self.fingerprint(index, name, form.fingerprint, prompt.as_ref());
        let mut agent =
            Agent { deterministic, model, prompt, fingerprint, no_fingerprint, stale: StalePolicy::default(), role };
        agent.stale = self.stale(index, name, &agent, form.stale);
        agent
    }

    fn source(&mut self, at: &[Step<'_>], form: SourceForm, targets: &BTreeMap<String, Target>) -> Option<RunSource> {
        match (form.replay, form.target) {
            (Some(_), None) if form.record => {
                let help = "remove it, or add target: NAME";
                self.refuse(at, Code::NO_EFFECT, "record has no effect with replay", help);
                None
            }
            (Some(_), None) if form.critic.is_some() => {
                let help = "remove it, or add target: NAME for the actor; a recorded loop already contains its critic's answers";
                self.refuse(at, Code::NO_EFFECT, "critic has no effect with replay", help);
                None
            }
            (Some(folder), None) => Some(RunSource::Replay(self.path(at, &folder))),
            (None, Some(target)) => {
                let known = [Some(&target), form.critic.as_ref()].into_iter().flatten();
                let unknown =
                    known.filter(|name| !targets.contains_key(*name)).map(|name| self.unknown(at, name, targets));
                match unknown.count() {
                    0 => Some(RunSource::Live(LiveSource { target, critic: form.critic, record: form.record })),
                    _ => None,
                }
            }
            (Some(_), Some(_)) | (None, None) => {
                let help = "write either replay: FOLDER or target: NAME";
                self.refuse(at, Code::BAD_SOURCE, "an agent needs exactly one of replay and target", help);
                None
            }
        }
    }

    fn unknown(&mut self, at: &[Step<'_>], name: &str, targets: &BTreeMap<String, Target>) {
        let known: Vec<&str> = targets.keys().map(String::as_str).collect();
        let help = match known.as_slice() {
            [] => "add it under targets".to_owned(),
            known => format!("the targets are {}", known.join(", ")),
        };
        self.refuse(at, Code::UNKNOWN_TARGET, format!("no target is called \"{name}\""), help);
    }
}

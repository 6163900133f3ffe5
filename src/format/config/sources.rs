//! Checks the agents of a config and the sources of their runs.

use std::collections::{BTreeMap, BTreeSet};

use super::ConfigReader;
use super::capture::CaptureForm;
use super::form::{AgentForm, ProtocolForm, RoleForm, SourceForm};
use crate::diag::Code;
use crate::format::Step;
use crate::format::Step::{At, Key};
use crate::model::{
    Agent, AgentName, BadPattern, CaptureSource, LiveSource, Protocol, RecordingPlace, RepoPath,
    Role, RunSource, SuiteConfig, Target, Transport,
};

/// The word with which recordings answer the calls of an agent's code.
const EXCHANGES: &str = "exchanges";

/// Tells each agent where the recordings of the agents are that replay the same place.
pub(super) fn share_recordings(suites: &mut [SuiteConfig]) {
    let mut agents: BTreeMap<RecordingPlace, BTreeSet<AgentName>> = BTreeMap::new();
    for (name, agent) in suites.iter().flat_map(|suite| &suite.agents) {
        for place in agent.recording_places() {
            agents.entry(place).or_default().insert(name.clone());
        }
    }
    for agent in suites
        .iter_mut()
        .flat_map(|suite| suite.agents.values_mut())
    {
        let mut recorded = BTreeSet::new();
        for place in agent.recording_places() {
            let names = agents.get(&place).into_iter().flatten();
            recorded.extend(names.map(|name| (place.clone(), name.clone())));
        }
        agent.recorded = recorded;
    }
}

impl ConfigReader<'_> {
    pub(super) fn agent(
        &mut self,
        index: usize,
        name: &str,
        form: AgentForm,
        targets: &BTreeMap<String, Target>,
    ) -> Agent {
        let mut prompt: Option<RepoPath> = None;
        let mut source = |tier: &'static str, form: Option<SourceForm>| {
            let at = [
                Key("suites"),
                At(index),
                Key("agents"),
                Key(name),
                Key(tier),
            ];
            let form = form?;
            if let Some(path) = &form.prompt {
                let path = self.path(&at, path);
                if let Some(other) = prompt.as_ref().filter(|other| **other != path) {
                    let what = format!(
                        "the prompt is {path} here, but {other} in deterministic: an agent has one prompt"
                    );
                    let help = "state the same prompt, or make two agents of it";
                    self.refuse(
                        &[&at[..], &[Key("prompt")]].concat(),
                        Code::BAD_SOURCE,
                        what,
                        help,
                    );
                }
                prompt.get_or_insert(path);
            }
            self.source(&at, form, targets)
        };
        let (deterministic, model) = (
            source("deterministic", form.deterministic),
            source("model", form.model),
        );
        let role = match form.role {
            None | Some(RoleForm::Actor) => Role::Actor,
            Some(RoleForm::Critic) => Role::Critic,
        };
        let was = form.was.and_then(|text| {
            let at = [
                Key("suites"),
                At(index),
                Key("agents"),
                Key(name),
                Key("was"),
            ];
            AgentName::new(&text)
                .map_err(|bad| self.refuse(&at, Code::BAD_ID, bad.to_string(), bad.help()))
                .ok()
        });
        let (fingerprint, no_fingerprint) =
            self.fingerprint(index, name, form.fingerprint, prompt.as_ref());
        Agent {
            was,
            deterministic,
            model,
            prompt,
            fingerprint,
            no_fingerprint,
            role,
            ..Agent::default()
        }
    }

    fn source(
        &mut self,
        at: &[Step<'_>],
        form: SourceForm,
        targets: &BTreeMap<String, Target>,
    ) -> Option<RunSource> {
        if form.recordings.is_some()
            || (form.replay.as_deref() == Some(EXCHANGES) && form.target.is_some())
        {
            return self.exchanges(at, form, targets);
        }
        match (form.replay, form.target) {
            (Some(_), None) if form.record => {
                let help = "remove it, or add target: NAME";
                self.refuse(
                    at,
                    Code::NO_EFFECT,
                    "record has no effect with replay",
                    help,
                );
                None
            }
            (Some(_), None) if form.critic.is_some() => {
                let help = "remove it, or add target: NAME for the actor; a recorded loop already contains its critic's answers";
                self.refuse(
                    at,
                    Code::NO_EFFECT,
                    "critic has no effect with replay",
                    help,
                );
                None
            }
            (None, Some(_)) if form.attempts.is_some() => {
                self.bad_pattern(at, BadPattern::Attempts);
                None
            }
            (Some(place), None) => {
                let place = RecordingPlace::at(self.path(at, &place));
                let place = match &form.attempts {
                    Some(names) => place.and_then(|place| place.with_attempts(names)),
                    None => place,
                };
                place
                    .map(RunSource::Replay)
                    .map_err(|bad| self.bad_pattern(at, bad))
                    .ok()
            }
            (None, Some(target)) => {
                let known = [Some(&target), form.critic.as_ref()].into_iter().flatten();
                let unknown = known
                    .filter(|name| !targets.contains_key(*name))
                    .map(|name| self.unknown(at, name, targets));
                match unknown.count() {
                    0 => {
                        let (critic, record) = (form.critic, form.record);
                        Some(RunSource::Live(LiveSource {
                            target,
                            critic,
                            record,
                            exchanges: None,
                        }))
                    }
                    _ => None,
                }
            }
            (Some(_), Some(_)) | (None, None) => {
                let help = "write either replay: FOLDER or target: NAME";
                self.refuse(
                    at,
                    Code::BAD_SOURCE,
                    "an agent needs exactly one of replay and target",
                    help,
                );
                None
            }
        }
    }

    fn bad_pattern(&mut self, at: &[Step<'_>], bad: BadPattern) {
        let what = match bad {
            BadPattern::Placeholder => "the path of recordings is not a pattern",
            BadPattern::Attempts => "attempts are not folders of a pattern",
        };
        let help = match bad {
            BadPattern::Placeholder => {
                "write {case}, {agent} and {sample} where the path has them, once each and no *: out/{agent}/{case}.json"
            }
            BadPattern::Attempts => {
                "write replay: \"out/{agent}/{case}\" and a name with one *: attempts: attempt_*"
            }
        };
        self.refuse(at, Code::BAD_PATH, what, help);
    }

    /// A source whose target runs again, and whose model calls are answered from recordings.
    fn exchanges(
        &mut self,
        at: &[Step<'_>],
        form: SourceForm,
        targets: &BTreeMap<String, Target>,
    ) -> Option<RunSource> {
        let SourceForm {
            replay,
            target,
            recordings,
            critic,
            prompt: _,
            record,
            attempts,
        } = form;
        let help = "write { replay: exchanges, target: NAME, recordings: FOLDER }";
        let (Some(EXCHANGES), Some(target), Some(folder)) = (replay.as_deref(), target, recordings)
        else {
            let what = "recordings belongs to replay: exchanges, which needs a target and the folder of its recordings";
            self.refuse(at, Code::BAD_SOURCE, what, help);
            return None;
        };
        if at.last() == Some(&Key("model")) {
            let what = "replay: exchanges calls no model, so it belongs to the deterministic tier";
            self.refuse(at, Code::BAD_SOURCE, what, "move it to deterministic");
            return None;
        }
        if record || critic.is_some() || attempts.is_some() {
            let what = "record, critic and attempts have no effect with replay: exchanges";
            self.refuse(at, Code::NO_EFFECT, what, "remove them");
            return None;
        }
        let exchanges = Some(self.path(at, &folder));
        match targets.get(&target).map(|target| &target.transport) {
            None => {
                self.unknown(at, &target, targets);
                None
            }
            Some(Transport::Command {
                protocol: Protocol::Captured(_),
                ..
            }) => Some(RunSource::Live(LiveSource {
                target,
                critic: None,
                record: false,
                exchanges,
            })),
            Some(Transport::Command { .. } | Transport::Http(_) | Transport::Model(_)) => {
                let what = format!(
                    "the target \"{target}\" does not record its model calls, so none can be replayed"
                );
                self.refuse(
                    at,
                    Code::BAD_SOURCE,
                    what,
                    "add capture: openai, anthropic or otlp to a command",
                );
                None
            }
        }
    }

    /// How a process is spoken to.
    pub(super) fn protocol(
        &mut self,
        target: &str,
        protocol: Option<ProtocolForm>,
        capture: Option<CaptureForm>,
    ) -> Protocol {
        match (protocol, capture) {
            (None, None) => Protocol::Oneshot,
            (Some(protocol), None) => Protocol::from(protocol),
            (None, Some(capture)) => Protocol::Captured(CaptureSource::from(capture)),
            (Some(_), Some(capture)) => {
                let at = [Key("targets"), Key(target), Key("protocol")];
                let what = "protocol has no effect with capture: the process gets the query and prints its answer";
                self.refuse(&at, Code::NO_EFFECT, what, "remove protocol or capture");
                Protocol::Captured(CaptureSource::from(capture))
            }
        }
    }

    fn unknown(&mut self, at: &[Step<'_>], name: &str, targets: &BTreeMap<String, Target>) {
        let known: Vec<&str> = targets.keys().map(String::as_str).collect();
        let help = match known.as_slice() {
            [] => "add it under targets".to_owned(),
            known => format!("the targets are {}", known.join(", ")),
        };
        self.refuse(
            at,
            Code::UNKNOWN_TARGET,
            format!("no target is called \"{name}\""),
            help,
        );
    }
}

impl From<ProtocolForm> for Protocol {
    fn from(form: ProtocolForm) -> Self {
        match form {
            ProtocolForm::Oneshot => Self::Oneshot,
            ProtocolForm::Jsonl => Self::Jsonl,
        }
    }
}

//! Checks the agents and keys of a suite's config against its kind.

use super::{PlanReader, RulesSource, source_of};
use crate::diag::{Code, Diagnostics};
use crate::format::Step::{At, Key};
use crate::model::{Agent, AgentFiles, LiveSource, Policy, Role, RunSource, SuiteConfig};
use crate::suites::{SeedGates, SuiteKind};

impl PlanReader<'_> {
    pub(super) fn check_agents(
        &self,
        suite: &SuiteConfig,
        kind: &SuiteKind,
        problems: &mut Diagnostics,
    ) {
        let at = |key| [Key("suites"), At(suite.index), Key(key)];
        match kind.agents.own_agent() {
            None if suite.agents.is_empty() => {
                let help = "add agents, each with the source of its runs";
                problems.push(self.problem(
                    &at("id"),
                    Code::NO_AGENTS,
                    format!("the suite \"{}\" has no agents", suite.id),
                    help,
                ));
            }
            Some(name) if !suite.agents.is_empty() => {
                let what = format!(
                    "a {} suite always has exactly the agent \"{name}\"",
                    kind.name
                );
                problems.push(self.problem(&at("agents"), Code::NO_EFFECT, what, "remove agents"));
            }
            None | Some(_) => {}
        }
        self.check_keys(suite, kind, problems);
        self.check_parts(suite, kind, problems);
        self.check_sources(suite, problems);
        self.check_files(suite, kind, problems);
    }

    /// Refuses keys that have no effect on the kind.
    fn check_keys(&self, suite: &SuiteConfig, kind: &SuiteKind, problems: &mut Diagnostics) {
        let at = |key| [Key("suites"), At(suite.index), Key(key)];
        let lists: Vec<&str> = kind.term_lists().map(|list| list.name).collect();
        for name in suite
            .terms
            .keys()
            .filter(|name| !lists.contains(&name.as_str()))
        {
            let at = [
                Key("suites"),
                At(suite.index),
                Key("terms"),
                Key(name.as_str()),
            ];
            let help = match lists.as_slice() {
                [] => "remove it".to_owned(),
                known => format!("its lists are {}", known.join(", ")),
            };
            let what = format!("kind {} has no list of terms \"{name}\"", kind.name);
            problems.push(self.problem(&at, Code::NO_EFFECT, what, help));
        }
        self.check_policy(suite, kind, problems);
        for key in &suite.without_effect {
            let what = format!("{key} has no effect on kind {}", kind.name);
            problems.push(self.problem(&at(key), Code::NO_EFFECT, what, format!("remove {key}")));
        }
        if suite.runs_of.is_some() != kind.agents.needs_runs_of() {
            let (what, help) = match suite.runs_of {
                Some(_) => (
                    format!("runs_of has no effect on kind {}", kind.name),
                    "remove it",
                ),
                None => (
                    format!("the suite \"{}\" has no runs_of", suite.id),
                    "name the suite whose runs it grades together",
                ),
            };
            problems.push(self.problem(&at("runs_of"), Code::RUNS_OF, what, help));
        }
    }

    /// Refuses a policy that the kind does not have, and classes that it does not check.
    fn check_policy(&self, suite: &SuiteConfig, kind: &SuiteKind, problems: &mut Diagnostics) {
        let at = |key| [Key("suites"), At(suite.index), Key(key)];
        if suite.policy == Policy::Seed && kind.seed_gates == SeedGates::None {
            let what = format!(
                "kind {} has no policy seed: no document states gates for it",
                kind.name
            );
            let help = "remove policy: regression is the default";
            problems.push(self.problem(&at("policy"), Code::NO_EFFECT, what, help));
        }
        let Some(named) = &suite.never else { return };
        if suite.policy == Policy::Seed {
            let what = "never has no effect with the policy seed".to_owned();
            let help = "remove it, or write policy: regression";
            problems.push(self.problem(&at("never"), Code::NO_EFFECT, what, help));
        }
        let known: Vec<&str> = kind
            .never
            .iter()
            .map(|guard| guard.class.as_str())
            .collect();
        for (index, class) in named.iter().enumerate() {
            if kind.never.iter().any(|guard| guard.class == *class) {
                continue;
            }
            let what = format!("kind {} has no class \"{}\"", kind.name, class.as_str());
            let help = if known.is_empty() {
                "remove it: the kind has no classes".to_owned()
            } else {
                format!("its classes are {}", known.join(", "))
            };
            let at = [Key("suites"), At(suite.index), Key("never"), At(index)];
            problems.push(self.problem(&at, Code::NO_EFFECT, what, help));
        }
    }

    /// Refuses roles and critics if the kind has none.
    fn check_parts(&self, suite: &SuiteConfig, kind: &SuiteKind, problems: &mut Diagnostics) {
        for (name, agent) in &suite.agents {
            let at = [
                Key("suites"),
                At(suite.index),
                Key("agents"),
                Key(name.as_str()),
            ];
            if !kind.agents.has_roles() && agent.role != Role::default() {
                let what = format!("role has no effect on kind {}", kind.name);
                problems.push(self.problem(
                    &[&at[..], &[Key("role")]].concat(),
                    Code::NO_EFFECT,
                    what,
                    "remove role",
                ));
            }
            for (tier, source) in [
                ("deterministic", &agent.deterministic),
                ("model", &agent.model),
            ] {
                let Some(RunSource::Live(LiveSource {
                    critic: Some(_), ..
                })) = source
                else {
                    continue;
                };
                let what = match (kind.agents.has_roles(), agent.role) {
                    (true, Role::Actor) => continue,
                    (true, Role::Critic) => {
                        "critic has no effect on an agent with the role critic".to_owned()
                    }
                    (false, _) => format!("critic has no effect on kind {}", kind.name),
                };
                let path = [&at[..], &[Key(tier), Key("critic")]].concat();
                problems.push(self.problem(&path, Code::NO_EFFECT, what, "remove critic"));
            }
        }
    }

    /// Refuses agents that never run.
    fn check_sources(&self, suite: &SuiteConfig, problems: &mut Diagnostics) {
        for (name, agent) in &suite.agents {
            for tier in suite
                .tiers
                .iter()
                .filter(|tier| source_of(agent, **tier).is_none())
            {
                // An agent needs a source in only one of the suite's tiers.
                if suite
                    .tiers
                    .iter()
                    .all(|tier| source_of(agent, *tier).is_none())
                {
                    let path = [
                        Key("suites"),
                        At(suite.index),
                        Key("agents"),
                        Key(name.as_str()),
                    ];
                    let what = format!(
                        "the agent \"{name}\" has no source in the tier {}",
                        tier.as_str()
                    );
                    problems.push(self.problem(
                        &path,
                        Code::NO_SOURCE,
                        what,
                        format!("add {}: {{ replay: FOLDER }}", tier.as_str()),
                    ));
                    break;
                }
            }
        }
    }

    /// Refuses recordings of an agent without stated files: it would always be unknown whether they are current.
    fn check_files(&self, suite: &SuiteConfig, kind: &SuiteKind, problems: &mut Diagnostics) {
        // Checked only on the head: the base commit may not state the files yet.
        if kind.agents.own_agent().is_some() || self.rules == RulesSource::Base {
            return;
        }
        for (name, agent) in &suite.agents {
            self.check_patterns(suite, (name.as_str(), agent), problems);
        }
        for (name, agent) in suite
            .agents
            .iter()
            .filter(|(_, agent)| agent.files() == AgentFiles::Unstated)
        {
            let mut sources = suite
                .tiers
                .iter()
                .filter_map(|tier| source_of(agent, *tier));
            if !sources.any(|source| matches!(source, RunSource::Replay(_))) {
                continue;
            }
            let path = [
                Key("suites"),
                At(suite.index),
                Key("agents"),
                Key(name.as_str()),
            ];
            let what = format!(
                "the agent \"{name}\" has recordings, but the config does not name the files of the agent"
            );
            let help = "name its prompts, tools and sources: fingerprint: [prompts/**], or give the reason why that is impossible: fingerprint: { none: \"why\" }";
            problems.push(self.problem(&path, Code::UNKNOWN_AGENT_FILES, what, help));
        }
    }

    /// Refuses a folder among an agent's files: a pattern without a wildcard names a file, so the folder's files would change unseen.
    fn check_patterns(
        &self,
        suite: &SuiteConfig,
        (name, agent): (&str, &Agent),
        problems: &mut Diagnostics,
    ) {
        let AgentFiles::Patterns(patterns) = agent.files() else {
            return;
        };
        for (index, glob) in patterns.iter().enumerate() {
            let Some(folder) = glob
                .file()
                .filter(|folder| self.files.list_all(folder).is_ok())
            else {
                continue;
            };
            let path = [
                Key("suites"),
                At(suite.index),
                Key("agents"),
                Key(name),
                Key("fingerprint"),
                At(index),
            ];
            let what = format!("{folder} is a folder, and this pattern would name no file of it");
            problems.push(self.problem(
                &path,
                Code::FOLDER_PATTERN,
                what,
                format!("write {folder}/**"),
            ));
        }
    }
}

//! The settings of an agent's targets that differ between two configs.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{
    Agent, ChangedText, Config, LiveSource, Provider, RunSource, Target, Tier, Transport,
};

/// Compares the targets that these agents call. Time limits and the number of calls at a time are left out: they decide no answer.
pub fn changed_target_settings(
    agents: &[&Agent],
    base: &Config,
    head: &Config,
) -> Vec<ChangedText> {
    let sources = agents
        .iter()
        .flat_map(|agent| [Tier::Deterministic, Tier::Model].map(|tier| agent.source(tier)));
    let live = sources.flatten().filter_map(RunSource::live);
    let targets: BTreeSet<&String> = live.flat_map(LiveSource::targets).collect();
    let mut changed = Vec::new();
    for name in targets {
        let (base, head) = (settings_of(base, name), settings_of(head, name));
        let keys: BTreeSet<&&str> = base.keys().chain(head.keys()).collect();
        for key in keys {
            if base.get(*key) == head.get(*key) {
                continue;
            }
            changed.push(ChangedText {
                name: format!("targets.{name}.{key}"),
                before: base.get(*key).cloned(),
                now: head.get(*key).cloned(),
                samples: None,
            });
        }
    }
    changed
}

fn settings_of(config: &Config, name: &String) -> BTreeMap<&'static str, String> {
    config.targets.get(name).map(settings).unwrap_or_default()
}

/// The settings of a target that decide an answer, by their keys in the config.
fn settings(target: &Target) -> BTreeMap<&'static str, String> {
    match &target.transport {
        Transport::Model(provider) => {
            let Provider {
                wire: _,
                model,
                base_url,
                api_key_env: _,
                region,
                temperature,
                max_tokens,
            } = provider;
            let stated = [
                ("model", Some(model.clone())),
                ("base_url", base_url.clone()),
                ("region", region.clone()),
                ("temperature", temperature.map(|value| value.to_string())),
                ("max_tokens", max_tokens.map(|value| value.to_string())),
            ];
            stated
                .into_iter()
                .filter_map(|(key, value)| Some((key, value?)))
                .collect()
        }
        Transport::Command {
            argv,
            protocol: _,
            env: _,
        } => BTreeMap::from([("command", argv.join(" "))]),
        Transport::Http(address) => BTreeMap::from([("http", address.clone())]),
    }
}

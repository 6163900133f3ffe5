//! The settings of an agent's targets that differ between two configs.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{
    Agent, ChangedText, Config, LiveSource, Provider, RunSource, Target, Tier, Transport,
};

/// Compares the targets that these agents call. Time limits and the number of calls at a time are left out: they decide no answer.
pub fn changed_target_settings(
    agents: &[&Agent],
    before: &Config,
    now: &Config,
) -> Vec<ChangedText> {
    let sources = agents
        .iter()
        .flat_map(|agent| [Tier::Deterministic, Tier::Model].map(|tier| agent.source(tier)));
    let live = sources.flatten().filter_map(RunSource::live);
    let targets: BTreeSet<&String> = live.flat_map(LiveSource::targets).collect();
    let of = |config: &Config, name| config.targets.get(name).map(settings).unwrap_or_default();
    let mut changed = Vec::new();
    for name in targets {
        let (before, now) = (of(before, name), of(now, name));
        let keys: BTreeSet<&&str> = before.keys().chain(now.keys()).collect();
        for key in keys
            .into_iter()
            .filter(|key| before.get(**key) != now.get(**key))
        {
            changed.push(ChangedText {
                name: format!("targets.{name}.{key}"),
                before: before.get(*key).cloned(),
                now: now.get(*key).cloned(),
                samples: None,
            });
        }
    }
    changed
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

//! The values of the environment that no text of a result may have.

use crate::format::secret_values::SecretValues;
use crate::model::{Config, Transport};
use crate::world::Env;

/// Returns the secret values of the environment: the keys of a config's targets, and variables with a name like a key.
pub fn secret_values(config: &Config, env: &Env) -> Vec<String> {
    let named = config
        .targets
        .values()
        .filter_map(|target| match &target.transport {
            Transport::Model(provider) => provider.api_key_env.as_deref(),
            Transport::Command { .. } | Transport::Http(_) => None,
        });
    let values = named.filter_map(|name| env.get(name).map(str::to_owned));
    values.chain(env.secrets()).collect()
}

/// The same values, to be removed from a report.
pub fn masked_values(config: &Config, env: &Env) -> SecretValues {
    let values = secret_values(config, env);
    SecretValues::new(values.iter().map(String::as_str))
}

//! Decides which hosts may receive API keys while a pull request is graded: the vendor's own, and those in the base commit's config.
//! Otherwise a pull request could send a key to its own server.

use std::collections::BTreeSet;

use super::KeyHosts;
use crate::files::Files;
use crate::live::targets::{is_vendors, origin};
use crate::model::{Config, Provider, RepoPath, Transport, Wire};
use crate::suites::read_config;
use crate::world::{BaseTree, Disk, Objects, ReadOnce};

/// Returns the hosts that may receive keys for this base commit. A missing or unreadable config of the base commit adds
/// no hosts.
pub fn keys_of_base(objects: &dyn Objects, commit: &str, disk: &Disk, file: &RepoPath) -> KeyHosts {
    let head = ReadOnce::of(disk);
    let config = BaseTree::open(objects, commit, &head)
        .ok()
        .and_then(|base| {
            let source = base.text(file).ok()?;
            read_config(&source).ok()
        });
    named_by(config.as_ref())
}

/// Returns the vendors' own hosts and those in a config.
pub fn named_by(config: Option<&Config>) -> KeyHosts {
    let targets = config
        .into_iter()
        .flat_map(|config| config.targets.values());
    let named = targets.filter_map(|target| match &target.transport {
        Transport::Model(provider) => provider.base_url.as_deref().and_then(origin),
        Transport::Command { .. } | Transport::Http(_) => None,
    });
    KeyHosts::Only(named.collect::<BTreeSet<String>>())
}

/// Returns the reason why a model must not receive its key, if it must not.
pub fn refused(provider: &Provider, hosts: &KeyHosts) -> Option<String> {
    let KeyHosts::Only(hosts) = hosts else {
        return None;
    };
    let base_url = provider.base_url.as_deref()?;
    // With a configured address only a configured key is sent, except for Bedrock, which uses the machine's credentials.
    let sends_key = provider.api_key_env.is_some() || provider.wire == Wire::Bedrock;
    let is_known = is_vendors(provider.wire, base_url)
        || origin(base_url).is_some_and(|origin| hosts.contains(&origin));
    (sends_key && !is_known).then(|| {
        format!("may not get its key: {base_url} is neither in the base commit's config nor the vendor's address")
    })
}

#[cfg(test)]
mod tests {
    use super::{named_by, refused};
    use crate::files::SourceText;
    use crate::live::KeyHosts;
    use crate::model::{Provider, RepoPath, Wire};
    use crate::suites::read_config;

    fn provider(wire: Wire, base_url: Option<&str>, key: Option<&str>) -> Provider {
        Provider {
            wire,
            model: "m".to_owned(),
            base_url: base_url.map(str::to_owned),
            api_key_env: key.map(str::to_owned),
            region: None,
            temperature: None,
            max_tokens: None,
        }
    }

    #[test]
    fn keys_are_only_sent_to_the_vendor_and_to_hosts_of_the_base_config() {
        let text = "version: 1\nsuites: [{ id: a, kind: findings, path: golden }]\ntargets:\n  \
                    own: { provider: openai, model: m, base_url: \"https://models.example.com:8443/v1\", api_key_env: K }\n";
        let source =
            SourceText::from_text(RepoPath::root().child("goldgate.yaml"), text.to_owned());
        let base = read_config(&source).unwrap();
        let hosts = named_by(Some(&base));
        for (wire, base_url, key, allowed) in [
            (Wire::OpenAi, None, Some("K"), true),
            (
                Wire::OpenAi,
                Some("https://models.example.com:8443/other"),
                Some("K"),
                true,
            ),
            (
                Wire::OpenAi,
                Some("https://MODELS.example.com:8443/v1"),
                Some("K"),
                true,
            ),
            (
                Wire::OpenAi,
                Some("http://models.example.com:8443/v1"),
                Some("K"),
                false,
            ),
            (
                Wire::OpenAi,
                Some("https://models.example.com/v1"),
                Some("K"),
                false,
            ),
            (
                Wire::OpenAi,
                Some("https://models.example.com:8443@evil.example/v1"),
                Some("K"),
                false,
            ),
            (
                Wire::OpenAi,
                Some("https://api.openai.com/v1"),
                Some("K"),
                true,
            ),
            (
                Wire::OpenAi,
                Some("http://api.openai.com/v1"),
                Some("K"),
                false,
            ),
            (
                Wire::OpenAi,
                Some("https://api.openai.com.evil.example/v1"),
                Some("K"),
                false,
            ),
            (
                Wire::OpenAi,
                Some("https://mine.openai.azure.com/v1"),
                Some("K"),
                false,
            ),
            (Wire::OpenAi, Some("https://evil.example/v1"), None, true),
            (
                Wire::Anthropic,
                Some("https://api.anthropic.com"),
                Some("K"),
                true,
            ),
            (
                Wire::Anthropic,
                Some("https://api.openai.com"),
                Some("K"),
                false,
            ),
            (Wire::Bedrock, None, None, true),
            (
                Wire::Bedrock,
                Some("https://bedrock-runtime.eu-central-1.amazonaws.com"),
                None,
                true,
            ),
            (
                Wire::Bedrock,
                Some("https://evil.s3.amazonaws.com"),
                None,
                false,
            ),
            (Wire::Bedrock, Some("https://evil.example"), None, false),
        ] {
            let one = provider(wire, base_url, key);
            assert_eq!(
                refused(&one, &hosts).is_none(),
                allowed,
                "{wire:?} {base_url:?} {key:?}"
            );
            assert!(refused(&one, &KeyHosts::Any).is_none());
        }
        let evil = provider(
            Wire::OpenAi,
            Some("https://models.example.com:8443/v1"),
            Some("K"),
        );
        assert!(
            refused(&evil, &named_by(None)).is_some(),
            "a base without a config allows no other host"
        );
    }
}

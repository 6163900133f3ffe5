//! What is called of a target, in one form for digests.

use serde_json::{Value, json};

use crate::files::sha256_hex;
use crate::model::{Protocol, Target, Transport, Wire};

/// The digest of what is called: model, address and settings, or command. Names, keys and limits are not part of it.
pub fn target_digest(target: &Target) -> String {
    sha256_hex(called_target(target).to_string().as_bytes())
}

/// What is called. Another form makes every kept answer unknown, and every recording one of another target.
pub fn called_target(target: &Target) -> Value {
    match &target.transport {
        Transport::Model(provider) => json!({
            "wire": wire_key(provider.wire),
            "model": provider.model,
            "base_url": provider.base_url,
            "region": provider.region,
            "temperature": provider.temperature,
            "max_tokens": provider.max_tokens,
        }),
        Transport::Command {
            argv,
            protocol,
            env,
        } if env.is_empty() => {
            json!({ "command": argv, "protocol": protocol_key(*protocol) })
        }
        Transport::Command {
            argv,
            protocol,
            env,
        } => {
            json!({ "command": argv, "protocol": protocol_key(*protocol), "env": env })
        }
        Transport::Http(address) => json!({ "http": address }),
    }
}

fn wire_key(wire: Wire) -> &'static str {
    match wire {
        Wire::Anthropic => "Anthropic",
        Wire::OpenAi => "OpenAi",
        Wire::Bedrock => "Bedrock",
    }
}

fn protocol_key(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Oneshot => "Oneshot",
        Protocol::Jsonl => "Jsonl",
        Protocol::Captured(_) => "Captured",
    }
}

/// Whether this is the full name of a model, with which a vendor answers: the name, and a version or date after it. `m-mini` is another model
/// than `m`.
pub fn is_full_name(full: &str, model: &str) -> bool {
    let [full, model] = [full, model].map(str::to_lowercase);
    // The config may have the vendor's name before it, as routers read it.
    let [full, model] = match [&full, &model].map(|name| name.rsplit_once('/')) {
        [None, Some((_, model))] => [full.as_str(), model],
        [Some(_), _] | [None, None] => [full.as_str(), model.as_str()],
    };
    let family = model.strip_suffix(LATEST).unwrap_or(model);
    match full.strip_prefix(family) {
        None => false,
        Some("") => true,
        Some(rest) => rest.strip_prefix(['-', '@', ':']).is_some_and(is_version),
    }
}

/// Whether a text is a version or a date, with parts such as `preview` after it.
fn is_version(text: &str) -> bool {
    let mut parts = text.split(['-', '@', ':']);
    parts
        .next()
        .is_some_and(|first| first == LATEST_TAG || is_number(first))
        && parts.all(|part| {
            is_number(part.trim_start_matches('v')) || part == "preview" || part == LATEST_TAG
        })
}

fn is_number(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// How vendors name the newest version of a model.
const LATEST: &str = "-latest";
const LATEST_TAG: &str = "latest";

#[cfg(test)]
mod tests {
    use super::{is_full_name, target_digest};
    use crate::model::{Protocol, RecordPolicy, Target, Transport};

    #[test]
    fn a_digest_stays_the_same_in_later_versions() {
        let transport = Transport::Command {
            argv: vec!["python3".to_owned(), "agent.py".to_owned()],
            protocol: Protocol::Oneshot,
            env: Vec::new(),
        };
        let target = Target {
            transport,
            concurrency: Some(2),
            timeout: None,
            stall: None,
            record: RecordPolicy::Models,
        };
        // By `printf '{"command":["python3","agent.py"],"protocol":"Oneshot"}' | sha256sum`.
        assert_eq!(
            target_digest(&target),
            "b6083943fd06faa659545723bef9829d4ae2a847509c99f42fce9be43471d7c8"
        );
    }

    #[test]
    fn a_vendor_answers_with_a_version_of_the_model() {
        for (full, model) in [
            ("m-latest", "m-latest"),
            ("m-2411", "m-latest"),
            ("m:latest", "m"),
            ("llama-3", "Llama-3"),
        ] {
            assert!(is_full_name(full, model), "{full} {model}");
        }
        assert!(
            is_full_name("m-2026", "vendor/m")
                && is_full_name("a/m-2026", "a/m")
                && !is_full_name("vendor/m", "m")
        );
        assert!(is_full_name("m-20241022-v2:0", "m") && !is_full_name("m-2024-07-18-acme", "m"));
        assert!(
            !is_full_name("m-70b", "m")
                && !is_full_name("m-mini", "m")
                && !is_full_name("m", "m-mini")
                && !is_full_name("a/m", "b/m")
        );
    }
}

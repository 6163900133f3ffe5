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
        Transport::Command { argv, protocol, env } if env.is_empty() => {
            json!({ "command": argv, "protocol": protocol_key(*protocol) })
        }
        Transport::Command { argv, protocol, env } => {
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

#[cfg(test)]
mod tests {
    use super::target_digest;
    use crate::model::{Protocol, RecordPolicy, Target, Transport};

    #[test]
    fn a_digest_stays_the_same_in_later_versions() {
        let transport = Transport::Command {
            argv: vec!["python3".to_owned(), "agent.py".to_owned()],
            protocol: Protocol::Oneshot,
            env: Vec::new(),
        };
        let target =
            Target { transport, concurrency: Some(2), timeout: None, stall: None, record: RecordPolicy::Models };
        // By `printf '{"command":["python3","agent.py"],"protocol":"Oneshot"}' | sha256sum`.
        assert_eq!(target_digest(&target), "b6083943fd06faa659545723bef9829d4ae2a847509c99f42fce9be43471d7c8");
    }
}

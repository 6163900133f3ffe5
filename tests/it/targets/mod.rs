//! One call to each kind of target, against real servers and real processes.

mod bedrock;
mod chat;
mod faults;
mod live;
mod oneshot;
mod pool;
mod shapes;
mod standin;

use std::fs;
use std::future::Future;
use std::thread::sleep;
use std::time::{Duration, Instant};

use goldgate::live::targets::Timeouts;
use goldgate::model::{
    AgentName, Ask, CaseId, Conversation, Message, Protocol, Provider, RecordPolicy, RunKey,
    SampleRequest, SuiteId, Target, Toolbox, Transport, UserTurns, Wire,
};
use goldgate::world::Env;
use libtest_mimic::Trial;
use serde_json::json;

pub fn trials() -> Vec<Trial> {
    let mut trials = bedrock::trials();
    trials.extend(chat::trials());
    trials.extend(live::trials());
    trials.extend(faults::trials());
    trials.extend(oneshot::trials());
    trials.extend(pool::trials());
    trials.extend(shapes::trials());
    trials
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

/// An environment of nothing but these.
fn env(variables: &[(&str, &str)]) -> Env {
    variables.iter().copied().collect()
}

const PATIENCE: Timeouts = Timeouts {
    call: Duration::from_secs(20),
    stall: Duration::from_secs(10),
};

fn provider(wire: Wire, base_url: Option<String>) -> Provider {
    Provider {
        wire,
        model: "model-1".to_owned(),
        base_url,
        api_key_env: None,
        region: None,
        temperature: Some(0.5),
        max_tokens: Some(64),
    }
}

fn conversation() -> Conversation {
    Conversation {
        system: "Be brief.".to_owned(),
        messages: vec![Message::User("Who are you?".to_owned())],
        tools: Vec::new(),
        answer: None,
    }
}

fn request(case: &str) -> SampleRequest {
    SampleRequest {
        key: RunKey {
            suite: SuiteId::new("contracts").unwrap(),
            agent: AgentName::new("legal").unwrap(),
            case: CaseId::new(case).unwrap(),
        },
        sample: 0,
        system: "Be brief.".to_owned(),
        ask: Ask {
            prompt: "Read the lease.".to_owned(),
            inputs: json!({ "documents": ["lease.md"] }),
            answer: None,
            tools: Toolbox::Empty,
            turns: UserTurns::Single,
        },
        conversation: None,
    }
}

fn command(argv: &[&str], protocol: Protocol) -> Target {
    let argv = argv.iter().map(|part| (*part).to_owned()).collect();
    Target {
        transport: Transport::Command {
            argv,
            protocol,
            env: Vec::new(),
        },
        concurrency: Some(2),
        timeout: Some(Duration::from_secs(20)),
        stall: None,
        record: RecordPolicy::Models,
    }
}

/// Waits until no process with this id runs; one that nobody has waited for yet is dead all the same.
fn ends(id: &str) {
    let started = Instant::now();
    loop {
        let state = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        if state.is_empty() || state.contains(") Z ") {
            return;
        }
        assert!(
            started.elapsed() < Duration::from_secs(5),
            "process {id} still runs"
        );
        sleep(Duration::from_millis(10));
    }
}

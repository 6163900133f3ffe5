//! What `record` and a replay of exchanges refuse: programs that fail, broken recordings, limits, and configs.

use libtest_mimic::Trial;

use super::model_server::ModelServer;
use super::{EXCHANGES, RECORDING, config, record, recorded, repository, run};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "an agent that cannot be recorded leaves its recordings as they are, and record says why",
            unrecorded,
        ),
        trial(
            "a recording without usable exchanges gives no verdict, and says how to record it",
            broken_recordings,
        ),
        trial(
            "a replay refuses requests to other servers and other paths",
            other_requests,
        ),
        trial(
            "sources and targets with capture that cannot work are refused with the mend",
            configs,
        ),
        trial(
            "record without an agent, or into no folder, is refused before anything runs",
            nothing_to_record,
        ),
        trial(
            "a command of the command line is recorded like a target, into a folder of its own",
            command_line,
        ),
    ]
}

fn unrecorded() {
    let server = ModelServer::new();
    let repository = recorded("loop", "openai", &server);
    let before = repository.read(RECORDING);
    for (behaviour, code, said) in [
        ("broken", 3, "the tool is missing"),
        ("sleeps", 3, "no answer within 300 ms"),
        ("flood", 3, "the agent made more than 1,000 model calls"),
        ("huge", 3, "larger than 16 MiB"),
        (
            "nowhere",
            3,
            "the endpoint of goldgate record has no path /v2/x",
        ),
    ] {
        repository.write("goldgate.yaml", config(behaviour, EXCHANGES, "openai"));
        if behaviour == "sleeps" {
            repository.replace("goldgate.yaml", "timeout: 60s", "timeout: 300ms");
        }
        let ran = record(&repository, &server, &[]);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (code, ""),
            "{behaviour}: {}",
            ran.stderr
        );
        assert!(ran.stderr.contains(said), "{behaviour}: {}", ran.stderr);
        assert_eq!(repository.read(RECORDING), before, "{behaviour}");
    }
    repository.write("goldgate.yaml", config("loop", EXCHANGES, "openai"));
    let ran = repository.goldgate(&["record", "--quiet", "--upstream", "http://127.0.0.1:1"]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(
        ran.stderr
            .contains("the model's server http://127.0.0.1:1 cannot be reached: "),
        "{}",
        ran.stderr
    );
    assert_eq!(repository.read(RECORDING), before);
}

fn broken_recordings() {
    let server = ModelServer::new();
    let repository = recorded("loop", "openai", &server);
    let whole = repository.read(RECORDING);
    let without =
        r#"{ "status": "completed", "outputs": { "text": "Monday" }, "intermediate": {} }"#;
    let cut = &whole[..whole.len() / 2];
    let wrong = whole.replace("\"wire\": \"openai\"", "\"wire\": \"telex\"");
    let ended = whole.replace("\"status\": \"completed\"", "\"status\": \"timeout\"");
    for (text, said) in [
        (
            without,
            "has no exchanges, which `goldgate record` and targets with `capture` keep",
        ),
        (cut, "cannot be read"),
        (wrong.as_str(), "telex"),
        (ended.as_str(), "did not complete"),
        ("[]", "cannot be read"),
    ] {
        repository.write(RECORDING, text);
        let (ran, report) = run(&repository, &[]);
        assert_eq!(ran.code, 3, "{said}: {}{}", ran.stdout, ran.stderr);
        assert!(report.to_string().contains(said), "{said}: {report}");
    }
    repository.remove("runs");
    let (ran, report) = run(&repository, &[]);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(
        report
            .to_string()
            .contains("sample 0 is not recorded in runs"),
        "{report}"
    );
}

fn other_requests() {
    let server = ModelServer::new();
    let repository = recorded("loop", "openai", &server);
    for (behaviour, said) in [
        (
            "elsewhere",
            "the agent sends a request to api.example.com, but a replay has no network",
        ),
        ("nowhere", "has no path /v2/x"),
        ("messages", "of anthropic comes after the 2 recorded"),
    ] {
        repository.write("goldgate.yaml", config(behaviour, EXCHANGES, "openai"));
        let (ran, report) = run(&repository, &[]);
        assert_eq!(ran.code, 3, "{behaviour}: {}{}", ran.stdout, ran.stderr);
        assert!(report.to_string().contains(said), "{behaviour}: {report}");
    }
}

fn configs() {
    let good = config("loop", EXCHANGES, "openai");
    let target = "capture: openai";
    let (before, _) = good.split_once("  mine: ").unwrap();
    let served = format!("{before}  mine: {{ http: \"http://127.0.0.1:1\", capture: openai }}\n");
    for (from, to, said) in [
        (
            good.as_str(),
            served.as_str(),
            "capture has no effect without command",
        ),
        (
            EXCHANGES,
            "{ replay: exchanges, target: mine }",
            "write { replay: exchanges, target: NAME, recordings: FOLDER }",
        ),
        (
            EXCHANGES,
            "{ target: mine, recordings: runs }",
            "write { replay: exchanges, target: NAME, recordings: FOLDER }",
        ),
        (
            EXCHANGES,
            "{ replay: exchanges, target: other, recordings: runs }",
            "no target is called \"other\"",
        ),
        (
            EXCHANGES,
            "{ replay: exchanges, target: mine, recordings: ../runs }",
            "../runs",
        ),
        (
            EXCHANGES,
            "{ replay: exchanges, target: mine, recordings: runs, record: true }",
            "have no effect with replay: exchanges",
        ),
        (
            EXCHANGES,
            "{ target: mine }",
            "the deterministic tier must not call the target \"mine\"",
        ),
        (
            "model: { target: mine }",
            "model: { replay: exchanges, target: mine, recordings: runs }",
            "move it to deterministic",
        ),
        (
            target,
            "protocol: oneshot",
            "does not record its model calls",
        ),
        (
            target,
            "capture: openai, protocol: jsonl",
            "protocol has no effect with capture",
        ),
        (target, "capture: telex", "telex"),
    ] {
        let repository = repository("loop", "openai");
        assert!(good.contains(from), "{from}");
        repository.write("goldgate.yaml", good.replace(from, to));
        let ran = repository.goldgate(&["run"]);
        assert_eq!(ran.code, 2, "{to}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains(said), "{to}: {}", ran.stderr);
    }
}

fn nothing_to_record() {
    let repository = repository("loop", "openai");
    repository.write(
        "goldgate.yaml",
        config("loop", "{ replay: runs }", "openai").replace("capture: openai, ", ""),
    );
    let ran = repository.goldgate(&["record"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("write the agent's command after --"),
        "{}",
        ran.stderr
    );
    repository.write(
        "goldgate.yaml",
        "version: 1\nsuites:\n  - id: chat\n    kind: tool_use\n    policy: seed\n    path: cases.json\n    tier: [model]\n    agents:\n      \
         support: { model: { target: mine }, fingerprint: [agent.txt] }\ntargets:\n  mine: { command: [\"true\"] }\n",
    );
    let ran = repository.goldgate(&["record", "--", "true"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("use --out DIR"), "{}", ran.stderr);
    let ran = repository.goldgate(&["record", "--timeout", "soon", "--", "true"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("such as 60s"), "{}", ran.stderr);
}

fn command_line() {
    let server = ModelServer::new();
    let repository = repository("broken", "openai");
    let program = std::env::current_exe().unwrap().display().to_string();
    let ran = record(
        &repository,
        &server,
        &["--out", "new", "--", &program, super::AGENT, "messages"],
    );
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "new/support/happy_path-0.json\n"),
        "{}",
        ran.stderr
    );
    let record: serde_json::Value =
        serde_json::from_str(&repository.read("new/support/happy_path-0.json")).unwrap();
    assert_eq!(
        record["intermediate"]["exchanges"]
            .as_array()
            .unwrap()
            .len(),
        2,
        "{record}"
    );
    assert_eq!(record["outputs"]["text"], "Order 17 was sent on Monday.");
}

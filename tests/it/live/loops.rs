//! Loops of an actor and a critic through the real program: what is asked in turn, what ends them, and what is kept.

use std::process::Stdio;
use std::thread;
use std::time::Duration;

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::endpoint::{Answer, Endpoint};
use super::{KEY, kept, metrics, model, report};
use crate::repository::{Repository, program};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a loop ends with the attempt that satisfies its critic, and replays to the same numbers",
            satisfied,
        ),
        trial(
            "a loop that never satisfies its critic ends at its most attempts, with a report of what is unmet",
            never,
        ),
        trial(
            "a critic that contradicts itself lets nothing pass",
            contradicts,
        ),
        trial(
            "a critic's broken answer is mended, and one that cannot be is no satisfaction",
            unreadable,
        ),
        trial(
            "an actor's answer without a document is an attempt that no critic sees",
            wordy,
        ),
        trial(
            "a loop that breaks off is inconclusive, and its attempts are kept",
            broken,
        ),
        trial(
            "a budget that ends within a loop keeps the attempts before it",
            budget,
        ),
        trial("a run that is killed asks no finished loop again", killed),
        trial("another critic is another question to the cache", cache),
        trial(
            "a critic that has no effect or cannot be called is refused before any call",
            refused,
        ),
    ]
}

const ORIGINAL: &str = "{\\rtf1\\ansi\nAcme Ltd (\"Acme\") is the Supplier.\\par\n1. Delivery. The Supplier delivers.\\par\n\
    2. Exclusivity. The Customer buys from nobody else.\\par\n3. Price. Acme's price list applies, as under Section 1.\\par\n}\n";
const HALF: &str = "{\\rtf1\\ansi\nBorealis plc (\"Borealis\") is the Supplier.\\par\n1. Delivery. The Supplier delivers.\\par\n\
    2. Price. Acme's price list applies, as under Section 1.\\par\n}\n";
const INSTRUCTIONS: &str = r#"{
  "entities": [ { "from": "Acme Ltd", "to": "Borealis plc", "defined_as": ["Acme"], "becomes": ["Borealis"] } ],
  "clauses": [ { "operation": "delete", "section": "2" } ]
}"#;

fn whole() -> String {
    HALF.replace("Acme's", "Borealis's")
}

fn repository(endpoint: &Endpoint, cases: usize, more: &str) -> Repository {
    let repository = Repository::empty();
    let address = endpoint.address();
    let config = format!(
        "version: 1\nsuites:\n  - id: contracts\n    kind: revision\n    policy: seed\n    path: golden\n    tier: [deterministic, model]\n    \
         agents:\n      loop:\n        deterministic: {{ replay: runs }}\n        model: {{ target: writer, critic: judge }}\n        fingerprint: {{ none: written by hand }}\n\
         targets:\n  writer: {{ provider: openai, model: pen-1, base_url: \"{address}/v1\", api_key_env: LIVE_KEY, timeout: 20s }}\n  \
         judge: {{ provider: anthropic, model: gavel-1, base_url: \"{address}\", api_key_env: LIVE_KEY, timeout: 20s }}\n{more}"
    );
    repository.write("goldgate.yaml", config);
    for case in 0..cases {
        repository.write(
            &format!("golden/cases/c{case}/instructions.json"),
            INSTRUCTIONS,
        );
        repository.write(&format!("golden/cases/c{case}/original.rtf"), ORIGINAL);
    }
    repository
}

/// Who is asked, and for which attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Asked {
    Actor(usize),
    Critic(usize),
}

fn asked(prompt: &str) -> Asked {
    if prompt.starts_with("Judge whether") {
        let number = prompt.split("\"attempt_number\": ").nth(1).unwrap();
        return Asked::Critic(number.split(',').next().unwrap().parse().unwrap());
    }
    assert!(prompt.starts_with("Revise a contract"), "{prompt}");
    Asked::Actor(if prompt.contains("your last") { 2 } else { 1 })
}

fn revised(document: &str) -> Answer {
    Answer::Says(json!({ "document": document }).to_string())
}

fn judged(satisfied: bool, overall: f64) -> Value {
    let (score, unmet) = if satisfied {
        (1.0, json!([]))
    } else {
        (0.85, json!(["entity_substitution"]))
    };
    let suggestion = json!({
        "reason": "the name is left", "target_section": "Section 2", "action": "edit", "instruction": "replace the name Acme",
        "text_to_insert": "", "constraints": [],
    });
    json!({
        "overall_score": overall, "satisfied": satisfied, "unmet_criteria": unmet, "attempt_number": 1, "red_flags": [],
        "criteria_scores": {
            "entity_substitution": score, "jurisdiction_transformation": 1.0, "liability_reallocation": 1.0,
            "clause_operations": 1.0, "legal_coherence": 1.0,
        },
        "feedback": if satisfied { "" } else { "One name Acme is left in the price clause." },
        "revision_suggestions": if satisfied { json!([]) } else { json!([suggestion]) },
    })
}

fn no() -> Answer {
    Answer::Says(judged(false, 0.8125).to_string())
}

fn yes() -> Answer {
    Answer::Says(judged(true, 1.0).to_string())
}

fn case(report: &Value) -> &Value {
    &report["suites"][0]["agents"][0]["cases"][0]
}

fn artifact(repository: &Repository) -> Value {
    serde_json::from_str(&repository.read("out/contracts/attempts/loop-c0-0.json")).unwrap()
}

fn recorded(repository: &Repository) -> Value {
    serde_json::from_str(&repository.read("runs/loop/c0.json")).unwrap()
}

const KEEP: [&str; 6] = ["--format", "json", "--record", "runs", "--out", "out"];

/// Replays what was recorded: the same numbers and the same artifact.
fn replays(repository: &Repository, lived: &Value) {
    let before = artifact(repository);
    let ran = repository.goldgate(&[
        "run",
        "-v",
        "--tier",
        "deterministic",
        "--format",
        "json",
        "--out",
        "out",
    ]);
    let replayed = report(&ran);
    assert_eq!(metrics(&replayed), metrics(lived));
    assert_eq!(case(&replayed)["checks"], case(lived)["checks"]);
    assert_eq!(case(&replayed)["read_layer"], case(lived)["read_layer"]);
    assert_eq!(artifact(repository), before);
}

fn satisfied() {
    let endpoint = Endpoint::new(Duration::ZERO, |_, prompt| match asked(prompt) {
        Asked::Actor(1) => revised(HALF),
        Asked::Actor(_) => revised(&whole()),
        Asked::Critic(1) => no(),
        Asked::Critic(_) => yes(),
    });
    let repository = repository(&endpoint, 1, "");
    let ran = model(&repository, &KEEP);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let lived = report(&ran);
    assert_eq!(
        (endpoint.requests(), &lived["usage"]["calls"]),
        (4, &json!(4))
    );
    let found = metrics(&lived);
    assert_eq!(
        (
            &found["satisfied"],
            &found["attempts"],
            &found["critic_valid"]
        ),
        (&json!(1.0), &json!(2.0), &json!(1.0))
    );
    let record = recorded(&repository);
    assert_eq!(
        record["intermediate"]["node_transitions"],
        json!(["actor", "critic", "actor", "critic"])
    );
    assert_eq!(
        record["metrics"]["tokens_per_node"],
        json!({ "actor": 240, "critic": 240 })
    );
    assert_eq!(record["metrics"]["total_tokens"], json!(480));
    assert_eq!(
        (
            &record["provenance"]["target"],
            &record["provenance"]["model"]
        ),
        (&json!("writer"), &json!("pen-1+gavel-1"))
    );
    let attempts = record["outputs"]["attempts"].as_array().unwrap().clone();
    assert_eq!(
        (
            attempts.len(),
            &attempts[0]["document"],
            &attempts[1]["document"]
        ),
        (2, &json!(HALF), &json!(whole()))
    );
    assert_eq!(attempts[0]["evaluation"], judged(false, 0.8125));
    // The second time the actor is shown what it made, and what was said of it.
    let bodies = endpoint.bodies();
    let second = bodies
        .iter()
        .filter(|body| body["model"] == "pen-1")
        .nth(1)
        .unwrap()["messages"]
        .to_string();
    assert!(
        second.contains("One name Acme is left") && second.contains("Your last revision"),
        "{second}"
    );
    let kept = artifact(&repository);
    assert_eq!(
        (&kept["satisfied"], &kept["failure"], &kept["attempts_made"]),
        (&json!(true), &Value::Null, &json!(2))
    );
    assert_eq!(
        (
            &kept["attempts"][0]["satisfied"],
            &kept["attempts"][0]["document"]
        ),
        (&json!(false), &json!(HALF))
    );
    replays(&repository, &lived);
}

fn never() {
    let endpoint = Endpoint::new(Duration::ZERO, |_, prompt| match asked(prompt) {
        Asked::Actor(_) => revised(HALF),
        Asked::Critic(_) => no(),
    });
    let repository = repository(&endpoint, 1, "");
    let ran = model(&repository, &KEEP);
    let lived = report(&ran);
    assert_eq!((ran.code, endpoint.requests()), (0, 6), "{}", ran.stderr);
    assert_eq!(
        (&metrics(&lived)["satisfied"], &metrics(&lived)["attempts"]),
        (&json!(0.0), &json!(3.0))
    );
    let failure = artifact(&repository)["failure"].clone();
    assert_eq!(
        failure["unmet"][0]["criterion"],
        json!("entity_substitution")
    );
    assert!(failure["unmet"][0]["next"].is_string(), "{failure}");
    assert!(
        failure["why"]
            .as_str()
            .unwrap()
            .contains("does not reach the quality gate"),
        "{failure}"
    );
    replays(&repository, &lived);
    // The most attempts are the config's.
    repository.replace(
        "goldgate.yaml",
        "path: golden\n",
        "path: golden\n    scoring: { max_attempts: 1, rationale: quick }\n",
    );
    model(&repository, &[]);
    assert_eq!(endpoint.requests(), 8);
}

fn contradicts() {
    // It says yes below the gate.
    let endpoint = Endpoint::new(Duration::ZERO, |_, prompt| match asked(prompt) {
        Asked::Actor(_) => revised(HALF),
        Asked::Critic(_) => Answer::Says(judged(true, 0.5).to_string()),
    });
    let repository = repository(&endpoint, 1, "");
    let lived = report(&model(&repository, &KEEP));
    assert_eq!(
        (endpoint.requests(), &metrics(&lived)["attempts"]),
        (6, &json!(3.0))
    );
    replays(&repository, &lived);
}

fn unreadable() {
    let mended = format!(
        "Here it is:\n```json\n{}\n```",
        judged(true, 1.0)
            .to_string()
            .replace("}}", "},}")
            .replacen('}', ",}", 1)
    );
    let endpoint = Endpoint::new(Duration::ZERO, move |_, prompt| match asked(prompt) {
        Asked::Actor(1) => revised(HALF),
        Asked::Actor(_) => revised(&whole()),
        Asked::Critic(1) => {
            Answer::Says("Not yet: the price clause still names the old supplier.".to_owned())
        }
        Asked::Critic(_) => Answer::Says(mended.clone()),
    });
    let repository = repository(&endpoint, 1, "");
    let lived = report(&model(&repository, &KEEP));
    assert_eq!(
        endpoint.requests(),
        4,
        "what cannot be read does not satisfy, what can be mended does"
    );
    let found = metrics(&lived);
    assert_eq!(
        (&found["satisfied"], &found["critic_valid"]),
        (&json!(1.0), &json!(0.5))
    );
    // Nothing is invented by a critic of whom nothing can be read.
    assert_eq!(
        (&found["invented_failures"], &found["missed_failures"]),
        (&json!(0.0), &json!(0.0))
    );
    let checks = case(&lived)["checks"].as_array().unwrap().clone();
    let told = checks
        .iter()
        .find(|check| check["name"] == "consistent")
        .unwrap();
    assert!(
        told["detail"]
            .as_str()
            .unwrap()
            .contains("attempt 1: the critic's answer"),
        "{told}"
    );
    let attempts = recorded(&repository)["outputs"]["attempts"].clone();
    assert_eq!(
        attempts[0]["evaluation"],
        json!("Not yet: the price clause still names the old supplier.")
    );
    assert_eq!(
        attempts[1]["read"],
        json!({ "document": "strict", "evaluation": "repaired" })
    );
    assert_eq!(case(&lived)["read_layer"], json!([2]));
    // Words help an actor, too.
    let bodies = endpoint.bodies();
    let second = bodies
        .iter()
        .filter(|body| body["model"] == "pen-1")
        .nth(1)
        .unwrap()
        .to_string();
    assert!(second.contains("still names the old supplier"), "{second}");
    replays(&repository, &lived);
}

fn wordy() {
    let endpoint = Endpoint::new(Duration::ZERO, |number, prompt| match asked(prompt) {
        Asked::Actor(_) if number == 0 => Answer::Says("I cannot revise contracts.".to_owned()),
        Asked::Actor(_) => revised(&whole()),
        Asked::Critic(_) => yes(),
    });
    let repository = repository(&endpoint, 1, "");
    let lived = report(&model(&repository, &KEEP));
    assert_eq!(
        (endpoint.requests(), &metrics(&lived)["attempts"]),
        (3, &json!(2.0))
    );
    let attempts = recorded(&repository)["outputs"]["attempts"].clone();
    assert_eq!(
        (&attempts[0]["document"], &attempts[0]["text"]),
        (&Value::Null, &json!("I cannot revise contracts."))
    );
    let schema = case(&lived)["checks"].as_array().unwrap()[0].clone();
    assert_eq!(
        (&schema["name"], &schema["passed"]),
        (&json!("schema"), &json!(false))
    );
    replays(&repository, &lived);
}

fn broken() {
    let endpoint = Endpoint::new(Duration::ZERO, |_, prompt| match asked(prompt) {
        Asked::Actor(1) => revised(HALF),
        Asked::Actor(_) => Answer::Status(
            400,
            "",
            r#"{"error": {"message": "the prompt is too long"}}"#,
        ),
        Asked::Critic(_) => no(),
    });
    let repository = repository(&endpoint, 1, "");
    let ran = model(&repository, &KEEP);
    let lived = report(&ran);
    assert_eq!((ran.code, endpoint.requests()), (0, 3), "{}", ran.stderr);
    let case = case(&lived);
    assert_eq!(
        (&case["samples_completed"], &case["excluded"]),
        (&json!(0), &json!(true))
    );
    assert_eq!(
        lived["failures"],
        json!([]),
        "what broke off is nobody's failure"
    );
    let record = recorded(&repository);
    let attempts = record["outputs"]["attempts"].as_array().unwrap().clone();
    assert_eq!(
        (&record["status"], attempts.len(), &attempts[0]["document"]),
        (&json!("error"), 1, &json!(HALF))
    );
    let why = record["error"].as_str().unwrap().to_owned();
    assert!(
        why.starts_with("attempt 2, actor: ") && why.contains("the prompt is too long"),
        "{why}"
    );
    let kept = artifact(&repository);
    assert_eq!(
        (&kept["satisfied"], &kept["attempts"][0]["document"]),
        (&json!(false), &json!(HALF))
    );
    let why = kept["failure"]["why"].as_str().unwrap().to_owned();
    assert!(
        why.starts_with("the loop broke off: error: attempt 2, actor: "),
        "{why}"
    );
    replays(&repository, &lived);
}

fn budget() {
    let endpoint = Endpoint::new(Duration::ZERO, |_, prompt| match asked(prompt) {
        Asked::Actor(_) => revised(HALF),
        Asked::Critic(_) => no(),
    });
    // A call takes 120 tokens: two fit.
    let repository = repository(&endpoint, 1, "budget: { max_tokens: 300 }\n");
    let ran = model(&repository, &KEEP);
    let lived = report(&ran);
    assert_eq!((ran.code, endpoint.requests()), (3, 2), "{}", ran.stderr);
    assert_eq!(
        (&case(&lived)["excluded"], &lived["failures"]),
        (&json!(true), &json!([]))
    );
    assert!(
        lived["notes"]
            .to_string()
            .contains("1 sample was not made: the token budget is used up"),
        "{lived}"
    );
    let kept = artifact(&repository);
    assert_eq!(
        (&kept["attempts_made"], &kept["attempts"][0]["document"]),
        (&json!(1), &json!(HALF))
    );
    assert!(
        kept["failure"]["why"]
            .as_str()
            .unwrap()
            .contains("the token budget is used up"),
        "{kept}"
    );
}

fn killed() {
    let endpoint = Endpoint::new(Duration::from_millis(30), |_, prompt| match asked(prompt) {
        Asked::Actor(1) => revised(HALF),
        Asked::Actor(_) => revised(&whole()),
        Asked::Critic(1) => no(),
        Asked::Critic(_) => yes(),
    });
    let repository = repository(&endpoint, 12, "");
    repository.replace(
        "goldgate.yaml",
        "timeout: 20s",
        "timeout: 20s, concurrency: 2",
    );
    let mut command = program(&repository.path(""));
    command
        .args(["run", "-v", "--tier", "model", "--quiet"])
        .env("LIVE_KEY", KEY)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    while kept(&repository) < 3 {
        thread::sleep(Duration::from_millis(2));
    }
    // SIGKILL: the program is told nothing.
    child.kill().unwrap();
    child.wait().unwrap();
    thread::sleep(Duration::from_millis(200));
    let (finished, before) = (kept(&repository), endpoint.requests());
    assert!((3..12).contains(&finished), "{finished}");
    let lived = report(&model(&repository, &["--format", "json", "--resume"]));
    assert_eq!(
        endpoint.requests() - before,
        4 * (12 - finished),
        "a loop that was on its way begins anew, others do not"
    );
    assert_eq!(
        (&metrics(&lived)["satisfied"], kept(&repository)),
        (&json!(1.0), 0)
    );
}

fn cache() {
    let endpoint = Endpoint::new(Duration::ZERO, |_, prompt| match asked(prompt) {
        Asked::Actor(_) => revised(&whole()),
        Asked::Critic(_) => yes(),
    });
    let repository = repository(&endpoint, 1, "");
    let mut expected = 0;
    for (from, to, calls) in [
        ("gavel-1", "gavel-1", 2),
        ("gavel-1", "gavel-1", 0),
        ("gavel-1", "gavel-2", 2),
        (
            "path: golden\n",
            "path: golden\n    scoring: { quality_gate: 0.9, rationale: stricter }\n",
            2,
        ),
        ("gavel-2", "gavel-2", 0),
    ] {
        repository.replace("goldgate.yaml", from, to);
        model(&repository, &["--cache"]);
        expected += calls;
        assert_eq!(endpoint.requests(), expected, "{to}");
    }
}

fn refused() {
    let endpoint = Endpoint::new(Duration::ZERO, |_, _| yes());
    let rows = [
        (
            "critic: judge",
            "critic: jury",
            "no target is called \"jury\"",
        ),
        (
            "{ replay: runs }",
            "{ replay: runs, critic: judge }",
            "critic has no effect with replay",
        ),
        (
            "      loop:\n",
            "      loop:\n        role: critic\n",
            "critic has no effect on an agent with the role critic",
        ),
        (
            "kind: revision",
            "kind: evidence",
            "critic has no effect on kind evidence",
        ),
        (
            "{ replay: runs }",
            "{ target: own, critic: judge }",
            "the deterministic tier must not call the target \"judge\"",
        ),
    ];
    for (from, to, told) in rows {
        let repository = repository(
            &endpoint,
            1,
            "  own: { command: [\"/bin/sh\", \"agent.sh\"] }\n",
        );
        repository.write("golden/cases/c0/revised.rtf", HALF);
        repository.replace("goldgate.yaml", from, to);
        let ran = repository.goldgate_with(&["run", "-v"], &[("LIVE_KEY", KEY)]);
        assert_eq!(
            (ran.code, endpoint.requests()),
            (2, 0),
            "{to}: {}{}",
            ran.stdout,
            ran.stderr
        );
        assert!(ran.stderr.contains(told), "{to}: {}", ran.stderr);
    }
}

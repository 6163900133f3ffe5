//! `goldgate record`, targets with `capture`, and the replay of recorded exchanges: an agent that knows its model's server from its
//! environment alone, against a server of the test's own behind both wire formats.

pub mod agent;
mod later_changes;
mod model_server;
mod own_part;
mod refusals;

use std::time::Duration;

use libtest_mimic::Trial;
use serde_json::{Value, json};

use self::agent::AGENT;
use self::model_server::ModelServer;
use crate::golden_changes::{commit_all, git};
use crate::live::endpoint::{Answer, Endpoint};
use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    let mut trials = refusals::trials();
    trials.extend(later_changes::trials());
    trials.extend(own_part::trials());
    trials.extend([
        trial("an agent with OpenAI's wire format is recorded, and its code replays to the same numbers without a model", openai),
        trial("an agent with Anthropic's wire format is recorded, and its code replays to the same numbers without a model", anthropic),
        trial("a streamed answer reaches the agent piece by piece while it is recorded, and replays", streamed),
        trial("an agent is started for each message of a conversation, and its code replays to the same numbers", conversation),
        trial("the code of an agent replays what a simulated user said in the recording", simulated_user),
        trial("spans that an agent exports are recorded as its tool calls", spans),
        trial("recordings have the names of headers, and the endpoint alone has the key", secrets),
        trial("the endpoint answers only its own program, which has the key of the sample", strangers),
        trial("a key with a line break at its end is in no recording of a program that prints it", line_break),
        trial("a program sees the variables that are passed on, and in a replay none with a key", variables),
        trial("the code of an agent replays its exchanges, and a changed answer is red", changed_answer),
        trial(
            "code that breaks a case is the cause, and no advice on the prompt is given",
            broken_code,
        ),
        trial("code that prints its answer no more does not answer what its model said", unprinted_answer),
        trial("an agent that never prints answers what its model said last, also in a replay", never_printed),
        trial("a request that is not recorded gives no verdict and names the difference", changed_request),
        trial("against a base commit, changed code that asks the same is graded and not stale", changed_code),
        trial("against a base commit, an edited exchange gives no verdict", edited_exchange),
        trial("explain and review show what the replayed code answers, and what the recordings say", shown),
        trial("a query in the command is an argument, and nothing is read", argument),
        trial("all recorded samples of a case are replayed, each with its own exchanges", samples),
    ]);
    trials
}

const CASES: &str = r#"[{ "category": "happy_path", "query": "Where is my order 17?", "expected_tools": ["find_order"],
  "expected_output_contains": ["Monday"] }]"#;

/// The file with the recording of the only case.
pub const RECORDING: &str = "runs/support/happy_path-0.json";

/// A config whose agent behaves like this. `source` is its source in the deterministic tier.
pub fn config(behaviour: &str, source: &str, capture: &str) -> String {
    let program = std::env::current_exe().unwrap();
    format!(
        "version: 1\nbaseline: baselines/latest.json\nsuites:\n  - id: chat\n    kind: tool_use\n    policy: seed\n    path: cases.json\n    agents:\n      \
         support:\n        deterministic: {source}\n        model: {{ target: mine }}\n        fingerprint: [agent.txt]\ntargets:\n  \
         mine: {{ command: [{:?}, {AGENT}, {behaviour}], capture: {capture}, timeout: 60s, env: [ACME_REGION, ACME_TOKEN] }}\n",
        program.display().to_string()
    )
}

pub const EXCHANGES: &str = "{ replay: exchanges, target: mine, recordings: runs }";

/// A repository with one case, and an agent that behaves like this.
pub fn repository(behaviour: &str, capture: &str) -> Repository {
    let repository = Repository::empty();
    repository.write("cases.json", CASES);
    repository.write("agent.txt", "version 1\n");
    repository.write("goldgate.yaml", config(behaviour, EXCHANGES, capture));
    repository
}

pub fn record(repository: &Repository, server: &ModelServer, more: &[&str]) -> Ran {
    let upstream = server.address();
    let arguments = [&["record", "--quiet", "--upstream", &upstream], more].concat();
    repository.goldgate_with(
        &arguments,
        &[("OPENAI_API_KEY", KEY), ("ANTHROPIC_API_KEY", KEY)],
    )
}

pub const KEY: &str = "sesame-open-0123456789";

/// A repository whose only case is recorded.
pub fn recorded(behaviour: &str, capture: &str, server: &ModelServer) -> Repository {
    let repository = repository(behaviour, capture);
    let ran = record(&repository, server, &[]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, format!("{RECORDING}\n").as_str()),
        "{}",
        ran.stderr
    );
    repository
}

pub fn run(repository: &Repository, more: &[&str]) -> (Ran, Value) {
    let ran = repository.goldgate(&[&["run", "--format", "json", "--quiet"], more].concat());
    let report = serde_json::from_str(&ran.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", ran.stdout, ran.stderr));
    (ran, report)
}

fn metrics(report: &Value) -> Value {
    let metrics = report["suites"][0]["agents"][0]["metrics"]
        .as_object()
        .unwrap()
        .clone();
    metrics
        .into_iter()
        .map(|(name, metric)| (name, metric["value"].clone()))
        .collect()
}

fn record_of(repository: &Repository) -> Value {
    serde_json::from_str(&repository.read(RECORDING)).unwrap()
}

/// Records, grades the recording, and replays the code: both have the same numbers, and no further call is made.
fn same_numbers(behaviour: &str, capture: &str) -> (Repository, Value) {
    let server = ModelServer::new();
    let repository = recorded(behaviour, capture, &server);
    let calls = server.requests().len();
    let (ran, replayed) = run(&repository, &[]);
    assert_eq!(
        (ran.code, replayed["verdict"].as_str()),
        (0, Some("pass")),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    repository.write(
        "goldgate.yaml",
        config(behaviour, "{ replay: runs }", capture),
    );
    let (_, graded) = run(&repository, &[]);
    assert_eq!(metrics(&replayed), metrics(&graded));
    assert_eq!(server.requests().len(), calls, "a replay calls nobody");
    let record = record_of(&repository);
    (repository, record)
}

const TALK: &str = r#"[{ "category": "happy_path", "turns": [
  { "user": "Where is my order 17?", "answer": { "all_of": ["Monday"] } },
  { "user": "And now?", "trajectory": { "mode": "exact", "tools": [{ "name": "find_order" }] } } ] }]"#;

fn conversation() {
    let server = ModelServer::new();
    let repository = repository("talk", "openai");
    repository.write("cases.json", TALK);
    let ran = record(&repository, &server, &[]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, format!("{RECORDING}\n").as_str()),
        "{}",
        ran.stderr
    );
    let record = record_of(&repository);
    let calls = record["intermediate"]["tool_calls"].as_array().unwrap();
    let turns: Vec<&Value> = calls.iter().map(|call| &call["turn"]).collect();
    assert_eq!(
        turns,
        [&json!(0), &json!(1)],
        "a call that a request repeats is not made again: {record}"
    );
    let answers = record["outputs"]["turns"].as_array().unwrap();
    assert_eq!(
        (answers.len(), &answers[1]["user"]),
        (2, &json!("And now?"))
    );
    let (calls, exchanges) = (
        &record["metrics"]["model_calls"],
        record["intermediate"]["exchanges"].as_array(),
    );
    assert_eq!((calls, exchanges.map(Vec::len)), (&json!(4), Some(4)));
    let (ran, replayed) = run(&repository, &[]);
    assert_eq!(
        (ran.code, replayed["verdict"].as_str()),
        (0, Some("pass")),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    repository.write(
        "goldgate.yaml",
        config("talk", "{ replay: runs }", "openai"),
    );
    let (_, graded) = run(&repository, &[]);
    assert_eq!(metrics(&replayed), metrics(&graded));
}

/// The server of a model that plays a user.
pub fn user() -> Endpoint {
    Endpoint::new(Duration::ZERO, |_, _| Answer::Says("And now?".to_owned()))
}

/// Gives a repository one case, with a user that this server plays.
pub fn talks_with(repository: &Repository, user: &Endpoint) {
    let case = json!([{ "category": "happy_path", "query": "Where is my order 17?", "answer": { "all_of": ["Monday"] },
        "user": { "model": "customer", "goal": "Know it.", "max_turns": 2 } }]);
    repository.write("cases.json", case.to_string());
    let customer = format!(
        "  customer: {{ provider: openai, model: u-1, base_url: \"{}/v1\" }}\n",
        user.address()
    );
    repository.replace(
        "goldgate.yaml",
        "targets:\n",
        &format!("targets:\n{customer}"),
    );
}

/// A program that is recorded with a simulated user: its code runs again with what the user said in the recording.
fn simulated_user() {
    let (server, user) = (ModelServer::new(), user());
    let repository = repository("talk", "openai");
    talks_with(&repository, &user);
    let ran = record(&repository, &server, &[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let (calls, asked) = (server.requests().len(), user.requests());
    let record = record_of(&repository);
    assert_eq!(
        (&record["outputs"]["turns"][1]["user"], asked),
        (&json!("And now?"), 1)
    );
    let (ran, replayed) = run(&repository, &[]);
    assert_eq!(
        (ran.code, replayed["verdict"].as_str()),
        (0, Some("pass")),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert_eq!(
        (server.requests().len(), user.requests()),
        (calls, asked),
        "a replay calls nobody"
    );
    let recorded = repository.read(RECORDING);
    repository.remove(RECORDING);
    let (ran, _) = run(&repository, &[]);
    assert_eq!(
        ran.code, 3,
        "the agent did not fail, its recording is missing: {}{}",
        ran.stdout, ran.stderr
    );
    repository.write(RECORDING, recorded);
    repository.replace("goldgate.yaml", EXCHANGES, "{ replay: runs }");
    let (_, graded) = run(&repository, &[]);
    assert_eq!(metrics(&replayed), metrics(&graded));
}

fn openai() {
    let (_, record) = same_numbers("loop", "openai");
    assert_eq!(
        record["outputs"],
        json!({ "text": "Order 17 was sent on Monday." })
    );
    let call = &record["intermediate"]["tool_calls"][0];
    assert_eq!(
        (&call["name"], &call["arguments"]["order"], &call["result"]),
        (&json!("find_order"), &json!(17), &json!("sent on Monday"))
    );
    let metrics = &record["metrics"];
    assert_eq!(
        (
            &metrics["input_tokens"],
            &metrics["output_tokens"],
            &metrics["model_calls"]
        ),
        (&json!(60), &json!(10), &json!(2))
    );
    let exchange = &record["intermediate"]["exchanges"][1];
    assert_eq!(
        (&exchange["wire"], &exchange["request"]["path"]),
        (&json!("openai"), &json!("/chat/completions"))
    );
    assert_eq!(exchange["response"]["status"], json!(200));
    let digests = ["agent_sha256", "input_sha256"]
        .map(|key| record["provenance"][key].as_str().map(str::len));
    assert_eq!(digests, [Some(64), Some(64)], "{record}");
}

fn anthropic() {
    let (_, record) = same_numbers("messages", "anthropic");
    assert_eq!(
        record["outputs"]["text"],
        json!("Order 17 was sent on Monday.")
    );
    assert_eq!(
        record["intermediate"]["tool_calls"][0]["name"],
        json!("find_order")
    );
    assert_eq!(
        (
            &record["metrics"]["input_tokens"],
            &record["metrics"]["model_calls"]
        ),
        (&json!(24), &json!(2))
    );
}

fn streamed() {
    let server = ModelServer::new();
    let repository = repository("named", "openai");
    repository.write("agent.txt", "stream");
    repository.replace("cases.json", "[\"find_order\"]", "[]");
    let ran = record(&repository, &server, &[]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let record = record_of(&repository);
    assert_eq!(
        record["outputs"]["text"],
        json!("Order 17 was sent on Monday.")
    );
    assert_eq!(
        (
            &record["metrics"]["input_tokens"],
            &record["metrics"]["output_tokens"]
        ),
        (&json!(11), &json!(6))
    );
    // In a replay both parts of the stream are there at once.
    repository.write("agent.txt", "stream-replayed");
    let (ran, report) = run(&repository, &[]);
    assert_eq!(
        (ran.code, report["verdict"].as_str()),
        (0, Some("pass")),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

fn spans() {
    let server = ModelServer::new();
    let repository = recorded("spans", "otlp", &server);
    let record = record_of(&repository);
    assert_eq!(
        record["intermediate"]["tool_calls"][0]["name"],
        json!("find_order"),
        "{record}"
    );
    assert_eq!(server.requests().len(), 0);
    let time = &record["metrics"]["total_latency_ms"];
    assert!(
        time.as_u64().is_some_and(|time| time > 0),
        "the time of the program, which asked no model: {time}"
    );
    let (ran, report) = run(&repository, &[]);
    assert_eq!(
        (ran.code, report["verdict"].as_str()),
        (0, Some("pass")),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

fn secrets() {
    let server = ModelServer::new();
    let repository = recorded("loop", "openai", &server);
    let text = repository.read(RECORDING);
    for secret in [KEY, "sk-goldgate-", "secret-cookie", "Bearer"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    let names = &record_of(&repository)["intermediate"]["exchanges"][0]["request"]["headers"];
    assert_eq!(
        *names,
        json!([
            "authorization",
            "content-length",
            "content-type",
            "host",
            "x-run"
        ])
    );
    let heads = server.requests();
    assert!(
        heads
            .iter()
            .all(|head| head.contains(&format!("authorization: Bearer {KEY}"))),
        "{heads:?}"
    );
}

/// Five requests with the key come before the two of the agent's loop.
fn strangers() {
    let server = ModelServer::new();
    let repository = recorded("strangers", "openai", &server);
    let recording = record_of(&repository);
    let exchanges = recording["intermediate"]["exchanges"].as_array().unwrap();
    assert_eq!(
        (exchanges.len(), server.requests().len()),
        (7, 7),
        "{recording}"
    );
    let paths: Vec<&Value> = exchanges
        .iter()
        .map(|exchange| &exchange["request"]["path"])
        .collect();
    assert_eq!(paths, [&json!("/chat/completions"); 7]);
    let text = recording.to_string();
    assert!(
        !text.contains("sk-goldgate-") && !text.contains(KEY),
        "{text}"
    );
    for head in server.requests() {
        assert!(
            head.contains(KEY) && !head.contains("sk-goldgate-"),
            "{head}"
        );
    }
    let repository = self::repository("without-key", "openai");
    let ran = record(&repository, &server, &[]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    let says = "the request lacks the key of this sample; send the value of OPENAI_API_KEY";
    assert!(ran.stderr.contains(says), "{}", ran.stderr);
}

/// `gh secret set NAME < file` keeps the line break of the file.
fn line_break() {
    let server = ModelServer::new();
    for (value, expected) in [("t-12345678\n", "[redacted]"), ("t-1234\n", "t-1234")] {
        let repository = repository("variables", "openai");
        let cases = CASES
            .replace("[\"find_order\"]", "[]")
            .replace("Monday", "north");
        repository.write("cases.json", cases);
        let ran = repository.goldgate_with(
            &["record", "--quiet", "--upstream", &server.address()],
            &[
                ("OPENAI_API_KEY", KEY),
                ("ACME_REGION", "north"),
                ("ACME_TOKEN", value),
            ],
        );
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        let text = repository.read(RECORDING);
        assert!(text.contains(&format!("north {expected}")), "{text}");
        assert!(!text.contains("t-12345678"), "{text}");
    }
}

fn variables() {
    let server = ModelServer::new();
    let repository = repository("variables", "openai");
    repository.write(
        "cases.json",
        CASES
            .replace("[\"find_order\"]", "[]")
            .replace("Monday", "placeholder"),
    );
    let known = [
        ("OPENAI_API_KEY", KEY),
        ("ACME_REGION", "north"),
        ("ACME_TOKEN", "t-12345678"),
        ("OTHER", "no"),
    ];
    let ran = repository.goldgate_with(
        &["record", "--quiet", "--upstream", &server.address()],
        &known,
    );
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let printed = record_of(&repository)["outputs"]["text"].to_string();
    assert!(
        printed.starts_with("\"sk-[redacted] north [redacted]"),
        "{printed}"
    );
    assert!(
        ran.stderr.contains("1 sample without a call of a model"),
        "{}",
        ran.stderr
    );
    let ran = repository.goldgate_with(&["run", "--quiet", "--record", "again"], &known);
    let again = repository.read("again/support/happy_path-0.json");
    assert!(
        again.contains("sk-[redacted] north  http://127.0.0.1:"),
        "{again}{}",
        ran.stderr
    );
}

/// What a case says about its replay, and the code of the run.
fn replay_after(from: &str, to: &str) -> (Ran, Value) {
    let server = ModelServer::new();
    let repository = repository("named", "openai");
    repository.write("agent.txt", from);
    assert_eq!(record(&repository, &server, &[]).code, 0);
    let calls = server.requests().len();
    repository.write("agent.txt", to);
    let (ran, report) = run(&repository, &[]);
    assert_eq!(server.requests().len(), calls, "a replay calls nobody");
    (ran, report)
}

fn changed_answer() {
    let (ran, report) = replay_after("loop", "other-answer");
    assert_eq!(
        (ran.code, report["verdict"].as_str()),
        (1, Some("fail")),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert!(
        report["failures"].to_string().contains("someday"),
        "{}",
        report["failures"]
    );
}

fn broken_code() {
    const ADVICE: &str = "make the prompt";
    let server = ModelServer::new();
    let repository = repository("named", "openai");
    repository.write("agent.txt", "loop");
    assert_eq!(record(&repository, &server, &[]).code, 0);
    assert_eq!(repository.goldgate(&["run", "--update-baseline"]).code, 0);
    repository.remove(".git");
    commit_all(&repository);
    repository.write("agent.txt", "other-answer");
    let ran = against(&repository, "HEAD");
    assert!(
        ran.code == 1 && ran.stdout.contains("agent.txt: ") && !ran.stdout.contains(ADVICE),
        "{}",
        ran.stdout
    );
    // The control: without a base commit nothing is known of the cause.
    let ran = repository.goldgate(&["run"]);
    assert!(ran.stdout.contains(ADVICE), "{}", ran.stdout);
}

fn unprinted_answer() {
    let (ran, report) = replay_after("loop", "unprinted");
    assert_eq!(
        (ran.code, report["verdict"].as_str()),
        (1, Some("fail")),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

fn never_printed() {
    let (repository, record) = same_numbers("unprinted", "openai");
    assert_eq!(
        record["outputs"]["text"],
        json!("Order 17 was sent on Monday.")
    );
    assert_eq!(record["intermediate"]["answered_by"], json!(["model"]));
    // A recording of an older goldgate does not tell which it was.
    let mut record = record;
    record["intermediate"]
        .as_object_mut()
        .unwrap()
        .remove("answered_by");
    repository.write(RECORDING, record.to_string());
    repository.write("goldgate.yaml", config("unprinted", EXCHANGES, "openai"));
    let (ran, report) = run(&repository, &[]);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(
        report
            .to_string()
            .contains("does not state whether it printed its answer"),
        "{report}"
    );
}

fn changed_request() {
    let system = "messages[0].content was \"Help customers of Acme.\", and is \"Be brief.\"";
    let result = "messages[3].content was \"sent on Monday\", and is \"lost\"";
    for (behaviour, difference) in [("other-system", system), ("other-result", result)] {
        let (ran, report) = replay_after("loop", behaviour);
        assert_eq!(ran.code, 3, "{behaviour}: {}{}", ran.stdout, ran.stderr);
        let text = report.to_string().replace("\\\"", "\"");
        assert!(text.contains(difference), "{behaviour}: {text}");
        assert!(
            text.contains("record again: `goldgate "),
            "{behaviour}: {text}"
        );
    }
}

/// A repository whose recorded state with its baseline is committed.
fn committed() -> Repository {
    let server = ModelServer::new();
    let repository = recorded("loop", "openai", &server);
    repository.remove(".git");
    let ran = repository.goldgate(&["run", "--quiet", "--update-baseline"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    git(&repository.path(""), &["init", "-q", "-b", "main"]);
    repository.write(".gitignore", ".goldgate/\n");
    git(&repository.path(""), &["add", "-A"]);
    git(&repository.path(""), &["commit", "-q", "-m", "base"]);
    repository
}

fn path() -> (&'static str, String) {
    ("PATH", std::env::var("PATH").unwrap())
}

/// The run against a base commit, as a person reads it, with recordings as they are.
pub fn against(repository: &Repository, base: &str) -> Ran {
    let (name, value) = path();
    repository.goldgate_on_commit(&["run", "--dirty", "--base", base], &[(name, &value)])
}

fn against_base(repository: &Repository) -> (Ran, Value) {
    let (name, value) = path();
    let ran = repository.goldgate_on_commit(
        &[
            "run", "--format", "json", "--quiet", "--dirty", "--base", "HEAD",
        ],
        &[(name, &value)],
    );
    let report = serde_json::from_str(&ran.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", ran.stdout, ran.stderr));
    (ran, report)
}

fn changed_code() {
    let repository = committed();
    repository.write("agent.txt", "version 2\n");
    let (ran, report) = against_base(&repository);
    assert_eq!(
        (ran.code, report["verdict"].as_str()),
        (0, Some("pass")),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    // The control: recordings that are graded themselves are of the older agent.
    repository.replace("goldgate.yaml", EXCHANGES, "{ replay: runs }");
    git(
        &repository.path(""),
        &["commit", "-q", "-a", "-m", "graded"],
    );
    repository.write("agent.txt", "version 3\n");
    let (ran, report) = against_base(&repository);
    assert_eq!(ran.code, 3, "{report}{}", ran.stderr);
}

fn edited_exchange() {
    let repository = committed();
    repository.replace(
        RECORDING,
        "Order 17 was sent on Monday.\",",
        "Order 17 was sent last Monday.\",",
    );
    let (ran, report) = against_base(&repository);
    let why = report["not_gateable"].to_string();
    let says = "1 recording is stale: it was edited after it was made (happy_path-0.json)";
    assert!(ran.code == 3 && why.contains(says), "{why}{}", ran.stderr);
    // Who states its digest anew is listed.
    assert_eq!(repository.stamp("goldgate.yaml").code, 0);
    let (_, report) = against_base(&repository);
    let changes = report["golden_changes"].to_string();
    let says = "1 recording of `chat/support` was recorded again, and the files that it depends on did not change: happy_path-0.json";
    assert!(changes.contains(says), "{changes}");
}

fn shown() {
    let repository = committed();
    repository.write("goldgate.yaml", config("other-answer", EXCHANGES, "openai"));
    let (name, value) = path();
    let ran = repository.goldgate_with(&["explain", "happy_path-0"], &[(name, &value)]);
    assert!(
        ran.code == 0 && ran.stdout.contains("someday"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert!(
        ran.stdout.contains("on Monday"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let ran = repository.goldgate_with(&["review"], &[(name, &value)]);
    assert!(
        ran.code == 0 && ran.stdout.contains("newly failing"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    repository.write("goldgate.yaml", config("loop", EXCHANGES, "openai"));
    let ran = repository.goldgate(&["selftest"]);
    assert!(
        ran.stdout.contains("mutants of recordings: ") && !ran.stdout.contains(": 0 of 0"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

fn argument() {
    let server = ModelServer::new();
    let repository = repository("loop", "openai");
    repository.replace("goldgate.yaml", "loop]", "loop, \"{query}\"]");
    let ran = record(&repository, &server, &[]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let (ran, report) = run(&repository, &[]);
    assert_eq!(
        (ran.code, report["verdict"].as_str()),
        (0, Some("pass")),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

fn samples() {
    let server = ModelServer::new();
    let repository = repository("loop", "openai");
    let ran = record(&repository, &server, &["--samples", "2"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "runs/support/happy_path-0/\n"),
        "{}",
        ran.stderr
    );
    let (_, report) = run(&repository, &[]);
    assert_eq!(
        report["suites"][0]["agents"][0]["cases"][0]["samples_completed"],
        json!(2),
        "{report}"
    );
    repository.remove("runs/support/happy_path-0/0.json");
    let (_, report) = run(&repository, &[]);
    assert_eq!(
        report["suites"][0]["agents"][0]["cases"][0]["samples_completed"],
        json!(1),
        "{report}"
    );
    assert!(
        report
            .to_string()
            .contains("sample 0 is not recorded in runs"),
        "{report}"
    );
}

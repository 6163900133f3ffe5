//! The model tier through the real program, against endpoints behind the vendors' wire formats.

mod affected;
mod budgets;
mod called_off;
mod compared;
pub mod endpoint;
mod judges;
mod kept;
mod loops;
mod programs;
mod secrets;
mod simulated_users;
mod stale;
mod talks;

use std::collections::BTreeSet;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use libtest_mimic::Trial;
use serde_json::{Value, json};

use self::endpoint::{Answer, Endpoint};
use crate::repository::{Ran, Repository, program};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    let mut trials = stale::trials();
    trials.extend(affected::trials());
    trials.extend(budgets::trials());
    trials.extend(called_off::trials());
    trials.extend(compared::trials());
    trials.extend(kept::trials());
    trials.extend(secrets::trials());
    trials.extend(loops::trials());
    trials.extend(judges::trials());
    trials.extend(programs::trials());
    trials.extend(talks::trials());
    trials.extend(simulated_users::trials());
    trials.extend([
        trial(
            "a model behind OpenAI's wire format is asked, graded and recorded, and replays to the same numbers",
            openai,
        ),
        trial(
            "a model behind Anthropic's wire format is asked, graded and recorded, and replays to the same numbers",
            anthropic,
        ),
        trial("a command answers in the model tier and in the deterministic one", command),
        trial("the deterministic tier refuses a live model in words, before any call", refused),
        trial("a case that has no words is not put to a model", wordless),
        trial("without a key nothing runs, in one line, with exit code 0 and not green", no_key),
        trial(
            "a regression of the model tier exits 0 and is unmistakable, and blocks where that is asked for",
            regression,
        ),
        trial("600 samples against a faulty endpoint are all there, none lost and none twice", faulty),
        trial("a run that is killed loses no finished sample", killed),
        trial("two of three samples that agree spare the third, and the report says so", spared),
        trial("a baseline and a recording keep every sample", not_spared),
        trial("without early stopping every sample is made, and no other is said to be missing", without_early_stop),
        trial("a cached answer is used once for its own sample alone", cache),
        trial("keys are in no recording, no report and no output", redacted),
    ]);
    trials
}

pub const GOOD: &str = r#"{"findings": [{"category": "change_of_control", "severity": "high", "title": "Change of control",
  "description": "Needs prior consent.", "citations": [{"file": "lease.md", "section": null, "quote": "a change of control"}]}],
  "gaps": [{"type": "Missing_Doc", "description": "x"}]}"#;
const BAD: &str = r#"{"findings": [{"category": "termination", "severity": "high", "title": "Termination",
  "description": "Nothing else.", "citations": []}], "gaps": []}"#;

pub fn config(wire: &str, endpoint: &Endpoint, more: &str) -> String {
    let base = match wire {
        "openai" => format!("{}/v1", endpoint.address()),
        _ => endpoint.address(),
    };
    format!(
        "version: 1\nbaseline: baselines/latest.json\nsuites:\n  - id: contracts\n    kind: findings\n    policy: seed\n    path: golden\n    \
         tier: [deterministic, model]\n    agents:\n      legal:\n        deterministic: {{ replay: golden/runs }}\n        \
         model: {{ target: live }}\n        fingerprint: [prompts/legal.md]\ntargets:\n  live: {{ provider: {wire}, model: model-1, base_url: \"{base}\", \
         api_key_env: LIVE_KEY, concurrency: 32, timeout: 20s, stall: 1s }}\n{more}"
    )
}

fn live(endpoint: &Endpoint, wire: &str, more: &str) -> Repository {
    let repository = Repository::small();
    repository.write("goldgate.yaml", config(wire, endpoint, more));
    repository
}

pub const KEY: &str = "sesame-open-0123456789";

fn model(repository: &Repository, arguments: &[&str]) -> Ran {
    let arguments = [&["run", "-v", "--tier", "model", "--quiet"], arguments].concat();
    repository.goldgate_with(&arguments, &[("LIVE_KEY", KEY)])
}

fn report(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", ran.stdout, ran.stderr))
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

fn wire(name: &str) {
    // Three different answers, so that a median has something to choose.
    let endpoint = Endpoint::new(Duration::ZERO, |number, _| {
        Answer::Says([GOOD, BAD, GOOD][number % 3].to_owned())
    });
    let repository = live(&endpoint, name, "");
    let ran = model(
        &repository,
        &[
            "--samples",
            "3",
            "--format",
            "json",
            "--record",
            "golden/runs",
        ],
    );
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let lived = report(&ran);
    assert_eq!(
        (
            endpoint.requests(),
            &lived["usage"]["calls"],
            &lived["usage"]["input_tokens"]
        ),
        (3, &json!(3), &json!(300))
    );
    assert_eq!(
        lived["suites"][0]["agents"][0]["cases"][0]["samples_completed"],
        json!(3)
    );
    let ran = repository.goldgate(&["run", "-v", "--format", "json"]);
    let replayed = report(&ran);
    assert_eq!(metrics(&replayed), metrics(&lived));
    let cases = |report: &Value| {
        let mut cases = report["suites"][0]["agents"][0]["cases"].clone();
        for case in cases.as_array_mut().unwrap() {
            case["baseline_state"] = Value::Null;
            case.as_object_mut().unwrap().remove("recording");
        }
        cases
    };
    assert_eq!(cases(&replayed), cases(&lived));
    let record: Value =
        serde_json::from_str(&repository.read("golden/runs/legal/lease/0.json")).unwrap();
    assert_eq!(
        (
            &record["provenance"]["target"],
            &record["provenance"]["model"]
        ),
        (&json!("live"), &json!("model-1"))
    );
    assert!(
        record["inputs"]["prompt"]
            .as_str()
            .unwrap()
            .contains("On a change of control"),
        "{record}"
    );
}

fn openai() {
    wire("openai");
}

fn anthropic() {
    wire("anthropic");
}

fn command() {
    let repository = Repository::small();
    let run = repository
        .read("golden/runs/legal/lease.json")
        .replace('\n', " ");
    repository.write(
        "agent.sh",
        format!("cat > /dev/null\ncat <<'END'\n{run}\nEND\n"),
    );
    let config = "version: 1\nsuites:\n  - id: contracts\n    kind: findings\n    policy: seed\n    path: golden\n    tier: [deterministic, model]\n    \
                  agents:\n      legal: { deterministic: { target: mine }, model: { target: mine } }\ntargets:\n  \
                  mine: { command: [\"/bin/sh\", \"agent.sh\"], protocol: oneshot }\n";
    repository.write("goldgate.yaml", config);
    repository.remove("golden/runs");
    for tier in ["deterministic", "model"] {
        let ran =
            repository.goldgate(&["run", "-v", "--tier", tier, "--format", "json", "--quiet"]);
        assert_eq!(ran.code, 0, "{tier}: {}", ran.stderr);
        assert_eq!(metrics(&report(&ran))["finding_recall"], json!(1.0));
    }
}

fn refused() {
    let endpoint = Endpoint::new(Duration::ZERO, |_, _| Answer::Says(GOOD.to_owned()));
    let repository = live(&endpoint, "openai", "");
    repository.replace(
        "goldgate.yaml",
        "deterministic: { replay: golden/runs }",
        "deterministic: { target: live }",
    );
    let ran = repository.goldgate_with(&["run", "-v"], &[("LIVE_KEY", KEY)]);
    assert_eq!((ran.code, endpoint.requests()), (2, 0), "{}", ran.stderr);
    assert!(
        ran.stderr
            .contains("the deterministic tier must not call the target \"live\""),
        "{}",
        ran.stderr
    );
}

fn no_key() {
    let endpoint = Endpoint::new(Duration::ZERO, |_, _| Answer::Says(GOOD.to_owned()));
    let repository = live(&endpoint, "openai", "");
    let ran = repository.goldgate(&["run", "-v", "--tier", "model"]);
    assert_eq!((ran.code, endpoint.requests()), (0, 0), "{}", ran.stderr);
    let said: Vec<&str> = ran
        .stdout
        .lines()
        .filter(|line| line.contains("LIVE_KEY"))
        .collect();
    assert_eq!(said.len(), 1, "{}", ran.stdout);
    assert!(!ran.stdout.contains("gates pass"), "{}", ran.stdout);
    let blocking = repository.goldgate(&["run", "-v", "--tier", "model", "--blocking"]);
    assert_eq!(blocking.code, 3, "nothing ran is no verdict");
}

fn regression() {
    let endpoint = Endpoint::new(Duration::ZERO, |_, _| Answer::Says(BAD.to_owned()));
    let repository = live(&endpoint, "anthropic", "");
    let ran = model(&repository, &["--samples", "3", "--format", "markdown"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        ran.stdout
            .contains(" + 1 more gate. There is no baseline yet;"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout
            .contains(" makes one. This does not block the merge.**"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout.contains("[!WARNING]") || ran.stdout.contains("[!CAUTION]"),
        "{}",
        ran.stdout
    );
    assert_eq!(
        model(&repository, &["--samples", "3", "--blocking"]).code,
        1
    );
}

/// So many contracts, each with its own text.
fn cases(repository: &Repository, count: usize) {
    repository.remove("golden/runs");
    for number in 0..count {
        let text =
            format!("# Lease {number}\n\nOn a change of control the landlord has to approve.\n");
        repository.write(&format!("golden/contracts/c{number}.md"), text);
        let expected = repository
            .read("golden/expected/legal/lease.json")
            .replace("lease.md", &format!("c{number}.md"));
        repository.write(&format!("golden/expected/legal/c{number}.json"), expected);
    }
    repository.remove("golden/expected/legal/lease.json");
    repository.replace(
        "goldgate.yaml",
        "deterministic: { replay: golden/runs }\n        ",
        "",
    );
    repository.replace(
        "goldgate.yaml",
        "tier: [deterministic, model]",
        "tier: [model]",
    );
}

/// An answer that names the case, so that one that went to another would be seen.
fn named(prompt: &str) -> String {
    let name = prompt
        .split("# Lease ")
        .nth(1)
        .and_then(|rest| rest.split('\n').next())
        .unwrap_or_default()
        .to_owned();
    GOOD.replace("lease.md", &format!("c{name}.md"))
}

fn faulty() {
    let endpoint = Endpoint::new(Duration::from_millis(20), |number, prompt| {
        match (number * 37) % 100 {
            0..5 => Answer::Status(
                429,
                "retry-after: 1\r\n",
                r#"{"error": {"message": "slow down"}}"#,
            ),
            5 => Answer::Status(503, "", "<html>bad gateway</html>"),
            6 => Answer::Status(
                529,
                "",
                r#"{"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}"#,
            ),
            7 => Answer::Reset,
            8 => Answer::Truncated,
            9 => Answer::Page,
            10 if number < 200 => Answer::Stalls,
            _ => Answer::Says(named(prompt)),
        }
    });
    let repository = live(&endpoint, "openai", "");
    cases(&repository, 200);
    let ran = model(
        &repository,
        &["--samples", "3", "--format", "json", "--record", "recorded"],
    );
    let report = report(&ran);
    let cases = report["suites"][0]["agents"][0]["cases"]
        .as_array()
        .unwrap()
        .clone();
    assert_eq!(cases.len(), 200);
    let stalled = |case: &&Value| case["samples_completed"] != json!(3);
    let lost: usize = cases.iter().filter(stalled).count();
    assert_eq!(
        metrics(&report)["citation_accuracy"],
        json!(1.0),
        "no answer went to another case"
    );
    assert_eq!(report["usage"]["calls"], json!(endpoint.requests()));
    let completed: u64 = cases
        .iter()
        .map(|case| case["samples_completed"].as_u64().unwrap())
        .sum();
    assert_eq!(
        completed as usize,
        endpoint.answered(),
        "every full answer is graded once ({lost} cases lost a sample)"
    );
    assert_eq!(completed, 600, "{}", ran.stderr);
}

fn killed() {
    let endpoint = Endpoint::new(Duration::from_millis(30), |_, prompt| {
        Answer::Says(named(prompt))
    });
    let repository = live(&endpoint, "anthropic", "");
    cases(&repository, 40);
    repository.replace("goldgate.yaml", "concurrency: 32", "concurrency: 4");
    let arguments = [
        "run",
        "-v",
        "--tier",
        "model",
        "--quiet",
        "--samples",
        "3",
        "--format",
        "json",
    ];
    let mut resumed = false;
    for round in 1..=3 {
        let mut command = program(&repository.path(""));
        command
            .args(arguments)
            .env("LIVE_KEY", KEY)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if resumed {
            command.arg("--resume");
        }
        let mut child = command.spawn().unwrap();
        let before = endpoint.answered();
        while endpoint.answered() < before + 20 {
            thread::sleep(Duration::from_millis(2));
        }
        // SIGKILL: the program is told nothing.
        child.kill().unwrap();
        child.wait().unwrap();
        resumed = true;
        // What the endpoint has answered may be on its way still: one answer for each of the four places.
        assert!(
            kept(&repository) + 4 * round >= 20 * round,
            "{} kept in round {round}",
            kept(&repository)
        );
    }
    // What was on its way to the killed program is still answered.
    thread::sleep(Duration::from_millis(300));
    let (before, kept_before) = (endpoint.answered(), kept(&repository));
    let ran = model(
        &repository,
        &["--samples", "3", "--format", "json", "--resume"],
    );
    let report = report(&ran);
    let cases = report["suites"][0]["agents"][0]["cases"]
        .as_array()
        .unwrap()
        .clone();
    let sum = |key: &str| {
        cases
            .iter()
            .map(|case| case[key].as_u64().unwrap_or(0))
            .sum::<u64>() as usize
    };
    assert_eq!(
        sum("samples_completed") + sum("samples_spared"),
        120,
        "nothing is lost"
    );
    let asked = endpoint.answered() - before;
    assert_eq!(
        asked + kept_before,
        sum("samples_completed"),
        "what was finished is not asked again"
    );
    assert_eq!(metrics(&report)["finding_recall"], json!(1.0));
    assert_eq!(
        kept(&repository),
        0,
        "a run that is at its end leaves nothing behind"
    );
}

/// How many finished samples are kept of a run that is not at its end.
fn kept(repository: &Repository) -> usize {
    let Ok(shelves) = std::fs::read_dir(repository.path(".goldgate/unfinished")) else {
        return 0;
    };
    let files = shelves.flatten().flat_map(|files| {
        std::fs::read_dir(files.path())
            .into_iter()
            .flatten()
            .flatten()
    });
    files
        .filter(|file| {
            file.file_name()
                .to_str()
                .is_some_and(|name| name.ends_with(".json") && !name.starts_with('.'))
        })
        .count()
}

fn spared() {
    let endpoint = Endpoint::new(Duration::from_millis(5), |_, _| {
        Answer::Says(GOOD.to_owned())
    });
    let repository = live(&endpoint, "openai", "");
    repository.replace("goldgate.yaml", "concurrency: 32", "concurrency: 1");
    let ran = model(&repository, &["--samples", "3", "--format", "json"]);
    let report = report(&ran);
    assert_eq!(
        (endpoint.requests(), &report["usage"]["saved"]),
        (2, &json!(1))
    );
    let case = &report["suites"][0]["agents"][0]["cases"][0];
    assert_eq!(
        (
            &case["samples_planned"],
            &case["samples_completed"],
            &case["excluded"]
        ),
        (&json!(3), &json!(2), &json!(false))
    );
    assert_eq!(case["samples_spared"], json!(1));
    assert_eq!(report["verdict"], json!("pass"));
}

fn not_spared() {
    let endpoint = Endpoint::new(Duration::from_millis(5), |_, _| {
        Answer::Says(GOOD.to_owned())
    });
    let repository = live(&endpoint, "openai", "");
    repository.replace("goldgate.yaml", "concurrency: 32", "concurrency: 1");
    assert_eq!(
        model(&repository, &["--samples", "3", "--update-baseline"]).code,
        0
    );
    assert_eq!(endpoint.requests(), 3);
    assert_eq!(
        model(&repository, &["--samples", "3", "--record", "recorded"]).code,
        0
    );
    assert_eq!(endpoint.requests(), 6);
}

fn without_early_stop() {
    let endpoint = Endpoint::new(Duration::from_millis(5), |_, _| {
        Answer::Says(GOOD.to_owned())
    });
    let repository = live(&endpoint, "openai", "");
    repository.replace("goldgate.yaml", "concurrency: 32", "concurrency: 1");
    let stopped = model(&repository, &["--samples", "3"]);
    assert_eq!(endpoint.requests(), 2);
    assert!(
        stopped
            .stdout
            .contains("unknown for 1 case, because sampling stopped early"),
        "{}",
        stopped.stdout
    );
    assert!(
        !stopped.stdout.contains("a sample is missing"),
        "{}",
        stopped.stdout
    );
    repository.replace(
        "goldgate.yaml",
        "version: 1",
        "version: 1\nearly_stop: false",
    );
    let whole = model(&repository, &["--samples", "3"]);
    assert_eq!(endpoint.requests(), 5);
    assert!(
        whole.stdout.contains("1 of 1 in every sample"),
        "{}",
        whole.stdout
    );
    assert!(!whole.stdout.contains("stopped early"), "{}", whole.stdout);
}

fn cache() {
    let endpoint = Endpoint::new(Duration::ZERO, |_, _| Answer::Says(GOOD.to_owned()));
    let repository = live(&endpoint, "openai", "");
    let arguments = [
        "--samples",
        "3",
        "--format",
        "json",
        "--record",
        "recorded",
        "--cache",
    ];
    model(&repository, &arguments);
    assert_eq!(endpoint.requests(), 3, "samples never share one answer");
    let second = report(&model(&repository, &arguments));
    assert_eq!(
        (endpoint.requests(), &second["usage"]["cached"]),
        (3, &json!(3))
    );
    let record: Value =
        serde_json::from_str(&repository.read("recorded/legal/lease/1.json")).unwrap();
    assert_eq!(record["provenance"]["cache"], json!("hit"));
    repository.replace("golden/contracts/lease.md", "landlord", "owner");
    model(&repository, &arguments);
    assert_eq!(endpoint.requests(), 6, "another prompt is another question");
    let bodies: BTreeSet<String> = endpoint.bodies().iter().map(ToString::to_string).collect();
    assert_eq!(bodies.len(), 2);
}

fn wordless() {
    let endpoint = Endpoint::new(Duration::ZERO, |_, _| Answer::Says(GOOD.to_owned()));
    let repository = live(&endpoint, "openai", "");
    repository.replace("goldgate.yaml", "kind: findings", "kind: property");
    repository.write(
        "golden/cases/rounding.json",
        r#"{ "variants": [ { "name": "comments", "transform": "comments added" } ] }"#,
    );
    let ran = model(&repository, &[]);
    assert!(
        ran.code == 2
            && ran.stderr.contains(
                "golden/cases/rounding.json: the case \"rounding\" has no prompt for a model"
            ),
        "{ran:?}"
    );
    assert_eq!(endpoint.requests(), 0);
}

fn redacted() {
    let leaky = GOOD.replace(
        "Needs prior consent.",
        &format!("Needs consent; {KEY} and sk-ant-0123456789abcdefgh."),
    );
    let endpoint = Endpoint::new(Duration::ZERO, move |_, _| Answer::Says(leaky.clone()));
    let repository = live(&endpoint, "anthropic", "");
    let ran = model(
        &repository,
        &["--format", "json", "--record", "recorded", "--out", "out"],
    );
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        endpoint.keys().iter().all(|key| key == KEY),
        "the key is sent"
    );
    let record = repository.read("recorded/legal/lease.json");
    assert!(
        record.contains("Needs consent; [redacted] and sk-ant-[redacted]."),
        "{record}"
    );
    let written = [
        "report.json",
        "report.md",
        "report.html",
        "junit.xml",
        "summary.json",
        "proposed-baseline.json",
    ];
    let all = written
        .iter()
        .map(|file| repository.read(&format!("out/{file}")))
        .collect::<String>();
    for text in [&record, &all, &ran.stdout, &ran.stderr] {
        assert!(!text.contains(KEY) && !text.contains("sk-ant-0123456789abcdefgh"));
    }
}

//! What an agent calls is part of it, as its files are: recordings that name another target have to be recorded again, and new ones are
//! expected then. So are new ones for another input, and in place of stale ones.

use goldgate::files::sha256_hex;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::{bases, edits, goldgate};
use crate::golden_changes::{commit_all, recording};
use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "another model without new recordings needs an approval",
            other_model,
        ),
        trial(
            "half an emoji in a recording hides nothing that it states",
            half_an_emoji,
        ),
        trial("new recordings of another model are listed", recorded_again),
        trial(
            "another model needs an approval also while the agent calls nothing",
            calls_nothing,
        ),
        trial(
            "recordings of another model need an approval when the agent calls its target again",
            calls_again,
        ),
        trial(
            "a target that got another name before it got another model is recognised by the model",
            renamed_first,
        ),
        trial(
            "new recordings of the old model need an approval",
            old_model_again,
        ),
        trial(
            "an old digest of the input explains no changed recording where stale recordings are noted",
            old_input,
        ),
        trial(
            "the other digest of the same input explains no changed recording",
            other_digest,
        ),
        trial(
            "another user of conversations without new recordings needs an approval",
            other_user,
        ),
        trial(
            "a target that is called otherwise, and not which model it is, needs new recordings too",
            other_calls,
        ),
        trial(
            "another key, other limits and another name of a target need no new recordings",
            same_calls,
        ),
        trial(
            "stale recordings of the base commit may be made again",
            stale_before,
        ),
        trial(
            "recordings of unchanged files take the digests of a longer list",
            other_list,
        ),
        trial(
            "a sample may have the content of another if the rest of its case is new",
            by_chance,
        ),
        trial(
            "a later date shows that a recording with the same answer was made again",
            later_date,
        ),
    ]
}

const TARGETS: &str = "\
targets:
  m: { provider: openai, model: big-1, temperature: 0.2, api_key_env: KEY }
  customer: { provider: openai, model: user-1, api_key_env: KEY }
";

/// A dozen leases, recorded by `goldgate run --record`; some with a user that a model plays.
pub fn called() -> Repository {
    let repository = bases::base("digests");
    let config = repository.read("goldgate.yaml").replace(
        "        deterministic: { replay: runs }\n",
        "        deterministic: { replay: runs }\n        model: { target: m }\n",
    );
    repository.write("goldgate.yaml", config + TARGETS);
    for case in 0..12 {
        edit(&repository, case, |run| {
            run["provenance"]["target"] = json!("m");
            run["provenance"]["model"] = json!("big-1-2026-01-01");
            run["provenance"]["input_sha256"] = Value::Null;
        });
    }
    repository
}

pub fn committed(repository: &Repository) {
    let ran = goldgate(
        repository,
        &["run", "--update-baseline", "--quiet"].map(str::to_owned),
    );
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    commit_all(repository);
}

pub fn edit(repository: &Repository, case: usize, change: impl Fn(&mut Value)) {
    let mut run: Value = serde_json::from_str(&repository.read(&recording(case))).unwrap();
    change(&mut run);
    repository.write(
        &recording(case),
        serde_json::to_string_pretty(&run).unwrap(),
    );
}

pub fn answer_again(repository: &Repository) {
    (0..12).for_each(|case| {
        repository.replace(
            &recording(case),
            "Needs prior approval.",
            "Needs approval first.",
        )
    });
}

pub fn judged(repository: &Repository) -> Ran {
    goldgate(repository, &["run", "--base", "HEAD"].map(str::to_owned))
}

pub fn is(ran: &Ran, code: i32, words: &str) {
    assert!(
        ran.code == code && ran.stdout.contains(words),
        "{words}: {}{}",
        ran.stdout,
        ran.stderr
    );
}

pub const NOT_AGAIN: &str =
    "12 recordings of `contracts/legal` recorded with the target m, which has changed since";

fn other_model() {
    let repository = called();
    committed(&repository);
    repository.replace("goldgate.yaml", "model: big-1", "model: tiny-1");
    is(&judged(&repository), 1, NOT_AGAIN);
    // A recording that only says so was not recorded again.
    (0..12).for_each(|case| {
        edit(&repository, case, |run| {
            run["provenance"]["model"] = json!("tiny-1")
        })
    });
    is(&judged(&repository), 1, NOT_AGAIN);
}

/// A strict reader of JSON refuses what JavaScript leaves of a text that it cuts within an emoji, and a number beyond all limits.
fn half_an_emoji() {
    for odd in [r#""\ud83d""#, "1e999"] {
        let repository = called();
        for case in 0..12 {
            let run = repository.read(&recording(case));
            repository.write(
                &recording(case),
                run.replacen('{', &format!("{{ \"notes\": {odd},"), 1),
            );
        }
        committed(&repository);
        repository.replace("goldgate.yaml", "model: big-1", "model: tiny-1");
        is(&judged(&repository), 1, NOT_AGAIN);
    }
}

/// The model tier replays for a while, or is gone.
fn calls_nothing() {
    for source in ["        model: { replay: runs }\n", ""] {
        let repository = called();
        committed(&repository);
        repository.replace("goldgate.yaml", "        model: { target: m }\n", source);
        is(
            &judged(&repository),
            0,
            "suites.contracts.agents.legal.model",
        );
        repository.replace("goldgate.yaml", "model: big-1", "model: tiny-1");
        is(&judged(&repository), 1, NOT_AGAIN);
        // One step after the other.
        repository.replace("goldgate.yaml", "model: tiny-1", "model: big-1");
        commit_all(&repository);
        repository.replace("goldgate.yaml", "model: big-1", "model: tiny-1");
        is(&judged(&repository), 1, NOT_AGAIN);
    }
}

fn calls_again() {
    for (model, code) in [("tiny-1", 1), ("big-1", 0)] {
        let repository = called();
        repository.replace("goldgate.yaml", "        model: { target: m }\n", "");
        let config = repository.read("goldgate.yaml");
        let config: Vec<&str> = config
            .lines()
            .filter(|line| !line.starts_with("  m: "))
            .collect();
        repository.write("goldgate.yaml", config.join("\n") + "\n");
        committed(&repository);
        repository.replace(
            "goldgate.yaml",
            "{ replay: runs }\n",
            "{ replay: runs }\n        model: { target: m }\n",
        );
        let target =
            format!("targets:\n  m: {{ provider: openai, model: {model}, api_key_env: KEY }}\n");
        repository.replace("goldgate.yaml", "targets:\n", &target);
        is(
            &judged(&repository),
            code,
            if code == 1 {
                NOT_AGAIN
            } else {
                "agents.legal.model"
            },
        );
    }
}

/// The recordings still name the target as it was called before.
fn renamed_first() {
    let repository = called();
    committed(&repository);
    repository.replace("goldgate.yaml", "{ target: m }", "{ target: n }");
    repository.replace("goldgate.yaml", "  m: {", "  n: {");
    let ran = judged(&repository);
    assert!(
        ran.code == 0 && !ran.stdout.contains("[needs approval]"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    commit_all(&repository);
    repository.replace("goldgate.yaml", "model: big-1", "model: tiny-1");
    is(
        &judged(&repository),
        1,
        "12 recordings of `contracts/legal` recorded with the target n, which has changed since",
    );
}

/// Somebody recorded before the model changed.
fn old_model_again() {
    let repository = called();
    committed(&repository);
    repository.replace("goldgate.yaml", "model: big-1", "model: tiny-1");
    answer_again(&repository);
    is(&judged(&repository), 1, NOT_AGAIN);
    (0..12).for_each(|case| {
        edit(&repository, case, |run| {
            run["provenance"]["model"] = json!("tiny-1-2026-02-02")
        })
    });
    is(
        &judged(&repository),
        0,
        "12 recordings of `contracts/legal` changed; what the agent calls changed too",
    );
}

fn old_input() {
    let repository = bases::base("digests");
    repository.replace(
        "goldgate.yaml",
        "        fingerprint: ['prompts/**']\n",
        "        fingerprint: ['prompts/**']\n        stale: warn\n",
    );
    (0..12).for_each(|case| {
        edit(&repository, case, |run| {
            run["provenance"]["input_sha256"] = json!("0".repeat(64))
        })
    });
    committed(&repository);
    answer_again(&repository);
    is(
        &judged(&repository),
        1,
        "12 recordings of `contracts/legal` changed, but none of the agent's files",
    );
}

/// A fixture repository with other line ends in one file has two digests, and both are accepted.
fn other_digest() {
    let repository = bases::base("evidence");
    let root = "fixtures/repos/buggy_calc";
    repository.write(&format!("{root}/run.bat"), "cd calc\r\npython core.py\r\n");
    let task: Value =
        serde_json::from_str(&repository.read("fixtures/evidence/tasks/buggy_calc.json")).unwrap();
    let digest = |ends: &str| {
        let files = edits::files(&repository, root).into_iter().map(|file| {
            let text = repository.read(&file).replace("\r\n", ends);
            format!(
                "\n{}  {}",
                sha256_hex(text.as_bytes()),
                file.strip_prefix(root).unwrap().trim_start_matches('/')
            )
        });
        sha256_hex(
            (json!({ "question": task["question"] }).to_string() + &files.collect::<String>())
                .as_bytes(),
        )
    };
    let with = |digest: &str, result: &str| {
        for file in edits::files(&repository, "fixtures/evidence/runs/inspector/buggy_calc") {
            let mut run: Value = serde_json::from_str(&repository.read(&file)).unwrap();
            run["provenance"]["input_sha256"] = json!(digest);
            run["outputs"]["result"] = json!(result);
            repository.write(&file, run.to_string());
        }
    };
    with(&digest("\n"), "Floor division in calc/core.py.");
    committed(&repository);
    let (stored, raw) = (digest("\n"), digest("\r\n"));
    for digest in [&stored, &raw] {
        with(digest, "Never recorded: floor division in calc/core.py.");
        is(
            &judged(&repository),
            1,
            "changed, but none of the agent's files",
        );
    }
    // Nor does a change of these line ends alone.
    with(&raw, "Floor division in calc/core.py.");
    committed(&repository);
    repository.write(&format!("{root}/run.bat"), "cd calc\npython core.py\n");
    is(&judged(&repository), 3, "recordings are stale");
    with(&stored, "Never recorded: floor division in calc/core.py.");
    is(
        &judged(&repository),
        1,
        "changed, but none of the agent's files",
    );
    repository.write(&format!("{root}/run.bat"), "cd calc\npython2 core.py\n");
    with(
        &digest("\n"),
        "Never recorded: floor division in calc/core.py.",
    );
    is(
        &judged(&repository),
        1,
        "what the agent was asked changed too",
    );
}

fn recorded_again() {
    let repository = called();
    committed(&repository);
    repository.replace("goldgate.yaml", "model: big-1", "model: tiny-1");
    answer_again(&repository);
    (0..12).for_each(|case| {
        edit(&repository, case, |run| {
            run["provenance"]["model"] = json!("tiny-1-2026-02-02")
        })
    });
    let ran = judged(&repository);
    is(
        &ran,
        0,
        "12 recordings of `contracts/legal` changed; what the agent calls changed too",
    );
    assert!(!ran.stdout.contains("[needs approval]"), "{}", ran.stdout);
}

/// The case names the target that plays its user, so it does not matter whether another target has its model.
fn other_user() {
    let repository = Repository::empty();
    repository.write(
        "cases.json",
        r#"[{ "id": "cancel", "category": "multi_step", "query": "It is about my order.",
             "user": { "model": "customer", "goal": "Cancel order 17.", "max_turns": 3 }, "expected_output_contains": ["too late"] }]"#,
    );
    repository.write("prompt.md", "Be brief.");
    let target = |model: &str| format!("{{ provider: openai, model: {model}, api_key_env: KEY }}");
    let config = |customer: &str, judge: &str| {
        let targets = format!(
            "  m: {}\n  customer: {}\n  judge: {}\n",
            target("big-1"),
            target(customer),
            target(judge)
        );
        let agent = "        deterministic: { replay: runs, prompt: prompt.md }\n        model: { target: m, prompt: prompt.md }\n";
        let suite = "  - id: talks\n    kind: tool_use\n    path: cases.json\n    tier: [deterministic, model]\n    agents:\n";
        let text = format!(
            "version: 1\nbaseline: base.json\nsuites:\n{suite}      helper:\n{agent}targets:\n{targets}"
        );
        repository.write("goldgate.yaml", text);
    };
    config("user-1", "user-1");
    let turn = json!({ "user": "It is about my order.", "text": "It is too late." });
    let outputs = json!({ "text": "It is too late.", "turns": [turn], "user": { "model": "user-1-2026", "done": true } });
    let provenance =
        json!({ "target": "m", "model": "big-1", "prompt_sha256": sha256_hex(b"Be brief.") });
    let run = json!({ "schema": "goldgate.run/1", "agent": "helper", "case": "cancel", "sample": 0, "status": "completed",
        "outputs": outputs, "provenance": provenance });
    repository.write("runs/helper/cancel.json", run.to_string());
    commit_all(&repository);
    let deterministic = ["run", "--tier", "deterministic", "--base", "HEAD"].map(str::to_owned);
    for (customer, judge, code) in [
        ("user-2", "user-1", 1),
        ("user-2", "user-2", 1),
        ("user-1", "user-2", 0),
    ] {
        config(customer, judge);
        let words = if code == 1 {
            "1 recording of `talks/helper` recorded with user-1-2026 as the user"
        } else {
            "listed"
        };
        is(&goldgate(&repository, &deterministic), code, words);
    }
}

fn other_calls() {
    for (from, to) in [
        ("temperature: 0.2", "temperature: 1.9"),
        (
            "model: big-1",
            "model: big-1, base_url: 'http://localhost:9/v1'",
        ),
        (
            "m: { provider: openai, model: big-1, temperature: 0.2, api_key_env: KEY }",
            "m: { command: [python3, agent.py] }",
        ),
    ] {
        let repository = called();
        committed(&repository);
        repository.replace("goldgate.yaml", from, to);
        is(&judged(&repository), 1, NOT_AGAIN);
    }
    let repository = called();
    committed(&repository);
    repository.replace(
        "goldgate.yaml",
        "model: { target: m }",
        "model: { target: customer }",
    );
    let says = "12 recordings of `contracts/legal` recorded with the target m, while the agent calls customer, and not recorded again";
    is(&judged(&repository), 1, says);
}

fn same_calls() {
    for edits in [
        &[(
            "temperature: 0.2, api_key_env: KEY",
            "temperature: 0.2, api_key_env: OTHER_KEY",
        )][..],
        &[("temperature: 0.2,", "temperature: 0.2, concurrency: 2,")],
        &[
            ("  m: { provider", "  n: { provider"),
            ("model: { target: m }", "model: { target: n }"),
        ],
    ] {
        let repository = called();
        committed(&repository);
        for (from, to) in edits {
            repository.replace("goldgate.yaml", from, to);
        }
        let ran = judged(&repository);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    }
}

fn stale_before() {
    let repository = called();
    let digest = |run: &Value| run["provenance"]["fingerprint"].clone();
    let current: Value = serde_json::from_str(&repository.read(&recording(0))).unwrap();
    committed(&repository);
    edit(&repository, 4, |run| {
        run["provenance"]["fingerprint"] = json!("0".repeat(64))
    });
    commit_all(&repository);
    edit(&repository, 4, |run| {
        run["provenance"]["fingerprint"] = digest(&current)
    });
    repository.replace(
        &recording(4),
        "Needs prior approval.",
        "Needs approval first.",
    );
    is(
        &judged(&repository),
        0,
        "1 recording of `contracts/legal` changed; those of the base commit were stale",
    );
    // One that was not stale is edited beside it.
    repository.replace(
        &recording(5),
        "Needs prior approval.",
        "Needs approval first.",
    );
    is(
        &judged(&repository),
        1,
        "1 recording of `contracts/legal` changed, but none of the agent's files",
    );
}

fn other_list() {
    let repository = bases::base("digests");
    repository.write("tools.json", "[]\n");
    committed(&repository);
    repository.replace(
        "goldgate.yaml",
        "fingerprint: ['prompts/**']",
        "fingerprint: ['prompts/**', tools.json]",
    );
    let line = |file: &str| {
        let digest = goldgate::files::sha256_hex(repository.read(file).as_bytes());
        format!("{digest}  {file}\n")
    };
    let digest = goldgate::files::sha256_hex(
        [line("prompts/legal.md"), line("tools.json")]
            .concat()
            .as_bytes(),
    );
    (0..12).for_each(|case| {
        edit(&repository, case, |run| {
            run["provenance"]["fingerprint"] = json!(digest)
        })
    });
    is(
        &judged(&repository),
        0,
        "changed only in their digests, which are of another list of the agent's files now",
    );
    repository.replace(
        &recording(5),
        "Needs prior approval.",
        "Needs approval first.",
    );
    is(
        &judged(&repository),
        1,
        "1 recording of `contracts/legal` changed, but none of the agent's files",
    );
    // A file that the change adds and names.
    let added = bases::base("digests");
    committed(&added);
    added.write("tools.json", "[]\n");
    added.replace(
        "goldgate.yaml",
        "fingerprint: ['prompts/**']",
        "fingerprint: ['prompts/**', tools.json]",
    );
    (0..12).for_each(|case| {
        edit(&added, case, |run| {
            run["provenance"]["fingerprint"] = json!(digest)
        })
    });
    answer_again(&added);
    is(
        &judged(&added),
        0,
        "12 recordings of `contracts/legal` changed; the agent's files changed too",
    );
}

fn by_chance() {
    let repository = bases::base("digests");
    let made: Value = serde_json::from_str(&repository.read(&recording(0))).unwrap();
    repository.remove(&recording(0));
    for case in 1..12 {
        repository.remove(&recording(case));
        repository.remove(&crate::golden_changes::expected(case));
    }
    // Only a measure differs between the answers.
    let write = |latencies: [u32; 3]| {
        let of_prompt = goldgate::files::sha256_hex(repository.read("prompts/legal.md").as_bytes());
        let digest =
            goldgate::files::sha256_hex(format!("{of_prompt}  prompts/legal.md\n").as_bytes());
        for (sample, latency) in latencies.into_iter().enumerate() {
            let mut run = made.clone();
            run["sample"] = json!(sample);
            run["metrics"] = json!({ "total_latency_ms": latency });
            run["provenance"] = json!({ "fingerprint": digest });
            repository.write(
                &format!("runs/legal/lease-0/{sample}.json"),
                run.to_string(),
            );
        }
    };
    write([1, 2, 2]);
    committed(&repository);
    repository.write(
        "prompts/legal.md",
        "Report every change of control, and be brief.\n",
    );
    write([2, 1, 3]);
    is(
        &judged(&repository),
        0,
        "3 recordings of `contracts/legal` changed; the agent's files changed too",
    );
    // Where no sample is new, they may all be the old ones.
    write([2, 1, 2]);
    is(
        &judged(&repository),
        1,
        "changed only in their digests or numbers",
    );
}

fn later_date() {
    let repository = bases::base("digests");
    let date_all = |date: &str| {
        let of_prompt = sha256_hex(repository.read("prompts/legal.md").as_bytes());
        let digest = sha256_hex(format!("{of_prompt}  prompts/legal.md\n").as_bytes());
        for case in 0..12 {
            edit(&repository, case, |run| {
                run["provenance"]["fingerprint"] = json!(digest);
                run["provenance"]["recorded_at"] = json!(date);
            });
        }
        judged(&repository)
    };
    date_all("2026-01-01T00:00:00Z");
    committed(&repository);
    let ran = date_all("2026-02-01T00:00:00Z");
    is(&ran, 0, "");
    assert!(
        !ran.stdout.contains("golden change"),
        "the same agent answers the same: {}",
        ran.stdout
    );
    repository.write(
        "prompts/legal.md",
        "Report every change of control, and be brief.\n",
    );
    is(
        &date_all("2026-01-01T00:00:00Z"),
        1,
        "changed only in their digests or numbers",
    );
    is(
        &date_all("2026-02-01T00:00:00Z"),
        0,
        "changed; the agent's files changed too",
    );
}

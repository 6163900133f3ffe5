//! Recordings of other targets, models or programs than the agent calls.

use goldgate::files::sha256_hex;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::recorded_again::{NOT_AGAIN, answer_again, called, committed, edit, is, judged};
use crate::golden_changes::commit_all;
use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "new recordings of another target or model than the agent's need an approval",
            other_recorder,
        ),
        trial(
            "a program that an agent calls again may be another one than recorded it",
            other_program,
        ),
        trial(
            "a recording states what was called, whatever the names of targets are",
            by_digest,
        ),
        trial(
            "recordings of a command need an approval once the agent's program changes",
            recorded_command,
        ),
    ]
}

/// `goldgate run --record --target other`, or a config that was another one while recording.
fn other_recorder() {
    let changed = |base_model: &str, target: &str, model: &str, config: &str| {
        let repository = called();
        for case in 0..12 {
            edit(&repository, case, |run| {
                run["provenance"]["fingerprint"] = Value::Null;
                run["provenance"]["model"] = json!(base_model);
            });
        }
        committed(&repository);
        repository.write(
            "prompts/legal.md",
            "Report every change of control, and be brief.\n",
        );
        repository.replace("goldgate.yaml", "model: big-1, temperature: 0.2", config);
        answer_again(&repository);
        for case in 0..12 {
            edit(&repository, case, |run| {
                run["provenance"]["target"] = json!(target);
                run["provenance"]["model"] = json!(model);
            });
        }
        judged(&repository)
    };
    let with = |base_model: &str, target: &str, model: &str| {
        changed(base_model, target, model, "model: big-1, temperature: 0.2")
    };
    is(
        &with("big-1-2026-01-01", "m", "big-1-2026-02-02"),
        0,
        "the agent's files changed too",
    );
    let words = "12 recordings of `contracts/legal` made with the target customer, while the agent calls m: record them with that";
    is(&with("big-1-2026-01-01", "customer", "user-1"), 1, words);
    let words = "12 recordings of `contracts/legal` made with the model huge-9, while the target m has big-1";
    is(&with("big-1-2026-01-01", "m", "huge-9"), 1, words);
    // The vendor's name for the model of the target.
    is(
        &with("huge-9", "m", "huge-9"),
        0,
        "the agent's files changed too",
    );
    // Also where the target changes.
    for (target, model, config, code) in [
        ("m", "big-1-2026-02-02", "model: big-1, temperature: 0.3", 0),
        ("m", "tiny-1-2026-02-02", "model: tiny-1", 0),
        ("customer", "user-1", "model: big-1, temperature: 0.3", 1),
        ("customer", "user-1", "model: tiny-1", 1),
        ("m", "huge-9", "model: tiny-1", 1),
    ] {
        let ran = changed("big-1-2026-01-01", target, model, config);
        assert_eq!(
            ran.code, code,
            "{target} {model} {config}: {}{}",
            ran.stdout, ran.stderr
        );
    }
}

/// The program behind a target may be another one after a time without it.
fn other_program() {
    const M: &str = "  m: { command: [python3, agent.py] }\n";
    for (is_kept, code) in [(true, 0), (false, 1)] {
        let repository = called();
        let with = |target: &str| {
            repository.replace(
                "goldgate.yaml",
                "targets:\n",
                &format!("targets:\n{target}"),
            )
        };
        let config = repository
            .read("goldgate.yaml")
            .replace("        model: { target: m }\n", "");
        let config: Vec<&str> = config
            .lines()
            .filter(|line| !line.starts_with("  m: "))
            .collect();
        repository.write("goldgate.yaml", config.join("\n") + "\n");
        if is_kept {
            with(M);
        }
        (0..12).for_each(|case| {
            edit(&repository, case, |run| {
                run["provenance"]["model"] = Value::Null
            })
        });
        committed(&repository);
        repository.replace(
            "goldgate.yaml",
            "{ replay: runs }\n",
            "{ replay: runs }\n        model: { target: m }\n",
        );
        if !is_kept {
            with(M);
        }
        let words = "recorded with the target m, which the base commit does not have, and not recorded again";
        is(
            &judged(&repository),
            code,
            if code == 1 {
                words
            } else {
                "agents.legal.model"
            },
        );
    }
}

/// What `goldgate record` made of a command is of the agent's own program, whatever model it called.
fn recorded_command() {
    let with = |target: &str, change: &dyn Fn(&Repository)| {
        let repository = called();
        let own = "m: { provider: openai, model: big-1, temperature: 0.2, api_key_env: KEY }";
        repository.replace("goldgate.yaml", own, "m: { command: [python3, agent.py] }");
        (0..12).for_each(|case| {
            edit(&repository, case, |run| {
                run["provenance"]["target"] = json!(target)
            })
        });
        committed(&repository);
        repository.replace(
            "goldgate.yaml",
            "[python3, agent.py]",
            "[python3, agent.py, --cheap]",
        );
        change(&repository);
        judged(&repository)
    };
    is(&with("record", &|_| ()), 1, NOT_AGAIN);
    assert_eq!(
        with("import openai", &|_| ()).code,
        0,
        "imported recordings may be of anything"
    );
    // The doubt does not explain other recordings. Those that the target made are explained by it.
    is(
        &with("record", &answer_again),
        1,
        "12 recordings of `contracts/legal` changed, but none of the agent's files",
    );
    let by_target = |repository: &Repository| {
        answer_again(repository);
        (0..12).for_each(|case| {
            edit(repository, case, |run| {
                run["provenance"]["target"] = json!("m")
            })
        });
    };
    is(
        &with("record", &by_target),
        0,
        "what the agent calls changed too",
    );
}

/// Recordings of the target `m` as `called` has it, with the digest of what was called.
fn with_digests() -> Repository {
    let repository = called();
    let called = json!({ "wire": "OpenAi", "model": "big-1", "base_url": null, "region": null, "temperature": 0.2, "max_tokens": null });
    let digest = sha256_hex(called.to_string().as_bytes());
    (0..12).for_each(|case| {
        edit(&repository, case, |run| {
            run["provenance"]["target_sha256"] = json!(digest)
        })
    });
    repository
}

const LIVE: &str = "        model: { target: m }\n";
const M: &str = "  m: { provider: openai, model: big-1, temperature: 0.2, api_key_env: KEY }\n";

/// The config without its target, or with the agent's target as this one.
fn becomes(repository: &Repository, live: &str, target: &str) {
    let config = repository
        .read("goldgate.yaml")
        .replace(LIVE, "")
        .replace(M, "");
    let config = config.replace("{ replay: runs }\n", &format!("{{ replay: runs }}\n{live}"));
    repository.write(
        "goldgate.yaml",
        config.replace("targets:\n", &format!("targets:\n{target}")),
    );
}

/// Whatever the names of targets were in between, a recording states what was called.
fn by_digest() {
    let other = M.replace("big-1", "tiny-1");
    // The agent calls nothing for a while.
    for (live, target, code) in [
        (LIVE.to_owned(), M.to_owned(), 0),
        (LIVE.to_owned(), other.clone(), 1),
        (LIVE.replace(" m ", " n "), M.replace("  m:", "  n:"), 0),
        (LIVE.replace(" m ", " n "), other.replace("  m:", "  n:"), 1),
        (LIVE.replace(" m ", " customer "), String::new(), 1),
    ] {
        let repository = with_digests();
        becomes(&repository, "", "");
        committed(&repository);
        becomes(&repository, &live, &target);
        let words = if code == 0 {
            "agents.legal.model"
        } else {
            "12 recordings of `contracts/legal` recorded with the target m"
        };
        is(&judged(&repository), code, words);
    }
    // The target is copied under another name, and the copy changes later.
    let repository = with_digests();
    let copy = M.replace("  m:", "  n:");
    committed(&repository);
    becomes(
        &repository,
        &LIVE.replace(" m ", " n "),
        &(M.to_owned() + &copy),
    );
    is(&judged(&repository), 0, "agents.legal.model");
    commit_all(&repository);
    repository.replace("goldgate.yaml", &copy, &copy.replace("big-1", "tiny-1"));
    is(
        &judged(&repository),
        1,
        "12 recordings of `contracts/legal` recorded with the target",
    );
    // New recordings state the new target.
    answer_again(&repository);
    is(
        &judged(&repository),
        1,
        "12 recordings of `contracts/legal` changed, but none of the agent's files",
    );
    let called = json!({ "wire": "OpenAi", "model": "tiny-1", "base_url": null, "region": null, "temperature": 0.2, "max_tokens": null });
    let digest = sha256_hex(called.to_string().as_bytes());
    for case in 0..12 {
        edit(&repository, case, |run| {
            run["provenance"]["target"] = json!("n");
            run["provenance"]["model"] = json!("tiny-1-2026-02-02");
            run["provenance"]["target_sha256"] = json!(digest);
        });
    }
    is(&judged(&repository), 0, "what the agent calls changed too");
}

//! Keys and tokens stay where they belong.

use std::time::Duration;

use libtest_mimic::Trial;

use super::endpoint::{Answer, Endpoint};
use super::{GOOD, KEY, live};
use crate::golden_changes::commit_all;
use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a command sees the usual variables, those that its target names, and no other",
            environment,
        ),
        trial(
            "a config names no variable of the runner as a key, nor passes its tokens on",
            refused,
        ),
        trial(
            "against a base commit a key goes only to addresses that its config names",
            addresses,
        ),
    ]
}

const CONFIG: &str = "version: 1\nsuites:\n  - id: contracts\n    kind: findings\n    policy: seed\n    path: golden\n    tier: [deterministic, model]\n    \
     agents:\n      legal: { deterministic: { target: mine }, model: { target: mine } }\ntargets:\n  mine: ";

fn environment() {
    for protocol in ["oneshot", "jsonl"] {
        let repository = Repository::small();
        let run = repository
            .read("golden/runs/legal/lease.json")
            .replace('\n', " ")
            .replace("\"sample\": 0,", "");
        let answer = run.replacen('{', "{\"id\": \"contracts/legal/lease/0\",", 1);
        let told = if protocol == "oneshot" { &run } else { &answer };
        repository.remove("golden/runs");
        repository.write(
            "agent.sh",
            format!("env > seen.txt\nread -r request\ncat <<'END'\n{told}\nEND\n"),
        );
        let target = format!(
            "{{ command: [\"/bin/sh\", \"agent.sh\"], protocol: {protocol}, env: [AGENT_URL, NOT_SET] }}\n"
        );
        repository.write("goldgate.yaml", format!("{CONFIG}{target}"));
        let variables = [
            ("PATH", "/usr/bin:/bin"),
            ("HOME", "/home/a"),
            ("LANG", "C"),
            ("TZ", "UTC"),
            ("TMPDIR", "/tmp"),
            ("AGENT_URL", "http://127.0.0.1:1"),
            ("LIVE_KEY", KEY),
            ("GITHUB_TOKEN", KEY),
            ("INPUT_TOKEN", KEY),
            ("LD_PRELOAD_OTHER", KEY),
        ];
        let ran = repository.goldgate_with(&["run", "-v", "--quiet"], &variables);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        let seen = repository.read("seen.txt");
        for (name, value) in &variables[..6] {
            assert!(
                seen.lines().any(|line| line == format!("{name}={value}")),
                "{protocol} {name}: {seen}"
            );
        }
        assert!(
            !seen.contains(KEY) && !seen.contains("SOURCE_DATE_EPOCH"),
            "{protocol}: {seen}"
        );
    }
}

fn refused() {
    let openai = |name: &str| format!("{{ provider: openai, model: m, api_key_env: {name} }}");
    let passes = |name: &str| format!("{{ command: [\"./a\"], env: [OWN, {name}] }}");
    let mut rows: Vec<(String, String)> = Vec::new();
    for name in [
        "GITHUB_TOKEN",
        "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
        "INPUT_TOKEN",
        "RUNNER_TEMP",
        "github_token",
    ] {
        rows.push((
            openai(name),
            format!("goldgate.yaml:11:39: api_key_env names {name}, which belongs to the runner"),
        ));
    }
    for name in ["PATH", "HOME", "LC_ALL"] {
        rows.push((
            openai(name),
            format!("goldgate.yaml:11:39: api_key_env names {name}, which contains no key"),
        ));
    }
    rows.push((
        openai("'a b'"),
        "goldgate.yaml:11:39: \"a b\" is not the name of an environment variable".to_owned(),
    ));
    for name in [
        "GITHUB_TOKEN",
        "INPUT_ANYTHING",
        "ACTIONS_RUNTIME_URL",
        "GITHUB_ENV",
        "GITHUB_STEP_SUMMARY",
        "RUNNER_TOKEN",
    ] {
        rows.push((
            passes(name),
            format!("env names {name}, which would let the program act as the runner"),
        ));
    }
    rows.push((
        passes("'A=B'"),
        "\"A=B\" is not the name of an environment variable".to_owned(),
    ));
    rows.push((
        "{ http: 'http://127.0.0.1:1', env: [A] }".to_owned(),
        "env has no effect without command".to_owned(),
    ));
    rows.push((
        "{ provider: bedrock, model: m, region: 'x.evil.example/' }".to_owned(),
        "is not a region".to_owned(),
    ));
    for (target, says) in rows {
        let repository = Repository::small();
        repository.write("goldgate.yaml", format!("{CONFIG}{target}\n"));
        let ran = repository.goldgate(&["check"]);
        assert_eq!(ran.code, 2, "{target}: {}", ran.stdout);
        assert!(ran.stderr.contains(&says), "{target}: {}", ran.stderr);
        assert!(
            ran.stderr
                .lines()
                .all(|line| !line.contains("goldgate.yaml: ")),
            "it has a place: {}",
            ran.stderr
        );
    }
    for target in [
        openai("TEAM_KEY"),
        passes("GITHUB_SHA"),
        passes("OPENAI_API_KEY"),
    ] {
        let repository = Repository::small();
        repository.write(
            "goldgate.yaml",
            format!("{CONFIG}{target}\n").replace("deterministic: { target: mine }, ", ""),
        );
        let ran = repository.goldgate(&["check"]);
        assert!(!ran.stderr.contains("variable"), "{target}: {}", ran.stderr);
    }
}

fn addresses() {
    let answering = || Endpoint::new(Duration::ZERO, |_, _| Answer::Says(GOOD.to_owned()));
    let (own, other) = (answering(), answering());
    let repository = live(&own, "openai", "");
    repository.remove(".git");
    commit_all(&repository);
    let path = std::env::var("PATH").unwrap();
    let run = |arguments: &[&str]| {
        let arguments = [&["run", "-v", "--quiet", "--tier", "model"], arguments].concat();
        repository.goldgate_with(&arguments, &[("LIVE_KEY", KEY), ("PATH", &path)])
    };
    let ran = run(&["--base", "HEAD"]);
    assert_eq!(
        (ran.code, own.requests()),
        (0, 1),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    repository.replace("goldgate.yaml", &own.address(), &other.address());
    for (arguments, code) in [
        (&["--base", "HEAD"][..], 0),
        (&["--base", "HEAD", "--blocking"], 3),
    ] {
        let ran = run(arguments);
        assert_eq!(
            (ran.code, other.requests()),
            (code, 0),
            "{}{}",
            ran.stdout,
            ran.stderr
        );
        assert!(
            ran.stdout
                .contains("the target \"live\" may not get its key"),
            "{}",
            ran.stdout
        );
    }
    // One's own change, measured without a base, goes where one says.
    let ran = run(&[]);
    assert_eq!(
        (ran.code, other.requests()),
        (0, 1),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

//! A run that ends before all its samples were made gives no verdict, and a tier that did not run is no pass.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::KEY;
use super::endpoint::{Answer, Endpoint};
use crate::repository::{Ran, Repository, program};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a signal gives no verdict in any tier, though all that was measured passes",
            signals,
        ),
        trial(
            "a signal between two phases calls the run off",
            between_phases,
        ),
        trial(
            "a run that is called off kills what it started",
            nothing_lives_on,
        ),
        #[cfg(target_os = "linux")]
        trial(
            "a process that left its group is killed with the program that started it",
            session_of_its_own,
        ),
        trial(
            "a budget of time that is over gives no verdict in any tier",
            deadline,
        ),
        trial("a run that is called off writes no baseline", no_baseline),
        trial(
            "a command that only shows a run shows nothing of one that was called off",
            nothing_shown,
        ),
        trial("a part that was called off is not merged", no_part),
        trial(
            "a tier that did not run is no pass where it blocks, and is named where it does not",
            no_key,
        ),
        trial(
            "a tier that no suite has is no pass where it was asked for",
            no_suite,
        ),
        trial(
            "parts in which an agent did not run merge to no pass",
            no_key_in_parts,
        ),
    ]
}

/// Two contracts: the agent is right about the first and never comes to an end with the second. `finish` ends it.
fn half() -> Repository {
    let repository = Repository::small();
    let run = repository
        .read("golden/runs/legal/lease.json")
        .replace('\n', " ");
    repository.remove("golden/runs");
    repository.write(
        "golden/contracts/slow.md",
        "# Slow\n\nOn a change of control the landlord has to approve.\n",
    );
    let expected = repository
        .read("golden/expected/legal/lease.json")
        .replace("lease.md", "slow.md");
    repository.write("golden/expected/legal/slow.json", expected);
    repository.write(
        "agent.sh",
        format!(
            "request=$(cat)\ncase \"$request\" in\n*'# Slow'*)\n  echo $$ > started.txt\n  [ -e finish ] || sleep 60\n  \
             cat <<'END'\n{}\nEND\n;;\n*)\n  cat <<'END'\n{run}\nEND\n;;\nesac\n",
            run.replace("\"lease\"", "\"slow\"").replace("lease.md", "slow.md")
        ),
    );
    repository.write("goldgate.yaml", config(""));
    repository
}

fn config(more: &str) -> String {
    format!(
        "version: 1\nbaseline: baselines/latest.json\nsuites:\n  - id: contracts\n    kind: findings\n    policy: seed\n    path: golden\n    \
         tier: [deterministic, model]\n    agents:\n      \
         legal: {{ deterministic: {{ target: mine }}, model: {{ target: mine }} }}\ntargets:\n  \
         mine: {{ command: [\"/bin/sh\", \"agent.sh\"], protocol: oneshot }}\n{more}"
    )
}

fn started(repository: &Repository, arguments: &[&str]) -> Child {
    spawned(repository, &[&["run", "-v", "--quiet"], arguments].concat())
}

fn spawned(repository: &Repository, arguments: &[&str]) -> Child {
    let mut command = program(&repository.path(""));
    command
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let begun = Instant::now();
    // The first case is answered long before: two are asked at once.
    while !repository.path("started.txt").exists() && begun.elapsed() < Duration::from_secs(20) {
        thread::sleep(Duration::from_millis(5));
    }
    thread::sleep(Duration::from_millis(300));
    child
}

fn send(signal: &str, child: &Child) {
    let sent = Command::new("/bin/sh")
        .args(["-c", &format!("kill -{signal} {}", child.id())])
        .status()
        .unwrap();
    assert!(sent.success());
}

fn signalled(repository: &Repository, arguments: &[&str], signal: &str) -> Ran {
    let child = started(repository, arguments);
    send(signal, &child);
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn signals() {
    for (arguments, signal, code) in [
        (&["--tier", "deterministic"][..], "TERM", 143),
        (&["--tier", "deterministic"], "INT", 130),
        (&["--tier", "deterministic"], "HUP", 129),
        (&["--tier", "model"], "INT", 130),
        (&["--tier", "model", "--blocking"], "TERM", 143),
        (&["--tier", "all", "--non-blocking"], "INT", 130),
    ] {
        let repository = half();
        let ran = signalled(
            &repository,
            &[arguments, &["--format", "json", "--out", "out"]].concat(),
            signal,
        );
        assert_eq!(
            ran.code, code,
            "{arguments:?} {signal}: {}{}",
            ran.stdout, ran.stderr
        );
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(
            (&report["verdict"], &report["exit_code"]),
            (&json!("skipped"), &json!(code))
        );
        assert_eq!(
            report["called_off"],
            json!(format!("sig{}", signal.to_lowercase()))
        );
        let measured = report["suites"][0]["agents"][0]["cases"]
            .as_array()
            .unwrap()
            .iter();
        assert_eq!(
            measured
                .filter(|case| case["samples_completed"] == json!(1))
                .count(),
            1,
            "{report}"
        );
        let shown = repository.goldgate(&["report", "-v", "out"]).stdout;
        assert!(
            shown.contains("No verdict: the run was interrupted") && !shown.contains("gates pass"),
            "{shown}"
        );
    }
    // Left alone, the same run is green.
    let repository = half();
    repository.write("finish", "");
    let ran = repository.goldgate(&["run", "-v", "--quiet"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

/// A receiver of traces that sends a signal to the process when it is told of the samples: all of them are made then, and nothing
/// is graded yet.
fn between_phases() {
    for (tier, signal, code) in [
        ("deterministic", "INT", 130),
        ("deterministic", "TERM", 143),
        ("all", "TERM", 143),
    ] {
        let repository = half();
        repository.write("finish", "");
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let mut command = program(&repository.path(""));
        command.args([
            "run",
            "-v",
            "--quiet",
            "--tier",
            tier,
            "--format",
            "json",
            "--update-baseline",
        ]);
        command
            .env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        send(signal, &child);
        thread::sleep(Duration::from_millis(300));
        let mut request = [0; 65536];
        let _ = stream.read(&mut request).unwrap();
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}")
            .unwrap();
        drop((stream, listener));
        let output = child.wait_with_output().unwrap();
        let shown = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(code), "{tier} {signal}: {shown}");
        let report: Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(
            report["called_off"],
            json!(format!("sig{}", signal.to_lowercase()))
        );
        assert!(
            !repository.path("baselines/latest.json").exists(),
            "{tier} {signal}"
        );
    }
}

fn nothing_lives_on() {
    for signal in ["INT", "TERM", "HUP"] {
        let repository = half();
        let child = started(&repository, &[]);
        let agent = repository.read("started.txt");
        send(signal, &child);
        child.wait_with_output().unwrap();
        let lives = || {
            let asked = Command::new("/bin/sh")
                .args(["-c", &format!("kill -0 {}", agent.trim())])
                .output()
                .unwrap();
            asked.status.success()
        };
        let begun = Instant::now();
        while lives() && begun.elapsed() < Duration::from_secs(5) {
            thread::sleep(Duration::from_millis(20));
        }
        assert!(!lives(), "{signal}");
    }
}

#[cfg(target_os = "linux")]
fn session_of_its_own() {
    for time_is_over in [true, false] {
        let repository = half();
        repository.replace(
            "agent.sh",
            "echo $$ > started.txt",
            "setsid sh -c 'echo $$ > started.txt; exec sleep 60' &",
        );
        if time_is_over {
            repository.replace(
                "goldgate.yaml",
                "protocol: oneshot }",
                "protocol: oneshot, timeout: 1s }",
            );
            repository.goldgate(&["run", "-v", "--quiet"]);
        } else {
            assert_eq!(signalled(&repository, &[], "TERM").code, 143);
        }
        let process = repository.read("started.txt");
        let lives = || {
            Command::new("kill")
                .args(["-0", process.trim()])
                .output()
                .unwrap()
                .status
                .success()
        };
        let begun = Instant::now();
        while lives() && begun.elapsed() < Duration::from_secs(3) {
            thread::sleep(Duration::from_millis(20));
        }
        let left = lives();
        let _ = Command::new("kill")
            .args(["-9", process.trim()])
            .output()
            .unwrap();
        assert!(!left, "time is over: {time_is_over}");
    }
}

fn deadline() {
    for tier in ["deterministic", "model"] {
        let repository = half();
        repository.write("goldgate.yaml", config("budget: { max_minutes: 0.02 }\n"));
        let ran = repository.goldgate(&["run", "-v", "--quiet", "--tier", tier]);
        assert_eq!(ran.code, 3, "{tier}: {}", ran.stderr);
        assert!(
            ran.stdout
                .contains("No verdict: the time budget is used up"),
            "{}",
            ran.stdout
        );
        assert!(!ran.stdout.contains("gates pass"), "{}", ran.stdout);
    }
}

fn no_baseline() {
    let repository = half();
    repository.write("finish", "");
    assert_eq!(
        repository
            .goldgate(&["run", "-v", "--quiet", "--update-baseline"])
            .code,
        0
    );
    let before = repository.read("baselines/latest.json");
    repository.remove("finish");
    repository.remove("started.txt");
    let ran = signalled(&repository, &["--update-baseline", "--out", "out"], "TERM");
    assert_eq!(ran.code, 143);
    assert!(
        ran.stderr
            .contains("no baseline was written, because samples are missing"),
        "{}",
        ran.stderr
    );
    assert_eq!(repository.read("baselines/latest.json"), before);
    let entry = |text: &str| serde_json::from_str::<Value>(text).unwrap()["suites"].clone();
    assert_eq!(
        entry(&repository.read("out/proposed-baseline.json")),
        entry(&before),
        "nothing new is proposed"
    );
}

fn nothing_shown() {
    for arguments in [&["explain", "slow"][..], &["calibrate"]] {
        let repository = half();
        let child = spawned(&repository, arguments);
        send("TERM", &child);
        let output = child.wait_with_output().unwrap();
        assert_eq!(
            (output.status.code(), output.stdout.as_slice()),
            (Some(143), &b""[..]),
            "{arguments:?}"
        );
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            said.contains("error: the run was interrupted (SIGTERM); nothing is shown"),
            "{said}"
        );
    }
}

fn no_part() {
    let repository = half();
    let ran = signalled(&repository, &["--shard", "1/1", "--out", "part"], "TERM");
    assert_eq!(ran.code, 143, "{}", ran.stderr);
    let merged = repository.goldgate(&["merge", "-v", "part"]);
    assert_eq!((merged.code, merged.stdout.as_str()), (2, ""));
    assert!(
        merged
            .stderr
            .contains("the shard 1/1 is incomplete: the run was interrupted (SIGTERM)"),
        "{}",
        merged.stderr
    );
    repository.write("finish", "");
    assert_eq!(
        repository
            .goldgate(&["run", "-v", "--quiet", "--shard", "1/1", "--out", "part"])
            .code,
        0
    );
    assert_eq!(repository.goldgate(&["merge", "-v", "part"]).code, 0);
}

fn no_key() {
    let endpoint = Endpoint::new(Duration::ZERO, |_, _| Answer::Says(super::GOOD.to_owned()));
    let repository = super::live(&endpoint, "openai", "");
    for (arguments, code) in [
        (&["--tier", "all", "--blocking"][..], 3),
        (&["--tier", "all"], 0),
        (&["--tier", "all", "--non-blocking"], 0),
        (&["--tier", "model", "--blocking"], 3),
    ] {
        let ran =
            repository.goldgate(&[&["run", "-v", "--quiet", "--out", "out"], arguments].concat());
        assert_eq!(
            ran.code, code,
            "{arguments:?}: {}{}",
            ran.stdout, ran.stderr
        );
        assert!(
            ran.stdout
                .contains("not run: contracts/legal: the target \"live\" has no key"),
            "{}",
            ran.stdout
        );
        let summary: Value = serde_json::from_str(&repository.read("out/summary.json")).unwrap();
        assert_eq!(summary["exit_code"], json!(code));
        let named = if code == 3 {
            &summary["not_gateable"]
        } else {
            &summary["notes"]
        };
        assert!(
            named.to_string().contains("not run: contracts/legal"),
            "{summary}"
        );
    }
    let ran = repository.goldgate(&["run", "--quiet", "--tier", "model", "--record", "recorded"]);
    assert!(
        ran.code == 3 && ran.stderr.contains("nothing was recorded"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let with_key = repository.goldgate_with(
        &["run", "-v", "--quiet", "--tier", "all", "--blocking"],
        &[("LIVE_KEY", KEY)],
    );
    assert_eq!(with_key.code, 0, "{}{}", with_key.stdout, with_key.stderr);
}

fn no_suite() {
    let repository = Repository::small();
    assert_eq!(repository.goldgate(&["run", "-v", "--tier", "all"]).code, 0);
    let ran = repository.goldgate(&["run", "-v", "--tier", "all", "--blocking"]);
    assert_eq!(ran.code, 3, "{}", ran.stdout);
    assert!(
        ran.stdout.contains("the model tier did not run"),
        "{}",
        ran.stdout
    );
}

fn no_key_in_parts() {
    let endpoint = Endpoint::new(Duration::ZERO, |_, _| Answer::Says(super::GOOD.to_owned()));
    let repository = super::live(&endpoint, "openai", "");
    for (arguments, code) in [
        (&["--tier", "all", "--blocking"][..], 3),
        (&["--tier", "all"], 0),
    ] {
        let part = [
            &["run", "-v", "--quiet", "--shard", "1/1", "--out", "part"],
            arguments,
        ]
        .concat();
        assert_eq!(repository.goldgate(&part).code, 0);
        let merged = repository.goldgate(&["merge", "-v", "part"]);
        assert_eq!(
            merged.code, code,
            "{arguments:?}: {}{}",
            merged.stdout, merged.stderr
        );
        assert!(
            merged.stdout.contains("not run: contracts/legal"),
            "{}",
            merged.stdout
        );
    }
}

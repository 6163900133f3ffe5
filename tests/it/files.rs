//! Files that are written: whole or not at all, none lost, none through a link; and results that nobody can read.

use std::collections::BTreeMap;
use std::fs::File;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use libtest_mimic::Trial;
use serde_json::Value;

use crate::repository::{Ran, Repository, binary, program, ran};
use crate::soundness::edits::files;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a result that cannot be printed is exit code 3 and a line, for every command",
            full_device,
        ),
        trial(
            "a full disk leaves every file as it was, and says so",
            full_disk,
        ),
        trial("a reader that goes away is no failure", closed_pipe),
        trial(
            "drafts are where git does not look, and those of killed runs go after a day",
            drafts,
        ),
        trial(
            "two runs that update one baseline keep the numbers of both",
            lock,
        ),
        trial(
            "a baseline that is not there yet may be named to be written",
            new_baseline,
        ),
        trial("nothing is written through a link of the repository", links),
        trial(
            "a pipe or a device in the place of a file is refused at once",
            pipes,
        ),
        trial(
            "text of others begins no line of the log and no command of the runner",
            log_lines,
        ),
        trial("results contain no command of the runner", log_of_results),
    ]
}

fn to_full_device(repository: &Repository, arguments: &[&str]) -> Ran {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = program(&repository.path(""))
        .args(arguments)
        .stdout(full)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: String::new(),
        stderr,
    }
}

fn full_device() {
    let repository = Repository::small();
    for arguments in [
        &["run"][..],
        &["run", "--format", "json"],
        &["check"],
        &["explain", "lease"],
        &["selftest"],
        &["schema", "report"],
        &["calibrate"],
        &["--help"],
        &["run", "--help"],
        &["--version"],
    ] {
        let printed = repository.goldgate(arguments);
        let ran = to_full_device(&repository, arguments);
        let expected = if printed.code == 0 { 3 } else { printed.code };
        assert_eq!(ran.code, expected, "{arguments:?}: {}", ran.stderr);
        assert!(
            ran.stderr
                .contains("error: the result could not be printed: "),
            "{arguments:?}: {}",
            ran.stderr
        );
    }
}

/// Runs the program where no file may have more than 512 bytes. The system then refuses to write as it does on a full disk, with
/// another number.
fn on_full_disk(repository: &Repository, arguments: &[&str]) -> Ran {
    let mut command = Command::new("sh");
    let limited = "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\"";
    command.args(["-c", limited]).arg(binary()).args(arguments);
    ran(command
        .current_dir(repository.path(""))
        .env_clear()
        .env("SOURCE_DATE_EPOCH", "1795219200"))
}

/// The files that a command may write, with their contents.
fn contents(repository: &Repository) -> BTreeMap<String, String> {
    let all = ["golden", "baselines", "out"]
        .into_iter()
        .flat_map(|folder| files(repository, folder));
    all.map(|file| (file.clone(), repository.read(&file)))
        .collect()
}

fn full_disk() {
    let chats = r#"{"messages": [{"role": "user", "content": "Where is my order?"}, {"role": "assistant", "content": "On its way."}]}"#;
    for arguments in [
        &["run", "--update-baseline"][..],
        &["run", "--out", "out"],
        &[
            "import",
            "chats.jsonl",
            "--agent",
            "legal",
            "--case",
            "lease",
            "--out",
            "golden/runs",
            "--force",
        ],
    ] {
        let repository = Repository::small();
        repository.write(
            "chats.jsonl",
            format!(
                "{}\n",
                chats.replace("On its way.", &"On its way. ".repeat(100))
            ),
        );
        let ready = repository.goldgate(&["run", "--update-baseline", "--out", "out"]);
        assert_eq!(ready.code, 0, "{}", ready.stderr);
        let before = contents(&repository);
        let refused = on_full_disk(&repository, arguments);
        assert_eq!(
            refused.code, 3,
            "{arguments:?}: {}{}",
            refused.stdout, refused.stderr
        );
        assert!(
            refused.stderr.contains("while writing "),
            "{arguments:?}: {}",
            refused.stderr
        );
        assert_eq!(contents(&repository), before, "{arguments:?}");
    }
}

fn closed_pipe() {
    let repository = Repository::small();
    let mut child = program(&repository.path(""))
        .arg("run")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

fn drafts() {
    let repository = Repository::small();
    let old = repository.path(".goldgate/drafts/.goldgate-0000000000000000.tmp");
    let young = repository.path(".goldgate/drafts/.goldgate-0000000000000001.tmp");
    for (file, days) in [(&old, 2), (&young, 0)] {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let opened = File::create(file).unwrap();
        opened
            .set_modified(SystemTime::now() - Duration::from_secs(days * 24 * 60 * 60))
            .unwrap();
    }
    assert_eq!(repository.goldgate(&["run", "--update-baseline"]).code, 0);
    assert!(
        !old.exists() && young.exists(),
        "the young one may be of a run that still goes on"
    );
    let fresh = Repository::small();
    assert_eq!(
        fresh
            .goldgate(&["run", "--update-baseline", "--out", "out"])
            .code,
        0
    );
    assert_eq!(fresh.read(".goldgate/drafts/.gitignore"), "*\n");
    assert_eq!(
        std::fs::read_dir(fresh.path(".goldgate/drafts"))
            .unwrap()
            .count(),
        1,
        "no draft is left"
    );
    for folder in ["baselines", "out"] {
        let names = std::fs::read_dir(fresh.path(folder))
            .unwrap()
            .map(|entry| entry.unwrap().file_name());
        let drafts: Vec<_> = names
            .filter(|name| name.to_str().is_some_and(|name| name.ends_with(".tmp")))
            .collect();
        assert!(drafts.is_empty(), "{folder}: {drafts:?}");
    }
}

/// Two suites of the same contracts.
fn two_suites() -> Repository {
    let repository = Repository::small();
    let config = repository.read("goldgate.yaml");
    let suite = config
        .split("suites:\n")
        .nth(1)
        .unwrap()
        .replace("id: contracts", "id: others");
    repository.write("goldgate.yaml", format!("{config}{suite}"));
    repository
}

fn lock() {
    let repository = two_suites();
    std::fs::create_dir_all(repository.path("baselines")).unwrap();
    let held = File::open(repository.path("baselines")).unwrap();
    held.lock().unwrap();
    let update = |suite: &str| {
        let mut command = program(&repository.path(""));
        command
            .args([
                "run",
                "--quiet",
                "-v",
                "--suite",
                suite,
                "--update-baseline",
            ])
            .stdout(Stdio::null());
        command.spawn().unwrap()
    };
    // Both have read that there is no baseline, and wait to write one.
    let mut runs = ["contracts", "others"].map(update);
    thread::sleep(Duration::from_millis(1500));
    assert!(
        runs.iter_mut().all(|run| run.try_wait().unwrap().is_none()),
        "a run waits for the lock"
    );
    held.unlock().unwrap();
    for run in &mut runs {
        assert_eq!(run.wait().unwrap().code(), Some(0));
    }
    let baseline: Value = serde_json::from_str(&repository.read("baselines/latest.json")).unwrap();
    let suites: Vec<&String> = baseline["suites"].as_object().unwrap().keys().collect();
    assert_eq!(suites, ["contracts", "others"]);
}

fn new_baseline() {
    let repository = Repository::small();
    let ran = repository.goldgate(&["run", "--update-baseline", "--baseline", "new.json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(repository.path("new.json").exists());
    assert_eq!(
        repository
            .goldgate(&["run", "--baseline", "nowhere.json"])
            .code,
        2
    );
}

fn links() {
    for (link, target, arguments) in [
        ("out", ".github", &["run", "--out", "out"][..]),
        ("out", ".github", &["run", "--out", "out/below"]),
        (
            "out/deep",
            "../.github",
            &["run", "--out", "./x/../out/deep/er"],
        ),
        ("baselines", ".github", &["run", "--update-baseline"]),
        (".goldgate", ".github", &["run", "--update-baseline"]),
    ] {
        let repository = Repository::small();
        std::fs::create_dir_all(repository.path(".github")).unwrap();
        std::fs::create_dir_all(repository.path(link).parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, repository.path(link)).unwrap();
        let ran = repository.goldgate(arguments);
        // The baseline is read first.
        let (code, says) = match link {
            "baselines" => (2, "this is a symbolic link"),
            _ => (3, "is a link; goldgate does not write through links"),
        };
        assert_eq!(ran.code, code, "{link} {arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(says), "{}", ran.stderr);
        assert_eq!(
            std::fs::read_dir(repository.path(".github"))
                .unwrap()
                .count(),
            0,
            "{link} {arguments:?}"
        );
    }
    // Elsewhere links are the machine's own.
    let (repository, elsewhere) = (Repository::small(), tempfile::tempdir().unwrap());
    std::fs::create_dir(elsewhere.path().join("real")).unwrap();
    std::os::unix::fs::symlink("real", elsewhere.path().join("link")).unwrap();
    let out = elsewhere.path().join("link/out");
    assert_eq!(
        repository
            .goldgate(&["run", "--out", out.to_str().unwrap()])
            .code,
        0
    );
    assert!(elsewhere.path().join("real/out/report.json").exists());
    // A file that is a link is replaced, and what it led to stays.
    repository.write("kept.json", "kept");
    std::fs::create_dir_all(repository.path("plain")).unwrap();
    std::os::unix::fs::symlink("../kept.json", repository.path("plain/report.json")).unwrap();
    assert_eq!(repository.goldgate(&["run", "--out", "plain"]).code, 0);
    assert_eq!(repository.read("kept.json"), "kept");
}

fn pipes() {
    for (file, arguments) in [
        ("goldgate.yaml", &["run"][..]),
        ("golden/expected/legal/lease.json", &["run"]),
        ("golden/runs/legal/lease.json", &["run"]),
        ("baselines/latest.json", &["run"]),
    ] {
        let repository = Repository::small();
        std::fs::create_dir_all(repository.path("baselines")).unwrap();
        let _ = std::fs::remove_file(repository.path(file));
        assert!(
            Command::new("mkfifo")
                .arg(repository.path(file))
                .status()
                .unwrap()
                .success()
        );
        let mut child = program(&repository.path(""))
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let begun = Instant::now();
        while child.try_wait().unwrap().is_none() && begun.elapsed() < Duration::from_secs(10) {
            thread::sleep(Duration::from_millis(10));
        }
        let ended = child.try_wait().unwrap();
        if ended.is_none() {
            child.kill().unwrap();
        }
        assert_eq!(ended.and_then(|status| status.code()), Some(2), "{file}");
        let said = String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap();
        assert!(said.contains("it is not a regular file"), "{file}: {said}");
    }
    for (arguments, said) in [
        (
            &["run", "--baseline", "/dev/zero"][..],
            "it is not a regular file",
        ),
        (
            &["run", "--config", "/dev/zero"],
            "it is not a regular file",
        ),
        (&["run", "--config", ""], "the path does not name a file"),
        (
            &[
                "import",
                "openai",
                "/dev/zero",
                "--out",
                "runs",
                "--agent",
                "a",
                "--case",
                "c",
            ],
            "it is not a regular file",
        ),
        (&["init", "--from", "/dev/zero"], "it is not a regular file"),
        (
            &["diff", "/dev/zero", "/dev/zero"],
            "it is not a regular file",
        ),
        (
            &["report", "/dev/zero"],
            "/dev/zero/report.json: the folder does not exist",
        ),
        (
            &["merge", "/dev/zero", "--out", "out"],
            "/dev/zero/shard.json: this folder has no shard",
        ),
    ] {
        let ran = Repository::small().goldgate(arguments);
        assert!(
            ran.code == 2 && ran.stderr.contains(said),
            "{arguments:?}: {} {}",
            ran.code,
            ran.stderr
        );
    }
}

/// What an agent wrote, where a person reads it in the log of a workflow.
fn log_of_results() {
    let repository = Repository::small();
    let hostile = "\\n::error title=forged::All gates hold\\n##[add-mask]a\\n##vso[task.complete]";
    repository.replace(
        "golden/runs/legal/lease.json",
        "Needs prior approval.",
        hostile,
    );
    for arguments in [
        &["explain", "lease"][..],
        &["run", "-v"],
        &["run", "--format", "json"],
        &["check"],
    ] {
        for runner in ["GITHUB_ACTIONS", "TF_BUILD"] {
            let ran = repository.goldgate_with(arguments, &[(runner, "true")]);
            for line in ran.stdout.lines() {
                let is_command = line.trim_start().starts_with("::")
                    || line.contains("##[")
                    || line.contains("##vso[");
                assert!(!is_command, "{arguments:?}: {line:?}");
            }
            if arguments.contains(&"json") {
                serde_json::from_str::<Value>(&ran.stdout).unwrap();
            }
        }
    }
}

fn log_lines() {
    let hostile = "\n::error title=forged::All gates hold\n  ::stop-commands::abc\n##[error]x\u{1b}[2J\u{202e}";
    let inside = |place: &dyn Fn(&Repository)| {
        let repository = Repository::small();
        place(&repository);
        repository
    };
    let key = Value::from(hostile).to_string();
    let unknown_key = inside(&|repository| {
        repository.replace(
            "golden/expected/legal/lease.json",
            "\"expected_gaps\"",
            &format!("{key}: 1, \"expected_gaps\""),
        );
    });
    let value = inside(&|repository| {
        repository.replace(
            "golden/runs/legal/lease.json",
            "\"completed\"",
            &format!("{{ {key}: [\n1,\n2 ] }}"),
        );
    });
    let name = inside(&|repository| {
        let file = "golden/expected/legal/::warning file=x::y\n::error::z.json";
        repository.write(file, repository.read("golden/expected/legal/lease.json"));
    });
    let config =
        inside(&|repository| repository.replace("goldgate.yaml", "legal:", &format!("{key}:")));
    for repository in [unknown_key, value, name, config] {
        for (arguments, variables) in [
            (&["run"][..], &[][..]),
            (&["check"], &[]),
            (
                &["action"],
                &[("GITHUB_ACTIONS", "true"), ("GITHUB_WORKSPACE", ".")],
            ),
        ] {
            let ran = repository.goldgate_with(arguments, variables);
            assert_eq!(ran.code, 2, "{}{}", ran.stdout, ran.stderr);
            for line in ran.stderr.lines().chain(ran.stdout.lines()) {
                // The action's own command, with the message as its text.
                let line = line
                    .strip_prefix("::error title=goldgate::")
                    .unwrap_or(line);
                assert!(
                    !line.trim_start().starts_with("::error") && !line.contains("##["),
                    "{line:?}"
                );
                assert!(
                    !line.trim_start().starts_with("::stop-commands")
                        && !line.starts_with("::warning file=x"),
                    "{line:?}"
                );
                assert!(
                    !line
                        .chars()
                        .any(|char| char.is_control() || char == '\u{202e}'),
                    "{line:?}"
                );
            }
            // The problem and the count, and in the action an annotation of the problem.
            let said = ran.stderr.lines().count() + ran.stdout.lines().count();
            assert!(
                said <= 3,
                "one problem is one line: {}{}",
                ran.stdout,
                ran.stderr
            );
        }
    }
}

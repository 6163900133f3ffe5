//! One process a sample: real processes, well-behaved and not.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use goldgate::live::targets::AgentProgram;
use goldgate::model::{CallError, Charge, Protocol, Retry, RunStatus, Target};
use libtest_mimic::Trial;

use super::{command, ends, env, request, wait};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a process reads its request, sees the repository and prints its record",
            well,
        ),
        trial(
            "a process that fails is an error with its last words",
            failing,
        ),
        trial("a process that prints junk is an error", junk),
        trial(
            "a process that hangs is ended with everything that it started",
            hanging,
        ),
        trial(
            "a process that leaves somebody behind is not waited for",
            leaving,
        ),
        trial("a process whose call is called off is ended", cancelled),
        trial(
            "a process that floods stderr or prints without end is ended",
            flooding,
        ),
    ]
}

/// A script in a folder of its own.
fn script(folder: &Path, text: &str) -> Target {
    fs::write(folder.join("agent.sh"), text).unwrap();
    command(&["sh", "./agent.sh"], Protocol::Oneshot)
}

fn ran(target: &Target, folder: &Path) -> Result<String, CallError> {
    wait(
        AgentProgram::open(target, folder, &env(&[]))
            .unwrap()
            .run(&request("lease")),
    )
}

fn fault(text: &str) -> CallError {
    let folder = tempfile::tempdir().unwrap();
    let fault = ran(&script(folder.path(), text), folder.path()).unwrap_err();
    assert_eq!(fault.retry, Retry::Never, "{}", fault.what);
    fault
}

fn well() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("lease.md"), "rent").unwrap();
    let target = script(
        folder.path(),
        "IFS= read -r request; echo note one >&2; echo 'note two' >&2\n\
         printf '{\"status\":\"completed\",\"outputs\":{\"text\":\"%s\"},\"asked\":%s}\\n' \"$(cat lease.md)\" \"$request\"",
    );
    let agent = AgentProgram::open(&target, folder.path(), &env(&[])).unwrap();
    let record = wait(agent.run(&request("lease"))).unwrap();
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    assert_eq!(record["outputs"]["text"], "rent");
    assert_eq!(record["asked"]["inputs"]["prompt"], "Read the lease.");
    assert_eq!(
        agent.complaints(&request("lease")).as_deref(),
        Some("note one\nnote two\n")
    );
    assert_eq!(agent.complaints(&request("lease")), None);
    // A program beside the config, by a path from the root; and one that never reads.
    let path = command(&["/bin/sh", "-c", "echo '{}'"], Protocol::Oneshot);
    assert_eq!(ran(&path, folder.path()).unwrap().trim(), "{}");
}

fn failing() {
    let found = fault("echo first >&2; echo 'Traceback\u{1b}[0m: no key' >&2; echo '{}'; exit 3");
    assert_eq!(found.status, RunStatus::Error);
    assert_eq!(
        found.what,
        "the program ended with exit status: 3; stderr ends with: first | Traceback [0m: no key"
    );
    assert!(
        fault("kill -9 $$")
            .what
            .starts_with("the program ended with signal: 9")
    );
    let folder = tempfile::tempdir().unwrap();
    let missing = ran(
        &command(&["./no-such-agent"], Protocol::Oneshot),
        folder.path(),
    )
    .unwrap_err();
    assert!(
        missing.what.starts_with("cannot start ./no-such-agent: "),
        "{}",
        missing.what
    );
}

fn junk() {
    for (text, wanted) in [
        (
            "echo Loading model",
            "the answer is not a run record: expected value at line 1 column 1: Loading model; print {",
        ),
        (
            "exit 0",
            "the answer is not a run record: nothing was printed",
        ),
        (
            "echo '{}'; echo '{}'",
            "the answer is not a run record: trailing characters at line 2 column 1: {} {}",
        ),
        (
            "printf '{\"a\":'",
            "the answer is not a run record: EOF while parsing a value at line 1 column 5: {\"a\":",
        ),
    ] {
        let found = fault(text);
        assert!(
            found.status == RunStatus::Error && found.what.starts_with(wanted),
            "{}",
            found.what
        );
    }
    assert!(
        fault("echo '[1]'")
            .what
            .starts_with("the answer is not a run record: invalid type: sequence")
    );
    assert_eq!(
        fault("printf '{\"a\":\"\\377\"}'").what,
        "the answer is not UTF-8"
    );
}

fn hanging() {
    let folder = tempfile::tempdir().unwrap();
    let mut target = script(
        folder.path(),
        "sleep 60 & echo $! > child; echo working >&2; wait",
    );
    // Long enough for a shell to start on a machine that is busy.
    target.timeout = Some(Duration::from_secs(3));
    let found = ran(&target, folder.path()).unwrap_err();
    let what = "no answer within 3 s; stderr ends with: working".to_owned();
    assert_eq!(
        found,
        CallError {
            status: RunStatus::Timeout,
            what,
            retry: Retry::Never,
            charge: Charge::Possible
        }
    );
    ends(
        fs::read_to_string(folder.path().join("child"))
            .unwrap()
            .trim(),
    );
}

fn leaving() {
    let folder = tempfile::tempdir().unwrap();
    let target = script(folder.path(), "sleep 60 & echo $! > child; echo '{}'");
    let started = Instant::now();
    assert_eq!(ran(&target, folder.path()).unwrap().trim(), "{}");
    assert!(started.elapsed() < Duration::from_secs(5));
    ends(
        fs::read_to_string(folder.path().join("child"))
            .unwrap()
            .trim(),
    );
}

fn cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let target = script(folder.path(), "sleep 60 & echo $! > child; wait");
    let agent = AgentProgram::open(&target, folder.path(), &env(&[])).unwrap();
    let asked = request("lease");
    let has_started =
        || fs::read_to_string(folder.path().join("child")).is_ok_and(|id| id.ends_with('\n'));
    wait(async {
        let mut call = Box::pin(agent.run(&asked));
        // The call is called off once the process has started its child.
        while !has_started() {
            assert!(
                tokio::time::timeout(Duration::from_millis(10), &mut call)
                    .await
                    .is_err()
            );
        }
    });
    ends(
        fs::read_to_string(folder.path().join("child"))
            .unwrap()
            .trim(),
    );
}

fn flooding() {
    let folder = tempfile::tempdir().unwrap();
    // At the limits of both.
    let most =
        "head -c 16777216 /dev/zero >&2; printf '{}'; head -c 33554430 /dev/zero | tr '\\0' ' '";
    assert_eq!(
        ran(&script(folder.path(), most), folder.path())
            .unwrap()
            .trim(),
        "{}"
    );
    let more = "head -c 16777217 /dev/zero >&2; echo '{}'; sleep 60";
    assert!(
        fault(more)
            .what
            .starts_with("the program wrote more than 16 MiB to stderr")
    );
    let more = "printf '{}'; head -c 33554431 /dev/zero | tr '\\0' ' '";
    assert_eq!(fault(more).what, "the program printed more than 32 MiB");
    let found = fault("yes flood >&2");
    assert!(
        found
            .what
            .starts_with("the program wrote more than 16 MiB to stderr; stderr ends with: "),
        "{}",
        found.what
    );
    let found = fault("yes '{}'");
    assert_eq!(found.what, "the program printed more than 32 MiB");
}

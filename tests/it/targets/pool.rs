//! Persistent workers: real processes, well-behaved and not.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use goldgate::live::targets::AgentProgram;
use goldgate::model::{CallError, Protocol, Retry, RunStatus, Target};
use libtest_mimic::Trial;
use serde_json::Value;
use tempfile::TempDir;

use super::{command, ends, env, request, wait};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("workers answer many requests and are few", many),
        trial(
            "a worker that does wrong loses its own sample and no other",
            bad_workers,
        ),
        trial(
            "a worker that answers again later costs nobody else a sample",
            late_second_answer,
        ),
        trial(
            "workers end when their input ends, and are killed when they do not",
            ending,
        ),
        trial(
            "a worker whose call is called off does not answer the next request",
            called_off,
        ),
    ]
}

/// A worker in sh: `$id` and `$case` are of the request, `answer` answers it. What it does on bad cases is `bad`.
fn worker(bad: &str) -> (TempDir, Target) {
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "echo $$ >> workers\n\
         answer() {{ printf '{{\"id\":\"%s\",\"status\":\"completed\",\"outputs\":{{\"text\":\"%s by %s\"}}}}\\n' \"$1\" \"$1\" $$; }}\n\
         while IFS= read -r request; do\n\
         id=${{request#*'\"id\":\"'}}; id=${{id%%'\"'*}}; case=${{id#*/*/}}; case=${{case%%/*}}\n\
         echo \"working on $case\" >&2\n\
         case $case in bad*) {bad} ;; *) answer \"$id\" ;; esac\ndone\n"
    );
    fs::write(folder.path().join("worker.sh"), script).unwrap();
    (folder, command(&["sh", "worker.sh"], Protocol::Jsonl))
}

fn started(folder: &Path) -> BTreeSet<String> {
    fs::read_to_string(folder.join("workers"))
        .unwrap_or_default()
        .lines()
        .map(str::to_owned)
        .collect()
}

/// What a run says, and of which worker.
fn text(record: &str) -> (String, String) {
    let record: Value = serde_json::from_str(record).unwrap();
    let (id, worker) = record["outputs"]["text"]
        .as_str()
        .unwrap()
        .split_once(" by ")
        .unwrap();
    assert_eq!(record["id"], id);
    (id.to_owned(), worker.to_owned())
}

/// Asks for all of them at once, and gives what came, in their order.
fn asked(agent: &Arc<AgentProgram>, cases: &[String]) -> Vec<Result<String, CallError>> {
    let calls = cases.to_vec();
    let agent = agent.clone();
    wait(async move {
        let tasks: Vec<_> = calls
            .into_iter()
            .map(|case| {
                let agent = agent.clone();
                tokio::spawn(async move { agent.run(&request(&case)).await })
            })
            .collect();
        let mut came = Vec::new();
        for task in tasks {
            came.push(task.await.unwrap());
        }
        agent.close().await;
        came
    })
}

fn many() {
    let (folder, target) = worker("answer \"$id\"");
    let agent = Arc::new(AgentProgram::open(&target, folder.path(), &env(&[])).unwrap());
    let cases: Vec<String> = (0..30).map(|number| format!("case-{number}")).collect();
    for (case, record) in cases.iter().zip(asked(&agent, &cases)) {
        assert_eq!(
            text(&record.unwrap()).0,
            format!("contracts/legal/{case}/0")
        );
        assert_eq!(
            agent.complaints(&request(case)).as_deref(),
            Some(format!("working on {case}\n").as_str())
        );
    }
    assert_eq!(started(folder.path()).len(), 2);
}

fn bad_workers() {
    for (bad, status, wanted) in [
        (
            "sleep 60",
            RunStatus::Timeout,
            "no answer within 3 s; stderr ends with: working on bad",
        ),
        (
            "exit 7",
            RunStatus::Error,
            "the worker ended with exit status: 7; stderr ends with: working on bad",
        ),
        (
            "kill -9 $$",
            RunStatus::Error,
            "the worker ended with signal: 9",
        ),
        (
            "exec >&-; sleep 60",
            RunStatus::Timeout,
            "no answer within 3 s",
        ),
        (
            "yes flood >&2",
            RunStatus::Error,
            "the worker wrote more than 16 MiB to stderr",
        ),
        (
            "echo Thinking...",
            RunStatus::Error,
            "the worker's line is not an answer with an id: Thinking...; stderr ends",
        ),
        (
            "echo '{\"status\":\"completed\"}'",
            RunStatus::Error,
            "the worker's line is not an answer with an id: {\"status\"",
        ),
        (
            "answer \"$id\"; answer \"$id\"",
            RunStatus::Error,
            "the worker answered twice; stderr ends",
        ),
        (
            "answer \"$id\"; echo bye",
            RunStatus::Error,
            "the worker printed more after its answer: bye; stderr ends",
        ),
        (
            "answer contracts/legal/good-3/0; answer \"$id\"",
            RunStatus::Error,
            "the worker answered request contracts/legal/good-3/0 instead",
        ),
        (
            "printf '{\"id\":\"%s\"' \"$id\"; exit 0",
            RunStatus::Error,
            "the worker's line is not an answer with an id: {\"id\"",
        ),
    ] {
        let (folder, mut target) = worker(bad);
        target.timeout = Some(Duration::from_secs(if status == RunStatus::Timeout {
            3
        } else {
            60
        }));
        let agent = Arc::new(AgentProgram::open(&target, folder.path(), &env(&[])).unwrap());
        let cases: Vec<String> = (0..12)
            .map(|number| {
                if number % 6 == 2 {
                    format!("bad-{number}")
                } else {
                    format!("good-{number}")
                }
            })
            .collect();
        for (case, came) in cases.iter().zip(asked(&agent, &cases)) {
            if case.starts_with("bad") {
                let fault = came.unwrap_err();
                assert_eq!(
                    (fault.status, fault.retry),
                    (status, Retry::Never),
                    "{bad}: {}",
                    fault.what
                );
                assert!(fault.what.starts_with(wanted), "{bad}: {}", fault.what);
            } else {
                assert_eq!(
                    text(&came.unwrap()).0,
                    format!("contracts/legal/{case}/0"),
                    "{bad}"
                );
            }
        }
        // Two at first, and one in the place of each that was lost and still needed.
        let workers = started(folder.path()).len();
        assert!((3..=4).contains(&workers), "{bad}: {workers}");
    }
}

fn late_second_answer() {
    let (folder, mut target) = worker("answer \"$id\"; (sleep 0.3; answer \"$id\") &");
    target.concurrency = Some(1);
    let agent = Arc::new(AgentProgram::open(&target, folder.path(), &env(&[])).unwrap());
    let asked = agent.clone();
    let (first, second, third) = wait(async move {
        let first = asked.run(&request("bad")).await;
        let second = asked.run(&request("good-1")).await;
        tokio::time::sleep(Duration::from_millis(600)).await;
        (first, second, asked.run(&request("good-2")).await)
    });
    // The first answer stands: nothing was known against it.
    let workers = [first, second, third].map(|record| text(&record.unwrap()).1);
    assert_eq!(workers[0], workers[1]);
    assert_ne!(workers[1], workers[2]);
}

fn ending() {
    let (folder, mut target) =
        worker("answer \"$id\"; trap '' HUP TERM; sleep 60 & wait; sleep 60");
    target.concurrency = Some(2);
    let agent = Arc::new(AgentProgram::open(&target, folder.path(), &env(&[])).unwrap());
    let began = Instant::now();
    // The last of the two goes on and on after its answer.
    let came = asked(&agent, &["good-1".to_owned(), "bad-1".to_owned()]);
    assert!(came.iter().all(Result::is_ok), "{came:?}");
    assert!(began.elapsed() < Duration::from_secs(10));
    started(folder.path()).iter().for_each(|id| ends(id));
}

fn called_off() {
    let (folder, mut target) = worker("sleep 1; answer \"$id\"");
    target.concurrency = Some(1);
    let agent = AgentProgram::open(&target, folder.path(), &env(&[])).unwrap();
    wait(async {
        let asked = request("bad");
        {
            let mut answer = std::pin::pin!(agent.run(&asked));
            while started(folder.path()).is_empty() {
                assert!(
                    tokio::time::timeout(Duration::from_millis(10), answer.as_mut())
                        .await
                        .is_err()
                );
            }
        }
        let record = agent.run(&request("good")).await.unwrap();
        assert_eq!(text(&record).0, "contracts/legal/good/0");
    });
    assert_eq!(started(folder.path()).len(), 2);
}

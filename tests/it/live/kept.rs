//! Recordings and finished samples: whenever a run is broken off, nothing is lost.

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::endpoint::{Answer, Endpoint};
use super::{GOOD, KEY, cases, live, model, named};
use crate::repository::program;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a run that is killed while it records loses no recording",
            killed,
        ),
        trial(
            "finished samples are kept until their recordings are on disk",
            unwritable,
        ),
        trial(
            "the case with the longest name is recorded, and recorded again",
            long_name,
        ),
        trial(
            "recordings without an answer are not to be committed",
            unanswered,
        ),
        trial(
            "recording again with fewer samples leaves none of the old ones",
            fewer,
        ),
        trial(
            "with --missing, recordings that are up to date are kept, and only the others are made",
            missing,
        ),
        trial(
            "recording again makes as many samples as are recorded, unless a number is given",
            as_many,
        ),
    ]
}

const CASES: usize = 40;

fn killed() {
    let endpoint = Endpoint::new(Duration::ZERO, |_, prompt| Answer::Says(named(prompt)));
    let repository = live(&endpoint, "openai", "");
    cases(&repository, CASES);
    // All answers come from the cache, so that a run is little else but writing.
    let arguments = ["--samples", "3", "--cache=all", "--record", "recorded"];
    assert_eq!(model(&repository, &arguments).code, 0);
    for round in 0..14_u64 {
        let mut command = program(&repository.path(""));
        command
            .args(["run", "-v", "--tier", "model", "--quiet"])
            .args(arguments)
            .env("LIVE_KEY", KEY);
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_millis(60 + 45 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        for case in 0..CASES {
            for sample in 0..3 {
                let text = repository.read(&format!("recorded/legal/c{case}/{sample}.json"));
                assert!(
                    serde_json::from_str::<Value>(&text).is_ok(),
                    "round {round}: c{case}/{sample}"
                );
            }
        }
    }
    let folders = std::fs::read_dir(repository.path("recorded/legal"))
        .unwrap()
        .count();
    assert_eq!(folders, CASES, "no draft stands beside recordings");
}

fn unwritable() {
    let endpoint = Endpoint::new(Duration::ZERO, |_, _| Answer::Says(GOOD.to_owned()));
    let repository = live(&endpoint, "openai", "");
    repository.write("recorded/legal", "this is no folder");
    let ran = model(&repository, &["--samples", "3", "--record", "recorded"]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(repository.path(".goldgate/unfinished").exists());
    repository.remove("recorded/legal");
    let asked = endpoint.requests();
    let ran = model(
        &repository,
        &["--samples", "3", "--record", "recorded", "--resume"],
    );
    assert_eq!(
        (ran.code, endpoint.requests()),
        (0, asked),
        "{}",
        ran.stderr
    );
    assert!(repository.path("recorded/legal/lease/2.json").exists());
    assert!(!repository.path(".goldgate/unfinished").exists());
}

fn long_name() {
    let endpoint = Endpoint::new(Duration::ZERO, |_, _| Answer::Says(GOOD.to_owned()));
    let repository = live(&endpoint, "openai", "");
    let name = "l".repeat(245);
    repository.write(
        &format!("golden/expected/legal/{name}.json"),
        repository.read("golden/expected/legal/lease.json"),
    );
    repository.write(
        &format!("golden/contracts/{name}.md"),
        repository.read("golden/contracts/lease.md"),
    );
    for samples in ["1", "1", "3", "3"] {
        let ran = model(
            &repository,
            &[
                "--samples",
                samples,
                "--record",
                "recorded",
                "--case",
                "lll*",
            ],
        );
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    }
    assert!(
        repository
            .path(&format!("recorded/legal/{name}/2.json"))
            .exists()
    );
    assert!(
        !repository
            .path(&format!("recorded/legal/{name}.json"))
            .exists()
    );
}

fn unanswered() {
    let noted = |bad: usize| {
        let endpoint = Endpoint::new(Duration::ZERO, move |number, _| match number < bad {
            true => Answer::Status(400, "", "{}"),
            false => Answer::Says(GOOD.to_owned()),
        });
        let repository = live(&endpoint, "openai", "");
        let ran = model(&repository, &["--samples", "3", "--record", "recorded"]);
        ran.stdout + &ran.stderr
    };
    for (bad, noted_words) in [
        (
            0,
            "recorded 3 samples of 1 agent; commit them to use them in the deterministic tier",
        ),
        (
            1,
            "recorded 3 samples of 1 agent; 1 of them has no answer and is inconclusive",
        ),
        (
            3,
            "recorded 3 samples of 1 agent; none of them has an answer: correct the agent",
        ),
    ] {
        let text = noted(bad);
        assert!(text.contains(noted_words), "{bad}: {text}");
    }
    // Good recordings are not replaced by samples that all failed.
    let endpoint = Endpoint::new(Duration::ZERO, |number, _| match number {
        0 => Answer::Says(GOOD.to_owned()),
        _ => Answer::Status(400, "", "{}"),
    });
    let repository = live(&endpoint, "openai", "");
    assert_eq!(model(&repository, &["--record", "recorded"]).code, 0);
    let good = repository.read("recorded/legal/lease.json");
    let ran = model(&repository, &["--record", "recorded"]);
    let says = "no sample has an answer, so nothing was recorded and the recordings are unchanged: correct the agent";
    assert!(
        (ran.stdout.clone() + &ran.stderr).contains(says),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert_eq!(repository.read("recorded/legal/lease.json"), good);
}

fn fewer() {
    let changed = Arc::new(AtomicBool::new(false));
    let now = Arc::clone(&changed);
    let endpoint = Endpoint::new(Duration::ZERO, move |_, _| {
        Answer::Says(if now.load(Ordering::SeqCst) {
            GOOD.replace("prior consent", "approval")
        } else {
            GOOD.to_owned()
        })
    });
    let repository = live(&endpoint, "openai", "");
    assert_eq!(
        model(&repository, &["--samples", "5", "--record", "recorded"]).code,
        0
    );
    changed.store(true, Ordering::SeqCst);
    assert_eq!(
        model(&repository, &["--samples", "2", "--record", "recorded"]).code,
        0
    );
    let count = std::fs::read_dir(repository.path("recorded/legal/lease"))
        .unwrap()
        .count();
    assert_eq!(count, 2);
    let record: Value =
        serde_json::from_str(&repository.read("recorded/legal/lease/1.json")).unwrap();
    assert!(
        record["outputs"].to_string().contains("approval"),
        "{}",
        json!(record)
    );
}

fn as_many() {
    let endpoint = Endpoint::new(Duration::ZERO, |_, _| Answer::Says(GOOD.to_owned()));
    let repository = live(&endpoint, "openai", "");
    repository.remove("golden/runs/legal/lease.json");
    let again = |more: &[&str]| {
        let ran = model(&repository, &[&["--record", "golden/runs"], more].concat());
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        std::fs::read_dir(repository.path("golden/runs/legal/lease"))
            .map_or(1, |samples| samples.count())
    };
    assert_eq!(again(&[]), 1);
    assert_eq!(again(&["--samples", "3"]), 3);
    assert_eq!(again(&[]), 3);
    assert_eq!(again(&["--samples", "1"]), 1);
}

fn missing() {
    let endpoint = Endpoint::new(Duration::ZERO, |_, _| Answer::Says(GOOD.to_owned()));
    let repository = live(&endpoint, "openai", "");
    repository.remove("golden/runs/legal/lease.json");
    let record = |more: &[&str]| {
        let before = endpoint.requests();
        let ran = model(&repository, &[&["--record", "golden/runs"], more].concat());
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        let made = endpoint.requests() - before;
        // Kept recordings are not counted as recorded.
        let says = match made {
            0 => "up to date and w".to_owned(),
            1 => "recorded 1 sample of".to_owned(),
            _ => format!("recorded {made} samples of"),
        };
        assert!(
            ran.stdout.contains(&says) && (made > 0) == ran.stdout.contains("note: recorded"),
            "{says}: {}",
            ran.stdout
        );
        made
    };
    assert_eq!(record(&["--missing"]), 1);
    let first = repository.read("golden/runs/legal/lease.json");
    assert_eq!(record(&["--missing"]), 0);
    assert_eq!(record(&["--missing", "--samples", "3"]), 2);
    assert_eq!(repository.read("golden/runs/legal/lease/0.json"), first);
    repository.remove("golden/runs/legal/lease/1.json");
    assert_eq!(record(&["--missing"]), 1);
    // Of another agent, another input or another model.
    repository.replace("prompts/legal.md", "every", "each");
    assert_eq!(record(&["--missing"]), 3);
    repository.replace("golden/contracts/lease.md", "# ", "## ");
    assert_eq!(record(&["--missing"]), 3);
    repository.replace(
        "golden/runs/legal/lease/2.json",
        "\"model\": \"",
        "\"model\": \"other-",
    );
    // A server may answer with another name than the one that it was asked for.
    assert_eq!(record(&["--missing"]), 0);
    repository.replace(
        "golden/runs/legal/lease/2.json",
        "\"target_sha256\"",
        "\"unknown\"",
    );
    assert_eq!(record(&["--missing"]), 1);
    assert_eq!(record(&[]), 3);
    repository.replace(
        "goldgate.yaml",
        "model: model-1",
        "model: model-1, temperature: 0.5",
    );
    assert_eq!(record(&["--missing"]), 3);
    let refused = repository.goldgate(&["run", "--tier", "model", "--missing"]);
    assert!(
        refused.code == 2 && refused.stderr.contains("--record"),
        "{}",
        refused.stderr
    );
}

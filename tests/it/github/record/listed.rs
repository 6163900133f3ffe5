//! `recordings: { trust: ci }`: a recording counts by the list in the artifact of the run that wrote it.

use std::io::{Cursor, Write};

use libtest_mimic::Trial;
use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::{Recorded, head_sha};
use crate::github::RUN;
use crate::github::standin::runs::StartedRun;
use crate::live::GOOD;
use crate::repository::Ran;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "under `trust: ci` the gate is green on what the recording workflow wrote",
            written,
        ),
        trial(
            "under `trust: ci` nothing else gives a recording a verdict",
            not_listed,
        ),
        trial(
            "under `trust: ci` the newest list of a recording counts",
            newest,
        ),
        trial(
            "under `trust: ci` the gate waits for a recording run that has not ended",
            in_progress,
        ),
    ]
}

const LIST: &str = ".goldgate/recorded.json";
const FOLDER: &str = ".goldgate/recordings";

/// The recording run of the label, whose artifact the workflow uploads.
struct Listed {
    story: Recorded,
    tip: String,
}

impl Listed {
    fn new() -> Self {
        let story = Recorded::new();
        for side in [&story.base, &story.head] {
            side.replace(
                "goldgate.yaml",
                "suites:",
                "recordings: { trust: ci }\nsuites:",
            );
        }
        let ran = story.labeled("alice");
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        let artifact = format!("goldgate-recordings-{}", head_sha());
        assert_eq!(
            [story.output("report"), story.output("artifact")],
            [FOLDER, artifact.as_str()]
        );
        let tip = story.github.head("changes").unwrap();
        Self { story, tip }
    }

    fn list(&self) -> String {
        self.story.workspace.read(&format!("{FOLDER}/{LIST}"))
    }

    /// A run of the workflow that uploaded a list.
    fn run(&self, id: u64, number: u64, list: &str) {
        let github = &self.story.github;
        github.start_run(&StartedRun {
            id,
            event: "pull_request_target",
            number: 2,
            head: &self.story.github.head("master").unwrap(),
            title: &format!("goldgate record #{number}"),
            actor: "alice",
        });
        github.change_run(id, |run| {
            run["path"] = json!(".github/workflows/goldgate-record.yml")
        });
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        archive
            .start_file(LIST, SimpleFileOptions::default())
            .unwrap();
        archive.write_all(list.as_bytes()).unwrap();
        github.upload(id, archive.finish().unwrap().into_inner());
        github.end_run(id, "success");
    }

    fn gate(&self) -> Ran {
        let job = self.story.merged(&self.tip);
        let ran = job
            .variable("GITHUB_SERVER_URL", "https://github.com")
            .runs();
        assert!(self.story.github.leaks().is_empty());
        ran
    }

    #[track_caller]
    fn is_refused(&self, why: &str) {
        let ran = self.gate();
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(ran.code == 3 && said.contains(why), "{why}: {said}");
    }
}

fn written() {
    let listed = Listed::new();
    listed.run(90, 2, &listed.list());
    let ran = listed.gate();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    // Edited by hand, with digests that fit.
    let head = &listed.story.head;
    let text = String::from_utf8(listed.story.github.read_at(&listed.tip, RUN)).unwrap();
    let mut run: Value = serde_json::from_str(&text).unwrap();
    run["outputs"]["text"] = json!(GOOD.replace("landlord", "tenant"));
    run["outputs"]["note"] = json!("mine");
    head.write(RUN, run.to_string());
    head.goldgate(&["stamp", "--stale"]);
    let edited = head.read(RUN).into_bytes();
    assert_ne!(edited, text.into_bytes());
    listed.story.github.change_commit(&listed.tip, |commit| {
        commit.entries.insert(RUN.to_owned(), (0o100_644, edited));
    });
    listed.is_refused("its newest list has other digests; record again");
}

fn not_listed() {
    const NONE: &str = "no successful run of goldgate-record.yml for this pull request lists them";
    let listed = Listed::new();
    let list = listed.list();
    listed.is_refused(NONE);
    // A run for another pull request, by its name or by its list.
    listed.run(90, 3, &list);
    listed.is_refused(NONE);
    let of_other = list.replace("\"pull_request\": 2", "\"pull_request\": 3");
    listed.run(91, 2, &of_other);
    listed.is_refused(NONE);
    // A run that failed, one of another event, and one of another workflow.
    listed.run(92, 2, &list);
    let github = &listed.story.github;
    for (key, value, right) in [
        ("conclusion", "failure", "success"),
        ("event", "pull_request", "pull_request_target"),
        (
            "path",
            ".github/workflows/other.yml",
            ".github/workflows/goldgate-record.yml",
        ),
    ] {
        github.change_run(92, |run| run[key] = json!(value));
        listed.is_refused(NONE);
        github.change_run(92, |run| run[key] = json!(right));
    }
    assert_eq!(listed.gate().code, 0);
    // An expired artifact, a token that may not read it, a list that is none.
    github.expire();
    listed.is_refused("a list of it has expired; record again");
    github.deny("actions: read");
    listed.is_refused("actions: read");
    github.allow("actions: read");
    listed.run(93, 2, "{}");
    listed.is_refused("expired");
    // Elsewhere the file of such a run may be the base branch's.
    let ran = listed.story.gate(&listed.tip);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout
            .contains("a server other than https://github.com"),
        "{}",
        ran.stdout
    );
}

fn newest() {
    let listed = Listed::new();
    let list = listed.list();
    let other = list.replace("\"content_sha256\": \"", "\"content_sha256\": \"0");
    listed.run(90, 2, &list);
    listed.run(91, 2, &other);
    listed.is_refused("its newest list has other digests");
    listed.run(92, 2, &list);
    let ran = listed.gate();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

fn in_progress() {
    let listed = Listed::new();
    listed.run(90, 2, &listed.list());
    let github = &listed.story.github;
    github.change_run(90, |run| run["conclusion"] = json!(null));
    let ran = std::thread::scope(|scope| {
        let gate = scope.spawn(|| listed.gate());
        std::thread::sleep(std::time::Duration::from_secs(4));
        github.change_run(90, |run| run["conclusion"] = json!("success"));
        gate.join().unwrap()
    });
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

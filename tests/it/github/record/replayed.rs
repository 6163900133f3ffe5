//! Recordings of CI that are taken elsewhere, and a base branch that somebody chose.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::trust::{is_unproven, pushed, text, trusted, trusting};
use super::{LABEL, Recorded, add_case, base_sha, head_sha};
use crate::github::RUN;
use crate::live::endpoint::{Answer, Endpoint};
use crate::live::{GOOD, KEY};
use crate::repository::Ran;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a pull request into a branch that anybody may push is not recorded",
            open_base,
        ),
        trial(
            "recordings of another branch count where the agent and the input are the same, and nowhere else",
            replayed,
        ),
        trial(
            "a part of the recordings of a run does not count",
            parts_of_a_run,
        ),
        trial("a sample that is copied does not count", copied_sample),
        trial(
            "recordings that name more runs than are looked up give no verdict",
            many_runs,
        ),
    ]
}

const OTHER_RUN: &str = "golden/runs/legal/other.json";

/// Whoever may push a branch may write its config, and with it the address that gets the keys.
fn open_base() {
    let evil = Endpoint::new(std::time::Duration::ZERO, |_, _| {
        Answer::Says(GOOD.to_owned())
    });
    let into_mine = || {
        let story = Recorded::new();
        let own = format!("{}/v1", story.model.address());
        for side in [&story.base, &story.head] {
            side.replace("goldgate.yaml", &own, &format!("{}/v1", evil.address()));
        }
        story.github.branch("mine", &"e".repeat(40));
        story.github.commit(&"e".repeat(40), &story.base);
        story.github.retarget("mine");
        story
    };
    let story = into_mine();
    let ran = story.labeled("alice");
    assert_eq!(
        (ran.code, evil.requests()),
        (0, 0),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    story.is_refused(
        &ran,
        "the config of the base branch mine would decide where the keys are sent",
    );
    // A protected pattern fits branches that anybody may create.
    let (story, default) = (into_mine(), Recorded::new());
    story.github.guard("mine");
    story.github.branch("master", &"f".repeat(40));
    story.github.commit(&"f".repeat(40), &default.base);
    let ran = story.labeled("alice");
    assert_eq!(
        (ran.code, evil.requests()),
        (0, 0),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    story.is_refused(
        &ran,
        "the config of the base branch mine would decide where the keys are sent",
    );
    // Where nobody may know it, it is not known.
    let story = into_mine();
    story.github.guard("mine");
    story.github.deny("metadata: read");
    let ran = story.labeled("alice");
    assert_eq!(
        (ran.code, evil.requests()),
        (0, 0),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    // The control: the default branch has the same addresses.
    let story = into_mine();
    story.github.guard("mine");
    story.github.branch("master", &"e".repeat(40));
    let ran = story.labeled("alice");
    assert_eq!(
        (ran.code, evil.requests()),
        (0, 1),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert!(evil.keys().iter().all(|key| key.ends_with(KEY)));
    // Nor does the run of a label that is dropped and seen later, after a change of the base.
    let story = Recorded::new();
    story.commit();
    story.github.label_by("alice", LABEL);
    story.github.branch("mine", &base_sha());
    story.github.retarget("mine");
    let ran = story.job().runs();
    story.is_refused(&ran, "the base branch mine");
}

fn replayed() {
    let story = trusting();
    story.labeled("alice");
    let tip = story.github.head("changes").unwrap();
    let recorded = text(&story, &tip, RUN);
    // Another branch with the same prompt.
    let same = pushed(
        &story,
        &head_sha(),
        &[(RUN, &recorded), ("README.md", "# Agents\n")],
    );
    let ran = story.gate(&same);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    // One with another prompt, and one with another document.
    for (file, other) in [
        ("prompts/legal.md", "Report nothing at all.\n"),
        (
            "golden/contracts/lease.md",
            "# Lease\n\nOn a change of control the landlord may say no.\n",
        ),
    ] {
        let other = pushed(&story, &head_sha(), &[(RUN, &recorded), (file, other)]);
        let ran = story.gate(&other);
        assert_ne!(ran.code, 0, "{file}: {}{}", ran.stdout, ran.stderr);
    }
    // One that says that it is of another commit, or of another run.
    let mut run: Value = serde_json::from_str(&recorded).unwrap();
    for (key, value) in [
        ("commit", json!(base_sha())),
        (
            "run",
            json!("https://github.example/acme/agents/actions/runs/8"),
        ),
    ] {
        let before = run["provenance"][key].take();
        run["provenance"][key] = value;
        is_unproven(
            &story.gate(&pushed(&story, &head_sha(), &[(RUN, &run.to_string())])),
            RUN,
        );
        run["provenance"][key] = before;
    }
}

/// Its numbers are bad as well, so it is red.
#[track_caller]
fn none_left(ran: &Ran, file: &str) {
    let said = ran
        .stdout
        .lines()
        .find(|line| line.contains("and none left"))
        .unwrap_or_default();
    assert!(
        ran.code != 0 && said.contains(file),
        "{file}: {}{}",
        ran.stdout,
        ran.stderr
    );
}

/// A run recorded two cases; somebody takes the one that is good, and a second run's for the other.
fn parts_of_a_run() {
    let story = trusting();
    add_case(&story.head, "other");
    let ran = story.labeled("alice");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let tip = story.github.head("changes").unwrap();
    let ran = story.gate(&tip);
    assert!(
        !ran.stdout.contains("none left"),
        "the control: {}{}",
        ran.stdout,
        ran.stderr
    );
    let [first, other] = [RUN, OTHER_RUN].map(|file| text(&story, &tip, file));
    let edited = |text: &str| text.replace("Needs prior consent.", "Needs prior written consent.");
    let next = pushed(
        &story,
        &head_sha(),
        &[(RUN, &first), (OTHER_RUN, &edited(&other))],
    );
    none_left(&story.gate(&next), RUN);
    let next = pushed(
        &story,
        &head_sha(),
        &[(RUN, &edited(&first)), (OTHER_RUN, &other)],
    );
    none_left(&story.gate(&next), OTHER_RUN);
}

fn copied_sample() {
    // Two samples with one answer and one duration would be the same bytes, and nothing would have been copied.
    let story = trusted(Recorded::answered(|request, _| {
        Answer::Says(format!("{GOOD}{}", "\n".repeat(request)))
    }));
    for side in [&story.base, &story.head] {
        let run = side.read(RUN);
        side.remove(RUN);
        for sample in 0..2 {
            let file = format!("golden/runs/legal/lease/{sample}.json");
            side.write(
                &file,
                run.replace("\"sample\": 0", &format!("\"sample\": {sample}")),
            );
        }
    }
    let ran = story.labeled("alice");
    assert_eq!(
        (ran.code, story.model.requests()),
        (0, 2),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let tip = story.github.head("changes").unwrap();
    let ran = story.gate(&tip);
    assert_eq!(ran.code, 0, "the control: {}{}", ran.stdout, ran.stderr);
    let second = "golden/runs/legal/lease/1.json";
    let best = text(&story, &tip, "golden/runs/legal/lease/0.json")
        .replace("\"sample\": 0", "\"sample\": 1");
    is_unproven(
        &story.gate(&pushed(&story, &tip, &[(second, &best)])),
        second,
    );
}

fn many_runs() {
    let story = trusting();
    let mut run: Value = serde_json::from_str(&story.head.read(RUN)).unwrap();
    for number in 0..101 {
        let name = format!("case-{number}");
        add_case(&story.head, &name);
        run["provenance"]["commit"] = json!(format!("{number:0>40}"));
        run["provenance"]["run"] = json!("by hand");
        let own = run
            .to_string()
            .replace("\"lease\"", &format!("\"{name}\""))
            .replace("lease.md", &format!("{name}.md"));
        story
            .head
            .write(&format!("golden/runs/legal/{name}.json"), own);
    }
    story.commit();
    let ran = story.gate(&head_sha());
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout
            .contains("they name 101 commits, and the statuses of at most 100 are read"),
        "{}",
        ran.stdout
    );
}

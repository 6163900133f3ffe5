//! `recordings: { trust: ci }`: recordings of a pull request count only where a run of `mode: record` left their digest.

use goldgate::golden_changes::{proof_description, recording_digest};
use goldgate::model::RepoPath;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::{BOT, LABEL, Recorded, add_case, base_sha, head_sha};
use crate::github::standin::Standin;
use crate::github::{Job, RUN};
use crate::golden_changes::commit_all;
use crate::live::KEY;
use crate::repository::{Ran, Repository};
use crate::trial;

const TRUST: &str = "recordings: { trust: ci }\n";

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "recordings that a run left count, also after a push and a rebase",
            recorded,
        ),
        trial(
            "a recording written by hand does not count, whatever it says of itself",
            by_hand,
        ),
        trial("a status of somebody else proves nothing", status),
        trial(
            "a recording that is edited after the run does not count",
            edited,
        ),
        trial("a pull request does not switch the trust off", switched_off),
        trial(
            "recordings of another prompt are stale, proven or not",
            other_prompt,
        ),
        trial(
            "what a request contains beyond its digests is the base branch's",
            base_request,
        ),
        trial("what the base holds needs no proof", of_base),
        trial(
            "without the right to read statuses there is no verdict",
            unread,
        ),
        trial(
            "without GitHub there is no verdict on recordings that have to be proved",
            locally,
        ),
        trial("an app that the config names is the only recorder", app),
        trial(
            "recording one case again keeps the proof of the others",
            partly,
        ),
        trial("a fork's recordings count once they are pushed", fork),
        trial(
            "two configs are recorded by one label, and each recording is proven by its own run",
            configs,
        ),
        trial(
            "a label that somebody took away records no further config",
            label_of_a_user,
        ),
        trial(
            "the parts of a matrix are judged by the recordings that a run left",
            parts,
        ),
        trial(
            "in a merge queue recordings count as on the pull request",
            queue,
        ),
    ]
}

/// A pull request into a base that trusts recordings of CI alone.
pub fn trusting() -> Recorded {
    trusted(Recorded::new())
}

/// The same for a story with answers of its own.
pub fn trusted(story: Recorded) -> Recorded {
    for side in [&story.base, &story.head] {
        side.replace("goldgate.yaml", "suites:\n", &format!("{TRUST}suites:\n"));
    }
    story
}

/// Records with the model on a machine of the author.
fn record_by_hand(repository: &Repository) {
    let arguments = [
        "run",
        "--tier",
        "model",
        "--quiet",
        "-v",
        "--record",
        "golden/runs",
    ];
    let ran = repository.goldgate_with(&arguments, &[("LIVE_KEY", KEY)]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

#[track_caller]
pub fn is_unproven(ran: &Ran, file: &str) {
    let said = [ran.stdout.clone(), ran.stderr.clone()].concat();
    assert_eq!(ran.code, 3, "{said}");
    assert!(
        said.contains(file) && said.contains("set the label goldgate:record"),
        "{said}"
    );
}

/// A pull request with a recording that its author made, and the job of the gate.
pub fn written_by_hand() -> (Standin, impl Fn() -> Ran + Sync + 'static) {
    let story = trusting();
    record_by_hand(&story.head);
    story.commit();
    (story.github.clone(), move || story.gate(&head_sha()))
}

/// A commit with the files of a known one, changed.
pub fn pushed(story: &Recorded, from: &str, changes: &[(&str, &str)]) -> String {
    let id = "9".repeat(40);
    story.github.commit(&id, &story.head);
    let mut files = None;
    story
        .github
        .change_commit(from, |commit| files = Some(commit.clone()));
    story.github.change_commit(&id, |commit| {
        *commit = files.unwrap();
        for (path, text) in changes {
            commit
                .entries
                .insert((*path).to_owned(), (0o100_644, text.as_bytes().to_vec()));
        }
    });
    id
}

pub fn text(story: &Recorded, commit: &str, path: &str) -> String {
    let mut text = None;
    story.github.change_commit(commit, |commit| {
        text = commit.entries.get(path).map(|(_, bytes)| bytes.clone())
    });
    String::from_utf8(text.unwrap()).unwrap()
}

fn recorded() {
    let story = trusting();
    let ran = story.labeled("alice");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(story.github.contexts(&head_sha()), ["goldgate/recordings"]);
    let tip = story.github.head("changes").unwrap();
    let ran = story.gate(&tip);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    // A rebased commit is another one, and the recordings are the same.
    let rebased = pushed(&story, &tip, &[("README.md", "# Agents\n")]);
    let ran = story.gate(&rebased);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

/// A commit asks an easier question, is recorded by CI, and its recordings are then put beside the base's question.
fn base_request() {
    let other_target = |story: &Recorded| {
        for side in [&story.base, &story.head] {
            let config = side.read("goldgate.yaml");
            let live = config
                .lines()
                .find(|line| line.trim_start().starts_with("live:"))
                .unwrap()
                .to_owned();
            side.write(
                "goldgate.yaml",
                config.replace(
                    &live,
                    &format!("{live}\n{}", live.replacen("live:", "better:", 1)),
                ),
            );
        }
        story
            .head
            .replace("goldgate.yaml", "{ target: live,", "{ target: better,");
    };
    let no_prompt = |story: &Recorded| {
        story
            .base
            .replace("goldgate.yaml", ", prompt: prompts/legal.md", "")
    };
    let categories = |story: &Recorded| {
        let own = "    kind: findings\n";
        story.head.replace(
            "goldgate.yaml",
            own,
            &format!("{own}    categories: [change_of_control, termination, rent]\n"),
        );
    };
    type Change<'a> = &'a dyn Fn(&Recorded);
    let changes: [(Change<'_>, &str); 3] = [
        (&other_target, "lets another target answer"),
        (&no_prompt, "adds or removes its `prompt`"),
        (&categories, "alters the request of the case \"lease\""),
    ];
    for (change, why) in changes {
        let story = trusting();
        change(&story);
        let ran = story.labeled("alice");
        let said = [story.note(), ran.stdout.clone(), ran.stderr.clone()].concat();
        assert!(
            said.contains(why) && story.model.requests() == 0,
            "{why}: {said}"
        );
        assert!(story.github.contexts(&head_sha()).is_empty());
    }
}

fn by_hand() {
    // The control: where nobody asks for a proof it passes, because its digests are those of the agent and the input.
    let control = Recorded::new();
    record_by_hand(&control.head);
    control.commit();
    assert_eq!(control.gate(&head_sha()).code, 0);
    let story = trusting();
    record_by_hand(&story.head);
    story.commit();
    is_unproven(&story.gate(&head_sha()), RUN);
    // It claims to be of a run that exists, on a commit that has a status of another recording.
    let mut run: Value = serde_json::from_str(&story.head.read(RUN)).unwrap();
    run["provenance"]["commit"] = json!(head_sha());
    run["provenance"]["run"] =
        json!("https://github.example/acme/agents/actions/runs/7/attempts/1");
    let other = proof_description(1, &"a".repeat(64));
    story
        .github
        .status_of(BOT, &head_sha(), "goldgate/recordings", ["success", &other]);
    story.head.write(RUN, run.to_string());
    story.commit();
    is_unproven(&story.gate(&head_sha()), RUN);
    // The label records it again, although it is not stale.
    story.github.label_by("alice", LABEL);
    let ran = story.job().runs();
    assert_eq!(
        (ran.code, story.model.requests()),
        (0, 2),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert_eq!(story.gate(&story.github.head("changes").unwrap()).code, 0);
}

fn status() {
    let story = trusting();
    record_by_hand(&story.head);
    let mut run: Value = serde_json::from_str(&story.head.read(RUN)).unwrap();
    run["provenance"]["commit"] = json!(head_sha());
    run["provenance"]["run"] = json!("by hand");
    story.head.write(RUN, run.to_string());
    story.commit();
    let (file, bytes) = (RepoPath::root().join(RUN).unwrap(), story.head.read(RUN));
    let description = proof_description(
        1,
        &recording_digest([(&file, bytes.as_bytes())].into_iter()),
    );
    for (creator, context, state) in [
        ("mallory", "goldgate/recordings", "success"),
        ("acme-other[bot]", "goldgate/recordings", "success"),
        (BOT, "goldgate/baseline", "success"),
        (BOT, "goldgate/recordings", "failure"),
        (BOT, "goldgate/recordings", "pending"),
    ] {
        story
            .github
            .status_of(creator, &head_sha(), context, [state, &description]);
        is_unproven(&story.gate(&head_sha()), RUN);
    }
    // The control: the same text by the recorder.
    story.github.status_of(
        BOT,
        &head_sha(),
        "goldgate/recordings",
        ["success", &description],
    );
    assert_eq!(story.gate(&head_sha()).code, 0);
}

fn edited() {
    let story = trusting();
    story.labeled("alice");
    let tip = story.github.head("changes").unwrap();
    let better =
        text(&story, &tip, RUN).replace("Needs prior consent.", "Needs prior written consent.");
    is_unproven(&story.gate(&pushed(&story, &tip, &[(RUN, &better)])), RUN);
    // The same bytes at another place are another recording.
    let moved = text(&story, &tip, RUN);
    add_case(&story.head, "other");
    let other = "golden/runs/legal/other.json";
    let case = story.head.read("golden/expected/legal/other.json");
    let document = story.head.read("golden/contracts/other.md");
    let changes = [
        (
            other,
            moved
                .replace("\"case\": \"lease\"", "\"case\": \"other\"")
                .replace("lease.md", "other.md"),
        ),
        ("golden/expected/legal/other.json", case),
        ("golden/contracts/other.md", document),
    ];
    let changes: Vec<(&str, &str)> = changes
        .iter()
        .map(|(path, text)| (*path, text.as_str()))
        .collect();
    is_unproven(&story.gate(&pushed(&story, &tip, &changes)), other);
}

fn switched_off() {
    let story = trusting();
    for config in [
        String::new(),
        "recordings: { trust: ci, recorder: mallory }\n".to_owned(),
    ] {
        record_by_hand(&story.head);
        let text = story.base.read("goldgate.yaml");
        story
            .head
            .write("goldgate.yaml", text.replace(TRUST, &config));
        story.commit();
        let ran = story.gate(&head_sha());
        let wanted = [
            "none left golden/runs/legal/lease.json",
            "which recordings of a pull request count: those that",
        ];
        assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
        assert!(
            wanted.iter().all(|words| ran.stdout.contains(words)),
            "{}",
            ran.stdout
        );
    }
}

fn other_prompt() {
    let story = trusting();
    story.labeled("alice");
    let tip = story.github.head("changes").unwrap();
    let worse = pushed(
        &story,
        &tip,
        &[("prompts/legal.md", "Report nothing at all.\n")],
    );
    let ran = story.gate(&worse);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(
        !ran.stdout.contains("none left"),
        "they are proven, and of another prompt: {}",
        ran.stdout
    );
}

fn of_base() {
    let story = trusting();
    story
        .head
        .write("prompts/legal.md", story.base.read("prompts/legal.md"));
    story.head.write("README.md", "# Agents\n");
    // Another form is the same recording.
    let value: Value = serde_json::from_str(&story.head.read(RUN)).unwrap();
    story.head.write(RUN, value.to_string());
    story.commit();
    let ran = story.gate(&head_sha());
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

fn unread() {
    let story = trusting();
    story.labeled("alice");
    let tip = story.github.head("changes").unwrap();
    story.github.deny("statuses: read");
    let ran = story.gate(&tip);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("`statuses: read`"), "{}", ran.stdout);
    // A run that cannot leave its digest leaves nothing.
    let story = trusting();
    story.github.deny("statuses: write");
    let ran = story.labeled("alice");
    let done = (story.github.commits().len(), story.model.requests());
    assert_eq!(
        (ran.code, done),
        (3, (0, 0)),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

fn locally() {
    let story = trusting();
    let path = std::env::var("PATH").unwrap();
    story.base.remove(".git");
    commit_all(&story.base);
    let run = || {
        story
            .base
            .goldgate_with(&["run", "--base", "HEAD"], &[("PATH", &path)])
    };
    assert_eq!(run().code, 0, "the control");
    story.base.write(
        "prompts/legal.md",
        "Report every change of control, and be brief.\n",
    );
    record_by_hand(&story.base);
    let ran = run();
    assert!(
        ran.code == 3 && ran.stdout.contains("which cannot be checked here"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

fn app() {
    let own = "recordings: { trust: ci, recorder: 'acme-recorder[bot]' }\n";
    let story = trusting();
    for side in [&story.base, &story.head] {
        side.replace("goldgate.yaml", TRUST, own);
    }
    let ran = story.labeled("alice");
    assert_eq!(ran.code, 2, "{}{}", ran.stdout, ran.stderr);
    story.is_refused(&ran, "recordings of github-actions[bot] do not count");
    story.github.app("acme-recorder[bot]");
    let ran = story.labeled("alice");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    story.github.app(BOT);
    let ran = story.gate(&story.github.head("changes").unwrap());
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

/// The config of a second team, with recordings of its own.
const MORE: &str = "more.yaml";
const MORE_RUN: &str = "golden/more/legal/lease.json";

fn second_config(story: &Recorded) {
    for side in [&story.base, &story.head] {
        side.write(
            MORE,
            side.read("goldgate.yaml")
                .replace("golden/runs", "golden/more"),
        );
        side.write(MORE_RUN, side.read(RUN));
    }
}

fn configs() {
    let story = trusting();
    second_config(&story);
    let ran = story.labeled("alice");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let first = story.github.head("changes").unwrap();
    // The next step of the same job finds the label removed, and the branch with the commit of the first one.
    let step = || story.job().input("config", MORE).runs();
    let ran = step();
    assert_eq!(
        (ran.code, story.model.requests()),
        (0, 2),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let tip = story.github.head("changes").unwrap();
    assert_ne!(tip, first);
    let contexts = [
        story.github.contexts(&head_sha()),
        story.github.contexts(&first),
    ]
    .concat();
    assert!(
        contexts[0] == "goldgate/recordings" && contexts[1].starts_with("goldgate/recordings/more"),
        "{contexts:?}"
    );
    assert_eq!(story.gate(&tip).code, 0);
    let gate = |head: &str| {
        let job = Job::new(
            &story.workspace,
            &story.github,
            "pull_request.opened",
            "pull_request_target",
        );
        job.head(head)
            .input("mode", "trusted")
            .input("config", MORE)
            .runs()
    };
    let ran = gate(&tip);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    // Started again, it has nothing to do.
    let ran = step();
    assert_eq!(
        (ran.code, story.model.requests()),
        (0, 2),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    // A recording of the second config that nobody recorded is not covered by the run of the first one.
    let better = text(&story, &tip, MORE_RUN)
        .replace("Needs prior consent.", "Needs prior written consent.");
    let forged = pushed(&story, &tip, &[(MORE_RUN, &better)]);
    assert_eq!(
        story.gate(&forged).code,
        0,
        "the first config does not use it"
    );
    is_unproven(&gate(&forged), MORE_RUN);
}

fn label_of_a_user() {
    let story = trusting();
    second_config(&story);
    story.commit();
    story.github.label_by("alice", LABEL);
    story.github.unlabel(LABEL);
    let ran = story.job().input("config", MORE).runs();
    assert_eq!(
        (ran.code, story.model.requests()),
        (0, 0),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

/// What the jobs of a matrix check out, and the one that joins their parts.
fn in_parts(story: &Recorded, head: &str) -> Ran {
    let opened = || {
        Job::new(
            &story.head,
            &story.github,
            "pull_request.opened",
            "pull_request",
        )
        .head(head)
    };
    for (shard, out) in [
        ("1/2", ".goldgate/parts/one"),
        ("2/2", ".goldgate/parts/two"),
    ] {
        let ran = opened().input("shard", shard).input("out", out).runs();
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    }
    opened().input("mode", "merge").runs()
}

fn parts() {
    let story = trusting();
    story.labeled("alice");
    let tip = story.github.head("changes").unwrap();
    story.head.write(RUN, text(&story, &tip, RUN));
    let ran = in_parts(&story, &tip);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    story
        .head
        .replace(RUN, "Needs prior consent.", "Needs prior written consent.");
    is_unproven(&in_parts(&story, &tip), RUN);
}

/// The queue's job on a group whose files are checked out, the same in parts, and the trusted gate's on the group.
fn in_queue(story: &Recorded) -> [Ran; 3] {
    let mut job = Job::new(&story.head, &story.github, "merge_group", "merge_group");
    let group = job.event["merge_group"]["head_sha"]
        .as_str()
        .unwrap()
        .to_owned();
    story.github.commit(&group, &story.head);
    job.event["merge_group"]["head_ref"] = json!(format!(
        "refs/heads/gh-readonly-queue/main/pr-2-{}",
        base_sha()
    ));
    job.event["merge_group"]["base_sha"] = json!(base_sha());
    let mut as_data = Job::new(
        &story.workspace,
        &story.github,
        "merge_group",
        "merge_group",
    )
    .input("mode", "trusted");
    as_data.event = job.event.clone();
    let of_group = || {
        let mut part = Job::new(&story.head, &story.github, "merge_group", "merge_group");
        part.event = job.event.clone();
        part
    };
    for (shard, out) in [
        ("1/2", ".goldgate/parts/one"),
        ("2/2", ".goldgate/parts/two"),
    ] {
        let ran = of_group().input("shard", shard).input("out", out).runs();
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    }
    [
        job.runs(),
        of_group().input("mode", "merge").runs(),
        as_data.runs(),
    ]
}

fn queue() {
    let story = trusting();
    story.labeled("alice");
    let tip = story.github.head("changes").unwrap();
    story.head.write(RUN, text(&story, &tip, RUN));
    for ran in in_queue(&story) {
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    }
    story
        .head
        .replace(RUN, "Needs prior consent.", "Needs prior written consent.");
    for ran in in_queue(&story) {
        is_unproven(&ran, RUN);
    }
}

fn partly() {
    let story = trusting();
    add_case(&story.head, "other");
    let ran = story.labeled("alice");
    assert_eq!(
        (ran.code, story.model.requests()),
        (0, 2),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let tip = story.github.head("changes").unwrap();
    let document = "# Lease\n\nOn a change of control the landlord must approve.\n";
    let next = pushed(&story, &tip, &[("golden/contracts/other.md", document)]);
    story.github.push(&next);
    story.github.label_by("alice", LABEL);
    let ran = story.job().head(&next).runs();
    assert_eq!(
        (ran.code, story.model.requests()),
        (0, 3),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let ran = story.gate(&story.github.head("changes").unwrap());
    assert!(
        !ran.stdout.contains("none left"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

fn fork() {
    let story = trusting();
    story.commit();
    story.github.fork();
    story.github.label_by("alice", LABEL);
    let ran = story.job().runs();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let left = story.workspace.read(&format!(".goldgate/recordings/{RUN}"));
    // The contributor applies it and pushes.
    let next = pushed(&story, &head_sha(), &[(RUN, &left)]);
    story.github.push(&next);
    story.github.fork();
    let ran = story.gate(&next);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

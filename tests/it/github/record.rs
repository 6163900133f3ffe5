//! `mode: record`: a label records a pull request again, as data, with the base branch's models.

mod attacks;
mod delivery;
mod listed;
mod replayed;

use std::time::Duration;

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::approval::base_sha;
use super::standin::Standin;
use super::standin::commits::Commit;
use super::{BOT, Job, RUN, head_sha};
use crate::live::endpoint::{Answer, Endpoint};
use crate::live::{GOOD, KEY, config};
use crate::repository::{EXPECTED, Ran, Repository};
use crate::trial;

pub const LABEL: &str = "goldgate:record";
const BUDGET: &str = "budget: { max_tokens: 100000 }\n";

pub fn trials() -> Vec<Trial> {
    let mut trials = attacks::trials();
    trials.extend(delivery::trials());
    trials.extend(listed::trials());
    trials.extend(replayed::trials());
    trials.extend([
        trial(
            "a changed prompt is recorded by a label, and the gate is green on the commit",
            whole_story,
        ),
        trial(
            "only outdated recordings are made again, with the samples that they have",
            outdated,
        ),
        trial(
            "what is up to date is not recorded, and the label is removed",
            current,
        ),
        trial(
            "the label is judged from state and created when it is missing",
            label,
        ),
        trial(
            "without the label or on a closed pull request nothing happens",
            nothing,
        ),
        trial(
            "runs that do not complete leave the recordings as they are",
            failed,
        ),
        trial("a recording needs a budget that can be kept", budget),
        trial(
            "a budget that is used up leaves the recordings as they are",
            used_up,
        ),
    ]);
    trials
}

/// A pull request that changes the prompt, its base, and an empty workspace for the job.
pub struct Recorded {
    base: Repository,
    head: Repository,
    pub workspace: Repository,
    pub github: Standin,
    model: Endpoint,
}

impl Recorded {
    pub fn new() -> Self {
        Self::answered(|_, _| Answer::Says(GOOD.to_owned()))
    }

    fn answered(script: impl Fn(usize, &str) -> Answer + Send + Sync + 'static) -> Self {
        let model = Endpoint::new(Duration::ZERO, script);
        let (base, head) = (Repository::small(), Repository::small());
        for side in [&base, &head] {
            side.write("goldgate.yaml", config("openai", &model, BUDGET));
            side.replace(
                "goldgate.yaml",
                "{ target: live }",
                "{ target: live, prompt: prompts/legal.md }",
            );
        }
        // The recordings of both are those of the base commit's agent.
        for side in [&base, &head] {
            side.stamp_unless_kept();
            side.keep_digests();
        }
        head.write(
            "prompts/legal.md",
            "Report every change of control, and be brief.\n",
        );
        let github = Standin::new(&head_sha());
        github.role("alice", "write");
        Self {
            base,
            head,
            workspace: Repository::empty(),
            github,
            model,
        }
    }

    pub fn commit(&self) {
        self.github.commit(&base_sha(), &self.base);
        self.github.commit(&head_sha(), &self.head);
    }

    pub fn job(&self) -> Job<'_> {
        let mut job = Job::new(
            &self.workspace,
            &self.github,
            "pull_request.labeled",
            "pull_request_target",
        );
        job.event["label"]["name"] = json!(LABEL);
        job.event["pull_request"]["head"]["sha"] = json!(head_sha());
        job.input("mode", "record").variable("LIVE_KEY", KEY)
    }

    /// Somebody adds the label, and the job on that event runs.
    pub fn labeled(&self, by: &str) -> Ran {
        self.commit();
        self.github.label_by(by, LABEL);
        self.job().runs()
    }

    /// The trusted gate on a head whose files the stand-in knows.
    pub fn gate(&self, head: &str) -> Ran {
        self.merged(head).runs()
    }

    /// The job of that gate.
    fn merged(&self, head: &str) -> Job<'_> {
        self.github.push(head);
        let mut files = None;
        let keep = |commit: &mut Commit| files = Some(commit.clone());
        self.github.change_commit(head, keep);
        let merge = self.github.merge_of(2);
        self.github.commit(&merge, &self.head);
        self.github
            .change_commit(&merge, |commit| *commit = files.unwrap());
        let job = Job::new(
            &self.workspace,
            &self.github,
            "pull_request.opened",
            "pull_request_target",
        );
        job.head(head)
    }

    fn output(&self, name: &str) -> String {
        let text = self.workspace.read(".runner/output");
        let mut lines = text
            .lines()
            .filter_map(|line| line.strip_prefix(&format!("{name}=")));
        lines.next_back().unwrap_or_default().to_owned()
    }

    pub fn note(&self) -> String {
        self.github.bodies(BOT).concat()
    }

    /// Nothing was asked and nothing was written; the label is gone and the comment says why.
    #[track_caller]
    fn is_refused(&self, ran: &Ran, why: &str) {
        let said = [self.note(), ran.stdout.clone(), ran.stderr.clone()].concat();
        assert!(said.contains(why), "{why}: {said}");
        assert_eq!(
            (self.model.requests(), self.github.commits().len()),
            (0, 0),
            "{said}"
        );
        assert!(!self.workspace.path(".goldgate/recordings").exists());
        assert_eq!(self.github.labels(), Vec::<String>::new(), "{said}");
    }
}

fn whole_story() {
    let story = Recorded::new();
    let ran = story.labeled("alice");
    assert_eq!(
        (ran.code, story.model.requests()),
        (0, 1),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let commits = story.github.commits();
    let [commit] = commits.as_slice() else {
        panic!("{commits:?}")
    };
    assert_eq!(commit["expectedHeadOid"], json!(head_sha()));
    assert!(
        commit["message"]["body"]
            .as_str()
            .unwrap()
            .contains("as alice asked"),
        "{commit}"
    );
    let tip = story.github.head("changes").unwrap();
    let text = String::from_utf8(story.github.read_at(&tip, RUN)).unwrap();
    let run: Value = serde_json::from_str(&text).unwrap();
    let provenance = &run["provenance"];
    assert_eq!(
        provenance["run"],
        json!("https://github.example/acme/agents/actions/runs/7/attempts/1")
    );
    assert_eq!(
        (&provenance["commit"], &provenance["target"]),
        (&json!(head_sha()), &json!("live"))
    );
    assert!(
        ["agent", "input", "target", "content"]
            .iter()
            .all(|of| provenance[format!("{of}_sha256")].is_string()),
        "{provenance}"
    );
    assert!(
        story.note().contains("**Recorded**: 1 recording"),
        "{}",
        story.note()
    );
    assert_eq!(story.github.labels(), Vec::<String>::new());
    // Nothing of the pull request is left on the runner.
    assert!(
        !story.workspace.path(".goldgate/record").exists()
            && !story.workspace.path("prompts").exists()
    );
    // The gate, which was without a verdict on the old head, is green on the new one.
    for (head, code) in [(head_sha(), 3), (tip.clone(), 0)] {
        let ran = story.gate(&head);
        assert_eq!(ran.code, code, "{head}: {}{}", ran.stdout, ran.stderr);
    }
}

/// A second case with its recordings, which names what the case has.
fn add_case(repository: &Repository, name: &str) {
    repository.write(
        &format!("golden/contracts/{name}.md"),
        "# Lease\n\nOn a change of control the landlord decides.\n",
    );
    repository.write(
        &format!("golden/expected/legal/{name}.json"),
        EXPECTED.replace("lease.md", &format!("{name}.md")),
    );
}

fn outdated() {
    // A new case of an unchanged agent is the only one that is asked.
    let story = Recorded::new();
    story
        .head
        .write("prompts/legal.md", story.base.read("prompts/legal.md"));
    add_case(&story.head, "other");
    let ran = story.labeled("alice");
    assert_eq!(
        (ran.code, story.model.requests()),
        (0, 1),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let commits = story.github.commits();
    let changes = &commits[0]["fileChanges"];
    assert_eq!(
        changes["additions"][0]["path"],
        json!("golden/runs/legal/other.json")
    );
    assert_eq!(
        (
            changes["additions"].as_array().unwrap().len(),
            &changes["deletions"]
        ),
        (1, &json!([]))
    );
    // Three samples stay three samples.
    let story = Recorded::new();
    for side in [&story.base, &story.head] {
        let run = side.read(RUN);
        side.remove(RUN);
        for sample in 0..3 {
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
        (0, 3),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    // More samples than before replace the single file.
    let story = Recorded::new();
    story
        .head
        .replace("goldgate.yaml", "suites:", "samples: 2\nsuites:");
    let ran = story.labeled("alice");
    assert_eq!(
        (ran.code, story.model.requests()),
        (0, 2),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert_eq!(
        story.github.commits()[0]["fileChanges"]["deletions"],
        json!([{ "path": RUN }])
    );
}

fn current() {
    let story = Recorded::new();
    story
        .head
        .write("prompts/legal.md", story.base.read("prompts/legal.md"));
    let ran = story.labeled("alice");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    story.is_refused(&ran, "**Nothing to record**");
    assert_eq!([story.output("report"), story.output("artifact")], ["", ""]);
}

fn label() {
    // The event's sender is not asked; the timeline is. Letter case does not matter.
    let story = Recorded::new();
    story.commit();
    story.github.label_by("alice", "GoldGate:Record");
    let mut job = story.job();
    job.event["sender"]["login"] = json!("mallory");
    job.event["label"]["name"] = json!("GoldGate:Record");
    let ran = job.runs();
    assert_eq!(
        (ran.code, story.model.requests()),
        (0, 1),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert_eq!(story.github.labels(), Vec::<String>::new());
    // A second event of the same label finds it removed.
    let again = story.job().runs();
    assert_eq!(
        (again.code, story.model.requests()),
        (0, 1),
        "{}{}",
        again.stdout,
        again.stderr
    );
    // A fresh repository gets the label.
    let story = Recorded::new();
    story.commit();
    let ran = story.job().runs();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(story.github.created_labels()[0]["name"], json!(LABEL));
    // Who may set it, and its name, the base branch's config says.
    let story = Recorded::new();
    let policy = "approval: { approvers: maintain, record_label: \"record it\" }\nsuites:\n";
    story.base.replace("goldgate.yaml", "suites:\n", policy);
    story.commit();
    story.github.label_by("alice", "record it");
    let mut job = story.job();
    job.event["label"]["name"] = json!("record it");
    let ran = job.runs();
    assert_eq!(ran.code, 0);
    story.is_refused(
        &ran,
        "alice has the permission write here, but recording needs maintain",
    );
}

fn nothing() {
    let story = Recorded::new();
    story.commit();
    assert_eq!(story.job().runs().code, 0);
    story.github.label_by("alice", LABEL);
    story.github.close(2);
    let ran = story.job().runs();
    assert_eq!(
        (ran.code, story.model.requests()),
        (0, 0),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert_eq!(story.github.labels(), [LABEL]);
}

fn failed() {
    let story = Recorded::answered(|_, prompt| match prompt.contains("decides") {
        true => Answer::Status(400, "", "{}"),
        false => Answer::Says(GOOD.to_owned()),
    });
    add_case(&story.head, "other");
    let ran = story.labeled("alice");
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    let commits = story.github.commits();
    assert_eq!(
        commits[0]["fileChanges"]["additions"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert!(
        story.note().contains("contracts/legal/other"),
        "{}",
        story.note()
    );
    // Where no run completes, nothing is committed.
    let story = Recorded::answered(|_, _| Answer::Status(400, "", "{}"));
    let ran = story.labeled("alice");
    assert_eq!(
        (ran.code, story.github.commits().len()),
        (3, 0),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert!(
        story
            .note()
            .contains("no run completed. The recordings are unchanged"),
        "{}",
        story.note()
    );
    // Without a key nothing is asked.
    let story = Recorded::new();
    story.commit();
    story.github.label_by("alice", LABEL);
    let ran = story.job().variable("LIVE_KEY", "").runs();
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    story.is_refused(&ran, "has no key");
}

fn budget() {
    for (stated, input, why) in [
        (
            "",
            "",
            "no budget is set, so the pull request is not recorded",
        ),
        (
            "budget: { max_cost_usd: 1 }\n",
            "",
            "the budget in US dollars cannot be kept, because model-1 has no price",
        ),
        (
            "",
            "1.00",
            "the budget in US dollars cannot be kept, because model-1 has no price",
        ),
        ("budget: { max_tokens: 3 }\n", "", "but the budget is 3"),
        (
            "budget: { max_cost_usd: 0.00001 }\nprices: { model-1: { input: 500, output: 1 } }\n",
            "",
            "US dollars, but the budget",
        ),
    ] {
        let story = Recorded::new();
        story.base.replace("goldgate.yaml", BUDGET, stated);
        story.commit();
        story.github.label_by("alice", LABEL);
        let ran = story.job().input("max-cost-usd", input).runs();
        assert_eq!(ran.code, 2, "{stated}: {}{}", ran.stdout, ran.stderr);
        story.is_refused(&ran, why);
    }
}

fn used_up() {
    let story = Recorded::new();
    for side in [&story.base, &story.head] {
        side.replace("goldgate.yaml", "concurrency: 32", "concurrency: 1");
    }
    // A call has 120 tokens.
    story
        .base
        .replace("goldgate.yaml", "max_tokens: 100000", "max_tokens: 750");
    for number in 0..6 {
        add_case(&story.head, &format!("case{number}"));
    }
    let ran = story.labeled("alice");
    assert_eq!(
        (ran.code, story.github.commits().len()),
        (3, 0),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert!(
        (1..=6).contains(&story.model.requests()),
        "{}",
        story.model.requests()
    );
    assert!(
        story.note().contains("The recordings are unchanged"),
        "{}",
        story.note()
    );
    assert!(!story.workspace.path(".goldgate/recordings").exists());
}

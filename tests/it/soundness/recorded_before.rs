//! Recordings without digests that an earlier commit already has, beside another prompt. Both commits that are compared look right: only the ones
//! between show that the newest prompt was never recorded.

use std::path::Path;

use libtest_mimic::Trial;
use serde_json::json;

use super::recorded_again::is;
use crate::golden_changes::{commit_all, git, git_answer};
use crate::repository::{Ran, Repository, program, ran};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a prompt that is edited again after its recordings were committed needs new ones",
            edited_again,
        ),
        trial(
            "a merge of two prompts is recorded by neither of both branches",
            merged,
        ),
        trial(
            "recordings from the history are of the prompt of their time",
            from_history,
        ),
        trial(
            "recordings of added cases and agents are looked for in the history, too",
            added,
        ),
        trial(
            "recordings are looked for in all commits since the base commit",
            long_history,
        ),
        trial("a stable agent may give some answers again", stable),
        trial(
            "the order of commits makes no recording older",
            honest_orders,
        ),
        trial(
            "a shallow clone says that it does not show when recordings were made",
            shallow,
        ),
    ]
}

const CONFIG: &str = "\
version: 1
suites:
  - id: s
    kind: custom
    path: cases
    checks: [{ name: ok, expr: \"text != ''\" }]
    agents: { h: { deterministic: { replay: runs }, fingerprint: [prompts/*.md] } }
";
const PROMPT: &str = "Answer with the price.\n\n\nOne sentence.\n";
const BETTER: &str = "Answer with the price and its currency.\n\n\nOne sentence.\n";
const WORSE: &str = "Never say a number.\n\n\nOne sentence.\n";
const OLDER: &str = "2 recordings of `s/h` without digests that commit ";
const OTHER: &str = "already has, with other files of the agent (prompts/p.md)";

/// Two cases with their answers to the prompt.
fn repository() -> Repository {
    let repository = Repository::empty();
    repository.write("goldgate.yaml", CONFIG);
    for case in ["c1", "c2"] {
        repository.write(
            &format!("cases/{case}.json"),
            format!("{{\"input\": \"{case}\"}}"),
        );
    }
    recorded(&repository, PROMPT);
    commit_all(&repository);
    repository
}

/// The prompt, and what the agent answers to it.
fn recorded(repository: &Repository, prompt: &str) {
    repository.write("prompts/p.md", prompt);
    answered(repository, prompt);
}

fn answered(repository: &Repository, prompt: &str) {
    for case in ["c1", "c2"] {
        let run = json!({ "status": "completed", "outputs": { "text": format!("Asked {case} with: {prompt}") } });
        repository.write(&format!("runs/h/{case}.json"), run.to_string());
    }
}

/// The run of what is checked out, since the first commit.
fn judged(repository: &Repository) -> Ran {
    let first = git_answer(
        &repository.path(""),
        &["rev-list", "--max-parents=0", "HEAD"],
    );
    repository.goldgate(&["run", "--base", &first])
}

fn is_older(ran: &Ran) {
    is(ran, 1, OLDER);
    is(ran, 1, OTHER);
}

fn edited_again() {
    let repository = repository();
    recorded(&repository, BETTER);
    commit_all(&repository);
    is(&judged(&repository), 0, "");
    repository.write("prompts/p.md", WORSE);
    is_older(&judged(&repository));
    commit_all(&repository);
    is_older(&judged(&repository));
    // Further commits of recordings that are only written otherwise, or elsewhere.
    for case in ["c1", "c2"] {
        let run: serde_json::Value =
            serde_json::from_str(&repository.read(&format!("runs/h/{case}.json"))).unwrap();
        repository.remove(&format!("runs/h/{case}.json"));
        repository.write(
            &format!("runs/h/{case}/0.json"),
            serde_json::to_string_pretty(&run).unwrap(),
        );
    }
    commit_all(&repository);
    is_older(&judged(&repository));
    for case in ["c1", "c2"] {
        let run = repository.read(&format!("runs/h/{case}/0.json"));
        std::fs::remove_dir_all(repository.path(&format!("runs/h/{case}"))).unwrap();
        repository.write(&format!("runs/h/{case}.json"), run);
    }
    git(&repository.path(""), &["mv", "-k", "runs", "answers"]);
    repository.replace("goldgate.yaml", "replay: runs", "replay: answers");
    commit_all(&repository);
    is_older(&judged(&repository));
    git(&repository.path(""), &["mv", "answers", "runs"]);
    repository.replace("goldgate.yaml", "replay: answers", "replay: runs");
    answered(&repository, WORSE);
    is(&judged(&repository), 0, "");
    commit_all(&repository);
    let ran = judged(&repository);
    assert!(
        ran.code == 0 && !ran.stdout.contains(OLDER),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

fn merged() {
    let repository = repository();
    let folder = repository.path("");
    git(&folder, &["checkout", "-q", "-b", "feature"]);
    recorded(&repository, BETTER);
    commit_all(&repository);
    git(&folder, &["checkout", "-q", "-"]);
    recorded(&repository, &PROMPT.replace("One sentence", "No numbers"));
    commit_all(&repository);
    let main = git_answer(&folder, &["rev-parse", "HEAD"]);
    git(&folder, &["checkout", "-q", "feature"]);
    git(
        &folder,
        &["merge", "-q", "-X", "ours", "-m", "Merge", &main],
    );
    assert_eq!(
        repository.read("prompts/p.md"),
        BETTER.replace("One sentence", "No numbers")
    );
    let judged = || repository.goldgate(&["run", "--base", &main]);
    is_older(&judged());
    answered(&repository, "both");
    git(&folder, &["commit", "-q", "--all", "--amend", "--no-edit"]);
    is(&judged(), 0, "");
}

fn from_history() {
    let repository = repository();
    let folder = repository.path("");
    let first = git_answer(&folder, &["rev-parse", "HEAD"]);
    recorded(&repository, BETTER);
    commit_all(&repository);
    let base = git_answer(&folder, &["rev-parse", "HEAD"]);
    let judged = || repository.goldgate(&["run", "--base", &base]);
    repository.write("prompts/p.md", WORSE);
    git(&folder, &["checkout", "-q", &first, "--", "runs"]);
    is_older(&judged());
    commit_all(&repository);
    is_older(&judged());
    // Brought back together with their prompt, they are of it.
    git(&folder, &["checkout", "-q", &first, "--", "prompts"]);
    is(&judged(), 0, "");
    commit_all(&repository);
    is(&judged(), 0, "");
}

fn added() {
    // An experiment that was undone, and its recording of a new case.
    let repository = repository();
    let run =
        json!({ "status": "completed", "outputs": { "text": format!("Asked c3 with: {BETTER}") } });
    repository.write("cases/c3.json", "{\"input\": \"c3\"}");
    repository.write("runs/h/c3.json", run.to_string());
    repository.write("prompts/p.md", BETTER);
    commit_all(&repository);
    repository.write("prompts/p.md", PROMPT);
    is(
        &judged(&repository),
        1,
        "1 recording of `s/h` without digests that commit ",
    );
    // An agent whose prompt is edited before it is merged.
    let repository = self::repository();
    repository.replace(
        "goldgate.yaml",
        "agents: {",
        "agents: { i: { deterministic: { replay: runs }, fingerprint: [other/p.md] },",
    );
    repository.write("other/p.md", BETTER);
    for case in ["c1", "c2"] {
        let run = json!({ "status": "completed", "outputs": { "text": format!("The other asked {case}: {BETTER}") } });
        repository.write(&format!("runs/i/{case}.json"), run.to_string());
    }
    is(&judged(&repository), 0, "");
    commit_all(&repository);
    is(&judged(&repository), 0, "");
    repository.write("other/p.md", WORSE);
    is(
        &judged(&repository),
        1,
        "2 recordings of `s/i` without digests that commit ",
    );
}

fn long_history() {
    let repository = repository();
    recorded(&repository, BETTER);
    commit_all(&repository);
    for case in 0..50 {
        let run = json!({ "status": "completed", "outputs": { "text": "ok" } });
        repository.write(&format!("runs/h/d{case}.json"), run.to_string());
        repository.write(
            &format!("cases/d{case}.json"),
            "{\"input\": \"d\", \"draft\": true}",
        );
        commit_all(&repository);
    }
    repository.write("prompts/p.md", WORSE);
    is_older(&judged(&repository));
}

fn stable() {
    let repository = repository();
    let record = |prompt: &str, first: &str| {
        repository.write("prompts/p.md", prompt);
        for (case, text) in [
            ("c1", first.to_owned()),
            ("c2", format!("Asked c2 with: {prompt}")),
        ] {
            let run = json!({ "status": "completed", "outputs": { "text": text } });
            repository.write(&format!("runs/h/{case}.json"), run.to_string());
        }
        commit_all(&repository);
    };
    record(BETTER, "It costs 17 euros, as far as we know.");
    record(WORSE, "It costs 17 euros, as far as we know.");
    let words = "[listed] 1 recording of `s/h` without digests that commit ";
    is(&judged(&repository), 0, words);
    // A measured time is another one in each run.
    let run = json!({ "status": "completed", "outputs": { "text": "17" }, "metrics": { "total_latency_ms": 1234 } });
    repository.write("runs/h/c1.json", run.to_string());
    commit_all(&repository);
    recorded(&repository, PROMPT);
    repository.write("prompts/p.md", "Say nothing.\n");
    repository.write("runs/h/c1.json", run.to_string());
    is(
        &judged(&repository),
        1,
        "[needs approval] 1 recording of `s/h` without digests that commit ",
    );
}

fn honest_orders() {
    let is_green = |what: &dyn Fn(&Repository, &Path)| {
        let repository = repository();
        what(&repository, &repository.path(""));
        let ran = judged(&repository);
        assert!(
            ran.code == 0 && !ran.stdout.contains(OLDER),
            "{}{}",
            ran.stdout,
            ran.stderr
        );
    };
    // Recorded after each edit; the answer to one case is that of an earlier version again.
    is_green(&|repository, _| {
        let answer = |case: &str, text: &str| {
            let run = json!({ "status": "completed", "outputs": { "text": text } });
            repository.write(&format!("runs/h/{case}.json"), run.to_string());
        };
        for (prompt, usual) in [
            (BETTER, "It costs 17 euros, as far as I know."),
            (WORSE, "Nobody knows."),
            (PROMPT, "It costs 17 euros, as far as I know."),
        ] {
            let prompt = format!("{prompt}Be kind.\n");
            repository.write("prompts/p.md", &prompt);
            answer("c1", usual);
            answer("c2", &prompt);
            commit_all(repository);
        }
    });
    // The prompt first.
    is_green(&|repository, _| {
        repository.write("prompts/p.md", WORSE);
        commit_all(repository);
        repository.write("prompts/p.md", BETTER);
        commit_all(repository);
        answered(repository, BETTER);
        commit_all(repository);
    });
    // Its file gets another name afterwards, or the list of files another form.
    is_green(&|repository, folder| {
        recorded(repository, BETTER);
        commit_all(repository);
        git(folder, &["mv", "prompts/p.md", "prompts/price.md"]);
        repository.replace("goldgate.yaml", "[prompts/*.md]", "[prompts/price.md]");
        commit_all(repository);
    });
    // Another agent's prompt is edited afterwards.
    is_green(&|repository, _| {
        recorded(repository, BETTER);
        commit_all(repository);
        repository.write("other/p.md", WORSE);
        commit_all(repository);
    });
    // Two versions, each recorded, and the first one brought back.
    is_green(&|repository, folder| {
        recorded(repository, BETTER);
        commit_all(repository);
        recorded(repository, WORSE);
        commit_all(repository);
        git(folder, &["revert", "--no-edit", "HEAD"]);
    });
}

/// The test merge of a pull request and its two parents, as `fetch-depth: 2` gets them.
fn shallow() {
    let repository = repository();
    let folder = repository.path("");
    git(&folder, &["checkout", "-q", "-b", "feature"]);
    recorded(&repository, BETTER);
    commit_all(&repository);
    repository.write("prompts/p.md", WORSE);
    commit_all(&repository);
    git(&folder, &["checkout", "-q", "-"]);
    git(
        &folder,
        &["merge", "-q", "--no-ff", "-m", "Merge", "feature"],
    );
    let clone = Repository::empty();
    let from = format!("file://{}", folder.display());
    git(
        &clone.path(""),
        &["clone", "-q", "--depth", "2", &from, "shallow"],
    );
    let run = || ran(program(&clone.path("shallow")).args(["run", "--base", "HEAD^1"]));
    let words = "may be older than the agent's files, as this clone is shallow: c1.json, c2.json; `git fetch --unshallow`";
    is(&run(), 0, words);
    git(&clone.path("shallow"), &["fetch", "-q", "--unshallow"]);
    is_older(&run());
}

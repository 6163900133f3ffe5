//! The guard on golden changes, against a commit of a real git repository: `goldgate run --base REV`.

mod agent_files;
mod rows;
mod several_agents;

use std::path::Path;
use std::process::Command;

use goldgate::files::sha256_hex;
use libtest_mimic::Trial;
use rows::ROWS;
use serde_json::{Value, json};

use crate::cases::copy;
use crate::repository::{EXPECTED, RUN, Ran, Repository, root};
use crate::trial;

/// One change of the head, and what is said of it.
struct Row {
    name: &'static str,
    change: fn(&Repository),
    says: &'static str,
    code: i32,
}

pub fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = ROWS
        .iter()
        .map(|row| trial(format!("against a base commit, {}", row.name), || one(row)))
        .collect();
    trials.extend([
        trial("against the same commit nothing is said", unchanged),
        trial(
            "a golden file in another form is no golden change",
            reformatted,
        ),
        trial(
            "a base config of another version gives no verdict",
            older_config,
        ),
        trial(
            "a base golden file that cannot be read any more gives no verdict",
            older_golden,
        ),
        trial(
            "a base commit without a config is nothing to compare with",
            no_config,
        ),
        trial(
            "a change that adds the first baseline says when it counts",
            first_baseline,
        ),
        trial(
            "a commit that git does not know is told and exits with 3",
            unknown_commit,
        ),
        trial(
            "a golden change of a run that does not block is shown",
            advisory,
        ),
        trial("the baseline is that of the base commit", base_baseline),
        trial(
            "a stored report with golden changes renders the same",
            stored,
        ),
        trial(
            "a report whose golden change was edited out of its weight is refused",
            forged,
        ),
        trial(
            "a case that is retired without a reason is refused",
            retired_without_reason,
        ),
        trial(
            "a case that is retired with a reason needs an approval",
            retired,
        ),
        trial(
            "a file that a case reads from outside its suite's folder is guarded",
            outside,
        ),
        trial("an edited turn of a conversation is one edited case", turn),
        trial("an edited file of tools needs an approval", tools),
        trial(
            "a document that git stores with other line ends is the same",
            line_ends,
        ),
        trial(
            "the text of a Git LFS pointer does not stand for what a later commit writes",
            written_pointer,
        ),
        trial(
            "a golden file at which git is set not to look is compared by what it holds",
            not_looked_at,
        ),
        trial(
            "documents that Git LFS keeps elsewhere are compared by what they hold",
            kept_by_lfs,
        ),
        trial("git's own configuration runs nothing", no_tricks),
    ]);
    trials.extend(agent_files::trials());
    trials.extend(several_agents::trials());
    trials
}

const CASES: usize = 12;

fn config() -> String {
    "version: 1\nbaseline: baselines/latest.json\nsamples: 1\nsuites:\n  - id: contracts\n    kind: findings\n    policy: seed\n    path: golden\n    \
     categories: [change_of_control, termination]\n    agents:\n      legal:\n        fingerprint: ['prompts/**']\n        \
     deterministic: { replay: runs }\n    gates:\n      finding_precision: { min: 0.5 }\n"
        .to_owned()
}

pub fn git(folder: &Path, arguments: &[&str]) {
    git_answer(folder, arguments);
}

/// What git prints, without the last line end.
pub fn git_answer(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args([
        "-c",
        "user.name=Subject A",
        "-c",
        "user.email=a@example.org",
    ]);
    let ran = command.args(arguments).output().unwrap();
    assert!(
        ran.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&ran.stderr)
    );
    String::from_utf8(ran.stdout).unwrap().trim_end().to_owned()
}

/// A repository of a dozen cases, its state committed.
fn committed() -> Repository {
    let repository = Repository::empty();
    repository.remove(".git");
    repository.write("goldgate.yaml", config());
    repository.write("prompts/legal.md", "Report every change of control.\n");
    for case in 0..CASES {
        add_case(&repository, case);
    }
    let ran = repository.stamp("goldgate.yaml");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(repository.goldgate(&["run", "--update-baseline"]).code, 0);
    commit_all(&repository);
    repository
}

/// Other content in all recordings, as if their agent had been recorded again.
fn record_again(repository: &Repository) {
    (0..CASES).for_each(|case| {
        repository.replace(&recording(case), "Needs ", "Needs the ");
    });
}

pub fn commit_all(repository: &Repository) {
    git(&repository.path(""), &["init", "-q", "."]);
    git(&repository.path(""), &["add", "-A"]);
    git(
        &repository.path(""),
        &["commit", "-q", "--no-verify", "-m", "base"],
    );
}

pub fn add_case(repository: &Repository, case: usize) {
    repository.write(
        &format!("golden/contracts/lease-{case}.md"),
        "# Lease\n\nOn a change of control the landlord has to approve.\n",
    );
    repository.write(
        &expected(case),
        EXPECTED.replace("lease.md", &format!("lease-{case}.md")),
    );
    repository.write(
        &recording(case),
        RUN.replace("\"lease\"", &format!("\"lease-{case}\""))
            .replace("lease.md", &format!("lease-{case}.md")),
    );
}

pub fn expected(case: usize) -> String {
    format!("golden/expected/legal/lease-{case}.json")
}

pub fn recording(case: usize) -> String {
    format!("runs/legal/lease-{case}.json")
}

fn against(repository: &Repository, more: &[&str]) -> Ran {
    let path = std::env::var("PATH").unwrap();
    let arguments = [&["run", "--base", "HEAD"], more].concat();
    repository.goldgate_with(&arguments, &[("PATH", &path)])
}

/// The same with recordings as they are.
fn against_unstamped(repository: &Repository, more: &[&str]) -> Ran {
    let path = std::env::var("PATH").unwrap();
    let arguments = [&["run", "--base", "HEAD", "--dirty"], more].concat();
    repository.goldgate_on_commit(&arguments, &[("PATH", &path)])
}

fn changes(ran: &Ran) -> Vec<(String, bool)> {
    let report: Value = serde_json::from_str(&ran.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", ran.stdout, ran.stderr));
    let listed = report["golden_changes"].as_array().unwrap().iter();
    listed
        .map(|one| {
            (
                one["what"].as_str().unwrap().to_owned(),
                one["needs_approval"].as_bool().unwrap(),
            )
        })
        .collect()
}

fn one(row: &Row) {
    let repository = committed();
    (row.change)(&repository);
    let ran = against(&repository, &["--format", "json"]);
    let found = changes(&ran);
    assert!(
        found.iter().any(|(words, _)| words.contains(row.says)),
        "{found:?}"
    );
    assert_eq!(ran.code, row.code, "{found:?}");
    let heavy = found.iter().filter(|(_, heavy)| *heavy).count();
    assert_eq!(heavy > 0, row.code == 1, "{found:?}");
    assert!(heavy <= 2, "one change is said once: {found:?}");
}

fn unchanged() {
    let repository = committed();
    let ran = against(&repository, &["--format", "json"]);
    assert_eq!((ran.code, changes(&ran)), (0, Vec::new()), "{}", ran.stderr);
}

fn line_ends() {
    let repository = committed();
    let file = "golden/contracts/lease-3.md";
    let text = repository.read(file);
    for (before, after) in [("\r\n", "\n"), ("\n", "\r\n")] {
        repository.write(file, text.replace('\n', before));
        commit_all(&repository);
        repository.write(file, text.replace('\n', after));
        let ran = against(&repository, &["--format", "json"]);
        assert_eq!(
            (ran.code, changes(&ran)),
            (0, Vec::new()),
            "{before:?}: {}",
            ran.stderr
        );
    }
}

fn not_looked_at() {
    for set in ["--assume-unchanged", "--skip-worktree"] {
        let repository = committed();
        git(&repository.path(""), &["update-index", set, &expected(3)]);
        repository.replace(
            &expected(3),
            "\"max_expected_findings\": 3",
            "\"max_expected_findings\": 9",
        );
        let ran = against(&repository, &[]);
        assert!(
            ran.code == 1 && ran.stdout.contains("[needs approval]"),
            "{set}: {}{}",
            ran.stdout,
            ran.stderr
        );
    }
}

/// What Git LFS commits in place of a file.
pub fn lfs_pointer(text: &str) -> String {
    let (digest, size) = (sha256_hex(text.as_bytes()), text.len());
    format!("version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {size}\n")
}

/// Somebody writes the text of a pointer, and in the next change what it names.
fn written_pointer() {
    let repository = committed();
    let text = "Report nothing.\n";
    repository.write("prompts/legal.md", lfs_pointer(text));
    commit_all(&repository);
    git(&repository.path(""), &["branch", "before"]);
    repository.write("prompts/legal.md", text);
    assert_eq!(
        against(&repository, &[]).code,
        0,
        "the control, a checkout with Git LFS"
    );
    commit_all(&repository);
    let ran = repository.goldgate(&["run", "--base", "before"]);
    let says = "12 recordings of `contracts/legal` are stamped, not recorded: they have the digests of this change and the content of before";
    assert!(
        ran.code == 1 && ran.stdout.contains(says),
        "{} {}{}",
        ran.code,
        ran.stdout,
        ran.stderr
    );
}

/// The commit has a pointer, the checkout what it points to.
fn kept_by_lfs() {
    let repository = committed();
    let file = "golden/contracts/lease-3.md";
    let text = repository.read(file);
    repository.write(file, lfs_pointer(&text));
    commit_all(&repository);
    repository.write(file, &text);
    let ran = against(&repository, &[]);
    assert_eq!(
        (ran.code, ran.stdout.contains("golden change")),
        (0, false),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    repository.write(file, format!("{text}More.\n"));
    let ran = against(&repository, &[]);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    for says in [
        "lease-3.md of `contracts` edited",
        "no verdict: the runs cannot be judged by the base commit's rules: golden/contracts/lease-3.md:1:1: this is a Git LFS pointer",
    ] {
        assert!(ran.stdout.contains(says), "{says}: {}", ran.stdout);
    }
}

fn reformatted() {
    let repository = committed();
    let text = repository.read(&expected(3));
    let value: Value = serde_json::from_str(&text).unwrap();
    repository.write(&expected(3), value.to_string().replace(":3}", ":3 }"));
    let config = repository.read("goldgate.yaml");
    repository.write(
        "goldgate.yaml",
        format!("# A remark.\n{config}").replace("min: 0.5", "min: 0.50"),
    );
    repository.write("golden/README.md", "What the cases are for.\n");
    let ran = against(&repository, &["--format", "json"]);
    assert_eq!((ran.code, changes(&ran)), (0, Vec::new()));
}

fn older_config() {
    let repository = committed();
    let config = repository.read("goldgate.yaml");
    repository.write("goldgate.yaml", config.replace("version: 1", "version: 0"));
    commit_all(&repository);
    repository.write("goldgate.yaml", config);
    let ran = against(&repository, &[]);
    assert_eq!(ran.code, 3);
    assert!(
        ran.stdout
            .contains("this version cannot read the config of the base commit"),
        "{}",
        ran.stdout
    );
}

fn older_golden() {
    let repository = committed();
    repository.replace(&expected(3), "expected_gaps", "gaps");
    commit_all(&repository);
    repository.replace(&expected(3), "\"gaps\"", "\"expected_gaps\"");
    let ran = against(&repository, &[]);
    assert_eq!(ran.code, 3);
    assert!(
        ran.stdout.contains("the runs cannot be judged by the base commit's rules: golden/expected/legal/lease-3.json"),
        "{}",
        ran.stdout
    );
}

fn no_config() {
    let repository = committed();
    git(
        &repository.path(""),
        &["rm", "-q", "--cached", "goldgate.yaml"],
    );
    git(&repository.path(""), &["commit", "-q", "-m", "none"]);
    let ran = against(&repository, &["--format", "json"]);
    let wanted =
        "the config goldgate.yaml is new: the base commit has no config to compare with".to_owned();
    assert_eq!((ran.code, changes(&ran)), (0, vec![(wanted, false)]));
}

fn first_baseline() {
    let repository = Repository::small();
    commit_all(&repository);
    let said = |wanted: &str| {
        let ran = against(&repository, &[]);
        assert!(
            ran.code == 0 && ran.stdout.contains(wanted),
            "{wanted}: {}{}",
            ran.stdout,
            ran.stderr
        );
    };
    said("There is no baseline yet; `goldgate run --update-baseline` makes one.");
    assert_eq!(repository.goldgate(&["run", "--update-baseline"]).code, 0);
    said("This change adds the first baseline, which counts after the merge.");
}

fn unknown_commit() {
    let repository = committed();
    let path = std::env::var("PATH").unwrap();
    for name in ["nowhere", "--all", ""] {
        let base = format!("--base={name}");
        let ran = repository.goldgate_with(&["run", &base], &[("PATH", &path)]);
        assert_eq!((ran.code, ran.stdout.as_str()), (3, ""), "{name}");
        assert!(
            ran.stderr.contains("git does not know this commit here"),
            "{}",
            ran.stderr
        );
    }
}

fn advisory() {
    let repository = committed();
    repository.replace("goldgate.yaml", "min: 0.5 }", "min: 0.4 }");
    let ran = against(&repository, &["--non-blocking"]);
    assert_eq!(ran.code, 0);
    assert!(
        ran.stdout
            .contains("[needs approval] finding_precision floor"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("All "), "{}", ran.stdout);
}

fn base_baseline() {
    let repository = committed();
    repository.remove("baselines/latest.json");
    let ran = against(&repository, &["--format", "json"]);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        report["suites"][0]["agents"][0]["metrics"]["f1_score"]["baseline"],
        1.0
    );
    assert_eq!(report["base"].as_str().unwrap().len(), 40);
}

fn stored() {
    let repository = committed();
    repository.replace("goldgate.yaml", "min: 0.5 }", "min: 0.4 }");
    let ran = against(&repository, &["--out", "out"]);
    assert_eq!(ran.code, 1);
    let again = repository.goldgate(&["report", "out"]);
    assert_eq!(again.stdout, ran.stdout);
    for (format, file) in [
        ("json", "report.json"),
        ("markdown", "report.md"),
        ("junit", "junit.xml"),
        ("html", "report.html"),
    ] {
        let shown = repository
            .goldgate(&["report", "out", "--format", format])
            .stdout;
        assert_eq!(shown, repository.read(&format!("out/{file}")), "{format}");
        assert!(shown.contains("precision"), "{shown}");
    }
}

fn forged() {
    let repository = committed();
    repository.replace("goldgate.yaml", "min: 0.5 }", "min: 0.4 }");
    against(&repository, &["--out", "out"]);
    repository.replace("out/report.json", "\"exit_code\":1", "\"exit_code\":0");
    repository.replace(
        "out/report.json",
        "\"verdict\":\"fail\"",
        "\"verdict\":\"pass\"",
    );
    let ran = repository.goldgate(&["report", "out"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.contains("exit_code 0 contradicts"),
        "{}",
        ran.stderr
    );
}

/// The bundled evidence suite, committed.
fn tasks() -> Repository {
    let repository = Repository::empty();
    repository.remove(".git");
    copy(
        &root().join("fixtures/evidence"),
        &repository.path("evidence"),
    );
    copy(
        &root().join("fixtures/repos"),
        &repository.path("fixtures/repos"),
    );
    repository.write(
        "goldgate.yaml",
        "version: 1\nsuites:\n  - id: evidence\n    kind: evidence\n    policy: seed\n    path: evidence\n    agents:\n      inspector: { deterministic: { replay: evidence/runs }, fingerprint: { none: written by hand } }\n",
    );
    commit_all(&repository);
    repository
}

fn retire(repository: &Repository, reason: &str) {
    let file = "evidence/tasks/buggy_calc.json";
    let mut task: Value = serde_json::from_str(&repository.read(file)).unwrap();
    let key = if task.get("lifecycle").is_some() {
        "lifecycle"
    } else {
        "retired"
    };
    match key {
        "lifecycle" => {
            task["lifecycle"]["retired"] =
                serde_json::json!({ "date": "2026-11-20", "reason": reason })
        }
        _ => task["retired"] = serde_json::json!({ "date": "2026-11-20", "reason": reason }),
    }
    repository.write(file, task.to_string());
}

fn retired_without_reason() {
    let repository = tasks();
    retire(&repository, " ");
    let ran = against(&repository, &[]);
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    assert!(
        ran.stderr
            .contains("the reason why a task is retired is empty"),
        "{}",
        ran.stderr
    );
}

fn retired() {
    let repository = tasks();
    retire(&repository, "the bug is mended");
    let ran = against(&repository, &["--format", "json"]);
    let wanted =
        "case buggy_calc of `evidence` retired on 2026-11-20: the bug is mended".to_owned();
    assert_eq!(
        (ran.code, changes(&ran)),
        (1, vec![(wanted, true)]),
        "{}",
        ran.stderr
    );
}

fn outside() {
    let repository = tasks();
    repository.write(
        "fixtures/repos/prompt_injection_repo/app/store.py",
        "pass\n",
    );
    repository.write("fixtures/repos/prompt_injection_repo/app/user.py", "pass\n");
    let ran = against(&repository, &["--format", "json"]);
    let found = changes(&ran);
    assert_eq!((ran.code, found.len()), (1, 3), "{found:?}");
    assert!(
        found[2].0.starts_with(
            "3 recordings of `evidence/inspector` are stamped, not recorded: they have the digests of this change and the content of before"
        ),
        "{found:?}"
    );
    assert!(
        found[0].0.starts_with(
            "fixtures/repos/prompt_injection_repo/app/store.py of `evidence` edited, used by prompt_injection_repo"
        ),
        "{found:?}"
    );
    assert_eq!(
        found[1].0,
        "fixtures/repos/prompt_injection_repo/app/user.py of `evidence` added, used by prompt_injection_repo"
    );
}

fn turn() {
    let repository = Repository::empty();
    repository.remove(".git");
    repository.write(
        "goldgate.yaml",
        "version: 1\nbaseline: latest.json\nsuites:\n  - id: talks\n    kind: tool_use\n    policy: seed\n    path: cases.json\n    agents: { helper: { \
         deterministic: { replay: runs }, fingerprint: { none: written by hand } } }\n",
    );
    let case = |id: &str| {
        json!({ "id": id, "category": "multi_step", "turns": [
            { "user": "Where is it?", "answer": { "all_of": ["here"] } }, { "user": "Thanks.", "tools": [] }] })
    };
    let cases = json!([case("one"), case("two"), case("three")]);
    repository.write("cases.json", serde_json::to_string_pretty(&cases).unwrap());
    let said = json!([{ "user": "Where is it?", "text": "It is here." }, { "user": "Thanks.", "text": "You are welcome." }]);
    let record = json!({ "status": "completed", "outputs": { "turns": said } }).to_string();
    ["one", "two", "three"]
        .iter()
        .for_each(|id| repository.write(&format!("runs/helper/{id}.json"), &record));
    assert_eq!(repository.goldgate(&["run", "--update-baseline"]).code, 0);
    commit_all(&repository);
    let mut edited = cases;
    edited[1]["turns"][0]["answer"]["all_of"][0] = json!("it");
    // Another layout of the file is no change.
    repository.write("cases.json", edited.to_string());
    let found = changes(&against(&repository, &["--format", "json"]));
    let said = "expectation of two of `talks` edited: turns[0].answer.all_of[0] \"here\" -> \"it\"";
    assert_eq!(found, [(said.to_owned(), true)]);
}

fn tools() {
    let repository = Repository::bundled();
    repository.remove(".git");
    commit_all(&repository);
    repository.replace("fixtures/tool_use/tools.json", "\"major\"", "\"minor\"");
    let ran = against_unstamped(&repository, &["--format", "json"]);
    let found = changes(&ran);
    assert!(
        found.len() == 1 && found[0].0.starts_with("tools of `assistant` edited: ") && found[0].1,
        "{found:?}"
    );
    // The tools are a part of what every case asks.
    let stale = "assistant/assistant: 144 recordings are stale";
    assert!(ran.code == 3 && ran.stdout.contains(stale), "{found:?}");
    let config = repository.read("goldgate.yaml");
    repository.write(
        "goldgate.yaml",
        config.replace("    tools: fixtures/tool_use/tools.json\n", ""),
    );
    let found = changes(&against_unstamped(&repository, &["--format", "json"]));
    assert!(
        found.contains(&(
            "tools file of `assistant`: fixtures/tool_use/tools.json -> none".to_owned(),
            true
        )),
        "{found:?}"
    );
}

fn no_tricks() {
    let repository = committed();
    let trap = repository.path("trap");
    repository.write(
        "trap-by.sh",
        format!("#!/bin/sh\ntouch {}\n", trap.display()),
    );
    git(
        &repository.path(""),
        &["config", "core.fsmonitor", "sh ./trap-by.sh"],
    );
    git(
        &repository.path(""),
        &["config", "core.pager", "sh ./trap-by.sh"],
    );
    git(
        &repository.path(""),
        &["config", "alias.ls-tree", "!sh ./trap-by.sh"],
    );
    let ran = against(&repository, &[]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(!trap.exists());
}

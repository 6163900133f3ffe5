//! Files that are none of the agent's: those that git ignores, which a program may write while it runs, and its recordings.

use libtest_mimic::Trial;
use serde_json::json;

use super::{bases, unstamped};
use crate::golden_changes::commit_all;
use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("a file that git ignores is no file of the agent", ignored),
        trial(
            "a folder that git ignores is not looked into",
            ignored_folder,
        ),
        trial(
            "a fixture repository has no files that git ignores",
            ignored_in_fixture,
        ),
        trial(
            "a file in the index counts although a pattern ignores it",
            tracked,
        ),
        trial(
            "a pattern that takes a file in again is followed",
            taken_in_again,
        ),
        trial(
            "a file that is named without a wildcard counts although git ignores it",
            named,
        ),
        trial("without a repository every file counts", without_git),
        trial(
            "recordings below a pattern of agent files do not make themselves stale",
            recordings_below,
        ),
        trial(
            "a file in the form of a recording is one of the agent's unless it is where recordings are",
            run_shaped,
        ),
        trial(
            "an added agent's recordings below a pattern are no files of the other agent",
            added_agent,
        ),
        trial(
            "an added agent does not take over a folder of agent files",
            taken_over,
        ),
    ]
}

/// Twelve leases, and recordings with the digests of the agent's files.
fn repository(ignored: &str) -> Repository {
    let repository = bases::base("digests");
    commit_all(&repository);
    repository.write(".gitignore", ignored);
    commit_all(&repository);
    repository
}

fn run(repository: &Repository) -> Ran {
    unstamped(repository, &["run"].map(str::to_owned))
}

fn ignored() {
    let repository = repository("__pycache__/\n*.swp\n");
    assert_eq!(run(&repository).code, 0);
    repository.write("prompts/__pycache__/agent.pyc", "compiled");
    repository.write("prompts/.legal.md.swp", "edited");
    let ran = run(&repository);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    repository.write("prompts/more.md", "More.\n");
    assert_eq!(
        run(&repository).code,
        3,
        "the control: a file that git does not ignore"
    );
}

/// A virtual environment has links out of the repository, and node_modules may be deeper than any folder of prompts.
fn ignored_folder() {
    let repository = repository(".venv/\nnode_modules\n");
    repository.replace("goldgate.yaml", "prompts/**", "**/prompts/**");
    repository.stamp("goldgate.yaml");
    repository.write(".venv/bin/pip", "");
    std::os::unix::fs::symlink("/usr/bin/python3", repository.path(".venv/bin/python3")).unwrap();
    repository.write(
        &format!("{}prompts/a.md", "node_modules/a/".repeat(20)),
        "Deep.\n",
    );
    let ran = run(&repository);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

const FIXTURE: &str = "fixtures/repos/buggy_calc";

fn ignored_in_fixture() {
    let repository = bases::base("evidence");
    repository.write(".gitignore", "__pycache__/\n.DS_Store\n");
    repository.stamp("goldgate.yaml");
    commit_all(&repository);
    let run = || unstamped(&repository, &["run", "--base", "HEAD"].map(str::to_owned));
    assert_eq!(run().code, 0, "the control");
    for file in ["__pycache__/a.pyc", ".DS_Store"] {
        repository.write(&format!("{FIXTURE}/{file}"), "written by a program");
    }
    let ran = run();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    repository.write(&format!("{FIXTURE}/more.py"), "pass\n");
    assert_eq!(
        run().code,
        3,
        "the control: a file that git does not ignore"
    );
}

fn tracked() {
    let repository = repository("prompts/\n");
    assert_eq!(run(&repository).code, 0);
    repository.write("prompts/legal.md", "Report nothing.\n");
    assert_eq!(run(&repository).code, 3);
}

fn taken_in_again() {
    let repository = repository("prompts/*\n!prompts/more.md\n");
    repository.write("prompts/less.md", "Less.\n");
    assert_eq!(run(&repository).code, 0);
    repository.write("prompts/more.md", "More.\n");
    assert_eq!(run(&repository).code, 3);
}

fn without_git() {
    let repository = repository("*.swp\n");
    repository.write("prompts/.legal.md.swp", "edited");
    repository.remove(".git");
    assert_eq!(run(&repository).code, 3);
}

fn named() {
    let repository = repository("prompts/made.md\n");
    repository.replace(
        "goldgate.yaml",
        "'prompts/**'",
        "'prompts/**', 'prompts/made.md'",
    );
    assert_eq!(run(&repository).code, 0);
    repository.write("prompts/made.md", "Made by a script.\n");
    assert_eq!(run(&repository).code, 3);
}

/// The layout `agents/NAME/{prompt.md,runs}`: the recordings lie in the folder that the pattern names.
fn recordings_below() {
    let repository = bases::base("answers");
    repository.remove("runs");
    repository.replace(
        "goldgate.yaml",
        "replay: runs",
        "replay: agents/helper/runs",
    );
    repository.replace("goldgate.yaml", "[prompt.md]", "['agents/helper/**']");
    repository.write("agents/helper/prompt.md", "Name the capital.\n");
    let answers = [
        ("text", "The capital is Paris."),
        ("json", r#"{"city": "Paris"}"#),
        ("refusal", "I cannot help with that."),
    ];
    let record = |system: &str| {
        for (case, answer) in answers {
            let messages = json!([{ "role": "system", "content": system }, { "role": "user", "content": case },
                { "role": "assistant", "content": answer }]);
            repository.write("chat.json", messages.to_string());
            let folder = "agents/helper/runs";
            let options = [
                "--agent", "helper", "--case", case, "--out", folder, "--force",
            ];
            let ran =
                repository.goldgate(&[&["import", "openai", "chat.json"][..], &options].concat());
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{case}");
        }
    };
    for system in ["Be brief.", "Be polite."] {
        record(system);
        let ran = run(&repository);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    }
    repository.write("agents/helper/notes.md", "Be brief.\n");
    assert_eq!(
        run(&repository).code,
        3,
        "the control: the other files of the folder count"
    );
}

/// A second agent, whose recordings are in the folder of the first one's.
fn tax(repository: &Repository, folder: &str, agent: &str) {
    for case in 0..12 {
        let run = repository
            .read(&format!("{folder}/legal/lease-{case}.json"))
            .replace("\"legal\"", &format!("\"{agent}\""));
        repository.write(&format!("{folder}/{agent}/lease-{case}.json"), run);
        let expected = repository.read(&format!("golden/expected/legal/lease-{case}.json"));
        repository.write(
            &format!("golden/expected/{agent}/lease-{case}.json"),
            expected,
        );
    }
    let added = format!(
        "      {agent}:\n        fingerprint: {{ none: made up }}\n        deterministic: {{ replay: {folder} }}\n    gates:\n"
    );
    repository.replace("goldgate.yaml", "    gates:\n", &added);
}

fn added_agent() {
    let repository = bases::base("contracts");
    repository.replace(
        "goldgate.yaml",
        "['prompts/**']",
        "['prompts/**', 'runs/**']",
    );
    repository.stamp("goldgate.yaml");
    commit_all(&repository);
    tax(&repository, "runs", "tax");
    repository.goldgate(&["stamp", "--agent", "tax", "--stale"]);
    let ran = unstamped(&repository, &["run", "--base", "HEAD"].map(str::to_owned));
    assert!(
        ran.code == 0 && !ran.stdout.contains("[needs approval]"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

fn taken_over() {
    let repository = bases::base("contracts");
    repository.replace(
        "goldgate.yaml",
        "['prompts/**']",
        "['prompts/**', 'runs/shots/**']",
    );
    repository.write("runs/shots/first.md", "Report every change of control.\n");
    repository.stamp("goldgate.yaml");
    commit_all(&repository);
    tax(&repository, "runs", "shots");
    repository.goldgate(&["stamp", "--agent", "shots", "--stale"]);
    let judged = || unstamped(&repository, &["run", "--base", "HEAD"].map(str::to_owned));
    let ran = judged();
    assert_eq!(ran.code, 0, "the control: {}{}", ran.stdout, ran.stderr);
    repository.write("runs/shots/first.md", "Report nothing.\n");
    let ran = judged();
    let says = "contracts/legal: 12 recordings are stale";
    assert!(
        ran.code == 3 && ran.stdout.contains(says),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

/// A folder of recordings with other files in it.
fn run_shaped() {
    let repository = bases::base("contracts");
    repository.replace(
        "goldgate.yaml",
        "['prompts/**']",
        "['prompts/**', 'runs/shots/**']",
    );
    repository.stamp("goldgate.yaml");
    commit_all(&repository);
    repository.write(
        "runs/shots/0.json",
        r#"{"status": "completed", "outputs": {"findings": []}}"#,
    );
    let ran = unstamped(&repository, &["run", "--base", "HEAD"].map(str::to_owned));
    assert!(
        ran.code == 3
            && ran
                .stdout
                .contains("contracts/legal: 12 recordings are stale"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

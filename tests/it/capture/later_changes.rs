//! What is said of recordings once the model of a user, the files of an agent, or the cases are others.

use libtest_mimic::Trial;

use super::model_server::ModelServer;
use super::{EXCHANGES, RECORDING, against, config, record, repository, talks_with, user};
use crate::golden_changes::{commit_all, git};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "another model that plays the user is listed, also where the code runs again",
            other_user,
        ),
        trial(
            "a recording with another goal of the user answers no call of the code",
            other_goal,
        ),
        trial(
            "check names the cases whose code has no recorded answers",
            unrecorded,
        ),
        trial(
            "a recording that covers a file which git does not have says so, and is stale without it",
            untracked,
        ),
    ]
}

fn other_user() {
    let (server, user) = (ModelServer::new(), user());
    let repository = repository("talk", "openai");
    talks_with(&repository, &user);
    let ran = record(&repository, &server, &[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(repository.goldgate(&["run", "--update-baseline"]).code, 0);
    commit_all(&repository);
    assert_eq!(against(&repository, "HEAD").code, 0, "the control");
    repository.replace("goldgate.yaml", "model: u-1", "model: v-2");
    let ran = against(&repository, "HEAD");
    let words = "[listed] target customer has another program, address or model";
    assert!(
        ran.code == 0 && ran.stdout.contains(words),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

fn other_goal() {
    let (server, user) = (ModelServer::new(), user());
    let repository = repository("talk", "openai");
    talks_with(&repository, &user);
    assert_eq!(record(&repository, &server, &[]).code, 0);
    assert_eq!(repository.goldgate(&["run"]).code, 0, "the control");
    repository.replace("cases.json", "Know it.", "Get the money back.");
    let ran = repository.goldgate(&["run"]);
    assert!(
        ran.code == 3 && ran.stdout.contains("was recorded for another input"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert_eq!(record(&repository, &server, &[]).code, 0);
    assert_eq!(repository.goldgate(&["run"]).code, 0, "recorded again");
}

fn unrecorded() {
    let server = ModelServer::new();
    let repository = super::recorded("loop", "openai", &server);
    assert_eq!(repository.goldgate(&["check"]).code, 0, "the control");
    repository.remove(RECORDING);
    let ran = repository.goldgate(&["check"]);
    let next = "record what is missing: `goldgate record --suite chat --agent support --missing`";
    assert!(
        ran.code == 2 && ran.stderr.contains("has no recording") && ran.stderr.contains(next),
        "{}",
        ran.stderr
    );
}

fn untracked() {
    let server = ModelServer::new();
    let repository = repository("loop", "openai");
    let text = config("loop", EXCHANGES, "openai").replace(EXCHANGES, "{ replay: runs }");
    repository.write(
        "goldgate.yaml",
        text.replace("[agent.txt]", "['agent*.txt']"),
    );
    repository.remove(".git");
    commit_all(&repository);
    let note = "git does not have agent-scratch.txt, and the digest of the agent's files covers it";
    let ran = record(&repository, &server, &[]);
    assert!(
        ran.code == 0 && !ran.stderr.contains("git does not have"),
        "the control: {}",
        ran.stderr
    );
    commit_all(&repository);
    git(&repository.path(""), &["branch", "base"]);
    repository.write("agent.txt", "version 2\n");
    repository.write("agent-scratch.txt", "Later.\n");
    let ran = record(&repository, &server, &[]);
    assert!(ran.code == 0 && ran.stderr.contains(note), "{}", ran.stderr);
    assert_eq!(
        against(&repository, "base").code,
        0,
        "here, the file is there"
    );
    git(
        &repository.path(""),
        &["commit", "-q", "--all", "-m", "work"],
    );
    repository.remove("agent-scratch.txt");
    let ran = against(&repository, "base");
    let words = "1 recording is stale: agent.txt changed since it was made (happy_path-0.json)";
    assert!(
        ran.code == 3 && ran.stdout.contains(words),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

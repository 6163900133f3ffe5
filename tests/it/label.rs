//! `goldgate label`: what a person said is in the file at once, and stays there.

use std::io::{Read, Write};
use std::process::{ChildStdout, Stdio};

use libtest_mimic::Trial;

use crate::cases::copy;
use crate::repository::{Repository, program, root};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "an answer is in the file before the next question, and a kill loses none",
            killed,
        ),
        trial(
            "what a person writes by hand stays as it is beside a new label",
            by_hand,
        ),
        trial("a label of a case that there is not is told", stray),
        trial(
            "a score of a dimension keeps its day and the outputs that it is on",
            dimension,
        ),
        trial("the name is git's, of the nearest of its files", names),
        trial(
            "a case that was marked is not asked about again until its outputs change",
            outputs_change,
        ),
    ]
}

const HAND: &str = "[ {\"case\":\"lease\",   \"verdict\":\"weak\", \"by\":\"Subject B\",\n\"reason\":\"odd, but mine\"} ]";

/// The small repository with a second contract, and a place for labels.
fn labelled() -> Repository {
    let repository = Repository::small();
    repository.replace(
        "goldgate.yaml",
        "    path: golden\n",
        "    path: golden\n    labels: people/labels.json\n",
    );
    for file in [
        "golden/contracts/lease.md",
        "golden/expected/legal/lease.json",
        "golden/runs/legal/lease.json",
    ] {
        let text = repository
            .read(file)
            .replace("\"case\": \"lease\"", "\"case\": \"loan\"");
        repository.write(
            &file.replace("lease", "loan"),
            text.replace("lease.md", "loan.md"),
        );
    }
    repository
}

fn verdicts(repository: &Repository) -> Vec<serde_json::Value> {
    serde_json::from_str(&repository.read("people/labels.json")).unwrap()
}

/// Reads until a text has come.
fn until(out: &mut ChildStdout, wanted: &str) -> String {
    let mut came = Vec::new();
    let mut byte = [0];
    while !String::from_utf8_lossy(&came).contains(wanted) {
        assert_eq!(
            out.read(&mut byte).unwrap(),
            1,
            "the program ended: {}",
            String::from_utf8_lossy(&came)
        );
        came.push(byte[0]);
    }
    String::from_utf8_lossy(&came).into_owned()
}

fn killed() {
    let repository = labelled();
    let mut command = program(&repository.path(""));
    command
        .args(["label", "--by", "Subject A"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut input, mut out) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    until(&mut out, "> ");
    assert!(!repository.path("people/labels.json").exists());
    input.write_all(b"pass\nnames the consent\n").unwrap();
    let shown = until(&mut out, "[2 of 2]");
    // Who marks has not been told what the scores say.
    assert!(
        !shown.contains("passes ") && !shown.contains("FAILS"),
        "{shown}"
    );
    child.kill().unwrap();
    child.wait().unwrap();
    let saved = verdicts(&repository);
    assert_eq!(saved.len(), 1);
    assert_eq!(
        (&saved[0]["verdict"], &saved[0]["by"]),
        (&"pass".into(), &"Subject A".into())
    );
    assert_eq!(saved[0]["reason"], "names the consent");
    // No draft is left beside it, and the file is one that the other commands read.
    assert_eq!(
        std::fs::read_dir(repository.path("people"))
            .unwrap()
            .count(),
        1
    );
    assert_eq!(repository.goldgate(&["check"]).code, 0);
    assert_eq!(repository.goldgate(&["run", "-v"]).code, 0);
}

fn by_hand() {
    let repository = labelled();
    repository.write("people/labels.json", HAND);
    let ran = repository.goldgate_reading(
        &["label", "--by", "Subject A", "--count", "1"],
        b"f\nsays \"no\" ]\n",
    );
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    let text = repository.read("people/labels.json");
    assert!(text.starts_with(HAND.trim_end_matches(" ]")), "{text}");
    assert_eq!(verdicts(&repository)[1]["reason"], "says \"no\" ]");
    assert!(
        ran.stdout
            .contains("People and the automatic scores, 2 labels:"),
        "{}",
        ran.stdout
    );
    // A file that is no list of labels is refused before anybody is asked.
    repository.write("people/labels.json", "[ {} ]");
    let ran = repository.goldgate_reading(&["label", "--by", "Subject A"], b"p\nfine\n");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
    assert_eq!(repository.read("people/labels.json"), "[ {} ]");
}

fn stray() {
    let repository = labelled();
    repository.write("people/labels.json", HAND.replace("lease", "leese"));
    let ran = repository.goldgate(&["run", "-v"]);
    let said = "people/labels.json:1:11: a label is about \"leese\", which is not a case of the suite; fix its case";
    assert!(
        ran.code == 2 && ran.stderr.starts_with(said),
        "{}",
        ran.stderr
    );
    assert!(!ran.stderr.contains("\"lease\""), "{}", ran.stderr);
}

fn dimension() {
    let repository = Repository::empty();
    copy(
        &root().join("tests/cases/labels/a_score_of_other_outputs_is_outdated/files"),
        &repository.path(""),
    );
    repository.remove("labels.json");
    let ask = |input: &[u8]| {
        let ran = repository.goldgate_reading(
            &[
                "label",
                "--by",
                "Subject A",
                "--dimension",
                "edge_case_coverage",
            ],
            input,
        );
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
        ran.stdout
    };
    let shown = ask(b"3\n0\nnames no edge case\n");
    assert!(
        shown.contains("Please answer 0, 1, 2, s or q.") && shown.ends_with("1 label saved\n"),
        "{shown}"
    );
    let labels = || -> Vec<serde_json::Value> {
        serde_json::from_str(&repository.read("labels.json")).unwrap()
    };
    let first = labels().remove(0);
    assert_eq!(
        (&first["dimension"], &first["score"]),
        (&"edge_case_coverage".into(), &0.into())
    );
    assert!(
        first["outputs_sha256"].as_str().unwrap().len() == 64 && first["date"].is_string(),
        "{first}"
    );
    let told = || repository.goldgate(&["run", "-v"]).stdout;
    assert!(
        told().contains("edge_case_coverage of stock scores 0 of 2 by Subject A on "),
        "{}",
        told()
    );
    assert!(ask(b"").contains("0 labels saved"), "it is scored");
    // Other outputs: the score is outdated until somebody scores those of today.
    repository.replace(
        "runs/reviewer/stock.json",
        "\"outputs\": {",
        "\"outputs\": { \"note\": \"made again\",",
    );
    assert!(
        told().contains("the score by Subject A on ")
            && told().contains("is ignored: it was given on older outputs"),
        "{}",
        told()
    );
    assert!(ask(b"2\nnames two\n").contains("1 label saved"));
    assert!(
        told().contains("scores 2 of 2 by Subject A") && !told().contains("ignored"),
        "{}",
        told()
    );
    assert_eq!(labels().len(), 2);
    let ran = repository.goldgate(&["label", "--by", "A", "--dimension", "edge_case"]);
    assert!(
        ran.code == 2 && ran.stderr.contains("unknown dimension \"edge_case\""),
        "{}",
        ran.stderr
    );
}

fn names() {
    let answer = |repository: &Repository, variables: &[(&str, &str)]| {
        let mut command = program(&repository.path(""));
        command
            .args(["label", "--count", "1"])
            .envs(variables.iter().copied());
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(b"p\nfine\n").unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0));
        verdicts(repository).last().unwrap()["by"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let repository = labelled();
    repository.write(
        "home/.gitconfig",
        "[user]\n\temail = a@acme.test\n\tname = Subject A\n",
    );
    let home = repository.path("home").display().to_string();
    let at_home = [("HOME", home.as_str())];
    assert_eq!(answer(&repository, &at_home), "Subject A");
    repository.write(
        ".git/config",
        "[core]\nname = nobody\n[User]\n Name = \"Subject B\"\n[remote \"x\"]\nname = y\n",
    );
    assert_eq!(answer(&repository, &at_home), "Subject B");
    assert_eq!(
        answer(&repository, &[at_home[0], ("GIT_AUTHOR_NAME", "Subject C")]),
        "Subject C"
    );
}

fn outputs_change() {
    let repository = labelled();
    let ask = |input: &[u8]| repository.goldgate_reading(&["label", "--by", "Subject A"], input);
    assert!(ask(b"p\nfine\np\nfine\n").stdout.contains("2 labels saved"));
    let again = ask(b"");
    assert!(
        again
            .stdout
            .starts_with("Subject A has labeled all selected cases.\n0 labels saved"),
        "{}",
        again.stdout
    );
    repository.replace(
        "golden/runs/legal/loan.json",
        "Needs prior approval.",
        "Needs approval before.",
    );
    let changed = ask(b"");
    assert!(
        changed
            .stdout
            .starts_with("[1 of 1] contracts/legal/loan\n"),
        "{}",
        changed.stdout
    );
    assert!(
        changed
            .stdout
            .contains("1 label not counted, because the outputs have changed."),
        "{}",
        changed.stdout
    );
    assert!(
        changed
            .stdout
            .contains("People and the automatic scores, 1 label:"),
        "{}",
        changed.stdout
    );
}

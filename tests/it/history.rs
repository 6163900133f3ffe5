//! `goldgate history`: the numbers over the committed baselines and over stored reports.

use std::process::{Command, Stdio};

use libtest_mimic::Trial;
use serde_json::json;

use crate::golden_changes::git;
use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "the history shows every number that moved, with the commits that moved it",
            moved,
        ),
        trial(
            "the history follows a renamed baseline and says so",
            renamed,
        ),
        trial(
            "a baseline in the history that cannot be read is left out and named",
            broken,
        ),
        trial(
            "a shallow clone says that older baselines are missing",
            shallow,
        ),
        trial(
            "the history of ten thousand commits is bounded and quick",
            many,
        ),
        trial("stored reports follow the committed baselines", reports),
        trial(
            "a history without a baseline, a commit or git is refused in clear words",
            nothing,
        ),
        trial(
            "the page of the history loads nothing and escapes titles",
            page,
        ),
    ]
}

const BASELINE: &str = "baselines/latest.json";

/// A baseline with these values of `f1_score` and `finding_recall`.
fn baseline(f1: f64, recall: f64) -> String {
    json!({
        "schema": "goldgate.baseline/1",
        "suites": { "contracts": { "agents": { "legal": { "metrics": { "f1_score": f1, "finding_recall": recall } } } } },
    })
    .to_string()
}

fn commit(repository: &Repository, title: &str) {
    git(&repository.path(""), &["add", "-A"]);
    git(
        &repository.path(""),
        &["commit", "-q", "--no-verify", "-m", title],
    );
}

/// A repository whose baseline was committed with these values of `f1_score`, one commit each.
fn committed(values: &[f64]) -> Repository {
    let repository = Repository::small();
    repository.remove(".git");
    git(&repository.path(""), &["init", "-q", "-b", "main", "."]);
    for (index, value) in values.iter().enumerate() {
        repository.write(BASELINE, baseline(*value, 1.0));
        commit(&repository, &format!("Change {index}"));
        repository.write("notes.txt", format!("{index}\n"));
        commit(&repository, &format!("Other {index}"));
    }
    repository
}

fn history(repository: &Repository, arguments: &[&str]) -> Ran {
    let path = std::env::var("PATH").unwrap();
    repository.goldgate_with(&[&["history"], arguments].concat(), &[("PATH", &path)])
}

fn shown(repository: &Repository, arguments: &[&str]) -> String {
    let ran = history(repository, arguments);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    ran.stdout
}

fn moved() {
    let repository = committed(&[0.8, 0.9, 0.7]);
    let text = shown(&repository, &[]);
    assert!(text.starts_with("3 measurements from "), "{text}");
    let row = text.lines().find(|line| line.contains("f1_score")).unwrap();
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(
        cells,
        [
            "contracts/legal",
            "f1_score",
            "▅█▁",
            "80%",
            "70%",
            "−5",
            "pp"
        ]
    );
    assert!(text.contains("1 number never moved; -v shows it"), "{text}");
    let worse = text
        .find("  contracts/legal f1_score 90% → 70% (−20 pp, worse)")
        .unwrap();
    let better = text
        .find("  contracts/legal f1_score 80% → 90% (+10 pp, better)")
        .unwrap();
    assert!(worse < better, "the newest commit comes first: {text}");
    assert!(
        text.contains("  Change 2\n") && !text.contains("Change 0") && !text.contains("Other"),
        "{text}"
    );
    assert!(shown(&repository, &["-v"]).contains("finding_recall"));
    assert!(!shown(&repository, &["--metric", "finding_recall"]).contains("f1_score"));
    let limited = shown(&repository, &["--limit", "2"]);
    assert!(
        limited.starts_with("2 measurements") && limited.contains("only the last 2 commits"),
        "{limited}"
    );
}

fn renamed() {
    let repository = committed(&[0.8, 0.9]);
    git(&repository.path(""), &["mv", BASELINE, "numbers.json"]);
    repository.replace("goldgate.yaml", BASELINE, "numbers.json");
    commit(&repository, "Rename the baseline");
    repository.write("numbers.json", baseline(0.7, 1.0));
    commit(&repository, "Lower");
    let text = shown(&repository, &[]);
    assert!(text.starts_with("4 measurements"), "{text}");
    assert!(
        text.contains("note: before a rename the baseline was baselines/latest.json\n"),
        "{text}"
    );
    assert!(text.contains("90% → 70%"), "{text}");
}

fn broken() {
    let repository = committed(&[0.8]);
    repository.write(BASELINE, "{ \"schema\": \"goldgate.baseline/9\" }");
    commit(&repository, "A newer version");
    repository.remove(BASELINE);
    commit(&repository, "Remove");
    repository.write(BASELINE, baseline(0.6, 1.0));
    commit(&repository, "Again");
    let text = shown(&repository, &[]);
    assert!(text.contains("f1_score 80% → 60%"), "{text}");
    assert!(
        text.contains(
            " is left out: baselines/latest.json:1:13: unknown schema \"goldgate.baseline/9\""
        ),
        "{text}"
    );
    assert!(text.contains(" removed baselines/latest.json"), "{text}");
}

fn shallow() {
    let repository = committed(&[0.8, 0.9, 0.7]);
    let clone = Repository::empty();
    clone.remove(".git");
    let from = format!("file://{}", repository.path("").display());
    git(
        &clone.path(""),
        &["clone", "-q", "--depth", "2", &from, "copy"],
    );
    let path = std::env::var("PATH").unwrap();
    let ran = clone.goldgate_with(
        &["history", "--config", "copy/goldgate.yaml"],
        &[("PATH", &path)],
    );
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout
            .contains("note: this clone is shallow, so older baselines are missing"),
        "{}",
        ran.stdout
    );
}

/// Ten thousand commits, of which every hundredth changes the baseline.
fn many() {
    let repository = Repository::small();
    repository.remove(".git");
    git(&repository.path(""), &["init", "-q", "-b", "main", "."]);
    let mut stream = String::new();
    let config = repository.read("goldgate.yaml");
    for index in 0..10_000_u32 {
        let title = format!("Change {index}");
        let seconds = 1_700_000_000 + index * 60;
        stream.push_str(&format!(
            "commit refs/heads/main\ncommitter Subject A <a@example.org> {seconds} +0000\ndata {}\n{title}\n",
            title.len()
        ));
        let mut file = |name: &str, text: &str| {
            stream.push_str(&format!(
                "M 100644 inline {name}\ndata {}\n{text}\n",
                text.len()
            ));
        };
        file("notes.txt", &index.to_string());
        if index % 100 == 0 {
            file(BASELINE, &baseline(f64::from(index % 900) / 1_000.0, 1.0));
        }
        if index == 0 {
            file("goldgate.yaml", &config);
        }
    }
    let mut import = Command::new("git");
    import
        .arg("-C")
        .arg(repository.path(""))
        .args(["fast-import", "--quiet"])
        .stdin(Stdio::piped());
    let mut running = import.spawn().unwrap();
    std::io::Write::write_all(running.stdin.as_mut().unwrap(), stream.as_bytes()).unwrap();
    assert!(running.wait().unwrap().success());
    let started = std::time::Instant::now();
    let text = shown(&repository, &[]);
    let took = started.elapsed();
    assert!(
        text.starts_with("30 measurements") && text.contains("only the last 30 commits"),
        "{text}"
    );
    let text = shown(&repository, &["--limit", "1000"]);
    assert!(
        text.starts_with("100 measurements") && !text.contains("only the last"),
        "{text}"
    );
    assert!(took.as_secs() < 30, "{took:?}");
}

fn reports() {
    let repository = committed(&[0.8, 0.9]);
    let path = std::env::var("PATH").unwrap();
    let ran = repository.goldgate_with(&["run", "-q", "--out", "out"], &[("PATH", &path)]);
    assert!(ran.code < 2, "{}{}", ran.stdout, ran.stderr);
    let text = shown(&repository, &["out"]);
    assert!(
        text.starts_with("3 measurements") && text.contains("f1_score 90% → 100% (+10 pp, better)"),
        "{text}"
    );
    assert!(text.contains("\nout 2026-"), "{text}");
}

fn nothing() {
    let repository = Repository::small();
    repository.remove(".git");
    git(&repository.path(""), &["init", "-q", "-b", "main", "."]);
    let ran = history(&repository, &[]);
    assert!(
        ran.code == 3
            && ran
                .stderr
                .contains("while reading the history of the baseline"),
        "{}",
        ran.stderr
    );
    commit(&repository, "Without a baseline");
    let ran = history(&repository, &[]);
    let what = "goldgate.yaml: no committed baseline and no report has a number under the options";
    assert!(
        ran.code == 2 && ran.stderr.starts_with(what),
        "{}",
        ran.stderr
    );
    let ran = repository.goldgate_with(&["history"], &[("PATH", "/nonexistent")]);
    assert!(
        ran.code == 3 && ran.stderr.contains("git cannot be started"),
        "{}",
        ran.stderr
    );
    repository.replace("goldgate.yaml", "baseline: baselines/latest.json\n", "");
    let ran = history(&repository, &[]);
    assert!(
        ran.code == 2 && ran.stderr.contains("the config has no baseline"),
        "{}",
        ran.stderr
    );
}

fn page() {
    let repository = committed(&[0.8, 0.9]);
    repository.write(BASELINE, baseline(0.5, 1.0));
    commit(&repository, "<script>alert(1)</script> & \"more\"");
    shown(&repository, &["--html", "history.html"]);
    let page = repository.read("history.html");
    assert!(
        page.starts_with("<!DOCTYPE html>") && page.contains("default-src 'none'"),
        "{page}"
    );
    assert!(
        page.contains("script-src 'none'") && page.contains("style-src 'sha256-"),
        "{page}"
    );
    assert!(
        !page.contains("unsafe") && !page.contains(" style="),
        "{page}"
    );
    assert_eq!(
        page.matches("<svg").count(),
        1,
        "one plot for the one number that moved"
    );
    assert_eq!(page.matches("<circle").count(), 3);
    assert!(
        !page.contains("<script") && page.contains("&lt;script&gt;alert(1)"),
        "{page}"
    );
    for outside in ["src=", "href=", "url(", "@import"] {
        assert!(!page.contains(outside), "{outside}");
    }
}

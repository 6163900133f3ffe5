//! `goldgate run --failed` grades what failed last time, and `--open` shows the page.

use libtest_mimic::Trial;

use crate::repository::{EXPECTED, RUN, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "--failed grades the cases that failed last time and says that it judges no others",
            only_failed,
        ),
        trial(
            "a case that passes under --failed is taken off the list of failed cases",
            repaired,
        ),
        trial(
            "a run of some cases forgets no failure of the others",
            others_stay,
        ),
        trial(
            "--failed without a failure, or with a broken list, grades nothing",
            nothing_known,
        ),
        trial(
            "a baseline is never written from the cases that failed",
            no_baseline,
        ),
        trial(
            "a passing run of all cases writes nothing for --failed",
            nothing_written,
        ),
        trial("a sample that is missing counts as a failure", lost),
        #[cfg(unix)]
        trial("--open hands the page to the browser", opened),
    ]
}

const LIST: &str = ".goldgate/last/failed.json";

/// Two contracts, of which the agent misses the finding of the second.
fn two() -> Repository {
    let repository = Repository::small();
    repository.write(
        "golden/contracts/deed.md",
        "# Deed\n\nOn a change of control the seller has to approve.\n",
    );
    repository.write(
        "golden/expected/legal/deed.json",
        EXPECTED.replace("lease.md", "deed.md"),
    );
    repository.write("golden/runs/legal/deed.json", missed());
    repository
}

fn found() -> String {
    RUN.replace("lease", "deed")
}

fn missed() -> String {
    found().replace("Needs prior approval.", "Needs nothing.")
}

fn only_failed() {
    let repository = two();
    assert_eq!(repository.goldgate(&["run", "-q"]).code, 1);
    assert!(
        repository.read(LIST).contains("\"case\": \"deed\"")
            && !repository.read(LIST).contains("lease")
    );
    assert_eq!(repository.read(".goldgate/last/.gitignore"), "*\n");
    let ran = repository.goldgate(&["run", "-v", "--failed"]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains("\n  deed: ") && !ran.stdout.contains("lease"),
        "{}",
        ran.stdout
    );
    repository.write("golden/runs/legal/deed.json", found());
    let ran = repository.goldgate(&["run", "-q", "--failed", "--out", "out"]);
    let partly = "Only cases that failed before were graded; the others are not judged.";
    assert!(
        ran.code == 0 && ran.stdout.contains(partly),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert!(
        repository
            .read("out/report.json")
            .contains("\"graded_cases\":\"failed\"")
    );
    for file in ["report.md", "report.html"] {
        assert!(
            repository
                .read(&format!("out/{file}"))
                .contains("the others are not judged"),
            "{file}"
        );
    }
    let ran = repository.goldgate(&["run", "-q", "--case", "deed"]);
    assert!(
        ran.stdout
            .contains("Only cases that match --case or --tag were graded"),
        "{}",
        ran.stdout
    );
    let ran = repository.goldgate(&["run", "-q"]);
    assert!(
        ran.code == 0 && !ran.stdout.contains("were graded"),
        "{}",
        ran.stdout
    );
}

fn repaired() {
    let repository = two();
    repository.goldgate(&["run", "-q"]);
    repository.write("golden/runs/legal/deed.json", found());
    assert_eq!(repository.goldgate(&["run", "-q", "--failed"]).code, 0);
    let ran = repository.goldgate(&["run", "-q", "--failed"]);
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    assert!(
        ran.stderr
            .starts_with("command line: --failed: no case failed in the last run of these tiers; run without --failed"),
        "{}",
        ran.stderr
    );
}

fn others_stay() {
    let repository = two();
    repository.goldgate(&["run", "-q"]);
    assert_eq!(
        repository.goldgate(&["run", "-q", "--case", "lease"]).code,
        0
    );
    assert!(repository.read(LIST).contains("deed"));
    // A removed case cannot be graded.
    for file in [
        "golden/contracts/deed.md",
        "golden/expected/legal/deed.json",
        "golden/runs/legal/deed.json",
    ] {
        repository.remove(file);
    }
    let ran = repository.goldgate(&["run", "-q", "--failed"]);
    assert!(
        ran.code == 2
            && ran
                .stderr
                .contains("none of the cases that failed in the last run is left"),
        "{}",
        ran.stderr
    );
}

fn nothing_known() {
    let repository = two();
    let ran = repository.goldgate(&["run", "--failed"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
    repository.goldgate(&["run", "-q"]);
    let ran = repository.goldgate(&["run", "--failed", "--tier", "model"]);
    assert_eq!(ran.code, 2, "the model tier did not run: {}", ran.stdout);
    for (text, what) in [
        (
            "{ \"schema\": \"goldgate.failed/9\", \"failed\": [] }",
            "unknown schema \"goldgate.failed/9\"",
        ),
        ("{", "invalid JSON"),
    ] {
        repository.write(LIST, text);
        let ran = repository.goldgate(&["run", "--failed"]);
        assert!(
            ran.code == 2 && ran.stderr.contains(what),
            "{}{}",
            ran.stdout,
            ran.stderr
        );
    }
    // A run of all cases makes the list again.
    repository.goldgate(&["run", "-q"]);
    assert!(repository.read(LIST).contains("deed"));
}

fn no_baseline() {
    let repository = two();
    repository.goldgate(&["run", "-q"]);
    for other in ["--base=HEAD", "--update-baseline", "--shard=1/2"] {
        let ran = repository.goldgate(&["run", "--failed", other, "--out", "out"]);
        assert!(
            ran.code == 2 && ran.stderr.contains("cannot be used with"),
            "{}",
            ran.stderr
        );
    }
}

fn nothing_written() {
    let repository = Repository::small();
    assert_eq!(repository.goldgate(&["run", "-q"]).code, 0);
    assert!(!repository.path(".goldgate").exists());
}

fn lost() {
    let repository = two();
    repository.write(
        "golden/runs/legal/deed.json",
        "{ \"status\": \"timeout\", \"outputs\": {} }",
    );
    assert_eq!(repository.goldgate(&["run", "-q"]).code, 3);
    assert!(repository.read(LIST).contains("deed"));
}

/// A browser that writes down what it is asked to show.
#[cfg(unix)]
fn opened() {
    use std::os::unix::fs::PermissionsExt;
    use std::time::{Duration, Instant};

    let repository = Repository::small();
    let shown = repository.path("shown");
    repository.write(
        "bin/xdg-open",
        format!(
            "#!/bin/sh\nprintf '%s\\n' \"$1\" >> '{}'\n",
            shown.display()
        ),
    );
    let program = repository.path("bin/xdg-open");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", repository.path("bin").display());
    for (arguments, page) in [
        (&["run", "-q", "--open"][..], ".goldgate/last/report.html"),
        (&["run", "-q", "--open", "--out", "out"], "out/report.html"),
        (&["report", "out", "-q", "--open"], "out/report.html"),
    ] {
        let ran = repository.goldgate_with(arguments, &[("PATH", &path)]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{arguments:?}");
        assert!(
            repository.read(page).starts_with("<!DOCTYPE html>"),
            "{page}"
        );
        let until = Instant::now() + Duration::from_secs(20);
        // The shell creates the file before it writes the line.
        let asked = loop {
            let asked = std::fs::read_to_string(&shown).unwrap_or_default();
            if asked.ends_with('\n') || Instant::now() > until {
                break asked;
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        assert!(asked.trim_end().ends_with(page), "{arguments:?}: {asked}");
        repository.remove("shown");
    }
}

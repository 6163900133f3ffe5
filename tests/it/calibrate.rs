//! `goldgate calibrate`: what it proposes is what a config takes, and is enough.

use libtest_mimic::Trial;

use crate::cases::copy;
use crate::repository::{Repository, root};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("what is proposed can be pasted, and then nothing more is proposed", pasted),
        trial("nothing is written by a calibration", nothing_written),
        trial("a gate that is switched off is not pasted back", switched_off),
    ]
}

fn flaking() -> Repository {
    let repository = Repository::empty();
    let case = "tests/cases/calibrate/a_gate_that_flakes_is_given_its_width/files";
    copy(&root().join(case), &repository.path(""));
    repository
}

fn pasted() {
    let repository = flaking();
    let ran = repository.goldgate(&["calibrate"]);
    let (_, snippet) = ran.stdout.split_once("  # suite contracts\n").unwrap();
    let config = repository.read("goldgate.yaml");
    let (before, _) = config.split_once("    gates:\n").unwrap();
    repository.write("goldgate.yaml", format!("{before}{snippet}"));
    assert_eq!(repository.goldgate(&["check"]).code, 0);
    let again = repository.goldgate(&["calibrate"]);
    assert_eq!((again.code, again.stderr.as_str()), (0, ""));
    assert!(again.stdout.ends_with("\nNo gate would change.\n"), "{}", again.stdout);
    assert!(again.stdout.contains("drop ≤ 19 pp"), "{}", again.stdout);
}

fn nothing_written() {
    let repository = flaking();
    let count = || std::fs::read_dir(repository.path("")).unwrap().count();
    repository.goldgate(&["calibrate"]);
    let (before, config) = (count(), repository.read("goldgate.yaml"));
    repository.goldgate(&["calibrate"]);
    assert_eq!((count(), repository.read("goldgate.yaml")), (before, config));
}

fn switched_off() {
    let repository = flaking();
    repository.replace(
        "goldgate.yaml",
        "f1_score: { max_drop: 0.05 }",
        "severity_accuracy: { off: true, reason: \"being redefined\" }",
    );
    let ran = repository.goldgate(&["calibrate"]);
    let (_, snippet) = ran.stdout.split_once("  # suite contracts\n").unwrap();
    assert!(snippet.contains("finding_precision") && !snippet.contains("severity_accuracy"), "{snippet}");
}

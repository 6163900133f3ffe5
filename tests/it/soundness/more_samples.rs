//! More samples of a case: they count, and they do not outvote those of the base commit.

use libtest_mimic::Trial;

use super::honest::into_folder;
use super::{bases, goldgate};
use crate::golden_changes::{commit_all, recording};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![trial("more samples do not outvote those that were there", outvoted)]
}

/// The base branch is red: a case fails. Good samples beside the bad one make the change's own judgement pass, and the one
/// by the samples that were there fails as before.
fn outvoted() {
    let repository = bases::base("contracts");
    let (good, bad) = (repository.read(&recording(3)), "\"change-of-control\"");
    repository.replace(&recording(3), bad, "\"termination\"");
    assert_eq!(repository.goldgate(&["run", "--update-baseline", "--quiet", "-v"]).code, 1);
    commit_all(&repository);
    into_folder(&repository, 3);
    for sample in 1..4 {
        let run = good.replace("\"sample\": 0", &format!("\"sample\": {sample}"));
        repository.write(&format!("runs/legal/lease-3/{sample}.json"), run);
    }
    assert_eq!(
        goldgate(&repository, &["run".to_owned()]).code,
        0,
        "the control: without a base commit the samples are enough"
    );
    let ran = goldgate(&repository, &["run", "--base", "HEAD"].map(str::to_owned));
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("fails by the rules of the base commit"), "{}", ran.stdout);
}

//! What a pull request's config and links cannot do in a job that has keys.

use libtest_mimic::Trial;

use super::{Standin, head_sha, opened};
use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        #[cfg(feature = "models")]
        trial(
            "a pull request sends a key to no address of its own",
            own_address,
        ),
        trial(
            "a pull request's link does not choose where the report is written",
            linked_out,
        ),
    ]
}

#[cfg(feature = "models")]
fn own_address() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    repository.write(
        "goldgate.yaml",
        "version: 1\nsuites:\n  - id: contracts\n    kind: findings\n    policy: seed\n    path: golden\n    tier: [deterministic, model]\n    agents:\n      \
         legal: { fingerprint: [prompts/legal.md], deterministic: { replay: golden/runs }, model: { target: evil } }\ntargets:\n  \
         evil: { provider: openai, model: x, base_url: 'http://127.0.0.1:9/v1', api_key_env: TEAM_KEY }\n",
    );
    for (tier, blocking, code) in [("model", "", 0), ("model", "true", 3), ("all", "true", 3)] {
        let job = opened(&repository, &github)
            .input("tier", tier)
            .input("blocking", blocking);
        let ran = job.variable("TEAM_KEY", "sesame-open-0123456789").runs();
        assert_eq!(
            ran.code, code,
            "{tier} {blocking}: {}{}",
            ran.stdout, ran.stderr
        );
        let said =
            "the target \"evil\" may not get its key: http://127.0.0.1:9/v1 is neither in the base";
        assert!(ran.stdout.contains(said), "{}", ran.stdout);
    }
    repository.replace("goldgate.yaml", "TEAM_KEY", "INPUT_TOKEN");
    let ran = opened(&repository, &github).input("tier", "model").runs();
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    assert!(
        ran.stderr
            .contains("api_key_env names INPUT_TOKEN, which belongs to the runner"),
        "{}",
        ran.stderr
    );
}

fn linked_out() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::create_dir(repository.path(".goldgate")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), repository.path(".goldgate/report")).unwrap();
    let ran = opened(&repository, &github).runs();
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stderr
            .contains("report is a link; goldgate does not write through links"),
        "{}",
        ran.stderr
    );
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

//! The files that an agent is made of: those that leave its list, and patterns that name none.

use super::*;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a file that a pattern no longer finds is a change of the agent and not of its list",
            moved_out,
        ),
        trial("an agent has one prompt", two_prompts),
        trial("a picture may be in the folder of prompts", picture),
        trial(
            "a pattern of an agent's files that matches no file is noted, and a folder is refused",
            unused_pattern,
        ),
    ]
}

fn moved_out() {
    let repository = committed();
    repository.write("prompts/rules.md", "Be brief.\n");
    record_again(&repository);
    assert_eq!(against(&repository, &[]).code, 0);
    commit_all(&repository);
    std::fs::create_dir(repository.path("lib")).unwrap();
    std::fs::rename(
        repository.path("prompts/rules.md"),
        repository.path("lib/rules.md"),
    )
    .unwrap();
    let ran = against_unstamped(&repository, &[]);
    let says = "12 recordings are stale: the agent's files (prompts/**) changed since they were made (lease-0.json, lease-1.json, lease-10.json and 9 more)";
    assert!(
        ran.code == 3 && ran.stdout.contains(says),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    record_again(&repository);
    let found = against(&repository, &["--format", "json"]);
    let said = changes(&found);
    assert_eq!((found.code, said.len()), (0, 1), "{said:?}");
    assert!(
        said[0]
            .0
            .starts_with("12 recordings of `contracts/legal` are of this change"),
        "{said:?}"
    );
}

fn two_prompts() {
    let repository = committed();
    let target = "targets:\n  live: { command: [cat] }\n";
    let with = |prompt: &str| {
        let tiers = format!(
            "deterministic: {{ replay: runs, prompt: prompts/legal.md }}\n        model: {{ target: live, prompt: {prompt} }}"
        );
        let config = config()
            .replace("deterministic: { replay: runs }", &tiers)
            .replace("suites:", &format!("{target}suites:"));
        repository.write(
            "goldgate.yaml",
            config.replace(
                "path: golden\n",
                "path: golden\n    tier: [deterministic, model]\n",
            ),
        );
        repository.stamp("goldgate.yaml");
        repository.goldgate(&["run"])
    };
    let ran = with("prompts/legal.md");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let ran = with("prompts/other.md");
    let says = "the prompt is prompts/other.md here, but prompts/legal.md in deterministic: an agent has one prompt";
    assert!(
        ran.code == 2 && ran.stderr.contains(says),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

fn picture() {
    let repository = committed();
    repository.write(
        "goldgate.yaml",
        config().replace("replay: runs", "replay: runs, prompt: prompts"),
    );
    assert_eq!(repository.stamp("goldgate.yaml").code, 0);
    commit_all(&repository);
    assert_eq!(against_unstamped(&repository, &[]).code, 0, "the control");
    repository.write("prompts/example.png", b"\x89PNG\r\n\x1a\n\x00\xff");
    let ran = against_unstamped(&repository, &[]);
    assert_eq!(
        ran.code, 3,
        "a changed prompt: {}{}",
        ran.stdout, ran.stderr
    );
    record_again(&repository);
    let ran = against(&repository, &[]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

fn unused_pattern() {
    let repository = committed();
    let run = |files: &str| {
        repository.write("goldgate.yaml", config().replace("['prompts/**']", files));
        repository.goldgate(&["run"])
    };
    let note = "no file of the agent matches promts/**, so goldgate does not track the files it is meant for";
    assert!(
        !run("['prompts/**']")
            .stdout
            .contains("no file of the agent"),
        "the control"
    );
    let ran = run("['prompts/**', 'promts/**']");
    assert!(
        ran.code == 0 && ran.stdout.contains(note),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let ran = run("['prompts/**', golden]");
    let says = "goldgate.yaml:12:37: golden is a folder, and this pattern would name no file of it; write golden/**";
    assert!(ran.code == 2 && ran.stderr.contains(says), "{}", ran.stderr);
}

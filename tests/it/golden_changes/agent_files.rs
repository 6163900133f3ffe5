//! The files that an agent is made of: those that leave its list, and patterns that name none.

use super::*;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("a file of the agent that moves out of its list needs an approval", moved_out),
        trial("a pattern of an agent's files that no file fits is noted, and a folder is refused", unused_pattern),
    ]
}

fn moved_out() {
    let with_rules = || {
        let repository = committed();
        repository.write("prompts/rules.md", "Be brief.\n");
        commit_all(&repository);
        let again = |text: String| text.replace("Needs prior approval.", "Needs approval.");
        (0..CASES).for_each(|case| repository.write(&recording(case), again(repository.read(&recording(case)))));
        repository
    };
    let removed = with_rules();
    removed.remove("prompts/rules.md");
    let ran = against(&removed, &[]);
    assert_eq!(ran.code, 0, "the control, a removed file: {}{}", ran.stdout, ran.stderr);
    let moved = with_rules();
    moved.remove("prompts/rules.md");
    moved.write("lib/rules.md", "Be brief.\n");
    let ran = against(&moved, &[]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let words = "files of `contracts/legal`: prompts/rules.md is lib/rules.md now, which the list does not name";
    assert!(ran.stdout.contains(words), "{}", ran.stdout);
}

fn unused_pattern() {
    let repository = committed();
    let run = |files: &str| {
        repository.write("goldgate.yaml", config().replace("['prompts/**']", files));
        repository.goldgate(&["run"])
    };
    let note = "no file of the agent fits promts/**, so a change of what it is meant for is not seen";
    assert!(!run("['prompts/**']").stdout.contains("no file of the agent"), "the control");
    let ran = run("['prompts/**', 'promts/**']");
    assert!(ran.code == 0 && ran.stdout.contains(note), "{}{}", ran.stdout, ran.stderr);
    let ran = run("['prompts/**', golden]");
    let says = "goldgate.yaml:11:37: golden is a folder, and this pattern would name no file of it; write golden/**";
    assert!(ran.code == 2 && ran.stderr.contains(says), "{}", ran.stderr);
    // A file that nothing replaces under its name.
    run("['prompts/**', tools.json]");
    repository.write("tools.json", "[]\n");
    commit_all(&repository);
    repository.remove("tools.json");
    repository.write("tool-list.json", "[ ]\n");
    let again = |text: String| text.replace("Needs prior approval.", "Needs approval.");
    (0..CASES).for_each(|case| repository.write(&recording(case), again(repository.read(&recording(case)))));
    let ran = against(&repository, &[]);
    assert!(ran.code == 1 && ran.stdout.contains("no file fits tools.json any more"), "{}{}", ran.stdout, ran.stderr);
}

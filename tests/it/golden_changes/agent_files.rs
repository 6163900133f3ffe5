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
    let (rule, more) = ("Be brief.\n", "\nBe brief.\nBe kind.\n");
    let words =
        "files of `contracts/legal`: what prompts/rules.md had is in lib/rules.md now, which the list does not name";
    // As it was, with more lines, and with another text in its place.
    for (stub, text) in [(None, rule), (None, more), (Some("Read lib/rules.md.\n"), rule), (Some("Read lib.\n"), more)]
    {
        let moved = with_rules();
        match stub {
            None => moved.remove("prompts/rules.md"),
            Some(stub) => moved.write("prompts/rules.md", stub),
        }
        moved.write("lib/rules.md", text);
        let ran = against(&moved, &[]);
        assert_eq!(ran.code, 1, "{stub:?} {text}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains(words), "{}", ran.stdout);
    }
    // The list names one more file.
    let wider = with_rules();
    wider.write("prompts/rules.md", "Read lib.\n");
    wider.write("lib/rules.md", rule);
    wider.write("notes.md", "Notes.\n");
    wider.replace("goldgate.yaml", "['prompts/**']", "['prompts/**', notes.md]");
    let ran = against(&wider, &[]);
    assert!(ran.code == 1 && ran.stdout.contains(words), "{}{}", ran.stdout, ran.stderr);
    // A new version under another name, whose predecessor is kept for reference.
    let other = with_rules();
    other.remove("prompts/rules.md");
    other.write("archive/rules.md", rule);
    other.write("prompts/v2.md", "Be short.\n");
    other.replace("goldgate.yaml", "['prompts/**']", "[prompts/legal.md, prompts/v2.md]");
    let ran = against(&other, &[]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    // The same under the same name.
    let archived = with_rules();
    archived.write("lib/rules.md", rule);
    archived.write("prompts/rules.md", "Answer in one sentence, and name the clause it follows from.\n");
    let ran = against(&archived, &[]);
    assert!(ran.code == 0 && ran.stdout.contains(words), "{}{}", ran.stdout, ran.stderr);
    let edited = with_rules();
    edited.write("prompts/rules.md", "Be very brief.\n");
    edited.write("lib/notes.md", "Rules are short.\n");
    let ran = against(&edited, &[]);
    assert_eq!(ran.code, 0, "the control, an edited file and an added one: {}{}", ran.stdout, ran.stderr);
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

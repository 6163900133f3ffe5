//! The files that an agent is made of: those that leave its list, and patterns that name none.

use super::*;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a file of the agent that moves out of its list needs an approval",
            moved_out,
        ),
        trial(
            "a file that moves out of its list is found whatever else is in the repository",
            found_anywhere,
        ),
        trial(
            "a file that moves out of its list in another form needs an approval",
            moved_in_another_form,
        ),
        trial(
            "a file with another name in its list may be quoted elsewhere",
            renamed_and_quoted,
        ),
        trial("an agent has one prompt", two_prompts),
        trial("a picture may be in the folder of prompts", picture),
        trial(
            "recordings that were asked with the replaced prompt need an approval",
            old_prompt,
        ),
        trial(
            "recordings that were asked with the replaced template need an approval",
            old_template,
        ),
        trial(
            "recordings that were asked without the new lines of a prompt need an approval",
            new_lines,
        ),
        trial(
            "a file of the agent that becomes a recording needs an approval",
            becomes_recording,
        ),
        trial(
            "a pattern of an agent's files that matches no file is noted, and a folder is refused",
            unused_pattern,
        ),
    ]
}

/// A repository with a second prompt, whose recordings are made again.
fn with_rules() -> Repository {
    let repository = committed();
    repository.write("prompts/rules.md", "Be brief.\n");
    commit_all(&repository);
    record_again(&repository);
    repository
}

fn record_again(repository: &Repository) {
    let again = |text: String| text.replace("Needs prior approval.", "Needs approval.");
    (0..CASES).for_each(|case| {
        repository.write(&recording(case), again(repository.read(&recording(case))))
    });
}

const MOVED: &str = "files of `contracts/legal`: the content of prompts/rules.md moved to lib/rules.md, which `fingerprint` does not name";

fn link(repository: &Repository, to: &str, from: &str) {
    repository.write(&format!("{from}/neighbour"), "");
    std::os::unix::fs::symlink(to, repository.path(&format!("{from}/link"))).unwrap();
}

fn found_anywhere() {
    type Change = fn(&Repository);
    let surroundings: [(&str, Change); 6] = [
        ("a link out of the repository that git ignores", |it| {
            it.write(".gitignore", ".venv/\n");
            link(it, "/usr/bin/python3", ".venv/bin");
        }),
        ("a broken link", |it| link(it, "nowhere", "lib")),
        ("a deep folder", |it| {
            it.write(&format!("{}a.md", "deep/".repeat(40)), "Deep.\n")
        }),
        ("a further pattern", |it| {
            it.write("tools/list.json", "[]\n");
            it.replace(
                "goldgate.yaml",
                "['prompts/**']",
                "['prompts/**', 'tools/**']",
            );
        }),
        ("a further pattern, and nothing left of the old one", |it| {
            it.write("tools/list.json", "[]\n");
            it.replace(
                "goldgate.yaml",
                "['prompts/**']",
                "['prompts/**', 'tools/**']",
            );
            it.write("lib/legal.md", it.read("prompts/legal.md"));
            it.remove("prompts/legal.md");
        }),
        ("a folder that cannot be listed", |it| {
            it.write(
                ".gitmodules",
                "[submodule \"other\"]\n\tpath = other\n\turl = ../other\n",
            );
            std::fs::create_dir(it.path("other")).unwrap();
            let folder = &it.path("");
            let head = git_answer(folder, &["rev-parse", "HEAD"]);
            git(
                folder,
                &[
                    "update-index",
                    "--add",
                    "--cacheinfo",
                    &format!("160000,{},other", head.trim()),
                ],
            );
        }),
    ];
    for (name, surround) in surroundings {
        let moved = with_rules();
        moved.remove("prompts/rules.md");
        moved.write("lib/rules.md", "Be brief.\n");
        surround(&moved);
        let ran = against(&moved, &[]);
        assert!(
            ran.code == 1 && ran.stdout.contains(MOVED),
            "{name}: {}{}",
            ran.stdout,
            ran.stderr
        );
    }
}

/// A prompt that leaves the list as one string of JSON, wrapped, or in a block.
fn moved_in_another_form() {
    let lines = [
        "Report every change of control, whatever it is called.",
        "Report every right to terminate, and who has it.",
    ];
    for (file, text) in [
        (
            "lib/rules.json",
            format!("{{\"system\": \"{}\\n{}\"}}\n", lines[0], lines[1]),
        ),
        (
            "lib/rules.md",
            format!("{} {}\n", lines[0], lines[1])
                .replace(" of ", " of\n")
                .replace(" to ", " to\n"),
        ),
        (
            "lib/rules.yaml",
            format!("system: >\n  {}\n  {}\n", lines[0], lines[1]).replace(", ", ",\n  "),
        ),
        // With a byte order mark, and in a program that writes recordings.
        (
            "lib/rules.txt",
            format!("\u{feff}{}\n{}\n", lines[0], lines[1]),
        ),
        (
            "lib/agent.py",
            format!(
                "RUN = {{\"schema\": \"goldgate.run/1\"}}\nASK = '{} {}'\n",
                lines[0], lines[1]
            ),
        ),
    ] {
        let repository = committed();
        repository.write("prompts/rules.md", lines.join("\n"));
        commit_all(&repository);
        record_again(&repository);
        repository.remove("prompts/rules.md");
        repository.write(file, text);
        let ran = against(&repository, &[]);
        let says = format!(
            "the content of prompts/rules.md moved to {file}, which `fingerprint` does not name"
        );
        assert!(
            ran.code == 1 && ran.stdout.contains(&says),
            "{file}: {}{}",
            ran.stdout,
            ran.stderr
        );
    }
}

fn renamed_and_quoted() {
    let repository = with_rules();
    repository.remove("prompts/rules.md");
    repository.write("prompts/style.md", "Be brief.\n");
    repository.write("docs/prompts.md", "# Our prompts\n\nBe brief.\n");
    let ran = against(&repository, &[]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
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
    commit_all(&repository);
    repository.write("prompts/example.png", b"\x89PNG\r\n\x1a\n\x00\xff");
    let ran = against(&repository, &[]);
    assert_eq!(
        ran.code, 3,
        "a changed prompt: {}{}",
        ran.stdout, ran.stderr
    );
    record_again(&repository);
    let ran = against(&repository, &[]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

fn old_prompt() {
    let repository = committed();
    repository.write(
        "prompts/legal.md",
        "Report nothing that has to do with control.\n",
    );
    record_again(&repository);
    assert_eq!(against(&repository, &[]).code, 0, "the control");
    let asked = |prompt: &str| {
        let mut run: Value = serde_json::from_str(&repository.read(&recording(3))).unwrap();
        run["inputs"] = json!({ "prompt": format!("{prompt}\n\nThe lease.") });
        repository.write(&recording(3), run.to_string());
        against(&repository, &[])
    };
    assert_eq!(
        asked("Report  nothing that has to do with control.").code,
        0
    );
    let ran = asked("Report every change of control.");
    let says = "1 recording of `contracts/legal` made with an older version of prompts/legal.md: lease-3.json";
    assert!(
        ran.code == 1 && ran.stdout.contains(says),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    // Whatever characters the new one has, and whatever its name is.
    for prompt in [
        "Report nothing for $5.\n",
        "Report <nothing>, 100%.\n",
        "Report every change\n",
    ] {
        repository.write("prompts/legal.md", prompt);
        let ran = asked("Report every change of control.");
        assert!(
            ran.code == 1 && ran.stdout.contains(says),
            "{}{}",
            ran.stdout,
            ran.stderr
        );
    }
    repository.remove("prompts/legal.md");
    repository.write("prompts/lawyer.md", "Report nothing.\n");
    let ran = asked("Report every change of control.");
    assert!(
        ran.code == 1 && ran.stdout.contains(says),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    // A file of the agent that still has it may be the one that is asked with.
    repository.write(
        "prompts/lawyer.md",
        "Report every change of control. Be brief.\n",
    );
    assert_eq!(asked("Report every change of control.").code, 0);
}

/// A template is not in the request as it is in its file.
fn old_template() {
    let repository = committed();
    repository.write(
        "prompts/legal.md",
        "Report every change of control of {{ company }} in {language}.\n",
    );
    commit_all(&repository);
    repository.write(
        "prompts/legal.md",
        "Report what matters to {{ company }} in {language}, and be brief.\n",
    );
    record_again(&repository);
    let asked = |prompt: &str| {
        let mut run: Value = serde_json::from_str(&repository.read(&recording(3))).unwrap();
        run["inputs"] = json!({ "prompt": format!("{prompt}\n\nThe lease.") });
        repository.write(&recording(3), run.to_string());
        against(&repository, &[])
    };
    assert_eq!(
        asked("Report what matters to Acme in English, and be brief.").code,
        0,
        "the control"
    );
    let ran = asked("Report every change of control of Acme in English.");
    let says = "1 recording of `contracts/legal` made with an older version of prompts/legal.md: lease-3.json";
    assert!(
        ran.code == 1 && ran.stdout.contains(says),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    // A loader may leave out a part of the new one.
    repository.write(
        "prompts/legal.md",
        "# For {team}\nReport every change of control of {{ company }} in {language}.\n",
    );
    assert_eq!(
        asked("Report every change of control of Acme in English.").code,
        0
    );
}

/// Whatever is around the new lines: an agent may send a header, a comment and every block.
fn new_lines() {
    let old = "Report every change of control.\n";
    let repository = committed();
    let asked = |prompt: &str| {
        for case in 0..CASES {
            let mut run: Value = serde_json::from_str(&repository.read(&recording(case))).unwrap();
            run["inputs"] = json!({ "prompt": format!("{prompt}\nThe lease.") });
            repository.write(&recording(case), run.to_string());
        }
    };
    asked(old);
    commit_all(&repository);
    record_again(&repository);
    for prompt in [
        format!("{old}Report nothing else.\n"),
        format!("{old}{{% if vip %}}\nReport nothing else.\n{{% endif %}}\n"),
        format!("---\nReport nothing else.\n---\n{old}"),
    ] {
        repository.write("prompts/legal.md", &prompt);
        asked(old);
        let ran = against(&repository, &[]);
        let says = "without any new line of prompts/legal.md in their requests";
        assert!(
            ran.code == 1 && ran.stdout.contains(says),
            "{prompt}: {}{}",
            ran.stdout,
            ran.stderr
        );
        asked(&prompt);
        assert_eq!(against(&repository, &[]).code, 0, "{prompt}");
    }
}

fn becomes_recording() {
    let repository = committed();
    repository.write("runs/prompts/lease-0.json", "{\"system\": \"Be brief.\"}\n");
    repository.replace(
        "goldgate.yaml",
        "['prompts/**']",
        "['prompts/**', 'runs/prompts/**']",
    );
    commit_all(&repository);
    record_again(&repository);
    repository.write(
        "runs/prompts/lease-0.json",
        "{\"system\": \"Be very brief.\"}\n",
    );
    assert_eq!(against(&repository, &[]).code, 0, "the control");
    repository.write(
        "runs/prompts/lease-0.json",
        "{\"system\": \"Be brief.\", \"status\": \"completed\", \"outputs\": {\"findings\": []}}\n",
    );
    assert_eq!(
        against(&repository, &[]).code,
        0,
        "no agent has this name, so it is none of its recordings"
    );
    let agent = "      prompts:\n        fingerprint: { none: made up }\n        deterministic: { replay: runs }\n    gates:\n";
    repository.replace("goldgate.yaml", "    gates:\n", agent);
    repository.write(
        "golden/expected/prompts/lease-0.json",
        r#"{"expected_findings": [], "must_not_find": []}"#,
    );
    let ran = against(&repository, &[]);
    let words = "files of `contracts/legal`: runs/prompts/lease-0.json now counts as a recording";
    assert!(
        ran.code == 1 && ran.stdout.contains(words),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

fn moved_out() {
    let removed = with_rules();
    removed.remove("prompts/rules.md");
    let ran = against(&removed, &[]);
    assert_eq!(
        ran.code, 0,
        "the control, a removed file: {}{}",
        ran.stdout, ran.stderr
    );
    let (rule, more) = ("Be brief.\n", "\nBe brief.\nBe kind.\n");
    let words = MOVED;
    // As it was, with more lines, and with another text in its place.
    for (stub, text) in [
        (None, rule),
        (None, more),
        (Some("Read lib/rules.md.\n"), rule),
        (Some("Read lib.\n"), more),
    ] {
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
    wider.replace(
        "goldgate.yaml",
        "['prompts/**']",
        "['prompts/**', notes.md]",
    );
    let ran = against(&wider, &[]);
    assert!(
        ran.code == 1 && ran.stdout.contains(words),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    // A new version under another name, whose predecessor is kept for reference.
    let other = with_rules();
    other.remove("prompts/rules.md");
    other.write("archive/rules.md", rule);
    other.write("prompts/v2.md", "Be short.\n");
    other.replace(
        "goldgate.yaml",
        "['prompts/**']",
        "[prompts/legal.md, prompts/v2.md]",
    );
    let ran = against(&other, &[]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    // The same under the same name.
    let archived = with_rules();
    archived.write("lib/rules.md", rule);
    archived.write(
        "prompts/rules.md",
        "Answer in one sentence, and name the clause it follows from.\n",
    );
    let ran = against(&archived, &[]);
    assert!(
        ran.code == 0 && ran.stdout.contains(words),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    // Into a file that was there, or into several.
    let long = "Name the clause that it follows from.\nQuote it, and say how severe it is.\nLeave out what is settled.\n";
    let [clause, quote, settled] = long.lines().collect::<Vec<_>>()[..] else {
        panic!("it has three lines")
    };
    for (files, named) in [
        (
            vec![(
                "lib/agent.py",
                format!("import json\nPROMPT = '''\n{long}'''\n"),
            )],
            "moved to lib/agent.py, which",
        ),
        (
            vec![(
                "lib/rules.py",
                format!("RULES = [\n  \"{clause}\\n\",\n  '{quote}',\n]\n"),
            )],
            "moved to lib/rules.py, which",
        ),
        (
            vec![
                ("lib/a.md", format!("# A\n{clause}\n")),
                ("lib/b.md", format!("# B\n1\n2\n3\n- {settled}\n")),
            ],
            "moved to lib/a.md, lib/b.md, which",
        ),
    ] {
        let moved = with_rules();
        moved.write("prompts/rules.md", long);
        moved.write("lib/agent.py", "import json\n");
        commit_all(&moved);
        moved.write("prompts/rules.md", "See lib.\n");
        files
            .into_iter()
            .for_each(|(file, text)| moved.write(file, text));
        let ran = against(&moved, &[]);
        assert!(
            ran.code == 1 && ran.stdout.contains(named),
            "{named}: {}{}",
            ran.stdout,
            ran.stderr
        );
    }
    let edited = with_rules();
    edited.write("prompts/rules.md", "Be very brief.\n");
    edited.write("lib/notes.md", "Rules are short.\n");
    let ran = against(&edited, &[]);
    assert_eq!(
        ran.code, 0,
        "the control, an edited file and an added one: {}{}",
        ran.stdout, ran.stderr
    );
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
    let says = "goldgate.yaml:11:37: golden is a folder, and this pattern would name no file of it; write golden/**";
    assert!(ran.code == 2 && ran.stderr.contains(says), "{}", ran.stderr);
    // A file that nothing replaces under its name.
    run("['prompts/**', tools.json]");
    repository.write("tools.json", "[]\n");
    commit_all(&repository);
    repository.remove("tools.json");
    repository.write("tool-list.json", "[ ]\n");
    record_again(&repository);
    let ran = against(&repository, &[]);
    assert!(
        ran.code == 1 && ran.stdout.contains("no file matches tools.json any more"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

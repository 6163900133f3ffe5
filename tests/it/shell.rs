//! Completions and manual pages come from the same table as the help.

use libtest_mimic::Trial;

use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("every shell's completions know every command", completions),
        trial(
            "the completions of bash are a script that bash accepts",
            bash,
        ),
        trial(
            "bash completes the names of suites, agents and cases",
            names_in_bash,
        ),
        trial(
            "every command has a manual page that lists its options",
            pages,
        ),
        trial(
            "an unknown command has no manual page, and the nearest one is suggested",
            unknown,
        ),
    ]
}

/// The commands that the help lists.
fn commands(repository: &Repository) -> Vec<String> {
    let help = repository.goldgate(&["--help"]).stdout;
    let (_, list) = help.split_once("Every day:\n").unwrap();
    let (list, _) = list.split_once("\nOptions:\n").unwrap();
    let names = list
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names: Vec<String> = names
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect();
    assert!(names.len() > 14, "{names:?}");
    names
}

fn quiet(ran: Ran) -> String {
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    ran.stdout
}

fn completions() {
    let repository = Repository::empty();
    let commands = commands(&repository);
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = quiet(repository.goldgate(&["completions", shell]));
        for command in &commands {
            assert!(
                script.contains(command.as_str()),
                "{shell} does not know {command}"
            );
        }
        assert!(
            script.contains("update-baseline"),
            "{shell} does not know the options"
        );
    }
}

fn bash() {
    let repository = Repository::empty();
    repository.write(
        "goldgate.bash",
        quiet(repository.goldgate(&["completions", "bash"])),
    );
    let checked = std::process::Command::new("bash")
        .arg("-n")
        .arg(repository.path("goldgate.bash"))
        .output();
    let checked = checked.unwrap();
    assert!(
        checked.status.success(),
        "{}",
        String::from_utf8_lossy(&checked.stderr)
    );
}

/// Lets bash complete a command line, and returns what it proposes.
fn completed(repository: &Repository, words: &[&str]) -> Vec<String> {
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_goldgate"));
    let path = format!(
        "{}:{}",
        binary.parent().unwrap().display(),
        std::env::var("PATH").unwrap()
    );
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let script = format!(
        "source goldgate.bash; COMP_WORDS=({}); COMP_CWORD={}; _goldgate_with_names goldgate '{}' '{}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        quoted.join(" "),
        words.len() - 1,
        words[words.len() - 1],
        words[words.len() - 2],
    );
    let ran = std::process::Command::new("bash")
        .args(["-c", &script])
        .current_dir(repository.path(""))
        .env("PATH", path)
        .output()
        .unwrap();
    let stdout = String::from_utf8(ran.stdout).unwrap();
    stdout.lines().map(str::to_owned).collect()
}

fn names_in_bash() {
    let repository = Repository::small();
    repository.write(
        "goldgate.bash",
        quiet(repository.goldgate(&["completions", "bash"])),
    );
    for (words, expected) in [
        (["goldgate", "run", "--suite", "con"], "contracts"),
        (["goldgate", "run", "--agent", ""], "legal"),
        (["goldgate", "run", "--case", "le"], "lease"),
    ] {
        assert_eq!(completed(&repository, &words), [expected], "{words:?}");
    }
    assert_eq!(
        completed(&repository, &["goldgate", "explain", ""]),
        ["lease"]
    );
    // Other words are completed as before, and a folder without a config has no names.
    assert_eq!(
        completed(&repository, &["goldgate", "run", "--update-b"]),
        ["--update-baseline"]
    );
    repository.remove("goldgate.yaml");
    assert_eq!(completed(&repository, &["goldgate", "explain", ""]), [""]);
}

fn pages() {
    let repository = Repository::empty();
    quiet(repository.goldgate(&["man", "--out", "pages"]));
    let main = repository.read("pages/goldgate.1");
    assert!(
        main.starts_with(".ie") && main.contains(".TH goldgate 1"),
        "{main}"
    );
    assert_eq!(quiet(repository.goldgate(&["man"])), main);
    let mut expected: Vec<String> = vec!["goldgate.1".to_owned()];
    for command in commands(&repository)
        .into_iter()
        .filter(|command| command != "help")
    {
        let page = quiet(repository.goldgate(&["man", &command]));
        assert_eq!(
            repository.read(&format!("pages/goldgate-{command}.1")),
            page
        );
        assert!(
            page.contains(&format!(".TH goldgate-{command} 1")),
            "{page}"
        );
        let help = quiet(repository.goldgate(&[&command, "--help"]));
        let words = help.split(|char: char| {
            char.is_whitespace() || matches!(char, ',' | '[' | ']' | '`' | ';' | '.')
        });
        let options: Vec<&str> = words
            .filter(|word| word.starts_with("--") && word.len() > 2)
            .collect();
        for option in options {
            assert!(
                page.contains(&option.replace('-', "\\-")),
                "the page of {command} lacks {option}"
            );
        }
        expected.push(format!("goldgate-{command}.1"));
    }
    let written = std::fs::read_dir(repository.path("pages")).unwrap();
    let mut written: Vec<String> = written
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    written.sort();
    expected.sort();
    assert_eq!(written, expected);
}

fn unknown() {
    let ran = Repository::empty().goldgate(&["man", "rum"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.starts_with(
            "command line: unknown command \"rum\"; did you mean \"run\"? [unknown-command]"
        ),
        "{}",
        ran.stderr
    );
}

//! The documents are one book: every page is in its summary, no link leads out of it, and what a page shows is what the program does.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::Trial;

use crate::repository::{Repository, program, ran, root};
use crate::trial;

/// The pages whose files and commands are tried.
const TRIED: [&str; 6] = [
    "coming-from/promptfoo.md",
    "recipes/chat-agent.md",
    "recipes/contract-review.md",
    "recipes/documents.md",
    "recipes/extraction.md",
    "recipes/frameworks.md",
];

pub fn trials() -> Vec<Trial> {
    let tried = TRIED.iter().map(|page| {
        trial(
            format!("the files and commands of docs/{page} work"),
            || walk(page),
        )
    });
    let mut trials = vec![
        trial("the book's summary names every page once", summary),
        trial("no link of the book leads out of it", inside),
        trial("every recipe is tried", recipes),
        trial("the page on commands is the program's own help", commands),
    ];
    trials.extend(tried);
    trials
}

fn docs() -> PathBuf {
    root().join("docs")
}

fn pages(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(pages(&path));
        } else if path.extension().is_some_and(|end| end == "md") {
            found.insert(
                path.strip_prefix(docs())
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned(),
            );
        }
    }
    found
}

/// The targets of a text's links.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
}

fn summary() {
    let config = fs::read_to_string(root().join("book.toml")).unwrap();
    assert!(config.contains("src = \"docs\"\n"), "{config}");
    let text = fs::read_to_string(docs().join("SUMMARY.md")).unwrap();
    let listed: Vec<String> = links(&text).map(str::to_owned).collect();
    let unique: BTreeSet<String> = listed.iter().cloned().collect();
    assert_eq!(
        listed.len(),
        unique.len(),
        "a page is named twice: {listed:?}"
    );
    let mut there = pages(&docs());
    there.remove("SUMMARY.md");
    assert_eq!(unique, there);
}

fn inside() {
    for page in pages(&docs()) {
        let text = fs::read_to_string(docs().join(&page)).unwrap();
        let depth = page.matches('/').count();
        for link in links(&text).filter(|link| !link.contains("://")) {
            let ups = link.matches("../").count();
            assert!(
                ups <= depth,
                "docs/{page} links to {link}, which is not in the book"
            );
        }
    }
}

fn recipes() {
    let mut recipes = pages(&docs().join("recipes"));
    recipes.remove("recipes/index.md");
    let tried: BTreeSet<String> = TRIED
        .iter()
        .filter(|page| page.starts_with("recipes/"))
        .map(|page| (*page).to_owned())
        .collect();
    assert_eq!(recipes, tried);
}

/// Compares a page with its text of today, or rewrites it.
fn is_current(file: &Path, current: &str) {
    if std::env::var_os("BLESS").is_some() {
        fs::write(file, current).unwrap();
    }
    let text = fs::read_to_string(file).unwrap_or_default();
    assert!(
        text == current,
        "{} is not current; BLESS=1 rewrites it\n{current}",
        file.display()
    );
}

fn commands() {
    let help =
        |arguments: &[&str]| ran(program(root()).args(arguments).env("COLUMNS", "100")).stdout;
    let mut text =
        "# Commands\n\nWhat `goldgate help` prints, for each command. A test writes this page.\n"
            .to_owned();
    let whole = help(&["--help"]);
    let section = |out: &mut String, name: &str, help: &str| {
        out.push_str(&format!(
            "\n## `{name}`\n\n```text\n{}\n```\n",
            help.trim_end()
        ));
    };
    section(&mut text, "goldgate", &whole);
    let list = whole
        .split("\nEvery day:\n")
        .nth(1)
        .and_then(|rest| rest.split("\nOptions:\n").next())
        .unwrap();
    let names = list
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names: Vec<&str> = names
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(names.len() > 15, "{names:?}");
    for name in names {
        section(
            &mut text,
            &format!("goldgate {name}"),
            &help(&[name, "--help"]),
        );
    }
    is_current(&docs().join("commands.md"), &text);
}

/// The command that a line above a block names, and its exit code: "`goldgate run` prints, with exit code 1:".
fn command(label: &str) -> Option<(&str, i32)> {
    let (line, rest) = label.split_once("` prints")?;
    let code = match rest {
        ":" => 0,
        _ => rest
            .strip_prefix(", with exit code ")?
            .strip_suffix(':')?
            .parse()
            .ok()?,
    };
    Some((line, code))
}

/// Walks over a page from its top: puts its files into a repository, runs its commands and compares what they print.
fn walk(page: &str) {
    let file = docs().join(page);
    let text = fs::read_to_string(&file).unwrap();
    let repository = Repository::empty();
    let mut parts = text.split("\n```");
    let mut current = parts.next().unwrap().to_owned();
    let mut commands = 0;
    while let (Some(block), Some(after)) = (parts.next(), parts.next()) {
        let (form, body) = block.split_once('\n').unwrap_or((block, ""));
        let label = current
            .trim_end()
            .rsplit('\n')
            .next()
            .unwrap_or_default()
            .to_owned();
        let mut shown = body.to_owned();
        match (label.strip_suffix("`:"), command(&label), form) {
            (Some(before), None, _) => {
                let path = before.rsplit('`').next().unwrap();
                repository.write(path, format!("{body}\n"))
            }
            (None, Some((line, code)), _) => {
                let ran = repository.goldgate(&line.split_whitespace().skip(1).collect::<Vec<_>>());
                assert_eq!(ran.code, code, "{line}: {}{}", ran.stdout, ran.stderr);
                shown = format!("{}{}", ran.stdout, ran.stderr)
                    .trim_end()
                    .to_owned();
                commands += 1;
            }
            // What runs elsewhere: the reader's agent, or a folder of the reader's logs.
            (None, None, "python" | "sh") => {}
            (_, _, _) => panic!("{page}: what is this block? {label}"),
        }
        let shown = if shown.is_empty() {
            shown
        } else {
            format!("{shown}\n")
        };
        current.push_str(&format!("\n```{form}\n{shown}```{after}"));
    }
    is_current(&file, &current);
    assert!(commands > 0, "{page} shows no command");
}

//! Rules about the code: the map's layers, names, lengths.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::Trial;

use crate::repository::root;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a module uses only modules of the blocks above its own",
            layers,
        ),
        trial("imports are grouped by module", imports),
        trial("no module is a drawer for leftovers", names),
        trial(
            "texts avoid the words that readers stumble over",
            marker_words,
        ),
        trial("every file opens with what it is for", files),
        trial(
            "a crate with one purpose is used in one place",
            single_users,
        ),
        trial(
            "only main leaves memory behind and ends the process",
            one_end,
        ),
        trial("every YAML file names its schema", schemas_are_named),
        trial("the dependencies do not grow unnoticed", dependencies),
    ]
}

fn walk(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            found.push((path.strip_prefix(root()).unwrap().to_owned(), text));
        }
    }
}
/// The sources of the program by path.
pub fn sources() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    walk(&root().join("src"), &mut found);
    found.sort();
    found
}

/// The sources of the program and of the crates beside it.
pub fn all_sources() -> Vec<(PathBuf, String)> {
    let mut found = sources();
    for package in fs::read_dir(root().join("crates")).unwrap() {
        walk(&package.unwrap().path().join("src"), &mut found);
    }
    found.sort();
    found
}

/// The blocks of `mod` lines in the map: blank lines part them.
fn blocks() -> BTreeMap<String, usize> {
    let map = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let mut blocks = BTreeMap::new();
    let mut block = 0;
    for line in map.lines() {
        match line
            .trim_start_matches("pub ")
            .strip_prefix("mod ")
            .and_then(|rest| rest.strip_suffix(';'))
        {
            Some(name) => {
                blocks.insert(name.to_owned(), block);
            }
            None if line.is_empty() => block += 1,
            None => {}
        }
    }
    blocks
}

fn layers() {
    let blocks = blocks();
    assert!(blocks.len() >= 12, "{blocks:?}");
    for (path, text) in sources() {
        let Some(own) = path
            .iter()
            .nth(1)
            .and_then(|part| part.to_str())
            .map(|part| part.trim_end_matches(".rs").to_owned())
        else {
            continue;
        };
        let Some(level) = blocks.get(&own) else {
            continue;
        };
        for (place, _) in text.match_indices("crate::") {
            let used: String = text[place + 7..]
                .chars()
                .take_while(|char| char.is_ascii_alphanumeric() || *char == '_')
                .collect();
            let Some(below) = blocks.get(&used) else {
                continue;
            };
            assert!(
                used == own || below < level,
                "{}: {own} must not use {used}",
                path.display()
            );
        }
    }
}

fn imports() {
    for (path, text) in all_sources() {
        let mut modules = BTreeSet::new();
        let mut before = "";
        for line in text.lines() {
            let conditional = before.trim_start().starts_with("#[cfg");
            let import = line
                .trim_start()
                .trim_start_matches("pub(crate) ")
                .trim_start_matches("pub ");
            if let Some(tree) = import.strip_prefix("use ") {
                assert!(!line.ends_with("::*;"), "{}: {line}", path.display());
                assert!(
                    !before.contains("fn "),
                    "{}: an import inside a function: {line}",
                    path.display()
                );
                let module = match tree.split_once('{') {
                    Some((module, _)) => module,
                    None => tree.rsplit_once("::").map_or("", |(module, _)| module),
                };
                let scope = line.split_once("use ").map_or("", |(scope, _)| scope);
                let key = (scope, module.trim_end_matches("::"));
                assert!(
                    conditional || key.1.is_empty() || modules.insert(key),
                    "{}: {line}: imports from one module belong in one statement",
                    path.display()
                );
            }
            before = line;
        }
    }
}

fn names() {
    for (path, _) in all_sources() {
        for part in path.iter().filter_map(|part| part.to_str()) {
            let name = part.trim_end_matches(".rs");
            assert!(
                !["utils", "util", "helpers", "common", "misc", "imp"].contains(&name),
                "{}",
                path.display()
            );
        }
    }
}

/// Words that mark a sentence to be rewritten, each with the most places that still have it: a ceiling only comes down. What is left
/// are prompts to models, whose text is part of recorded digests, and quotes.
const MARKER_WORDS: &[(&str, usize)] = &[
    ("stands", 3),
    ("stand", 0),
    ("told", 0),
    ("mend", 2),
    ("mends", 0),
    ("mended", 0),
    ("anew", 0),
    ("beside", 3),
    ("whom", 1),
    ("lays", 0),
    ("so many", 0),
    ("as it is", 3),
    ("is no", 26),
];

fn marker_words() {
    let texts: Vec<String> = all_sources()
        .into_iter()
        .map(|(_, text)| words_of(&text))
        .collect();
    for (marker, most) in MARKER_WORDS {
        let marker = words_of(marker);
        let count: usize = texts.iter().map(|text| text.matches(&marker).count()).sum();
        assert!(
            count <= *most,
            "{count} times{marker}in src, at most {most}: rewrite the sentence"
        );
        assert!(
            count == *most,
            "only {count} times{marker}in src: lower the ceiling from {most}"
        );
    }
}

/// The words of a text in lower case, each between two spaces of its own.
fn words_of(text: &str) -> String {
    let words = text
        .split(|char: char| !char.is_alphanumeric())
        .filter(|word| !word.is_empty());
    words
        .map(|word| format!(" {} ", word.to_lowercase()))
        .collect()
}

fn files() {
    for (path, text) in all_sources() {
        assert!(
            text.starts_with("//! "),
            "{} opens with no //! line",
            path.display()
        );
    }
}

fn single_users() {
    for (path, text) in sources() {
        let shown = path.display().to_string();
        for (krate, user) in [
            ("serde_yaml::", "src/format/yaml"),
            ("saphyr_parser::", "src/format/yaml"),
            ("octocrab::", "src/github/client/"),
            ("maud::", "src/render/html"),
            ("opener::", "src/world/browser.rs"),
            ("clap_mangen::", "src/app/commands/man.rs"),
            ("percent_encoding::", "src/text/percent.rs"),
        ] {
            assert!(
                !text.contains(krate) || shown.starts_with(user),
                "{shown} uses {krate}"
            );
        }
    }
}

fn one_end() {
    let main = fs::read_to_string(root().join("src/main.rs")).unwrap();
    assert!(
        main.contains("mem::forget"),
        "nothing to hold: src/main.rs frees everything"
    );
    // Names of metrics in configs live as long as the process.
    let may_keep = ["main.rs", "src/model/interned.rs"];
    for (path, text) in all_sources()
        .into_iter()
        .filter(|(path, _)| !may_keep.iter().any(|file| path.ends_with(file)))
    {
        for leak in [
            "mem::forget",
            "::leak(",
            ".leak()",
            "ManuallyDrop",
            "process::exit",
            "process::abort",
        ] {
            assert!(!text.contains(leak), "{} uses {leak}", path.display());
        }
    }
}

/// All packages in Cargo.lock, of every platform and of the tests. A number that sinks is lowered here.
const PACKAGES: usize = 399;

fn dependencies() {
    let lock = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let names: Vec<&str> = lock
        .lines()
        .filter_map(|line| line.strip_prefix("name = "))
        .filter(|name| !name.starts_with("\"goldgate"))
        .collect();
    assert_eq!(
        names.len(),
        PACKAGES,
        "an added crate says in its commit what it does for users"
    );
    // `cargo update` would bring them back: `cargo update -p idna_adapter --precise 1.1.0` takes them out again.
    assert!(
        names.iter().all(|name| !name.starts_with("\"icu_")),
        "idna_adapter 1.2 brings 18 crates for host names"
    );
}

fn schemas_are_named() {
    let yaml = fs::read_to_string(root().join("goldgate.yaml")).unwrap();
    assert!(yaml.starts_with("# yaml-language-server: $schema=docs/schemas/config.json\n"));
    for suite in ["triggers", "cross"] {
        let rules =
            fs::read_to_string(root().join("fixtures").join(suite).join("rules.yaml")).unwrap();
        assert!(
            rules.starts_with(
                "# yaml-language-server: $schema=../../docs/schemas/trigger-rules.json\n"
            ),
            "{suite}"
        );
    }
}

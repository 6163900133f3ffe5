//! The limits of inputs: the page and the code state the same ones.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use goldgate::model::InputLimit;
use libtest_mimic::Trial;

use crate::repository::root;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("the table of the page on limits is the program's own", page),
        trial("every limit of the table is used by the program, and stands in the table once", used),
    ]
}

fn page() {
    let file = root().join("docs/limits.md");
    let text = fs::read_to_string(&file).unwrap();
    let head = "| input | limit | below it |\n|---|---|---|\n";
    let (before, rest) = text.split_once(head).unwrap();
    let (_, after) = rest.split_once("\n\n").unwrap();
    let rows: Vec<String> =
        InputLimit::ALL.iter().map(|limit| format!("| {} | {limit} | {} |", limit.input, limit.help)).collect();
    let current = format!("{before}{head}{}\n\n{after}", rows.join("\n"));
    if std::env::var_os("BLESS").is_some() {
        fs::write(&file, &current).unwrap();
    } else {
        assert!(current == text, "docs/limits.md is not current; BLESS=1 rewrites it\n{}", rows.join("\n"));
    }
}

fn sources(folder: &Path, texts: &mut String) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            sources(&entry, texts);
        } else if !entry.ends_with("input_limit.rs") {
            texts.push_str(&fs::read_to_string(entry).unwrap());
        }
    }
}

fn used() {
    let table = fs::read_to_string(root().join("src/model/input_limit.rs")).unwrap();
    let names: Vec<&str> = table
        .split("pub const ")
        .skip(1)
        .filter_map(|part| part.split_once(": Self ="))
        .map(|(name, _)| name)
        .collect();
    let mut texts = String::new();
    sources(&root().join("src"), &mut texts);
    for name in &names {
        assert!(texts.contains(&format!("InputLimit::{name}")), "no code uses the limit {name}");
        assert_eq!(table.matches(&format!("&Self::{name},")).count(), 1, "{name}");
    }
    let inputs: BTreeSet<&str> = InputLimit::ALL.iter().map(|limit| limit.input).collect();
    assert_eq!((inputs.len(), names.len()), (InputLimit::ALL.len(), InputLimit::ALL.len()));
}

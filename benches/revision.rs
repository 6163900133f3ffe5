//! The verifier of revised contracts: reading an original and a revision of so many pages, and judging the one by the other.

#![allow(
    clippy::unwrap_used,
    reason = "a broken benchmark may stop with a panic"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;

use divan::Bencher;
use goldgate::diag::Diagnostic;
use goldgate::files::{Entry, EntryKind, Files, SourceText};
use goldgate::model::{Check, CheckOutcome, RepoPath, Run};
use goldgate::suites::{GradeContext, kind, read_config};

fn main() {
    divan::main();
}

const CONFIG: &str = "version: 1\nsuites:\n  - id: s\n    kind: revision\n    policy: seed\n    path: g\n    agents: { a: { deterministic: { replay: g/runs }, fingerprint: { none: written by hand } } }\n";
const ASKED: &str = r#"{
    "entities": [{"from": "Acme Holdings Ltd", "to": "Borealis Group plc", "defined_as": ["Acme"], "becomes": ["Borealis"]}],
    "jurisdiction": {"from": "State of Northmark", "to": "State of Westhaven"},
    "liability": {"indemnifier": "Supplier", "indemnitee": "Customer"},
    "clauses": [{"operation": "delete", "section": "2"}]
}"#;

/// Files in memory.
struct Drawer(BTreeMap<&'static str, String>);

impl Files for Drawer {
    fn list_all(&self, folder: &RepoPath) -> Result<Vec<Entry>, Diagnostic> {
        let inside = self
            .0
            .keys()
            .filter_map(|file| file.strip_prefix(folder.as_str())?.strip_prefix('/'));
        let mut entries: Vec<Entry> = inside
            .map(|rest| match rest.split_once('/') {
                Some((name, _)) => Entry {
                    name: name.to_owned(),
                    kind: EntryKind::Folder,
                },
                None => Entry {
                    name: rest.to_owned(),
                    kind: EntryKind::File,
                },
            })
            .collect();
        entries.dedup_by(|one, other| one.name == other.name);
        Ok(entries)
    }

    fn bytes(&self, file: &RepoPath) -> Result<Vec<u8>, Diagnostic> {
        Ok(self.0[file.as_str()].clone().into_bytes())
    }
}

/// A contract of so many pages of 500 words, before or after its revision: a section a page, of twelve paragraphs.
fn contract(pages: usize, revised: bool) -> String {
    let (name, short, law) = match revised {
        true => ("Borealis Group plc", "Borealis", "State of Westhaven"),
        false => ("Acme Holdings Ltd", "Acme", "State of Northmark"),
    };
    let (giver, taker) = if revised {
        ("Supplier", "Customer")
    } else {
        ("Customer", "Supplier")
    };
    let mut text = format!(
        "{{\\rtf1\\ansi\\deff0{{\\fonttbl{{\\f0 Times New Roman;}}}}\n\\pard {name} (\\'93{short}\\'94) and others, by the laws of the {law}.\\par\n"
    );
    let moved = |section: usize| {
        if revised && section > 2 {
            section - 1
        } else {
            section
        }
    };
    for section in (1..=pages + 1).filter(|section| !revised || *section != 2) {
        let own = moved(section);
        let _ = writeln!(
            text,
            "\\pard\\sb200\\b {own}.\\tab Subject {section}\\b0\\par"
        );
        let _ = writeln!(
            text,
            "\\pard\\li720 \\'93Term {section}\\'94 means what page {section} says of {short}\\'92s goods.\\par"
        );
        for clause in 1..=10 {
            let other = moved(if section > 3 { section - 1 } else { 3 });
            let _ = writeln!(
                text,
                "\\pard\\sa120\\fi-720\\li720 {own}.{clause}\\tab \\ul Item {clause}.\\ulnone  The Customer pays the Supplier for item {clause} of Term {section} within {section} days of delivery, as Section {other}.{clause} says, and the Supplier delivers the goods of that item to the warehouse that the Customer names in its order, free of all charges.\\par"
            );
        }
        let _ = writeln!(
            text,
            "\\pard\\li720 The {giver} shall indemnify the {taker} against all claims under item {section}.\\par"
        );
    }
    text + "}\n"
}

#[divan::bench(args = [10, 100, 400])]
fn verify(bencher: Bencher<'_, '_>, pages: usize) {
    let files = Drawer(BTreeMap::from([
        ("g/cases/c/instructions.json", ASKED.to_owned()),
        ("g/cases/c/original.rtf", contract(pages, false)),
    ]));
    let file = RepoPath::root().child("goldgate.yaml");
    let config = read_config(&SourceText::from_text(file, CONFIG.to_owned())).unwrap();
    let document = serde_json::Value::from(contract(pages, true));
    let run = Run::of(format!(r#"{{"document": {document}}}"#));
    let prompts = BTreeMap::new();
    let judge = || {
        let suite = (kind("revision").unwrap().open)(&config.suites[0], &files).unwrap();
        suite
            .grade(
                &suite.pairs()[0],
                std::slice::from_ref(&run),
                &GradeContext::new(&files, &prompts),
            )
            .unwrap()
    };
    // A benchmark of an alarm would be one of other work.
    let failed = |check: Check| match check.outcome {
        CheckOutcome::Failed(failure) => Some(failure.detail),
        _ => None,
    };
    let failed: Vec<String> = judge().checks.into_iter().filter_map(failed).collect();
    assert!(failed.is_empty(), "{failed:?}");
    bencher.bench_local(judge);
}

//! The matching kernel: grading one sample of N produced against M expected findings, without any file.

#![allow(
    clippy::unwrap_used,
    reason = "a broken benchmark may stop with a panic"
)]

use std::collections::BTreeMap;

use divan::Bencher;
use goldgate::diag::Diagnostic;
use goldgate::files::{Entry, EntryKind, Files, SourceText};
use goldgate::model::{RepoPath, Run};
use goldgate::suites::{GradeContext, kind, read_config};

fn main() {
    divan::main();
}

const CONFIG: &str = "version: 1\nsuites:\n  - id: s\n    kind: findings\n    policy: seed\n    path: g\n    agents: { legal: { deterministic: { replay: g/runs }, fingerprint: { none: written by hand } } }\n";

/// Files in memory.
struct Drawer(BTreeMap<&'static str, String>);

impl Files for Drawer {
    fn list_all(&self, folder: &RepoPath) -> Result<Vec<Entry>, Diagnostic> {
        let inside = self
            .0
            .keys()
            .filter_map(|file| file.strip_prefix(folder.as_str())?.strip_prefix('/'));
        let entries = inside.filter(|rest| !rest.contains('/'));
        Ok(entries
            .map(|name| Entry {
                name: name.to_owned(),
                kind: EntryKind::File,
            })
            .collect())
    }

    fn bytes(&self, file: &RepoPath) -> Result<Vec<u8>, Diagnostic> {
        Ok(self.0[file.as_str()].clone().into_bytes())
    }
}

/// Every second produced finding has the category of every expected one, which is the most that there is to compare.
fn finding(place: usize, keywords: &str) -> String {
    let category = if place.is_multiple_of(2) {
        "change_of_control"
    } else {
        "termination"
    };
    format!(
        r#"{{"category": "{category}", "severity": "high", "title": "Finding {place} on {keywords}",
            "description": "The landlord has to give prior written consent of thirty days, with reasons.",
            "citations": [{{"file": "lease.md", "quote": "clause {place} of the lease"}}]}}"#
    )
}

#[divan::bench(args = [(4, 4), (16, 16), (64, 64), (256, 16)])]
fn grade(bencher: Bencher<'_, '_>, (produced, expected): (usize, usize)) {
    let expected: Vec<String> = (0..expected)
        .map(|place| format!(r#"{{"category": "change_of_control", "must_contain_keywords": ["finding {place} ", "consent"], "citation_must_reference": "lease.md"}}"#))
        .collect();
    let contract = (0..200)
        .map(|place| format!("Clause {place} of the lease says what is owed.\n"))
        .collect::<String>();
    let files = Drawer(BTreeMap::from([
        ("g/contracts/lease.md", contract),
        (
            "g/expected/legal/lease.json",
            format!(r#"{{"expected_findings": [{}]}}"#, expected.join(",")),
        ),
    ]));
    let file = RepoPath::root().child("goldgate.yaml");
    let config = read_config(&SourceText::from_text(file, CONFIG.to_owned())).unwrap();
    let suite = (kind("findings").unwrap().open)(&config.suites[0], &files).unwrap();
    let findings: Vec<String> = (0..produced)
        .map(|place| finding(place, "a change of control"))
        .collect();
    let run = Run::of(format!(
        r#"{{"findings": [{}], "gaps": []}}"#,
        findings.join(",")
    ));
    let prompts = BTreeMap::new();
    bencher.bench_local(|| {
        suite
            .grade(
                &suite.pairs()[0],
                std::slice::from_ref(&run),
                &GradeContext::new(&files, &prompts),
            )
            .unwrap()
    });
}

//! Any instructions, original and revised document: a verdict without a panic, the same twice, of numbers in their range; and an
//! original that nobody asked to change is its own flawless revision. The three parts stand one after the other, parted by two zero bytes;
//! `fuzz/seeds.sh` lays the bundled cases out so.
#![no_main]

use std::collections::BTreeMap;

use goldgate::diag::Diagnostic;
use goldgate::files::{SourceText, Entry, EntryKind, Files};
use goldgate::format::run_v1;
use goldgate::model::{Grade, RepoPath};
use goldgate::suites::{GradeContext, kind, read_config};
use libfuzzer_sys::fuzz_target;
use serde_json::json;

const CONFIG: &str = "version: 1\nsuites:\n  - id: s\n    kind: revision\n    policy: seed\n    path: g\n    agents: { a: { deterministic: { replay: r }, fingerprint: { none: written by hand } } }\n";

/// A repository of one case.
struct One<'a> {
    instructions: &'a [u8],
    original: &'a [u8],
}

impl Files for One<'_> {
    fn list_all(&self, folder: &RepoPath) -> Result<Vec<Entry>, Diagnostic> {
        let entry = |name: &str, kind| Entry { name: name.to_owned(), kind };
        Ok(match folder.name() {
            "cases" => vec![entry("c", EntryKind::Folder)],
            _ => vec![entry("instructions.json", EntryKind::File), entry("original.rtf", EntryKind::File)],
        })
    }

    fn bytes(&self, file: &RepoPath) -> Result<Vec<u8>, Diagnostic> {
        Ok(if file.name() == "original.rtf" { self.original } else { self.instructions }.to_vec())
    }
}

/// The grade of a revision, where the case can be read.
fn graded(files: &One<'_>, revised: &str) -> Option<Grade> {
    let source = SourceText::from_text(RepoPath::root().child("goldgate.yaml"), CONFIG.to_owned());
    let config = read_config(&source).ok()?;
    let suite = (kind("revision")?.open)(&config.suites[0], files).ok()?;
    let _ = suite.audit(files);
    let pair = suite.pairs().first()?;
    let key = pair.runs.first()?;
    let text = json!({"status": "completed", "outputs": {"document": revised}}).to_string();
    let run = run_v1::read_run(&SourceText::from_text(RepoPath::root().child("run.json"), text), key, 0).ok()?;
    let prompts = BTreeMap::new();
    suite.grade(pair, &[run], &GradeContext::new(files, &prompts)).ok()
}

fuzz_target!(|bytes: &[u8]| {
    let Some(first) = bytes.windows(2).position(|pair| pair == [0, 0]) else { return };
    let (instructions, rest) = (&bytes[..first], &bytes[first + 2..]);
    let Some(second) = rest.windows(2).position(|pair| pair == [0, 0]) else { return };
    let (original, revised) = (&rest[..second], &rest[second + 2..]);
    let revised = String::from_utf8_lossy(revised);
    let files = One { instructions, original };
    if let Some(grade) = graded(&files, &revised) {
        // satisfied, overall, five criteria; then counts; then whether the format is damaged.
        assert!(grade.values[..7].iter().flatten().all(|value| (0.0..=1.0).contains(value)));
        assert!(grade.values.iter().flatten().all(|value| value.is_finite() && *value >= 0.0));
        assert_eq!(Some(grade), graded(&files, &revised));
    }
    if let Ok(text) = std::str::from_utf8(original)
        && let Some(grade) = graded(&One { instructions: b"{}", original }, text)
    {
        assert_eq!(grade.values[..2], [Some(1.0), Some(1.0)], "{:?}", grade.checks);
    }
});

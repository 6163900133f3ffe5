//! Any text as the golden file of each kind, in each format, and any text as what a run produced, graded against it. Two zero bytes separate
//! the texts; `fuzz/seeds.sh` writes the bundled cases in this form.
#![no_main]

use std::collections::BTreeMap;

use goldgate::diag::Diagnostic;
use goldgate::files::{Entry, EntryKind, Files, SourceText};
use goldgate::format::run_v1;
use goldgate::model::RepoPath;
use goldgate::suites::{GradeContext, KINDS, read_config};
use libfuzzer_sys::fuzz_target;

/// A repository in which every file has the same text, and every folder the same entries.
struct Same<'a> {
    golden: &'a str,
    ending: &'static str,
}

impl Files for Same<'_> {
    fn list_all(&self, folder: &RepoPath) -> Result<Vec<Entry>, Diagnostic> {
        let depth = folder.to_string().matches('/').count();
        let file = Entry { name: format!("case.{}", self.ending), kind: EntryKind::File };
        let inner = Entry { name: "agent".to_owned(), kind: EntryKind::Folder };
        Ok(if depth < 3 { vec![inner, file] } else { vec![file] })
    }

    fn bytes(&self, _file: &RepoPath) -> Result<Vec<u8>, Diagnostic> {
        Ok(self.golden.as_bytes().to_vec())
    }
}

fuzz_target!(|texts: &str| {
    let (golden, record) = texts.split_once("\0\0").unwrap_or((texts, ""));
    // JSON is YAML and one line of JSON Lines, so that a text with one more byte is read in another way.
    let ending = ["json", "yaml", "json", "jsonl"][golden.len() % 4];
    let files = Same { golden, ending };
    let path = if ending == "jsonl" { "golden/cases.jsonl" } else { "golden" };
    for kind in KINDS {
        let yaml = format!(
            "version: 1\nsuites:\n  - id: suite\n    kind: {}\n    path: {path}\n    agents:\n      agent: {{ deterministic: {{ replay: runs }}, fingerprint: {{ none: written by hand }} }}\n",
            kind.name
        );
        let source = SourceText::from_text(RepoPath::root().child("goldgate.yaml"), yaml);
        let Ok(config) = read_config(&source) else { continue };
        let Some(suite) = config.suites.first() else { continue };
        let Ok(opened) = (kind.open)(suite, &files) else { continue };
        let _ = opened.audit(&files);
        let prompts = BTreeMap::new();
        let context = GradeContext::new(&files, &prompts);
        for pair in opened.pairs().iter().take(2) {
            let source = SourceText::from_text(RepoPath::root().child("run.json"), record.to_owned());
            let runs = pair.runs.iter().take(64).map(|key| run_v1::read_run(&source, key, 0));
            let Ok(runs) = runs.collect::<Result<Vec<_>, _>>() else { continue };
            if runs.len() < pair.runs.len() {
                continue;
            }
            if let Ok(grade) = opened.grade(pair, &runs, &context) {
                assert_eq!(grade.values.len(), kind.own_metrics().len());
            }
        }
    }
});

//! Expectations that cannot be satisfied, and documents without expectations.

use std::collections::BTreeSet;

use super::golden::Expectation;
use crate::diag::{Code, Diagnostic};
use crate::files::{EntryKind, Files};
use crate::model::{AgentName, RepoPath};
use crate::suites::shared::audit::Audit;
use crate::suites::shared::case_table::CaseTable;
use crate::suites::shared::finding::DocumentNames;

/// A suite's folder and its expectations.
pub struct AuditedFindings<'a> {
    pub agents: &'a BTreeSet<AgentName>,
    pub documents: &'a RepoPath,
    pub listed: &'a DocumentNames,
    pub table: &'a CaseTable<Expectation>,
}

impl AuditedFindings<'_> {
    pub fn audit(&self, files: &dyn Files) -> Audit {
        let Self {
            agents,
            documents,
            listed,
            table,
        } = self;
        let mut audit = Audit::default();
        let expected_for: BTreeSet<&str> = table
            .pairs
            .counted
            .iter()
            .chain(&table.pairs.drafts)
            .map(|pair| table.case(pair).document.as_str())
            .collect();
        for file in listed
            .iter()
            .filter(|file| !expected_for.contains(file.as_str()))
        {
            let help = "add an expected/AGENT/CONTRACT.json for it, or remove it";
            audit.note(
                &documents.child(file),
                "no agent has expectations for this document",
                help,
            );
        }
        let folder = documents.parent().child("expected");
        for entry in files.list(&folder).unwrap_or_default() {
            let path = folder.child(&entry.name);
            match entry.kind {
                EntryKind::Folder if agents.iter().any(|agent| agent.as_str() == entry.name) => {
                    audit.strays(files, &path);
                }
                EntryKind::Folder => {
                    let message = format!(
                        "the suite has no agent \"{}\": its expectations are ignored",
                        entry.name
                    );
                    audit.note(
                        &path,
                        message,
                        "add the agent to the config, or remove the folder",
                    );
                }
                EntryKind::File | EntryKind::Link(_) => audit.note(
                    &path,
                    "not the folder of an agent: it is ignored",
                    "move it elsewhere",
                ),
            }
        }
        for pair in &table.pairs.counted {
            let expectation = table.case(pair);
            for problem in impossible(&pair.golden, expectation) {
                audit.problems.push(problem);
            }
            if expectation.is_empty() && pair.answer.is_none() {
                audit.problems.push(Diagnostic::of_file(
                    &pair.golden,
                    Code::ASKS_NOTHING,
                    "the case requires nothing",
                    "add expected_findings, must_not_find, or max_expected_findings: 0 for a document without findings",
                ));
            }
            for expected in &expectation.expected {
                let cited = expected.citation.as_ref();
                if let Some(file) = cited
                    .and_then(|citation| citation.file.as_deref())
                    .filter(|file| listed.named(file).is_none())
                {
                    let message = format!(
                        "\"{file}\" is not a document of the suite: quotes from it cannot be checked"
                    );
                    audit.note(
                        &pair.golden,
                        message,
                        "correct citation_must_reference, or add the document",
                    );
                }
            }
        }
        audit
    }
}

/// Required findings that a must_not_find entry forbids, or that exceed max_expected_findings.
fn impossible(golden: &RepoPath, expectation: &Expectation) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for (index, expected) in expectation.required() {
        let Some(guard) = expectation
            .guards
            .iter()
            .find(|guard| expected.always_has(&guard.keys, &guard.keywords))
        else {
            continue;
        };
        let message = format!(
            "expected_findings[{index}] ({}) always matches must_not_find of line {}",
            expected.category, guard.line
        );
        problems.push(Diagnostic::of_file(
            golden,
            Code::UNSATISFIABLE,
            message,
            "give must_not_find keywords that the finding does not have",
        ));
    }
    if expectation.count.is_some_and(|(_, most)| most == 0)
        && expectation.required().next().is_some()
    {
        problems.push(Diagnostic::of_file(
            golden,
            Code::UNSATISFIABLE,
            "findings are required, but max_expected_findings is 0",
            "raise max_expected_findings",
        ));
    }
    problems
}

//! The cases of a suite: `cases/{case}/original.rtf`, `instructions.json` and, for critics, `revised.rtf`.

use std::sync::Arc;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::draft::Draft;
use super::instructions::Instructions;
use super::score::{Verification, verify};
use super::{instructions, structure};
use crate::diag::{Diagnostic, Diagnostics, ReadFailure};
use crate::format::JsonCursor;
use crate::model::{AgentName, CaseId, RepoPath, RunKey, Scoring, SuiteConfig};
use crate::suites::grade_context::read_case;
use crate::suites::meaning::without_notes;
use crate::suites::{Audit, EntryKind, Files, Pair, Stated, sha256_hex};

/// What the golden file of a case is called.
const GOLDEN: &str = "instructions.json";

/// One case.
pub struct RevisionCase {
    id: CaseId,
    golden: RepoPath,
    digest: String,
    quarantine: Option<Box<Stated>>,
    /// What was asked for.
    pub asked: Instructions,
    /// The document before.
    pub original: Draft,
    /// The document that critics judge, with the verifier's verdict.
    pub judged: Option<(Arc<Draft>, Arc<Verification>)>,
}

impl RevisionCase {
    /// This case as one agent is graded on it.
    pub fn pair(&self, suite: &SuiteConfig, agent: &AgentName) -> Pair {
        let key = RunKey { suite: suite.id.clone(), agent: agent.clone(), case: self.id.clone() };
        Pair {
            case: self.id.clone(),
            agent: agent.clone(),
            golden: self.golden.clone(),
            digest: self.digest.clone(),
            runs: vec![key],
            samples: None,
            quarantine: self.quarantine.clone(),
            zone: None,
        }
    }
}

/// Reads every case of a suite, in the order of their ids.
///
/// # Errors
/// Everything in them that cannot be.
pub fn open_cases(suite: &SuiteConfig, files: &dyn Files, scoring: &Scoring) -> Result<Vec<RevisionCase>, Diagnostics> {
    let mut problems = Diagnostics::default();
    let folder = suite.path.child("cases");
    let entries = problems.keep(files.list(&folder)).unwrap_or_default();
    let names: Vec<&str> =
        entries.iter().filter(|entry| entry.kind == EntryKind::Folder).map(|entry| entry.name.as_str()).collect();
    let read: Vec<Result<RevisionCase, Diagnostic>> = names
        .par_iter()
        .map(|name| {
            let folder = folder.child(name);
            read_case(files, &folder.child(GOLDEN), |own| read_golden_case(own, &folder, name, scoring))
        })
        .collect();
    let mut cases: Vec<RevisionCase> = read.into_iter().filter_map(|one| problems.keep(one)).collect();
    cases.sort_by(|one, other| one.id.cmp(&other.id));
    problems.or(cases)
}

fn read_golden_case(
    files: &dyn Files,
    folder: &RepoPath,
    name: &str,
    scoring: &Scoring,
) -> Result<RevisionCase, Diagnostic> {
    let id = CaseId::new(name).map_err(|bad| Diagnostic::of_file(folder, "bad-id", bad.to_string(), bad.help()))?;
    let golden = folder.child(GOLDEN);
    let source = files.text(&golden)?;
    let asked = instructions::read_instructions(&source)?;
    let (original, before) = document(files, &folder.child("original.rtf"))?;
    // What a critic judges may be broken: that is what it has to find.
    let judged = match files.bytes(&folder.child("revised.rtf")) {
        Ok(bytes) => {
            let draft = Draft::read(&bytes);
            let verification = verify(&original, &draft, &asked, scoring);
            Some((sha256_hex(&bytes), Arc::new(draft), Arc::new(verification)))
        }
        Err(problem) if problem.is_read_failure(ReadFailure::MissingFile) => None,
        Err(problem) => return Err(problem),
    };
    let after = judged.as_ref().map_or("", |(digest, ..)| digest);
    let measured = format!("{}\n{before}\n{after}\n{scoring:?}", without_notes(&source.text));
    Ok(RevisionCase {
        id,
        golden,
        digest: sha256_hex(measured.as_bytes()),
        quarantine: asked.quarantine.clone().map(|form| form.stated(&JsonCursor::whole(&source))),
        asked,
        original,
        judged: judged.map(|(_, draft, verification)| (draft, verification)),
    })
}

/// An original has to be a document.
fn document(files: &dyn Files, file: &RepoPath) -> Result<(Draft, String), Diagnostic> {
    let bytes = files.bytes(file)?;
    let draft = Draft::read(&bytes);
    if structure::is_nothing(&draft) {
        let what = "this is no RTF document with text";
        return Err(Diagnostic::of_file(file, "not-rtf", what, "save the contract as RTF: it begins with {\\rtf"));
    }
    Ok((draft, sha256_hex(&bytes)))
}

/// What of the cases nobody can satisfy, and what nobody reads.
pub fn audit(cases: &[RevisionCase], files: &dyn Files) -> Audit {
    let mut audit = Audit::default();
    for case in cases {
        let folder = case.golden.parent();
        for entry in files.list(&folder).unwrap_or_default() {
            if !matches!(entry.name.as_str(), "original.rtf" | "revised.rtf" | "instructions.json") {
                let help = "a case is original.rtf, instructions.json and, for critics, revised.rtf";
                audit.note(&folder.child(&entry.name), "this is no part of a case, and is not read", help);
            }
        }
        for missing in instructions::unfounded(&case.asked, &case.original) {
            let help = "correct the instructions, or the original";
            audit.problems.push(Diagnostic::of_file(&case.golden, "cannot-hold", missing, help));
        }
    }
    audit
}

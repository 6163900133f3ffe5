//! Reads the cases of a suite: `cases/{case}/original.rtf`, `instructions.json` and, for critics, `revised.rtf`.

use std::sync::Arc;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::draft::Draft;
use super::instructions::Instructions;
use super::score::{Verification, verify};
use super::scoring::Scoring;
use super::settings::RevisionSettings;
use super::{instructions, structure, unfounded};
use crate::diag::{Code, Diagnostic, Diagnostics, ReadFailure};
use crate::files::{EntryKind, Files, SourceText, sha256_hex};
use crate::format::JsonCursor;
use crate::model::{CaseId, RepoPath, SuiteConfig};
use crate::suites::shared::answer::reader::AnswerReader;
use crate::suites::shared::audit::Audit;
use crate::suites::shared::case_files::{CaseSource, files_of_cases};
use crate::suites::shared::case_frame::Framed;
use crate::suites::shared::case_keys::DescriptionKeys;
use crate::suites::shared::folder::CaseEntry;
use crate::suites::shared::meaning::digested_case;

/// The name of a case's golden file, without its ending.
const GOLDEN: &str = "instructions";

pub struct RevisionCase {
    golden: RepoPath,
    pub asked: Instructions,
    pub scoring: Scoring,
    pub original: Draft,
    /// The revised document that critics judge, with the verifier's result.
    pub judged: Option<(Arc<Draft>, Arc<Verification>)>,
}

/// Reads all cases of a suite, sorted by id.
pub fn open_cases(
    suite: &SuiteConfig,
    files: &dyn Files,
    settings: &RevisionSettings,
) -> Result<Vec<CaseEntry<RevisionCase>>, Diagnostics> {
    let mut problems = Diagnostics::default();
    let folder = suite.path.child("cases");
    let entries = problems.keep(files.list(&folder)).unwrap_or_default();
    let names: Vec<&str> = entries
        .iter()
        .filter(|entry| entry.kind == EntryKind::Folder)
        .map(|entry| entry.name.as_str())
        .collect();
    let read: Vec<Result<_, Diagnostic>> = names
        .par_iter()
        .map(|name| {
            let folder = folder.child(name);
            let file = golden_file(files, &folder)?;
            file.read(files, |source, case_files| {
                read_golden_case(suite, case_files, &folder, name, source, settings)
            })
        })
        .collect();
    let mut cases: Vec<CaseEntry<RevisionCase>> = read
        .into_iter()
        .filter_map(|case| problems.keep(case))
        .collect();
    for RevisionCase {
        golden,
        asked,
        original,
        ..
    } in cases.iter().map(|entry| &entry.case)
    {
        for missing in unfounded::unfounded(asked, original) {
            let help = "correct the instructions, or the original";
            problems.push(Diagnostic::of_file(
                golden,
                Code::CANNOT_HOLD,
                missing,
                help,
            ));
        }
    }
    cases.sort_by(|left, right| left.id.cmp(&right.id));
    problems.or(cases)
}

fn golden_file(files: &dyn Files, folder: &RepoPath) -> Result<CaseSource, Diagnostic> {
    let mut files_of_instructions = files_of_cases(files, folder)?
        .into_iter()
        .filter(|file| file.id.text == GOLDEN);
    let Some(first) = files_of_instructions.next() else {
        let file = folder.child(&format!("{GOLDEN}.json"));
        return Err(Diagnostic::of_missing_file(file));
    };
    if let Some(second) = files_of_instructions.next() {
        let message = format!(
            "the case has its instructions in {} already",
            first.part.file
        );
        return Err(Diagnostic::of_file(
            &second.part.file,
            Code::DUPLICATE_ID,
            message,
            "remove one of the two files",
        ));
    }
    Ok(first)
}

fn read_golden_case(
    suite: &SuiteConfig,
    files: &dyn Files,
    folder: &RepoPath,
    name: &str,
    source: &SourceText,
    settings: &RevisionSettings,
) -> Result<CaseEntry<RevisionCase>, Diagnostic> {
    let id = CaseId::new(name)
        .map_err(|bad| Diagnostic::of_file(folder, Code::BAD_ID, bad.to_string(), bad.help()))?;
    let Framed { frame, form: asked } =
        instructions::read_instructions(source, &settings.replaced)?;
    let scoring = settings.scoring.of_case(asked.acceptance_criteria.as_ref());
    let (original, original_digest) = document(files, &folder.child("original.rtf"))?;
    // The document that a critic judges may be broken: finding that is the critic's task.
    let judged = match files.bytes(&folder.child("revised.rtf")) {
        Ok(bytes) => {
            let draft = Draft::read(&bytes);
            let verification = verify(&original, &draft, &asked, &scoring);
            Some((sha256_hex(&bytes), Arc::new(draft), Arc::new(verification)))
        }
        Err(problem) if problem.is_read_failure(ReadFailure::MissingFile) => None,
        Err(problem) => return Err(problem),
    };
    let after = judged.as_ref().map_or("", |(digest, ..)| digest);
    let cursor = JsonCursor::whole(source);
    let stated = frame.case(&cursor, ())?;
    let answer = AnswerReader::new(suite, files).read(stated.answer, &cursor)?;
    let of_answer = answer
        .as_ref()
        .map_or("", |answer| answer.measured_with.as_str());
    let replaced = asked.replaced_values(&settings.replaced);
    let measured = format!(
        "{}\n{original_digest}\n{after}\n{scoring:?}{of_answer}{replaced}",
        digested_case(&source.text, DescriptionKeys::USUAL)
    );
    let judged = judged.map(|(_, draft, verification)| (draft, verification));
    Ok(CaseEntry {
        runs: vec![id.clone()],
        id,
        golden: source.file.clone(),
        digest: sha256_hex(measured.as_bytes()),
        samples: None,
        marks: stated.marks,
        quarantine: stated.quarantine,
        answer,
        case: RevisionCase {
            golden: source.file.clone(),
            asked,
            scoring,
            original,
            judged,
        },
    })
}

/// Reads the original; it must be a readable document.
fn document(files: &dyn Files, file: &RepoPath) -> Result<(Draft, String), Diagnostic> {
    let bytes = files.bytes(file)?;
    let draft = Draft::read(&bytes);
    if structure::is_nothing(&draft) {
        let message = "not an RTF document with text";
        return Err(Diagnostic::of_file(
            file,
            Code::NOT_RTF,
            message,
            "save the contract as RTF: it begins with {\\rtf",
        ));
    }
    Ok((draft, sha256_hex(&bytes)))
}

/// Reports files that are not read.
pub fn audit(cases: &[RevisionCase], files: &dyn Files) -> Audit {
    let mut audit = Audit::default();
    for case in cases {
        let folder = case.golden.parent();
        for entry in files.list(&folder).unwrap_or_default() {
            if !matches!(entry.name.as_str(), "original.rtf" | "revised.rtf")
                && entry.name != case.golden.name()
            {
                let help = "a case consists of original.rtf, instructions.json (or .yaml) and, for critics, revised.rtf";
                audit.note(
                    &folder.child(&entry.name),
                    "this file is not part of a case and is ignored",
                    help,
                );
            }
        }
    }
    audit
}

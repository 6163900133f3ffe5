//! The cases of a suite before they are read: a file for each in a folder, or one file with all.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::entries::{CaseIdText, ENTRY_AGENT, ENTRY_IDS};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::files::{EntryKind, Files, GoldenPart, SourceText, read_case};
use crate::format::{GoldenFormat, JsonCursor, blanked, golden_json, json, list_or_object};
use crate::model::{RepoPath, SuiteConfig};
use crate::suites::kind::GoldenForm;

/// A name in a golden file.
pub struct StatedName {
    pub text: String,
    /// Its byte offset in the text of the case.
    pub at: usize,
}

/// A case before it is read.
pub struct CaseSource {
    /// Its file, or its entry in a file of many.
    pub part: GoldenPart,
    /// Its id, as the name of the file or the entry states it.
    pub id: StatedName,
    /// The agent that an entry states.
    pub agent: Option<StatedName>,
    /// The text of an entry, without the keys that only entries have.
    entry: Option<SourceText>,
}

impl CaseSource {
    /// Reads the case. `read` gets its text as JSON, with the positions in the file.
    ///
    /// # Errors
    /// The file cannot be read, or what `read` returns.
    pub fn read<T, E: From<Diagnostic>>(
        &self,
        files: &dyn Files,
        read: impl FnOnce(&SourceText, &dyn Files) -> Result<T, E>,
    ) -> Result<T, E> {
        read_case(files, &self.part, |part_files| match &self.entry {
            Some(source) => read(source, part_files),
            None => read(&golden_text(part_files, &self.part.file)?, part_files),
        })
    }

    pub fn is_entry(&self) -> bool {
        self.entry.is_some()
    }

    pub fn problem(
        &self,
        name: &StatedName,
        code: Code,
        description: impl Into<String>,
        help: impl Into<String>,
    ) -> Diagnostic {
        match &self.entry {
            Some(source) => source.problem(name.at, code, description, help),
            // The file's name is nowhere in the file.
            None => Diagnostic::of_file(&self.part.file, code, description, help),
        }
    }
}

/// The text of a golden file as JSON, with the positions in the file.
///
/// # Errors
/// The file cannot be read, or is not valid.
pub fn golden_text(files: &dyn Files, file: &RepoPath) -> Result<SourceText, Diagnostic> {
    golden_json(files.text(file)?)
}

/// Whether the path of a suite is a file with all its cases; its name says so.
pub fn is_case_file(path: &RepoPath) -> bool {
    GoldenFormat::of_name(path.name()).is_some()
}

/// The folder of a suite's other files: its path, or the folder of the file with all its cases.
pub fn suite_folder(path: &RepoPath) -> RepoPath {
    if is_case_file(path) {
        path.parent()
    } else {
        path.clone()
    }
}

/// The cases of a suite: the entries of its file, or the files of one of its folders.
pub fn cases_of_suite(
    suite: &SuiteConfig,
    files: &dyn Files,
    folder: &RepoPath,
    problems: &mut Diagnostics,
) -> Vec<CaseSource> {
    let cases = if is_case_file(&suite.path) {
        entries_of_file(files, &suite.path, GoldenForm::OneCase, problems)
    } else {
        files_of_cases(files, folder)
    };
    problems.keep(cases).unwrap_or_default()
}

/// The same, where the name of a file is the id of its case.
pub fn named_cases(
    suite: &SuiteConfig,
    files: &dyn Files,
    folder: &RepoPath,
    problems: &mut Diagnostics,
) -> Vec<CaseSource> {
    keep_first_of_name(cases_of_suite(suite, files, folder, problems), problems)
}

/// The cases of a folder: one for each file, by name.
pub fn files_of_cases(files: &dyn Files, folder: &RepoPath) -> Result<Vec<CaseSource>, Diagnostic> {
    let mut cases = Vec::new();
    for entry in files.list(folder)? {
        let Some((stem, format)) = GoldenFormat::of_name(&entry.name) else {
            continue;
        };
        if entry.kind != EntryKind::File || format.is_of_many() {
            continue;
        }
        cases.push(CaseSource {
            part: GoldenPart::of_file(folder.child(&entry.name)),
            id: StatedName {
                text: stem.to_owned(),
                at: 0,
            },
            agent: None,
            entry: None,
        });
    }
    Ok(cases)
}

/// Keeps the first of several cases with one name. The others are problems: the names of a kind's files are the ids of its cases.
pub fn keep_first_of_name(cases: Vec<CaseSource>, problems: &mut Diagnostics) -> Vec<CaseSource> {
    let mut first: BTreeMap<String, RepoPath> = BTreeMap::new();
    let mut kept = Vec::new();
    for case in cases {
        let first_file = first
            .entry(case.id.text.clone())
            .or_insert_with(|| case.part.file.clone());
        if case.is_entry() || *first_file == case.part.file {
            kept.push(case);
            continue;
        }
        let description = format!(
            "the id \"{}\" is already used in {first_file}",
            case.id.text
        );
        problems.push(case.problem(
            &case.id,
            Code::DUPLICATE_ID,
            description,
            "give each case its own id",
        ));
    }
    kept
}

/// The cases of a file of many: a list, an object with the list under `cases`, JSON Lines, or a table. Adds every entry without an id, and every id
/// that is used twice, to the problems.
///
/// # Errors
/// The file cannot be read, or has another form.
pub fn entries_of_file(
    files: &dyn Files,
    file: &RepoPath,
    form: GoldenForm,
    problems: &mut Diagnostics,
) -> Result<Vec<CaseSource>, Diagnostic> {
    let whole = Arc::new(golden_text(files, file)?);
    let CasesFile(raws) = json::golden(&whole)?;
    let mut used: BTreeSet<(String, Option<String>)> = BTreeSet::new();
    let mut cases = Vec::new();
    for raw in raws {
        let Some(case) = problems.keep(entry(&whole, raw, form)) else {
            continue;
        };
        let agent = case.agent.as_ref().map(|agent| agent.text.clone());
        if used.insert((case.id.text.clone(), agent)) {
            cases.push(case);
        } else {
            let description = format!("duplicate id \"{}\"", case.id.text);
            problems.push(case.problem(
                &case.id,
                Code::DUPLICATE_ID,
                description,
                "give each case its own id",
            ));
        }
    }
    Ok(cases)
}

fn entry(
    whole: &Arc<SourceText>,
    raw: &RawValue,
    form: GoldenForm,
) -> Result<CaseSource, Diagnostic> {
    let (start, cursor) = (json::offset_of(whole, raw), JsonCursor::part(whole, raw));
    let fields: BTreeMap<String, &RawValue> = json::part(whole, raw)?;
    let [id_key, ..] = ENTRY_IDS;
    let Some(raw_id) = ENTRY_IDS.iter().find_map(|key| fields.get(*key)) else {
        let help = "in a file of many, each case states its own";
        return Err(missing_key(&cursor, id_key, help));
    };
    let CaseIdText(id) = json::part(whole, raw_id)?;
    let id = StatedName {
        text: id,
        at: json::offset_of(whole, raw_id) - start,
    };
    let mut text = blanked(raw.get().to_owned(), id_key);
    let mut agent = None;
    if form.is_of_agent() {
        let Some(raw_agent) = fields.get(ENTRY_AGENT) else {
            let help = "in a file of many, each case states whose answers it is about";
            return Err(missing_key(&cursor, ENTRY_AGENT, help));
        };
        agent = Some(StatedName {
            text: json::part(whole, raw_agent)?,
            at: json::offset_of(whole, raw_agent) - start,
        });
        text = blanked(text, ENTRY_AGENT);
    }
    let part = GoldenPart {
        file: whole.file.clone(),
        case: Some(id.text.clone()),
    };
    Ok(CaseSource {
        part,
        id,
        agent,
        entry: Some(whole.part(start, text)),
    })
}

fn missing_key(cursor: &JsonCursor<'_>, key: &str, help: &str) -> Diagnostic {
    cursor.problem(
        &[],
        Code::MISSING_KEY,
        format!("the key \"{key}\" is missing"),
        format!("add \"{key}\": {help}"),
    )
}

/// A file of many cases: a list, or an object with the list under `cases`.
pub struct CasesFile<'a>(pub Vec<&'a RawValue>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Keyed<'a> {
    #[serde(borrow)]
    cases: Vec<&'a RawValue>,
}

impl<'de: 'a, 'a> Deserialize<'de> for CasesFile<'a> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        list_or_object(
            reader,
            "a list of cases, or { \"cases\": [] }",
            Self,
            |keyed: Keyed<'a>| Self(keyed.cases),
        )
    }
}

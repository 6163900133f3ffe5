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
        read_case(files, &self.part, |own| match &self.entry {
            Some(source) => read(source, own),
            None => read(&golden_text(own, &self.part.file)?, own),
        })
    }

    pub fn is_entry(&self) -> bool {
        self.entry.is_some()
    }

    pub fn problem(
        &self,
        name: &StatedName,
        code: Code,
        what: impl Into<String>,
        help: impl Into<String>,
    ) -> Diagnostic {
        match &self.entry {
            Some(source) => source.problem(name.at, code, what, help),
            // The file's name is nowhere in the file.
            None => Diagnostic::of_file(&self.part.file, code, what, help),
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
    let cases = match is_case_file(&suite.path) {
        true => entries_of_file(files, &suite.path, GoldenForm::OneCase, problems),
        false => files_of_cases(files, folder),
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
    let named = files.list(folder)?.into_iter().filter_map(|entry| {
        let (stem, format) = GoldenFormat::of_name(&entry.name)?;
        let id = StatedName {
            text: stem.to_owned(),
            at: 0,
        };
        let part = GoldenPart::of_file(folder.child(&entry.name));
        let is_case = entry.kind == EntryKind::File && !format.is_of_many();
        is_case.then_some(CaseSource {
            part,
            id,
            agent: None,
            entry: None,
        })
    });
    Ok(named.collect())
}

/// Keeps the first of several cases with one name. The others are problems: the names of a kind's files are the ids of its cases.
pub fn keep_first_of_name(cases: Vec<CaseSource>, problems: &mut Diagnostics) -> Vec<CaseSource> {
    let mut first: BTreeMap<String, RepoPath> = BTreeMap::new();
    let is_first = |case: &CaseSource| {
        let other = first
            .entry(case.id.text.clone())
            .or_insert_with(|| case.part.file.clone());
        if case.is_entry() || *other == case.part.file {
            return true;
        }
        let what = format!("the id \"{}\" is already used in {other}", case.id.text);
        problems.push(case.problem(
            &case.id,
            Code::DUPLICATE_ID,
            what,
            "give each case its own id",
        ));
        false
    };
    let mut cases = cases;
    cases.retain(is_first);
    cases
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
            let what = format!("duplicate id \"{}\"", case.id.text);
            problems.push(case.problem(
                &case.id,
                Code::DUPLICATE_ID,
                what,
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
    let missing = |key: &str, help: &str| {
        cursor.problem(
            &[],
            Code::MISSING_KEY,
            format!("the key \"{key}\" is missing"),
            format!("add \"{key}\": {help}"),
        )
    };
    let stated = |text: String, raw: &RawValue| StatedName {
        text,
        at: json::offset_of(whole, raw) - start,
    };
    let [own, ..] = ENTRY_IDS;
    let id = ENTRY_IDS.iter().find_map(|key| fields.get(*key));
    let id = id.ok_or_else(|| missing(own, "in a file of many, each case states its own"))?;
    let CaseIdText(text) = json::part(whole, id)?;
    let id = stated(text, id);
    let mut text = blanked(raw.get().to_owned(), own);
    let mut agent = None;
    if form.is_of_agent() {
        let help = "in a file of many, each case states whose answers it is about";
        let raw = fields.get(ENTRY_AGENT);
        let raw = raw.ok_or_else(|| missing(ENTRY_AGENT, help))?;
        agent = Some(stated(json::part(whole, raw)?, raw));
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
        let of_key = |keyed: Keyed<'a>| Self(keyed.cases);
        list_or_object(
            reader,
            "a list of cases, or { \"cases\": [] }",
            Self,
            of_key,
        )
    }
}

//! The golden file of a fixture: a snapshot of a repository with the expected deltas, or the repository itself with its orphan tests.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::diag::{Code, Diagnostic};
use crate::files::SourceText;
use crate::format::Step::{At, Key};
use crate::format::{JsonCursor, Step, json};
use crate::suites::shared::case_frame::{CaseForm, Framed};
use crate::suites::shared::deltas::DeltaKind;
use crate::suites::shared::entries::CaseIdText;
use crate::suites::shared::expected_deltas::{ExpectedDeltaForm, ExpectedDeltas};
use crate::suites::shared::folder::{GoldenCase, stated_id};
use crate::suites::shared::golden::step;
use crate::suites::shared::snapshot::{LineRange, RepositorySnapshot};

/// `fixtures/{case}.json`: a repository, and the expected deltas.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "reconciliation fixture")]
pub struct FixtureForm {
    /// Its id; the name of the file by default.
    id: Option<CaseIdText>,
    /// The names in the repository; a fixture has this or `repo`.
    snapshot: Option<RepositorySnapshot>,
    /// The files of the repository.
    repo: Option<RepoForm>,
    /// The requirements of `repo`, and the tests that are linked to them.
    registry: Option<RegistryForm>,
    /// The deltas that must be found.
    #[serde(default)]
    expected_deltas: Vec<ExpectedDeltaForm>,
    /// What must be found in `repo`.
    expected: Option<ExpectedForm>,
    /// The maximum number of recommendations; any by default.
    max_recommendations: Option<usize>,
    /// How the agent is started, for people.
    #[serde(rename = "mode")]
    _mode: Option<String>,
    /// Not graded: a fixture has no rubric.
    #[serde(rename = "minimumRubricScore")]
    _minimum_rubric_score: Option<f64>,
    /// The rule of the prompt package that this tests, by id or text.
    rule: Option<String>,
}

impl CaseForm for FixtureForm {}

/// The files of a repository.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct RepoForm {
    /// The text of each file, by its path.
    files: BTreeMap<String, String>,
    /// Which of them have tests.
    #[serde(default)]
    test_files: Vec<String>,
    /// Which of them have code.
    #[serde(default)]
    source_files: Vec<String>,
    /// Which of them changed.
    #[serde(default)]
    changed_files: Vec<String>,
    /// What tests cover, in any form.
    #[serde(default)]
    coverage: Value,
}

/// The requirements, and the tests that are linked to them.
#[derive(Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct RegistryForm {
    /// The requirements, each with its `id`.
    atoms: Vec<RegistryAtomForm>,
    /// The links, in any form.
    annotations: Vec<Value>,
    /// Groups of requirements, in any form.
    molecules: Vec<Value>,
}

/// A requirement.
#[derive(Deserialize, Serialize, JsonSchema)]
struct RegistryAtomForm {
    id: String,
    #[serde(flatten)]
    others: BTreeMap<String, Value>,
}

/// What must be found in a repository.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
struct ExpectedForm {
    /// The tests that no requirement has: each is an expected delta `orphan_test`.
    orphan_tests: Vec<TestRef>,
    /// Tests that must not be reported.
    not_orphan_tests: Vec<TestRef>,
    /// The most errors that the agent may report; any number by default.
    max_errors: Option<usize>,
    /// Not graded.
    #[serde(rename = "expectedAtomRecommendations")]
    _atom_recommendations: Value,
    /// Not graded.
    #[serde(rename = "expectedMoleculeGroupings")]
    _molecule_groupings: Value,
}

/// A test.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct TestRef {
    /// The path of its file.
    pub file_path: String,
    /// Its name.
    pub test_name: String,
}

pub struct Fixture {
    pub snapshot: RepositorySnapshot,
    /// What an agent is shown of `repo` and `registry`, by these keys.
    pub contents: BTreeMap<&'static str, Value>,
    pub files: BTreeSet<String>,
    pub tests: BTreeSet<String>,
    pub coverage: Vec<LineRange>,
    pub expected: ExpectedDeltas,
    /// Tests that must not be reported.
    pub linked: Vec<TestRef>,
    pub most: Option<usize>,
    pub most_errors: Option<usize>,
    pub rule: Option<String>,
}

pub fn read_fixture(source: &SourceText) -> Result<GoldenCase<Fixture>, Diagnostic> {
    let Framed { frame, form } = json::golden::<Framed<FixtureForm>>(source)?;
    let cursor = JsonCursor::whole(source);
    let id = stated_id(form.id, None, &cursor)?;
    let mut contents = BTreeMap::new();
    let snapshot = match (form.snapshot, form.repo) {
        (Some(snapshot), None) => snapshot,
        (None, Some(repo)) => {
            let registry = form.registry.unwrap_or_default();
            let snapshot = snapshot_of(&repo, &registry, &cursor)?;
            contents.insert("repo", serde_json::to_value(repo).unwrap_or_default());
            contents.insert(
                "registry",
                serde_json::to_value(registry).unwrap_or_default(),
            );
            snapshot
        }
        (None, None) => {
            let message = "the key \"snapshot\" is missing";
            let help =
                "add \"snapshot\" with the names in the repository, or \"repo\" with its files";
            return Err(cursor.problem(&[], Code::MISSING_KEY, message, help));
        }
        (Some(_), Some(_)) => {
            let message = "the fixture has both snapshot and repo";
            let help = "keep one of them";
            return Err(cursor.problem_of_key(&[Key("repo")], Code::CONTRADICTION, message, help));
        }
    };
    let at_snapshot: &[Step<'_>] = if contents.is_empty() {
        &[Key("snapshot")]
    } else {
        &[Key("repo")]
    };
    let expected = form.expected.unwrap_or_default();
    let mut expected_deltas = ExpectedDeltas::read(&cursor, form.expected_deltas)?;
    for (index, test) in expected.orphan_tests.iter().enumerate() {
        let path = [
            Key("expected"),
            Key("orphanTests"),
            At(index),
            Key("testName"),
        ];
        cursor.filled(&path, "the name of a test", &test.test_name)?;
        expected_deltas.add(&test.test_name, DeltaKind::OrphanTest);
    }
    let fixture = Fixture {
        files: snapshot.files.iter().cloned().collect(),
        tests: snapshot.tests.iter().cloned().collect(),
        coverage: snapshot.ranges(&cursor.inner(at_snapshot))?,
        expected: expected_deltas,
        linked: expected.not_orphan_tests,
        most: form.max_recommendations,
        most_errors: expected.max_errors,
        rule: cursor.rule(form.rule)?,
        snapshot,
        contents,
    };
    Ok(GoldenCase {
        id,
        ..frame.case(&cursor, fixture)?
    })
}

/// The names in a repository.
fn snapshot_of(
    repo: &RepoForm,
    registry: &RegistryForm,
    cursor: &JsonCursor<'_>,
) -> Result<RepositorySnapshot, Diagnostic> {
    let mut tests = Vec::new();
    for (index, file) in repo.test_files.iter().enumerate() {
        let Some(text) = repo.files.get(file) else {
            let path = step(&[Key("repo"), Key("testFiles")], At(index));
            let message = format!("{file:?} is not one of the files");
            return Err(cursor.problem(&path, Code::BAD_PATH, message, "add its text to `files`"));
        };
        tests.extend(test_names(text));
    }
    Ok(RepositorySnapshot {
        files: repo.files.keys().cloned().collect(),
        tests,
        atoms: registry.atoms.iter().map(|atom| atom.id.clone()).collect(),
        ..RepositorySnapshot::default()
    })
}

/// The names of the tests in a file: the texts of `it('…')` and `test('…')`, in any quotes.
fn test_names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find('(') {
        let (head, after) = (&rest[..open], &rest[open + 1..]);
        let word = head
            .rsplit(|char: char| !char.is_alphanumeric() && char != '_')
            .next();
        let argument = after.trim_start();
        let quote = argument
            .chars()
            .next()
            .filter(|char| "'\"`".contains(*char));
        rest = after;
        if let (Some("it" | "test"), Some(quote)) = (word, quote)
            && let Some((name, end)) = quoted(&argument[1..], quote)
        {
            names.push(name);
            rest = &argument[1 + end..];
        }
    }
    names
}

/// The text up to a quote, and where it ends; `None` if it does not end.
fn quoted(text: &str, quote: char) -> Option<(String, usize)> {
    let mut name = String::new();
    let mut chars = text.char_indices();
    while let Some((index, char)) = chars.next() {
        match char {
            '\\' => name.push(chars.next()?.1),
            char if char == quote => return Some((name, index)),
            char => name.push(char),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::test_names;

    #[test]
    fn tests_are_found_by_their_calls() {
        for (text, expected) in [
            ("it('adds an item', () => {});", vec!["adds an item"]),
            (
                "  test(\n  \"a (b) 'c'\", f); it(`d`)",
                vec!["a (b) 'c'", "d"],
            ),
            (r"it('can\'t', f)", vec!["can't"]),
            ("describe('a', () => { it('b') })", vec!["b"]),
            ("submit('a'); latest('b'); it(name)", vec![]),
            ("it('open", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(test_names(text), expected, "{text}");
        }
    }
}

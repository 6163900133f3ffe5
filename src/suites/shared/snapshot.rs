//! A snapshot of a repository, and the request about it to a live agent.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::asking::Prompt;
use super::deltas::{DeltaKind, form};
use crate::diag::{Code, Diagnostic};
use crate::format::JsonCursor;
use crate::format::Step::{At, Key};
use crate::model::{Ask, RepoPath};

/// The contents of a repository.
#[derive(Deserialize, Serialize, JsonSchema, Debug, Clone, PartialEq, Default)]
#[serde(deny_unknown_fields)]
pub struct RepositorySnapshot {
    /// Paths.
    #[serde(default)]
    pub files: Vec<String>,
    /// Names of tests.
    #[serde(default)]
    pub tests: Vec<String>,
    /// Covered lines, as `path:from-to`.
    #[serde(default)]
    pub coverage: Vec<String>,
    /// Ids of requirements.
    #[serde(default)]
    pub atoms: Vec<String>,
}

impl RepositorySnapshot {
    /// The covered lines; `cursor` is the position of the snapshot.
    ///
    /// # Errors
    /// A path outside the repository, a test without a name, or an invalid range.
    pub fn ranges(&self, cursor: &JsonCursor<'_>) -> Result<Vec<LineRange>, Diagnostic> {
        for (at, file) in self.files.iter().enumerate() {
            if RepoPath::root().join(file).is_err() || file.trim().is_empty() {
                let path = [Key("files"), At(at)];
                let description = format!("{file:?} is not a path inside the repository");
                return Err(cursor.problem(
                    &path,
                    Code::BAD_PATH,
                    description,
                    "write it relative to the repository's root",
                ));
            }
        }
        for (at, test) in self.tests.iter().enumerate() {
            cursor.filled(&[Key("tests"), At(at)], "the name of a test", test)?;
        }
        let mut coverage = Vec::new();
        for (at, text) in self.coverage.iter().enumerate() {
            let Some(range) = LineRange::read(text) else {
                let description = format!("invalid coverage range {text:?}");
                return Err(cursor.problem(
                    &[Key("coverage"), At(at)],
                    Code::BAD_RANGE,
                    description,
                    "write path:from-to",
                ));
            };
            coverage.push(range);
        }
        Ok(coverage)
    }

    /// Asks for deltas, and for at most `most` recommendations; `contents` is what the agent is shown besides the names.
    pub fn ask(&self, most: Option<usize>, contents: &BTreeMap<&'static str, Value>) -> Ask {
        let kinds = DeltaKind::ALL.map(DeltaKind::as_str);
        let next = match most {
            Some(most) => format!("Recommend next steps, at most {most}"),
            None => "Recommend next steps where something is to be done".to_owned(),
        };
        let prompt = Prompt::of(
            "Compare what a repository promises, its atoms, with what it holds: files, tests and coverage. You are shown a \
             snapshot of it; what is not in it does not exist.",
        )
        .say(&format!(
            "Report a delta for every source file, test and atom: the item, letter by letter as it stands in the snapshot, \
             and its kind, one of: {}. The evidence of each names paths, tests or coverage ranges of the snapshot.",
            kinds.join(", ")
        ))
        .say(&format!("{next}, each with a condition by which a stranger can tell that it is done."))
        .say(
            "Answer with one JSON object: {\"deltas\": [{\"item\", \"kind\", \"evidence\": {\"file_paths\": [], \"test_names\": [], \
             \"coverage_refs\": []}}], \"recommendations\": [{\"action\", \"success_condition\"}]}.",
        );
        let mut material = vec![("The snapshot", format!("{:#}", json!(self)))];
        let mut inputs = json!({"snapshot": self});
        for (key, value) in contents {
            material.push((key, format!("{value:#}")));
            inputs[*key] = value.clone();
        }
        let material: Vec<(&str, &str)> = material
            .iter()
            .map(|(title, text)| (*title, text.as_str()))
            .collect();
        let prompt = prompt.show(&material);
        if let Some(most) = most {
            inputs["max_recommendations"] = json!(most);
        }
        Ask::plain(prompt.text(), inputs, Some(form()))
    }
}

/// Lines of a file covered by tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineRange {
    pub path: String,
    pub from: u64,
    pub to: u64,
}

impl LineRange {
    /// Parses `path:from-to`; `None` if invalid.
    pub fn read(text: &str) -> Option<Self> {
        let (path, lines) = text.rsplit_once(':')?;
        let (from, to) = lines.split_once('-')?;
        let (from, to) = (line_number(from)?, line_number(to)?);
        (!path.is_empty() && from <= to).then(|| Self {
            path: path.to_owned(),
            from,
            to,
        })
    }
}

/// A number of digits alone: no sign.
fn line_number(text: &str) -> Option<u64> {
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::LineRange;

    #[test]
    fn a_range_is_a_path_and_two_lines() {
        let range = LineRange::read("src/a:b.rs:3-10").unwrap();
        assert_eq!(
            (range.path.as_str(), range.from, range.to),
            ("src/a:b.rs", 3, 10)
        );
        for text in [
            "a.rs",
            "a.rs:3",
            "a.rs:10-3",
            ":1-2",
            "a.rs:+1-2",
            "a.rs:1-",
            "a.rs:a-b",
        ] {
            assert_eq!(LineRange::read(text), None, "{text}");
        }
    }
}

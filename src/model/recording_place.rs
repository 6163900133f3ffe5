//! Where the recordings of agents are: in a folder, or where a pattern says.

use std::fmt;

use serde::{Serialize, Serializer};

use super::ids::AgentName;
use super::path::RepoPath;

/// Where the recordings of agents are.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum RecordingPlace {
    /// A folder: `{agent}/{case}.json` or `{agent}/{case}/{sample}.json` in it.
    Folder(RepoPath),
    /// Files of the user's own layout.
    Pattern(RecordingPattern),
}

/// A path with `{case}` and perhaps `{agent}` and `{sample}`, each of which is a name without `/` or a part of one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordingPattern {
    /// The folder before the first name with a placeholder.
    root: RepoPath,
    /// The path below that folder.
    below: String,
}

/// Why a text with braces is not a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadPattern {
    /// It has no `{case}`.
    NoCase,
    /// It has a placeholder twice, or an unknown one.
    Placeholder,
}

/// The placeholders of a pattern.
const PLACEHOLDERS: [&str; 3] = ["{agent}", "{case}", "{sample}"];

impl RecordingPlace {
    /// The place at a path of the repository.
    ///
    /// # Errors
    /// Braces that are no pattern.
    pub fn at(path: RepoPath) -> Result<Self, BadPattern> {
        let text = path.as_str();
        if !text.contains(['{', '}']) {
            return Ok(Self::Folder(path));
        }
        let mut rest = text.to_owned();
        for placeholder in PLACEHOLDERS {
            rest = rest.replacen(placeholder, "", 1);
        }
        if rest.contains(['{', '}']) {
            return Err(BadPattern::Placeholder);
        }
        if !text.contains("{case}") {
            return Err(BadPattern::NoCase);
        }
        let names = text.split('/').take_while(|name| !name.contains('{'));
        let root = names.fold(RepoPath::root(), |folder, name| folder.child(name));
        let below = text[root.as_str().len()..]
            .trim_start_matches('/')
            .to_owned();
        Ok(Self::Pattern(RecordingPattern { root, below }))
    }

    /// The folder that all recordings are below.
    pub fn root(&self) -> &RepoPath {
        match self {
            Self::Folder(folder) => folder,
            Self::Pattern(pattern) => &pattern.root,
        }
    }

    /// The folder, which recordings can be written to.
    pub fn folder(&self) -> Option<&RepoPath> {
        match self {
            Self::Folder(folder) => Some(folder),
            Self::Pattern(_) => None,
        }
    }
}

impl RecordingPattern {
    /// The folder that all recordings are below.
    pub fn root(&self) -> &RepoPath {
        &self.root
    }

    /// The case of a file that is a recording of this agent, and the text that numbers its sample.
    pub fn recording<'p>(
        &self,
        agent: &AgentName,
        file: &'p RepoPath,
    ) -> Option<(&'p str, &'p str)> {
        let inner = file.as_str().strip_prefix(self.root.as_str())?;
        self.matched(agent, inner.trim_start_matches('/'))
    }

    /// The case of a file below the root that is a recording of this agent, and the text that numbers its sample.
    pub fn matched<'p>(&self, agent: &AgentName, path: &'p str) -> Option<(&'p str, &'p str)> {
        let below = self.below.replace("{agent}", agent.as_str());
        let (before, after) = below.split_once("{case}")?;
        if let Some((start, middle)) = before.split_once("{sample}") {
            let rest = path.strip_prefix(start)?.strip_suffix(after)?;
            let (sample, case) = split(rest, middle)?;
            return is_name(case).then_some((case, sample));
        }
        let rest = path.strip_prefix(before)?;
        if let Some((middle, end)) = after.split_once("{sample}") {
            let rest = rest.strip_suffix(end)?;
            let (case, sample) = split(rest, middle)?;
            return is_name(sample).then_some((case, sample));
        }
        let case = rest.strip_suffix(after)?;
        is_name(case).then_some((case, ""))
    }
}

/// The two names that a text has before and after a separator.
fn split<'p>(text: &'p str, separator: &str) -> Option<(&'p str, &'p str)> {
    let (one, other) = text.split_once(separator)?;
    is_name(one).then_some((one, other))
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.contains('/')
}

impl fmt::Display for RecordingPlace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => out.write_str(folder.as_str()),
            Self::Pattern(RecordingPattern { root, below }) if *root == RepoPath::root() => {
                out.write_str(below)
            }
            Self::Pattern(RecordingPattern { root, below }) => {
                write!(out, "{}/{below}", root.as_str())
            }
        }
    }
}

impl Serialize for RecordingPlace {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::{BadPattern, RecordingPlace};
    use crate::model::{AgentName, RepoPath};

    fn place(text: &str) -> Result<RecordingPlace, BadPattern> {
        RecordingPlace::at(RepoPath::root().join(text).unwrap())
    }

    #[test]
    fn a_pattern_finds_the_case_and_the_sample_of_a_file() {
        let table = [
            (
                "out/run-{sample}/findings/{agent}/{case}.json",
                "out",
                "run-2/findings/legal/lease.json",
                Some(("lease", "2")),
            ),
            (
                "out/{agent}/{case}.json",
                "out",
                "legal/lease.json",
                Some(("lease", "")),
            ),
            ("out/{agent}/{case}.json", "out", "finance/lease.json", None),
            (
                "out/{agent}/{case}.json",
                "out",
                "legal/more/lease.json",
                None,
            ),
            (
                "{case}-{sample}.json",
                "",
                "lease-1.json",
                Some(("lease", "1")),
            ),
            ("{case}-{sample}.json", "", "a-b-1.json", Some(("a", "b-1"))),
            ("{case}/out.json", "", "lease/out.json", Some(("lease", ""))),
            ("{case}/out.json", "", "/out.json", None),
        ];
        let agent = AgentName::new("legal").unwrap();
        for (text, root, file, expected) in table {
            let RecordingPlace::Pattern(pattern) = place(text).unwrap() else {
                panic!("{text} is a pattern");
            };
            assert_eq!(pattern.root().as_str(), root, "{text}");
            assert_eq!(pattern.matched(&agent, file), expected, "{text} {file}");
            assert_eq!(place(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn braces_that_are_no_pattern_are_refused() {
        for (text, expected) in [
            ("out/{agent}.json", BadPattern::NoCase),
            ("out/{model}/{case}.json", BadPattern::Placeholder),
            ("out/{case}/{case}.json", BadPattern::Placeholder),
        ] {
            assert_eq!(place(text), Err(expected), "{text}");
        }
        let folder = RepoPath::root().child("runs");
        assert_eq!(place("runs"), Ok(RecordingPlace::Folder(folder)));
    }
}

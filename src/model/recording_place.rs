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

/// A path with `{case}`, `{agent}` and `{sample}`, each of which is a name without `/` or a part of one. Without `{case}` it is of the only case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordingPattern {
    /// The folder before the first name with a placeholder.
    root: RepoPath,
    /// The path below that folder.
    below: String,
    /// The folders of attempts that a recording consists of; `None` if it is a file.
    attempts: Option<AttemptNames>,
}

/// The names of the folders of attempts: a text with one `*`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AttemptNames {
    start: String,
    end: String,
}

/// A recording that a pattern names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchedRecording<'p> {
    /// Its case; `None` if it is the only one.
    pub case: Option<&'p str>,
    /// The text that numbers its sample; empty if none does.
    pub sample: &'p str,
    /// Its path. That of attempts ends in the pattern of their names; no other path of a recording has a `*`.
    pub file: RepoPath,
}

/// Why a text is not a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadPattern {
    /// It has a placeholder twice, or an unknown one, or a `*`.
    Placeholder,
    /// The names of attempts have no `*`, or several, or a `/`, or they belong to a place that is not a pattern.
    Attempts,
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
        if rest.contains(['{', '}', '*']) {
            return Err(BadPattern::Placeholder);
        }
        let names = text.split('/').take_while(|name| !name.contains('{'));
        let root = names.fold(RepoPath::root(), |folder, name| folder.child(name));
        let below = text[root.as_str().len()..]
            .trim_start_matches('/')
            .to_owned();
        Ok(Self::Pattern(RecordingPattern {
            root,
            below,
            attempts: None,
        }))
    }

    /// The same place, where each recording consists of folders with these names.
    ///
    /// # Errors
    /// Names that are none, or a place that is not a pattern.
    pub fn with_attempts(self, names: &str) -> Result<Self, BadPattern> {
        match (self, AttemptNames::new(names)) {
            (Self::Pattern(pattern), Some(names)) => Ok(Self::Pattern(RecordingPattern {
                attempts: Some(names),
                ..pattern
            })),
            (Self::Folder(_) | Self::Pattern(_), _) => Err(BadPattern::Attempts),
        }
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

    /// The recording of this agent that a file is, or that it is a part of.
    pub fn recording<'p>(
        &self,
        agent: &AgentName,
        file: &'p RepoPath,
    ) -> Option<MatchedRecording<'p>> {
        let inner = file.as_str().strip_prefix(self.root.as_str())?;
        let inner = inner.trim_start_matches('/');
        match (&self.attempts, inner.rsplit_once('/')) {
            (Some(names), Some((folder, AttemptNames::PROVENANCE))) => {
                self.of_attempts(agent, folder, names)
            }
            _ => self.matched(agent, inner),
        }
    }

    /// The recording of this agent that a file below the root is, or that it is a part of.
    pub fn matched<'p>(&self, agent: &AgentName, path: &'p str) -> Option<MatchedRecording<'p>> {
        let Some(names) = &self.attempts else {
            return self.named(agent, path, self.root.below(path));
        };
        let (attempt, _) = path.rsplit_once('/')?;
        let (folder, name) = attempt.rsplit_once('/')?;
        names.varying(name)?;
        self.of_attempts(agent, folder, names)
    }

    fn of_attempts<'p>(
        &self,
        agent: &AgentName,
        folder: &'p str,
        names: &AttemptNames,
    ) -> Option<MatchedRecording<'p>> {
        let file = self.root.below(folder).child(&names.to_string());
        self.named(agent, folder, file)
    }

    fn named<'p>(
        &self,
        agent: &AgentName,
        path: &'p str,
        file: RepoPath,
    ) -> Option<MatchedRecording<'p>> {
        let below = self.below.replace("{agent}", agent.as_str());
        let mut matched = MatchedRecording {
            case: None,
            sample: "",
            file,
        };
        let mut rest = path;
        let mut pattern = below.as_str();
        while let Some((start, placeholder)) = pattern.split_once('{') {
            rest = rest.strip_prefix(start)?;
            let (name, after) = placeholder.split_once('}')?;
            // A name ends where the text after it begins; the last one ends with the path.
            let fixed = after.split('{').next().unwrap_or_default();
            let length = if fixed.len() < after.len() {
                rest.find(fixed)?
            } else {
                rest.len().checked_sub(fixed.len())?
            };
            let value = rest.get(..length).filter(|value| is_name(value))?;
            match name {
                "case" => matched.case = Some(value),
                _ => matched.sample = value,
            }
            rest = &rest[length..];
            pattern = after;
        }
        (rest == pattern).then_some(matched)
    }
}

impl AttemptNames {
    /// The file next to the attempts with the digests of their recording.
    pub const PROVENANCE: &str = "provenance.json";

    fn new(text: &str) -> Option<Self> {
        let (start, end) = text.split_once('*')?;
        let is_plain = !text.contains(['/', '{', '}']) && !end.contains('*');
        is_plain.then(|| Self {
            start: start.to_owned(),
            end: end.to_owned(),
        })
    }

    /// The folder and the names of the attempts of a recording; `None` if it is a file.
    pub fn of_recording(recording: &RepoPath) -> Option<(RepoPath, Self)> {
        Some((recording.parent(), Self::new(recording.name())?))
    }

    /// The part of a folder's name that differs from attempt to attempt; `None` for another name.
    pub fn varying<'n>(&self, name: &'n str) -> Option<&'n str> {
        let rest = name.strip_prefix(&*self.start)?.strip_suffix(&*self.end)?;
        is_name(rest).then_some(rest)
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.contains(['/', '*'])
}

impl fmt::Display for AttemptNames {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}*{}", self.start, self.end)
    }
}

impl fmt::Display for RecordingPlace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => out.write_str(folder.as_str()),
            Self::Pattern(RecordingPattern {
                root,
                below,
                attempts,
            }) => {
                if *root != RepoPath::root() {
                    write!(out, "{}/", root.as_str())?;
                }
                out.write_str(below)?;
                match attempts {
                    Some(names) => write!(out, "/{names}"),
                    None => Ok(()),
                }
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
            ("{case}-{sample}.json", "", "lease-*.json", None),
            ("out/{agent}.json", "out", "legal.json", Some(("", ""))),
            ("out/{agent}.json", "out", "legal.json.json", None),
        ];
        let agent = AgentName::new("legal").unwrap();
        for (text, root, file, expected) in table {
            let RecordingPlace::Pattern(pattern) = place(text).unwrap() else {
                panic!("{text} is a pattern");
            };
            assert_eq!(pattern.root().as_str(), root, "{text}");
            let matched = pattern.matched(&agent, file);
            let matched = matched.map(|found| (found.case.unwrap_or_default(), found.sample));
            assert_eq!(matched, expected, "{text} {file}");
            assert_eq!(place(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_file_of_an_attempt_is_a_part_of_its_recording() {
        let place = place("out/{sample}/{agent}").unwrap();
        let place = place.with_attempts("attempt_*").unwrap();
        assert_eq!(place.to_string(), "out/{sample}/{agent}/attempt_*");
        let RecordingPlace::Pattern(pattern) = place else {
            panic!("it is a pattern");
        };
        let agent = AgentName::new("legal").unwrap();
        for (path, expected) in [
            ("7/legal/attempt_2/critic.json", Some("7")),
            ("7/legal/attempt_/critic.json", None),
            ("7/legal/notes/critic.json", None),
            ("7/legal/critic.json", None),
            ("7/finance/attempt_2/critic.json", None),
        ] {
            let matched = pattern.matched(&agent, path);
            assert_eq!(
                matched.as_ref().map(|found| found.sample),
                expected,
                "{path}"
            );
            let file = matched.map(|found| found.file.to_string());
            let of_recording = "out/7/legal/attempt_*".to_owned();
            assert_eq!(file, expected.map(|_| of_recording), "{path}");
        }
    }

    #[test]
    fn the_digests_of_attempts_are_a_part_of_their_recording() {
        let place = place("out/{agent}").unwrap();
        let RecordingPlace::Pattern(pattern) = place.with_attempts("attempt_*").unwrap() else {
            panic!("it is a pattern");
        };
        let agent = AgentName::new("legal").unwrap();
        for (path, is_part) in [
            ("out/legal/provenance.json", true),
            ("out/legal/attempt_1/critic.json", true),
            ("out/legal/summary.json", false),
            ("out/finance/provenance.json", false),
        ] {
            let file = RepoPath::root().join(path).unwrap();
            assert_eq!(
                pattern.recording(&agent, &file).is_some(),
                is_part,
                "{path}"
            );
        }
        // They alone are not a recording.
        assert_eq!(pattern.matched(&agent, "legal/provenance.json"), None);
    }

    #[test]
    fn braces_that_are_no_pattern_are_refused() {
        for text in [
            "out/{model}/{case}.json",
            "out/{case}/{case}.json",
            "out/*/{case}.json",
        ] {
            assert_eq!(place(text), Err(BadPattern::Placeholder), "{text}");
        }
        for names in ["attempt", "*_*", "a/*", "*{case}"] {
            let place = place("out/{agent}").unwrap();
            assert_eq!(
                place.with_attempts(names),
                Err(BadPattern::Attempts),
                "{names}"
            );
        }
        let folder = place("runs").unwrap();
        assert_eq!(folder.with_attempts("*"), Err(BadPattern::Attempts));
        let folder = RepoPath::root().child("runs");
        assert_eq!(place("runs"), Ok(RecordingPlace::Folder(folder)));
    }
}

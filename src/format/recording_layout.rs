//! Where recordings are: `{agent}/{case}.json` in a folder of recordings, or `{agent}/{case}/{sample}.json` with a file for each sample.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::{Code, Diagnostic, ReadFailure};
use crate::files::{Entry, EntryKind, Files, all_files_below};
use crate::model::{AgentName, CaseId, MatchedRecording, RecordingPattern, RepoPath};

/// Sample numbers are below this one.
pub const SAMPLE_NUMBERS: u32 = 1000;

/// The paths of the recordings of one case of one agent.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordingPaths {
    agent_folder: RepoPath,
    case: String,
}

impl RecordingPaths {
    pub fn new(recordings: &RepoPath, agent: &AgentName, case: &CaseId) -> Self {
        Self::in_agent_folder(recordings.child(agent.as_str()), case.as_str())
    }

    /// The paths in an agent's folder.
    pub fn in_agent_folder(agent_folder: RepoPath, case: &str) -> Self {
        Self {
            agent_folder,
            case: case.to_owned(),
        }
    }

    pub fn agent_folder(&self) -> &RepoPath {
        &self.agent_folder
    }

    /// The file of a case with one sample.
    pub fn single(&self) -> RepoPath {
        self.agent_folder.child(&json_name(&self.case))
    }

    /// The folder of a case with a file for each sample.
    pub fn folder(&self) -> RepoPath {
        self.agent_folder.child(&self.case)
    }

    pub fn sample(&self, sample: u32) -> RepoPath {
        self.folder().child(&sample_name(sample))
    }

    /// Lists the recordings with their sample numbers, in both layouts. Other files are ignored: a replay reports them.
    ///
    /// # Errors
    /// A folder that cannot be listed, such as a link.
    pub fn list(&self, files: &dyn Files) -> Result<Vec<(u32, RepoPath)>, Diagnostic> {
        let single = json_name(&self.case);
        let mut recordings = Vec::new();
        for entry in entries_if_any(files, &self.agent_folder)? {
            if entry.name == single && entry.kind == EntryKind::File {
                recordings.push((0, self.single()));
            }
            if entry.name == self.case && entry.kind == EntryKind::Folder {
                let folder = self.folder();
                for sample in entries_if_any(files, &folder)? {
                    if sample.kind == EntryKind::File
                        && let Some(number) = sample_number(&sample.name)
                    {
                        recordings.push((number, folder.child(&sample.name)));
                    }
                }
            }
        }
        recordings.sort();
        Ok(recordings)
    }
}

/// The entries of a folder; none if it is missing.
fn entries_if_any(files: &dyn Files, folder: &RepoPath) -> Result<Vec<Entry>, Diagnostic> {
    match files.list(folder) {
        Err(problem) if problem.is_read_failure(ReadFailure::MissingFolder) => Ok(Vec::new()),
        listed => listed,
    }
}

/// A recording, by case and sample.
pub type PlacedRecordings = BTreeMap<(String, u32), RepoPath>;

/// The recordings of an agent that a pattern names. The texts that number samples are numbered from 0 in their order, over all cases of the agent,
/// so that a case without one of them has a lost sample. Where the pattern does not say the case, they are of the only one of these.
///
/// # Errors
/// A folder that cannot be listed, and recordings without a case in a suite with several.
pub fn patterned(
    files: &dyn Files,
    pattern: &RecordingPattern,
    agent: &AgentName,
    cases: &BTreeSet<CaseId>,
) -> Result<PlacedRecordings, Diagnostic> {
    let below = all_files_below(files, pattern.root())?;
    let matched: Vec<MatchedRecording<'_>> = below
        .keys()
        .filter_map(|inner| pattern.matched(agent, inner))
        .collect();
    let mut samples: Vec<&str> = matched.iter().map(|recording| recording.sample).collect();
    samples.sort_by_key(|text| in_number_order(text));
    samples.dedup();
    let numbers: BTreeMap<&str, u32> = samples.into_iter().zip(0..SAMPLE_NUMBERS).collect();
    let mut placed = PlacedRecordings::new();
    for MatchedRecording { case, sample, file } in matched {
        let Some(number) = numbers.get(sample) else {
            continue;
        };
        let case = match (case, cases.first()) {
            (Some(case), _) => case.to_owned(),
            (None, Some(only)) if cases.len() == 1 => only.to_string(),
            (None, _) => return Err(without_case(&file, cases.len())),
        };
        placed.insert((case, *number), file);
    }
    Ok(placed)
}

/// The problem of a recording whose path does not say which of several cases it is of.
fn without_case(file: &RepoPath, cases: usize) -> Diagnostic {
    let description = format!("this recording is of one case, but the suite has {cases}");
    let help = "write {case} in the pattern of replay, or a suite for each case";
    Diagnostic::of_file(file, Code::BAD_PATH, description, help)
}

/// The order of texts that number something: by their number, then by their letters.
pub fn in_number_order(text: &str) -> (u64, &str) {
    (text.parse().unwrap_or(u64::MAX), text)
}

/// The sample number in the name of a file: `0.json` to `999.json`, without leading zeros.
pub fn sample_number(name: &str) -> Option<u32> {
    let stem = name.strip_suffix(".json")?;
    stem.parse()
        .ok()
        .filter(|number: &u32| *number < SAMPLE_NUMBERS && number.to_string() == stem)
}

pub fn sample_name(sample: u32) -> String {
    json_name(&sample.to_string())
}

/// The case and sample number of a recording by its path in the agent's folder; `None` for paths that a replay does not read.
pub fn case_and_sample(path: &str) -> Option<(&str, u32)> {
    let (case, sample) = match path.split_once('/') {
        None => (path.strip_suffix(".json")?, 0),
        Some((case, name)) => (case, sample_number(name)?),
    };
    (!case.starts_with('.')).then_some((case, sample))
}

fn json_name(stem: &str) -> String {
    format!("{stem}.json")
}

#[cfg(test)]
mod tests {
    use super::{case_and_sample, sample_number};

    #[test]
    fn a_sample_has_one_name() {
        for (name, number) in [
            ("0.json", Some(0)),
            ("999.json", Some(999)),
            ("1000.json", None),
            ("007.json", None),
            ("+7.json", None),
            ("7.JSON", None),
            ("7", None),
        ] {
            assert_eq!(sample_number(name), number, "{name}");
        }
    }

    #[test]
    fn a_path_names_a_case_and_a_sample_in_both_layouts() {
        for (path, expected) in [
            ("lease.json", Some(("lease", 0))),
            ("lease/0.json", Some(("lease", 0))),
            ("lease/12.json", Some(("lease", 12))),
            ("lease/012.json", None),
            ("lease/more/1.json", None),
            (".lease.json", None),
            (".lease/1.json", None),
            ("README.md", None),
        ] {
            assert_eq!(case_and_sample(path), expected, "{path}");
        }
    }
}

//! The digest of an agent's files, which a recording states: [`AgentState`]. It does not depend on where a folder of them is.

use std::collections::BTreeSet;

use crate::diag::{Code, Diagnostic};
use crate::files::{Files, escaped_name, files_below, is_lfs_pointer, sha256_hex};
use crate::golden_changes::files_of_pattern;
use crate::model::{Agent, PathGlob, RepoPath};
use crate::text::first_of;

/// The files that define an agent, as they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentState {
    /// It names its files.
    Files(AgentFilesState),
    /// It names none; with the reason, if the config gives one.
    Unnamed(Option<String>),
}

/// The files of an agent, and their digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFilesState {
    /// The digest.
    pub sha256: String,
    /// The files for messages: patterns, and the path of the prompt.
    pub named: String,
    /// The files themselves.
    pub files: BTreeSet<RepoPath>,
    /// The digests of their contents, sorted.
    pub contents: Vec<String>,
    /// The first of them that is a Git LFS pointer.
    pub pointer: Option<RepoPath>,
    /// The patterns that no file of the agent fits.
    pub unused: Vec<String>,
}

impl AgentState {
    /// The state of an agent's files: those that `fingerprint` names, pattern by pattern, then those of its prompt.
    ///
    /// # Errors
    /// A file or folder that cannot be read.
    pub fn of(files: &dyn Files, agent: &Agent) -> Result<Self, Diagnostic> {
        if agent.fingerprint.is_empty() && agent.prompt.is_none() {
            return Ok(Self::Unnamed(agent.no_fingerprint.clone()));
        }
        let mut list = AgentFileList::new(files);
        for glob in &agent.fingerprint {
            let added = list.add_pattern(agent, glob);
            added.map_err(|problem| named_by(problem, glob.as_str()))?;
        }
        if let Some(prompt) = &agent.prompt {
            let added = list.add_prompt(prompt);
            added.map_err(|problem| named_by(problem, prompt.as_str()))?;
        }
        Ok(Self::Files(list.state()))
    }

    /// The state of an agent's files for a recording that is to state their digest: all of them are there. `who` is `suite/agent`.
    ///
    /// # Errors
    /// A file or folder that cannot be read, a pointer in place of a file, or a list without files. A digest would say nothing of the agent.
    pub fn of_present_files(
        files: &dyn Files,
        config: &RepoPath,
        who: &str,
        agent: &Agent,
    ) -> Result<Self, Diagnostic> {
        let state = Self::of(files, agent).map_err(|problem| about_files_of(who, problem))?;
        if let Some(message) = state.no_file() {
            let problem =
                Diagnostic::of_file(config, Code::MISSING_FILE, message, CORRECT_PATTERNS);
            return Err(about_files_of(who, problem));
        }
        if let Some(pointer) = state.pointer() {
            let problem =
                Diagnostic::of_file(pointer, Code::LFS_POINTER, POINTER, GET_POINTER_TARGET);
            return Err(about_files_of(who, problem));
        }
        Ok(state)
    }

    /// Says that the list names no file: a change of the agent would not be seen.
    pub fn no_file(&self) -> Option<String> {
        match self {
            Self::Files(state) if state.files.is_empty() => {
                Some(format!("no file matches {}", state.named))
            }
            Self::Files(_) | Self::Unnamed(_) => None,
        }
    }

    /// The first file that is a Git LFS pointer.
    pub fn pointer(&self) -> Option<&RepoPath> {
        match self {
            Self::Files(state) => state.pointer.as_ref(),
            Self::Unnamed(_) => None,
        }
    }

    /// The digest; `None` if the agent names no files.
    pub fn sha256(&self) -> Option<&str> {
        match self {
            Self::Files(state) => Some(&state.sha256),
            Self::Unnamed(_) => None,
        }
    }
}

/// What to do if no file matches a list.
pub const CORRECT_PATTERNS: &str = "correct the patterns";

const POINTER: &str = "this is a Git LFS pointer, not the file itself";

const GET_POINTER_TARGET: &str = "get it with `git lfs pull` (`lfs: true` of actions/checkout)";

/// The problem of a file, with the pattern that names it.
fn named_by(problem: Diagnostic, pattern: &str) -> Diagnostic {
    Diagnostic {
        what: format!("{} (`{pattern}`)", problem.what),
        ..problem
    }
}

/// Collects the files of an agent in the order of its list.
struct AgentFileList<'a> {
    files: &'a dyn Files,
    /// A line for each file: the digest of its content, and its path below the fixed part of its pattern.
    lines: String,
    named: Vec<String>,
    listed: BTreeSet<RepoPath>,
    contents: Vec<String>,
    pointer: Option<RepoPath>,
    unused: Vec<String>,
}

impl<'a> AgentFileList<'a> {
    fn new(files: &'a dyn Files) -> Self {
        Self {
            files,
            lines: String::new(),
            named: Vec::new(),
            listed: BTreeSet::new(),
            contents: Vec::new(),
            pointer: None,
            unused: Vec::new(),
        }
    }

    fn add_pattern(&mut self, agent: &Agent, glob: &PathGlob) -> Result<(), Diagnostic> {
        let named = files_of_pattern(self.files, agent, glob)?;
        if named.is_empty() {
            self.unused.push(glob.as_str().to_owned());
        }
        self.named.push(glob.as_str().to_owned());
        for file in named {
            let inner = match glob.file() {
                Some(_) => "",
                None => below(&file, glob.folder()),
            };
            self.add(&file, inner)?;
        }
        Ok(())
    }

    fn add_prompt(&mut self, prompt: &RepoPath) -> Result<(), Diagnostic> {
        let below_prompt = files_below(self.files, prompt)?;
        if below_prompt.is_empty() {
            self.unused.push(prompt.to_string());
        }
        self.named.push(prompt.to_string());
        for file in below_prompt.values() {
            self.add(file, below(file, prompt))?;
        }
        Ok(())
    }

    fn add(&mut self, file: &RepoPath, inner: &str) -> Result<(), Diagnostic> {
        let bytes = self.files.bytes(file)?;
        if self.pointer.is_none() && is_lfs_pointer(&bytes) {
            self.pointer = Some(file.clone());
        }
        let digest = sha256_hex(&without_line_ends(&bytes));
        self.lines
            .push_str(&format!("{digest}  {}\n", escaped_name(inner)));
        self.contents.push(digest);
        self.listed.insert(file.clone());
        Ok(())
    }

    fn state(mut self) -> AgentFilesState {
        self.contents.sort();
        AgentFilesState {
            sha256: sha256_hex(self.lines.as_bytes()),
            named: first_of(&self.named),
            files: self.listed,
            contents: self.contents,
            pointer: self.pointer,
            unused: self.unused,
        }
    }
}

/// The path of a file below a folder; empty for the folder's own path.
fn below<'f>(file: &'f RepoPath, folder: &RepoPath) -> &'f str {
    let inner = file.as_str().strip_prefix(folder.as_str());
    inner.unwrap_or(file.as_str()).trim_start_matches('/')
}

fn about_files_of(who: &str, problem: Diagnostic) -> Diagnostic {
    Diagnostic {
        what: format!("files of `{who}`: {}", problem.what),
        ..problem
    }
}

/// A text with line feeds alone and without blanks at the ends of its lines; other bytes as they are.
fn without_line_ends(bytes: &[u8]) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return bytes.to_vec();
    };
    if text.contains('\0') {
        return bytes.to_vec();
    }
    let lines = text.split('\n').map(|line| {
        let line = line.strip_suffix('\r').unwrap_or(line);
        line.trim_end_matches([' ', '\t'])
    });
    lines.collect::<Vec<_>>().join("\n").into_bytes()
}

/// The digest of all files of a folder, by path and content.
///
/// # Errors
/// A file that cannot be read.
#[cfg(feature = "models")]
pub fn of_folder(files: &dyn Files) -> Result<String, Diagnostic> {
    let mut list = AgentFileList::new(files);
    for (inner, file) in files_below(files, &RepoPath::root())? {
        list.add(&file, &inner)?;
    }
    Ok(list.state().sha256)
}

#[cfg(test)]
mod tests {
    use super::AgentState;
    use crate::diag::Diagnostic;
    use crate::files::{Entry, Files, OverlayFiles};
    use crate::model::{Agent, PathGlob, RepoPath};

    /// A folder without files.
    struct Nothing;

    impl Files for Nothing {
        fn list_all(&self, _: &RepoPath) -> Result<Vec<Entry>, Diagnostic> {
            Ok(Vec::new())
        }

        fn bytes(&self, file: &RepoPath) -> Result<Vec<u8>, Diagnostic> {
            unreachable!("{file} is not there")
        }
    }

    fn digest(patterns: &[&str], prompt: Option<&str>, contents: &[(&str, &str)]) -> String {
        let mut files = OverlayFiles::over(&Nothing);
        for (path, text) in contents {
            files.put(RepoPath::root().below(path), text);
        }
        let root = RepoPath::root();
        let globs = patterns.iter().map(|text| PathGlob::new(&root, text));
        let agent = Agent {
            fingerprint: globs.collect::<Result<_, _>>().unwrap(),
            prompt: prompt.map(|path| root.below(path)),
            ..Agent::default()
        };
        let state = AgentState::of(&files as &dyn Files, &agent).unwrap();
        state.sha256().unwrap().to_owned()
    }

    #[test]
    fn the_place_of_a_folder_and_the_form_of_lines_do_not_count() {
        let here = digest(
            &["prompts/**"],
            None,
            &[("prompts/a.md", "one\ntwo\n"), ("prompts/in/b.md", "b")],
        );
        for (patterns, contents) in [
            (
                ["texts/**"],
                [("texts/a.md", "one\ntwo\n"), ("texts/in/b.md", "b")],
            ),
            (
                ["prompts/**"],
                [
                    ("prompts/a.md", "one  \r\ntwo\t\n"),
                    ("prompts/in/b.md", "b"),
                ],
            ),
        ] {
            assert_eq!(digest(&patterns, None, &contents), here, "{patterns:?}");
        }
        for contents in [
            [("prompts/a.md", "one\ntwo"), ("prompts/in/b.md", "b")],
            [("prompts/a.md", "one\ntwo\n"), ("prompts/out/b.md", "b")],
            [("prompts/a.md", " one\ntwo\n"), ("prompts/in/b.md", "b")],
        ] {
            assert_ne!(
                digest(&["prompts/**"], None, &contents),
                here,
                "{contents:?}"
            );
        }
    }

    #[test]
    fn the_order_of_the_list_counts_and_a_file_may_be_renamed() {
        let contents = [("a.md", "a"), ("b.md", "b"), ("p/c.md", "c")];
        let both = digest(&["a.md", "b.md"], None, &contents);
        assert_ne!(digest(&["b.md", "a.md"], None, &contents), both);
        assert_eq!(
            digest(&["x.md", "b.md"], None, &[("x.md", "a"), ("b.md", "b")]),
            both
        );
        // A list and then a prompt are the same as one list of both.
        let with_prompt = digest(&["a.md"], Some("p"), &contents);
        assert_eq!(digest(&["a.md", "p/**"], None, &contents), with_prompt);
        assert_ne!(digest(&["a.md"], None, &contents), with_prompt);
    }
}

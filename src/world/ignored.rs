//! The files that git ignores: no commit contains them, and another clone does not have them.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::{Mutex, PoisonError};

use super::git_command::git_command;
use crate::model::RepoPath;

/// Which files of a repository git ignores. Without git, none.
#[derive(Default)]
pub(super) struct IgnoredFiles(Mutex<Answers>);

/// The answers so far, and the git that gives more of them.
#[derive(Default)]
struct Answers {
    known: HashMap<RepoPath, bool>,
    /// The folders whose files git answers for.
    folders: HashMap<RepoPath, bool>,
    asked: Asked,
}

/// The git program that answers.
#[derive(Default)]
enum Asked {
    /// It is not started yet.
    #[default]
    NotYet,
    /// It answers one path after the other.
    Running(IgnoreCheck),
    /// It cannot be started, or it ended.
    Failed,
}

impl IgnoredFiles {
    /// Whether git ignores a file of the repository at this folder. A file that is in the index is never ignored, nor one behind a link or
    /// in a repository inside this one, such as a submodule.
    pub(super) fn has(&self, repository: &Path, file: &RepoPath) -> bool {
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = answers.known.get(file) {
            return *known;
        }
        let is_ignored = answers.is_of_repository(repository, &file.parent()) && answers.ask(repository, file);
        answers.known.insert(file.clone(), is_ignored);
        is_ignored
    }
}

impl Answers {
    /// Whether a folder is part of the repository itself. Git ends at a path behind a link or in another repository.
    fn is_of_repository(&mut self, repository: &Path, folder: &RepoPath) -> bool {
        if folder.as_str().is_empty() {
            return true;
        }
        if let Some(known) = self.folders.get(folder) {
            return *known;
        }
        let place = repository.join(folder.as_str());
        let is_plain = !place.is_symlink() && !place.join(".git").exists();
        let is_part = is_plain && self.is_of_repository(repository, &folder.parent());
        self.folders.insert(folder.clone(), is_part);
        is_part
    }

    fn ask(&mut self, repository: &Path, file: &RepoPath) -> bool {
        if matches!(self.asked, Asked::NotYet) {
            self.asked = IgnoreCheck::start(repository).map_or(Asked::Failed, Asked::Running);
        }
        let answer = match &mut self.asked {
            Asked::Running(check) => check.answer(file),
            Asked::NotYet | Asked::Failed => None,
        };
        if answer.is_none() {
            self.asked = Asked::Failed;
        }
        answer.unwrap_or(false)
    }
}

/// `git check-ignore`, which reads paths and says for each whether a pattern fits it.
struct IgnoreCheck {
    child: Child,
    paths: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl IgnoreCheck {
    fn start(repository: &Path) -> Option<Self> {
        let arguments = ["check-ignore", "--stdin", "--verbose", "--non-matching", "-z"];
        let mut child = git_command(repository).args(arguments).stdin(Stdio::piped()).spawn().ok()?;
        let (paths, answers) = (child.stdin.take()?, BufReader::new(child.stdout.take()?));
        Some(Self { child, paths, answers })
    }

    /// Whether a pattern fits the path; `None` if git ended.
    fn answer(&mut self, file: &RepoPath) -> Option<bool> {
        write!(self.paths, "{file}\0").and_then(|()| self.paths.flush()).ok()?;
        // The file of the pattern, its line, the pattern, and the path. A pattern that starts with `!` takes files in again.
        let fields = [self.field()?, self.field()?, self.field()?, self.field()?];
        let [_, _, pattern, _] = fields;
        Some(!pattern.is_empty() && !pattern.starts_with(b"!"))
    }

    fn field(&mut self) -> Option<Vec<u8>> {
        let mut field = Vec::new();
        self.answers.read_until(0, &mut field).ok()?;
        (field.pop() == Some(0)).then_some(field)
    }
}

impl Drop for IgnoreCheck {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

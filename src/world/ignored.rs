//! The files that git ignores: no commit contains them, and another clone does not have them.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::git_command::{TIMEOUTS, git_command, git_output};
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
    /// The files in git's index, once they are needed; `None` if git does not list them.
    index: Option<Option<HashSet<Vec<u8>>>>,
}

/// The git program that answers.
#[derive(Default)]
enum Asked {
    /// It is not started yet.
    #[default]
    NotYet,
    /// It answers one path after the other.
    Running(IgnoreCheck),
    /// It cannot be started, it ended, or it does not answer.
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
        let is_ignored =
            answers.is_of_repository(repository, &file.parent()) && answers.ask(repository, file);
        answers.known.insert(file.clone(), is_ignored);
        is_ignored
    }

    /// Whether git's index lacks a file of the repository. That of files behind a link or in a repository inside this one is not known.
    pub(super) fn is_untracked(&self, repository: &Path, file: &RepoPath) -> bool {
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_part = answers.is_of_repository(repository, &file.parent());
        let listed = answers.index.get_or_insert_with(|| {
            let listed = git_output(repository, &["ls-files", "-z"]).ok()?;
            Some(
                listed
                    .split(|byte| *byte == 0)
                    .map(<[u8]>::to_vec)
                    .collect(),
            )
        });
        is_part
            && listed
                .as_ref()
                .is_some_and(|index| !index.contains(file.as_str().as_bytes()))
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
            self.asked =
                IgnoreCheck::start(repository, TIMEOUTS).map_or(Asked::Failed, Asked::Running);
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
    /// Whether a pattern fits each path, in order.
    answers: Receiver<bool>,
    patience: Duration,
}

impl IgnoreCheck {
    fn start(repository: &Path, patience: Duration) -> Option<Self> {
        let arguments = [
            "check-ignore",
            "--stdin",
            "--verbose",
            "--non-matching",
            "-z",
        ];
        let mut child = git_command(repository)
            .args(arguments)
            .stdin(Stdio::piped())
            .spawn()
            .ok()?;
        let (paths, out) = (child.stdin.take()?, BufReader::new(child.stdout.take()?));
        let (sender, answers) = channel();
        let check = Self {
            child,
            paths,
            answers,
            patience,
        };
        let started = thread::Builder::new().spawn(move || {
            let mut out = out;
            while let Some(is_ignored) = next_answer(&mut out) {
                if sender.send(is_ignored).is_err() {
                    return;
                }
            }
        });
        started.ok()?;
        Some(check)
    }

    /// Whether a pattern fits the path; `None` if git ended, or takes too long: one of its own files may be a pipe without a writer.
    fn answer(&mut self, file: &RepoPath) -> Option<bool> {
        write!(self.paths, "{file}\0")
            .and_then(|()| self.paths.flush())
            .ok()?;
        self.answers.recv_timeout(self.patience).ok()
    }
}

/// The next answer of git; `None` if it ended.
fn next_answer(out: &mut BufReader<ChildStdout>) -> Option<bool> {
    let _file = next_field(out)?;
    let _line = next_field(out)?;
    let pattern = next_field(out)?;
    let _path = next_field(out)?;
    // A pattern that starts with `!` takes files in again.
    Some(!pattern.is_empty() && !pattern.starts_with(b"!"))
}

fn next_field(out: &mut BufReader<ChildStdout>) -> Option<Vec<u8>> {
    let mut field = Vec::new();
    out.read_until(0, &mut field).ok()?;
    (field.pop() == Some(0)).then_some(field)
}

impl Drop for IgnoreCheck {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;
    use std::time::Duration;

    use super::IgnoreCheck;
    use crate::model::RepoPath;

    #[test]
    #[cfg(unix)]
    fn a_git_that_never_answers_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let made = |program: &str, arguments: &[&str]| {
            let status = Command::new(program)
                .args(arguments)
                .current_dir(folder.path())
                .status()
                .unwrap();
            assert!(status.success(), "{program} {arguments:?}");
        };
        made("git", &["init", "--quiet"]);
        fs::write(folder.path().join(".gitignore"), "*.log\n").unwrap();
        let answers = |patience: Duration| {
            let mut check = IgnoreCheck::start(folder.path(), patience).unwrap();
            ["a.log", "a.md"].map(|file| check.answer(&RepoPath::root().child(file)))
        };
        assert_eq!(answers(Duration::from_secs(60)), [Some(true), Some(false)]);
        fs::remove_file(folder.path().join(".git/HEAD")).unwrap();
        made("mkfifo", &[".git/HEAD"]);
        assert_eq!(answers(Duration::from_millis(200))[0], None);
    }
}

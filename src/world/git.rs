//! Reads the checked-out commit and the user's name from git's own files, because the image has no git. Files of other commits
//! come from the git program, if there is one.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;

use anyhow::Context;

use super::disk::Disk;
use super::edited::EditedFiles;
use super::env::Env;
use super::git_command::{TIMEOUTS, git_command, git_output};
use super::objects::{Depth, Listing, NodeKind, Objects, SUBMODULE_MODE, Submodule, TreeNode};
use crate::model::{InputLimit, RepoPath};

/// The commit of `HEAD`; `None` if the repository has no commit.
pub fn head_commit(disk: &Disk) -> Option<String> {
    let git = RepoPath::root().child(".git");
    // A plain repository can be read without git. Linked work trees, where `.git` is a file, and other reference formats need
    // git.
    plain_head(disk, &git).or_else(|| disk.holds(&git).then(|| Git::of(disk).head()).flatten())
}

fn plain_head(disk: &Disk, git: &RepoPath) -> Option<String> {
    let head = git_text(disk, git, "HEAD")?;
    let Some(reference) = head.trim().strip_prefix("ref: ") else {
        return commit(&head);
    };
    if let Some(direct) = git_text(disk, git, reference) {
        return commit(&direct);
    }
    let packed = git_text(disk, git, "packed-refs")?;
    packed
        .lines()
        .filter_map(|line| line.split_once(' '))
        .find(|(_, name)| *name == reference)
        .and_then(|(id, _)| commit(id))
}

/// A text file of the folder `.git`.
fn git_text(disk: &Disk, git: &RepoPath, path: &str) -> Option<String> {
    let bytes = disk.read(&git.join(path).ok()?).ok()?;
    String::from_utf8(bytes).ok()
}

fn commit(text: &str) -> Option<String> {
    let id = text.trim();
    (matches!(id.len(), 40 | 64) && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
        .then(|| id.to_owned())
}

/// The user's name: `GIT_AUTHOR_NAME`, otherwise `user.name` from the repository's config, otherwise from the user's config.
pub fn user_name(disk: &Disk, env: &Env) -> Option<String> {
    let repository_config = disk
        .read(&RepoPath::root().child(".git").child("config"))
        .ok();
    let stated = env.get("GIT_AUTHOR_NAME").map(str::to_owned);
    stated
        .or_else(|| name_of(&repository_config?))
        .or_else(|| name_of(&home_file(env, ".gitconfig")?))
        .or_else(|| name_of(&home_file(env, ".config/git/config")?))
}

fn home_file(env: &Env, path: &str) -> Option<Vec<u8>> {
    let home = env.get("HOME")?;
    std::fs::read(Path::new(home).join(path)).ok()
}

/// Whether only a part of the commit's files is checked out.
pub fn is_sparse(disk: &Disk) -> bool {
    ["config", "config.worktree"].into_iter().any(|name| {
        let config = disk.read(&RepoPath::root().child(".git").child(name));
        config.is_ok_and(|config| {
            String::from_utf8_lossy(&config)
                .lines()
                .any(sets_sparse_checkout)
        })
    })
}

fn sets_sparse_checkout(line: &str) -> bool {
    line.split_once('=').is_some_and(|(key, value)| {
        key.trim().eq_ignore_ascii_case("sparsecheckout")
            && value.trim().eq_ignore_ascii_case("true")
    })
}

/// `name` in the section `[user]`; the last one counts, as in git.
fn name_of(config: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(config);
    let (mut inside, mut name) = (false, None);
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            inside = line.eq_ignore_ascii_case("[user]");
        } else if let Some((key, value)) = line.split_once('=').filter(|_| inside)
            && key.trim().eq_ignore_ascii_case("name")
        {
            name = Some(value.trim().trim_matches('"').to_owned());
        }
    }
    name.filter(|name| !name.is_empty())
}

/// Why a commit's objects can be missing, and the remedy. Git would fetch them, but no remote is contacted.
const PARTIAL_CLONE: &str = "this clone was made with `--filter` and lacks files; `git fetch --refetch --no-filter origin` gets them";

/// What to do about a commit that is not in this clone.
fn fetching(name: &str, is_shallow: bool) -> String {
    let deeper = if is_shallow { " --unshallow" } else { "" };
    match name.strip_prefix("origin/") {
        Some(branch) => format!("fetch the branch: `git fetch{deeper} origin {branch}:refs/remotes/{name}`"),
        None if is_shallow => {
            "if it exists, fetch it: `git fetch --unshallow`, or `fetch-depth: 0` of actions/checkout; then name it `origin/BRANCH`".to_owned()
        }
        None => "`git branch --all` lists the branches".to_owned(),
    }
}

/// The installed git program, for commits of one repository. It runs no hook, filter or file monitor, contacts no remote, and
/// reads only the repository's own configuration.
pub struct Git {
    root: PathBuf,
    // One request at a time: `git cat-file --batch` answers in order.
    batch: Mutex<Option<Batch>>,
}

struct Batch {
    child: Child,
    answers: BufReader<std::process::ChildStdout>,
}

impl Drop for Batch {
    fn drop(&mut self) {
        // It ends when its input is closed; kill it so that a hanging git cannot block this process.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Git {
    /// Git for the repository of these files. A folder that only looks like a repository, such as a committed bare one, is never
    /// used.
    pub fn of(disk: &Disk) -> Self {
        Self::at(disk.place())
    }

    /// Git for the repository whose root is this folder.
    pub(super) fn at(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            batch: Mutex::new(None),
        }
    }

    /// Whether the index has a submodule at a path.
    ///
    /// # Errors
    /// Git is missing, or cannot read the index.
    pub(super) fn has_submodule(&self, path: &Path) -> anyhow::Result<bool> {
        let path = path.to_str().context("the path is not UTF-8")?;
        let out = self.answer(&[
            "--literal-pathspecs",
            "ls-files",
            "--stage",
            "-z",
            "--",
            path,
        ])?;
        // For a folder with files, the list has these files, which have other modes.
        Ok(String::from_utf8_lossy(&out)
            .split('\0')
            .any(|line| line.starts_with(SUBMODULE_MODE)))
    }

    /// The commit id of a revision name. A name shared by a branch and a tag is rejected as ambiguous.
    ///
    /// # Errors
    /// The commit does not exist, the name is ambiguous, or git is missing.
    pub fn commit(&self, name: &str) -> anyhow::Result<String> {
        self.reject_ambiguous(name)?;
        let wanted = format!("{name}^{{commit}}");
        let out = self
            .answer(&[
                "rev-parse",
                "--verify",
                "--quiet",
                "--end-of-options",
                &wanted,
            ])
            .with_context(|| {
                format!(
                    "{name}: git does not know this commit here; {}",
                    fetching(name, self.is_shallow())
                )
            })?;
        commit(&String::from_utf8_lossy(&out))
            .with_context(|| format!("{name}: git's answer is not a commit id"))
    }

    /// The checked-out commit, from git; `None` if git fails.
    fn head(&self) -> Option<String> {
        let out = self
            .answer(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
            .ok()?;
        commit(&String::from_utf8_lossy(&out))
    }

    /// The merge base of `HEAD` and `tip`; `tip` itself if it is an ancestor of `HEAD`, or if there is none.
    ///
    /// # Errors
    /// The clone is shallow and does not contain the merge base.
    pub fn fork_point(&self, tip: &str) -> anyhow::Result<String> {
        let out = self.answer(&["merge-base", "--end-of-options", "HEAD", tip]);
        let fork_point = out
            .ok()
            .and_then(|out| commit(&String::from_utf8_lossy(&out)));
        anyhow::ensure!(
            fork_point.is_some() || !self.is_shallow(),
            "this clone is shallow, so where this branch began is not known; fetch it: `git fetch --unshallow`"
        );
        Ok(fork_point.unwrap_or_else(|| tip.to_owned()))
    }

    /// Whether only the newest commits are here; `false` if that is not known.
    pub fn is_shallow(&self) -> bool {
        let out = self.answer(&["rev-parse", "--is-shallow-repository"]);
        out.is_ok_and(|out| String::from_utf8_lossy(&out).trim() == "true")
    }

    /// Rejects a name that matches several references, or a reference and a commit id.
    fn reject_ambiguous(&self, name: &str) -> anyhow::Result<()> {
        let short = name.split(['~', '^', '@', ':']).next().unwrap_or(name);
        let is_plain =
            !short.is_empty() && !short.starts_with('-') && !short.contains(['*', '?', '[', '\\']);
        if !is_plain {
            return Ok(());
        }
        let forms = ["", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/"]
            .map(|form| format!("{form}{short}"));
        let patterns = forms
            .iter()
            .filter(|form| form.starts_with("refs/"))
            .map(String::as_str);
        let arguments: Vec<&str> = ["for-each-ref", "--format=%(refname)"]
            .into_iter()
            .chain(patterns)
            .collect();
        let Ok(out) = self.answer(&arguments) else {
            return Ok(());
        };
        let out = String::from_utf8_lossy(&out);
        let mut matches: Vec<&str> = out
            .lines()
            .filter(|line| forms.iter().any(|form| form == line))
            .collect();
        let is_id = short.len() >= 4 && short.bytes().all(|byte| byte.is_ascii_hexdigit());
        let objects = if is_id && !matches.is_empty() {
            self.answer(&["rev-parse", &format!("--disambiguate={short}")])
                .unwrap_or_default()
        } else {
            Vec::new()
        };
        let objects = String::from_utf8_lossy(&objects);
        matches.extend(objects.lines());
        anyhow::ensure!(
            matches.len() < 2,
            "{name}: the name is ambiguous; use one of the full names: {}",
            matches.join(", ")
        );
        Ok(())
    }

    fn command(&self) -> Command {
        git_command(&self.root)
    }

    /// The complete output of a git command.
    pub(super) fn answer(&self, arguments: &[&str]) -> anyhow::Result<Vec<u8>> {
        git_output(&self.root, arguments)
    }

    pub(super) fn object(&self, id: &str) -> anyhow::Result<Vec<u8>> {
        anyhow::ensure!(commit(id).is_some(), "{id:?} is not a git object id");
        let mut batch = self.batch.lock().unwrap_or_else(PoisonError::into_inner);
        let mut running = match batch.take() {
            Some(running) => running,
            None => {
                let started = self
                    .command()
                    .args(["cat-file", "--batch"])
                    .stdin(Stdio::piped())
                    .spawn();
                let mut child = started.context("git cannot be started")?;
                let answers = BufReader::new(child.stdout.take().context("git has no output")?);
                Batch { child, answers }
            }
        };
        let (sender, receiver) = mpsc::channel();
        let wanted = id.to_owned();
        let started = thread::Builder::new().spawn(move || {
            let read = running.read(&wanted);
            // After a timeout the receiver is gone, and the batch ends with this thread.
            let _ = sender.send((running, read));
        });
        started.context("the machine starts no thread")?;
        let (running, read) = receiver
            .recv_timeout(TIMEOUTS)
            .map_err(|_| anyhow::anyhow!("git cat-file took longer than {TIMEOUTS:?}"))?;
        let bytes = read.map_err(|error| self.explained(error))?;
        *batch = Some(running);
        Ok(bytes)
    }

    /// The error of a missing object, with the reason and the remedy if the clone was made without some objects.
    fn explained(&self, error: anyhow::Error) -> anyhow::Error {
        match self.answer(&["config", "--get-regexp", r"^remote\..*\.promisor$"]) {
            Ok(remotes) if !remotes.is_empty() => error.context(PARTIAL_CLONE),
            Ok(_) | Err(_) => error,
        }
    }
}

impl Batch {
    fn read(&mut self, id: &str) -> anyhow::Result<Vec<u8>> {
        let input = self.child.stdin.as_mut().context("git has no input")?;
        writeln!(input, "{id}").context("while asking git")?;
        let mut heading = String::new();
        self.answers
            .read_line(&mut heading)
            .context("while reading git's answer")?;
        let size = heading
            .trim_end()
            .rsplit_once(" blob ")
            .or(heading.trim_end().rsplit_once(' '))
            .map(|(_, size)| size);
        let size: u64 = size
            .and_then(|size| size.parse().ok())
            .with_context(|| format!("git has no file {id}"))?;
        anyhow::ensure!(size <= InputLimit::BASELINE.most, "the file is too large");
        let mut bytes = vec![0; usize::try_from(size)? + 1];
        self.answers
            .read_exact(&mut bytes)
            .context("while reading git's answer")?;
        bytes.pop();
        Ok(bytes)
    }
}

impl Objects for Git {
    fn tree(&self, id: &str, depth: Depth) -> anyhow::Result<Listing> {
        let mut arguments = vec!["ls-tree", "-z", "--long", "--full-tree"];
        if depth == Depth::All {
            arguments.extend(["-r", "-t"]);
        }
        arguments.extend(["--end-of-options", id]);
        let out = self
            .answer(&arguments)
            .map_err(|error| self.explained(error))?;
        let out = String::from_utf8_lossy(&out);
        let entries = out
            .split('\0')
            .filter(|line| !line.is_empty())
            .map(entry)
            .collect::<Option<Vec<_>>>();
        Ok(Listing {
            entries: entries.context("git ls-tree printed an unexpected format")?,
            truncated: false,
        })
    }

    fn submodule(&self, folder: &RepoPath) -> Option<Submodule> {
        let root = self.root.join(folder.as_str());
        // A commit cannot contain an entry named `.git`: git itself created it.
        root.join(".git")
            .exists()
            .then(|| -> Submodule { Arc::new(Self::at(&root)) })
    }

    fn edited(&self, commit: &str) -> Option<EditedFiles> {
        EditedFiles::since(&self.root, commit)
    }

    fn most_files(&self) -> usize {
        100_000
    }

    fn blob(&self, id: &str) -> anyhow::Result<Vec<u8>> {
        self.object(id)
    }
}

/// Parses `MODE TYPE ID SIZE<tab>PATH`.
fn entry(line: &str) -> Option<(String, TreeNode)> {
    let (head, path) = line.split_once('\t')?;
    let mut parts = head.split_ascii_whitespace();
    let (mode, _, id, size) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let kind = NodeKind::of_mode(mode);
    Some((
        path.to_owned(),
        TreeNode {
            kind,
            id: id.to_owned(),
            size: size.parse().ok(),
        },
    ))
}

//! The commit that is checked out and the person who works here, read from git's own files: the image has no git. Where there is
//! one, it is asked for the files of other commits.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use anyhow::Context;

use super::base::{Depth, Listing, NodeKind, Objects, Submodule, TreeNode};
use super::disk::Disk;
use super::env::Env;
use crate::format::MAX_FILE_BYTES;
use crate::model::RepoPath;

/// The commit of `HEAD`, where the repository has one.
pub fn head_commit(disk: &Disk) -> Option<String> {
    let git = RepoPath::root().child(".git");
    // Reading the files of a plain repository needs no git on the machine. A linked work tree has a file in this place, and
    // other ways to store references exist: git knows them.
    plain_head(disk, &git).or_else(|| disk.holds(&git).then(|| Git::of(disk).head()).flatten())
}

fn plain_head(disk: &Disk, git: &RepoPath) -> Option<String> {
    let read = |path: &str| disk.read(&git.join(path).ok()?).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let head = read("HEAD")?;
    let Some(reference) = head.trim().strip_prefix("ref: ") else { return commit(&head) };
    if let Some(direct) = read(reference) {
        return commit(&direct);
    }
    let packed = read("packed-refs")?;
    packed
        .lines()
        .filter_map(|line| line.split_once(' '))
        .find(|(_, name)| *name == reference)
        .and_then(|(id, _)| commit(id))
}

fn commit(text: &str) -> Option<String> {
    let id = text.trim();
    (matches!(id.len(), 40 | 64) && id.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| id.to_owned())
}

/// Who works here: `GIT_AUTHOR_NAME`, else `user.name` of the repository's config, else of the person's own.
pub fn user_name(disk: &Disk, env: &Env) -> Option<String> {
    let own = disk.read(&RepoPath::root().child(".git").child("config")).ok();
    let home = |rest: &str| env.get("HOME").and_then(|home| std::fs::read(Path::new(home).join(rest)).ok());
    let stated = env.get("GIT_AUTHOR_NAME").map(str::to_owned);
    stated
        .or_else(|| name_of(&own?))
        .or_else(|| name_of(&home(".gitconfig")?))
        .or_else(|| name_of(&home(".config/git/config")?))
}

/// `name` of the section `[user]`; the last one counts, as in git.
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

/// How long git may take for one answer.
const TIMEOUTS: Duration = Duration::from_secs(60);

/// The git of the machine, asked for commits of one repository. It runs no hook, no filter, no file monitor, asks no remote,
/// and reads no configuration but the repository's own.
pub struct Git {
    root: PathBuf,
    // One answer at a time: git's own batch is one conversation.
    batch: Mutex<Option<Batch>>,
}

struct Batch {
    child: Child,
    answers: BufReader<std::process::ChildStdout>,
}

impl Drop for Batch {
    fn drop(&mut self) {
        // It ends when its input does; a git that hangs must not keep us.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Git {
    /// The git of the repository that these files are of. What merely looks like a repository, such as a committed bare one, is
    /// never asked.
    pub fn of(disk: &Disk) -> Self {
        Self { root: disk.place().to_owned(), batch: Mutex::new(None) }
    }

    /// The id of the commit that people call `name`. A name that a branch and a tag have is refused: nobody could say which one
    /// was meant.
    ///
    /// # Errors
    /// That the commit does not exist, that the name means more than one, or that git is missing.
    pub fn commit(&self, name: &str) -> anyhow::Result<String> {
        self.one_meaning(name)?;
        let wanted = format!("{name}^{{commit}}");
        let out = self
            .answer(&["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted])
            .with_context(|| format!("--base {name}: git knows no such commit here"))?;
        commit(&String::from_utf8_lossy(&out)).with_context(|| format!("--base {name}: git's answer is no commit"))
    }

    /// The commit that is checked out; `None` where git cannot say.
    fn head(&self) -> Option<String> {
        let out = self.answer(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).ok()?;
        commit(&String::from_utf8_lossy(&out))
    }

    /// The commit at which the checked out branch left the one that ends at `tip`; `tip` itself where that is among its
    /// ancestors, or where the two have no common one here.
    pub fn fork_point(&self, tip: &str) -> String {
        let out = self.answer(&["merge-base", "--end-of-options", "HEAD", tip]);
        let found = out.ok().and_then(|out| commit(&String::from_utf8_lossy(&out)));
        found.unwrap_or_else(|| tip.to_owned())
    }

    /// Refuses a name that several references have, or a reference and a commit.
    fn one_meaning(&self, name: &str) -> anyhow::Result<()> {
        let short = name.split(['~', '^', '@', ':']).next().unwrap_or(name);
        let is_plain = !short.is_empty() && !short.starts_with('-') && !short.contains(['*', '?', '[', '\\']);
        if !is_plain {
            return Ok(());
        }
        let forms = ["", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/"].map(|form| format!("{form}{short}"));
        let patterns = forms.iter().filter(|form| form.starts_with("refs/")).map(String::as_str);
        let arguments: Vec<&str> = ["for-each-ref", "--format=%(refname)"].into_iter().chain(patterns).collect();
        let Ok(out) = self.answer(&arguments) else { return Ok(()) };
        let out = String::from_utf8_lossy(&out);
        let mut meant: Vec<&str> = out.lines().filter(|found| forms.iter().any(|form| form == found)).collect();
        let is_id = short.len() >= 4 && short.bytes().all(|byte| byte.is_ascii_hexdigit());
        let objects = match is_id && !meant.is_empty() {
            true => self.answer(&["rev-parse", &format!("--disambiguate={short}")]).unwrap_or_default(),
            false => Vec::new(),
        };
        let objects = String::from_utf8_lossy(&objects);
        meant.extend(objects.lines());
        anyhow::ensure!(
            meant.len() < 2,
            "--base {name}: several things have this name; write the whole name of one: {}",
            meant.join(", ")
        );
        Ok(())
    }

    fn command(&self) -> Command {
        let mut command = Command::new("git");
        command.arg("-C").arg(&self.root).args(["--no-replace-objects", "--no-pager"]);
        let settings = [
            "core.fsmonitor=false",
            "core.hooksPath=/dev/null",
            "protocol.allow=never",
            "safe.bareRepository=explicit",
        ];
        for setting in settings {
            command.args(["-c", setting]);
        }
        // Of the environment git needs where it and its helpers are, and nothing that could lead it elsewhere.
        let kept =
            ["PATH", "SYSTEMROOT", "TEMP", "TMP"].into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
        let kept: Vec<_> = kept.collect();
        command.env_clear().envs(kept).env("GIT_DIR", self.root.join(".git")).envs([
            ("GIT_ALLOW_PROTOCOL", ""),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("LC_ALL", "C"),
        ]);
        // Nothing above the repository is looked into.
        command.envs(self.root.parent().map(|above| ("GIT_CEILING_DIRECTORIES", above)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        command
    }

    /// What git prints, whole, or that it failed or took too long.
    fn answer(&self, arguments: &[&str]) -> anyhow::Result<Vec<u8>> {
        let mut child = self.command().args(arguments).spawn().context("git cannot be started")?;
        let mut stdout = child.stdout.take().context("git has no output")?;
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            let mut out = Vec::new();
            let read = stdout.read_to_end(&mut out);
            // Nobody listens any more where it took too long.
            let _ = sender.send(read.map(|_| out));
        });
        let out = receiver.recv_timeout(TIMEOUTS);
        if out.is_err() {
            // A git that hangs must not keep us.
            let _ = child.kill();
        }
        let status = child.wait().context("while waiting for git")?;
        let out = out.map_err(|_| anyhow::anyhow!("git {} took longer than {TIMEOUTS:?}", arguments[0]))??;
        anyhow::ensure!(status.success(), "git {} failed", arguments[0]);
        Ok(out)
    }

    fn object(&self, id: &str) -> anyhow::Result<Vec<u8>> {
        anyhow::ensure!(commit(id).is_some(), "{id:?} is no id of git's");
        let mut batch = self.batch.lock().unwrap_or_else(PoisonError::into_inner);
        let mut running = match batch.take() {
            Some(running) => running,
            None => {
                let started = self.command().args(["cat-file", "--batch"]).stdin(Stdio::piped()).spawn();
                let mut child = started.context("git cannot be started")?;
                let answers = BufReader::new(child.stdout.take().context("git has no output")?);
                Batch { child, answers }
            }
        };
        let (sender, receiver) = mpsc::channel();
        let wanted = id.to_owned();
        thread::spawn(move || {
            let read = running.read(&wanted);
            // Nobody listens any more where it took too long; the batch ends with this thread then.
            let _ = sender.send((running, read));
        });
        let (running, read) = receiver
            .recv_timeout(TIMEOUTS)
            .map_err(|_| anyhow::anyhow!("git cat-file took longer than {TIMEOUTS:?}"))?;
        let bytes = read?;
        *batch = Some(running);
        Ok(bytes)
    }
}

impl Batch {
    fn read(&mut self, id: &str) -> anyhow::Result<Vec<u8>> {
        let input = self.child.stdin.as_mut().context("git has no input")?;
        writeln!(input, "{id}").context("while asking git")?;
        let mut heading = String::new();
        self.answers.read_line(&mut heading).context("while reading git's answer")?;
        let size =
            heading.trim_end().rsplit_once(" blob ").or(heading.trim_end().rsplit_once(' ')).map(|(_, size)| size);
        let size: u64 = size.and_then(|size| size.parse().ok()).with_context(|| format!("git has no file {id}"))?;
        anyhow::ensure!(size <= MAX_FILE_BYTES, "the file is too large");
        let mut bytes = vec![0; usize::try_from(size)? + 1];
        self.answers.read_exact(&mut bytes).context("while reading git's answer")?;
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
        let out = self.answer(&arguments)?;
        let out = String::from_utf8_lossy(&out);
        let entries = out.split('\0').filter(|line| !line.is_empty()).map(entry).collect::<Option<Vec<_>>>();
        Ok(Listing { entries: entries.context("git ls-tree answered in another form")?, truncated: false })
    }

    fn submodule(&self, folder: &RepoPath) -> Option<Submodule> {
        let root = self.root.join(folder.as_str());
        // No commit can bring an entry of this name: git itself made it.
        root.join(".git").exists().then(|| -> Submodule { Arc::new(Self { root, batch: Mutex::new(None) }) })
    }

    fn most_files(&self) -> usize {
        100_000
    }

    fn blob(&self, id: &str) -> anyhow::Result<Vec<u8>> {
        self.object(id)
    }
}

/// `MODE TYPE ID SIZE<tab>PATH`.
fn entry(line: &str) -> Option<(String, TreeNode)> {
    let (head, path) = line.split_once('\t')?;
    let mut parts = head.split_ascii_whitespace();
    let (mode, _, id, size) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let kind = match mode {
        "040000" => NodeKind::Folder,
        "120000" => NodeKind::Link,
        "160000" => NodeKind::Other,
        _ => NodeKind::File,
    };
    Some((path.to_owned(), TreeNode { kind, id: id.to_owned(), size: size.parse().ok() }))
}

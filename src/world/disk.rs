//! File access below a root folder that no link and no path can leave.

use std::io;
use std::io::{Read, Write};
use std::path::{Component, Path, PathBuf};

use anyhow::Context;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use rayon::slice::ParallelSliceMut;
#[cfg(target_os = "linux")]
use rustix::fs::Mode;
#[cfg(target_os = "linux")]
use rustix::fs::OFlags;
#[cfg(target_os = "linux")]
use rustix::fs::ResolveFlags;
#[cfg(target_os = "linux")]
use rustix::fs::openat2;

use super::draft_name::{DraftContent, draft_file};
use super::ignored::IgnoredFiles;
use super::limited_writer::LimitedWriter;
use super::owner_access::create_folder;
use super::read_error::{ReadTarget, read_problem, reason};
use crate::diag::{Code, Diagnostic};
use crate::files::{
    Entry, EntryKind, Files, LinkTarget, SourceText, is_of_git, refused_link, too_large,
};
use crate::model::{InputLimit, RepoPath};

/// The files of a repository. The kernel refuses every path that leaves the root: absolute links, `..`, magic links.
pub struct Disk {
    pub(super) root: Dir,
    place: PathBuf,
    /// What errors put before the path of a file: the root as the user named it; empty for the root of the repository.
    prefix: PathBuf,
    /// Whether the root is a repository's root, which may contain the folder `.goldgate`.
    pub(super) is_repository: bool,
    /// The repository that contains the root.
    pub(super) home: Option<Box<Disk>>,
    links: Links,
    ignored: IgnoredFiles,
}

/// What becomes of links inside the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Links {
    /// They are followed, as long as they do not leave the root: the user named the file.
    Followed,
    /// A file that is compared is the commit's own: what a link leads to depends on who follows it.
    Refused,
}

/// Why a file cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoFile {
    /// It does not exist.
    Missing,
    /// It cannot be read; the text says why.
    Unreadable(String),
}

impl Disk {
    /// Opens the folder `root`.
    pub fn open(root: &Path) -> anyhow::Result<Self> {
        let dir = Dir::open_ambient_dir(root, ambient_authority())
            .with_context(|| format!("while opening {}", root.display()))?;
        Ok(Self::of(dir, root.to_owned(), PathBuf::new()))
    }

    fn of(root: Dir, place: PathBuf, prefix: PathBuf) -> Self {
        Self {
            root,
            place,
            prefix,
            is_repository: false,
            home: None,
            links: Links::Followed,
            ignored: IgnoredFiles::default(),
        }
    }

    /// The same files without links: to read one, or a path through one, is an error.
    pub fn without_links(self) -> Self {
        Self {
            links: Links::Refused,
            ..self
        }
    }

    /// The link that a path is or passes through.
    pub(super) fn link_on(&self, path: &RepoPath) -> Option<RepoPath> {
        let mut inside_out = Vec::new();
        let mut part = path.clone();
        while !part.as_str().is_empty() {
            inside_out.push(part.clone());
            part = part.parent();
        }
        for path in inside_out.into_iter().rev() {
            let metadata = self.root.symlink_metadata(path.as_str());
            if metadata.is_ok_and(|metadata| metadata.is_symlink()) {
                return Some(path);
            }
        }
        None
    }

    /// The problem of a file or a folder that cannot be read.
    fn problem(&self, path: &RepoPath, target: ReadTarget, error: &io::Error) -> Diagnostic {
        let link = match self.links {
            Links::Refused => self.link_on(path),
            Links::Followed => None,
        };
        link.map_or_else(
            || read_problem(path, target, error),
            |link| refused_link(&link),
        )
    }

    /// The path of the root, for the processes that run in it.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Opens the folder `root`, and creates it if it is missing. Inside a repository links are rejected: committed content must not
    /// choose where files are written.
    pub fn create(root: &Path) -> anyhow::Result<Self> {
        let context = || format!("while creating the folder {}", root.display());
        let whole = std::path::absolute(root)
            .map(|path| without_dots(&path))
            .with_context(context)?;
        let Some(repository) = whole
            .ancestors()
            .find(|folder| folder.join(".git").exists())
        else {
            std::fs::create_dir_all(root).with_context(context)?;
            return Ok(Self {
                prefix: root.to_owned(),
                ..Self::open(root)?
            });
        };
        let mut dir =
            Dir::open_ambient_dir(repository, ambient_authority()).with_context(context)?;
        let inside = whole.strip_prefix(repository).unwrap_or(Path::new(""));
        if inside.iter().any(|part| part.eq_ignore_ascii_case(".git")) {
            return Err(io::Error::other("this belongs to git")).with_context(context);
        }
        for part in inside {
            dir = create_without_link(&dir, Path::new(part)).with_context(context)?;
        }
        let home = Self {
            is_repository: true,
            ..Self::open(repository)?
        };
        Ok(Self {
            home: Some(Box::new(home)),
            ..Self::of(dir, whole.clone(), root.to_owned())
        })
    }

    /// The repository around `start`: the nearest parent folder with `.git`, otherwise `start` itself. Also returns the path of
    /// `start` inside it.
    pub fn around(start: &Path) -> anyhow::Result<(Self, RepoPath)> {
        let start: PathBuf = start
            .canonicalize()
            .with_context(|| format!("while looking for {}", start.display()))?;
        let root = start
            .ancestors()
            .find(|folder| folder.join(".git").exists())
            .unwrap_or(&start);
        let inside = start.strip_prefix(root).unwrap_or(Path::new(""));
        let inside = inside
            .to_str()
            .context("the path of the config is not UTF-8")?;
        let path = RepoPath::root()
            .join(inside)
            .map_err(|bad| anyhow::anyhow!("the path of the config {bad}"))?;
        Ok((
            Self {
                is_repository: root.join(".git").exists(),
                ..Self::open(root)?
            },
            path,
        ))
    }

    /// Whether the root is that of a repository.
    pub fn is_repository(&self) -> bool {
        self.is_repository
    }

    /// The path of a file for an error.
    pub(super) fn shown(&self, file: &RepoPath) -> String {
        let prefix = self.prefix.strip_prefix(".").unwrap_or(&self.prefix);
        prefix.join(file.as_str()).display().to_string()
    }

    /// The bytes of a file, without a size limit.
    pub fn read(&self, file: &RepoPath) -> Result<Vec<u8>, NoFile> {
        let mut bytes = Vec::new();
        let read = self
            .opened(file)
            .and_then(|mut opened| opened.read_to_end(&mut bytes));
        read.map(|_| bytes).map_err(|error| no_file(&error))
    }

    /// Writes a file completely or not at all: to a temporary file that is then renamed.
    ///
    /// # Errors
    /// Why it could not be written; the file is then unchanged.
    pub fn replace(&self, file: &RepoPath, bytes: &[u8]) -> anyhow::Result<()> {
        self.replace_with(file, &|out| out.write_all(bytes))
    }

    /// Writes a file that goldgate reads again as a file of the repository, and never more than it would read.
    pub fn replace_input(&self, file: &RepoPath, bytes: &[u8]) -> anyhow::Result<()> {
        self.replace_own(file, &InputLimit::FILE, &|out| out.write_all(bytes))
    }

    /// Writes a file that goldgate reads again, piece by piece: completely or not at all, and never more than it would read.
    ///
    /// # Errors
    /// Why it could not be written; the file is then unchanged.
    pub fn replace_own(
        &self,
        file: &RepoPath,
        limit: &'static InputLimit,
        write: DraftContent<'_>,
    ) -> anyhow::Result<()> {
        self.replace_with(file, &|out| write(&mut LimitedWriter::new(out, limit)))
    }

    fn replace_with(&self, file: &RepoPath, write: DraftContent<'_>) -> anyhow::Result<()> {
        self.replace_by_draft(file, write)
            .with_context(|| format!("while writing {}", self.shown(file)))
    }

    fn replace_by_draft(&self, file: &RepoPath, write: DraftContent<'_>) -> io::Result<()> {
        let folder = file.parent();
        not_of_git(file)?;
        self.make_folder(&folder)?;
        let (drafts, draft) = self.draft()?;
        let renamed = match self.put(drafts, &draft, file, write) {
            // The folder of drafts is on another device.
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                self.put(self, &folder.child(&draft_file()), file, write)
            }
            result => result,
        };
        renamed?;
        self.sync_folder(&folder)
    }

    fn put(
        &self,
        drafts: &Self,
        draft: &RepoPath,
        file: &RepoPath,
        write: DraftContent<'_>,
    ) -> io::Result<()> {
        let written = drafts.write_new(draft, write);
        let renamed = written.and_then(|()| {
            drafts
                .root
                .rename(draft.as_str(), &self.root, file.as_str())
        });
        // Remove the draft; a second error would add nothing to the first one.
        renamed.inspect_err(|_| drop(drafts.root.remove_file(draft.as_str())))
    }

    /// Removes a file, or a folder with its content. A missing path is not an error.
    pub fn remove(&self, path: &RepoPath) -> anyhow::Result<()> {
        self.remove_path(path)
            .with_context(|| format!("while removing {}", self.shown(path)))
    }

    fn remove_path(&self, path: &RepoPath) -> io::Result<()> {
        not_of_git(path)?;
        let removed = match self.root.symlink_metadata(path.as_str()) {
            Ok(metadata) if metadata.is_dir() => self.root.remove_dir_all(path.as_str()),
            Ok(_) => self.root.remove_file(path.as_str()),
            Err(error) => Err(error),
        };
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Err(_) | Ok(()) => Ok(()),
        }
    }

    /// Whether the path exists.
    pub fn holds(&self, path: &RepoPath) -> bool {
        self.root.metadata(path.as_str()).is_ok()
    }

    /// Opens a folder as a root of its own.
    pub fn within(&self, folder: &RepoPath) -> anyhow::Result<Self> {
        let root = self
            .root
            .open_dir(named(folder))
            .with_context(|| format!("while opening {folder}"))?;
        Ok(Self::of(
            root,
            self.place.join(folder.as_str()),
            self.prefix.join(folder.as_str()),
        ))
    }
}

pub(super) fn named(folder: &RepoPath) -> &str {
    if folder.as_str().is_empty() {
        "."
    } else {
        folder.as_str()
    }
}

pub(super) fn is_link(path: &Path) -> io::Error {
    io::Error::other(format!(
        "{} is a link; goldgate does not write through links",
        path.display()
    ))
}

/// Rejects git's own files: the next git command would run a hook that is written there.
pub(super) fn not_of_git(path: &RepoPath) -> io::Result<()> {
    if path.is_of_git() {
        Err(io::Error::other(format!("{path} belongs to git")))
    } else {
        Ok(())
    }
}

/// Removes `.` and `..` from a path without looking at the disk.
pub(super) fn without_dots(path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                whole.pop();
            }
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => whole.push(part),
        }
    }
    whole
}

/// Opens a folder, and creates it if it is missing; a link is rejected.
fn create_without_link(dir: &Dir, name: &Path) -> io::Result<Dir> {
    match dir.symlink_metadata(name) {
        Ok(metadata) if metadata.is_symlink() => return Err(is_link(name)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => create_folder(dir, name)?,
        Ok(_) | Err(_) => {}
    }
    dir.open_dir(name)
}

/// Appends text to a file named by the CI runner; creates it if it is missing.
pub fn append(file: &Path, text: &str) -> anyhow::Result<()> {
    let opened = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(file);
    opened
        .and_then(|mut out| out.write_all(text.as_bytes()))
        .with_context(|| format!("while writing {}", file.display()))
}

/// Rejects pipes and devices, which may never end.
fn is_file(is_file: bool) -> io::Result<()> {
    if is_file {
        Ok(())
    } else {
        Err(io::Error::other("it is not a regular file"))
    }
}

fn no_file(error: &io::Error) -> NoFile {
    match error.kind() {
        io::ErrorKind::NotFound => NoFile::Missing,
        _ => NoFile::Unreadable(reason(error)),
    }
}

impl Files for Disk {
    fn list_all(&self, folder: &RepoPath) -> Result<Vec<Entry>, Diagnostic> {
        if self.links == Links::Refused
            && let Some(link) = self.link_on(folder)
        {
            return Err(refused_link(&link));
        }
        let mut entries = Vec::new();
        for entry in self
            .root
            .read_dir(named(folder))
            .map_err(|error| self.problem(folder, ReadTarget::Folder, &error))?
        {
            let entry = entry.map_err(|error| self.problem(folder, ReadTarget::Folder, &error))?;
            let Ok(name) = entry.file_name().into_string() else {
                let help = "rename it to UTF-8";
                return Err(Diagnostic::of_file(
                    folder,
                    Code::NOT_UTF8,
                    format!("the name {:?} is not UTF-8", entry.file_name()),
                    help,
                ));
            };
            if is_of_git(&name) {
                continue;
            }
            let kind = entry
                .file_type()
                .map_err(|error| self.problem(folder, ReadTarget::Folder, &error))?;
            let kind = if kind.is_symlink() {
                self.linked_kind(&folder.child(&name))
            } else if kind.is_dir() {
                EntryKind::Folder
            } else {
                EntryKind::File
            };
            entries.push(Entry { name, kind });
        }
        entries.par_sort_unstable();
        Ok(entries)
    }

    fn bytes(&self, file: &RepoPath) -> Result<Vec<u8>, Diagnostic> {
        self.bytes_within(file, &InputLimit::FILE)
    }

    fn baseline_bytes(&self, file: &RepoPath) -> Result<Vec<u8>, Diagnostic> {
        self.bytes_within(file, &InputLimit::BASELINE)
    }

    fn is_ignored(&self, file: &RepoPath) -> bool {
        self.is_repository && self.ignored.has(&self.place, file)
    }
}

impl Disk {
    /// Whether git's index lacks a file.
    #[cfg(feature = "models")]
    pub(super) fn is_untracked(&self, file: &RepoPath) -> bool {
        self.is_repository && self.ignored.is_untracked(&self.place, file)
    }

    /// What a link is for somebody who lists its folder.
    fn linked_kind(&self, link: &RepoPath) -> EntryKind {
        let is_folder = self
            .root
            .metadata(link.as_str())
            .map(|target| target.is_dir());
        match (is_folder, self.links) {
            (Ok(true), Links::Followed) => EntryKind::Folder,
            (Ok(false), Links::Followed) => EntryKind::File,
            (Ok(true), Links::Refused) => EntryKind::Link(LinkTarget::Folder),
            (Ok(false), Links::Refused) | (Err(_), _) => EntryKind::Link(LinkTarget::Other),
        }
    }

    /// Reads a file written by goldgate, such as a report or a baseline; its limit is larger than that of files written by people.
    pub fn own_text(&self, file: &RepoPath, limit: &InputLimit) -> Result<SourceText, Diagnostic> {
        SourceText::new(file.clone(), self.bytes_within(file, limit)?)
    }

    fn bytes_within(&self, file: &RepoPath, limit: &InputLimit) -> Result<Vec<u8>, Diagnostic> {
        let opened = self
            .opened(file)
            .map_err(|error| self.problem(file, ReadTarget::File, &error))?;
        // Reading one byte more than the limit detects a file that is too large.
        let mut bytes = Vec::with_capacity(8 * 1024);
        opened
            .take(limit.most + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| self.problem(file, ReadTarget::File, &error))?;
        if limit.is_exceeded_by(bytes.len()) {
            return Err(too_large(file, limit));
        }
        Ok(bytes)
    }
}

impl Disk {
    /// Opens a file for reading: with one system call where possible, otherwise with cap-std, which also reports the reason
    /// for a failure.
    fn opened(&self, file: &RepoPath) -> io::Result<std::fs::File> {
        #[cfg(target_os = "linux")]
        {
            // Non-blocking: nobody may ever write to the other end of a pipe.
            let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
            let mut within = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
            within.set(ResolveFlags::NO_SYMLINKS, self.links == Links::Refused);
            if let Ok(opened) = openat2(&self.root, file.as_str(), flags, Mode::empty(), within) {
                let opened = std::fs::File::from(opened);
                return is_file(opened.metadata()?.is_file()).map(|()| opened);
            }
        }
        if self.links == Links::Refused && self.link_on(file).is_some() {
            return Err(io::Error::other("it is a link, or behind one"));
        }
        is_file(self.root.metadata(file.as_str())?.is_file())?;
        self.root
            .open(file.as_str())
            .map(cap_std::fs::File::into_std)
    }
}

#[cfg(test)]
mod tests {
    use super::Disk;
    use crate::model::{InputLimit, RepoPath};

    static FOUR: InputLimit = InputLimit {
        most: 4,
        help: "write less",
        ..InputLimit::FILE
    };

    #[test]
    fn a_file_is_replaced_only_by_what_can_be_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::open(folder.path()).unwrap();
        let file = RepoPath::root().child("a.json");
        let write = |text: &str| {
            disk.replace_own(&file, &FOUR, &|out| {
                text.chars().try_for_each(|one| write!(out, "{one}"))
            })
        };
        write("1234").unwrap();
        assert_eq!(disk.own_text(&file, &FOUR).unwrap().text, "1234");
        let refused = format!("{:#}", write("12345").unwrap_err());
        assert!(
            refused.contains("so goldgate could not read it again; write less"),
            "{refused}"
        );
        assert_eq!(disk.own_text(&file, &FOUR).unwrap().text, "1234");
        assert_eq!(
            std::fs::read_dir(folder.path()).unwrap().count(),
            1,
            "a draft remains"
        );
        disk.replace(&file, b"12345").unwrap();
        assert!(
            disk.own_text(&file, &FOUR)
                .unwrap_err()
                .to_string()
                .contains("larger than")
        );
    }
}

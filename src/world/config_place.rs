//! Locates a config or another file of the user: its repository, its path inside, and the repository whose history may provide a base commit.

use std::path::{Path, PathBuf};

use super::disk::{Disk, without_dots};
use crate::diag::{Code, Diagnostic, ReadFailure};
use crate::files::Files;
use crate::model::RepoPath;
use crate::text::first_of;

impl Disk {
    /// The repository that contains a config, and the config's path inside, as given by the user. Links are rejected: behind a link
    /// the path would differ from the one in the base commit, and a moved config would look new.
    ///
    /// # Errors
    /// The path names no file, its folder does not exist, or a link is on the way.
    pub fn of_config(path: &str) -> Result<(Self, RepoPath), Diagnostic> {
        if Path::new(path).file_name().is_none() {
            return Err(no_such_path(path, NO_FILE));
        }
        let whole = std::path::absolute(path)
            .map(|path| without_dots(&path))
            .map_err(|_| no_such_path(path, NO_FOLDER))?;
        let Some(folder) = whole.parent().filter(|folder| folder.is_dir()) else {
            return Err(no_such_path(path, NO_FOLDER));
        };
        let roots: Vec<&Path> = folder
            .ancestors()
            .filter(|folder| folder.join(".git").exists())
            .collect();
        if let Some(outermost) = roots.last() {
            refuse_links(outermost, &whole, named(path))?;
        }
        let root = roots.first().copied().unwrap_or(folder);
        let Some(inside) = whole.strip_prefix(root).ok().and_then(Path::to_str) else {
            return Err(no_such_path(path, "the path of the config is not UTF-8"));
        };
        let inside = RepoPath::root()
            .join(inside)
            .map_err(|bad| no_such_path(path, &format!("the path of the config {bad}")))?;
        let mut disk = Self::open(root)
            .map_err(|_| no_such_path(path, NO_FOLDER))?
            .without_links();
        disk.is_repository = root.join(".git").exists();
        Ok((disk, inside))
    }

    /// The same for a config that need not be named: `None` if it is not, and the default one does not exist.
    ///
    /// # Errors
    /// As for a config that is named.
    pub fn of_config_if_any(path: Option<&str>) -> Result<Option<(Self, RepoPath)>, Diagnostic> {
        let (disk, file) = Self::of_config(path.unwrap_or("goldgate.yaml"))?;
        Ok((path.is_some() || disk.holds(&file)).then_some((disk, file)))
    }

    /// What to say of new files that git ignores; `None` if it ignores none of them.
    pub fn ignored_note(&self, files: impl IntoIterator<Item = RepoPath>) -> Option<String> {
        let ignored: Vec<RepoPath> = files
            .into_iter()
            .filter(|file| self.is_ignored(file))
            .collect();
        if ignored.is_empty() {
            return None;
        }
        let (it, has) = if ignored.len() == 1 {
            ("it", "has it")
        } else {
            ("them", "has them")
        };
        Some(format!(
            "git ignores {}, so no commit {has}: correct .gitignore, or add {it} with `git add --force`",
            first_of(&ignored.iter().map(RepoPath::as_str).collect::<Vec<_>>())
        ))
    }

    /// What to say of files of a recorded agent that git does not have; `None` if it has all of them. Ignored ones may be made in CI, too.
    #[cfg(feature = "models")]
    pub fn untracked_note<'f>(
        &self,
        of_agents: impl IntoIterator<Item = &'f RepoPath>,
    ) -> Option<String> {
        let untracked: Vec<&str> = of_agents
            .into_iter()
            .filter(|file| self.is_untracked(file) && !self.is_ignored(file))
            .map(RepoPath::as_str)
            .collect();
        if untracked.is_empty() {
            return None;
        }
        let (it, they) = if untracked.len() == 1 {
            ("it", "it")
        } else {
            ("them", "they")
        };
        Some(format!(
            "git does not have {}, and the digest of the agent's files covers {it}: commit {it} with the recordings, or, if {they} should \
             not be part of the agent, move {it} and record again",
            first_of(&untracked)
        ))
    }

    /// The path from the current folder to the root, as one goes there: `../..` from a folder of it; `None` where it is the current one.
    pub fn way_to_root(&self) -> Option<PathBuf> {
        let here = std::path::absolute(".").ok()?;
        match here.strip_prefix(self.place()) {
            Ok(inside) if inside.as_os_str().is_empty() => None,
            Ok(inside) => Some(inside.components().map(|_| "..").collect()),
            Err(_) => Some(self.place().to_owned()),
        }
    }

    /// The repository that contains a file, and the file's path inside, as given by the user.
    ///
    /// # Errors
    /// The path names no file, or its folder does not exist.
    pub fn of_file(path: &str) -> Result<(Self, RepoPath), Diagnostic> {
        let name = Path::new(path).file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| no_such_path(path, NO_FILE))?;
        let folder = Path::new(path)
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let around = Self::around(folder.unwrap_or(Path::new(".")));
        let (disk, inside) = around.map_err(|_| no_such_path(path, NO_FOLDER))?;
        Ok((disk, inside.child(name)))
    }

    /// The repository that contains this one as a submodule. Whoever changes the outer repository controls the submodule's history,
    /// because any repository can be put here.
    pub fn superproject(&self) -> Option<PathBuf> {
        let place = self.place();
        let text = std::fs::read_to_string(place.join(".git")).ok()?;
        let folder = place.join(text.strip_prefix("gitdir:")?.trim());
        // A linked worktree has this file too; a submodule's folder does not.
        if folder.join("commondir").is_file() {
            return None;
        }
        let mut outside = place.ancestors().skip(1);
        let outer = outside.find(|folder| folder.join(".git").exists())?;
        // So has a clone with `--separate-git-dir`, whose folder is not among those of the outer repository's submodules.
        let modules = git_folder(outer)?.join("modules").canonicalize().ok()?;
        folder
            .canonicalize()
            .ok()?
            .starts_with(modules)
            .then(|| outer.to_owned())
    }
}

/// The folder in which git keeps what belongs to a repository.
fn git_folder(repository: &Path) -> Option<PathBuf> {
    let git = repository.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let text = std::fs::read_to_string(git).ok()?;
    Some(repository.join(text.strip_prefix("gitdir:")?.trim()))
}

const NO_FILE: &str = "the path does not name a file";
const NO_FOLDER: &str = "the folder does not exist";

/// How a path of the user is called in a problem.
fn named(path: &str) -> &str {
    if path.is_empty() {
        "command line"
    } else {
        path
    }
}

fn no_such_path(path: &str, message: &str) -> Diagnostic {
    Diagnostic::of_read(
        named(path),
        ReadFailure::MissingFile,
        message,
        "correct the path",
    )
}

/// Refuses a link below a repository's root on the way to the config, and one that is the config.
fn refuse_links(root: &Path, whole: &Path, named: &str) -> Result<(), Diagnostic> {
    let mut at = root.to_owned();
    for part in whole.strip_prefix(root).unwrap_or(Path::new("")) {
        at.push(part);
        if at
            .symlink_metadata()
            .is_ok_and(|metadata| metadata.is_symlink())
        {
            let inside = at.strip_prefix(root).unwrap_or(&at).display().to_string();
            let message = format!("{inside} is a link, and no link leads to a config");
            let help = "name the config by the path of the file itself";
            return Err(Diagnostic::of_file(
                named,
                Code::LINKED_CONFIG,
                message,
                help,
            ));
        }
    }
    Ok(())
}

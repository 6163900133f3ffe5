//! The files of the working tree that may differ from a commit, by git's index. The others are as in the commit, and need no digest.

use std::collections::HashSet;
use std::path::Path;

use super::git_command::git_output;

/// Paths of a repository that may differ from a commit.
#[derive(Debug)]
pub struct EditedFiles(HashSet<Vec<u8>>);

/// Files of this name change how git writes other files to the working tree.
const ATTRIBUTES: &[u8] = b".gitattributes";

/// How git marks a file at which it looks. It can be set to skip others.
const LOOKED_AT: &[u8] = b"H ";

impl EditedFiles {
    /// Asks git, which compares times and sizes of files with those in its index. `None` if git cannot tell, or if it may have written files
    /// to the working tree otherwise than they are stored.
    pub(super) fn since(repository: &Path, commit: &str) -> Option<Self> {
        let index = git_output(repository, &["ls-files", "-v", "-z"]).ok()?;
        if entries(&index).any(|entry| entry.ends_with(ATTRIBUTES)) {
            return None;
        }
        let options = [
            "diff-index",
            "--name-only",
            "--no-renames",
            "--ignore-submodules",
            "-z",
            "--end-of-options",
        ];
        let listed = git_output(repository, &[&options[..], &[commit, "--"]].concat()).ok()?;
        let skipped = entries(&index).filter(|entry| !entry.starts_with(LOOKED_AT));
        let skipped = skipped.filter_map(|entry| entry.get(LOOKED_AT.len()..));
        Some(Self(
            entries(&listed)
                .chain(skipped)
                .map(<[u8]>::to_vec)
                .collect(),
        ))
    }

    /// Whether a file of the commit may differ.
    pub(super) fn has(&self, path: &str) -> bool {
        self.0.contains(path.as_bytes())
    }
}

fn entries(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output
        .split(|byte| *byte == 0)
        .filter(|entry| !entry.is_empty())
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use tempfile::tempdir;

    use super::EditedFiles;

    fn git(folder: &Path, arguments: &[&str]) {
        let who = [
            "-c",
            "user.name=Subject A",
            "-c",
            "user.email=a@example.org",
        ];
        assert!(
            Command::new("git")
                .arg("-C")
                .arg(folder)
                .args(who)
                .args(arguments)
                .status()
                .unwrap()
                .success()
        );
    }

    #[test]
    fn what_git_has_not_looked_at_may_be_edited() {
        let folder = tempdir().unwrap();
        let place = folder.path();
        std::fs::create_dir(place.join("d é")).unwrap();
        let files = ["same", "d é/edited", "deleted", "assumed", "skipped"];
        for file in files {
            std::fs::write(place.join(file), "1\n").unwrap();
        }
        git(place, &["init", "--quiet"]);
        git(place, &["add", "--all"]);
        git(
            place,
            &["commit", "--quiet", "--no-verify", "--message", "base"],
        );
        let edited = || {
            let edited = EditedFiles::since(place, "HEAD")?;
            Some(
                files
                    .into_iter()
                    .filter(|file| edited.has(file))
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(edited(), Some(Vec::new()));
        git(place, &["update-index", "--assume-unchanged", "assumed"]);
        git(place, &["update-index", "--skip-worktree", "skipped"]);
        // The time of the change alone does not show: it is set back to what it was.
        let file = place.join(files[1]);
        let before = std::fs::metadata(&file).unwrap().modified().unwrap();
        std::fs::write(&file, "2\n").unwrap();
        std::fs::File::options()
            .write(true)
            .open(&file)
            .unwrap()
            .set_modified(before)
            .unwrap();
        std::fs::remove_file(place.join("deleted")).unwrap();
        assert_eq!(edited(), Some(files[1..].to_vec()));
        std::fs::write(place.join("d é/.gitattributes"), "* ident\n").unwrap();
        git(place, &["add", "--all"]);
        assert_eq!(edited(), None);
    }
}

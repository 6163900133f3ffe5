//! The committed versions of one file, from git's log.

use anyhow::Context;

use super::git::Git;
use crate::files::HistoryExtent;
use crate::model::RepoPath;

/// A commit that changed the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileVersion {
    pub commit: String,
    /// When it was committed, as git's strict ISO 8601.
    pub date: String,
    /// The first line of its message.
    pub title: String,
    /// The path of the file in this commit.
    pub path: RepoPath,
    /// The git object of the content; `None` if this commit removed the file.
    pub blob: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileVersions {
    /// The versions, newest first.
    pub versions: Vec<FileVersion>,
    /// How much of the history is here.
    pub extent: HistoryExtent,
}

/// Starts the line of a commit; no message can contain it, because git ends a message there.
const START: char = '\0';

/// The id of a file that does not exist.
const NOTHING: char = '0';

impl Git {
    /// The last commits of the current branch that changed a file, at most `most`, and followed through renames.
    ///
    /// # Errors
    /// The branch has no commit, or git is missing.
    pub fn versions(&self, file: &RepoPath, most: u32) -> anyhow::Result<FileVersions> {
        let limit = format!("--max-count={most}");
        let list = [
            "log",
            "--first-parent",
            "--follow",
            "--find-renames",
            "--raw",
            "--no-abbrev",
            "--no-color",
            "--no-show-signature",
            "--no-ext-diff",
            "--format=%x00%H %cI %s",
            &limit,
            "HEAD",
            "--",
            file.as_str(),
        ];
        let out = self
            .answer(&list)
            .context("while reading the history of the baseline")?;
        let out = String::from_utf8_lossy(&out);
        Ok(FileVersions {
            versions: out.split(START).filter_map(version).collect(),
            extent: self.extent(),
        })
    }

    /// How much of the history is in this clone.
    fn extent(&self) -> HistoryExtent {
        if self.is_shallow() {
            HistoryExtent::Shallow
        } else {
            HistoryExtent::Whole
        }
    }

    /// The content of a file in a commit; `None` if the commit does not have the file.
    ///
    /// # Errors
    /// The commit or the object is missing.
    pub fn file_at(&self, commit: &str, file: &RepoPath) -> anyhow::Result<Option<Vec<u8>>> {
        let whole = self.answer(&[
            "ls-tree",
            "-z",
            "--full-tree",
            "--end-of-options",
            commit,
            file.as_str(),
        ])?;
        let whole = String::from_utf8_lossy(&whole);
        for line in whole.split('\0') {
            let Some((head, path)) = line.split_once('\t') else {
                continue;
            };
            let mut parts = head.split(' ').skip(1);
            if path == file.as_str()
                && parts.next() == Some("blob")
                && let Some(blob) = parts.next()
            {
                return Ok(Some(self.object(blob)?));
            }
        }
        Ok(None)
    }
}

/// Parses `COMMIT DATE TITLE`, and after an empty line `:MODE MODE ID ID STATUS<tab>PATH[<tab>NEW PATH]`.
fn version(text: &str) -> Option<FileVersion> {
    let mut lines = text.lines();
    let mut heading = lines.next()?.splitn(3, ' ');
    let (commit, date) = (heading.next()?.to_owned(), heading.next()?.to_owned());
    let title = heading.next().unwrap_or_default().to_owned();
    let (head, paths) = lines.find_map(|line| line.strip_prefix(':')?.split_once('\t'))?;
    let blob = head.split(' ').nth(3)?;
    let path = RepoPath::root().join(paths.rsplit('\t').next()?).ok()?;
    let blob = Some(blob.to_owned()).filter(|blob| !blob.chars().all(|digit| digit == NOTHING));
    Some(FileVersion {
        commit,
        date,
        title,
        path,
        blob,
    })
}

#[cfg(test)]
mod tests {
    use super::{FileVersion, version};
    use crate::model::RepoPath;

    #[test]
    fn a_version_has_its_last_path_and_its_content() {
        let (old, new, none) = ("a".repeat(40), "b".repeat(40), "0".repeat(40));
        let changed = format!(
            "c0ffee 2026-01-02T03:04:05+01:00 A title: x\n\n:100644 100644 {old} {new} M\tb.json\n"
        );
        let found = version(&changed).unwrap();
        let path = |name: &str| RepoPath::root().child(name);
        assert_eq!(
            found,
            FileVersion {
                commit: "c0ffee".to_owned(),
                date: "2026-01-02T03:04:05+01:00".to_owned(),
                title: "A title: x".to_owned(),
                path: path("b.json"),
                blob: Some(new.clone()),
            }
        );
        let renamed = changed.replace("M\tb.json", "R100\tformer.json\tb.json");
        assert_eq!(version(&renamed).unwrap().path, path("b.json"));
        let removed = changed.replace(&new, &none);
        assert_eq!(version(&removed).unwrap().blob, None);
        assert_eq!(
            version("c0ffee 2026-01-02T03:04:05+01:00 Only a title\n"),
            None
        );
    }
}

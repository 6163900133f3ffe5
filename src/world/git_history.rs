//! The committed versions of one file, from git's log.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context;

use super::git::Git;
use super::objects::{CommitsBelow, LINK_MODE};
use crate::files::{HistoryCut, HistoryExtent};
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

/// Numbers of commits that are looked at since the base commit and before it: each costs the list of its recordings.
const CHANGE_COMMITS: usize = 300;
const PAST_COMMITS: usize = 50;

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
        match self.is_shallow() {
            true => HistoryExtent::Shallow,
            false => HistoryExtent::Whole,
        }
    }

    /// The commits since the base commit that changed a file in these folders, on all branches that were merged, and the last ones before it.
    ///
    /// # Errors
    /// Git is missing, or does not know a commit.
    pub(super) fn commits_below(
        &self,
        [base, head]: [&str; 2],
        folders: &[RepoPath],
    ) -> anyhow::Result<CommitsBelow> {
        let list = |most: usize, revisions: &[&str]| -> anyhow::Result<Vec<String>> {
            let limit = format!("--max-count={most}");
            let list = [
                "--literal-pathspecs",
                "rev-list",
                "--full-history",
                "--topo-order",
                &limit,
                "--end-of-options",
            ];
            let folders = folders.iter().map(RepoPath::as_str);
            let list: Vec<&str> = list
                .into_iter()
                .chain(revisions.iter().copied())
                .chain(["--"])
                .chain(folders)
                .collect();
            let out = self
                .answer(&list)
                .context("while reading the history of recordings")?;
            Ok(String::from_utf8_lossy(&out)
                .lines()
                .map(str::to_owned)
                .collect())
        };
        let mut ids = list(CHANGE_COMMITS, &[head, &format!("^{base}")])?;
        let limited = (ids.len() == CHANGE_COMMITS).then_some(HistoryCut::Limited(CHANGE_COMMITS));
        let cut = if self.is_shallow() {
            Some(HistoryCut::Shallow)
        } else {
            limited
        };
        let mut ends = if cut.is_some() {
            self.shallow_commits()
        } else {
            BTreeSet::new()
        };
        ends.extend(ids.last().filter(|_| limited.is_some()).cloned());
        // Those of the base are only for recordings that were taken from the history.
        let earlier = list(PAST_COMMITS, &[base])?;
        ids.extend(earlier);
        Ok(CommitsBelow { ids, ends, cut })
    }

    /// The commits whose predecessors a shallow clone leaves out.
    fn shallow_commits(&self) -> BTreeSet<String> {
        let path = self
            .answer(&["rev-parse", "--git-path", "shallow"])
            .unwrap_or_default();
        let path = String::from_utf8_lossy(&path).trim().to_owned();
        let text = std::fs::read_to_string(self.root().join(path)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// The files of a commit in these folders, by path, with their ids.
    ///
    /// # Errors
    /// Git is missing, or does not know the commit.
    pub(super) fn list_below(
        &self,
        commit: &str,
        folders: &[RepoPath],
    ) -> anyhow::Result<BTreeMap<RepoPath, String>> {
        let list = [
            "--literal-pathspecs",
            "ls-tree",
            "-r",
            "-z",
            "--full-tree",
            "--end-of-options",
            commit,
            "--",
        ];
        let list: Vec<&str> = list
            .into_iter()
            .chain(folders.iter().map(RepoPath::as_str))
            .collect();
        let out = self
            .answer(&list)
            .context("while reading the history of recordings")?;
        let out = String::from_utf8_lossy(&out);
        let file = |line: &str| {
            let (head, path) = line.split_once('\t')?;
            let mut parts = head.split(' ');
            let is_file = parts.next() != Some(LINK_MODE) && parts.next() == Some("blob");
            is_file
                .then(|| Some((RepoPath::root().below(path), parts.next()?.to_owned())))
                .flatten()
        };
        Ok(out.split('\0').filter_map(file).collect())
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
        let found = whole.split('\0').filter_map(|line| line.split_once('\t'));
        let mut blobs = found
            .filter(|(_, path)| *path == file.as_str())
            .filter_map(|(head, _)| {
                let mut parts = head.split(' ').skip(1);
                (parts.next()? == "blob").then(|| parts.next()).flatten()
            });
        blobs.next().map(|blob| self.object(blob)).transpose()
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

//! The files that a pull request changed, also where it changed more of them than GitHub lists in a comparison.

use std::collections::BTreeSet;

use crate::model::RepoPath;
use crate::world::{Blob, ComparedFile, GitHub, GitHubError, Tree};

/// Returns the files in which a head differs from the commit where it left the base; `None` if its lists of files are too long.
///
/// # Errors
/// A failed request.
pub fn changed_files(
    github: &GitHub,
    base: &str,
    head: &str,
) -> Result<Option<Vec<ComparedFile>>, GitHubError> {
    let between = github.compare(base, head)?;
    if between.files.is_some() {
        return Ok(between.files);
    }
    let (Some(before), Some(after)) = (github.tree(&between.merge_base)?, github.tree(head)?)
    else {
        return Ok(None);
    };
    Ok(Some(differences(&before, &after)))
}

/// The files that differ. A list does not say where a link leads, so every link counts as changed.
fn differences(before: &Tree, after: &Tree) -> Vec<ComparedFile> {
    let paths: BTreeSet<&RepoPath> = before.keys().chain(after.keys()).collect();
    let is_changed = |path: &RepoPath| {
        before.get(path) != after.get(path) || after.get(path) == Some(&Blob::Link)
    };
    let changed = paths.into_iter().filter(|path| is_changed(path));
    let file = |path: &RepoPath| {
        let blob = after.get(path).map(|blob| match blob {
            Blob::File(id) => id.clone(),
            Blob::Link => String::new(),
        });
        ComparedFile {
            path: path.to_string(),
            blob,
            previous: None,
        }
    };
    changed.map(file).collect()
}

#[cfg(test)]
mod tests {
    use super::{Blob, ComparedFile, RepoPath, Tree, differences};

    #[test]
    fn added_removed_edited_and_linked_files_differ() {
        let tree = |entries: &[(&str, Blob)]| -> Tree {
            entries
                .iter()
                .map(|(path, blob)| (RepoPath::root().join(path).unwrap(), blob.clone()))
                .collect()
        };
        let file = |id: &str| Blob::File(id.to_owned());
        let before = tree(&[
            ("a", file("1")),
            ("b", file("2")),
            ("c", file("3")),
            ("link", Blob::Link),
        ]);
        let after = tree(&[
            ("a", file("1")),
            ("b", file("9")),
            ("d", file("4")),
            ("link", Blob::Link),
        ]);
        let changed = |path: &str, blob: Option<&str>| ComparedFile {
            path: path.to_owned(),
            blob: blob.map(str::to_owned),
            previous: None,
        };
        let expected = [
            changed("b", Some("9")),
            changed("c", None),
            changed("d", Some("4")),
            changed("link", Some("")),
        ];
        assert_eq!(differences(&before, &after), expected);
    }
}

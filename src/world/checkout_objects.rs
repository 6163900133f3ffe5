//! Files of a commit from the checkout's own git where it has that commit, else from GitHub. Earlier steps of a job may have written to
//! the checkout, so every object has to match its id.

use std::collections::BTreeMap;

use super::disk::Disk;
use super::git::Git;
use super::object_id::{IdForm, ObjectId, ObjectKind};
use super::objects::{Archived, Depth, Listing, NodeKind, Objects, TreeNode};
use crate::model::RepoPath;

/// The objects of a checkout, and of GitHub.
pub struct CheckoutObjects<'a> {
    git: Git,
    github: &'a dyn Objects,
}

impl<'a> CheckoutObjects<'a> {
    /// The objects of the repository of these files.
    pub fn new(disk: &Disk, github: &'a dyn Objects) -> Self {
        Self {
            git: Git::of(disk),
            github,
        }
    }

    /// The bytes of an object of the checkout; `None` if it is not there, or is not what its id says.
    fn object(&self, kind: ObjectKind, id: &str) -> Option<Vec<u8>> {
        let form = IdForm::of(id)?;
        self.git
            .object(id)
            .ok()
            .filter(|bytes| ObjectId::of(form, kind, bytes).is(id))
    }

    /// All entries of a commit or tree by path, if the checkout has all of its trees.
    fn listed(&self, id: &str, depth: Depth) -> Option<Vec<(String, TreeNode)>> {
        let root = match self.object(ObjectKind::Commit, id) {
            Some(commit) => tree_of(&commit)?,
            None => id.to_owned(),
        };
        let (mut entries, mut left) = (Vec::new(), vec![(String::new(), root)]);
        while let Some((folder, id)) = left.pop() {
            for (name, node) in
                tree_entries(&self.object(ObjectKind::Tree, &id)?, IdForm::of(&id)?)?
            {
                let path = if folder.is_empty() {
                    name
                } else {
                    format!("{folder}/{name}")
                };
                if node.kind == NodeKind::Folder && depth == Depth::All {
                    left.push((path.clone(), node.id.clone()));
                }
                entries.push((path, node));
            }
        }
        Some(entries)
    }

    /// The wanted files of a commit, if the checkout has all of them.
    fn files(&self, commit: &str, wanted: &dyn Fn(&RepoPath) -> bool) -> Option<Archived> {
        let mut files = Archived::new();
        for (path, node) in self.listed(commit, Depth::All)? {
            let path = RepoPath::root().below(&path);
            if node.kind == NodeKind::File && wanted(&path) {
                let bytes = self.object(ObjectKind::Blob, &node.id)?;
                files.insert(path, bytes);
            }
        }
        Some(files)
    }
}

impl Objects for CheckoutObjects<'_> {
    fn tree(&self, id: &str, depth: Depth) -> anyhow::Result<Listing> {
        match self.listed(id, depth) {
            Some(entries) => Ok(Listing {
                entries,
                truncated: false,
            }),
            None => self.github.tree(id, depth),
        }
    }

    fn blob(&self, id: &str) -> anyhow::Result<Vec<u8>> {
        self.object(ObjectKind::Blob, id)
            .map_or_else(|| self.github.blob(id), Ok)
    }

    fn texts(&self, ids: &[&str]) -> BTreeMap<String, Vec<u8>> {
        let (mut texts, mut left) = (BTreeMap::new(), Vec::new());
        for id in ids {
            match self.object(ObjectKind::Blob, id) {
                Some(bytes) => {
                    texts.insert((*id).to_owned(), bytes);
                }
                None => left.push(*id),
            }
        }
        if !left.is_empty() {
            texts.extend(self.github.texts(&left));
        }
        texts
    }

    fn most_files(&self) -> usize {
        self.github.most_files()
    }

    fn archive(
        &self,
        commit: &str,
        wanted: &dyn Fn(&RepoPath) -> bool,
    ) -> anyhow::Result<Option<Archived>> {
        match self.files(commit, wanted) {
            Some(files) => Ok(Some(files)),
            None => self.github.archive(commit, wanted),
        }
    }
}

fn tree_of(commit: &[u8]) -> Option<String> {
    let line = commit.split(|byte| *byte == b'\n').next()?;
    std::str::from_utf8(line)
        .ok()?
        .strip_prefix("tree ")
        .map(str::to_owned)
}

/// The entries of a tree: `MODE NAME`, a zero byte and the id's bytes, for each.
fn tree_entries(mut tree: &[u8], form: IdForm) -> Option<Vec<(String, TreeNode)>> {
    let mut entries = Vec::new();
    while !tree.is_empty() {
        let end = memchr::memchr(0, tree)?;
        let (mode, name) = std::str::from_utf8(&tree[..end]).ok()?.split_once(' ')?;
        let id = tree.get(end + 1..=end + form.bytes())?;
        let kind = NodeKind::of_mode(mode);
        entries.push((
            name.to_owned(),
            TreeNode {
                kind,
                id: hex::encode(id),
                size: None,
            },
        ));
        tree = &tree[end + 1 + form.bytes()..];
    }
    Some(entries)
}

#[cfg(test)]
mod tests {
    use super::{tree_entries, tree_of};
    use crate::world::object_id::IdForm;

    #[test]
    fn a_tree_that_is_cut_has_no_entries() {
        let mut tree = b"100644 a.json\0".to_vec();
        tree.extend([0xab; 20]);
        let entries = tree_entries(&tree, IdForm::Sha1).unwrap();
        assert_eq!(
            (entries[0].0.as_str(), entries[0].1.id.as_str()),
            ("a.json", "ab".repeat(20).as_str())
        );
        assert!((1..tree.len()).all(|end| tree_entries(&tree[..end], IdForm::Sha1).is_none()));
        assert_eq!(tree_of(b"tree 12\nparent 13\n"), Some("12".to_owned()));
        assert_eq!(tree_of(b"parent 13\n"), None);
    }
}

//! The folders of a tree that was listed at once.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::model::RepoPath;
use crate::world::objects::{NodeKind, TreeNode};

/// The entries of a folder by name.
pub(super) type TreeFolder = Arc<BTreeMap<String, TreeNode>>;

/// Groups the entries of a recursive listing by folder.
pub(super) fn by_folder(entries: Vec<(String, TreeNode)>) -> HashMap<RepoPath, TreeFolder> {
    let mut folders: HashMap<String, Vec<(String, TreeNode)>> =
        HashMap::from([(String::new(), Vec::new())]);
    for (path, node) in entries {
        // Git never stores such a name. A name with a backslash is an ordinary file.
        if path.split('/').any(|part| matches!(part, "" | "." | "..")) {
            continue;
        }
        if node.kind == NodeKind::Folder {
            folders.entry(path.clone()).or_default();
        }
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let name = name.to_owned();
        match folders.get_mut(folder) {
            Some(entries) => entries.push((name, node)),
            None => drop(folders.insert(folder.to_owned(), vec![(name, node)])),
        }
    }
    let mut by_path = HashMap::new();
    for (path, entries) in folders {
        let entries = Arc::new(entries.into_iter().collect());
        by_path.insert(RepoPath::root().below(&path), entries);
    }
    by_path
}

//! What git makes of a merge, from three trees: the program has no git where it reads commits as data.

use std::collections::BTreeSet;

use crate::github::client::{Blob, Tree};
use crate::model::RepoPath;

/// The tree of a merge where only one side changed each file since the common commit. `None` if both sides changed one: then the merge is
/// not known.
pub fn merged(origin: &Tree, ours: &Tree, theirs: &Tree) -> Option<Tree> {
    let paths: BTreeSet<&RepoPath> = [origin, ours, theirs]
        .into_iter()
        .flat_map(Tree::keys)
        .collect();
    let mut merge = Tree::new();
    for path in paths {
        let [was, our, their] = [origin, ours, theirs].map(|tree| tree.get(path));
        if let Some(blob) = merged_file(was, our, their)? {
            merge.insert(path.clone(), blob.clone());
        }
    }
    Some(merge)
}

/// What a merge has of a file; the outer `None` if both sides changed it.
fn merged_file<'a>(
    was: Option<&'a Blob>,
    our: Option<&'a Blob>,
    their: Option<&'a Blob>,
) -> Option<Option<&'a Blob>> {
    if our == their || their == was {
        Some(our)
    } else if our == was {
        Some(their)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::merged;
    use crate::github::client::{Blob, Tree};
    use crate::model::RepoPath;

    fn tree(files: &[(&str, &str)]) -> Tree {
        let file = |(path, id): &(&str, &str)| {
            let path = RepoPath::root().join(path).unwrap();
            (path, Blob::File((*id).to_owned()))
        };
        files.iter().map(file).collect()
    }

    #[test]
    fn a_merge_has_of_each_file_what_one_side_made_it() {
        let origin = tree(&[("a", "1"), ("b", "1"), ("c", "1")]);
        let ours = tree(&[("a", "2"), ("b", "1"), ("c", "1"), ("new", "1")]);
        let theirs = tree(&[("a", "1"), ("b", "3")]);
        let merge = tree(&[("a", "2"), ("b", "3"), ("new", "1")]);
        assert_eq!(merged(&origin, &ours, &theirs), Some(merge.clone()));
        assert_eq!(merged(&origin, &theirs, &ours), Some(merge));
        assert_eq!(merged(&origin, &ours, &ours), Some(ours.clone()));
        let both = tree(&[("a", "4"), ("b", "1"), ("c", "1")]);
        assert_eq!(merged(&origin, &ours, &both), None, "both sides changed a");
    }
}

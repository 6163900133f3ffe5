//! Which contents the base commit has, whatever the names of its files are.

use super::{BaseTree, FilesBySize};
use crate::model::RepoPath;
use crate::world::objects::NodeKind;
use crate::world::read_once::StoredForm;

impl BaseTree<'_> {
    /// The files with the content of this file of the head; none where not all folders are listed.
    pub(super) fn files_of_content(&self, after: &RepoPath) -> Vec<RepoPath> {
        let Ok(content) = self.head.content(after) else {
            return Vec::new();
        };
        let by_size = self.by_size.get_or_init(|| self.files_by_size());
        let of_size = by_size
            .get(&(content.bytes.len() as u64))
            .into_iter()
            .flatten();
        let same = of_size.filter(|(_, blob)| content.form_in(blob) == Some(StoredForm::Text));
        same.map(|(file, _)| file.clone()).collect()
    }

    fn files_by_size(&self) -> FilesBySize {
        let state = self.state();
        let mut files = FilesBySize::new();
        for (folder, entries) in state.folders.iter().filter(|_| state.lists_all) {
            for (name, node) in entries
                .iter()
                .filter(|(_, node)| node.kind == NodeKind::File)
            {
                files
                    .entry(node.size.unwrap_or(0))
                    .or_default()
                    .push((folder.child(name), node.clone()));
            }
        }
        files
    }
}

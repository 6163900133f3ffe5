//! The commits before the head, to compare with the head's files.

use std::collections::BTreeMap;

use super::BaseTree;
use crate::files::{BaseFiles, PastCommits};
use crate::model::RepoPath;
use crate::world::objects::{NodeKind, TreeNode};
use crate::world::past_commits::past_commits;

impl BaseTree<'_> {
    pub(super) fn commits_up_to_head(&self, folders: &[RepoPath]) -> anyhow::Result<PastCommits> {
        let Some(head) = self.head.commit() else {
            return Ok(PastCommits::default());
        };
        if let Some(folder) = folders
            .iter()
            .find(|folder| self.submodule_of(folder).is_some())
        {
            anyhow::bail!("{folder} is in a submodule");
        }
        past_commits(self.objects, [&self.commit, &head], folders)
    }

    pub(super) fn look_at_commit(
        &self,
        commit: &str,
        look: &mut dyn FnMut(&dyn BaseFiles),
    ) -> anyhow::Result<()> {
        let tree = Self::open(self.objects, commit, self.head)?;
        look(&tree);
        tree.trouble().map_or(Ok(()), Err)
    }

    /// The contents with these ids: many in one request, the others one by one.
    pub(super) fn contents_by_id(&self, ids: &[&str]) -> BTreeMap<String, Vec<u8>> {
        let mut found = self.objects.texts(ids);
        let most = self.objects.most_files();
        let left: Vec<&&str> = ids
            .iter()
            .filter(|id| !found.contains_key(**id))
            .take(most)
            .collect();
        for id in left {
            found.extend(
                self.objects
                    .blob(id)
                    .ok()
                    .map(|bytes| ((*id).to_owned(), bytes)),
            );
        }
        found
    }

    pub(super) fn is_head_stored_as(&self, file: &RepoPath, id: &str) -> bool {
        let node = TreeNode {
            kind: NodeKind::File,
            id: id.to_owned(),
            size: None,
        };
        self.head
            .content(file)
            .is_ok_and(|content| content.form_in(&node).is_some())
    }
}

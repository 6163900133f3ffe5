//! The files of commits before the head, to compare with the head's.

use super::BaseTree;
use crate::files::{HistoryExtent, PastLook};
use crate::model::RepoPath;

impl BaseTree<'_> {
    /// Looks at the last commits up to the head that changed something in these folders.
    pub(super) fn look_at_past(&self, folders: &[RepoPath], look: PastLook<'_>) -> anyhow::Result<HistoryExtent> {
        let Some(head) = self.head.commit() else { return Ok(HistoryExtent::Whole) };
        let past = self.objects.commits_below(&head, folders)?;
        for id in &past.ids {
            let tree = Self::open(self.objects, id, self.head)?;
            look(id, &tree);
            if let Some(trouble) = tree.trouble() {
                return Err(trouble);
            }
        }
        Ok(past.extent)
    }
}

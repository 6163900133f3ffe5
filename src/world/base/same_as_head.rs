//! Which files of the base commit the head has unchanged.

use std::sync::{Arc, PoisonError};

use super::{BaseFile, BaseTree};
use crate::model::RepoPath;
use crate::world::objects::TreeNode;
use crate::world::read_once::{ReadContent, StoredForm};

impl BaseTree<'_> {
    /// The content of the head's file at this path, if git would store it as this file of the base commit.
    pub(super) fn local(&self, base: BaseFile<'_>, file: &RepoPath) -> Option<Arc<ReadContent>> {
        let content = self.head.content(file).ok()?;
        self.is_stored(self.form_in(base, file, &content), base, file)
            .then_some(content)
    }

    /// How git would store the content of the head's file as this one of the base commit.
    pub(super) fn form_in(
        &self,
        base: BaseFile<'_>,
        file: &RepoPath,
        content: &ReadContent,
    ) -> Option<StoredForm> {
        match self.is_unedited(base, file, content) {
            true => Some(StoredForm::Text),
            false => content.form_in(base.blob),
        }
    }

    /// Whether git knows without a digest that the head's file is this one.
    fn is_unedited(&self, base: BaseFile<'_>, file: &RepoPath, content: &ReadContent) -> bool {
        let is_listed = || {
            let edited = self
                .edited
                .get_or_init(|| self.objects.edited(&self.commit));
            edited
                .as_ref()
                .is_none_or(|edited| edited.has(file.as_str()))
        };
        let is_of_size = base.blob.size == u64::try_from(content.bytes.len()).ok();
        // Git does not look into submodules.
        base.path == file && is_of_size && self.submodule_of(file).is_none() && !is_listed()
    }

    /// Whether these bytes of a file of the head are this file of the base commit.
    pub(super) fn is_same(&self, base: BaseFile<'_>, file: &RepoPath, bytes: &[u8]) -> bool {
        let form = match self.head.kept_with(file, bytes) {
            Some(content) => self.form_in(base, file, &content),
            None => ReadContent::of(bytes.to_vec()).form_in(base.blob),
        };
        self.is_stored(form, base, file)
    }

    /// Whether a file in this form of a blob is that blob. A pointer is the file that it names only if the head's commit has the pointer, too:
    /// else somebody wrote the text of a pointer into one commit, and what it names into the next.
    fn is_stored(&self, form: Option<StoredForm>, base: BaseFile<'_>, file: &RepoPath) -> bool {
        match form {
            None => false,
            Some(StoredForm::Text) => true,
            Some(StoredForm::Pointer) => self
                .checked_out_node(file)
                .is_some_and(|node| node.id == base.blob.id),
        }
    }

    /// The entry of a file in the commit that is checked out; `None` if it has none.
    fn checked_out_node(&self, file: &RepoPath) -> Option<TreeNode> {
        let commit = self.head.commit()?;
        let mut known = self
            .checked_out
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let tree = match known.take() {
            Some(cache) => BaseTree::of(self.objects, &commit, self.head, cache),
            None => BaseTree::open(self.objects, &commit, self.head).ok()?,
        };
        let found = tree.resolved(file).ok().map(|(_, node)| node);
        *known = Some(
            tree.state
                .into_inner()
                .unwrap_or_else(PoisonError::into_inner),
        );
        found
    }
}

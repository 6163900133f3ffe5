//! Which files of the base commit the head has unchanged.

use std::sync::Arc;

use super::{BaseFile, BaseTree, MissingNode};
use crate::diag::ReadFailure;
use crate::files::is_of_the_finder;
use crate::model::RepoPath;
use crate::world::objects::NodeKind;
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
        if self.is_unedited(base, file, content) {
            return Some(StoredForm::Text);
        }
        content.form_in(base.blob)
    }

    /// Whether git knows without a digest that the head's file is this one.
    fn is_unedited(&self, base: BaseFile<'_>, file: &RepoPath, content: &ReadContent) -> bool {
        let is_of_size = base.blob.size == u64::try_from(content.bytes.len()).ok();
        // Git does not look into submodules.
        if base.path != file || !is_of_size || self.submodule_of(file).is_some() {
            return false;
        }
        let edited = self
            .edited
            .get_or_init(|| self.objects.edited(&self.commit));
        edited
            .as_ref()
            .is_some_and(|edited| !edited.has(file.as_str()))
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
                .checkout
                .and_then(|checkout| checkout.node(file).ok())
                .is_some_and(|node| node.id == base.blob.id),
        }
    }

    /// The files of the head that were read or looked for so far, and that this commit, the checked-out one, does not have as they are,
    /// line ends aside.
    pub fn uncommitted(&self) -> Vec<RepoPath> {
        let mut files = self.head.asked().clone();
        files.retain(|file| !self.is_checked_out(file));
        files.into_iter().collect()
    }

    /// Whether the head has a file as this commit does: the same content, or none in both.
    fn is_checked_out(&self, file: &RepoPath) -> bool {
        match (self.node(file), self.head.content(file)) {
            // A walk looks at it only to leave it out.
            (Err(_), Ok(content)) if is_of_the_finder(file, &content.bytes) => true,
            (Ok(node), Ok(content)) if node.kind == NodeKind::File => {
                let base = BaseFile {
                    path: file,
                    blob: &node,
                };
                self.form_in(base, file, &content).is_some()
            }
            // A folder that was tried as a file.
            (Ok(node), Err(_)) => node.kind != NodeKind::File,
            (Err(MissingNode::Missing), Err(problem)) => {
                problem.is_read_failure(ReadFailure::MissingFile)
            }
            (Ok(_) | Err(_), _) => false,
        }
    }
}

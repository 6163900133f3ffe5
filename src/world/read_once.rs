//! Reads every file at most once: gates and comparison see the same bytes, and no file is digested twice.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use memchr::memmem;

use super::disk::Disk;
use super::git::Git;
use super::object_id::{IdForm, ObjectId, ObjectKind, pointer_length};
use super::objects::TreeNode;
use crate::diag::{Code, Diagnostic, ReadFailure};
use crate::files::{Entry, Files};
use crate::model::RepoPath;
use crate::text::{with_returns, without_returns};

/// Total bytes that are cached; files read after that limit are read each time.
const MOST_BYTES: usize = 256 * 1024 * 1024;

/// What an empty folder of a repository is where git cannot tell, as in the image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WithoutGit {
    /// A submodule that is not checked out: nothing else explains the folder.
    Submodule,
    /// Just a folder.
    Folder,
}

/// The files of the head, for comparison with a base commit.
pub struct ReadOnce<'a> {
    disk: &'a Disk,
    without_git: WithoutGit,
    kept: RwLock<HashMap<RepoPath, Arc<ReadContent>>>,
    kept_bytes: AtomicUsize,
    /// The files that were read or looked for.
    asked: Mutex<BTreeSet<RepoPath>>,
}

impl<'a> ReadOnce<'a> {
    /// An empty cache over the files of a disk.
    pub fn of(disk: &'a Disk) -> Self {
        Self {
            disk,
            without_git: WithoutGit::Submodule,
            kept: RwLock::default(),
            kept_bytes: AtomicUsize::new(0),
            asked: Mutex::default(),
        }
    }

    /// The files of a disk without a cache, for a run that compares with no commit.
    pub fn uncached(disk: &'a Disk) -> Self {
        let kept_bytes = AtomicUsize::new(MOST_BYTES);
        Self {
            disk,
            without_git: WithoutGit::Folder,
            kept: RwLock::default(),
            kept_bytes,
            asked: Mutex::default(),
        }
    }

    /// A file's content, from the cache or from disk, up to the size of a baseline. It is not added to the cache.
    pub(super) fn content(&self, file: &RepoPath) -> Result<Arc<ReadContent>, Diagnostic> {
        match self.kept(file) {
            Some(content) => Ok(content),
            None => Ok(Arc::new(ReadContent::of(self.disk.baseline_bytes(file)?))),
        }
    }

    /// The content of a file that was read, if it is these bytes.
    pub(super) fn kept_with(&self, file: &RepoPath, bytes: &[u8]) -> Option<Arc<ReadContent>> {
        self.kept(file).filter(|content| content.bytes == bytes)
    }

    /// The link that a path is or passes through.
    pub(super) fn link_on(&self, path: &RepoPath) -> Option<RepoPath> {
        self.disk.link_on(path)
    }

    /// The files that were read or looked for so far.
    pub(super) fn asked(&self) -> MutexGuard<'_, BTreeSet<RepoPath>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether more than this many of the files that were read differ.
    pub(super) fn is_different_in_more(
        &self,
        most: usize,
        differs: &dyn Fn(&RepoPath, &ReadContent) -> bool,
    ) -> bool {
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner);
        kept.iter()
            .filter(|(file, content)| differs(file, content))
            .nth(most)
            .is_some()
    }

    /// Says of a missing file that its submodule is not checked out. It stays a missing one: not every file has to exist.
    fn explained(&self, problem: Diagnostic, file: &RepoPath) -> Diagnostic {
        let is_missing = problem.is_read_failure(ReadFailure::MissingFile);
        if is_missing && is_in_missing_submodule(self.disk, file, self.without_git) {
            Diagnostic {
                help: CHECK_OUT.to_owned(),
                ..problem
            }
        } else {
            problem
        }
    }

    fn kept(&self, file: &RepoPath) -> Option<Arc<ReadContent>> {
        self.kept
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(file)
            .cloned()
    }
}

impl Files for ReadOnce<'_> {
    fn list_all(&self, folder: &RepoPath) -> Result<Vec<Entry>, Diagnostic> {
        let entries = self.disk.list_all(folder);
        let has_none = match &entries {
            Ok(entries) => entries.is_empty(),
            Err(problem) => problem.read_failure.is_some(),
        };
        // The head's commit names files of a submodule that is not checked out.
        if has_none && is_in_missing_submodule(self.disk, folder, self.without_git) {
            return Err(not_checked_out(folder));
        }
        entries
    }

    fn bytes(&self, file: &RepoPath) -> Result<Vec<u8>, Diagnostic> {
        if let Some(content) = self.kept(file) {
            return Ok(content.bytes.clone());
        }
        self.asked().insert(file.clone());
        let bytes = self
            .disk
            .bytes(file)
            .map_err(|problem| self.explained(problem, file))?;
        if self.kept_bytes.fetch_add(bytes.len(), Ordering::Relaxed) + bytes.len() > MOST_BYTES {
            return Ok(bytes);
        }
        // If two threads read it at the same time, both use the first one's content.
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        Ok(kept
            .entry(file.clone())
            .or_insert_with(|| Arc::new(ReadContent::of(bytes)))
            .bytes
            .clone())
    }

    fn baseline_bytes(&self, file: &RepoPath) -> Result<Vec<u8>, Diagnostic> {
        self.asked().insert(file.clone());
        self.disk.baseline_bytes(file)
    }

    fn is_ignored(&self, file: &RepoPath) -> bool {
        self.disk.is_ignored(file)
    }
}

const CHECK_OUT: &str = "it is in a submodule that is not checked out: check it out (`git submodule update --init`, `submodules: recursive` of \
                         actions/checkout)";

/// Whether an empty or missing folder is a submodule that is not checked out, or would be inside one. Git stores no empty folder, so it is
/// one unless git's index does not know it: then somebody else created the folder.
fn is_in_missing_submodule(disk: &Disk, path: &RepoPath, without_git: WithoutGit) -> bool {
    let whole = disk.place().join(path.as_str());
    let Some(nearest) = whole.ancestors().find(|place| place.is_dir()) else {
        return false;
    };
    // A link may lead to the submodule.
    let Ok(place) = nearest.canonicalize() else {
        return false;
    };
    let is_empty = place
        .read_dir()
        .is_ok_and(|mut entries| entries.next().is_none());
    if !is_empty {
        return false;
    }
    // Git itself creates an entry named `.git`, in every submodule that is checked out.
    if place.join(".git").exists() {
        return false;
    }
    let Ok(root) = disk.place().canonicalize() else {
        return false;
    };
    let mut outside = place
        .ancestors()
        .skip(1)
        .take_while(|outer| outer.starts_with(&root));
    let Some(repository) = outside.find(|outer| outer.join(".git").exists()) else {
        return false;
    };
    let Ok(inside) = place.strip_prefix(repository) else {
        return false;
    };
    Git::at(repository)
        .has_submodule(inside)
        .unwrap_or(without_git == WithoutGit::Submodule)
}

fn not_checked_out(folder: &RepoPath) -> Diagnostic {
    let message =
        "the folder is in a submodule that is not checked out, so its files are not known";
    let help = "check it out (`git submodule update --init`, `submodules: recursive` of actions/checkout), or remove the folder if it is \
                not a submodule";
    Diagnostic::of_file(folder, Code::SUBMODULE_NOT_CHECKED_OUT, message, help)
}

/// How git stores the content of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StoredForm {
    /// Unchanged, or with other line ends.
    Text,
    /// As a Git LFS pointer.
    Pointer,
}

pub(super) struct ReadContent {
    pub(super) bytes: Vec<u8>,
    /// The ids under which git may store them, each computed on first use.
    unchanged: OnceLock<(IdForm, ObjectId)>,
    normalized: OnceLock<(IdForm, ObjectId)>,
    returned: OnceLock<(IdForm, ObjectId)>,
    pointer: OnceLock<(IdForm, ObjectId)>,
}

impl ReadContent {
    pub(super) fn of(bytes: Vec<u8>) -> Self {
        let (unchanged, normalized, returned, pointer) = Default::default();
        Self {
            bytes,
            unchanged,
            normalized,
            returned,
            pointer,
        }
    }

    /// How git would store the bytes as this blob; `None` if it is another one. Only forms of the blob's size are digested.
    pub(super) fn form_in(&self, blob: &TreeNode) -> Option<StoredForm> {
        let form = IdForm::of(&blob.id)?;
        let length = self.bytes.len();
        if has_size(blob, length)
            && is_id_of(&self.unchanged, form, blob, &|| {
                ObjectId::of(form, ObjectKind::Blob, &self.bytes)
            })
        {
            return Some(StoredForm::Text);
        }
        // A checkout on Windows has other line ends than the stored file.
        let returns = memmem::find_iter(&self.bytes, b"\r\n").count();
        if returns > 0
            && has_size(blob, length - returns)
            && is_id_of(&self.normalized, form, blob, &|| {
                ObjectId::of(form, ObjectKind::Blob, &without_returns(&self.bytes))
            })
        {
            return Some(StoredForm::Text);
        }
        // A blob that is stored with returns, as before a `.gitattributes`.
        let plain = memchr::memchr_iter(b'\n', &self.bytes).count() - returns;
        if plain > 0
            && has_size(blob, length + plain)
            && is_id_of(&self.returned, form, blob, &|| {
                ObjectId::of(form, ObjectKind::Blob, &with_returns(&self.bytes))
            })
        {
            return Some(StoredForm::Text);
        }
        let is_pointer = has_size(blob, pointer_length(length))
            && is_id_of(&self.pointer, form, blob, &|| {
                ObjectId::of_pointer(form, &self.bytes)
            });
        is_pointer.then_some(StoredForm::Pointer)
    }
}

fn has_size(blob: &TreeNode, length: usize) -> bool {
    blob.size.is_none_or(|size| size == length as u64)
}

/// Whether the id that is computed once, and then kept in `known`, is that of the blob.
fn is_id_of(
    known: &OnceLock<(IdForm, ObjectId)>,
    form: IdForm,
    blob: &TreeNode,
    id: &dyn Fn() -> ObjectId,
) -> bool {
    let (known_form, known_id) = known.get_or_init(|| (form, id()));
    if *known_form == form {
        return known_id.is(&blob.id);
    }
    // A submodule may use the other hash.
    id().is(&blob.id)
}

#[cfg(test)]
mod tests {
    use tempfile::tempdir;

    use super::{ReadContent, ReadOnce, StoredForm};
    use crate::diag::ReadFailure;
    use crate::files::Files;
    use crate::model::RepoPath;
    use crate::world::disk::Disk;
    use crate::world::objects::{NodeKind, TreeNode};

    // From `git hash-object`.
    const HELLO: &str = "ce013625030ba8dba906f756967f9e9ca394464a";
    /// The pointer of `hello` and a line break, as `git lfs pointer` writes it.
    const HELLO_POINTER: &str = "fa61e1ef71c9908c0926776a4aa3504b3a27f159";
    const HELLO_IN_SHA256: &str =
        "2cf8d83d9ee29543b34a87727421fdecb7e3f3a183d337639025de576db9ebb4";

    fn blob(id: &str, size: Option<u64>) -> TreeNode {
        TreeNode {
            kind: NodeKind::File,
            id: id.to_owned(),
            size,
        }
    }

    #[test]
    fn ids_are_the_ones_that_git_computes() {
        let is = |id: &str, bytes: &[u8]| {
            ReadContent::of(bytes.to_vec())
                .form_in(&blob(id, None))
                .is_some()
        };
        assert!(
            is(HELLO, b"hello\n") && is(HELLO, b"hello\r\n") && is(HELLO_IN_SHA256, b"hello\n")
        );
        assert!(
            !is(HELLO, b"hello")
                && !is(HELLO, b"hello\r")
                && !is("", b"")
                && !is(&HELLO.to_uppercase(), b"hello\n")
        );
        let both = ReadContent::of(b"hello\r\n".to_vec());
        for _ in 0..2 {
            let is = |id: &str| both.form_in(&blob(id, None)).is_some();
            assert!(is(HELLO) && is(HELLO_IN_SHA256) && !is(""));
        }
    }

    #[test]
    fn a_git_lfs_pointer_matches_its_content() {
        let is = |bytes: &[u8]| {
            ReadContent::of(bytes.to_vec()).form_in(&blob(HELLO_POINTER, None))
                == Some(StoredForm::Pointer)
        };
        assert!(is(b"hello\n") && !is(b"hallo\n"));
    }

    #[test]
    fn only_the_form_of_the_size_matches() {
        // The sizes are those of `git cat-file -s`.
        for (id, size, bytes) in [
            (HELLO, 6, b"hello\n".as_slice()),
            (HELLO, 6, b"hello\r\n"),
            (HELLO_POINTER, 126, b"hello\n"),
        ] {
            let is = |size| {
                ReadContent::of(bytes.to_vec())
                    .form_in(&blob(id, Some(size)))
                    .is_some()
            };
            assert!(
                is(size) && !is(size + 1) && !is(size - 1) && !is(0),
                "{id} {bytes:?}"
            );
        }
    }

    #[test]
    fn a_file_is_read_once_and_its_id_is_not_used_for_other_bytes() {
        let folder = tempdir().unwrap();
        let disk = Disk::open(folder.path()).unwrap();
        let (files, file) = (ReadOnce::of(&disk), RepoPath::root().child("a"));
        disk.replace(&file, b"hello\n").unwrap();
        assert_eq!(files.bytes(&file).unwrap(), b"hello\n");
        disk.replace(&file, b"other\n").unwrap();
        assert_eq!(files.bytes(&file).unwrap(), b"hello\n");
        let hello = blob(HELLO, None);
        assert!(files.content(&file).unwrap().form_in(&hello).is_some());
        assert!(
            files
                .kept_with(&file, b"hello\n")
                .is_some_and(|content| content.form_in(&hello).is_some())
        );
        assert!(files.kept_with(&file, b"other\n").is_none());
        let unread = RepoPath::root().child("b");
        assert_eq!(
            files.bytes(&unread).unwrap_err().read_failure,
            Some(ReadFailure::MissingFile)
        );
        disk.replace(&unread, b"hello\n").unwrap();
        assert!(files.kept_with(&unread, b"hello\n").is_none());
        assert_eq!(files.bytes(&unread).unwrap(), b"hello\n");
    }
}

//! The commit that is checked out, read from git's own files: the image has no git.

use super::disk::Disk;
use crate::model::RepoPath;

/// The commit of `HEAD`, where the repository has one.
pub fn head_commit(disk: &Disk) -> Option<String> {
    let git = RepoPath::root().child(".git");
    let read = |path: &str| disk.read(&git.join(path).ok()?).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let head = read("HEAD")?;
    let Some(reference) = head.trim().strip_prefix("ref: ") else { return commit(&head) };
    if let Some(direct) = read(reference) {
        return commit(&direct);
    }
    let packed = read("packed-refs")?;
    packed
        .lines()
        .filter_map(|line| line.split_once(' '))
        .find(|(_, name)| *name == reference)
        .and_then(|(id, _)| commit(id))
}

fn commit(text: &str) -> Option<String> {
    let id = text.trim();
    (matches!(id.len(), 40 | 64) && id.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| id.to_owned())
}

//! The commit that is checked out and the person who works here, read from git's own files: the image has no git.

use std::path::Path;

use super::disk::Disk;
use super::env::Env;
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

/// Who works here: `GIT_AUTHOR_NAME`, else `user.name` of the repository's config, else of the person's own.
pub fn user_name(disk: &Disk, env: &Env) -> Option<String> {
    let own = disk.read(&RepoPath::root().child(".git").child("config")).ok();
    let home = |rest: &str| env.get("HOME").and_then(|home| std::fs::read(Path::new(home).join(rest)).ok());
    let stated = env.get("GIT_AUTHOR_NAME").map(str::to_owned);
    stated
        .or_else(|| name_of(&own?))
        .or_else(|| name_of(&home(".gitconfig")?))
        .or_else(|| name_of(&home(".config/git/config")?))
}

/// `name` of the section `[user]`; the last one counts, as in git.
fn name_of(config: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(config);
    let (mut inside, mut name) = (false, None);
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            inside = line.eq_ignore_ascii_case("[user]");
        } else if let Some((key, value)) = line.split_once('=').filter(|_| inside)
            && key.trim().eq_ignore_ascii_case("name")
        {
            name = Some(value.trim().trim_matches('"').to_owned());
        }
    }
    name.filter(|name| !name.is_empty())
}

//! The owner of the written files. A container's steps run as root, and files of root would stop the next checkout on a runner that is
//! used again (actions/runner#434).

#[cfg(unix)]
use std::path::Component;
use std::path::Path;

#[cfg(unix)]
use cap_std::ambient_authority;
#[cfg(unix)]
use cap_std::fs::Dir;
#[cfg(unix)]
use rustix::fs::{AtFlags, Gid, Uid, chownat, statat};
#[cfg(unix)]
use rustix::process::geteuid;

/// Gives what root owns in folders of a workspace to the workspace's owner. Links are not followed, and what cannot be given away
/// keeps its owner: the outputs are readable for everybody.
#[cfg(unix)]
pub fn give_to_owner(workspace: &Path, folders: &[&Path]) {
    let Ok(dir) = Dir::open_ambient_dir(workspace, ambient_authority()) else {
        return;
    };
    let Ok(owner) = statat(&dir, ".", AtFlags::SYMLINK_NOFOLLOW) else {
        return;
    };
    if !geteuid().is_root() || owner.st_uid == 0 {
        return;
    }
    let owner = (Uid::from_raw(owner.st_uid), Gid::from_raw(owner.st_gid));
    for folder in folders {
        if let Some(inside) = give_way(
            &dir,
            folder.strip_prefix(workspace).unwrap_or(folder),
            owner,
        ) {
            give_content(&inside, owner);
        }
    }
}

/// Gives every folder on the way to `folder` away, and opens the last one. A path that leaves the workspace has no way.
#[cfg(unix)]
fn give_way(dir: &Dir, folder: &Path, owner: (Uid, Gid)) -> Option<Dir> {
    let mut inside = dir.try_clone().ok()?;
    for part in folder.components() {
        let Component::Normal(name) = part else {
            return None;
        };
        give(&inside, Path::new(name), owner);
        inside = open_folder(&inside, Path::new(name))?;
    }
    Some(inside)
}

/// On other systems no container runs the program.
#[cfg(not(unix))]
pub fn give_to_owner(_workspace: &Path, _folders: &[&Path]) {}

#[cfg(unix)]
fn give_content(dir: &Dir, owner: (Uid, Gid)) {
    for entry in dir.entries().into_iter().flatten().flatten() {
        let name = entry.file_name();
        give(dir, Path::new(&name), owner);
        if let Some(folder) = open_folder(dir, Path::new(&name)) {
            give_content(&folder, owner);
        }
    }
}

#[cfg(unix)]
fn open_folder(dir: &Dir, name: &Path) -> Option<Dir> {
    let is_folder = dir
        .symlink_metadata(name)
        .is_ok_and(|metadata| metadata.is_dir());
    is_folder.then(|| dir.open_dir(name).ok()).flatten()
}

#[cfg(unix)]
fn give(dir: &Dir, name: &Path, (user, group): (Uid, Gid)) {
    if statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|status| status.st_uid == 0) {
        // What cannot be given away stays readable.
        chownat(
            dir,
            name,
            Some(user),
            Some(group),
            AtFlags::SYMLINK_NOFOLLOW,
        )
        .ok();
    }
}

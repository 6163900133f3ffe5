//! New files and folders that their owner can use, whatever the umask says.

use std::fs::File;
use std::io;
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use cap_std::fs::Dir;
#[cfg(unix)]
use cap_std::fs::PermissionsExt as _;

/// Read and write, for the owner.
#[cfg(unix)]
const FILE: u32 = 0o600;
/// Read, write and enter, for the owner.
#[cfg(unix)]
const FOLDER: u32 = 0o700;

/// Lets the owner read and write a new file: goldgate reads it again.
#[cfg(unix)]
pub(super) fn allow_owner(file: &File) -> io::Result<()> {
    let mut permissions = file.metadata()?.permissions();
    let mode = permissions.mode();
    if mode & FILE == FILE {
        return Ok(());
    }
    permissions.set_mode(mode | FILE);
    file.set_permissions(permissions)
}

/// Permissions of Windows are not narrowed by the process.
#[cfg(not(unix))]
pub(super) fn allow_owner(_file: &File) -> io::Result<()> {
    Ok(())
}

/// Creates a folder that its owner can list, change and enter.
pub(super) fn create_folder(parent: &Dir, name: &Path) -> io::Result<()> {
    parent.create_dir(name)?;
    #[cfg(unix)]
    {
        let mut permissions = parent.symlink_metadata(name)?.permissions();
        let mode = permissions.mode();
        if mode & FOLDER != FOLDER {
            permissions.set_mode(mode | FOLDER);
            parent.set_permissions(name, permissions)?;
        }
    }
    Ok(())
}

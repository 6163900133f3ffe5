//! Why a file or a folder cannot be read: because of the file, or because of the machine.

use std::io;

#[cfg(unix)]
use rustix::io::Errno;

use crate::diag::{Diagnostic, ReadFailure};
use crate::model::RepoPath;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadTarget {
    File,
    Folder,
}

/// The problem of a file or folder that cannot be read.
pub(super) fn read_problem(path: &RepoPath, target: ReadTarget, error: &io::Error) -> Diagnostic {
    let why = reason(error);
    let (message, of_file) = match target {
        ReadTarget::File => (
            format!("the file cannot be read: {why}"),
            "make it a readable file inside the repository",
        ),
        ReadTarget::Folder => (
            format!("the folder cannot be listed: {why}"),
            "make it a readable folder inside the repository",
        ),
    };
    match (error.kind(), target) {
        (io::ErrorKind::NotFound, ReadTarget::File) => Diagnostic::of_missing_file(path),
        (io::ErrorKind::NotFound, ReadTarget::Folder) => Diagnostic::of_missing_folder(path),
        _ if is_of_machine(error) => {
            let help = "give this process more files or memory (ulimit -a), or check the disk";
            Diagnostic::of_read(path, ReadFailure::Machine, message, help)
        }
        _ => Diagnostic::of_read(path, ReadFailure::Unreadable, message, of_file),
    }
}

/// The error message without its number.
pub(super) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let plain = text.split(" (os error").next().unwrap_or(&text);
    let mut chars = plain.chars();
    chars.next().map_or(String::new(), |first| {
        first.to_lowercase().chain(chars).collect()
    })
}

/// Whether the machine lacks something or fails: too many open files, no memory, a broken disk.
#[cfg(unix)]
fn is_of_machine(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::OutOfMemory
        || matches!(
            Errno::from_io_error(error),
            Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::IO)
        )
}

#[cfg(not(unix))]
fn is_of_machine(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::OutOfMemory
}

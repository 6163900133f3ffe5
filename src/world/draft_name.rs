//! The names and the content of drafts.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::io::Write;

/// Writes the content of a file.
pub type DraftContent<'a> = &'a dyn Fn(&mut dyn Write) -> io::Result<()>;

/// Prefix of the names of drafts.
pub(super) const DRAFT: &str = ".goldgate-";

/// A unique file name. The process id alone is not enough: in containers all processes may have the same one.
pub(super) fn draft_file() -> String {
    format!("{DRAFT}{:016x}.tmp", RandomState::new().hash_one(std::process::id()))
}

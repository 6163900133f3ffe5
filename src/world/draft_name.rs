//! The names of drafts.

use std::hash::{BuildHasher, RandomState};

/// Prefix of the names of drafts.
pub(super) const DRAFT: &str = ".goldgate-";

/// A unique file name. The process id alone is not enough: in containers all processes may have the same one.
pub(super) fn draft_file() -> String {
    format!("{DRAFT}{:016x}.tmp", RandomState::new().hash_one(std::process::id()))
}

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
    format!(
        "{DRAFT}{:016x}.tmp",
        RandomState::new().hash_one(std::process::id())
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::draft_file;

    #[test]
    fn names_differ_within_a_process_too() {
        // Two processes of containers may have the same id, so it must not be what tells names apart.
        let names: BTreeSet<String> = (0..1000).map(|_| draft_file()).collect();
        assert_eq!(names.len(), 1000);
    }
}

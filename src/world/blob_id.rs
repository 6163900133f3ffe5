//! The id under which git keeps the bytes of a file.

use sha1::{Digest, Sha1};
use sha2::Sha256;

use crate::text::without_returns;

/// Whether git keeps these bytes under this id, or a pointer to them in their place, as Git LFS does. Git's SHA-1 is safe here: its hosts
/// refuse files that were made to collide.
pub(super) fn is_id(id: &str, bytes: &[u8]) -> bool {
    let is = |bytes: &[u8]| {
        let heading = format!("blob {}\0", bytes.len());
        let parts = [heading.as_bytes(), bytes];
        match id.len() {
            40 => hex(&parts.iter().fold(Sha1::new(), |hash, part| hash.chain_update(part)).finalize()) == id,
            _ => hex(&parts.iter().fold(Sha256::new(), |hash, part| hash.chain_update(part)).finalize()) == id,
        }
    };
    // A checkout on Windows has other line ends than what is kept.
    is(bytes)
        || (bytes.windows(2).any(|two| two == b"\r\n") && is(&without_returns(bytes)))
        || is(pointer(bytes).as_bytes())
}

/// What Git LFS keeps in place of these bytes. It names them by a digest, so that it stands for no others.
fn pointer(bytes: &[u8]) -> String {
    let digest = hex(&Sha256::digest(bytes));
    format!("version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {}\n", bytes.len())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::is_id;

    #[test]
    fn the_id_is_that_of_git() {
        // As `git hash-object` prints them.
        assert!(is_id("ce013625030ba8dba906f756967f9e9ca394464a", b"hello\n"));
        assert!(is_id("ce013625030ba8dba906f756967f9e9ca394464a", b"hello\r\n"));
        assert!(is_id("2cf8d83d9ee29543b34a87727421fdecb7e3f3a183d337639025de576db9ebb4", b"hello\n"));
        assert!(!is_id("ce013625030ba8dba906f756967f9e9ca394464a", b"hello"));
        assert!(!is_id("", b""));
    }

    #[test]
    fn a_pointer_of_git_lfs_is_what_it_points_to() {
        // The pointer of `hello` and a line break, as `git lfs pointer` writes it, under the id of `git hash-object`.
        assert!(is_id("fa61e1ef71c9908c0926776a4aa3504b3a27f159", b"hello\n"));
        assert!(!is_id("fa61e1ef71c9908c0926776a4aa3504b3a27f159", b"hallo\n"));
    }
}

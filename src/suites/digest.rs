//! Digests that tell whether two measurements are of the same thing.

use std::fmt::Write;

use sha2::Digest;
use sha2::Sha256;

use super::Pair;

/// The SHA-256 of bytes, in lower-case hexadecimal.
pub fn sha256_hex(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        write!(out, "{byte:02x}").expect("a string accepts every write");
    }
    out
}

/// The digest of an agent's cases and their expectations: of one line `{digest}  {case}` each, sorted.
pub fn suite_digest<'a>(pairs: impl IntoIterator<Item = &'a Pair>) -> String {
    let mut lines: Vec<String> = pairs.into_iter().map(|pair| format!("{}  {}\n", pair.digest, pair.case)).collect();
    lines.sort_unstable();
    sha256_hex(lines.concat().as_bytes())
}

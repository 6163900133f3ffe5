//! Digests that tell whether two measurements are of the same thing.

use sha2::Digest;
use sha2::Sha256;

use super::Pair;

/// The SHA-256 of bytes, in lower-case hexadecimal.
pub fn sha256_hex(bytes: &[u8]) -> String {
    let digits = |byte: u8| [byte >> 4, byte & 0xF].map(|digit| char::from_digit(digit.into(), 16));
    Sha256::digest(bytes).into_iter().flat_map(digits).flatten().collect()
}

/// The digest of an agent's cases and their expectations: of one line `{digest}  {case}` each, sorted.
pub fn suite_digest<'a>(pairs: impl IntoIterator<Item = &'a Pair>) -> String {
    let mut lines: Vec<String> = pairs.into_iter().map(|pair| format!("{}  {}\n", pair.digest, pair.case)).collect();
    lines.sort_unstable();
    sha256_hex(lines.concat().as_bytes())
}

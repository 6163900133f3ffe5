//! Digests that tell whether two measurements are of the same thing.

use sha2::Digest;
use sha2::Sha256;

use super::Pair;

/// The SHA-256 of bytes, in lower-case hexadecimal.
pub fn sha256_hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(half.into(), 16).unwrap_or('0');
    let digest = Sha256::digest(bytes);
    let mut hex = String::with_capacity(2 * digest.len());
    for byte in digest {
        hex.extend([digit(byte >> 4), digit(byte & 0xF)]);
    }
    hex
}

/// The digest of an agent's cases and their expectations: of one line `{digest}  {case}` each, sorted.
pub fn suite_digest<'a>(pairs: impl IntoIterator<Item = &'a Pair>) -> String {
    let mut lines: Vec<String> =
        pairs.into_iter().map(|pair| [&*pair.digest, "  ", pair.case.as_str(), "\n"].concat()).collect();
    lines.sort_unstable();
    sha256_hex(lines.concat().as_bytes())
}

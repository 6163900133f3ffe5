//! Line ends: a checkout on Windows has other ones than git stores.

use memchr::{memchr, memmem};

/// The bytes with the line ends that git stores: `\r\n` becomes `\n`, but not in a binary file.
pub fn without_returns(bytes: &[u8]) -> Vec<u8> {
    if is_binary(bytes) {
        return bytes.to_vec();
    }
    let (mut kept, mut start) = (Vec::with_capacity(bytes.len()), 0);
    for at in memmem::find_iter(bytes, b"\r\n") {
        kept.extend_from_slice(&bytes[start..at]);
        start = at + 1;
    }
    kept.extend_from_slice(&bytes[start..]);
    kept
}

/// Whether git sees no text in the bytes, and a checkout gives them no other line ends.
fn is_binary(bytes: &[u8]) -> bool {
    memchr(0, bytes).is_some()
}

/// The bytes with a return before every line end that has none; not in a binary file.
pub fn with_returns(bytes: &[u8]) -> Vec<u8> {
    if is_binary(bytes) {
        return bytes.to_vec();
    }
    let mut kept = Vec::with_capacity(bytes.len() + bytes.len() / 16);
    for (at, byte) in bytes.iter().enumerate() {
        if *byte == b'\n' && (at == 0 || bytes[at - 1] != b'\r') {
            kept.push(b'\r');
        }
        kept.push(*byte);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::{with_returns, without_returns};

    #[test]
    fn only_a_return_before_a_line_feed_is_removed() {
        assert_eq!(without_returns(b"a\r\nb\rc\n\r"), b"a\nb\rc\n\r");
        assert_eq!(without_returns(b"\r\r\n\r\n"), b"\r\n\n");
    }

    #[test]
    fn a_binary_file_has_no_line_ends() {
        assert_eq!(without_returns(b"\0a\r\n"), b"\0a\r\n");
        assert_eq!(with_returns(b"\0a\n"), b"\0a\n");
    }

    #[test]
    fn every_line_end_gets_one_return() {
        assert_eq!(with_returns(b"\na\r\nb\rc\n"), b"\r\na\r\nb\rc\r\n");
    }
}

//! Line ends: a checkout on Windows has other ones than git stores.

use memchr::memmem;

/// The bytes with the line ends that git stores: `\r\n` becomes `\n`.
pub fn without_returns(bytes: &[u8]) -> Vec<u8> {
    let (mut kept, mut start) = (Vec::with_capacity(bytes.len()), 0);
    for at in memmem::find_iter(bytes, b"\r\n") {
        kept.extend_from_slice(&bytes[start..at]);
        start = at + 1;
    }
    kept.extend_from_slice(&bytes[start..]);
    kept
}

#[cfg(test)]
mod tests {
    use super::without_returns;

    #[test]
    fn only_a_return_before_a_line_feed_is_removed() {
        assert_eq!(without_returns(b"a\r\nb\rc\n\r"), b"a\nb\rc\n\r");
        assert_eq!(without_returns(b"\r\r\n\r\n"), b"\r\n\n");
    }
}

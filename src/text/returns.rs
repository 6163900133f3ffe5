//! Line ends: a checkout on Windows has others than git keeps.

/// Bytes with the line ends that git keeps.
pub fn without_returns(bytes: &[u8]) -> Vec<u8> {
    let next = bytes.iter().skip(1).map(Some).chain([None]);
    let kept = bytes.iter().zip(next).filter(|(byte, next)| **byte != b'\r' || *next != Some(&b'\n'));
    kept.map(|(byte, _)| *byte).collect()
}

#[cfg(test)]
mod tests {
    use super::without_returns;

    #[test]
    fn a_return_goes_before_a_line_feed_alone() {
        assert_eq!(without_returns(b"a\r\nb\rc\n\r"), b"a\nb\rc\n\r");
    }
}

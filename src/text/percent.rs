//! Percent-encoding of addresses; the only module that uses the crate for it.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Everything but RFC 3986's unreserved characters.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');
/// The same without the separator of a path.
const RESERVED_IN_PATH: &AsciiSet = &RESERVED.remove(b'/');

/// A text as one segment of a path, or as a value of a query.
pub fn encoded_segment(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// A path whose slashes stay.
pub fn encoded_path(text: &str) -> String {
    utf8_percent_encode(text, RESERVED_IN_PATH).to_string()
}

/// The text behind a percent-encoded one; `None` if that is not UTF-8. A percent sign without two digits is kept.
pub fn decoded(text: &str) -> Option<String> {
    Some(percent_decode_str(text).decode_utf8().ok()?.into_owned())
}

#[cfg(test)]
mod tests {
    use super::{decoded, encoded_path, encoded_segment};

    #[test]
    fn only_unreserved_characters_stay_in_a_segment() {
        assert_eq!(
            encoded_segment("a/b c?d#é~-._Z9"),
            "a%2Fb%20c%3Fd%23%C3%A9~-._Z9"
        );
        assert_eq!(encoded_path("golden/a b.json"), "golden/a%20b.json");
    }

    #[test]
    fn what_is_encoded_is_decoded_again() {
        for text in ["", "a b", "50%", "ключ=значение, «да»", "a\nb"] {
            assert_eq!(decoded(&encoded_segment(text)).as_deref(), Some(text));
        }
        assert_eq!(decoded("%FF"), None);
    }
}

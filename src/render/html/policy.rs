//! The page's content security policy: it loads nothing, and only its own style and its own script apply.

use crate::files::sha256_hex;

/// The policy of a page with this style and this script; without a script, none runs.
pub fn policy(style: &str, script: Option<&str>) -> String {
    let script = script.map_or("none".to_owned(), source);
    format!(
        "default-src 'none'; base-uri 'none'; form-action 'none'; style-src '{}'; script-src '{script}'",
        source(style)
    )
}

/// The digest of an inline text, as a policy names it.
fn source(text: &str) -> String {
    format!(
        "sha256-{}",
        base64(&hex::decode(sha256_hex(text.as_bytes())).unwrap_or_default())
    )
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// RFC 4648, with padding. The crate for it is only part of builds with GitHub.
fn base64(bytes: &[u8]) -> String {
    let mut out = String::new();
    for part in bytes.chunks(3) {
        let word = part
            .iter()
            .chain([&0, &0])
            .take(3)
            .fold(0_usize, |word, byte| word << 8 | usize::from(*byte));
        for place in 0..4 {
            let digit = ALPHABET
                .get(word >> (18 - 6 * place) & 63)
                .filter(|_| place <= part.len());
            out.push(digit.map_or('=', |digit| char::from(*digit)));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{base64, source};

    #[test]
    fn a_digest_is_named_as_browsers_compute_it() {
        let texts =
            ["", "f", "fo", "foo", "foob", "fooba", "foobar"].map(|text| base64(text.as_bytes()));
        assert_eq!(
            texts,
            [
                "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"
            ]
        );
        // The digest of the empty text.
        assert_eq!(
            source(""),
            "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
        );
    }
}

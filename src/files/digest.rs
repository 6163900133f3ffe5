//! Digests of files.

use sha2::{Digest, Sha256};

use crate::text::without_returns;

/// The SHA-256 of bytes, in lower-case hexadecimal.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// The digest of something that git stores and that a checkout may give other line ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckoutDigest {
    /// The digest with the line ends that git stores.
    pub sha256: String,
    /// The digest as checked out; older recordings contain this one.
    pub raw_sha256: String,
}

impl CheckoutDigest {
    /// The digest of a file's bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self::of_forms(&without_returns(bytes), bytes)
    }

    fn of_forms(stored: &[u8], raw: &[u8]) -> Self {
        let raw_sha256 = sha256_hex(raw);
        let sha256 = if stored == raw { raw_sha256.clone() } else { sha256_hex(stored) };
        Self { sha256, raw_sha256 }
    }

    /// Whether `recorded` is this digest, in either form.
    pub fn is(&self, recorded: &str) -> bool {
        recorded == self.sha256 || recorded == self.raw_sha256
    }
}

/// A text with the digests of several files, in both forms of [`CheckoutDigest`].
#[derive(Debug, Default)]
pub struct DigestList {
    stored: String,
    raw: String,
}

impl DigestList {
    /// A list that begins with this text.
    pub fn after(text: String) -> Self {
        Self { stored: text.clone(), raw: text }
    }

    /// Adds the line of a file; `line` makes it from the file's digest.
    pub fn add(&mut self, bytes: &[u8], line: impl Fn(&str) -> String) {
        let digest = CheckoutDigest::of(bytes);
        self.stored.push_str(&line(&digest.sha256));
        self.raw.push_str(&line(&digest.raw_sha256));
    }

    /// The digest of the whole list.
    pub fn digest(&self) -> CheckoutDigest {
        CheckoutDigest::of_forms(self.stored.as_bytes(), self.raw.as_bytes())
    }
}

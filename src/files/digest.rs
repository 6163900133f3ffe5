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
    pub fn of(bytes: &[u8]) -> Self {
        Self::of_forms(&without_returns(bytes), bytes)
    }

    fn of_forms(stored: &[u8], raw: &[u8]) -> Self {
        let raw_sha256 = sha256_hex(raw);
        let sha256 = if stored == raw {
            raw_sha256.clone()
        } else {
            sha256_hex(stored)
        };
        Self { sha256, raw_sha256 }
    }

    /// Whether `recorded` is this digest, in either form.
    pub fn is(&self, recorded: &str) -> bool {
        recorded == self.sha256 || recorded == self.raw_sha256
    }
}

/// The name of a file in a list of digests, on one line.
pub fn escaped_name(name: &str) -> String {
    name.replace('\\', "\\\\")
        .replace('\n', "\\n")
        .replace('\r', "\\r")
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
        Self {
            stored: text.clone(),
            raw: text,
        }
    }

    /// Adds the line of a file; `line` makes it from the file's digest.
    pub fn add(&mut self, bytes: &[u8], line: impl Fn(&str) -> String) {
        let digest = CheckoutDigest::of(bytes);
        self.stored.push_str(&line(&digest.sha256));
        self.raw.push_str(&line(&digest.raw_sha256));
    }

    /// Adds a file as `sha256sum` prints it. A name with a line break is escaped, so that it cannot contain the line of another file.
    pub fn add_file(&mut self, bytes: &[u8], name: &str) {
        let escaped = escaped_name(name);
        let mark = if escaped == name { "" } else { "\\" };
        self.add(bytes, |digest| format!("{mark}{digest}  {escaped}\n"));
    }

    pub fn digest(&self) -> CheckoutDigest {
        CheckoutDigest::of_forms(self.stored.as_bytes(), self.raw.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::{DigestList, sha256_hex};

    #[test]
    fn a_name_with_a_line_break_is_not_the_line_of_another_file() {
        let mut two = DigestList::default();
        two.add_file(b"a", "p/a.md");
        two.add_file(b"b", "p/b.md");
        let mut one = DigestList::default();
        one.add_file(b"a", &format!("p/a.md\n{}  p/b.md", sha256_hex(b"b")));
        assert_ne!(one.digest(), two.digest());
        // A back slash that was there is not one that escapes.
        let digest = |name| {
            let mut list = DigestList::default();
            list.add_file(b"a", name);
            list.digest()
        };
        assert_ne!(digest("a\\nb"), digest("a\nb"));
    }
}

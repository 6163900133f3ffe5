//! Where the names in a comment lead to.

/// Links to more information.
#[derive(Debug, Clone, Default)]
pub struct Links {
    /// The address of a file of the repository at the head commit, without the file: `https://…/blob/SHA`.
    pub files: Option<String>,
    /// The address of the run.
    pub run: Option<String>,
    /// The label that approves moved numbers.
    pub label: Option<String>,
    /// The line that gives the reason for a worse number, if one is needed.
    pub reason: Option<&'static str>,
}

/// Percent-encodes a path for a link.
pub(super) fn path(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'/' => out.push(char::from(byte)),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

//! Keys in texts, which no recording keeps. What is left of a key shows its format, so that a check that forbids such keys still finds it.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::pattern;
use crate::model::REDACTED;

/// Key formats of common vendors. The first group is the part that every key of the format has, which is kept.
const KEYS: &[&str] = &[
    r"(sk-(?:(?:live|test|ant|proj|svcacct|admin)-)?)[A-Za-z0-9_-]{16,}",
    r"(gh[pousr]_)[A-Za-z0-9]{20,}",
    r"(github_pat_)[A-Za-z0-9_]{20,}",
    r"(glpat-)[A-Za-z0-9_-]{16,}",
    r"(AKIA|ASIA)[0-9A-Z]{16}",
    r"(xox[abeprs]-)[A-Za-z0-9-]{10,}",
    r"(AIza)[0-9A-Za-z_-]{30,}",
    r"(hf_)[A-Za-z0-9]{20,}",
    r"(npm_)[A-Za-z0-9]{30,}",
    r"(eyJ)[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    r"((?i:bearer)\s+)[A-Za-z0-9._~+/=-]{16,}",
    r"(-----BEGIN [A-Z ]*PRIVATE KEY-----)(?s:.*?)(?:-----END [A-Z ]*PRIVATE KEY-----|\z)",
];

static PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| KEYS.iter().map(|text| pattern(text)).collect());

/// The end of a private key, so that what is left of one has no other end.
const END: &str = "-----END PRIVATE KEY-----";

/// The text without the keys in it. A text without keys, or without what is left of them, is unchanged.
pub fn without_keys(text: &str) -> Cow<'_, str> {
    // The shortest key, and most texts have no key.
    if text.len() < SHORTEST {
        return Cow::Borrowed(text);
    }
    let rest = |found: &Captures<'_>| match &found[1] {
        begin if begin.starts_with("-----") => format!("{begin}{REDACTED}{END}"),
        begin => format!("{begin}{REDACTED}"),
    };
    PATTERNS.iter().fold(Cow::Borrowed(text), |text, pattern| match pattern.replace_all(&text, rest) {
        Cow::Borrowed(_) => text,
        Cow::Owned(replaced) => Cow::Owned(replaced),
    })
}

/// Length of the shortest key, in bytes.
const SHORTEST: usize = 15;

/// What a removed part of a text may have been.
const FILLERS: [&str; 3] = ["0a1b2c3d", "0A1B2C3D", "01234567"];

/// Whether a pattern may match a text whose keys are removed.
pub fn may_match(pattern: &Regex, text: &str) -> bool {
    let of = |filler: &str| text.replace(REDACTED, &filler.repeat(8));
    pattern.is_match(text) || (text.contains(REDACTED) && FILLERS.iter().any(|filler| pattern.is_match(&of(filler))))
}

#[cfg(test)]
mod tests {
    use super::{may_match, pattern, without_keys};

    #[test]
    fn what_is_left_of_a_key_shows_its_format() {
        for (key, left) in [
            ("sk-ant-api03-abcdefghijklmnop", "sk-ant-[redacted]"),
            ("sk-live-0123456789abcdef0123", "sk-live-[redacted]"),
            ("sk-0123456789abcdef", "sk-[redacted]"),
            ("ghp_0123456789abcdefghijABCDEFGHIJ", "ghp_[redacted]"),
            ("github_pat_11ABCDEFG0123456789_abc", "github_pat_[redacted]"),
            ("AKIAIOSFODNN7EXAMPLE", "AKIA[redacted]"),
            ("xoxb-123456789012-abc", "xoxb-[redacted]"),
            ("glpat-0123456789abcdefghij", "glpat-[redacted]"),
            ("AIza0123456789abcdefghijABCDEFGHIJ", "AIza[redacted]"),
            ("hf_0123456789abcdefghij", "hf_[redacted]"),
            ("npm_0123456789abcdefghijABCDEFGHIJ", "npm_[redacted]"),
            ("Bearer abcdefghijklmnop.qrstu", "Bearer [redacted]"),
            ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijk", "eyJ[redacted]"),
            (
                "-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----",
                "-----BEGIN RSA PRIVATE KEY-----[redacted]-----END PRIVATE KEY-----",
            ),
        ] {
            let once = without_keys(&format!("the key is {key}, keep it")).into_owned();
            assert_eq!(once, format!("the key is {left}, keep it"));
            assert_eq!(without_keys(&once), once, "once is enough");
        }
        assert_eq!(without_keys("a short task-list of sk-8"), "a short task-list of sk-8");
    }

    #[test]
    fn a_pattern_of_keys_still_finds_what_is_left() {
        for (found, text, expected) in [
            (r"sk-[A-Za-z0-9-]{20,}", "take sk-live-[redacted]", true),
            (r"AKIA[0-9A-Z]{16}", "AKIA[redacted]", true),
            (r"sk-live", "sk-live-[redacted]", true),
            (r"\d{3}-\d{2}-\d{4}", "the number is [redacted]", false),
            (r"refund", "sk-[redacted]", false),
            (r"sk-[A-Za-z0-9-]{20,}", "no key", false),
        ] {
            assert_eq!(may_match(&pattern(found), text), expected, "{found} in {text}");
        }
    }
}

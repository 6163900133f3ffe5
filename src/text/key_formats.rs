//! The formats of keys in texts, which no recording keeps. What is left of a key shows its format, so that a check that forbids such keys still finds it.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::{Captures, Regex};

use super::pattern;
use crate::model::REDACTED;

/// A key format of a common vendor.
struct KeyFormat {
    /// Every key of the format contains one of them, in any letter case.
    signs: &'static [&'static str],
    /// A regular expression of what every key of the format begins with, which is kept.
    kept: &'static str,
    /// A regular expression of the rest, which is removed.
    rest: &'static str,
    /// What the rest may be, as text that JSON does not escape: of the length that vendors use, so that a pattern for exactly these keys
    /// matches.
    possible: &'static [&'static str],
}

const FORMATS: &[KeyFormat] = &[
    KeyFormat {
        signs: &["sk-"],
        // Other than at the end of a word such as "risk-free". In an escaped text, letters before it can be part of an escape.
        kept: r"(?:^|[^A-Za-z0-9]|\\[abfnrtv]|\\[ux][0-9A-Fa-f]{2,4}|%[0-9A-Fa-f]{2})sk-(?:(?:live|test|ant|proj|svcacct|admin)-)?",
        rest: r"[A-Za-z0-9_-]{16,}",
        possible: &[
            "0a1B2c3D4e5F6g7H8i9J",
            "0a1B2c3D4e5F6g7H8i9J0k1L",
            "0a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d",
            "0a1B2c3D4e5F6g7H8i9JT3BlbkFJ0k1L2m3N4o5P6q7R8s9T",
            "0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X",
            "api03-0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6a7B8c9D0e1F2g3H4i5J6k7L8m9N0o1P2q3R4AA",
        ],
    },
    KeyFormat {
        signs: &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        kept: r"gh[pousr]_",
        rest: r"[A-Za-z0-9]{20,}",
        possible: &["0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R"],
    },
    KeyFormat {
        signs: &["github_pat_"],
        kept: r"github_pat_",
        rest: r"[A-Za-z0-9_]{20,}",
        possible: &[
            "0a1B2c3D4e5F6g7H8i9J0k_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6a7B8c9",
        ],
    },
    KeyFormat {
        signs: &["glpat-"],
        kept: r"glpat-",
        rest: r"[A-Za-z0-9_-]{16,}",
        possible: &["0a1B2c3D4e5F6g7H8i9J"],
    },
    KeyFormat {
        signs: &["akia", "asia"],
        kept: r"AKIA|ASIA",
        rest: r"[0-9A-Z]{16}",
        possible: &["Q2B3C4D5E6F7G2H3", "QABCDEFGHIJKLMNO"],
    },
    KeyFormat {
        signs: &["xox"],
        kept: r"xox[abeprs]-",
        rest: r"[A-Za-z0-9-]{10,}",
        possible: &["123456789012-1234567890123-0a1B2c3D4e5F6g7H8i9J0k1L"],
    },
    KeyFormat {
        signs: &["aiza"],
        kept: r"AIza",
        rest: r"[0-9A-Za-z_-]{30,}",
        possible: &["0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7"],
    },
    KeyFormat {
        signs: &["hf_"],
        kept: r"hf_",
        rest: r"[A-Za-z0-9]{20,}",
        possible: &["abCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGh"],
    },
    KeyFormat {
        signs: &["npm_"],
        kept: r"npm_",
        rest: r"[A-Za-z0-9]{30,}",
        possible: &["0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R"],
    },
    KeyFormat {
        signs: &["eyj"],
        kept: r"eyJ",
        rest: r"[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
        possible: &[
            "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1",
        ],
    },
    KeyFormat {
        signs: &["bearer"],
        kept: r"(?i:bearer)\s+",
        rest: r"[A-Za-z0-9._~+/=-]{16,}",
        possible: &[
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1",
            "0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P",
        ],
    },
    KeyFormat {
        signs: &["-----begin "],
        kept: r"-----BEGIN [A-Z ]*PRIVATE KEY-----",
        // Of a key without its end, only lines of a key are removed.
        rest: r"(?:(?s:.*?)-----END [A-Z ]*PRIVATE KEY-----|(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{20,})+)",
        possible: &["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC0a1B2c3D4e5F6"],
    },
];

/// The searches for a format. Almost no text has a sign of a key, and compiling all patterns takes longer than a small run.
struct FormatSearch {
    format: &'static KeyFormat,
    signs: AhoCorasick,
    key: OnceLock<Regex>,
    cut: OnceLock<Regex>,
    left: OnceLock<Regex>,
}

impl FormatSearch {
    fn of(format: &'static KeyFormat) -> Self {
        let mut search = AhoCorasick::builder();
        let signs = search
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::NoncontiguousNFA));
        let signs = signs
            .build(format.signs)
            .expect("the signs are constants that the tests use");
        Self {
            format,
            signs,
            key: OnceLock::new(),
            cut: OnceLock::new(),
            left: OnceLock::new(),
        }
    }

    /// The pattern of a key, if the text may have one. The first group is what is kept.
    fn key_in(&self, text: &str) -> Option<&Regex> {
        let KeyFormat { kept, rest, .. } = self.format;
        self.signs
            .is_match(text)
            .then(|| self.key.get_or_init(|| pattern(&format!("({kept}){rest}"))))
    }

    /// The pattern of the beginning of a key at a cut, if the text may have one. The first group is what is kept.
    fn cut_key_in(&self, text: &str) -> Option<&Regex> {
        let KeyFormat { kept, .. } = self.format;
        if !self.signs.is_match(text) {
            return None;
        }
        Some(
            self.cut
                .get_or_init(|| pattern(&format!(r"({kept})\s*[A-Za-z0-9._~+/=-]{{8,}}{CUT}"))),
        )
    }

    /// The pattern of what is left of a key. The first group is what is kept.
    fn left(&self) -> &Regex {
        let KeyFormat { kept, .. } = self.format;
        self.left
            .get_or_init(|| pattern(&format!("(?i)({kept}){}", regex::escape(REDACTED))))
    }
}

/// Finds whether a text can have a key of any format: almost none has, and this is one search instead of one for each format.
static ANY_SIGN: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let signs = FORMATS.iter().flat_map(|format| format.signs);
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(signs)
        .expect("the signs are constants that the tests use")
});

static SEARCHES: LazyLock<Vec<FormatSearch>> =
    LazyLock::new(|| FORMATS.iter().map(FormatSearch::of).collect());

/// The end of a private key, so that what is left of one has no other end.
const END: &str = "-----END PRIVATE KEY-----";

/// The text without the keys in it. A text without keys, or without what is left of them, is unchanged.
pub fn without_keys(text: &str) -> Cow<'_, str> {
    // The shortest key, and most texts have no key.
    if text.len() < SHORTEST || !ANY_SIGN.is_match(text) {
        return Cow::Borrowed(text);
    }
    let mut plain = Cow::Borrowed(text);
    for search in SEARCHES.iter() {
        if let Some(key) = search.key_in(&plain)
            && let Cow::Owned(replaced) = key.replace_all(&plain, left_of_key)
        {
            plain = Cow::Owned(replaced);
        }
    }
    plain
}

/// What replaces a key: its beginning, and the mark of the removed rest.
fn left_of_key(key: &Captures<'_>) -> String {
    match &key[1] {
        begin if begin.starts_with("-----") => format!("{begin}{REDACTED}{END}"),
        begin => format!("{begin}{REDACTED}"),
    }
}

/// The mark of a text that was shortened.
pub const CUT: char = '…';

/// The text without the beginnings of keys at its cuts.
pub fn without_cut_keys(text: &str) -> Cow<'_, str> {
    if !ANY_SIGN.is_match(text) {
        return Cow::Borrowed(text);
    }
    let mut plain = Cow::Borrowed(text);
    for search in SEARCHES.iter() {
        if let Some(key) = search.cut_key_in(&plain)
            && let Cow::Owned(replaced) = key.replace_all(&plain, |captures: &Captures<'_>| {
                format!("{}{REDACTED}{CUT}", &captures[1])
            })
        {
            plain = Cow::Owned(replaced);
        }
    }
    plain
}

/// Length of the shortest key, in bytes.
const SHORTEST: usize = 15;

/// What any removed part of a text may have been.
const FILLERS: [&str; 3] = ["0a1b2c3d", "0A1B2C3D", "01234567"];

/// Whether a pattern may match a text whose keys are removed.
pub fn may_match(pattern: &Regex, text: &str) -> bool {
    if pattern.is_match(text) {
        return true;
    }
    text.contains(REDACTED)
        && FILLERS
            .iter()
            .any(|filler| pattern.is_match(&text.replace(REDACTED, &filler.repeat(8))))
}

/// What a text whose keys are removed may have been; nothing for a text without what is left of a key. A removed part without the beginning of a
/// key stays: an agent may mask its own answers.
pub fn possible_originals(text: &str) -> BTreeSet<String> {
    if !text.contains(REDACTED) {
        return BTreeSet::new();
    }
    let fillers = FILLERS.map(|filler| filler.repeat(4));
    let most = FORMATS
        .iter()
        .map(|format| format.possible.len())
        .max()
        .unwrap_or(0);
    let mut originals = BTreeSet::new();
    for number in 0..fillers.len() + most {
        let mut original = text.to_owned();
        for search in SEARCHES.iter() {
            let possible = search.format.possible;
            let rest = match number.checked_sub(fillers.len()) {
                None => fillers[number].as_str(),
                Some(number) => possible[number % possible.len()],
            };
            original = search
                .left()
                .replace_all(&original, |captures: &Captures<'_>| {
                    format!("{}{rest}", &captures[1])
                })
                .into_owned();
        }
        if original != text {
            originals.insert(original);
        }
    }
    originals
}

/// From this length on, in bytes, a phrase without a digit may be a part of a key.
const LONG: usize = 16;

/// Whether a text may have had a phrase where a key was removed: the phrase begins as the key did, and the rest of it may be one of a key.
pub fn may_have_had(text: &str, phrase: &str) -> bool {
    if !text.contains(REDACTED) {
        return false;
    }
    let phrase = phrase.trim().to_lowercase();
    SEARCHES.iter().any(|search| {
        search
            .left()
            .captures_iter(text)
            .any(|captures| may_begin_with(&phrase, &captures[1]))
    })
}

/// Whether a phrase in lower case begins as a key did, and the rest of it may be one of a key.
fn may_begin_with(phrase: &str, kept: &str) -> bool {
    let kept = kept
        .trim_start_matches(|char: char| !char.is_ascii_alphanumeric() && char != '-')
        .to_lowercase();
    let rest = phrase.strip_prefix(&kept).unwrap_or_default();
    // Almost every part of a key has a digit, and almost no word has one.
    !rest.contains(char::is_whitespace)
        && (rest.contains(|char: char| char.is_ascii_digit()) || rest.len() >= LONG)
}

#[cfg(test)]
mod tests {
    use super::{SEARCHES, may_have_had, may_match, pattern, possible_originals, without_keys};

    #[test]
    fn what_is_left_of_a_key_shows_its_format() {
        for (key, left) in [
            ("sk-ant-api03-abcdefghijklmnop", "sk-ant-[redacted]"),
            ("sk-live-0123456789abcdef0123", "sk-live-[redacted]"),
            ("sk-0123456789abcdef", "sk-[redacted]"),
            ("ghp_0123456789abcdefghijABCDEFGHIJ", "ghp_[redacted]"),
            ("gho_0123456789abcdefghijABCDEFGHIJ", "gho_[redacted]"),
            ("ghu_0123456789abcdefghijABCDEFGHIJ", "ghu_[redacted]"),
            ("ghs_0123456789abcdefghijABCDEFGHIJ", "ghs_[redacted]"),
            ("ghr_0123456789abcdefghijABCDEFGHIJ", "ghr_[redacted]"),
            (
                "github_pat_11ABCDEFG0123456789_abc",
                "github_pat_[redacted]",
            ),
            ("AKIAIOSFODNN7EXAMPLE", "AKIA[redacted]"),
            ("ASIAIOSFODNN7EXAMPLE", "ASIA[redacted]"),
            ("xoxb-123456789012-abc", "xoxb-[redacted]"),
            ("glpat-0123456789abcdefghij", "glpat-[redacted]"),
            ("AIza0123456789abcdefghijABCDEFGHIJ", "AIza[redacted]"),
            ("hf_0123456789abcdefghij", "hf_[redacted]"),
            ("npm_0123456789abcdefghijABCDEFGHIJ", "npm_[redacted]"),
            ("Bearer abcdefghijklmnop.qrstu", "Bearer [redacted]"),
            ("BEARER abcdefghijklmnop.qrstu", "BEARER [redacted]"),
            (
                "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijk",
                "eyJ[redacted]",
            ),
            (
                "-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----",
                "-----BEGIN RSA PRIVATE KEY-----[redacted]-----END PRIVATE KEY-----",
            ),
        ] {
            let once = without_keys(&format!("the key is {key}, keep it")).into_owned();
            assert_eq!(once, format!("the key is {left}, keep it"));
            assert_eq!(without_keys(&once), once, "once is enough");
        }
    }

    #[test]
    fn other_words_stay() {
        for text in [
            "a short task-list of sk-8",
            "a risk-free-guaranteed-returns plan",
            "a key file starts with -----BEGIN PRIVATE KEY----- and that is all; returns are guaranteed",
        ] {
            assert_eq!(without_keys(text), text);
        }
        for before in ["\\n", "\\t", "\\u003d", "%3D", "=", "_"] {
            let key = format!("key{before}sk-live-0123456789abcdef0123");
            assert_eq!(without_keys(&key), format!("key{before}sk-live-[redacted]"));
        }
        let cut = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcwggSjAgEAAoIB and more";
        let left = "-----BEGIN PRIVATE KEY-----[redacted]-----END PRIVATE KEY----- and more";
        assert_eq!(without_keys(cut), left);
    }

    #[test]
    fn a_pattern_of_keys_finds_what_a_key_may_have_been() {
        for (found, text, expected) in [
            (r"sk-[A-Za-z0-9-]{20,}", "take sk-live-[redacted]", true),
            (r"AKIA[0-9A-Z]{16}", "AKIA[redacted]", true),
            (r"\bAKIA[0-9A-Z]{16}\b", "the key AKIA[redacted].", true),
            (
                r"eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.",
                "eyJ[redacted]",
                true,
            ),
            (
                r"[Bb]earer [A-Za-z0-9]{8,}\.[A-Za-z0-9]+",
                "Bearer [redacted]",
                true,
            ),
            (r"\bsk-[A-Za-z0-9]{48}\b", "sk-[redacted]", true),
            (r"sk-live", "sk-live-[redacted]", true),
            (r"refund", "sk-[redacted]", false),
            (r"sk-[A-Za-z0-9-]{20,}", "no key", false),
            (r"[0-9a-z]{10,}", "the name is [redacted]", false),
        ] {
            let pattern = pattern(found);
            let matches = possible_originals(text)
                .iter()
                .any(|original| pattern.is_match(original));
            assert_eq!(matches, expected, "{found} in {text}");
        }
        for (found, expected) in [(r"[0-9a-z]{10,}", true), (r"\d{3}-\d{2}-\d{4}", false)] {
            assert_eq!(
                may_match(&pattern(found), "the name is [redacted]"),
                expected,
                "{found}"
            );
        }
    }

    #[test]
    fn what_a_key_may_have_been_is_a_key() {
        for search in SEARCHES.iter() {
            for rest in search.format.possible {
                let begin = [
                    "sk-",
                    "ghp_",
                    "github_pat_",
                    "glpat-",
                    "AKIA",
                    "xoxb-",
                    "AIza",
                    "hf_",
                    "npm_",
                    "eyJ",
                    "Bearer ",
                ];
                let pem = format!("-----BEGIN PRIVATE KEY-----{rest}");
                let is_key = begin
                    .iter()
                    .map(|begin| format!("{begin}{rest}"))
                    .chain([pem])
                    .any(|text| search.key_in(&text).is_some_and(|key| key.is_match(&text)));
                assert!(is_key, "{rest}");
                assert_eq!(
                    serde_json::Value::from(*rest).to_string(),
                    format!("\"{rest}\"")
                );
            }
        }
    }

    #[test]
    fn a_phrase_that_begins_as_the_key_may_have_been_there() {
        for (text, phrase, expected) in [
            ("take \"sk-live-[redacted]\"", "sk-live-0123", true),
            ("take sk-live-[redacted]", "SK-Live-0123", true),
            ("take sk-live-[redacted]", "sk-live-", false),
            ("take sk-live-[redacted]", "refund", false),
            ("set Bearer [redacted]", "Bearer of bad news", false),
            ("set Bearer [redacted]", "Bearer token", false),
            ("take AKIA[redacted]", "AKIAIOSFODNN7", true),
            ("take [redacted]", "sk-live-0123", false),
        ] {
            assert_eq!(may_have_had(text, phrase), expected, "{phrase} in {text}");
        }
    }
}

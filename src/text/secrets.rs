//! The one place that removes secrets from texts: [`Redactor`]. Whatever is printed or written goes through it, before it is shortened.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use aho_corasick::{AhoCorasick, MatchKind};
use regex::Regex;

use super::key_formats::{CUT, without_cut_keys, without_keys};
use super::line;
use super::personal::{PersonalData, without_personal_data};
use crate::model::REDACTED;

/// The shortest line of a value that counts as a secret, in characters: shorter ones occur in ordinary words.
const SHORTEST: usize = 8;

/// Removes secrets from texts: the values of variables, keys in the formats of common vendors, and what the patterns of a config match.
/// `Debug` hides the values.
#[derive(Clone, Default)]
pub struct Redactor {
    /// Every form of a value that a text can have.
    forms: Vec<String>,
    finder: Option<AhoCorasick>,
    patterns: Vec<Regex>,
    personal: PersonalData,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Redactor of {} forms", self.forms.len())
    }
}

impl Redactor {
    /// Removes these values, common keys, and what the patterns match. Of a value with several lines, each line counts as well.
    pub fn new<'v>(values: impl IntoIterator<Item = &'v str>, patterns: Vec<Regex>) -> Self {
        let mut forms = BTreeSet::new();
        for value in values {
            for part in [value].into_iter().chain(value.lines()) {
                add_forms(part.trim(), &mut forms);
            }
        }
        let forms: Vec<String> = forms.into_iter().collect();
        // Of two values that begin alike, the longer one: the shorter one would leave a remainder.
        let finder = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(&forms)
            .ok()
            .filter(|_| !forms.is_empty());
        Self {
            forms,
            finder,
            patterns,
            personal: PersonalData::Kept,
        }
    }

    /// The same, which also treats personal data so.
    pub fn with_personal(self, personal: PersonalData) -> Self {
        Self { personal, ..self }
    }

    /// Whether personal data stay.
    pub fn personal(&self) -> PersonalData {
        self.personal
    }

    /// The text without secrets.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut plain = self.without_values(text);
        if let Cow::Owned(redacted) = without_keys(&plain) {
            plain = Cow::Owned(redacted);
        }
        for pattern in &self.patterns {
            if let Cow::Owned(redacted) = pattern.replace_all(&plain, REDACTED) {
                plain = Cow::Owned(redacted);
            }
        }
        if self.personal == PersonalData::Replaced
            && let Cow::Owned(redacted) = without_personal_data(&plain)
        {
            plain = Cow::Owned(redacted);
        }
        plain
    }

    /// A text that grading may have shortened, without secrets: what is left of a value or a key at a cut is removed as well.
    pub fn excerpt<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let plain = self.text(text);
        if !plain.contains(CUT) {
            return plain;
        }
        let plain = self.without_cut_values(&plain);
        let plain = without_cut_keys(&plain).into_owned();
        if plain == text {
            Cow::Borrowed(text)
        } else {
            Cow::Owned(plain)
        }
    }

    /// The text without the values of variables. This is for a text in a format of its own, such as JSON, whose contents went through
    /// [`Redactor::text`] before: a key or a pattern can match across the marks of the format.
    pub fn without_values<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let Some(finder) = self.finder.as_ref().filter(|finder| finder.is_match(text)) else {
            return Cow::Borrowed(text);
        };
        let mut plain = String::with_capacity(text.len());
        let mut end = 0;
        for secret in finder.find_iter(text) {
            plain.push_str(&text[end..secret.start()]);
            plain.push_str(REDACTED);
            end = secret.end();
        }
        plain.push_str(&text[end..]);
        Cow::Owned(plain)
    }

    fn without_cut_values(&self, text: &str) -> String {
        let parts: Vec<&str> = text.split(CUT).collect();
        let last = parts.len() - 1;
        let mut plain = Vec::with_capacity(parts.len());
        for (index, part) in parts.into_iter().enumerate() {
            let mut part = part.to_owned();
            if index < last {
                self.remove_beginning_of_value(&mut part);
            }
            if index > 0 {
                self.remove_end_of_value(&mut part);
            }
            plain.push(part);
        }
        plain.join(&CUT.to_string())
    }

    /// Removes the beginning of a value at the end of a text.
    fn remove_beginning_of_value(&self, text: &mut String) {
        let beginnings = self
            .forms
            .iter()
            .flat_map(|form| cuts(form).map(|cut| &form[..cut]));
        let longest = beginnings
            .filter(|beginning| text.ends_with(beginning))
            .map(str::len)
            .max();
        if let Some(length) = longest {
            text.truncate(text.len() - length);
            text.push_str(REDACTED);
        }
    }

    /// Removes the end of a value at the beginning of a text.
    fn remove_end_of_value(&self, text: &mut String) {
        let ends = self
            .forms
            .iter()
            .flat_map(|form| cuts(form).map(|cut| &form[cut..]));
        let longest = ends
            .filter(|end| end.chars().count() >= SHORTEST && text.starts_with(end))
            .map(str::len)
            .max();
        if let Some(length) = longest {
            text.replace_range(..length, REDACTED);
        }
    }
}

/// Adds the forms in which a text can have a value: unchanged, on one line, and as a JSON string, which can be within another one.
fn add_forms(value: &str, forms: &mut BTreeSet<String>) {
    if value.chars().count() < SHORTEST {
        return;
    }
    let escaped = json_escaped(value);
    let escaped_twice = json_escaped(&escaped);
    let on_one_line = line(value, value.len());
    // What is left of a value with invisible characters can be short.
    for form in [on_one_line, escaped_twice, escaped, value.to_owned()] {
        if form.chars().count() >= SHORTEST {
            forms.insert(form);
        }
    }
}

/// The text as a JSON string has it.
fn json_escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// Where a value can be cut so that its beginning still counts as a secret.
fn cuts(form: &str) -> impl Iterator<Item = usize> {
    form.char_indices().skip(SHORTEST).map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::Redactor;
    use crate::text::pattern;

    fn redacted(value: &str, text: &str) -> String {
        Redactor::new([value], Vec::new())
            .excerpt(text)
            .into_owned()
    }

    #[test]
    fn a_value_that_is_cut_is_removed() {
        let value = "hunter2-hunter2-hunter2";
        for (text, expected) in [
            ("no secret, short… or long", "no secret, short… or long"),
            ("it is hunter2-hunter2-hunter2, so", "it is [redacted], so"),
            ("it is hunter2-hunt…", "it is [redacted]…"),
            ("it is hunter2-hunter2-hunter…", "it is [redacted]…"),
            ("it is hunter2…", "it is hunter2…"),
            ("…2-hunter2, so", "…[redacted], so"),
            ("…hunter2, so", "…hunter2, so"),
            (
                "…unter2-hunter2, so hunter2-h…",
                "…[redacted], so [redacted]…",
            ),
            ("hunter2-hunt", "hunter2-hunt"),
            ("sk-live-0123abcd…", "sk-live-[redacted]…"),
            (
                "sk-0123… and sk-live-0123abcd",
                "sk-0123… and sk-live-0123abcd",
            ),
        ] {
            assert_eq!(redacted(value, text), expected);
        }
    }

    #[test]
    fn every_line_of_a_value_is_removed() {
        let value = "first-line-of-it\r\n  second line \"of\" it\nshort\n\n";
        for (text, expected) in [
            ("is first-line-of-it", "is [redacted]"),
            ("second line \"of\" it;", "[redacted];"),
            (
                r#"{"a": "second line \"of\" it"}"#,
                r#"{"a": "[redacted]"}"#,
            ),
            (
                r#"{"a": "{\"b\": \"second line \\\"of\\\" it\"}"}"#,
                r#"{"a": "{\"b\": \"[redacted]\"}"}"#,
            ),
            ("short", "short"),
            (value.trim(), "[redacted]"),
            (
                r#"first-line-of-it second line "of" it short"#,
                "[redacted]",
            ),
        ] {
            assert_eq!(redacted(value, text), expected);
        }
        assert_eq!(
            redacted("line-break-at-its-end\n", "a line-break-at-its-end."),
            "a [redacted]."
        );
        assert_eq!(redacted("two  blanks", "the two blanks"), "the [redacted]");
    }

    #[test]
    fn keys_and_patterns_are_removed_without_any_value() {
        let redactor = Redactor::new(["short"], vec![pattern(r"ACME-\d{4}")]);
        assert_eq!(
            redactor.text("short sk-ant-api03-abcdefghijklmnop ACME-1234"),
            "short sk-ant-[redacted] [redacted]"
        );
        assert_eq!(
            redactor.without_values("short ACME-1234"),
            "short ACME-1234"
        );
    }

    #[test]
    fn of_two_values_the_longer_one_is_removed() {
        let redactor = Redactor::new(["hunter2-hunter2", "hunter2-"], Vec::new());
        assert_eq!(redactor.text("a hunter2-hunter2"), "a [redacted]");
    }
}

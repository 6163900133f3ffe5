//! Values of the environment that no text may have.

use crate::model::REDACTED;

/// Shortest value that counts as a secret, in bytes: shorter ones occur in ordinary words.
const SHORTEST: usize = 8;

/// Secret values of the environment; `Debug` hides them.
#[derive(Default)]
pub struct SecretValues(Vec<String>);

impl std::fmt::Debug for SecretValues {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} secrets", self.0.len())
    }
}

/// The mark of a text that is cut.
const CUT: char = '…';

impl SecretValues {
    /// These values, without those that are so short that they occur in ordinary words.
    pub fn new<'a>(values: impl IntoIterator<Item = &'a str>) -> Self {
        let mut secrets: Vec<String> = values
            .into_iter()
            .filter(|value| value.len() >= SHORTEST)
            .map(str::to_owned)
            .collect();
        // Longest first: a secret inside another one must not leave a remainder.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self(secrets)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn replaced(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| {
            text.replace(secret, REDACTED)
        })
    }

    /// A text of a report without the values; `None` if it has none. Such a text can be cut, also in the middle of a value: then what is
    /// left of the value is removed.
    pub fn masked_excerpt(&self, text: &str) -> Option<String> {
        let is_found =
            text.contains(CUT) || self.0.iter().any(|secret| text.contains(secret.as_str()));
        is_found
            .then(|| self.excerpt(text))
            .filter(|plain| plain != text)
    }

    fn excerpt(&self, text: &str) -> String {
        let plain = self.replaced(text);
        let parts: Vec<String> = plain.split(CUT).map(str::to_owned).collect();
        let last = parts.len() - 1;
        let parts = parts.iter().enumerate().map(|(index, part)| {
            let part = if index < last {
                self.without_begun(part)
            } else {
                part.clone()
            };
            if index > 0 {
                self.without_ended(&part)
            } else {
                part
            }
        });
        parts.collect::<Vec<_>>().join(&CUT.to_string())
    }

    /// The text without the beginning of a value at its end.
    fn without_begun(&self, text: &str) -> String {
        let begun = self
            .0
            .iter()
            .flat_map(|secret| ends_of_parts(secret).map(|end| &secret[..end]));
        let longest = begun
            .filter(|begin| text.ends_with(begin))
            .max_by_key(|begin| begin.len());
        longest.map_or(text.to_owned(), |begin| {
            format!("{}{REDACTED}", &text[..text.len() - begin.len()])
        })
    }

    /// The text without the end of a value at its beginning.
    fn without_ended(&self, text: &str) -> String {
        let ended = self
            .0
            .iter()
            .flat_map(|secret| ends_of_parts(secret).map(|end| &secret[end..]));
        let ended = ended.filter(|end| end.len() >= SHORTEST);
        let longest = ended
            .filter(|end| text.starts_with(end))
            .max_by_key(|end| end.len());
        longest.map_or(text.to_owned(), |end| {
            format!("{REDACTED}{}", &text[end.len()..])
        })
    }
}

/// Where a value can be cut so that its beginning still counts as a secret.
fn ends_of_parts(secret: &str) -> impl Iterator<Item = usize> {
    secret
        .char_indices()
        .map(|(index, _)| index)
        .filter(|index| *index >= SHORTEST)
}

#[cfg(test)]
mod tests {
    use super::SecretValues;

    #[test]
    fn a_value_that_is_cut_in_an_excerpt_is_removed() {
        let secrets = SecretValues::new(["hunter2-hunter2-hunter2", "short"]);
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
        ] {
            assert_eq!(
                secrets
                    .masked_excerpt(text)
                    .unwrap_or_else(|| text.to_owned()),
                expected
            );
        }
    }
}

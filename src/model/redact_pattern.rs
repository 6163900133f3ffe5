//! A pattern of `redact`: a regular expression for text that goldgate neither prints nor writes.

use regex::Regex;
use serde::Serialize;

/// A valid regular expression that does not match everywhere.
#[derive(Debug, Clone, Serialize)]
#[serde(into = "String")]
pub struct RedactPattern(Regex);

impl RedactPattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(text: &str) -> Result<Self, String> {
        let pattern = Regex::new(text).map_err(|error| {
            let message = error.to_string();
            let last = message.lines().last().unwrap_or("it cannot be read");
            let last = last.trim();
            last.strip_prefix("error: ").unwrap_or(last).to_owned()
        })?;
        if pattern.is_match("") {
            return Err("it matches the empty text, so it would match everywhere".to_owned());
        }
        Ok(Self(pattern))
    }

    /// The compiled pattern.
    pub fn regex(&self) -> &Regex {
        &self.0
    }
}

impl PartialEq for RedactPattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl From<RedactPattern> for String {
    fn from(pattern: RedactPattern) -> Self {
        pattern.0.as_str().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::RedactPattern;

    #[test]
    fn a_pattern_that_would_match_everywhere_is_refused() {
        assert!(RedactPattern::new("x*").is_err());
        assert!(RedactPattern::new("(").is_err());
        assert!(RedactPattern::new("x+").is_ok());
    }
}

//! Ids and names of suites, agents, judges and cases.

use std::fmt;
use std::sync::Arc;

/// A text that does not match `[A-Za-z0-9][A-Za-z0-9._-]*`, or is longer than 245 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadId {
    /// The text found.
    pub found: String,
}

impl fmt::Display for BadId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?} is not a valid id", self.found)
    }
}

/// The characters of the longest id. Files are named after it, with an ending, and file systems take names of 255 bytes.
const LONGEST: usize = 245;

impl BadId {
    /// Help text about valid ids.
    pub fn help(&self) -> &'static str {
        if self.found.len() > LONGEST {
            "shorten it to at most 245 characters"
        } else {
            "use letters, digits, '.', '_' and '-', and start with a letter or digit"
        }
    }
}

fn fits(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes
        .next()
        .is_some_and(|first| first.is_ascii_alphanumeric())
        && text.len() <= LONGEST
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Accepts a text of at most 245 characters that matches `[A-Za-z0-9][A-Za-z0-9._-]*`.
            ///
            /// # Errors
            /// The text, if it does not match.
            pub fn new(text: &str) -> Result<Self, BadId> {
                match fits(text) {
                    true => Ok(Self(text.into())),
                    false => Err(BadId { found: text.to_owned() }),
                }
            }

            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::new(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
            }
        }

        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                String::json_schema(generator)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.pad(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, out)
            }
        }
    };
}

id! {
    /// The id of a suite, unique in a config.
    SuiteId
}
id! {
    /// The name of an agent: its key under `agents:`.
    AgentName
}
id! {
    /// The name of a judge: its key under `judges:`.
    JudgeName
}
id! {
    /// The id of a case, unique in its suite.
    CaseId
}
id! {
    /// A word that selects cases: `run --tag`.
    CaseTag
}

/// The name of an agent that is not read yet: a file names the agent once, outside its cases.
impl Default for AgentName {
    fn default() -> Self {
        Self("unknown".into())
    }
}

#[cfg(test)]
mod tests {
    use super::CaseId;

    #[test]
    fn every_valid_id_is_a_plain_file_name() {
        for good in ["a", "9", "change-of-control", "A.b_c-1", "x..y"] {
            assert!(CaseId::new(good).is_ok(), "{good}");
        }
        for bad in [
            "", ".", "..", "-a", "_a", ".a", "a/b", "a b", "é", "a\n", "a\\b",
        ] {
            assert!(CaseId::new(bad).is_err(), "{bad}");
        }
        let too_long = "a".repeat(246);
        assert!(CaseId::new(&too_long[1..]).is_ok());
        let bad = CaseId::new(&too_long).unwrap_err();
        assert_eq!(bad.help(), "shorten it to at most 245 characters");
    }
}

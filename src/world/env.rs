//! Environment variables, read once.

use std::collections::BTreeMap;
use std::fmt;

/// The environment of this process.
#[derive(Debug, Clone, Default)]
pub struct Env {
    variables: BTreeMap<String, Secret>,
}

/// A text that is never printed, because any variable may contain a key.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, only for sending it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Env {
    fn from_iter<T: IntoIterator<Item = (N, V)>>(variables: T) -> Self {
        let variables = variables
            .into_iter()
            .map(|(name, value)| (name.into(), Secret(value.into())));
        Self {
            variables: variables.collect(),
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret(***)")
    }
}

impl Env {
    /// The environment of this process, without variables that are not UTF-8.
    pub fn of_process() -> Self {
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, Secret(value.into_string().ok()?)))
        });
        Self {
            variables: variables.collect(),
        }
    }

    /// An environment with these variables.
    pub fn of(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        Self {
            variables: variables
                .into_iter()
                .map(|(name, value)| (name, Secret(value)))
                .collect(),
        }
    }

    /// The value of a variable; `None` if it is missing or empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables
            .get(name)
            .map(Secret::reveal)
            .filter(|value| !value.is_empty())
    }

    /// The values of all variables that are named like a key. They must not be stored anywhere.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        self.variables
            .iter()
            .filter(|(name, _)| Self::is_secret(name))
            .map(|(_, value)| value.reveal())
    }

    /// Whether a variable is named like a key.
    pub fn is_secret(name: &str) -> bool {
        let name = name.to_ascii_uppercase();
        ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIALS"]
            .iter()
            .any(|word| name.ends_with(word))
    }

    /// The environment of an agent's program: paths, language, time zone, and the named variables.
    pub fn passed_on(&self, passed: &[String]) -> Vec<(String, String)> {
        let usual = ["PATH", "HOME", "LANG", "TZ", "TMPDIR"].into_iter();
        // Without these no program starts on Windows.
        let needed = ["SYSTEMROOT", "TEMP", "TMP"]
            .into_iter()
            .filter(|_| cfg!(windows));
        let names = usual.chain(needed).chain(passed.iter().map(String::as_str));
        let mut variables = Vec::new();
        for name in names {
            if let Some(value) = self.variables.get(name) {
                variables.push((name.to_owned(), value.reveal().to_owned()));
            }
        }
        variables
    }

    /// A variable as a secret; `None` if it is missing or empty. A secret that was pasted with a line end is used without it.
    pub fn secret(&self, name: &str) -> Option<Secret> {
        self.get(name)
            .map(str::trim)
            .filter(|value| !value.is_empty())
            .map(Secret::new)
    }
}

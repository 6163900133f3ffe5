//! The settings that one kind adds to a suite, and what a change of a setting needs.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::path::RepoPath;

/// The settings of a suite that only its kind takes apart.
#[derive(Clone)]
pub struct KindSettings {
    typed: Arc<dyn Any + Send + Sync>,
    /// Every setting with its value. Settings are equal if their values are, so that no comparison can leave one out.
    values: Value,
}

impl KindSettings {
    /// The settings of a kind, with its defaults applied.
    pub fn new<S: Serialize + Any + Send + Sync>(settings: S) -> Self {
        let values = serde_json::to_value(&settings).unwrap_or_default();
        Self {
            typed: Arc::new(settings),
            values,
        }
    }

    /// The settings, if they are of this type: each kind has its own.
    pub fn get<S: Any>(&self) -> Option<&S> {
        self.typed.downcast_ref()
    }
}

impl Default for KindSettings {
    fn default() -> Self {
        Self {
            typed: Arc::new(()),
            values: Value::Object(serde_json::Map::new()),
        }
    }
}

impl PartialEq for KindSettings {
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values
    }
}

impl fmt::Debug for KindSettings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.values.fmt(out)
    }
}

impl Serialize for KindSettings {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        self.values.serialize(writer)
    }
}

/// What a change of a setting needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Treatment {
    /// Nothing: the setting cannot change a verdict.
    Harmless,
    /// The change is listed.
    Listed,
    /// An approval. The text names the setting in the report; `{}` is the suite and agent.
    Approval(&'static str),
    /// It depends on the change, as the text explains.
    Depends(&'static str),
}

/// A setting, and what a change of it needs.
#[derive(Debug)]
pub struct SettingRule {
    /// Its path in the config, or in the suite if it is a kind's own; `*` is any name.
    pub path: &'static str,
    /// What a change needs.
    pub treatment: Treatment,
    /// The reason; may be empty.
    pub why: &'static str,
}

impl SettingRule {
    /// A rule without a reason.
    pub const fn of(path: &'static str, treatment: Treatment) -> Self {
        Self {
            path,
            treatment,
            why: "",
        }
    }
}

/// A change of a kind's setting, as the kind judges it.
#[derive(Debug)]
pub struct SettingChange {
    /// The path of the setting in the suite, such as `flags.polite`. The change covers everything below it.
    pub path: String,
    /// What it needs.
    pub weight: SettingWeight,
    /// The change in the report.
    pub words: String,
}

/// What a change of a kind's setting needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingWeight {
    /// Nothing: no verdict depends on it.
    Nothing,
    Listed,
    NeedsApproval,
    /// An approval: a limit passes more values than before, or that is unknown.
    Looser,
    /// It is listed: a limit passes fewer values than before.
    Tighter,
}

/// A file that a setting names, with its name in the report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingFile {
    /// Its name in the report.
    pub name: String,
    pub path: RepoPath,
}

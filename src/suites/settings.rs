//! The settings that a kind adds to its suites: their keys, their values, their files, and what a change needs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::format::config::{FromKeys, KindKeys, SuiteKeyReader};
use crate::model::{
    KindSettings, RepoPath, SettingChange, SettingFile, SettingRule, SuiteConfig, SuiteId,
};

/// Where a file is after a move.
pub type PathMove<'a> = &'a dyn Fn(&RepoPath) -> RepoPath;

/// The settings of one kind. A change of a setting that it does not mention needs an approval.
pub trait OwnSettings: FromKeys + Default {
    /// The settings whose change does not simply need an approval, or that have their own name in the report.
    const RULES: &'static [SettingRule];

    /// A suite that states every key, and edits of it with what they need.
    #[cfg(test)]
    const EDITS: tests::SettingEdits;

    /// The changes of the settings that [`Self::RULES`] marks as depending on the change. A difference that it does not
    /// return needs an approval.
    fn changes(old: &Self, new: &Self, suite: &SuiteId) -> Vec<SettingChange>;

    fn files(&self) -> Vec<SettingFile>;

    /// The same settings, after the files that they name moved; `None` if they name none.
    fn with_paths(&self, _moved: PathMove<'_>) -> Option<Self> {
        None
    }
}

/// The settings of a kind, for code that knows no kind.
pub struct SettingsSpec {
    /// The keys, and how they are read.
    pub keys: KindKeys,
    /// What a change of a setting needs; a setting without a rule needs an approval.
    pub rules: &'static [SettingRule],
    /// The values of a suite that states no key.
    pub defaults: fn() -> KindSettings,
    changes: fn(&SuiteConfig, &SuiteConfig) -> Vec<SettingChange>,
    files: fn(&KindSettings) -> Vec<SettingFile>,
    /// The same settings, after the files that they name moved.
    pub with_paths: fn(&KindSettings, PathMove<'_>) -> KindSettings,
    /// Edits of every key with what they need.
    #[cfg(test)]
    pub edits: tests::SettingEdits,
}

impl SettingsSpec {
    /// The settings of this type.
    pub const fn of<S: OwnSettings>() -> Self {
        Self {
            keys: KindKeys::of::<S>(),
            rules: S::RULES,
            defaults: || KindSettings::new(S::default()),
            changes: |old, new| match (old.settings.get::<S>(), new.settings.get::<S>()) {
                (Some(old_settings), Some(new_settings)) => {
                    S::changes(old_settings, new_settings, &new.id)
                }
                // Then every difference needs an approval.
                (None, _) | (_, None) => Vec::new(),
            },
            files: |settings| settings.get::<S>().map_or(Vec::new(), S::files),
            with_paths: |settings, moved| match settings
                .get::<S>()
                .and_then(|settings| settings.with_paths(moved))
            {
                None => settings.clone(),
                Some(moved_settings) => KindSettings::new(moved_settings),
            },
            #[cfg(test)]
            edits: S::EDITS,
        }
    }

    /// The changes between two suites of the kind that it judges itself.
    pub fn changes(&self, old: &SuiteConfig, new: &SuiteConfig) -> Vec<SettingChange> {
        (self.changes)(old, new)
    }
}

/// A kind without settings of its own.
#[derive(Debug, Default, Serialize)]
pub struct NoSettings {}

/// No keys.
#[derive(Default, Deserialize, JsonSchema)]
pub struct NoKeys {}

impl FromKeys for NoSettings {
    type Form = NoKeys;

    fn check(_form: NoKeys, _reader: &mut SuiteKeyReader<'_, '_>) -> Self {
        Self {}
    }
}

impl OwnSettings for NoSettings {
    const RULES: &'static [SettingRule] = &[];
    #[cfg(test)]
    const EDITS: tests::SettingEdits = tests::SettingEdits {
        suite: "",
        edits: &[],
    };

    fn changes(_old: &Self, _new: &Self, _suite: &SuiteId) -> Vec<SettingChange> {
        Vec::new()
    }

    fn files(&self) -> Vec<SettingFile> {
        Vec::new()
    }
}

/// All files that the settings of a suite name: those of its kind, its lists of terms and its labels.
pub fn setting_files(of_kind: Option<&SettingsSpec>, suite: &SuiteConfig) -> Vec<SettingFile> {
    let mut files = of_kind.map_or(Vec::new(), |spec| (spec.files)(&suite.settings));
    let terms = suite.terms.iter();
    files.extend(terms.map(|(name, terms)| SettingFile {
        name: format!("list of terms {name}"),
        path: terms.file.clone(),
    }));
    files.extend(suite.labels.iter().map(|path| SettingFile {
        name: "labels".to_owned(),
        path: path.clone(),
    }));
    files
}

#[cfg(test)]
pub mod tests {
    use std::collections::BTreeMap;

    use serde_json::Value;

    use crate::model::Weight;
    use crate::suites::{KINDS, read_config};

    pub struct SettingEdits {
        /// The lines of a suite that states every key, without its id, kind and path.
        pub suite: &'static str,
        pub edits: &'static [SettingEdit],
    }

    /// A key of the schema, an edit of it (from, to), and what the edit needs; `None` for nothing.
    pub type SettingEdit = (&'static str, &'static str, &'static str, Option<Weight>);

    #[test]
    fn a_key_that_two_kinds_have_is_the_same_key() {
        let mut known: BTreeMap<&str, Value> = BTreeMap::new();
        for kind in KINDS {
            let schema = kind.settings.keys.schema();
            for name in kind.settings.keys.names() {
                let property = schema.as_value()["properties"][name].clone();
                assert!(property.is_object(), "{}: {name}", kind.name);
                assert_eq!(
                    *known.entry(name).or_insert_with(|| property.clone()),
                    property,
                    "{}: {name}",
                    kind.name
                );
            }
        }
        assert!(known.len() >= 4, "{known:?}");
    }

    #[test]
    fn the_defaults_are_of_the_type_that_is_read() {
        for kind in KINDS {
            let text = format!(
                "version: 1\nsuites: [{{ id: s, kind: {}, path: p }}]\n",
                kind.name
            );
            let file = crate::model::RepoPath::root().child("goldgate.yaml");
            let config = read_config(&crate::files::SourceText::from_text(file, text)).unwrap();
            assert_eq!(
                config.suites[0].settings,
                (kind.settings.defaults)(),
                "{}",
                kind.name
            );
        }
    }
}

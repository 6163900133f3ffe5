//! The keys that kinds add to the suites of a config.

use std::any::Any;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, schema_for};
use serde::de::value::Error as NoValue;
use serde::de::{DeserializeOwned, Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, forward_to_deserialize_any};
use serde_json::Value;

use super::ConfigReader;
use super::form::{ConfigFile, SuiteForm};
use crate::diag::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::files::SourceText;
use crate::format::Step::{At, Key};
use crate::format::{Step, json};
use crate::model::{KindSettings, RepoPath};

/// The settings of one kind, read from the keys that it adds to a suite.
pub trait FromKeys: Serialize + Any + Send + Sync {
    /// The keys, all of them optional.
    type Form: DeserializeOwned + JsonSchema + Default;

    /// Checks the keys of one suite and applies the defaults.
    fn check(form: Self::Form, reader: &mut SuiteKeyReader<'_, '_>) -> Self;
}

/// The keys that one kind adds to its suites, and how they are read.
#[derive(Clone, Copy)]
pub struct KindKeys {
    names: fn() -> &'static [&'static str],
    schema: fn() -> Schema,
    read: fn(&SourceText) -> Result<Vec<SettingsCheck>, Diagnostic>,
    default: fn(&mut SuiteKeyReader<'_, '_>) -> KindSettings,
}

type SettingsCheck = Box<dyn FnOnce(&mut SuiteKeyReader<'_, '_>) -> KindSettings>;

impl KindKeys {
    /// The keys of these settings.
    pub const fn of<S: FromKeys>() -> Self {
        Self {
            names: || names::<S::Form>(),
            schema: || schema_for!(S::Form),
            read: read::<S>,
            default: |reader| KindSettings::new(S::check(S::Form::default(), reader)),
        }
    }

    pub fn names(&self) -> &'static [&'static str] {
        (self.names)()
    }

    /// The JSON Schema of an object with these keys.
    pub fn schema(&self) -> Schema {
        (self.schema)()
    }
}

pub type KindTable<'a> = &'a [(&'static str, KindKeys)];

/// Reads the keys of one kind in all suites; it reads the text once, however many suites there are.
fn read<S: FromKeys>(source: &SourceText) -> Result<Vec<SettingsCheck>, Diagnostic> {
    #[derive(Deserialize)]
    #[serde(bound = "F: DeserializeOwned")]
    struct KeysOfSuites<F> {
        suites: Vec<F>,
    }
    let KeysOfSuites::<S::Form> { suites } = json::whole(source)?;
    let check =
        |form| -> SettingsCheck { Box::new(|reader| KindSettings::new(S::check(form, reader))) };
    Ok(suites.into_iter().map(check).collect())
}

/// Checks the keys of one suite, with the positions of its problems.
pub struct SuiteKeyReader<'r, 'a> {
    reader: &'r mut ConfigReader<'a>,
    index: usize,
}

impl SuiteKeyReader<'_, '_> {
    /// Adds a problem; `path` leads from the suite to the setting.
    pub fn refuse(
        &mut self,
        path: &[Step<'_>],
        code: Code,
        what: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.reader.refuse(
            &[&[Key("suites"), At(self.index)], path].concat(),
            code,
            what,
            help,
        );
    }

    /// A file of the repository; `path` leads from the suite to the setting.
    pub fn file(&mut self, path: &[Step<'_>], text: &str) -> RepoPath {
        self.reader
            .path(&[&[Key("suites"), At(self.index)], path].concat(), text)
    }
}

/// The settings of each suite that its kind adds, and the stated keys that belong to other kinds.
pub(super) struct CheckedSuiteKeys {
    pub settings: KindSettings,
    pub without_effect: Vec<String>,
}

impl ConfigReader<'_> {
    /// Refuses keys of suites that neither a config nor a kind knows.
    pub(super) fn unknown_keys(&self, form: &ConfigFile, kinds: KindTable<'_>) -> Diagnostics {
        let known: Vec<&str> = SuiteForm::KEYS
            .into_iter()
            .chain(kinds.iter().flat_map(|(_, keys)| keys.names()).copied())
            .collect();
        let mut problems = Diagnostics::default();
        for (index, suite) in form.suites.iter().enumerate() {
            for key in suite
                .of_kind
                .keys()
                .filter(|key| !known.contains(&key.as_str()))
            {
                let help = did_you_mean(key, &known, format!("known keys: {}", known.join(", ")));
                let path = [Key("suites"), At(index), Key(key)];
                let what = format!("unknown key \"{key}\"");
                problems.push(self.locations.problem(&path, Code::UNKNOWN_KEY, what, help));
            }
        }
        problems
    }

    pub(super) fn suite_settings(
        &mut self,
        suites: &[SuiteForm],
        kinds: KindTable<'_>,
    ) -> Result<Vec<CheckedSuiteKeys>, Diagnostic> {
        let mut checks: BTreeMap<(&str, usize), SettingsCheck> = BTreeMap::new();
        for (kind, keys) in kinds {
            let states = |suite: &SuiteForm| {
                keys.names()
                    .iter()
                    .any(|key| suite.of_kind.contains_key(*key))
            };
            if suites.iter().any(states) {
                checks.extend(
                    (keys.read)(self.source)?
                        .into_iter()
                        .enumerate()
                        .map(|(index, one)| ((*kind, index), one)),
                );
            }
        }
        let settings = suites.iter().enumerate().map(|(index, suite)| {
            let Some((kind, keys)) = kinds.iter().find(|(kind, _)| *kind == suite.kind) else {
                return CheckedSuiteKeys {
                    settings: KindSettings::default(),
                    without_effect: Vec::new(),
                };
            };
            let mut reader = SuiteKeyReader {
                reader: self,
                index,
            };
            let settings = match checks.remove(&(*kind, index)) {
                Some(check) => check(&mut reader),
                None => (keys.default)(&mut reader),
            };
            let others = suite
                .of_kind
                .keys()
                .filter(|key| !keys.names().contains(&key.as_str()));
            CheckedSuiteKeys {
                settings,
                without_effect: others.cloned().collect(),
            }
        });
        Ok(settings.collect())
    }
}

/// The JSON Schema of a config in which suites have the keys of these kinds.
pub fn config_schema<'a>(kinds: impl IntoIterator<Item = &'a KindKeys>) -> Schema {
    let mut whole = schema_for!(ConfigFile);
    for keys in kinds {
        let mut own = keys.schema();
        for (from, to) in [
            ("/properties", "/$defs/SuiteForm/properties"),
            ("/$defs", "/$defs"),
        ] {
            let added = own.pointer_mut(from).map(Value::take);
            if let (Some(Value::Object(known)), Some(Value::Object(added))) =
                (whole.pointer_mut(to), added)
            {
                known.extend(added);
            }
        }
    }
    whole
}

/// The names of the fields of a struct, as its deserializer asks for them.
fn names<T: DeserializeOwned>() -> &'static [&'static str] {
    struct FieldNames<'f>(&'f mut &'static [&'static str]);

    impl<'de> Deserializer<'de> for FieldNames<'_> {
        type Error = NoValue;

        fn deserialize_struct<V: Visitor<'de>>(
            self,
            _name: &'static str,
            fields: &'static [&'static str],
            _visitor: V,
        ) -> Result<V::Value, NoValue> {
            *self.0 = fields;
            Err(NoValue::custom("only the names of the fields are read"))
        }

        fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, NoValue> {
            Err(NoValue::custom("not a struct"))
        }

        forward_to_deserialize_any! {
            bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
            newtype_struct seq tuple tuple_struct map enum identifier ignored_any
        }
    }
    let mut names: &'static [&'static str] = &[];
    // The error only ends the walk.
    let _: Result<T, NoValue> = T::deserialize(FieldNames(&mut names));
    names
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use schemars::schema_for;

    use super::names;
    use crate::files::SourceText;
    use crate::format::config::form::{ConfigFile, SuiteForm};
    use crate::format::config::read_config;
    use crate::model::RepoPath;

    #[test]
    fn the_keys_of_every_kind_are_those_of_the_schema() {
        let schema = schema_for!(ConfigFile);
        let properties = schema.as_value()["$defs"]["SuiteForm"]["properties"]
            .as_object()
            .unwrap();
        let known: BTreeSet<&str> = properties.keys().map(String::as_str).collect();
        assert_eq!(known, BTreeSet::from(SuiteForm::KEYS));
        // A suite keeps other keys for its kind, so its own fields are no fixed list.
        assert_eq!(
            (names::<SuiteForm>().len(), names::<ConfigFile>().first()),
            (0, Some(&"version"))
        );
    }

    #[test]
    fn every_unknown_key_of_a_suite_is_reported() {
        let text = "version: 1\nsuites:\n  - id: s\n    kind: k\n    path: p\n    tierr: [x]\n    wrong: { a: 1 }\n";
        let source = SourceText::from_text(RepoPath::root().child("c.yaml"), text.to_owned());
        let problems = read_config(&source, &[]).unwrap_err().sorted();
        let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(
            texts[0],
            "c.yaml:6:5: unknown key \"tierr\"; did you mean \"tier\"? [unknown-key]"
        );
        assert!(
            texts[1].starts_with(
                "c.yaml:7:5: unknown key \"wrong\"; known keys: id, was, kind, path, tier,"
            ),
            "{texts:?}"
        );
        assert_eq!(texts.len(), 2);
    }
}

//! The settings of kind `tool_use`: flags of cases, and the tools of a live agent.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::format::Step::Key;
use crate::format::config::{FromKeys, SuiteKeyReader};
#[cfg(test)]
use crate::model::Weight::{Listed, NeedsApproval};
use crate::model::{
    RepoPath, SettingChange, SettingFile, SettingRule, SettingWeight, SuiteId, Treatment,
};
#[cfg(test)]
use crate::suites::SettingEdits;
use crate::suites::settings::{OwnSettings, PathMove};

/// The built-in flag of every suite; a suite's own flag of the same name replaces it.
pub const BUILT_IN_FLAG: &str = "can_diagnose";

#[derive(Debug, Clone, Default, Serialize)]
pub struct ToolUseSettings {
    /// Flags of cases by name, in addition to the built-in one.
    pub flags: BTreeMap<String, Flag>,
    /// The tools that a live agent may call, with canned results.
    pub tools: Option<RepoPath>,
}

/// A flag that cases may state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Flag {
    /// The flag value that activates the requirement.
    pub when: bool,
    /// The term list; the answer must contain one of its terms.
    pub terms: RepoPath,
}

/// The keys.
#[derive(Default, Deserialize, JsonSchema)]
pub struct ToolUseKeys {
    /// Flags that cases may use in addition to `can_diagnose` (kind `tool_use`).
    #[serde(default)]
    flags: BTreeMap<String, FlagForm>,
    /// File of the tools that a live agent may call, with canned results (kind `tool_use`).
    tools: Option<String>,
}

/// What a flag of a case requires.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FlagForm {
    /// The flag value that activates the requirement.
    when: bool,
    /// File with one term a line; the answer must contain one of them.
    terms: String,
}

impl FromKeys for ToolUseSettings {
    type Form = ToolUseKeys;

    fn check(form: ToolUseKeys, reader: &mut SuiteKeyReader<'_, '_>) -> Self {
        let flags = form
            .flags
            .into_iter()
            .map(|(name, FlagForm { when, terms })| {
                let terms = reader.file(&[Key("flags"), Key(&name), Key("terms")], &terms);
                (name, Flag { when, terms })
            });
        let flags = flags.collect();
        Self {
            flags,
            tools: form.tools.map(|file| reader.file(&[Key("tools")], &file)),
        }
    }
}

impl ToolUseSettings {
    fn render_flag(&self, name: &str) -> String {
        match self.flags.get(name) {
            Some(flag) => format!("{} when {}", flag.terms, flag.when),
            None if name == BUILT_IN_FLAG => "the built-in one".to_owned(),
            None => "none".to_owned(),
        }
    }
}

impl OwnSettings for ToolUseSettings {
    const RULES: &'static [SettingRule] = &[
        SettingRule::of("tools", Treatment::Approval("tools file of `{}`:")),
        SettingRule::of(
            "flags.*",
            Treatment::Depends("a new flag is listed, unless it replaces a built-in one"),
        ),
    ];
    #[cfg(test)]
    const EDITS: SettingEdits = SettingEdits {
        suite: "    flags: { polite: { when: true, terms: polite.txt } }\n    tools: tools.json\n",
        edits: &[
            (
                "SuiteForm.tools",
                "tools: tools.json",
                "tools: more.json",
                Some(NeedsApproval),
            ),
            (
                "SuiteForm.tools",
                "    tools: tools.json\n",
                "",
                Some(NeedsApproval),
            ),
            (
                "SuiteForm.flags",
                "{ polite:",
                "{ can_diagnose: { when: true, terms: any.txt }, polite:",
                Some(NeedsApproval),
            ),
            (
                "SuiteForm.flags",
                "{ polite:",
                "{ brief: { when: true, terms: any.txt }, polite:",
                Some(Listed),
            ),
            (
                "SuiteForm.flags",
                "polite: {",
                "kind: {",
                Some(NeedsApproval),
            ),
            (
                "FlagForm.when",
                "when: true",
                "when: false",
                Some(NeedsApproval),
            ),
            (
                "FlagForm.terms",
                "polite.txt",
                "any.txt",
                Some(NeedsApproval),
            ),
        ],
    };

    /// A new flag changes no existing case, because no case could use it. The built-in flag already applied before.
    fn changes(old: &Self, new: &Self, suite: &SuiteId) -> Vec<SettingChange> {
        let names: BTreeSet<&String> = old.flags.keys().chain(new.flags.keys()).collect();
        let mut changes = Vec::new();
        for name in names {
            if old.flags.get(name) == new.flags.get(name) {
                continue;
            }
            let (was, is) = (old.render_flag(name), new.render_flag(name));
            let (weight, words) = if old.flags.contains_key(name) || name == BUILT_IN_FLAG {
                (
                    SettingWeight::NeedsApproval,
                    format!("flag {name} of `{suite}`: {was} -> {is}"),
                )
            } else {
                (
                    SettingWeight::Listed,
                    format!("flag {name} of `{suite}` added: {is}"),
                )
            };
            changes.push(SettingChange {
                path: format!("flags.{name}"),
                weight,
                words,
            });
        }
        changes
    }

    fn files(&self) -> Vec<SettingFile> {
        let mut files = Vec::new();
        for (name, flag) in &self.flags {
            files.push(SettingFile {
                name: format!("terms of the flag {name}"),
                path: flag.terms.clone(),
            });
        }
        if let Some(path) = &self.tools {
            files.push(SettingFile {
                name: "tools".to_owned(),
                path: path.clone(),
            });
        }
        files
    }

    fn with_paths(&self, moved: PathMove<'_>) -> Option<Self> {
        let mut settings = self.clone();
        let terms = settings.flags.values_mut().map(|flag| &mut flag.terms);
        for path in terms.chain(&mut settings.tools) {
            *path = moved(path);
        }
        Some(settings)
    }
}

//! The settings of kind `evidence`: the JSON Schema of its answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::diag::{Code, Diagnostic};
use crate::files::{Files, SourceText};
use crate::format::Step::Key;
use crate::format::config::{FromKeys, SuiteKeyReader};
use crate::format::{JsonSchemaValidator, json};
#[cfg(test)]
use crate::model::Weight::NeedsApproval;
use crate::model::{RepoPath, SettingChange, SettingFile, SettingRule, SuiteId, Treatment};
#[cfg(test)]
use crate::suites::SettingEdits;
use crate::suites::settings::{OwnSettings, PathMove};

#[derive(Debug, Clone, Default, Serialize)]
pub struct EvidenceSettings {
    /// The JSON Schema of the answer.
    pub schema: Option<RepoPath>,
}

/// The keys.
#[derive(Default, Deserialize, JsonSchema)]
pub struct EvidenceKeys {
    /// File with the JSON Schema of the answer; the check `schema_ok` compares (kind `evidence`).
    schema: Option<String>,
}

impl FromKeys for EvidenceSettings {
    type Form = EvidenceKeys;

    fn check(EvidenceKeys { schema }: EvidenceKeys, reader: &mut SuiteKeyReader<'_, '_>) -> Self {
        Self {
            schema: schema.map(|file| reader.file(&[Key("schema")], &file)),
        }
    }
}

impl OwnSettings for EvidenceSettings {
    const RULES: &'static [SettingRule] = &[SettingRule::of(
        "schema",
        Treatment::Approval("schema of `{}`:"),
    )];
    #[cfg(test)]
    const EDITS: SettingEdits = SettingEdits {
        suite: "    schema: answer.json\n",
        edits: &[
            (
                "SuiteForm.schema",
                "answer.json",
                "any.json",
                Some(NeedsApproval),
            ),
            (
                "SuiteForm.schema",
                "    schema: answer.json\n",
                "",
                Some(NeedsApproval),
            ),
        ],
    };

    fn changes(_old: &Self, _new: &Self, _suite: &SuiteId) -> Vec<SettingChange> {
        Vec::new()
    }

    fn files(&self) -> Vec<SettingFile> {
        let schema = self.schema.iter().map(|path| SettingFile {
            name: "schema".to_owned(),
            path: path.clone(),
        });
        schema.collect()
    }

    fn with_paths(&self, moved: PathMove<'_>) -> Option<Self> {
        let schema = self.schema.as_ref().map(moved);
        Some(Self { schema })
    }
}

/// The schema of a suite's answers, with its text.
pub struct AnswerSchema {
    pub source: SourceText,
    pub validator: JsonSchemaValidator,
}

impl AnswerSchema {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, or is not a JSON Schema.
    pub fn open(file: &RepoPath, files: &dyn Files) -> Result<Self, Diagnostic> {
        let source = files.values_text(file)?;
        let validator =
            JsonSchemaValidator::new(&json::golden::<Value>(&source)?).map_err(|reason| {
                let help = "write a JSON Schema; a $ref to another document is not resolved";
                let message = format!("invalid JSON Schema: {reason}");
                source.problem(0, Code::BAD_JSON_SCHEMA, message, help)
            })?;
        Ok(Self { source, validator })
    }
}

//! The kinds of suites: golden files, metrics, and grading without side effects.
//!
//! A kind is one folder of `kinds/` with one `KIND`. To add one, add its folder, its `mod` line in `kinds/mod.rs` and a line
//! in [`KINDS`].

mod kind;
mod kinds;
mod settings;
mod shared;

use schemars::Schema;
use serde_json::Value;

use crate::diag::Diagnostics;
use crate::files::SourceText;
use crate::format::config;
use crate::format::config::KindKeys;
use crate::model::{Config, MetricSpec};

pub(crate) use self::kind::{
    FixtureFolder, GoldenForm, LegacyOutput, Refinement, RunCaching, Sampling, SeedGates,
};
pub use self::kind::{Pair, Suite, SuiteKind};
pub(crate) use self::settings::setting_files;
#[cfg(test)]
pub(crate) use self::settings::tests::{SettingEdit, SettingEdits};
pub(crate) use self::shared::answer::expression::ParsedExpressions;
pub(crate) use self::shared::answer::grader::{GradedSuite, graded};
pub use self::shared::answer::metrics::ANSWER_METRICS;
pub use self::shared::answer::text::AnswerOutput;
pub use self::shared::asking::in_words;
pub(crate) use self::shared::calls::{ObservedCall, calls};
pub(crate) use self::shared::case_files::is_case_file;
pub(crate) use self::shared::case_marks::CaseStage;
pub(crate) use self::shared::case_text::{CaseText, with_cases};
pub(crate) use self::shared::entries::GoldenEntries;
pub use self::shared::every_kind::{CASE_PASS_RATE, COMMON};
pub(crate) use self::shared::failure_classifier::broken_tools;
pub use self::shared::grade_context::GradeContext;
pub(crate) use self::shared::grade_context::{PromptPackage, RecordedParts};
pub(crate) use self::shared::hidden_reasoning::{HiddenReasoning, with_hidden_reasoning};
pub use self::shared::input::input_digest;
pub(crate) use self::shared::input::{
    are_same_texts, fits_said, has_rounds, is_of_another_case, is_shown_in, user_messages,
};
pub(crate) use self::shared::judged::{Exhibit, vote};
pub(crate) use self::shared::labels::{
    GivenLabel, LabelContent, LabelForm, Labels, NewLabel, with_label,
};
pub(crate) use self::shared::meaning::{CaseUse, EXPRESSION, MeaningReader, reads_case};
pub(crate) use self::shared::rubric::DIMENSIONS;
pub(crate) use self::shared::suite_digest::{outputs_digest, suite_digest};
pub(crate) use self::shared::turns::turns;
pub use self::shared::use_metrics::USE_METRICS;
pub(crate) use self::shared::use_metrics::used;

/// All kinds.
pub const KINDS: &[&SuiteKind] = &[
    &kinds::findings::KIND,
    &kinds::triggers::KIND,
    &kinds::cross_agent::KIND,
    &kinds::interview::KIND,
    &kinds::stochastic::KIND,
    &kinds::reconciliation::KIND,
    &kinds::property::KIND,
    &kinds::evidence::KIND,
    &kinds::tool_use::KIND,
    &kinds::revision::KIND,
    &kinds::custom::KIND,
];

/// The kind with this name.
pub fn kind(name: &str) -> Option<&'static SuiteKind> {
    KINDS.iter().copied().find(|kind| kind.name == name)
}

/// The first metric of any kind with this name: equal names have equal units and directions.
pub fn metric_spec(name: &str) -> Option<MetricSpec> {
    KINDS.iter().find_map(|kind| kind.metric_named(name))
}

/// Reads a config with the settings of all kinds; paths are relative to its folder.
pub fn read_config(source: &SourceText) -> Result<Config, Diagnostics> {
    let kinds: Vec<(&str, KindKeys)> = KINDS
        .iter()
        .map(|kind| (kind.name, kind.settings.keys))
        .collect();
    config::read_config(source, &kinds)
}

/// The JSON Schema of a config, with the keys of all kinds.
pub fn config_schema() -> Schema {
    let mut schema = config::config_schema(KINDS.iter().map(|kind| &kind.settings.keys));
    if let Some(Value::Object(kind)) = schema.pointer_mut("/$defs/SuiteForm/properties/kind") {
        kind.insert(
            "enum".to_owned(),
            KINDS.iter().map(|kind| kind.name).collect(),
        );
    }
    schema
}

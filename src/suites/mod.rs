//! The kinds of suites: golden files, metrics, and grading without side effects.
//!
//! A kind is one folder of `kinds/` with one `KIND`. To add one, add its folder, its `mod` line in `kinds/mod.rs` and a line
//! in [`KINDS`].

mod kind;
mod kinds;
mod shared;

use self::kinds::{
    cross_agent, evidence, findings, interview, property, reconciliation, revision, stochastic, tool_use, triggers,
};

pub use self::kind::{
    AgentPolicy, FixtureFolder, GoldenForm, LegacyOutput, OutputLists, Pair, Refinement, RunCaching, Suite, SuiteKind,
    SuiteOpener,
};
pub use self::shared::asking::in_words;
pub use self::shared::audit::Audit;
pub use self::shared::entries::{GoldenEntries, shipped_flags};
pub use self::shared::every_kind::COMMON;
pub use self::shared::grade_context::{GradeContext, PromptPackage};
pub use self::shared::input::{has_rounds, input_digest, is_of_another_case, is_same_text, is_shown_in, query};
pub use self::shared::judged::{Exhibit, vote};
pub use self::shared::labels::{GivenLabel, Label, LabelContent, LabelForm, Labels, NewLabel, with_label};
pub use self::shared::meaning::MeaningReader;
pub use self::shared::quarantine::Stated;
pub use self::shared::rubric::DIMENSIONS;
pub use self::shared::suite_digest::{outputs_digest, suite_digest};
pub use self::shared::terms::BuiltInTerms;

/// All kinds.
pub const KINDS: &[&SuiteKind] = &[
    &findings::KIND,
    &triggers::KIND,
    &cross_agent::KIND,
    &interview::KIND,
    &stochastic::KIND,
    &reconciliation::KIND,
    &property::KIND,
    &evidence::KIND,
    &tool_use::KIND,
    &revision::KIND,
];

/// The kind with this name.
pub fn kind(name: &str) -> Option<&'static SuiteKind> {
    KINDS.iter().copied().find(|kind| kind.name == name)
}

//! Text to values and back, for every file: configs, golden files, recordings, baselines, reports, payloads of GitHub.
//!
//! A format has a file of its own, and a version in its name where others read it. Reads no files: it gets texts, and returns values or
//! diagnostics with positions. What a value means is decided elsewhere.

pub mod aggregate_baseline;
pub mod archive;
#[cfg(feature = "models")]
pub(crate) mod aws;
pub mod baseline_v1;
pub(crate) mod called_target;
#[cfg(feature = "models")]
pub(crate) mod capture;
pub(crate) mod config;
mod conflict;
pub(crate) mod csv;
pub mod event;
pub(crate) mod event_action;
pub mod expression;
pub mod failed_v1;
pub mod foreign_cases;
mod golden_format;
pub(crate) mod json;
mod json_cursor;
mod json_keys;
mod json_schema;
pub(crate) mod lenient;
mod list_or_object;
mod long_numbers;
#[cfg(feature = "models")]
pub mod otlp;
pub mod output_fields;
mod raw_json;
pub(crate) mod recorded_attempts;
pub(crate) mod recorded_v1;
pub(crate) mod recording_layout;
pub(crate) mod redact;
pub mod report_v1;
pub(crate) mod request_v1;
pub mod run_v1;
mod schema_keywords;
pub mod shard_v1;
mod step;
pub mod transcript;
mod unique_keys;
#[cfg(feature = "github")]
pub mod workflow;
pub(crate) mod yaml;

pub use golden_format::golden_json;
pub(crate) use golden_format::{GoldenFormat, checked_golden_value, golden_value};
pub(crate) use json_cursor::{JsonCursor, JsonIndex, blanked, without_member};
pub(crate) use json_schema::JsonSchemaValidator;
pub(crate) use list_or_object::list_or_object;
pub(crate) use step::Step;

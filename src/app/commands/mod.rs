//! The commands, one module each.

pub mod baseline;
pub mod calibrate;
pub mod check;
pub mod completions;
pub mod diff;
pub mod explain;
pub mod history;
pub mod import;
pub mod init;
#[cfg(feature = "models")]
pub mod judge;
pub mod label;
pub mod man;
pub mod merge;
pub mod names;
#[cfg(feature = "models")]
pub mod record;
pub mod repair;
pub mod report;
pub mod review;
pub mod run;
pub mod schema;
pub mod selftest;
pub mod stamp;

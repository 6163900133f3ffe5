//! goldgate answers one question on every pull request: did the agent get worse, where, why, and what does one do next?
//!
//! This file is the map. The modules stand in blocks; a module uses only modules of the blocks above its own, never one of
//! its own block. A test (`tests/it/tidy.rs`) reads this file and holds them to it.

#![forbid(unsafe_code)]

// The nouns, and what is said about a user's file.
pub mod diag;
pub mod model;

// Text, and its forms: reads no file.
pub mod text;

pub mod format;

// From runs to a verdict: pure.
pub mod suites;

pub mod fold;

pub mod gate;

// What changed in what is measured with: pure.
pub mod golden_changes;

// Puts the report together.
pub mod report;

// The report as text.
pub mod render;

// Report and pull request become a plan.
pub mod publish;

// The outside, behind small doors.
pub mod world;

// Live samples: who is asked when.
#[cfg(feature = "models")]
pub mod engine;

// Where things meet.
pub mod app;

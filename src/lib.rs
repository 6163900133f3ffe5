//! goldgate answers one question on every pull request: did the agent get worse, where, why, and what to do next?
//!
//! This file is the map. The modules are in blocks, and a module only uses modules of the blocks above its own. A test
//! (`tests/it/tidy.rs`) reads this file and checks the order. What is public beyond the crate is what `main`, the tests and the
//! benchmarks use.

#![forbid(unsafe_code)]
#![cfg_attr(
    not(all(feature = "github", feature = "models")),
    expect(
        dead_code,
        unused_imports,
        reason = "the build with both features denies what is unused: here a feature's commands are missing"
    )
)]

// The data types, and the diagnostics about a user's files. The types of the report and the baseline are the frozen version 1 of these
// files: serde writes each field once, where it is defined.
pub mod diag;
pub mod model;

// Text and file formats; reads no files.
pub mod text;

// Read-only access to files, through a trait.
pub mod files;

// Files of users and of other tools: text to values, and back.
pub mod format;

// The kinds of suites: from golden files and runs to grades; pure.
pub mod suites;

// From samples to the values of cases and agents; pure.
mod fold;

// How often chance alone makes a run as bad as this one; pure.
pub mod chance;

// How reliable the numbers are: informs, never decides; pure.
mod estimate;

// From values to rulings; pure.
mod gate;

// Changes of the golden set since the base commit; pure.
pub mod golden_changes;

// Builds the report.
mod report;

// Renders the report.
pub mod render;

// Plans comments and approvals from the report and the pull request.
pub mod publish;

// From files and answers to the report of a tier; pure.
mod evaluation;

// File system, network, clock and environment.
pub mod world;

// Live samples: targets, wire formats, and the engine that schedules the calls.
pub mod live;

// Working trees: grading them, and their files.
mod workspace;

// GitHub: the action and its client.
#[cfg(feature = "github")]
mod github;

// The command line: its arguments and commands.
pub mod app;

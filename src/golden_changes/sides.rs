//! The two commits of a comparison.

use crate::files::{BaseFiles, Files};
use crate::model::{Config, SuiteConfig};

/// The two sides of a comparison.
#[derive(Clone, Copy)]
pub struct Sides<'a> {
    /// The files of the base commit.
    pub base: &'a dyn BaseFiles,
    /// The files of the head.
    pub head: &'a dyn Files,
}

/// The suite with the same id and kind in the other config.
pub fn same_suite<'a>(config: &'a Config, suite: &SuiteConfig) -> Option<&'a SuiteConfig> {
    config
        .suites
        .iter()
        .find(|candidate| candidate.id == suite.id && candidate.kind == suite.kind)
}

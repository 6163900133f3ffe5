//! The two commits of a comparison.

use crate::files::{BaseFiles, Files};

/// The two sides of a comparison.
#[derive(Clone, Copy)]
pub struct Sides<'a> {
    /// The files of the base commit.
    pub base: &'a dyn BaseFiles,
    /// The files of the head.
    pub head: &'a dyn Files,
}

//! What the readers of all settings share: problems with their positions, and paths.

use crate::diag::{Code, Diagnostics};
use crate::files::SourceText;
use crate::format::{JsonIndex, Step};
use crate::model::RepoPath;

/// Reads the settings of a config, and collects their problems.
pub(super) struct ConfigReader<'a> {
    /// The config as JSON.
    pub(super) source: &'a SourceText,
    pub(super) folder: RepoPath,
    pub(super) problems: Diagnostics,
    pub(super) locations: JsonIndex<'a>,
}

impl ConfigReader<'_> {
    pub(super) fn refuse(
        &mut self,
        path: &[Step<'_>],
        code: Code,
        what: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.problems
            .push(self.locations.problem(path, code, what, help));
    }

    pub(super) fn path(&mut self, at: &[Step<'_>], text: &str) -> RepoPath {
        let refused = match self.folder.join(text) {
            Ok(path) if path.is_of_git() => format!("the path {text:?} leads into .git"),
            Ok(path) => return path,
            Err(bad) => format!("the path {text:?} {bad}"),
        };
        let help = "write a path relative to this file, inside the repository";
        self.refuse(at, Code::PATH_OUTSIDE, refused, help);
        RepoPath::root()
    }

    pub(super) fn samples(&mut self, at: &[Step<'_>], samples: Option<u32>) -> Option<u32> {
        if let Some(0 | 1001..) = samples {
            self.refuse(
                at,
                Code::BAD_SAMPLES,
                "the number of samples is out of range",
                "write 1 to 1000",
            );
        }
        samples
    }
}

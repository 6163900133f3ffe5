//! Which of the cases of the chosen suites and agents a run graded.

use super::words::words;

words! {
    /// Which of the cases of the chosen suites and agents a run graded.
    #[derive(Default)]
    pub enum CaseChoice {
        #[default]
        All = "all",
        /// Those that match `--case` and `--tag`.
        Matching = "matching",
        /// Those that failed in the run before: `--failed`.
        Failed = "failed",
    }
}

impl CaseChoice {
    pub fn is_all(&self) -> bool {
        *self == Self::All
    }
}

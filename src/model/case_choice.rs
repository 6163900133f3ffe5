//! Which of the cases of the chosen suites and agents a run graded.

use super::words::words;

words! {
    /// Which of the cases of the chosen suites and agents a run graded.
    #[derive(Default)]
    pub enum CaseChoice {
        /// All of them.
        #[default]
        All = "all",
        /// Those that match `--case` and `--tag`.
        Matching = "matching",
        /// Those that failed in the run before: `--failed`.
        Failed = "failed",
    }
}

impl CaseChoice {
    /// Whether all cases were graded.
    pub fn is_all(&self) -> bool {
        *self == Self::All
    }
}

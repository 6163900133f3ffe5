//! An overall mark of a case.

use super::words::words;

words! {
    /// A mark of a case, from worst to best.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Mark {
        Fail = "fail",
        /// Barely acceptable; for samples: they disagree.
        Weak = "weak",
        Pass = "pass",
    }
}

//! An overall mark of a case.

use super::words::words;

words! {
    /// A mark of a case, from worst to best.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Mark {
        /// Not acceptable.
        Fail = "fail",
        /// Barely acceptable; for samples: they disagree.
        Weak = "weak",
        /// Acceptable.
        Pass = "pass",
    }
}

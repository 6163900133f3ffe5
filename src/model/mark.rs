//! What somebody thinks of a whole case, in three words.

/// A mark of a case, from worst to best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mark {
    /// It does not do.
    Fail,
    /// It does, barely; from the samples: they disagree.
    Weak,
    /// It does.
    Pass,
}

impl Mark {
    /// All marks, from worst to best.
    pub const ALL: [Self; 3] = [Self::Fail, Self::Weak, Self::Pass];

    /// The word used in labels and on the screen.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fail => "fail",
            Self::Weak => "weak",
            Self::Pass => "pass",
        }
    }
}

//! An overall mark of a case.

/// A mark of a case, from worst to best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mark {
    /// Not acceptable.
    Fail,
    /// Barely acceptable; for samples: they disagree.
    Weak,
    /// Acceptable.
    Pass,
}

impl Mark {
    /// All marks, from worst to best.
    pub const ALL: [Self; 3] = [Self::Fail, Self::Weak, Self::Pass];

    /// The value in labels and in the terminal.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fail => "fail",
            Self::Weak => "weak",
            Self::Pass => "pass",
        }
    }
}

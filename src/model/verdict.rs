//! Pass, fail, and "we cannot tell": three answers that stay different.

use std::fmt;

/// The answer about a set of limits (grading.md 3). Ordered from good to bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Every limit that was judged holds.
    Pass,
    /// None failed, at least one could not be told or lies in its band.
    Inconclusive,
    /// At least one failed.
    Fail,
}

impl Verdict {
    /// The word used in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Inconclusive => "inconclusive",
            Self::Fail => "fail",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}

/// The answer about one limit: a verdict, or why nothing could be judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ruling {
    /// The limit was judged.
    Judged(Verdict),
    /// There was nothing to judge; the text says why. Never a pass.
    Skipped(String),
}

impl Ruling {
    /// The verdict, where the limit was judged.
    pub fn verdict(&self) -> Option<Verdict> {
        match self {
            Self::Judged(verdict) => Some(*verdict),
            Self::Skipped(_) => None,
        }
    }

    /// The word used in reports: a verdict's, or `skipped`.
    pub fn as_str(&self) -> &'static str {
        self.verdict().map_or("skipped", Verdict::as_str)
    }

    /// Why nothing was judged.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Judged(_) => None,
            Self::Skipped(reason) => Some(reason),
        }
    }

    /// The verdict of a set: the worst that was judged; skipped where none was.
    pub fn of_all<'a>(members: impl IntoIterator<Item = &'a Ruling>) -> Ruling {
        let mut reason = None;
        let mut worst = None;
        for member in members {
            match member {
                Self::Judged(verdict) => worst = worst.max(Some(*verdict)),
                Self::Skipped(why) => reason = reason.or(Some(why)),
            }
        }
        match worst {
            Some(verdict) => Self::Judged(verdict),
            None => Self::Skipped(reason.cloned().unwrap_or_else(|| "no gate is stated".to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Ruling, Verdict};

    #[test]
    fn a_set_is_as_bad_as_its_worst_judged_member() {
        let (pass, unsure, fail) =
            (Ruling::Judged(Verdict::Pass), Ruling::Judged(Verdict::Inconclusive), Ruling::Judged(Verdict::Fail));
        let skipped = Ruling::Skipped("no baseline".to_owned());
        assert_eq!(Ruling::of_all([&pass, &unsure]), unsure);
        assert_eq!(Ruling::of_all([&fail, &unsure, &pass]), fail);
        assert_eq!(Ruling::of_all([&pass, &skipped]), pass);
        assert_eq!(Ruling::of_all([&skipped]), skipped);
        assert!(Ruling::of_all([]).verdict().is_none());
    }
}

//! Verdicts: pass, fail and inconclusive. A check that did not run is never a pass.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::words::words;

words! {
    /// The verdict over a set of limits, from good to bad.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Verdict {
        /// All evaluated limits pass.
        Pass = "pass",
        /// No limit fails; at least one has no value or is in its band.
        Inconclusive = "inconclusive",
        /// At least one limit fails.
        Fail = "fail",
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}

/// The result of one limit: a verdict, or why it was skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "StatedRuling", into = "StatedRuling")]
pub enum Ruling {
    /// The limit was evaluated.
    Judged(Verdict),
    /// Nothing was evaluated, with the reason. Never a pass.
    Skipped(String),
    /// The config switches the limit off; the reason begins with [`SWITCHED_OFF`]. Never a pass.
    Off(String),
}

/// A ruling in a file: two keys of the object that it rules on.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct StatedRuling {
    /// The verdict, or `skipped` if nothing was evaluated.
    verdict: RulingWord,
    /// Why nothing was evaluated.
    reason: Option<String>,
}

words! {
    /// A verdict, or that there is none.
    enum RulingWord {
        /// All evaluated limits pass.
        Pass = "pass",
        /// No limit fails; at least one has no value or is in its band.
        Inconclusive = "inconclusive",
        /// At least one limit fails.
        Fail = "fail",
        /// Nothing was evaluated.
        Skipped = "skipped",
    }
}

impl From<Ruling> for StatedRuling {
    fn from(ruling: Ruling) -> Self {
        let (verdict, reason) = match ruling {
            Ruling::Judged(Verdict::Pass) => (RulingWord::Pass, None),
            Ruling::Judged(Verdict::Inconclusive) => (RulingWord::Inconclusive, None),
            Ruling::Judged(Verdict::Fail) => (RulingWord::Fail, None),
            Ruling::Skipped(reason) | Ruling::Off(reason) => (RulingWord::Skipped, Some(reason)),
        };
        Self { verdict, reason }
    }
}

impl From<StatedRuling> for Ruling {
    fn from(StatedRuling { verdict, reason }: StatedRuling) -> Self {
        match verdict {
            RulingWord::Pass => Self::Judged(Verdict::Pass),
            RulingWord::Inconclusive => Self::Judged(Verdict::Inconclusive),
            RulingWord::Fail => Self::Judged(Verdict::Fail),
            // The frozen form has one word for both.
            RulingWord::Skipped => match reason.unwrap_or_default() {
                reason if reason.starts_with(SWITCHED_OFF) => Self::Off(reason),
                reason => Self::Skipped(reason),
            },
        }
    }
}

/// How the reason of a gate that is switched off begins, in reports and on the screen.
pub const SWITCHED_OFF: &str = "switched off: ";

impl Ruling {
    /// Whether the limit was evaluated and fails.
    pub fn fails(&self) -> bool {
        self.verdict() == Some(Verdict::Fail)
    }

    /// The verdict, if the limit was evaluated.
    pub fn verdict(&self) -> Option<Verdict> {
        match self {
            Self::Judged(verdict) => Some(*verdict),
            Self::Skipped(_) | Self::Off(_) => None,
        }
    }

    /// The value in reports: the verdict, or `skipped`.
    pub fn as_str(&self) -> &'static str {
        self.verdict().map_or("skipped", Verdict::as_str)
    }

    /// Why nothing was evaluated.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Judged(_) => None,
            Self::Skipped(reason) | Self::Off(reason) => Some(reason),
        }
    }

    /// The verdict of a set: the worst one; skipped if none was evaluated.
    pub fn of_all<'a>(members: impl IntoIterator<Item = &'a Ruling>) -> Ruling {
        let mut skipped = None;
        let mut worst = None;
        for member in members {
            match member {
                Self::Judged(verdict) => worst = worst.max(Some(*verdict)),
                Self::Skipped(_) | Self::Off(_) => skipped = skipped.or(Some(member)),
            }
        }
        match worst {
            Some(verdict) => Self::Judged(verdict),
            None => skipped
                .cloned()
                .unwrap_or_else(|| Self::Skipped("no gate is set".to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Ruling, Verdict};

    #[test]
    fn the_verdict_of_a_set_is_its_worst_member() {
        let (pass, unsure, fail) = (
            Ruling::Judged(Verdict::Pass),
            Ruling::Judged(Verdict::Inconclusive),
            Ruling::Judged(Verdict::Fail),
        );
        let skipped = Ruling::Skipped("no baseline".to_owned());
        assert_eq!(Ruling::of_all([&pass, &unsure]), unsure);
        assert_eq!(Ruling::of_all([&fail, &unsure, &pass]), fail);
        assert_eq!(Ruling::of_all([&pass, &skipped]), pass);
        assert_eq!(Ruling::of_all([&skipped]), skipped);
        assert!(Ruling::of_all([]).verdict().is_none());
    }
}

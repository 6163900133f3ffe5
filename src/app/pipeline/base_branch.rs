//! The branch that a change is merged into, and the commit of it whose own numbers count.

use crate::model::BranchTip;

/// What the own numbers of a commit are used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnNumbers {
    /// They complete the baseline, and excuse a failed gate: it is the tip of a branch whose commits passed the gates.
    Excuse,
    /// They only complete the baseline, which makes no gate looser.
    CompleteBaseline,
}

/// The branch that a change is merged into.
#[derive(Debug, Clone, Default)]
pub struct BaseBranch {
    /// Its name, for messages.
    pub name: Option<String>,
    /// The tip whose own numbers excuse a failed gate. `None` if nothing is excused: the base is not a branch, or its commits need not
    /// have passed a gate.
    pub tip: Option<BranchTip>,
}

impl BaseBranch {
    /// The tip, if it is another commit than the base commit.
    pub fn other_tip(&self, base: &str) -> Option<&str> {
        self.tip
            .as_ref()
            .map(BranchTip::commit)
            .filter(|tip| *tip != base)
    }

    /// The name of the branch whose own numbers count.
    pub fn compared_name(&self) -> Option<&str> {
        self.tip
            .as_ref()
            .and_then(BranchTip::branch)
            .or(self.name.as_deref())
    }

    /// The files whose own numbers a change is compared with, and for what. `other` was read for [`Self::other_tip`].
    pub fn compared_files<T>(
        &self,
        base_commit: &str,
        base: T,
        other: Option<T>,
    ) -> Option<(T, OwnNumbers)> {
        match &self.tip {
            Some(tip) if tip.commit() != base_commit => {
                other.map(|files| (files, OwnNumbers::Excuse))
            }
            Some(_) => Some((base, OwnNumbers::Excuse)),
            None => Some((base, OwnNumbers::CompleteBaseline)),
        }
    }
}

//! The branch that a change is merged into, and the commit of it whose own numbers count.

use crate::model::BranchTip;

/// The branch that a change is merged into.
#[derive(Debug, Clone, Default)]
pub struct BaseBranch {
    /// Its name, for messages.
    pub name: Option<String>,
    /// The tip whose own numbers excuse a failed gate. `None` if nothing is excused: the base is not a branch, or its commits need not
    /// have passed a gate.
    pub tip: Option<BranchTip>,
    /// The newest commit of the branch, if it is another one than the base commit: its config and its baseline judge. A branch that
    /// began at an old commit is compared with that commit, but it does not choose old rules.
    pub rules: Option<String>,
}

impl BaseBranch {
    /// The commit of the rules, or else the tip, if it is another commit than the base commit.
    pub fn later_commit(&self, base: &str) -> Option<&str> {
        self.rules.as_deref().or_else(|| self.other_tip(base))
    }

    /// The tip, if it is another commit than the base commit.
    pub fn other_tip(&self, base: &str) -> Option<&str> {
        self.tip.as_ref().map(BranchTip::commit).filter(|tip| *tip != base)
    }

    /// The files of the tip: those of the base commit if it is the tip, else those that were read for [`Self::other_tip`].
    pub fn files_of_tip<T: Copy>(&self, base_commit: &str, base: Option<T>, other: Option<T>) -> Option<T> {
        let tip = self.tip.as_ref()?;
        if tip.commit() == base_commit { base } else { other }
    }
}

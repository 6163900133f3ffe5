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
}

impl BaseBranch {
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

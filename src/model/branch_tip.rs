//! The tip of a branch.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A commit that was the tip of the branch that a change is merged into. Only its own numbers may excuse a failed gate: it passed the
/// gates or an approval. A merge base is not such a commit, because it can be a commit within a merged branch, which nobody judged and
/// whose content the branch never had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BranchTip {
    commit: String,
    /// Its branch, if it is not the base branch.
    branch: Option<String>,
}

impl BranchTip {
    /// The commit that git or GitHub returns for the name of a branch.
    pub fn of_branch(commit: String) -> Self {
        Self {
            commit,
            branch: None,
        }
    }

    /// The same commit, as the tip of a branch that is not the base branch.
    pub fn of_other_branch(self, branch: String) -> Self {
        Self {
            branch: Some(branch),
            ..self
        }
    }

    /// The first parent of GitHub's test merge of this head, which was the tip when GitHub made the merge. `None` if the commit with
    /// these parents is not such a merge.
    pub fn of_test_merge(parents: &[String], head: &str) -> Option<Self> {
        match parents {
            [tip, own] if own == head => Some(Self::of_branch(tip.clone())),
            _ => None,
        }
    }

    /// The commit's id.
    pub fn commit(&self) -> &str {
        &self.commit
    }

    /// Its branch, if it is not the base branch.
    pub fn branch(&self) -> Option<&str> {
        self.branch.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::BranchTip;

    #[test]
    fn only_a_merge_of_the_head_has_the_tip_as_its_first_parent() {
        let commits = |ids: &[&str]| {
            ids.iter()
                .map(|id| (*id).to_owned())
                .collect::<Vec<String>>()
        };
        for (parents, tip) in [
            (vec!["main", "head"], Some("main")),
            (vec!["main", "other"], None),
            (vec!["head"], None),
            (vec!["main", "other", "head"], None),
            (Vec::new(), None),
        ] {
            let found = BranchTip::of_test_merge(&commits(&parents), "head");
            assert_eq!(found.as_ref().map(BranchTip::commit), tip, "{parents:?}");
        }
    }
}

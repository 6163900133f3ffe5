//! The options of a run, and which of its tiers decide.

use std::sync::Arc;

use super::evaluate::ShardResults;
use super::live_options::{EarlierAnswers, LiveOptions};
use super::selection::Selection;
use crate::model::{Authority, Tier};

/// Which tiers decide the verdict if both are requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecidingTiers {
    /// Only the deterministic tier.
    Deterministic,
    /// Both tiers: blocking was requested explicitly.
    Every,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentScope {
    All,
    /// Those that the change since the base commit can affect.
    Affected,
}

/// What becomes of files that were read and are not those of the checked-out commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UncommittedFiles {
    /// The run gives no verdict.
    Refused,
    /// They are judged, and the report names them.
    Judged,
}

impl RunOptions {
    /// Whether the runs are also judged by the base commit's rules: if the run blocks, and always in the deterministic tier.
    pub fn is_compared(&self) -> bool {
        self.authority == Authority::Blocking || self.wanted.tiers.contains(&Tier::Deterministic)
    }

    /// Whether a tier's verdict counts.
    pub fn decides(&self, tier: Tier) -> bool {
        let deterministic = self.wanted.tiers.contains(&Tier::Deterministic);
        tier == Tier::Deterministic || !deterministic || self.deciding == DecidingTiers::Every
    }
}

impl RunOptions {
    /// Whether a tier's failed gate fails the run.
    pub fn blocks(&self, tier: Tier) -> bool {
        self.authority == Authority::Blocking
            && self.wanted.tiers.contains(&tier)
            && self.decides(tier)
    }

    /// Returns which answers of earlier runs a tier may reuse. A blocking tier measures the agent of this commit.
    pub fn earlier_answers(&self, tier: Tier) -> EarlierAnswers {
        match (self.blocks(tier), &self.base) {
            (false, _) => EarlierAnswers::All,
            (true, None) => EarlierAnswers::Addressed,
            (true, Some(_)) => EarlierAnswers::None,
        }
    }

    /// Returns the tiers whose run sources and recordings are compared with the base commit: always the deterministic tier,
    /// because people review its recordings, and the model tier if it blocks.
    pub fn compared_tiers(&self) -> Vec<Tier> {
        let model = self.blocks(Tier::Model).then_some(Tier::Model);
        [Tier::Deterministic].into_iter().chain(model).collect()
    }
}

/// The options of a run, from the command line or the action.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// The config's path, relative to the current folder.
    pub config: String,
    /// Which suites, agents and cases are graded.
    pub wanted: Selection,
    pub scope: AgentScope,
    /// Whether a failed gate blocks.
    pub authority: Authority,
    /// Which tiers decide the verdict if both are requested.
    pub deciding: DecidingTiers,
    /// The graded commit; `None` to read it from git.
    pub commit: Option<String>,
    /// The base commit to compare with.
    pub base: Option<String>,
    /// The branch of the base commit.
    pub base_branch: Option<String>,
    /// Only with a base commit: without one, nothing is said about a commit.
    pub uncommitted: UncommittedFiles,
    pub live: LiveOptions,
    /// Results that other machines graded.
    pub parts: Option<Arc<ShardResults>>,
}

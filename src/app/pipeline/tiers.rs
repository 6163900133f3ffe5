//! The tiers of a run: which ones decide the verdict, and which ones did not run.

use crate::app::commands::run::RunOptions;
use crate::app::live;
use crate::model::{Authority, NotGateable, Ruling, SuiteReport, Tier};

/// Which tiers decide the verdict if both are requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecidingTiers {
    /// Only the deterministic tier.
    Deterministic,
    /// Both tiers: blocking was requested explicitly.
    Every,
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
        self.authority == Authority::Blocking && self.wanted.tiers.contains(&tier) && self.decides(tier)
    }

    /// Returns which answers of earlier runs a tier may reuse. A blocking tier measures the agent of this commit.
    pub fn earlier_answers(&self, tier: Tier) -> live::EarlierAnswers {
        match (self.blocks(tier), &self.base) {
            (false, _) => live::EarlierAnswers::All,
            (true, None) => live::EarlierAnswers::Addressed,
            (true, Some(_)) => live::EarlierAnswers::None,
        }
    }

    /// Returns the tiers whose run sources and recordings are compared with the base commit: always the deterministic tier,
    /// because people review its recordings, and the model tier if it blocks.
    pub fn compared_tiers(&self) -> Vec<Tier> {
        let model = self.blocks(Tier::Model).then_some(Tier::Model);
        [Tier::Deterministic].into_iter().chain(model).collect()
    }
}

/// The result of one tier.
#[derive(Debug, Clone)]
#[cfg_attr(not(feature = "github"), allow(dead_code, reason = "only an approved result is judged again"))]
pub struct TierOutcome {
    /// The worst verdict of its suites.
    pub verdict: Ruling,
    /// The reasons why no verdict is possible, if any.
    pub not_gateable: Vec<NotGateable>,
}

/// Returns the reasons why a requested tier did not run for all agents: targets that cannot be called, or no suite in the tier.
pub fn not_run(tier: Tier, asked: &[Tier], agents: &[live::NotRun], suites: &[SuiteReport]) -> Vec<NotGateable> {
    if asked.len() > 1 && agents.is_empty() && suites.is_empty() {
        return vec![NotGateable(format!("the {} tier did not run: no selected suite has this tier", tier.as_str()))];
    }
    agents.iter().map(|one| NotGateable(one.message.clone())).collect()
}

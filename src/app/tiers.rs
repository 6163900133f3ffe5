//! The tiers of a run: whose verdict counts, and which one did not run.

use super::live;
use super::run::RunOptions;
use crate::model::{Authority, NotGateable, Ruling, SuiteReport, Tier};

/// Whose verdict counts where both tiers are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecidingTiers {
    /// That of the deterministic tier.
    Deterministic,
    /// That of both: somebody asked explicitly that the run blocks.
    Every,
}

impl RunOptions {
    /// Whether the base commit's rules judge the runs, too: wherever a verdict counts, and in the everyday tier always.
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

    /// Which answers of earlier runs a tier may take over. One that blocks measures the agent of this commit.
    pub fn earlier_answers(&self, tier: Tier) -> live::EarlierAnswers {
        match (self.blocks(tier), &self.base) {
            (false, _) => live::EarlierAnswers::All,
            (true, None) => live::EarlierAnswers::Addressed,
            (true, Some(_)) => live::EarlierAnswers::None,
        }
    }

    /// The tiers in which the source of runs and the recordings are compared with the base commit: the deterministic one always,
    /// since its recordings are what people review, and the model tier where it blocks.
    pub fn guarded_tiers(&self) -> Vec<Tier> {
        let model = self.blocks(Tier::Model).then_some(Tier::Model);
        [Tier::Deterministic].into_iter().chain(model).collect()
    }
}

/// What one tier says.
#[derive(Debug, Clone)]
#[cfg_attr(not(feature = "github"), allow(dead_code, reason = "only an approved result is judged again"))]
pub struct TierOutcome {
    /// The worst of its suites.
    pub verdict: Ruling,
    /// Why no verdict can be given; empty where one can.
    pub not_gateable: Vec<NotGateable>,
}

/// Why a tier that was asked for says nothing, or not of everybody: an agent without its target, or no suite at all.
pub fn not_run(tier: Tier, asked: &[Tier], agents: &[live::NotRun], suites: &[SuiteReport]) -> Vec<NotGateable> {
    if asked.len() > 1 && agents.is_empty() && suites.is_empty() {
        return vec![NotGateable(format!("the {} tier did not run: no suite that is asked for has it", tier.as_str()))];
    }
    agents.iter().map(|one| NotGateable(one.message.clone())).collect()
}

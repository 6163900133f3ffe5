//! The base commit's own numbers: its recordings, graded by its own rules. They are computed only when a gate that compares with
//! the baseline fails.

use std::sync::OnceLock;

use super::baseline;
use super::evaluate::{Excuses, ResultSources, evaluate};
use super::plan::{Plan, plan};
use super::replay::{LiveLayout, Replay};
use super::selection::Selection;
use crate::diag::Diagnostics;
use crate::files::Files;
use crate::gate::{BaseMeasurement, GateInput, GateOutcome, excuse};
use crate::model::{AgentName, Baseline, RepoPath, SuiteId, SuiteReport, Tier};
use crate::world::Clock;

/// The commit of the base branch whose numbers count.
#[derive(Clone, Copy)]
pub struct BaseCommitFiles<'a> {
    /// Its files. Nothing of the graded change is in them.
    pub files: &'a dyn Files,
    /// The name of the branch, for messages.
    pub branch: Option<&'a str>,
}

/// The base commit's own numbers.
pub struct BaseValues<'a> {
    commit: BaseCommitFiles<'a>,
    config: &'a RepoPath,
    wanted: Selection,
    clock: &'a Clock,
    baseline: Option<&'a Baseline>,
    suites: OnceLock<Vec<SuiteReport>>,
}

impl<'a> BaseValues<'a> {
    /// Nothing is read before a gate fails. `head` is the plan of the graded commit, whose filters apply to both.
    pub fn new(commit: BaseCommitFiles<'a>, head: &'a Plan, clock: &'a Clock, baseline: Option<&'a Baseline>) -> Self {
        let wanted = Selection { tiers: vec![Tier::Deterministic], suites: Vec::new(), ..head.wanted.clone() };
        Self { commit, config: &head.config.file, wanted, clock, baseline, suites: OnceLock::new() }
    }

    /// Grades the recordings of the base commit. What cannot be graded excuses nothing.
    fn graded(&self) -> Result<Vec<SuiteReport>, Diagnostics> {
        let files = self.commit.files;
        let plan = plan(files, self.config, self.wanted.clone(), self.clock)?;
        let layout = LiveLayout::default();
        let replay = Replay::open(files, &plan, Tier::Deterministic, &layout)?;
        let origin = ResultSources { runs: &replay, parts: None, other: None, base: None };
        Ok(evaluate(&plan, Tier::Deterministic, origin, files, self.baseline)?.suites)
    }
}

impl Excuses for BaseValues<'_> {
    fn excuse(&self, suite: &SuiteId, agent: &AgentName, judged: &GateInput<'_>, outcome: &mut GateOutcome) {
        if !outcome.fails_by_comparison() {
            return;
        }
        let suites = self.suites.get_or_init(|| self.graded().unwrap_or_default());
        let own = suites.iter().find(|one| one.id == *suite).map(|suite| &suite.agents);
        let own = own.into_iter().flatten().find(|one| one.agent == *agent);
        let Some(own) = own.filter(|own| baseline::is_usable(own)) else { return };
        excuse(
            judged,
            &BaseMeasurement { branch: self.commit.branch, pairs: &own.cases, identity: &own.identity },
            outcome,
        );
    }
}

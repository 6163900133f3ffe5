//! The own numbers of the branch that a change is merged into: the recordings of its tip, graded by the rules of the tip. A suite is
//! graded only if a gate of it that compares with the baseline fails, or if the baseline lacks a value.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::base_branch::OwnNumbers;
use super::evaluate::{BranchNumbers, ResultSources, evaluate, quarantine_history};
use super::live_layout::LiveLayout;
use super::plan::{Plan, plan};
use super::replay::Replay;
use super::selection::Selection;
use crate::diag::{Diagnostics, ReadFailure};
use crate::files::Files;
use crate::gate;
use crate::gate::{
    BaseMeasurement, ComparedPair, GateInput, GateOutcome, QuarantineHistory, completed_entry,
    excuse, lacks_values, reduced_entry,
};
use crate::model::{
    AgentName, Baseline, CaseId, RepoPath, SuiteConfig, SuiteId, SuiteReport, Tier,
};
use crate::render::line;
use crate::suites::read_config;
use crate::world::Clock;

/// The longest reason in a note, in characters.
const REASON: usize = 300;

#[derive(Clone, Copy)]
pub struct TipFiles<'a> {
    /// The files. Nothing of the graded change is in them.
    pub files: &'a dyn Files,
    /// The name of the branch, for messages.
    pub branch: Option<&'a str>,
    /// What the numbers are used for.
    pub numbers: OwnNumbers,
}

/// The own numbers of a branch's tip.
pub struct BaseValues<'a> {
    tip: TipFiles<'a>,
    config: &'a RepoPath,
    wanted: Selection,
    clock: &'a Clock,
    baseline: Option<&'a Baseline>,
    suites: Mutex<BTreeMap<(SuiteId, Tier), Arc<TipSuite>>>,
}

enum TipSuite {
    /// The tip does not have it.
    Absent,
    /// It cannot be graded, for this reason.
    Unreadable(String),
    Graded(GradedTip),
}

struct GradedTip {
    suite: SuiteReport,
    pairs: BTreeMap<(AgentName, CaseId), GoldenPair>,
}

/// What a pair's golden file says.
struct GoldenPair {
    expectation: String,
    quarantine: QuarantineHistory,
}

impl<'a> BaseValues<'a> {
    /// Nothing is read before a gate fails. `head` is the plan of the graded commit, whose filters apply to both.
    pub fn new(
        tip: TipFiles<'a>,
        head: &'a Plan,
        clock: &'a Clock,
        baseline: Option<&'a Baseline>,
    ) -> Self {
        let wanted = Selection {
            tiers: Vec::new(),
            suites: Vec::new(),
            ..head.wanted.clone()
        };
        Self {
            tip,
            config: &head.config.file,
            wanted,
            clock,
            baseline,
            suites: Mutex::default(),
        }
    }

    fn suite(&self, id: &SuiteId, tier: Tier) -> Arc<TipSuite> {
        let key = (id.clone(), tier);
        let known = self
            .suites
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&key)
            .cloned();
        if let Some(known) = known {
            return known;
        }
        let suite = Arc::new(self.graded(id, tier).unwrap_or_else(|problems| {
            let first = problems.first_line();
            TipSuite::Unreadable(line(&first, REASON))
        }));
        self.suites
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(key, suite.clone());
        suite
    }

    /// Grades the recordings of one suite of the tip. A broken file of another suite does not matter.
    fn graded(&self, id: &SuiteId, tier: Tier) -> Result<TipSuite, Diagnostics> {
        let files = self.tip.files;
        let config = match files.text(self.config) {
            Ok(source) => read_config(&source)?,
            Err(problem) if problem.is_read_failure(ReadFailure::MissingFile) => {
                return Ok(TipSuite::Absent);
            }
            Err(problem) => return Err(problem.into()),
        };
        let is_graded = |suite: &SuiteConfig| suite.id == *id && suite.tiers.contains(&tier);
        if !config.suites.iter().any(is_graded) {
            return Ok(TipSuite::Absent);
        }
        let wanted = Selection {
            tiers: vec![tier],
            suites: vec![id.to_string()],
            ..self.wanted.clone()
        };
        let plan = plan(files, self.config, wanted, self.clock)?;
        let layout = LiveLayout::default();
        let replay = Replay::open(files, &plan, tier, &layout)?.measured_in(self.baseline);
        let origin = ResultSources {
            runs: &replay,
            parts: None,
            other: None,
            base: None,
            recordings: None,
        };
        let graded = evaluate(&plan, tier, origin, files, self.baseline)?;
        let Some(suite) = graded.suites.into_iter().find(|suite| suite.id == *id) else {
            return Ok(TipSuite::Absent);
        };
        let pairs = plan
            .suites
            .iter()
            .flat_map(|loaded| loaded.suite.pairs())
            .map(|pair| {
                let golden = GoldenPair {
                    expectation: pair.digest.clone(),
                    quarantine: quarantine_history(pair),
                };
                ((pair.agent.clone(), pair.case.clone()), golden)
            });
        Ok(TipSuite::Graded(GradedTip {
            suite,
            pairs: pairs.collect(),
        }))
    }
}

impl BranchNumbers for BaseValues<'_> {
    fn compare(
        &self,
        (suite, tier): (&SuiteId, Tier),
        agent: &AgentName,
        judged: &GateInput<'_>,
        outcome: &mut GateOutcome,
    ) -> Vec<String> {
        // Without any baseline, nothing is compared. A case or a metric that it lacks may have been merged since.
        let lacks = self.baseline.is_some() && lacks_values(judged);
        let excuses = self.tip.numbers == OwnNumbers::Excuse;
        let has_lost = excuses && !outcome.gaps.lost_metrics().is_empty();
        let needs = lacks || has_lost || (excuses && outcome.fails_by_comparison());
        if !needs {
            return Vec::new();
        }
        let suite = self.suite(suite, tier);
        let graded = match &*suite {
            TipSuite::Absent => return Vec::new(),
            TipSuite::Unreadable(why) => {
                let branch = self.tip.branch.unwrap_or("the base commit");
                return vec![format!(
                    "nothing is compared with the results of {branch}, because its recordings cannot be graded: {why}"
                )];
            }
            TipSuite::Graded(graded) => graded,
        };
        let Some(own) = graded.suite.agents.iter().find(|one| one.agent == *agent) else {
            return Vec::new();
        };
        let pairs = own.cases.iter().filter_map(|result| {
            let golden = graded.pairs.get(&(agent.clone(), result.case.clone()))?;
            Some(ComparedPair {
                result,
                document: &result.case,
                zone: None,
                expectation: &golden.expectation,
                quarantine: golden.quarantine,
            })
        });
        let pairs: Vec<ComparedPair<'_>> = pairs.collect();
        let base = BaseMeasurement {
            branch: self.tip.branch,
            pairs: &pairs,
            identity: &own.identity,
        };
        let mut notes = Vec::new();
        let reduced = if has_lost {
            reduced_entry(judged, &base)
        } else {
            None
        };
        let judged = GateInput {
            before: reduced.as_ref().or(judged.before),
            ..*judged
        };
        if reduced.is_some() {
            let lost = outcome.gaps.lost_metrics();
            *outcome = gate::agent(&judged);
            notes.push(format!(
                "{}: {} lacks values that the baseline has; baseline update pending",
                lost.into_iter().collect::<Vec<_>>().join(", "),
                base.name()
            ));
        }
        if excuses {
            notes.extend(excuse(&judged, &base, outcome));
        }
        if lacks && let Some(entry) = completed_entry(&judged, &base) {
            let judged = GateInput {
                before: Some(&entry),
                ..judged
            };
            let mut completed = gate::agent(&judged);
            if excuses {
                notes.extend(excuse(&judged, &base, &mut completed));
            }
            notes.extend(outcome.add_worse(&judged, completed, &base));
        }
        notes
    }
}

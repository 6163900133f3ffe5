//! The second judgement: the same runs by the rules of the base commit. A change is green when both judgements pass.
//!
//! A judgement is a function of what it reads, so nothing is graded a second time where the head's judgement read nothing that the
//! base commit does not have as it is, and both configs state the same rules.

use std::collections::{BTreeMap, BTreeSet};

use super::evaluate::{Evaluated, ResultSources, evaluate};
use super::freshness::CurrentAgents;
use super::live::LiveRuns;
use super::plan::{LoadedSuite, Plan, Selection, base_plan, source_of};
use super::replay::Replay;
use crate::diag::Diagnostics;
use crate::golden_changes::{
    BaseConfig, DifferentRead, GoldenChanges, HeadCommit, KnownRecordings, Sides, SuiteSide, added_samples,
    base_config, same_rules, same_suite,
};
use crate::model::{
    AgentName, AgentReport, Baseline, CaseId, ChangeClass, Config, GateRuling, GoldenChange, MetricEvidence,
    MetricReport, NotGateable, RunKey, RunSource, SuiteConfig, SuiteId, SuiteReport, Tier, Verdict, Weight,
    metric_value,
};
use crate::render::words;
use crate::world::Clock;

/// The runs of one tier, and what the head's judgement came to.
pub struct TierRuns {
    /// The tier.
    pub tier: Tier,
    /// The live runs.
    pub made: LiveRuns,
    /// The head's judgement.
    pub suites: Vec<SuiteReport>,
}

/// What the base's judgement is made of.
pub struct BaseInputs<'a> {
    /// The files of both commits.
    pub sides: Sides<'a>,
    /// The head's plan, once its runs were judged.
    pub head: &'a Plan,
    /// The runs of the tiers that decide.
    pub tiers: &'a [&'a TierRuns],
    /// The tiers whose verdicts count: what changed in their runs is compared.
    pub deciding: &'a [Tier],
    /// The baseline of the base commit.
    pub baseline: Option<&'a Baseline>,
    /// Whether other machines graded, so that the head's reads are not all known here.
    pub graded_here: GradedHere,
    /// The day of the run.
    pub clock: &'a Clock,
}

/// Whether the head's judgement was made on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GradedHere {
    /// It was, so everything that it read is known.
    Yes,
    /// Other machines graded the runs.
    No,
}

/// Compares the two commits, and judges by the base's rules where they differ: the changes, and why no verdict can be given.
pub fn base_judgement(inputs: &BaseInputs<'_>) -> (Vec<GoldenChange>, Vec<NotGateable>) {
    match base_config(inputs.sides.base, &inputs.head.config.file) {
        BaseConfig::Absent(change) => (vec![change], Vec::new()),
        BaseConfig::Unreadable(why) => {
            let why = format!(
                "this version cannot read the config of the base commit: {why}; correct it on the base branch, or have this change approved"
            );
            (Vec::new(), vec![NotGateable(why)])
        }
        BaseConfig::Known(before) => {
            let of = |tier: &Tier| (*tier, added_samples(&inputs.sides, &before, &inputs.head.config, *tier));
            let added = inputs.deciding.iter().map(of).collect();
            BaseJudge { inputs, before: &before, added }.all()
        }
    }
}

struct BaseJudge<'a> {
    inputs: &'a BaseInputs<'a>,
    before: &'a Config,
    /// Samples that the base's judgement leaves out, by tier.
    added: Vec<(Tier, BTreeSet<(RunKey, u32)>)>,
}

impl BaseJudge<'_> {
    fn all(&self) -> (Vec<GoldenChange>, Vec<NotGateable>) {
        let BaseInputs { sides, head, .. } = self.inputs;
        let deciding = self.inputs.deciding;
        let mut guarded = GoldenChanges::of(sides, self.before, &head.config, deciding);
        let different: Vec<(&LoadedSuite, &SuiteConfig)> = head
            .suites
            .iter()
            .filter_map(|opened| Some((opened, same_suite(self.before, &opened.config)?)))
            .filter(|(opened, old)| {
                self.differs(opened, old) || self.added.iter().any(|(_, added)| has_any(opened, added))
            })
            .collect();
        if !different.is_empty() {
            self.judge_again(&different, &mut guarded);
        }
        let agents = CurrentAgents::new(&head.config, sides.head);
        let age = |suite: &SuiteId, agent: &AgentName, text: &str| agents.age(suite, agent, text);
        guarded.recordings(sides, self.before, &head.config, &KnownRecordings { tiers: deciding, age: &age });
        guarded.all()
    }

    /// Whether the base's rules could come to another result than the head's.
    fn differs(&self, opened: &LoadedSuite, old: &SuiteConfig) -> bool {
        let BaseInputs { head, graded_here, .. } = self.inputs;
        *graded_here == GradedHere::No
            || self.before.samples != head.config.samples
            || !same_rules(old, &opened.config)
            || !opened.reads.different().is_empty()
    }

    fn judge_again(&self, different: &[(&LoadedSuite, &SuiteConfig)], guarded: &mut GoldenChanges) {
        let BaseInputs { sides, head, tiers, clock, .. } = self.inputs;
        let pairs = |opened: &LoadedSuite| -> BTreeSet<(CaseId, AgentName)> {
            opened.suite.pairs().iter().map(|pair| (pair.case.clone(), pair.agent.clone())).collect()
        };
        let known: BTreeMap<SuiteId, _> =
            different.iter().map(|(opened, _)| (opened.config.id.clone(), pairs(opened))).collect();
        let wanted = Selection { suites: Vec::new(), ..head.wanted.clone() };
        let other = HeadCommit(sides.head);
        let base = match base_plan(sides.base, &other, head, self.before, known, wanted, clock) {
            Ok(base) => base,
            Err(problems) => return guarded.refuse(unreadable(problems)),
        };
        for runs in tiers.iter().copied() {
            self.unknown_parts(runs.tier, different, guarded);
            match self.evaluated(&base, runs, &other) {
                Ok(evaluated) => compare(&evaluated, runs, guarded),
                Err(problems) => guarded.refuse(unreadable(problems)),
            }
        }
        for old in &base.suites {
            let Some((new, _)) = different.iter().find(|(opened, _)| opened.config.id == old.config.id) else {
                continue;
            };
            let (before, after) = (old.reads.different(), new.reads.different());
            guarded.cases(sides, side(old, &before), side(new, &after));
        }
    }

    fn evaluated(&self, base: &Plan, runs: &TierRuns, other: &HeadCommit<'_>) -> Result<Evaluated, Diagnostics> {
        let BaseInputs { sides, head, baseline, .. } = self.inputs;
        let overlay = runs.made.overlay(sides.head);
        let replay = Replay::of(&overlay, base, &head.config, runs.tier, &runs.made.layout)?;
        // More samples of an agent that did not change may not outvote those that were there.
        let replay = match self.added.iter().find(|(tier, _)| *tier == runs.tier) {
            Some((_, added)) => replay.without(added),
            None => replay,
        };
        let origin = ResultSources { runs: &replay, parts: None, other: Some(other) };
        evaluate(base, runs.tier, origin, sides.base, *baseline)
    }

    /// Live runs of other machines are not here, so rules that differ cannot be applied to them.
    fn unknown_parts(&self, tier: Tier, different: &[(&LoadedSuite, &SuiteConfig)], guarded: &mut GoldenChanges) {
        if self.inputs.graded_here == GradedHere::Yes {
            return;
        }
        for (opened, old) in different {
            let live =
                opened.config.agents.values().any(|agent| matches!(source_of(agent, tier), Some(RunSource::Live(_))));
            if live && (!same_rules(old, &opened.config) || !opened.reads.different().is_empty()) {
                guarded.refuse(format!(
                    "{}: its live runs were graded on other machines, so the base commit's rules cannot be applied to them: run it without --shard",
                    opened.config.id
                ));
            }
        }
    }
}

/// Whether some of these samples are of a suite's runs.
fn has_any(opened: &LoadedSuite, samples: &BTreeSet<(RunKey, u32)>) -> bool {
    !samples.is_empty()
        && opened
            .suite
            .pairs()
            .iter()
            .flat_map(|pair| &pair.runs)
            .any(|key| samples.range((key.clone(), 0)..=(key.clone(), u32::MAX)).next().is_some())
}

fn side<'a>(opened: &'a LoadedSuite, reads: &'a [DifferentRead]) -> SuiteSide<'a> {
    SuiteSide { config: &opened.config, suite: opened.suite.as_ref(), reads }
}

fn unreadable(problems: Diagnostics) -> String {
    let first = problems.sorted().first().map(ToString::to_string).unwrap_or_default();
    format!("the runs cannot be judged by the base commit's rules: {first}")
}

/// Lists what fails by the base's rules and not by the head's.
fn compare(base: &Evaluated, runs: &TierRuns, guarded: &mut GoldenChanges) {
    for suite in &base.suites {
        let head = runs.suites.iter().find(|other| other.id == suite.id);
        for agent in &suite.agents {
            let own = head.and_then(|head| head.agents.iter().find(|other| other.agent == agent.agent));
            for (metric, gate) in failing(agent).filter(|failing| !own.is_some_and(|own| fails_too(own, failing))) {
                let told = format!(
                    "`{}/{}` fails by the rules of the base commit: {} is {}, needs {}{}",
                    suite.id,
                    agent.agent,
                    metric.name,
                    metric_value(metric.unit, metric.value),
                    words::gate(metric, gate),
                    worst_cases(metric),
                );
                let (class, weight) = (ChangeClass::BaseRules, Weight::NeedsApproval);
                guarded.add(GoldenChange { words: told, weight, file: None, class });
            }
        }
    }
    for why in &base.not_gateable {
        guarded.refuse(format!("by the rules of the base commit: {}", why.0));
    }
}

type FailingGate<'a> = (&'a MetricReport, &'a GateRuling);

fn failing(agent: &AgentReport) -> impl Iterator<Item = FailingGate<'_>> {
    let gates = agent.metrics.iter().flat_map(|metric| metric.gates.iter().map(move |gate| (metric, gate)));
    gates.filter(|(_, gate)| gate.ruling.verdict() == Some(Verdict::Fail))
}

fn fails_too(head: &AgentReport, (metric, gate): &FailingGate<'_>) -> bool {
    failing(head).any(|(other, other_gate)| other.name == metric.name && other_gate.gate == gate.gate)
}

/// The cases that cost the metric most by the base's rules.
fn worst_cases(metric: &MetricReport) -> String {
    let MetricEvidence { cases, more } = &metric.evidence;
    let named: Vec<&str> = cases.iter().map(|one| one.case.as_str()).collect();
    match (named.as_slice(), more) {
        ([], _) => String::new(),
        ([only], 0) => format!("; case {only}"),
        (_, 0) => format!("; cases {}", named.join(", ")),
        (_, more) => format!("; cases {} and {more} more", named.join(", ")),
    }
}

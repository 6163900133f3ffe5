//! The second judgement: the same runs judged by the rules of the base commit. A change passes only if both judgements pass.
//!
//! A judgement depends only on what it reads. A suite is not graded again if all files that the head's judgement read are equal on
//! the base commit, and both configs have the same rules.

use std::collections::{BTreeMap, BTreeSet};

use super::base_runs::BaseRecordings;
use super::evaluate::{Evaluated, ResultSources};
use super::live_runs::LiveRuns;
use super::plan::{BasePlanInputs, LoadedSuite, Plan, base_plan, source_of};
use super::policies::{Evaluation, OtherAgents};
use super::read_runs::ReadRuns;
use super::recorded_agents::RecordedAgents;
use super::replay::Replay;
use super::selection::Selection;
use crate::diag::Diagnostics;
use crate::files::{DifferentRead, HeadCommit};
use crate::golden_changes::{BaseConfig, GoldenChanges, Sides, SuiteSide, same_rules, same_suite};
use crate::model::{
    AgentName, AgentReport, Baseline, CaseId, ChangeClass, Config, GateRuling, GoldenChange,
    MetricEvidence, MetricReport, NotGateable, RunDays, RunSource, SuiteConfig, SuiteId,
    SuiteReport, Tier, Verdict, Weight, metric_value,
};
use crate::render::words;
use crate::text::counted;

/// The runs of one tier and the result of the head's judgement.
pub struct TierRuns {
    pub tier: Tier,
    pub made: LiveRuns,
    /// The result of the head's judgement.
    pub suites: Vec<SuiteReport>,
    /// The recorded runs that it read.
    pub read: ReadRuns,
}

pub struct BaseInputs<'a> {
    /// The files of both commits.
    pub sides: Sides<'a>,
    /// The base commit's config.
    pub config: &'a BaseConfig,
    /// What the head gave another name or place.
    pub renamed: &'a [GoldenChange],
    /// The head's plan, after its runs were judged.
    pub head: &'a Plan,
    /// The runs of the deciding tiers.
    pub tiers: &'a [&'a TierRuns],
    /// The tiers whose verdicts count; changes of their runs are compared.
    pub deciding: &'a [Tier],
    pub baseline: Option<&'a Baseline>,
    /// The base commit's own recordings.
    pub base_runs: Option<&'a BaseRecordings<'a>>,
    /// What the head's recordings mean for the verdict.
    pub recordings: &'a RecordedAgents,
    /// Whether the head was graded on this machine, so that all files it read are known.
    pub graded_here: GradedHere,
    pub days: &'a RunDays,
}

/// Whether the head's judgement was made on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GradedHere {
    /// Yes: all files that it read are known.
    Yes,
    /// Other machines graded the runs.
    No,
}

/// Compares the two commits and judges by the base's rules where they differ. Returns the golden changes and the reasons why no
/// verdict is possible.
pub fn base_judgement(inputs: &BaseInputs<'_>) -> (Vec<GoldenChange>, Vec<NotGateable>) {
    let (mut changes, refusals) = compare_commits(inputs);
    for link in inputs.sides.base.links_gone() {
        changes.push(GoldenChange {
            words: format!(
                "{link} is a symbolic link or an unread submodule on the base commit, so nothing is compared with it"
            ),
            weight: Weight::NeedsApproval,
            file: Some(link.clone()),
            class: ChangeClass::Removed,
            files: vec![link],
            content: String::new(),
        });
    }
    (changes, refusals)
}

fn compare_commits(inputs: &BaseInputs<'_>) -> (Vec<GoldenChange>, Vec<NotGateable>) {
    let base_config = match inputs.config {
        BaseConfig::Absent(change) => return (vec![change.clone()], Vec::new()),
        BaseConfig::Unreadable(why) => return unreadable_config(why),
        BaseConfig::Known(base_config) => base_config,
    };
    BaseJudge {
        inputs,
        base_config,
    }
    .all()
}

fn unreadable_config(why: &str) -> (Vec<GoldenChange>, Vec<NotGateable>) {
    let why = format!(
        "this version cannot read the config of the base commit: {why}; correct it on the base branch, or get this change approved"
    );
    (Vec::new(), vec![NotGateable::new(why)])
}

fn unreadable_rules(problems: Diagnostics) -> NotGateable {
    let first = problems.first_line();
    NotGateable::new(format!(
        "the runs cannot be judged by the base commit's rules: {first}"
    ))
}

struct BaseJudge<'a> {
    inputs: &'a BaseInputs<'a>,
    /// The config of the base commit.
    base_config: &'a Config,
}

impl BaseJudge<'_> {
    fn all(&self) -> (Vec<GoldenChange>, Vec<NotGateable>) {
        let BaseInputs { sides, head, .. } = self.inputs;
        let deciding = self.inputs.deciding;
        let mut changes = GoldenChanges::of(sides, self.base_config, &head.config, deciding);
        // A filter may select cases on the base commit of a suite that has none here: they were renamed, or lost their tags.
        let different: Vec<(&LoadedSuite, &SuiteConfig)> = head
            .read_suites()
            .filter_map(|loaded| Some((loaded, same_suite(self.base_config, &loaded.config)?)))
            .filter(|(loaded, old)| self.differs(loaded, old))
            .collect();
        if !different.is_empty() {
            self.judge_again(&different, &mut changes);
        }
        let recordings = &self.inputs.recordings.changes;
        for change in self.inputs.renamed.iter().chain(recordings) {
            changes.add(change.clone());
        }
        changes.all()
    }

    /// Whether the base's rules could give another result than the head's.
    fn differs(&self, loaded: &LoadedSuite, old: &SuiteConfig) -> bool {
        let BaseInputs {
            head, graded_here, ..
        } = self.inputs;
        *graded_here == GradedHere::No
            || self.base_config.samples != head.config.samples
            || self.base_config.regression != head.config.regression
            || !same_rules(old, &loaded.config)
            || !loaded.reads.different().is_empty()
    }

    /// Judges these suites by the base's rules.
    fn judge_again(&self, different: &[(&LoadedSuite, &SuiteConfig)], changes: &mut GoldenChanges) {
        let BaseInputs {
            sides,
            head,
            tiers,
            days,
            ..
        } = self.inputs;
        let known: BTreeMap<SuiteId, _> = different
            .iter()
            .map(|(loaded, _)| (loaded.config.id.clone(), pairs_to_run(loaded)))
            .collect();
        let wanted = Selection {
            suites: Vec::new(),
            ..head.wanted.clone()
        };
        let head_commit = HeadCommit(sides.head);
        let inputs = BasePlanInputs {
            files: sides.base,
            other: &head_commit,
            head,
            config: self.base_config,
            known,
            wanted,
        };
        let base = match base_plan(inputs, days) {
            Ok(base) => base,
            Err(problems) => {
                return changes.refuse(unreadable_rules(problems));
            }
        };
        for runs in tiers.iter().copied() {
            self.refuse_unavailable_runs(runs.tier, different, changes);
            match self.evaluated(&base, runs, &head_commit) {
                Ok(evaluated) => compare(&evaluated, runs, self.inputs, changes),
                Err(problems) => changes.refuse(unreadable_rules(problems)),
            }
        }
        for old in &base.suites {
            let Some((new, _)) = different
                .iter()
                .find(|(loaded, _)| loaded.config.id == old.config.id)
            else {
                continue;
            };
            let (old_reads, new_reads) = (old.reads.different(), new.reads.different());
            changes.cases(sides, side(old, &old_reads), side(new, &new_reads));
            no_longer_chosen(&base, old, &head.wanted, new, changes);
        }
    }

    fn evaluated(
        &self,
        base: &Plan,
        runs: &TierRuns,
        head_commit: &HeadCommit<'_>,
    ) -> Result<Evaluated, Diagnostics> {
        let BaseInputs {
            sides,
            head,
            baseline,
            ..
        } = self.inputs;
        let overlay = runs.made.overlay(sides.head);
        let replay = Replay::of(&overlay, base, &head.config, runs.tier, &runs.made.layout)?
            .measured_in(*baseline);
        let replay = replay.read_in_both(Some(&runs.read));
        let judged_again: BTreeSet<&SuiteId> =
            base.suites.iter().map(|loaded| &loaded.config.id).collect();
        let others = OtherAgents::of(
            runs.suites
                .iter()
                .filter(|suite| !judged_again.contains(&suite.id)),
        );
        let origin = ResultSources {
            runs: &replay,
            parts: None,
            other: Some(head_commit),
            base: self.inputs.base_runs,
            recordings: None,
        };
        let evaluation = Evaluation {
            plan: base,
            tier: runs.tier,
            origin,
            files: sides.base,
            baseline: *baseline,
            others: &others,
        };
        evaluation.with_policies()
    }

    /// Refuses a verdict for live runs of other machines whose rules differ: these runs are not available here.
    fn refuse_unavailable_runs(
        &self,
        tier: Tier,
        different: &[(&LoadedSuite, &SuiteConfig)],
        changes: &mut GoldenChanges,
    ) {
        if self.inputs.graded_here == GradedHere::Yes {
            return;
        }
        for (loaded, old) in different {
            let live = loaded
                .config
                .agents
                .values()
                .any(|agent| matches!(source_of(agent, tier), Some(RunSource::Live(_))));
            if live && (!same_rules(old, &loaded.config) || !loaded.reads.different().is_empty()) {
                changes.refuse(NotGateable::new(format!(
                    "{}: its live runs were graded on other machines, so they cannot be judged by the base commit's rules: run it without --shard",
                    loaded.config.id
                )));
            }
        }
    }
}

/// The pairs of a suite with those of its drafts: a case that became a draft is still judged by the base's rules.
fn pairs_to_run(loaded: &LoadedSuite) -> BTreeSet<(CaseId, AgentName)> {
    let pairs = loaded.suite.pairs_to_run();
    pairs
        .map(|pair| (pair.case.clone(), pair.agent.clone()))
        .collect()
}

/// Adds the cases that `--tag` chose on the base commit and does not choose any more: this run would never measure them again.
fn no_longer_chosen(
    base: &Plan,
    old: &LoadedSuite,
    wanted: &Selection,
    new: &LoadedSuite,
    changes: &mut GoldenChanges,
) {
    let chosen: BTreeSet<(&CaseId, &AgentName)> = old
        .chosen(&base.wanted)
        .map(|pair| (&pair.case, &pair.agent))
        .collect();
    // What is not there any more was removed, which is listed anyway.
    let mut left: BTreeSet<&str> = BTreeSet::new();
    for pair in new.suite.pairs() {
        if !wanted.case(&new.config.id, pair) && chosen.contains(&(&pair.case, &pair.agent)) {
            left.insert(pair.case.as_str());
        }
    }
    if !left.is_empty() {
        let left: Vec<&str> = left.into_iter().collect();
        let tags = format!(
            "of `{}` no longer chosen by --tag {}",
            new.config.id,
            wanted.tags.join(" --tag ")
        );
        let words = counted(&left, "case", "cases", &tags);
        let (class, weight) = (ChangeClass::Removed, Weight::NeedsApproval);
        changes.add(GoldenChange {
            words,
            weight,
            file: None,
            class,
            files: Vec::new(),
            content: String::new(),
        });
    }
}

fn side<'a>(loaded: &'a LoadedSuite, reads: &'a [DifferentRead]) -> SuiteSide<'a> {
    SuiteSide {
        config: &loaded.config,
        suite: loaded.suite.as_ref(),
        reads,
    }
}

/// Reports gates that fail by the base's rules but not by the head's.
fn compare(
    base: &Evaluated,
    runs: &TierRuns,
    inputs: &BaseInputs<'_>,
    changes: &mut GoldenChanges,
) {
    for suite in &base.suites {
        let head = runs
            .suites
            .iter()
            .find(|candidate| candidate.id == suite.id);
        for agent in &suite.agents {
            let config = inputs.head.config.suite(&suite.id);
            let runs_of = config.and_then(|config| config.runs_of.as_ref());
            // Numbers of recordings that do not count fail nothing.
            let recordings = inputs.recordings;
            if recordings
                .of(&suite.id, runs_of, &agent.agent)
                .refused
                .is_some()
            {
                continue;
            }
            let head_agent = head.and_then(|head| {
                let mut agents = head.agents.iter();
                agents.find(|candidate| candidate.agent == agent.agent)
            });
            for failing in failing(agent) {
                if head_agent.is_some_and(|head_agent| fails_too(head_agent, &failing)) {
                    continue;
                }
                let (metric, gate) = failing;
                let message = format!(
                    "`{}/{}` fails by the rules of the base commit: {} is {}, needs {}{}",
                    suite.id,
                    agent.agent,
                    metric.name,
                    metric_value(metric.unit, metric.value),
                    words::gate(metric, gate),
                    worst_cases(metric),
                );
                let (class, weight) = (ChangeClass::BaseRules, Weight::NeedsApproval);
                changes.add(GoldenChange {
                    words: message,
                    weight,
                    file: None,
                    class,
                    files: Vec::new(),
                    content: String::new(),
                });
            }
        }
    }
    for why in &base.not_gateable {
        changes.refuse(why.prefixed("by the rules of the base commit: "));
    }
}

type FailingGate<'a> = (&'a MetricReport, &'a GateRuling);

fn failing(agent: &AgentReport) -> impl Iterator<Item = FailingGate<'_>> {
    let gates = agent
        .metrics
        .iter()
        .flat_map(|metric| metric.gates.iter().map(move |gate| (metric, gate)));
    gates.filter(|(_, gate)| gate.ruling.verdict() == Some(Verdict::Fail))
}

fn fails_too(head: &AgentReport, (metric, gate): &FailingGate<'_>) -> bool {
    failing(head).any(|(failing_metric, other_gate)| {
        failing_metric.name == metric.name && other_gate.gate == gate.gate
    })
}

/// Names the cases that lowered the metric most by the base's rules.
fn worst_cases(metric: &MetricReport) -> String {
    let MetricEvidence { cases, more } = &metric.evidence;
    let named: Vec<&str> = cases
        .iter()
        .map(|evidence| evidence.case.as_str())
        .collect();
    match (named.as_slice(), more) {
        ([], _) => String::new(),
        ([only], 0) => format!("; case {only}"),
        (_, 0) => format!("; cases {}", named.join(", ")),
        (_, more) => format!("; cases {} and {more} more", named.join(", ")),
    }
}

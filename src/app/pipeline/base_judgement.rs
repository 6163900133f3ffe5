//! The second judgement: the same runs judged by the rules of the base commit. A change passes only if both judgements pass.
//!
//! A judgement depends only on what it reads. A suite is not graded again if all files that the head's judgement read are equal on
//! the base commit, and both configs have the same rules.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use super::base_commit::Machine;
use super::base_runs::BaseRecordings;
use super::evaluate::{Evaluated, ResultSources, evaluate};
use super::freshness::{CurrentAgents, InputsOfRuns};
use super::live_runs::LiveRuns;
use super::plan::{BasePlanInputs, LoadedSuite, Plan, base_plan, source_of};
use super::read_runs::ReadRuns;
use super::replay::Replay;
use super::selection::Selection;
use super::uncounted_cases::{UncountedCases, counted_on_base};
use crate::diag::Diagnostics;
use crate::files::{BaseFiles, DifferentRead, HeadCommit};
use crate::golden_changes::{
    BaseConfig, GoldenChanges, KnownRecordings, RecordedContents, RecordingChanges, RecordingLists,
    Sides, SuiteSide, Unproven, added_samples, base_config, same_rules, same_suite, unproven,
};
use crate::model::{
    AgentName, AgentReport, Baseline, CaseId, ChangeClass, Config, GateRuling, GoldenChange,
    MetricEvidence, MetricReport, NoVerdict, RecordingTrust, RepoPath, RunKey, RunSource,
    SuiteConfig, SuiteId, SuiteReport, Tier, Verdict, Weight, metric_value,
};
use crate::render::words;
use crate::suites::Pair;
use crate::text::counted;
use crate::world::Clock;

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
    /// What names the base commit in a command.
    pub revision: String,
    /// The files of both commits.
    pub sides: Sides<'a>,
    /// The files of the commit whose config judges: the base commit, or a newer one of the base branch.
    pub rules: &'a dyn BaseFiles,
    /// The head's plan, after its runs were judged.
    pub head: &'a Plan,
    /// The runs of the deciding tiers.
    pub tiers: &'a [&'a TierRuns],
    /// The tiers whose verdicts count; changes of their runs are compared.
    pub deciding: &'a [Tier],
    pub baseline: Option<&'a Baseline>,
    /// The base commit's own recordings.
    pub base_runs: Option<&'a BaseRecordings<'a>>,
    /// Whether the head was graded on this machine, so that all files it read are known.
    pub graded_here: GradedHere,
    pub machine: Machine,
    pub clock: &'a Clock,
}

/// Whether the head's judgement was made on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GradedHere {
    /// Yes: all files that it read are known.
    Yes,
    /// Other machines graded the runs.
    No,
}

/// The usual label that starts a recording.
const RECORD_LABEL: &str = "goldgate:record";

/// Compares the two commits and judges by the base's rules where they differ. Returns the golden changes and the reasons why no
/// verdict is possible.
pub fn base_judgement(inputs: &BaseInputs<'_>) -> (Vec<GoldenChange>, Vec<NoVerdict>) {
    let file = &inputs.head.config.file;
    let before = match base_config(inputs.sides.base, file) {
        BaseConfig::Absent(change) => {
            return match base_config(inputs.rules, file) {
                BaseConfig::Absent(_) => (vec![change], Vec::new()),
                BaseConfig::Unreadable(_) | BaseConfig::Known(_) => {
                    (vec![change], vec![begins_before_config(file)])
                }
            };
        }
        BaseConfig::Unreadable(why) => return unreadable_config(&why),
        BaseConfig::Known(before) => before,
    };
    // The base branch may have gone on: its newest config judges, but only what this change did is compared.
    let newest = match base_config(inputs.rules, file) {
        BaseConfig::Absent(_) => None,
        BaseConfig::Unreadable(why) => return unreadable_config(&why),
        BaseConfig::Known(newest) => Some(newest),
    };
    let rules = match &newest {
        Some(newest) => BaseRules {
            config: newest,
            files: inputs.rules,
        },
        None => BaseRules {
            config: &before,
            files: inputs.sides.base,
        },
    };
    let lists = RecordingLists::of(&inputs.sides);
    let configs = [&*before, &inputs.head.config];
    let of = |tier: &Tier| (*tier, added_samples(&inputs.sides, &lists, configs, *tier));
    let added = inputs.deciding.iter().map(of).collect();
    BaseJudge {
        inputs,
        before: &before,
        rules,
        added,
        lists: &lists,
    }
    .all()
}

/// The base branch has a config, and this branch begins before it: what it did to the golden set is not known.
fn begins_before_config(file: &RepoPath) -> NoVerdict {
    NoVerdict::lasting(format!(
        "this branch begins before {file} was on its base branch: merge the base branch into it"
    ))
}

fn unreadable_config(why: &str) -> (Vec<GoldenChange>, Vec<NoVerdict>) {
    let why = format!(
        "this version cannot read the config of the base commit: {why}; correct it on the base branch, or get this change approved"
    );
    (Vec::new(), vec![NoVerdict::liftable(why)])
}

/// The config that judges.
#[derive(Clone, Copy)]
struct BaseRules<'a> {
    config: &'a Config,
    /// The files of its commit.
    files: &'a dyn BaseFiles,
}

struct BaseJudge<'a> {
    inputs: &'a BaseInputs<'a>,
    /// The config of the base commit.
    before: &'a Config,
    rules: BaseRules<'a>,
    /// Samples that the base's judgement excludes, by tier.
    added: Vec<(Tier, BTreeSet<(RunKey, u32)>)>,
    lists: &'a RecordingLists<'a>,
}

impl BaseJudge<'_> {
    fn all(&self) -> (Vec<GoldenChange>, Vec<NoVerdict>) {
        let BaseInputs { sides, head, .. } = self.inputs;
        let deciding = self.inputs.deciding;
        let mut changes = GoldenChanges::of(sides, self.before, &head.config, deciding);
        self.refuse_names_of_the_past(&mut changes);
        // A filter may select cases on the base commit of a suite that has none here: they were renamed, or lost their tags.
        let different: Vec<(&LoadedSuite, &SuiteConfig)> = head
            .read_suites()
            .filter_map(|loaded| Some((loaded, same_suite(self.rules.config, &loaded.config)?)))
            .filter(|(loaded, old)| {
                self.differs(loaded, old)
                    || self.added.iter().any(|(_, added)| has_any(loaded, added))
            })
            .collect();
        let base = if different.is_empty() {
            None
        } else {
            self.judge_again(&different, &mut changes)
        };
        let of_base = base.as_ref().map_or(&[][..], |base| &base.suites);
        let counted = LazyCell::new(|| counted_on_base(head, of_base));
        let uncounted = UncountedCases::of(head.read_suites().chain(of_base));
        let agents = CurrentAgents::new(&head.config, sides.head);
        let age = |suite: &SuiteId, agent: &AgentName, text: &str| agents.age(suite, agent, text);
        let agents_before = CurrentAgents::new(self.before, sides.base);
        let age_on_base =
            |suite: &SuiteId, agent: &AgentName, text: &str| agents_before.age(suite, agent, text);
        let counts =
            |suite: &SuiteId, agent: &AgentName, case: &str| !uncounted.has(suite, agent, case);
        let inputs = InputsOfRuns::new(head, self.before, sides);
        let is_checkout = self.inputs.machine == Machine::BuildServer;
        let counts_on_base = |run: &RunKey| counted.contains(run);
        let runs: Vec<&RunKey> = head.counted_runs().collect();
        let contents = RecordedContents::of(sides, self.before);
        let known = KnownRecordings {
            tiers: deciding,
            age: &age,
            age_on_base: &age_on_base,
            counts: &counts,
            lists: self.lists,
            contents: &contents,
            revision: &self.inputs.revision,
            runs: &runs,
            is_read: &|suite| head.read_suites().any(|loaded| loaded.config.id == *suite),
            counts_on_base: &counts_on_base,
            has_new_input: &|run, digests| inputs.has_new_input(run, digests),
            user: &|run| inputs.user(run),
            said: &|run| inputs.said(run),
            is_uncommitted: &|file| {
                sides.head.is_ignored(file) || (is_checkout && sides.head.is_untracked(file))
            },
        };
        changes.recordings(sides, self.before, &head.config, &known);
        self.trust(&mut changes);
        changes.all()
    }

    /// Refuses a verdict on agents that the base branch had where this branch began, and has no more. It has no rules and no baseline for
    /// them under these names.
    fn refuse_names_of_the_past(&self, changes: &mut GoldenChanges) {
        for LoadedSuite { config: suite, .. } in self.inputs.head.read_suites() {
            let [before, now] =
                [self.before, self.rules.config].map(|config| same_suite(config, suite));
            let has = |suite: Option<&SuiteConfig>, agent| {
                suite.is_some_and(|suite| suite.agents.contains_key(agent))
            };
            for agent in suite
                .agents
                .keys()
                .filter(|agent| has(before, *agent) && !has(now, *agent))
            {
                let id = &suite.id;
                changes.refuse(NoVerdict::lasting(format!(
                    "the base branch has removed or renamed `{id}/{agent}` since this branch began: merge the base branch into it"
                )));
            }
        }
    }

    /// Refuses recordings that no run of `mode: record` left, if the base commit's config wants that.
    fn trust(&self, changes: &mut GoldenChanges) {
        let BaseInputs {
            sides,
            head,
            deciding,
            machine,
            ..
        } = self.inputs;
        let RecordingTrust::Ci(account) = &self.before.recordings else {
            return;
        };
        let (before, after) = (self.before, &head.config);
        let change = RecordingChanges {
            sides: *sides,
            before,
            after,
            tiers: deciding,
            account,
        };
        let Some(unproven) = unproven(&change) else {
            return;
        };
        let (class, weight) = (ChangeClass::Recording, Weight::Listed);
        match (&unproven, machine) {
            (Unproven::NoStatuses(_), Machine::Developer) => {
                changes.add(GoldenChange {
                    words: unproven.words(RECORD_LABEL),
                    weight,
                    file: None,
                    class,
                });
            }
            _ => changes.refuse(NoVerdict::lasting(unproven.words(RECORD_LABEL))),
        }
    }

    /// Whether the base's rules could give another result than the head's.
    fn differs(&self, loaded: &LoadedSuite, old: &SuiteConfig) -> bool {
        let BaseInputs {
            head, graded_here, ..
        } = self.inputs;
        *graded_here == GradedHere::No
            || self.rules.config.samples != head.config.samples
            || !same_rules(old, &loaded.config)
            || !loaded.reads.different().is_empty()
    }

    /// Judges these suites by the base's rules. Returns its plan, if it can be read.
    fn judge_again(
        &self,
        different: &[(&LoadedSuite, &SuiteConfig)],
        changes: &mut GoldenChanges,
    ) -> Option<Plan> {
        let BaseInputs {
            sides,
            head,
            tiers,
            clock,
            ..
        } = self.inputs;
        let pairs = |loaded: &LoadedSuite| -> BTreeSet<(CaseId, AgentName)> {
            // A case that became a draft is still judged by the base's rules.
            loaded
                .suite
                .pairs_to_run()
                .map(|pair| (pair.case.clone(), pair.agent.clone()))
                .collect()
        };
        let known: BTreeMap<SuiteId, _> = different
            .iter()
            .map(|(loaded, _)| (loaded.config.id.clone(), pairs(loaded)))
            .collect();
        let wanted = Selection {
            suites: Vec::new(),
            ..head.wanted.clone()
        };
        let other = HeadCommit(sides.head);
        let BaseRules {
            config,
            files: stated_in,
        } = self.rules;
        let inputs = BasePlanInputs {
            files: sides.base,
            stated_in,
            other: &other,
            head,
            config,
            known,
            wanted,
        };
        let base = match base_plan(inputs, clock) {
            Ok(base) => base,
            Err(problems) => {
                changes.refuse(self.unreadable(problems));
                return None;
            }
        };
        for runs in tiers.iter().copied() {
            self.refuse_unavailable_runs(runs.tier, different, changes);
            match self.evaluated(&base, runs, &other) {
                Ok(evaluated) => compare(&evaluated, runs, changes),
                Err(problems) => changes.refuse(self.unreadable(problems)),
            }
        }
        for old in &base.suites {
            let Some((new, _)) = different
                .iter()
                .find(|(loaded, _)| loaded.config.id == old.config.id)
            else {
                continue;
            };
            let (before, after) = (old.reads.different(), new.reads.different());
            changes.cases(sides, side(old, &before), side(new, &after));
            no_longer_chosen(&base, old, (&head.wanted, new), changes);
        }
        Some(base)
    }

    fn evaluated(
        &self,
        base: &Plan,
        runs: &TierRuns,
        other: &HeadCommit<'_>,
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
        // Additional samples of an unchanged agent must not outvote the existing ones.
        let replay = match self.added.iter().find(|(tier, _)| *tier == runs.tier) {
            Some((_, added)) => replay.without(added),
            None => replay,
        };
        let origin = ResultSources {
            runs: &replay,
            parts: None,
            other: Some(other),
            base: self.inputs.base_runs,
        };
        evaluate(base, runs.tier, origin, sides.base, *baseline)
    }

    /// Why the runs cannot be judged. Rules of a base branch that went on may need files that it got later.
    fn unreadable(&self, problems: Diagnostics) -> NoVerdict {
        let first = problems.first_line();
        let is_base = self.rules.config.suites == self.before.suites;
        NoVerdict::liftable(match is_base {
            true => format!("the runs cannot be judged by the base commit's rules: {first}"),
            false => format!(
                "the runs cannot be judged by the present rules of the base branch: merge the base branch into this one ({first})"
            ),
        })
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
                changes.refuse(NoVerdict::lasting(format!(
                    "{}: its live runs were graded on other machines, so they cannot be judged by the base commit's rules: run it without --shard",
                    loaded.config.id
                )));
            }
        }
    }
}

/// Adds the cases that `--tag` chose on the base commit and does not choose any more: this run would never measure them again.
fn no_longer_chosen(
    base: &Plan,
    old: &LoadedSuite,
    (wanted, new): (&Selection, &LoadedSuite),
    changes: &mut GoldenChanges,
) {
    let chosen: BTreeSet<(&CaseId, &AgentName)> = old
        .chosen(&base.wanted)
        .map(|pair| (&pair.case, &pair.agent))
        .collect();
    // What is not there any more was removed, which is listed anyway.
    let is_left = |pair: &&Pair| {
        !wanted.case(&new.config.id, pair) && chosen.contains(&(&pair.case, &pair.agent))
    };
    let left: BTreeSet<&str> = new
        .suite
        .pairs()
        .iter()
        .filter(is_left)
        .map(|pair| pair.case.as_str())
        .collect();
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
        });
    }
}

/// Whether any of these samples belongs to a run of the suite.
fn has_any(loaded: &LoadedSuite, samples: &BTreeSet<(RunKey, u32)>) -> bool {
    !samples.is_empty()
        && loaded
            .suite
            .pairs_to_run()
            .flat_map(|pair| &pair.runs)
            .any(|key| {
                samples
                    .range((key.clone(), 0)..=(key.clone(), u32::MAX))
                    .next()
                    .is_some()
            })
}

fn side<'a>(loaded: &'a LoadedSuite, reads: &'a [DifferentRead]) -> SuiteSide<'a> {
    SuiteSide {
        config: &loaded.config,
        suite: loaded.suite.as_ref(),
        reads,
    }
}

/// Reports gates that fail by the base's rules but not by the head's.
fn compare(base: &Evaluated, runs: &TierRuns, changes: &mut GoldenChanges) {
    for suite in &base.suites {
        let head = runs.suites.iter().find(|other| other.id == suite.id);
        for agent in &suite.agents {
            let own =
                head.and_then(|head| head.agents.iter().find(|other| other.agent == agent.agent));
            for (metric, gate) in
                failing(agent).filter(|failing| !own.is_some_and(|own| fails_too(own, failing)))
            {
                let parts =
                    words::new_parts(gate).map_or(String::new(), |parts| format!("; {parts}"));
                let message = format!(
                    "`{}/{}` fails by the rules of the base commit: {} is {}, needs {}{parts}{}",
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
    failing(head)
        .any(|(other, other_gate)| other.name == metric.name && other_gate.gate == gate.gate)
}

/// Names the cases that lowered the metric most by the base's rules.
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

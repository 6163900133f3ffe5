//! The policy `regression` on all agents of a tier: they share one chance of a false alarm.

use std::collections::BTreeSet;

use super::evaluate::{
    BaseResultsBySuite, Evaluated, ResultSources, SuiteGrading, base_runs, evaluate,
};
use super::plan::{LoadedSuite, Plan, source_of};
use super::sample_count::SampleCounts;
use crate::chance::holm;
use crate::diag::Diagnostics;
use crate::files::Files;
use crate::gate::{Moved, PolicyInput, PolicyOutcome, Repeats, policy_outcome};
use crate::golden_changes::RecordCommand;
use crate::model::{
    AgentName, AgentReport, Baseline, BaselineEntry, EPSILON, Exclusion, NeverClass, PairResult,
    Policy, PolicyReport, Ruling, RunSource, SuiteReport, Tier,
};
use crate::report;
use crate::report::{TestRuling, TestState};
use crate::suites::Sampling;

/// The agents that other rules of the same run judge: they share the chance of a false alarm, and chance has their cases to lose.
#[derive(Debug, Default)]
pub struct OtherAgents {
    /// The p of each that was tested.
    pub ps: Vec<f64>,
    pub cases: usize,
}

impl OtherAgents {
    /// The agents of suites that are not judged again.
    pub fn of<'a>(suites: impl Iterator<Item = &'a SuiteReport>) -> Self {
        let mut others = Self::default();
        for agent in suites.flat_map(|suite| &suite.agents) {
            let Some(policy) = agent
                .policy
                .as_ref()
                .filter(|policy| policy.name == Policy::Regression)
            else {
                continue;
            };
            others.cases += counted(&agent.cases).count();
            others
                .ps
                .extend(policy.p.filter(|_| policy.limit.is_some()));
        }
        others
    }
}

/// What the suites of a tier are graded and judged with.
#[derive(Clone, Copy)]
pub struct Evaluation<'a> {
    pub plan: &'a Plan,
    pub tier: Tier,
    pub origin: ResultSources<'a>,
    pub files: &'a dyn Files,
    pub baseline: Option<&'a Baseline>,
    /// The agents that share the chance of a false alarm and are not judged here.
    pub others: &'a OtherAgents,
}

/// One agent with the policy `regression`.
struct Row<'a> {
    /// Where its report is.
    suite: usize,
    agent: usize,
    loaded: &'a LoadedSuite,
    guards: Vec<NeverClass>,
    outcome: PolicyOutcome,
    /// How to get the recordings that are planned and missing.
    record_missing: Option<String>,
}

impl Evaluation<'_> {
    /// Grades the suites of the tier and judges their agents by the gates of their metrics and by their policies.
    ///
    /// # Errors
    /// All recordings and suite files that cannot be graded.
    pub fn with_policies(&self) -> Result<Evaluated, Diagnostics> {
        let (mut evaluated, base_results) =
            evaluate(self.plan, self.tier, self.origin, self.files, self.baseline)?;
        apply_policies(*self, &mut evaluated, base_results);
        Ok(evaluated)
    }
}

fn apply_policies(
    context: Evaluation<'_>,
    evaluated: &mut Evaluated,
    base_results: BaseResultsBySuite,
) {
    let mut judge = PolicyJudge {
        context,
        cases: context.others.cases,
        base_results,
    };
    name_seeds(context.plan, evaluated);
    let mut rows = judge.rows(&evaluated.suites);
    for row in &mut rows {
        let agent = &evaluated.suites[row.suite].agents[row.agent].agent;
        row.record_missing = add_commands(context, row.loaded, agent, &mut row.outcome);
    }
    let shares = judge.shares(&rows);
    for (row, test) in rows.iter().zip(shares) {
        let suite = &mut evaluated.suites[row.suite];
        let branch = context.origin.base.and_then(|base| base.branch());
        let refused = report::add_regression(
            &suite.id,
            &mut suite.agents[row.agent],
            &row.outcome,
            test,
            branch,
            row.record_missing.as_deref(),
        );
        evaluated.not_gateable.extend(refused);
    }
    for suite in &mut evaluated.suites {
        suite.verdict = Ruling::of_all(suite.agents.iter().map(|agent| &agent.verdict));
    }
}

/// Adds to each case that is asked about the command that records more samples. Returns how to get those that are planned and missing.
fn add_commands(
    context: Evaluation<'_>,
    loaded: &LoadedSuite,
    name: &AgentName,
    outcome: &mut PolicyOutcome,
) -> Option<String> {
    let agent = loaded.config.agents.get(name);
    let source = agent.and_then(|agent| source_of(agent, context.tier));
    let place = source.and_then(RunSource::replay)?;
    let folder = place.folder()?;
    let recordings = context
        .origin
        .recordings
        .map(|recordings| recordings.of(&loaded.config.id, loaded.config.runs_of.as_ref(), name));
    let makers = recordings.map_or(BTreeSet::new(), |report| report.makers);
    let command = RecordCommand {
        config: &context.plan.config,
        suite: &loaded.config.id,
        agent: name,
        makers: &makers,
    };
    for asked in &mut outcome.asked {
        let samples = asked.now + asked.more;
        let case = (&asked.case, samples);
        asked.command = Some(command.record_more_command(folder.as_str(), case));
    }
    Some(command.record_missing_hint(place))
}

/// Names the policy of the agents of suites that have another one.
fn name_seeds(plan: &Plan, evaluated: &mut Evaluated) {
    for suite in &mut evaluated.suites {
        let policy = plan
            .config
            .suite(&suite.id)
            .map_or(Policy::Regression, |suite| suite.policy);
        for agent in &mut suite.agents {
            agent.policy = Some(Box::new(PolicyReport {
                name: policy,
                ..PolicyReport::default()
            }));
        }
    }
}

fn counted(results: &[PairResult]) -> impl Iterator<Item = &PairResult> {
    results
        .iter()
        .filter(|pair| pair.exclusion == Exclusion::Counted)
}

struct PolicyJudge<'a> {
    context: Evaluation<'a>,
    /// The cases of the whole run.
    cases: usize,
    /// The results of the base commit's own runs.
    base_results: BaseResultsBySuite,
}

impl<'a> PolicyJudge<'a> {
    /// What the rules say of each agent. The base commit's own runs are graded only where they may change it.
    fn rows(&mut self, suites: &[SuiteReport]) -> Vec<Row<'a>> {
        let plan = self.context.plan;
        let mut places = Vec::new();
        for (place, suite) in suites.iter().enumerate() {
            let Some(loaded) = plan.suite(&suite.id) else {
                continue;
            };
            if loaded.config.policy != Policy::Regression {
                continue;
            }
            for (agent, report) in suite.agents.iter().enumerate() {
                if counted(&report.cases).next().is_some() && !report.has_refused_recordings() {
                    self.cases += counted(&report.cases).count();
                    places.push((place, agent, loaded));
                }
            }
        }
        let mut rows: Vec<Row<'a>> = Vec::new();
        for (suite, agent, loaded) in places {
            let guards = loaded.kind.guards(loaded.config.never.as_deref());
            let report = &suites[suite].agents[agent];
            let outcome = self.outcome(loaded, report, &guards, None);
            rows.push(Row {
                suite,
                agent,
                loaded,
                guards,
                outcome,
                record_missing: None,
            });
        }
        if self.context.origin.base.is_none() {
            return rows;
        }
        let may_be_red = rows
            .iter()
            .any(|row| self.is_below(row.outcome.test.map(|test| test.least)));
        for row in &mut rows {
            let report = &suites[row.suite].agents[row.agent];
            let is_needed = may_be_red
                || row.outcome.is_red_without_test()
                || !row.outcome.not_compared.is_empty()
                || self.entry(row.loaded, report).is_none();
            if is_needed {
                row.outcome = self.with_base(row, report);
            }
        }
        rows
    }

    fn is_below(&self, p: Option<f64>) -> bool {
        let alpha = self.context.plan.config.regression.share();
        p.is_some_and(|p| p <= alpha + EPSILON)
    }

    fn entry(&self, loaded: &LoadedSuite, report: &AgentReport) -> Option<&'a BaselineEntry> {
        self.context
            .baseline?
            .entry(&loaded.config.id, &report.agent)
    }

    fn with_base(&mut self, row: &Row<'a>, report: &AgentReport) -> PolicyOutcome {
        let Evaluation {
            plan,
            tier,
            origin,
            files,
            baseline,
            ..
        } = self.context;
        let counts = SampleCounts::new(plan, row.loaded, tier, baseline);
        let grading = SuiteGrading {
            plan,
            loaded: row.loaded,
            files,
            runs: origin.runs,
            counts: &counts,
            other: None,
        };
        let results = self
            .base_results
            .entry(row.loaded.config.id.clone())
            .or_default();
        let base = base_runs(&grading, tier, &report.agent, origin.base, results);
        // Runs that cannot be graded excuse nothing.
        let base = base.ok().flatten().map(|runs| runs.results.to_vec());
        self.outcome(row.loaded, report, &row.guards, base.as_deref())
    }

    fn outcome(
        &self,
        loaded: &LoadedSuite,
        report: &AgentReport,
        guards: &[NeverClass],
        base: Option<&[PairResult]>,
    ) -> PolicyOutcome {
        let Evaluation { plan, tier, .. } = self.context;
        let agent = loaded.config.agents.get(&report.agent);
        let source = agent.and_then(|agent| source_of(agent, tier));
        let is_code = matches!(source, Some(RunSource::Live(live)) if live.exchanges.is_some());
        let is_computed = loaded.kind.sampling == Sampling::Computed;
        policy_outcome(&PolicyInput {
            results: &report.cases,
            baseline: self.entry(loaded, report),
            base,
            samples: plan
                .wanted
                .samples
                .or(loaded.config.samples)
                .or(plan.config.samples),
            cases: self.cases,
            floor: loaded.config.floor,
            guards,
            repeats: if is_code || is_computed {
                Repeats::Alike
            } else {
                Repeats::Differ
            },
            alpha: plan.config.regression.share(),
        })
    }

    /// Divides the chance of a false alarm among the agents whose scores moved.
    fn shares(&self, rows: &[Row<'_>]) -> Vec<TestRuling> {
        let alpha = self.context.plan.config.regression.share();
        let mut tested: Vec<usize> = Vec::new();
        let (mut least, mut most, mut measured) = (Vec::new(), Vec::new(), Vec::new());
        for (index, row) in rows.iter().enumerate() {
            let Some(test) = &row.outcome.test else {
                continue;
            };
            if row.outcome.moved == Moved::Yes {
                tested.push(index);
                least.push(test.least);
                most.push(test.most);
                measured.push(test.p);
            }
        }
        let others = &self.context.others.ps;
        for ps in [&mut least, &mut most, &mut measured] {
            ps.extend(others);
        }
        let (least, most) = (holm(alpha, &least), holm(alpha, &most));
        let measured = holm(alpha, &measured);
        let mut rulings = vec![
            TestRuling {
                alpha,
                limit: None,
                tested: 0,
                state: TestState::Green,
            };
            rows.len()
        ];
        for (place, row) in tested.iter().enumerate() {
            rulings[*row] = TestRuling {
                alpha,
                limit: Some(measured[place].limit),
                tested: tested.len() + others.len(),
                state: match (least[place].is_red, most[place].is_red) {
                    (true, true) => TestState::Red,
                    (false, false) => TestState::Green,
                    (true, false) | (false, true) => TestState::Open,
                },
            };
        }
        rulings
    }
}

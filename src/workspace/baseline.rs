//! Reads the baseline to compare with, and computes the one that a run proposes.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::{Diagnostic, ReadFailure};
use crate::evaluation::graded_run::GradedRun;
use crate::files::{Files, SourceText};
use crate::format::baseline_v1;
use crate::gate::{SamplesMove, are_cached, case_values, samples_move, usual_samples};
use crate::model::{
    AgentReport, Baseline, BaselineEntry, COVERAGE, CaseId, CaseValues, Effect, Exclusion,
    InputLimit, JudgeEntry, JudgeReport, MetricSpec, NEWLY_FAILING, POLICY_METRICS, PairResult,
    Policy, RepoPath, Report, Ruling, SampledCase, SuiteReport, Tier, Verdict, six_places,
};
use crate::render::{CliError, plural};
use crate::report::too_many_left_out;
use crate::world::{BaseTree, Disk};
use crate::{fold, suites};

/// Whether a baseline has to exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// It must exist: it was named on the command line.
    Named,
    /// It may be missing: the config says where it will be, and the first run does not have it yet.
    Configured,
}

/// Reads a baseline; `None` if it is missing and need not exist.
///
/// # Errors
/// An invalid baseline, or a missing one that was named on the command line.
pub fn load(disk: &Disk, file: &RepoPath, need: Need) -> Result<Option<Baseline>, CliError> {
    match (disk.own_text(file, &InputLimit::BASELINE), need) {
        (Ok(source), _) => Ok(Some(baseline_v1::read_baseline(&source)?)),
        (Err(problem), _) if !problem.is_read_failure(ReadFailure::MissingFile) => {
            Err(problem.into())
        }
        (Err(_), Need::Configured) => Ok(None),
        (Err(_), Need::Named) => Err(Diagnostic::of_read(
            file,
            ReadFailure::MissingFile,
            "the baseline does not exist",
            "correct --baseline, or write it with --update-baseline",
        )
        .into()),
    }
}

/// Reads the baseline of the working tree: the named one, else the config's.
pub fn here(
    named: Option<&str>,
    disk: &Disk,
    configured: Option<&RepoPath>,
) -> Result<Option<Baseline>, CliError> {
    match (named, configured) {
        (Some(path), _) => {
            let (disk, file) = Disk::of_file(path)?;
            load(&disk.without_links(), &file, Need::Named)
        }
        (None, Some(file)) => load(disk, file, Need::Configured),
        (None, None) => Ok(None),
    }
}

/// Reads the baseline of the base commit; `None` if it does not exist yet.
///
/// # Errors
/// An invalid baseline, or an unreadable base commit.
pub fn of_commit(base: &BaseTree<'_>, file: &RepoPath) -> Result<Option<Baseline>, CliError> {
    match base.baseline_bytes(file) {
        Ok(bytes) => Ok(Some(baseline_v1::read_baseline(&SourceText::new(
            file.clone(),
            bytes,
        )?)?)),
        Err(problem) if problem.is_read_failure(ReadFailure::MissingFile) => Ok(None),
        Err(problem) => Err(base
            .trouble()
            .map_or_else(|| problem.into(), CliError::from)),
    }
}

/// Reads a baseline from a set of files; `None` if it does not exist yet.
#[cfg(feature = "github")]
pub fn on(files: &dyn Files, file: &RepoPath) -> Result<Option<Baseline>, CliError> {
    match files.baseline_bytes(file) {
        Ok(bytes) => Ok(Some(baseline_v1::read_baseline(&SourceText::new(
            file.clone(),
            bytes,
        )?)?)),
        Err(problem) if problem.is_read_failure(ReadFailure::MissingFile) => Ok(None),
        Err(problem) => Err(problem.into()),
    }
}

/// What replaces the samples of a baseline, for an agent with the policy `regression`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replaced {
    /// Better ones.
    Better,
    /// Better ones, and worse ones: these were approved.
    BetterAndWorse,
    /// All.
    Everything,
    /// Better ones, to show a run: its numbers count even if a hard gate fails.
    Shown,
}

/// Returns the baseline with this run's numbers. Entries of suites and agents that did not run, or that measured nothing, are kept
/// unchanged. An interrupted run changes nothing. An agent has one entry: that of the deterministic tier, if it ran there.
pub fn proposed(old: Option<&Baseline>, report: &Report, replaced: Replaced) -> Baseline {
    with_numbers(old, report, replaced, &|_| true)
}

fn with_numbers(
    old: Option<&Baseline>,
    report: &Report,
    replaced: Replaced,
    is_written: &dyn Fn(&SuiteReport) -> bool,
) -> Baseline {
    let mut after = old.cloned().unwrap_or_default();
    if report.called_off.is_some() {
        return after;
    }
    after.commit.clone_from(&report.commit);
    after.captured_at = Some(report.finished_at.clone());
    after.tool_version = Some(report.tool.version.clone());
    after.samples = Some(report.samples);
    let cases = report.counted_cases();
    // The tiers are in their order, so the deterministic one, which blocks, would be replaced.
    for suite in report.suites.iter().filter(|suite| is_written(suite)).rev() {
        for agent in suite.agents.iter().filter(|agent| !is_unmeasured(agent)) {
            let suites = after.suites.get(&suite.id);
            let is_new = suites.is_none_or(|agents| !agents.contains_key(&agent.agent));
            if is_new && replaced == Replaced::Better && fails_hard(agent) {
                continue;
            }
            let agents = after.suites.entry(suite.id.clone()).or_default();
            let known = agents.get(&agent.agent);
            let measured = entry(agent, known);
            let kept = match known.map(|known| (known, fate(known, agent, cases, replaced))) {
                None | Some((_, Fate::Replaced)) => measured,
                Some((known, Fate::Kept { corrected })) => {
                    merged(known, measured, &corrected, &suite.kind, agent)
                }
                Some((known, Fate::Worse)) => known.clone(),
            };
            agents.insert(agent.agent.clone(), kept);
        }
    }
    after
}

/// What becomes of the samples of a baseline.
enum Fate {
    Replaced,
    /// They stay, without those of cases that were always wrong and are right now.
    Kept {
        corrected: BTreeSet<CaseId>,
    },
    /// They stay as they are: this run is worse or fails a hard gate, and nobody approved that.
    Worse,
}

/// Whether a hard gate of the policy `seed` fails.
pub fn fails_hard(agent: &AgentReport) -> bool {
    let is_seed = agent
        .policy
        .as_ref()
        .is_none_or(|policy| policy.name == Policy::Seed);
    let mut gates = agent.metrics.iter().flat_map(|metric| &metric.gates);
    is_seed && gates.any(|gate| gate.hard && gate.ruling.fails())
}

fn fate(known: &BaselineEntry, agent: &AgentReport, cases: usize, replaced: Replaced) -> Fate {
    if replaced == Replaced::Better && fails_hard(agent) {
        return Fate::Worse;
    }
    let policy = agent.policy.as_ref().map(|policy| policy.name);
    if policy != Some(Policy::Regression)
        || replaced == Replaced::Everything
        || known.samples.is_empty()
    {
        return Fate::Replaced;
    }
    match samples_move(known, agent, cases) {
        SamplesMove::Better => Fate::Replaced,
        SamplesMove::Worse if replaced == Replaced::BetterAndWorse => Fate::Replaced,
        SamplesMove::Worse => Fate::Worse,
        SamplesMove::Same { corrected } => Fate::Kept { corrected },
    }
}

/// The agents whose entries stay as they are because nobody approved their results, and why.
pub fn kept_because_worse(old: Option<&Baseline>, report: &Report) -> Vec<(String, &'static str)> {
    let cases = report.counted_cases();
    let mut names = Vec::new();
    for (suite, agent) in report.suite_agents() {
        if is_unmeasured(agent) {
            continue;
        }
        let who = format!("{}/{}", suite.id, agent.agent);
        if fails_hard(agent) {
            names.push((who, "fails a hard gate"));
            continue;
        }
        let known = old.and_then(|old| old.entry(&suite.id, &agent.agent));
        let fate = known.map(|known| fate(known, agent, cases, Replaced::Better));
        if matches!(fate, Some(Fate::Worse)) {
            names.push((who, "is worse than the baseline"));
        }
    }
    names
}

/// A baseline's entry with what it lacks: the cases that are new, ask something else, or are graded by other rules, and those that were
/// corrected. Cases that are no more leave it.
fn merged(
    known: &BaselineEntry,
    measured: BaselineEntry,
    corrected: &BTreeSet<CaseId>,
    kind: &str,
    agent: &AgentReport,
) -> BaselineEntry {
    let mut kept: BTreeSet<CaseId> = BTreeSet::new();
    for (case, new) in &measured.samples {
        let is_same = known.samples.get(case).is_some_and(|old| {
            old.graded_by == new.graded_by && old.input_sha256 == new.input_sha256
        });
        if is_same && !corrected.contains(case) {
            kept.insert(case.clone());
        }
    }
    let is_whole =
        kept.len() == measured.samples.len() && measured.cases.len() == known.cases.len();
    if is_whole {
        return known.clone();
    }
    let mut entry = measured;
    for case in &kept {
        if let Some(samples) = known.samples.get(case) {
            entry.samples.insert(case.clone(), samples.clone());
        }
        if let Some(values) = known.cases.get(case) {
            entry.cases.insert(case.clone(), values.clone());
        }
    }
    set_numbers(&mut entry, kind, agent);
    entry
}

/// Sets the numbers of an entry to those of its cases.
fn set_numbers(entry: &mut BaselineEntry, kind: &str, agent: &AgentReport) {
    let known = suites::kind(kind);
    let specs: Vec<MetricSpec> = agent
        .metrics
        .iter()
        .filter_map(|metric| known?.metric_named(&metric.name))
        .collect();
    let rows: Vec<&CaseValues> = entry
        .cases
        .values()
        .filter(|values| !values.is_empty())
        .collect();
    let numbers = fold::aggregates(&specs, rows.len(), |row, column| {
        fold::folded(&specs[column], rows[row].get(specs[column].name)?)
    });
    for (spec, number) in specs.iter().zip(numbers) {
        if let Some(number) = number.filter(|_| entry.metrics.contains_key(spec.name)) {
            entry.metrics.insert(spec.name.to_owned(), number);
        }
    }
}

/// Whether none of an agent's cases counts, so that its baseline entry must be kept. One with drafts alone has no case.
pub fn is_unmeasured(agent: &AgentReport) -> bool {
    agent
        .cases
        .iter()
        .all(|case| case.exclusion != Exclusion::Counted)
}

/// The numbers of an agent. Of the cases that do not count it has the last values: a quarantine does not lower what a case is compared
/// with afterwards. Values of another scorer or tier would be compared with nothing.
fn entry(agent: &AgentReport, old: Option<&BaselineEntry>) -> BaselineEntry {
    // This metric compares with the baseline, so it is not stored in it.
    let stored = agent
        .metrics
        .iter()
        .filter(|metric| metric.name != NEWLY_FAILING && !POLICY_METRICS.contains(&&*metric.name));
    let metrics = stored.filter_map(|metric| Some((metric.name.clone(), metric.value?)));
    let mut cases = BTreeMap::new();
    for case in &agent.cases {
        let names = agent.metrics.iter().map(|metric| metric.name.as_str());
        cases.insert(case.case.clone(), case_values(names, case));
    }
    let old = old.filter(|old| {
        old.identity.as_ref().is_some_and(|identity| {
            identity.scorer == agent.identity.scorer && identity.tier == agent.identity.tier
        })
    });
    let left_out = agent
        .cases
        .iter()
        .filter(|case| case.exclusion != Exclusion::Counted)
        .map(|case| &case.case);
    let counted = agent
        .cases
        .iter()
        .filter(|case| case.exclusion == Exclusion::Counted);
    let is_cached = are_cached(counted.clone());
    let counted_samples = agent.policy.as_ref().map(|policy| policy.samples as usize);
    let count = counted_samples
        .filter(|count| *count > 0 && !is_cached)
        .unwrap_or_else(|| usual_samples(counted.clone()));
    BaselineEntry {
        finding_count: None,
        metrics: metrics.collect(),
        identity: Some(agent.identity.clone()),
        cases,
        samples: counted
            .map(|case| (case.case.clone(), sampled_case(case, count)))
            .collect(),
        cached: is_cached,
        earlier: left_out
            .filter_map(|case| Some((case.clone(), old?.last_values(case)?.clone())))
            .collect(),
        taxonomy: agent.failed_checks_by_tag(),
        infra: Some(agent.lost_samples()),
        layers: agent.read_layers.clone(),
        judges: agent
            .judges
            .iter()
            .filter_map(|judge| Some((judge.name.clone(), judge_entry(agent, judge)?)))
            .collect(),
    }
}

/// The samples of a case as the policy `regression` compares them: the first ones. Further ones were asked for because of a failure.
fn sampled_case(case: &PairResult, count: usize) -> SampledCase {
    let samples = case.scored.iter().take(count);
    SampledCase {
        scores: samples
            .clone()
            .map(|scored| six_places(scored.score))
            .collect(),
        passed: samples.map(|scored| scored.passes).collect(),
        broken: case.broken.iter().map(|broken| broken.class).collect(),
        input_sha256: case.input_sha256.clone(),
        graded_by: case.graded_by.clone(),
    }
}

/// Returns the marks of a judge; `None` without votes.
fn judge_entry(agent: &AgentReport, judge: &JudgeReport) -> Option<JudgeEntry> {
    judge.identity.model.as_ref()?;
    let counted = agent
        .cases
        .iter()
        .filter(|pair| pair.exclusion == Exclusion::Counted);
    let mut marks = BTreeMap::new();
    for pair in counted {
        let judged = pair.judged.iter().find(|judged| judged.judge == judge.name);
        if let Some(mark) = judged.and_then(|judged| judged.opinion.mark()) {
            marks.insert(pair.case.clone(), mark);
        }
    }
    Some(JudgeEntry {
        identity: judge.identity.clone(),
        cases: marks,
    })
}

/// Whether an agent's coverage gate is inconclusive.
fn is_part(agent: &AgentReport) -> bool {
    let coverage = agent.metrics.iter().find(|metric| metric.name == COVERAGE);
    coverage.is_some_and(|metric| metric.verdict == Ruling::Judged(Verdict::Inconclusive))
}

/// How many recordings of an agent give no verdict.
fn uncounted_recordings(agent: &AgentReport) -> usize {
    let without = agent
        .recordings
        .iter()
        .filter(|row| row.effect == Effect::NoVerdict);
    without.map(|row| row.count as usize).sum()
}

/// Returns the reasons why a run's numbers must not become a baseline: cases that were not measured, too many excluded cases,
/// and stale recordings. A run whose only problem is a missing comparison may become one.
pub fn unusable_numbers(report: &Report) -> Vec<String> {
    let mut reasons = Vec::new();
    for suite in &report.suites {
        reasons.extend(too_many_left_out(suite).map(|why| why.0));
        for agent in &suite.agents {
            let is_part = is_part(agent);
            let uncounted = uncounted_recordings(agent);
            let who = format!("{}/{}", suite.id, agent.agent);
            if agent.cases.is_empty() {
                continue;
            } else if is_unmeasured(agent) {
                reasons.push(format!("{who}: no case was measured"));
            } else if is_part {
                reasons.push(format!("{who}: some cases were not measured"));
            }
            if uncounted > 0 {
                reasons.push(format!(
                    "{who}: {}",
                    plural(
                        uncounted,
                        "recording is not of the present agent and input",
                        "recordings are not of the present agent and input"
                    )
                ));
            }
        }
    }
    reasons
}

impl GradedRun {
    /// Returns the baseline with this run's numbers.
    pub fn proposed(&self) -> Baseline {
        self.proposed_after(self.against.as_ref(), Replaced::Shown)
    }

    pub fn proposed_after(&self, old: Option<&Baseline>, replaced: Replaced) -> Baseline {
        with_numbers(old, &self.report, replaced, &|suite| {
            !self.is_of_other_tier(suite)
        })
    }

    /// Whether these are the model tier's numbers of a suite that also runs in the deterministic tier. The baseline has one entry for an
    /// agent, with which the tier that blocks is compared.
    pub fn is_of_other_tier(&self, report: &SuiteReport) -> bool {
        report.tier == Tier::Model
            && self
                .config
                .suites
                .iter()
                .any(|suite| suite.id == report.id && suite.tiers.contains(&Tier::Deterministic))
    }
}

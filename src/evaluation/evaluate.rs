//! Turns suites, runs and a baseline into a report. Both tiers use the same pure function; they only differ in the source of the
//! runs.

use std::collections::{BTreeMap, BTreeSet};

use rayon::iter::{
    IndexedParallelIterator, IntoParallelIterator, IntoParallelRefIterator, ParallelIterator,
};

use super::answering_models::AnsweringModels;
use super::asked::asked;
use super::base_runs::{BaseRecordings, BaseResults};
use super::call_lanes::call_lanes;
use super::harmless_tools::without_harmless_tools;
use super::live_runs::NotRun;
use super::plan::{LoadedSuite, Plan, RulesSource, source_of};
use super::read_runs::ReadSamples;
use super::recorded_agents::RecordedAgents;
use super::replay::RunReader;
use super::sample_count::SampleCounts;
use super::{judged, remarks};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::files::{Files, OtherCommit, ReadFor, RecordedFiles, sha256_hex};
use crate::fold::{GradedSample, PairMeta};
use crate::gate::{BaseRuns, ComparedPair, GateInput};
use crate::golden_changes::RecordingReport;
use crate::model::{
    AgentName, AnsweredBy, Baseline, Better, CaseId, Exclusion, Grade, Identity, LogVerdict,
    NotGateable, PairResult, Run, RunSource, Sample, SampleUse, SampleUses, SuiteId, SuiteReport,
    Tier,
};
use crate::report::AgentFacts;
use crate::suites::{
    GradeContext, LabelContent, Pair, RecordedParts, calls, outputs_digest, suite_digest, used,
};
use crate::{fold, gate, report};

/// The graded suites of one tier, and the reasons why some have no verdict.
pub struct Evaluated {
    /// The suites, in the order of the config.
    pub suites: Vec<SuiteReport>,
    /// The reasons why no verdict is possible.
    pub not_gateable: Vec<NotGateable>,
}

/// The results of the base commit's own runs of each suite, as far as something needed them.
pub type BaseResultsBySuite = BTreeMap<SuiteId, BaseResults>;

#[derive(Clone, Copy)]
pub struct ResultSources<'a> {
    pub runs: &'a dyn RunReader,
    /// Results that other machines graded; if given, nothing is graded here.
    pub parts: Option<&'a ShardResults>,
    /// The commit to compare the read files with, if any.
    pub other: Option<&'a dyn OtherCommit>,
    /// The base commit's own recordings, if the runs are compared with it.
    pub base: Option<&'a BaseRecordings<'a>>,
    /// What the recordings mean for the verdict; `None` where they are graded whatever they state.
    pub recordings: Option<&'a RecordedAgents>,
}

/// The results of pairs that other machines graded.
#[derive(Debug, Default)]
pub struct ShardResults {
    pairs: BTreeMap<(Tier, SuiteId, AgentName, CaseId), PairResult>,
    not_run: Vec<NotRun>,
}

impl ShardResults {
    pub fn add(&mut self, tier: Tier, suite: &SuiteId, pair: PairResult) {
        self.pairs.insert(
            (tier, suite.clone(), pair.agent.clone(), pair.case.clone()),
            pair,
        );
    }

    /// Returns the number of pairs.
    pub fn count(&self) -> usize {
        self.pairs.len()
    }

    /// Adds an agent that a machine did not run.
    pub fn add_not_run(&mut self, not_run: NotRun) {
        if !self.not_run.contains(&not_run) {
            self.not_run.push(not_run);
        }
    }

    /// Returns the agents of a tier that no machine ran.
    pub fn not_run(&self, tier: Tier) -> Vec<NotRun> {
        self.not_run
            .iter()
            .filter(|not_run| not_run.tier == tier)
            .cloned()
            .collect()
    }

    fn has(&self, tier: Tier, suite: &SuiteId, pair: &Pair) -> bool {
        self.pairs
            .contains_key(&(tier, suite.clone(), pair.agent.clone(), pair.case.clone()))
    }

    fn result(&self, tier: Tier, suite: &SuiteId, pair: &Pair) -> Result<PairResult, Diagnostic> {
        let key = (tier, suite.clone(), pair.agent.clone(), pair.case.clone());
        if let Some(result) = self.pairs.get(&key) {
            return Ok(result.clone());
        }
        Err(Diagnostic::of_file(
            &pair.golden,
            Code::MISSING_PART,
            format!(
                "no shard has the result of {suite}/{}/{}",
                pair.agent, pair.case
            ),
            "grade all shards on the same checkout and merge there",
        ))
    }
}

/// Grades all selected pairs of the tier and judges all agents by the gates of their metrics. It calls no model and uses neither network nor clock.
///
/// # Errors
/// All recordings and suite files that cannot be graded.
pub fn evaluate(
    plan: &Plan,
    tier: Tier,
    origin: ResultSources<'_>,
    files: &dyn Files,
    baseline: Option<&Baseline>,
) -> Result<(Evaluated, BaseResultsBySuite), Diagnostics> {
    let mut problems = Diagnostics::default();
    let mut evaluated = Evaluated {
        suites: Vec::new(),
        not_gateable: Vec::new(),
    };
    let mut known_base = BaseResultsBySuite::new();
    for loaded in plan
        .suites
        .iter()
        .filter(|loaded| loaded.config.tiers.contains(&tier))
    {
        let counts = SampleCounts::new(plan, loaded, tier, baseline);
        let grading = SuiteGrading {
            plan,
            loaded,
            files,
            runs: origin.runs,
            counts: &counts,
            other: origin.other,
        };
        let Some(graded) = problems.keep_all(grade(&grading, tier, origin.parts)) else {
            continue;
        };
        let Some(mut drafts) = problems.keep_all(grade_drafts(&grading, tier, origin.parts)) else {
            continue;
        };
        if graded.is_empty() && drafts.is_empty() {
            continue;
        }
        let results: Vec<&PairResult> = graded
            .values()
            .flatten()
            .map(|graded| &graded.result)
            .collect();
        if !loaded.labels.is_empty() {
            let labelled = results
                .iter()
                .map(|pair| (&pair.agent, &pair.case, check_names(pair)));
            for problem in loaded.labels.unknown_checks(labelled) {
                problems.push(problem);
            }
        }
        let trust = judged::trust(loaded, results.into_iter());
        let base_results = BaseResults::default();
        let mut agents = Vec::new();
        let graded: Vec<(AgentName, Vec<GradedPair<'_>>)> = graded.into_iter().collect();
        let judged: Vec<report::AgentPart> = graded
            .into_par_iter()
            .map(|(agent, graded)| {
                let mut part = evaluate_agent(
                    &grading,
                    tier,
                    AgentResults { agent, graded },
                    ComparedWith {
                        baseline,
                        base: origin.base,
                        base_results: &base_results,
                        recordings: origin.recordings,
                    },
                );
                let baseline_entry = baseline
                    .and_then(|baseline| baseline.entry(&loaded.config.id, &part.report.agent));
                let pairs: Vec<&PairResult> = part.report.cases.iter().collect();
                // After the gates, so that judges cannot influence them.
                part.report.judges = judged::agent(loaded, &pairs, &trust, baseline_entry);
                part
            })
            .collect();
        for mut part in judged {
            evaluated.not_gateable.extend(part.not_gateable);
            let of_agent = drafts.remove(&part.report.agent).unwrap_or_default();
            report::add_drafts(&mut part.report, of_agent);
            agents.push(part.report);
        }
        agents.extend(
            drafts
                .into_iter()
                .map(|(agent, drafts)| report::only_drafts(agent, drafts)),
        );
        agents.sort_by(|left, right| left.agent.cmp(&right.agent));
        let suite = report::suite(loaded.config.id.clone(), loaded.kind.name, tier, agents);
        evaluated
            .not_gateable
            .extend(report::too_many_left_out(&suite));
        known_base.insert(suite.id.clone(), base_results);
        evaluated.suites.push(suite);
    }
    problems.or((evaluated, known_base))
}

struct GradedPair<'a> {
    pair: &'a Pair,
    result: PairResult,
}

struct AgentResults<'a> {
    agent: AgentName,
    graded: Vec<GradedPair<'a>>,
}

/// What the pairs of a suite are graded with.
#[derive(Clone, Copy)]
pub struct SuiteGrading<'a> {
    pub plan: &'a Plan,
    pub loaded: &'a LoadedSuite,
    pub files: &'a dyn Files,
    pub runs: &'a dyn RunReader,
    pub counts: &'a SampleCounts<'a>,
    /// The commit to compare the read files with.
    pub other: Option<&'a dyn OtherCommit>,
}

/// The most cases that a core takes at once: few, so that no core waits long for the last one.
const AT_ONCE: usize = 4;

/// Grades the selected drafts of a suite. Drafts are shown and never gated, so their files are not compared. None are graded under the
/// base commit's rules or from shards.
fn grade_drafts(
    grading: &SuiteGrading<'_>,
    tier: Tier,
    parts: Option<&ShardResults>,
) -> Result<BTreeMap<AgentName, Vec<PairResult>>, Diagnostics> {
    let SuiteGrading {
        plan, loaded, runs, ..
    } = *grading;
    let pairs: Vec<&Pair> = match (plan.rules, parts) {
        (RulesSource::Head, None) => loaded
            .chosen_drafts(&plan.wanted)
            .filter(|pair| runs.has(pair))
            .collect(),
        (RulesSource::Base, _) | (RulesSource::Head, Some(_)) => Vec::new(),
    };
    let graded = grade_pairs(
        &SuiteGrading {
            other: None,
            ..*grading
        },
        tier,
        None,
        &pairs,
    )?;
    Ok(results_by_agent(graded))
}

/// Grades the selected pairs of a suite that count.
fn grade<'a>(
    grading: &SuiteGrading<'a>,
    tier: Tier,
    parts: Option<&ShardResults>,
) -> Result<BTreeMap<AgentName, Vec<GradedPair<'a>>>, Diagnostics> {
    let SuiteGrading {
        plan, loaded, runs, ..
    } = *grading;
    let mut pairs: Vec<&Pair> = Vec::new();
    for pair in loaded.chosen(&plan.wanted) {
        let is_given = parts.is_some_and(|parts| parts.has(tier, &loaded.config.id, pair));
        if is_given || runs.has(pair) {
            pairs.push(pair);
        }
    }
    grade_pairs(grading, tier, parts, &pairs)
}

/// Grades pairs case by case, and groups the results by agent.
fn grade_pairs<'a>(
    grading: &SuiteGrading<'a>,
    tier: Tier,
    parts: Option<&ShardResults>,
    pairs: &[&'a Pair],
) -> Result<BTreeMap<AgentName, Vec<GradedPair<'a>>>, Diagnostics> {
    let SuiteGrading {
        loaded,
        files,
        other: other_commit,
        ..
    } = *grading;
    let cases: Vec<&[&Pair]> = pairs
        .chunk_by(|left, right| left.case == right.case)
        .collect();
    let read = ReadSamples::default();
    let recorded_parts = match parts {
        None => recorded_parts(grading, &read),
        Some(_) => RecordedParts::new(),
    };
    let graded: Vec<Vec<Result<GradedPair<'a>, Diagnostics>>> = cases
        .par_iter()
        .with_max_len(AT_ONCE)
        .map(|case| {
            let recorded = other_commit.map(|other_commit| {
                let read_for = ReadFor::Case(case[0].case.clone());
                RecordedFiles::new(files, other_commit, &loaded.reads, read_for)
            });
            let files: &dyn Files = recorded.as_ref().map_or(files, |recorded| recorded);
            if recorded.is_some() {
                for pair in case.iter() {
                    loaded.suite.read_inputs(pair, files);
                }
            }
            let context =
                GradeContext::new(files, &loaded.prompts).with_recorded_parts(&recorded_parts);
            case.iter()
                .map(|pair| {
                    let mut result = match parts {
                        None => grade_pair(grading, pair, &context, read.take(pair))?,
                        Some(parts) => parts.result(tier, &loaded.config.id, pair)?,
                    };
                    result.graded_by = graded_by(loaded, pair);
                    Ok(GradedPair { pair, result })
                })
                .collect()
        })
        .collect();
    let mut problems = Diagnostics::default();
    let mut by_agent: BTreeMap<AgentName, Vec<GradedPair<'a>>> = BTreeMap::new();
    for result in graded.into_iter().flatten() {
        let Some(graded) = problems.keep_all(result) else {
            continue;
        };
        match by_agent.get_mut(&graded.result.agent) {
            Some(of_agent) => of_agent.push(graded),
            None => {
                let mut of_agent = Vec::with_capacity(cases.len());
                let agent = graded.result.agent.clone();
                of_agent.push(graded);
                by_agent.insert(agent, of_agent);
            }
        }
    }
    problems.or(by_agent)
}

/// The optional parts of outputs that some run of each agent has. All cases of the suite count, so that a case has the same grade in every
/// selection. Runs that cannot be read are reported where they are graded, the others are kept for it.
fn recorded_parts(grading: &SuiteGrading<'_>, read: &ReadSamples) -> RecordedParts {
    let SuiteGrading {
        loaded,
        runs,
        counts,
        ..
    } = *grading;
    let optional = loaded.kind.outputs.optional;
    let mut recorded = RecordedParts::new();
    for pair in loaded
        .suite
        .pairs()
        .iter()
        .filter(|_| !optional.names.is_empty())
    {
        let parts = recorded.entry(pair.agent.clone()).or_default();
        if parts.len() == optional.names.len() || !runs.has(pair) {
            continue;
        }
        if let Ok(samples) = runs.samples(pair, counts.of(pair)) {
            let runs = samples.iter().flat_map(Sample::runs);
            parts.extend(runs.flat_map(optional.of_run));
            read.keep(pair, samples);
        }
    }
    recorded
}

fn grade_pair(
    grading: &SuiteGrading<'_>,
    pair: &Pair,
    context: &GradeContext<'_>,
    read: Option<Vec<Sample>>,
) -> Result<PairResult, Diagnostics> {
    let SuiteGrading {
        plan,
        loaded,
        runs,
        counts,
        ..
    } = *grading;
    let mut answered_by = AnsweringModels::default();
    let mut graded = Vec::new();
    let mut completed: Vec<Vec<Run>> = Vec::new();
    let mut unfinished = Vec::new();
    let samples = match read {
        Some(samples) => samples,
        None => runs.samples(pair, counts.of(pair))?,
    };
    let judged = judged::pair(loaded, pair, &samples, context.files())?;
    let digest = if loaded.labels.has_scores() {
        outputs_digest(&samples)
    } else {
        None
    };
    context.set_outputs(digest.clone());
    for (number, sample) in (0_u32..).zip(samples) {
        graded.push(match sample {
            Sample::Inconclusive { why, run } => {
                let kept = run.and_then(|run| loaded.suite.unfinished(pair, &run, &why));
                if let Some(kept) = kept {
                    unfinished.push((number, kept));
                }
                GradedSample::Lost(why)
            }
            Sample::Spared => GradedSample::Spared,
            Sample::Completed(runs) => {
                for run in &runs {
                    answered_by.add_run(run);
                }
                let sample = GradedSample::of(loaded.grade(pair, &runs, context)?);
                if sample.grade().is_some() {
                    completed.push(runs);
                }
                sample
            }
        });
    }
    without_harmless_tools(loaded, pair, context, &completed, &mut graded)?;
    let heading = PairMeta {
        case: pair.case.clone(),
        agent: pair.agent.clone(),
        golden: pair.golden.clone(),
        answered_by: answered_by.together(),
    };
    let grades: Vec<&Grade> = graded.iter().filter_map(GradedSample::grade).collect();
    let scored = grades
        .iter()
        .map(|grade| loaded.kind.scored(grade))
        .collect();
    let broken = loaded.kind.broken_classes(&grades);
    let mut folded = fold::pair(loaded.specs_of(pair), heading, graded);
    (folded.scored, folded.broken) = (scored, broken);
    folded.same_answer = same_answer(&completed);
    folded.input_sha256 = input_digest(&completed);
    folded.logged = logged(&completed);
    if !folded.passed.passes() {
        folded.calls = call_lanes(&completed);
        folded.asked = asked(loaded, pair, context.files())?;
    }
    folded.uses = sample_uses(&completed);
    folded.outputs_sha256 = digest;
    folded.kept.extend(unfinished);
    folded.judged = judged;
    folded.complaints = runs.complaints(pair);
    folded.recording = runs.recording(pair);
    loaded.set_values_of_all(pair, &completed, context, &mut folded);
    retag(loaded, &mut folded);
    if let Some(stated) = &pair.quarantine
        && plan.today <= stated.terms.expires
    {
        folded.exclusion = Exclusion::Quarantined;
        folded.quarantine = Some(stated.terms.clone());
    }
    Ok(folded)
}

/// The digest of what decides the grade of an answer: the expectation, and the scorer with its revision.
fn graded_by(loaded: &LoadedSuite, pair: &Pair) -> String {
    sha256_hex(format!("{} {}", loaded.kind.scorer, pair.digest).as_bytes())
}

/// What the log says of a pair whose recordings were imported from one; `None` if they do not agree.
fn logged(completed: &[Vec<Run>]) -> Option<LogVerdict> {
    let mut verdicts = completed.iter().flatten().map(|run| run.provenance.log);
    let first = verdicts.next()??;
    verdicts
        .all(|verdict| verdict == Some(first))
        .then_some(first)
}

/// The digest of what the recordings of a pair say that the agent was asked; `None` if one says nothing.
fn input_digest(completed: &[Vec<Run>]) -> Option<String> {
    let stated = completed
        .first()?
        .iter()
        .map(|run| run.provenance.input_sha256.as_deref());
    let stated: Option<Vec<&str>> = stated.collect();
    match stated?.as_slice() {
        [] => None,
        [only] => Some((*only).to_owned()),
        several => Some(sha256_hex(several.join(" ").as_bytes())),
    }
}

/// The length of the answer that each of two or more samples gave, in characters of its JSON: most likely a cache gave it.
fn same_answer(completed: &[Vec<Run>]) -> Option<u32> {
    let (first, others) = completed.split_first()?;
    if others.is_empty() || !others.iter().all(|runs| is_same_output(runs, first)) {
        return None;
    }
    let lengths = first.iter().map(|run| run.outputs.chars().count());
    u32::try_from(lengths.max().unwrap_or(0)).ok()
}

/// Whether two samples gave the same outputs, with the same parts or the same calls.
fn is_same_output(left: &[Run], right: &[Run]) -> bool {
    left.iter().zip(right).all(|(left, right)| {
        left.outputs == right.outputs
            && (left.intermediate == right.intermediate || calls(left).0 == calls(right).0)
    })
}

/// The medians of what the completed samples use.
fn sample_uses(completed: &[Vec<Run>]) -> SampleUses {
    SampleUses {
        tokens: median_use(SampleUse::Tokens, completed),
        latency_ms: median_use(SampleUse::Latency, completed),
        cost_usd: median_use(SampleUse::Cost, completed),
    }
}

/// The names of the checks of a pair.
fn check_names(pair: &PairResult) -> BTreeSet<String> {
    pair.checks
        .iter()
        .map(|check| check.name.to_string())
        .collect()
}

fn median_use(sample_use: SampleUse, completed: &[Vec<Run>]) -> Option<f64> {
    let values = completed
        .iter()
        .filter_map(|runs| used(sample_use.as_str(), runs));
    fold::median(Better::Lower, values.collect())
}

/// Replaces the tag of a rule by the tag of a person's label, and mentions it in the failure.
fn retag(loaded: &LoadedSuite, pair: &mut PairResult) {
    for label in loaded.labels.of(&pair.agent, &pair.case) {
        let LabelContent::Tag(name, tag) = &label.content else {
            continue;
        };
        let checks = pair
            .checks
            .iter_mut()
            .filter(|check| check.name.to_string() == *name);
        for failure in checks.filter_map(|check| check.failure.as_mut()) {
            failure.detail = format!(
                "{} (tag {} set by {}: {})",
                failure.detail,
                tag.as_str(),
                label.by,
                label.reason
            );
            failure.tag = *tag;
        }
    }
}

/// What the numbers of an agent are compared with.
#[derive(Clone, Copy)]
struct ComparedWith<'a> {
    baseline: Option<&'a Baseline>,
    base: Option<&'a BaseRecordings<'a>>,
    base_results: &'a BaseResults,
    recordings: Option<&'a RecordedAgents>,
}

/// Whether each run of the tier grades the same answers of an agent: a model may answer otherwise each time.
fn has_same_runs(loaded: &LoadedSuite, agent: &AgentName, tier: Tier) -> bool {
    let source = loaded
        .config
        .agents
        .get(agent)
        .and_then(|agent| source_of(agent, tier));
    tier == Tier::Deterministic || matches!(source, Some(RunSource::Replay(_)))
}

/// What the numbers of an agent depend on.
fn identity(
    loaded: &LoadedSuite,
    tier: Tier,
    pairs: &[&Pair],
    graded: &[GradedPair<'_>],
) -> Identity {
    let mut answers = AnsweringModels::default();
    for graded in graded {
        answers.add(&graded.result.answered_by);
    }
    let AnsweredBy {
        model,
        agent_sha256,
        ..
    } = answers.together();
    Identity {
        suite_digest: Some(suite_digest(pairs.to_vec())),
        scorer: Some(loaded.kind.scorer.to_owned()),
        model,
        agent_sha256,
        judge: None,
        samples: graded.iter().map(|graded| graded.result.planned).max(),
        tier: Some(tier.as_str().to_owned()),
    }
}

/// The base commit's own runs of an agent; `None` if it has none, or if nothing is compared with them.
///
/// # Errors
/// A note on why they cannot be graded.
pub fn base_runs<'a>(
    grading: &SuiteGrading<'_>,
    tier: Tier,
    agent: &AgentName,
    base: Option<&'a BaseRecordings<'_>>,
    results: &'a BaseResults,
) -> Result<Option<BaseRuns<'a>>, String> {
    // A live run's numbers differ each time, so only recordings are compared.
    let Some(base) = base.filter(|_| has_same_runs(grading.loaded, agent, tier)) else {
        return Ok(None);
    };
    let results = results.of(agent, base, || grade_base(grading, tier, base))?;
    Ok((!results.is_empty()).then_some(BaseRuns {
        branch: base.branch(),
        results,
    }))
}

/// Grades the base commit's own recordings of a suite. A case that is its own run has none.
fn grade_base(
    grading: &SuiteGrading<'_>,
    tier: Tier,
    base: &BaseRecordings<'_>,
) -> Result<BTreeMap<AgentName, Vec<PairResult>>, Diagnostics> {
    let SuiteGrading { plan, loaded, .. } = *grading;
    let replay = base.replay(plan, tier)?;
    let counts = grading.counts.of_recorded();
    let base_grading = SuiteGrading {
        runs: &replay,
        counts: &counts,
        other: None,
        ..*grading
    };
    let pairs: Vec<&Pair> = loaded
        .chosen(&plan.wanted)
        .filter(|pair| !pair.runs.is_empty() && replay.has(pair))
        .collect();
    Ok(results_by_agent(grade_pairs(
        &base_grading,
        tier,
        None,
        &pairs,
    )?))
}

fn results_by_agent(
    graded: BTreeMap<AgentName, Vec<GradedPair<'_>>>,
) -> BTreeMap<AgentName, Vec<PairResult>> {
    let mut agents = BTreeMap::new();
    for (agent, graded) in graded {
        let results = graded.into_iter().map(|graded| graded.result).collect();
        agents.insert(agent, results);
    }
    agents
}

fn evaluate_agent(
    grading: &SuiteGrading<'_>,
    tier: Tier,
    measured: AgentResults<'_>,
    compared: ComparedWith<'_>,
) -> report::AgentPart {
    let SuiteGrading {
        plan,
        loaded,
        counts,
        ..
    } = *grading;
    let pairs = loaded.suite.pairs();
    let AgentResults { agent, graded } = measured;
    let recordings = compared
        .recordings
        .map(|recordings| recordings.of(&loaded.config.id, loaded.config.runs_of.as_ref(), &agent));
    let RecordingReport {
        refused,
        refused_cases: _,
        notes,
        rows,
        makers,
    } = recordings.unwrap_or_default();
    let agent_pairs: Vec<&Pair> = pairs.iter().filter(|pair| pair.agent == agent).collect();
    let identity = identity(loaded, tier, &agent_pairs, &graded);
    let baseline_entry = compared
        .baseline
        .and_then(|baseline| baseline.entry(&loaded.config.id, &agent));
    let compared_pairs: Vec<ComparedPair<'_>> = graded
        .iter()
        .map(|GradedPair { pair, result }| ComparedPair {
            result,
            document: pair.document(),
            zone: pair.zone,
        })
        .collect();
    let input = GateInput {
        metrics: loaded.metrics_of(tier),
        pairs: &compared_pairs,
        identity: &identity,
        before: baseline_entry,
        base: None,
        selection: plan.wanted.selection(),
    };
    let mut judgement = gate::agent(&input);
    let mut base_note = None;
    if gate::needs_base_runs(&input, &judgement) {
        match base_runs(grading, tier, &agent, compared.base, compared.base_results) {
            Ok(Some(base)) => {
                judgement = gate::agent(&GateInput {
                    base: Some(base),
                    ..input
                });
            }
            Ok(None) => {}
            Err(note) => base_note = Some(note),
        }
    }
    drop(compared_pairs);
    let results: Vec<PairResult> = graded.into_iter().map(|graded| graded.result).collect();
    // Notes on all recordings of the agent come first: a terminal shows only some.
    let mut remarks = notes;
    remarks.extend(base_note);
    remarks.extend(counts.notes(&agent, &results));
    remarks.extend(loaded.suite.remarks(&results, &judgement.verdict));
    remarks.extend(remarks::remarks(
        &loaded.specs,
        &results,
        &agent_pairs,
        &plan.today,
    ));
    report::agent_part(AgentFacts {
        suite: &loaded.config.id,
        specs: &loaded.specs,
        identity,
        remarks,
        refused,
        recordings: rows,
        record_missing: counts.record_missing(&agent, &makers),
        agent,
        pairs: results,
        retired: loaded.suite.retired().to_vec(),
        judgement,
        before: baseline_entry,
    })
}

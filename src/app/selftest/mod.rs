//! `goldgate selftest`: whether the suites can fail at all (grading.md 14).

mod mutants;
mod vacuous;

use std::collections::{BTreeMap, BTreeSet};

use self::mutants::{mutant, mutations};
use self::vacuous::{Vacuous, texts};
use super::cli::SelftestArgs;
use super::cli_error::CliError;
use super::evaluate::{ResultSources, evaluate};
use super::plan::{Plan, Selection, plan};
use super::replay::{LiveLayout, Replay, RunReader, SampleCount};
use super::selection;
use crate::diag::Diagnostics;
use crate::model::{
    AgentName, CaseId, CaseReport, Exclusion, PairResult, Ruling, Run, RunKey, Sample, SuiteId, Tier, Verdict,
};
use crate::render::plural;
use crate::suites::{Files, Pair};
use crate::world::{Disk, World};

/// A pair of one suite.
type PairName = (SuiteId, AgentName, CaseId);

/// Grades agents that know nothing, and recordings with one thing broken, and names the cases that do not notice.
///
/// # Errors
/// Bad input; cases that do not notice are an exit code.
pub fn selftest(args: &SelftestArgs, world: &World) -> Result<u8, CliError> {
    let (disk, file) = Disk::of_config(&args.config)?;
    let wanted = Selection { tiers: vec![Tier::Deterministic], ..selection::chosen(&args.chosen)? };
    let plan = plan(&disk, &file, wanted, &world.clock)?;
    let mut lines = Vec::new();
    let mut said = String::new();
    for agent in Vacuous::ALL {
        let passed = passed_by(agent, &plan, &disk)?;
        said.push_str(&format!("{}: passes {}\n", agent.as_str(), plural(passed.len(), "case", "cases")));
        lines.extend(passed.into_iter().map(|name| {
            format!(
                "{}: {} passes it: ask for something that only a run that did the work has",
                pair_label(&name),
                agent.as_str()
            )
        }));
    }
    let mutated = mutated(&plan, &disk)?;
    let (killed, all) = mutated.values().fold((0, 0), |(killed, all), one| (killed + one.killed, all + one.all));
    let unnoticed = mutated.iter().filter(|(_, one)| one.all > 0 && one.killed == 0);
    lines.extend(unnoticed.map(|(name, one)| {
        format!(
            "{}: none of {} of its recordings is noticed: check more of the answer",
            pair_label(name),
            plural(one.all, "mutant", "mutants")
        )
    }));
    said.push_str(&format!(
        "mutants of recordings: {killed} of {all} are noticed, in {}\n",
        plural(mutated.len(), "case", "cases")
    ));
    lines.sort();
    let listed: String = lines.iter().map(|line| format!("  {line}\n")).collect();
    let verdict = match lines.len() {
        0 => "every case can fail\n".to_owned(),
        some => format!(
            "\n{}:\n{listed}",
            plural(some, "case cannot fail as it should", "cases cannot fail as they should")
        ),
    };
    world.say(&format!("{said}{verdict}"));
    Ok(u8::from(!lines.is_empty()))
}

fn pair_label((suite, agent, case): &PairName) -> String {
    format!("{suite}/{agent}/{case}")
}

/// The cases of a plan, graded on these runs, by name.
fn graded(plan: &Plan, files: &dyn Files, runs: &dyn RunReader) -> Result<BTreeMap<PairName, CaseReport>, Diagnostics> {
    let origin = ResultSources { runs, parts: None, other: None };
    let evaluated = evaluate(plan, Tier::Deterministic, origin, files, None)?;
    let cases = evaluated.suites.into_iter().flat_map(|suite| {
        let agents = suite.agents.into_iter();
        agents.flat_map(move |agent| {
            agent.cases.into_iter().map({
                let (suite, agent) = (suite.id.clone(), agent.agent.clone());
                move |case| ((suite.clone(), agent.clone(), case.pair.case.clone()), case)
            })
        })
    });
    Ok(cases.collect())
}

/// Whether a case lets a run through: its checks hold and no gate refuses its values.
fn passes(case: &CaseReport) -> bool {
    let refused = matches!(case.verdict, Ruling::Judged(Verdict::Fail));
    case.pair.exclusion == Exclusion::Counted && case.pair.passed.passes() && !refused
}

/// The cases that an agent passes which knows nothing.
fn passed_by(agent: Vacuous, plan: &Plan, files: &dyn Files) -> Result<BTreeSet<PairName>, Diagnostics> {
    let mut problems = Diagnostics::default();
    let mut answers: BTreeMap<RunKey, String> = BTreeMap::new();
    for opened in &plan.suites {
        for (index, pair) in opened.suite.pairs().iter().enumerate() {
            let golden = files.text(&pair.golden).map(|source| texts(&source)).unwrap_or_default();
            for (at, key) in pair.runs.iter().enumerate() {
                if let Some(ask) = problems.keep(opened.suite.ask(index, at, files)) {
                    answers.insert(key.clone(), agent.answer(ask.as_ref(), &golden));
                }
            }
        }
    }
    problems.or(())?;
    let graded = graded(plan, files, &ConstantAnswers(answers))?;
    Ok(graded.into_iter().filter(|(_, case)| passes(case)).map(|(name, _)| name).collect())
}

/// One answer for each run, the same in every sample.
struct ConstantAnswers(BTreeMap<RunKey, String>);

impl RunReader for ConstantAnswers {
    fn has(&self, pair: &Pair) -> bool {
        // What a case itself holds no agent can answer.
        !pair.runs.is_empty()
    }

    fn samples(&self, pair: &Pair, count: SampleCount) -> Result<Vec<Sample>, Diagnostics> {
        let planned = match count {
            SampleCount::Exactly(count) => count,
            SampleCount::AtLeast(count) => count.max(1),
        };
        let runs = pair.runs.iter().map(|key| Run::of(self.0.get(key).map_or("{}", String::as_str)));
        let runs: Vec<Run> = runs.collect();
        Ok((0..planned).map(|_| Sample::Completed(runs.clone())).collect())
    }
}

/// How many mutants of a case's recordings there are, and how many are noticed.
#[derive(Default)]
struct MutantCounts {
    all: usize,
    killed: usize,
}

/// Breaks one thing after the other in the recordings of each case that they pass. What fails anyway tells nothing.
fn mutated(plan: &Plan, files: &dyn Files) -> Result<BTreeMap<PairName, MutantCounts>, Diagnostics> {
    let layout = LiveLayout::default();
    let replay = Replay::open(files, plan, Tier::Deterministic, &layout)?;
    let whole = graded(plan, files, &replay)?;
    let mut noticed: BTreeMap<PairName, MutantCounts> = whole
        .iter()
        .filter(|(_, case)| passes(case))
        .map(|(name, _)| (name.clone(), MutantCounts::default()))
        .collect();
    let counts = counts(plan, &replay)?;
    for number in 0..counts.values().copied().max().unwrap_or(0) {
        for (name, case) in graded(plan, files, &MutatedRecordings { replay: &replay, counts: &counts, number })? {
            let (Some(one), Some(whole)) = (noticed.get_mut(&name), whole.get(&name)) else { continue };
            one.all += 1;
            one.killed += usize::from(differs(&whole.pair, &case.pair));
        }
    }
    Ok(noticed)
}

/// How many things can be broken in the runs of each pair, at most in one sample.
fn counts(plan: &Plan, replay: &Replay<'_>) -> Result<BTreeMap<Vec<RunKey>, usize>, Diagnostics> {
    let mut problems = Diagnostics::default();
    let pairs = plan.suites.iter().flat_map(|opened| opened.suite.pairs());
    let counted = pairs.filter(|pair| !pair.runs.is_empty() && replay.has(pair)).filter_map(|pair| {
        let samples = problems.keep_all(replay.samples(pair, SampleCount::AtLeast(0)))?;
        let of = |sample: &Sample| match sample {
            Sample::Completed(runs) => runs.iter().map(|run| mutations(run).len()).sum(),
            Sample::Inconclusive { .. } | Sample::Spared => 0,
        };
        Some((pair.runs.clone(), samples.iter().map(of).max().unwrap_or(0)))
    });
    let counted = counted.collect();
    problems.or(counted)
}

/// Whether anything that is measured or checked came out differently.
fn differs(whole: &PairResult, broken: &PairResult) -> bool {
    let checks = |pair: &PairResult| -> Vec<_> {
        pair.checks.iter().map(|check| (check.name.to_string(), check.standing)).collect()
    };
    whole.values != broken.values || checks(whole) != checks(broken)
}

/// Recordings in each of which the same thing is broken.
struct MutatedRecordings<'a> {
    replay: &'a Replay<'a>,
    counts: &'a BTreeMap<Vec<RunKey>, usize>,
    number: usize,
}

impl MutatedRecordings<'_> {
    /// The sample with its `number`th thing broken; `None` where it has fewer.
    fn mutant(&self, runs: &[Run]) -> Option<Vec<Run>> {
        let all = runs.iter().enumerate().flat_map(|(at, run)| mutations(run).into_iter().map(move |one| (at, one)));
        let (at, mutation) = all.into_iter().nth(self.number)?;
        let broken = |(place, run): (usize, &Run)| if place == at { mutant(run, &mutation) } else { run.clone() };
        Some(runs.iter().enumerate().map(broken).collect())
    }
}

impl RunReader for MutatedRecordings<'_> {
    fn has(&self, pair: &Pair) -> bool {
        self.counts.get(&pair.runs).is_some_and(|count| self.number < *count)
    }

    fn samples(&self, pair: &Pair, count: SampleCount) -> Result<Vec<Sample>, Diagnostics> {
        let samples = self.replay.samples(pair, count)?.into_iter().map(|sample| match sample {
            Sample::Completed(runs) => Sample::Completed(self.mutant(&runs).unwrap_or(runs)),
            other => other,
        });
        Ok(samples.collect())
    }
}

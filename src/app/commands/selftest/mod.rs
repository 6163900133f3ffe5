//! `goldgate selftest`: finds cases that cannot fail.

mod mutants;
mod vacuous;

use std::collections::{BTreeMap, BTreeSet};

use self::mutants::{Mutation, mutant, mutations};
use self::vacuous::{Vacuous, texts};
use crate::app::cli::SelftestArgs;
use crate::diag::Diagnostics;
use crate::evaluation::evaluate::{ResultSources, evaluate};
use crate::evaluation::live_layout::LiveLayout;
use crate::evaluation::plan::{Plan, plan};
use crate::evaluation::replay::{Replay, RunReader};
use crate::evaluation::sample_count::SampleCount;
use crate::evaluation::selection::Selection;
use crate::files::Files;
use crate::model::{
    AgentName, CaseId, Exclusion, PairResult, Ruling, Run, RunKey, Sample, SuiteId, Tier, Verdict,
};
use crate::render::{CliError, line, plural};
use crate::suites::Pair;
use crate::world::{Disk, World};

/// The name of a pair: suite, agent and case.
type PairName = (SuiteId, AgentName, CaseId);

/// Grades dummy agents and mutated recordings, and lists the cases that still pass. Returns exit code 1 if there are any.
pub fn selftest(args: &SelftestArgs, world: &World) -> Result<u8, CliError> {
    let (disk, file) = Disk::of_config(&args.config)?;
    let wanted = Selection {
        tiers: vec![Tier::Deterministic],
        ..args.chosen.chosen()?
    };
    let plan = plan(&disk, &file, wanted, &world.clock.days())?;
    let mut lines = Vec::new();
    let mut output = String::new();
    for agent in Vacuous::ALL {
        let passed = passed_by(agent, &plan, &disk)?;
        output.push_str(&format!(
            "{}: passes {}\n",
            agent.as_str(),
            plural(passed.len(), "case", "cases")
        ));
        lines.extend(passed.into_iter().map(|name| {
            format!(
                "{}: {} passes it: check for something that only a correct run contains",
                pair_label(&name),
                agent.as_str()
            )
        }));
    }
    let layout = LiveLayout::of_exchanges(&plan.config, Tier::Deterministic);
    let replay = Replay::open(&disk, &plan, Tier::Deterministic, &layout)?;
    let mutated = mutated(&plan, &disk, &replay)?;
    let (detected, all) = mutated.values().fold((0, 0), |(detected, all), counts| {
        (detected + counts.detected(), all + counts.all)
    });
    let undetected = mutated
        .iter()
        .filter(|(_, counts)| counts.all > 0 && counts.detected() == 0);
    lines.extend(undetected.map(|(name, counts)| {
        format!(
            "{}: it still passes with each of {} of its recordings: check more of the answer",
            pair_label(name),
            plural(counts.all, "mutant", "mutants")
        )
    }));
    output.push_str(&format!(
        "mutants of recordings: {detected} of {all} detected, in {}\n",
        plural(mutated.len(), "case", "cases")
    ));
    if args.verbose {
        output.push_str(&undetected_mutants(&plan, &replay, &mutated)?);
    }
    lines.sort();
    let listed: String = lines.iter().map(|line| format!("  {line}\n")).collect();
    let verdict = match lines.len() {
        0 => "all cases can fail\n".to_owned(),
        some => format!(
            "\n{}:\n{listed}",
            plural(some, "case is too weak", "cases are too weak")
        ),
    };
    world.say(&format!("{output}{verdict}"));
    Ok(u8::from(!lines.is_empty()))
}

fn pair_label((suite, agent, case): &PairName) -> String {
    format!("{suite}/{agent}/{case}")
}

/// Grades the cases of a plan on these runs, and returns the results by name.
fn graded(
    plan: &Plan,
    files: &dyn Files,
    runs: &dyn RunReader,
) -> Result<BTreeMap<PairName, PairResult>, Diagnostics> {
    let origin = ResultSources {
        runs,
        parts: None,
        other: None,
        base: None,
        recordings: None,
    };
    let (evaluated, _) = evaluate(plan, Tier::Deterministic, origin, files, None)?;
    let mut cases = BTreeMap::new();
    for suite in evaluated.suites {
        for agent in suite.agents {
            for case in agent.cases {
                let name = (suite.id.clone(), agent.agent.clone(), case.case.clone());
                cases.insert(name, case);
            }
        }
    }
    Ok(cases)
}

/// Whether a case passes: all its checks pass and no gate fails.
fn passes(case: &PairResult) -> bool {
    let refused = matches!(case.verdict, Ruling::Judged(Verdict::Fail));
    case.exclusion == Exclusion::Counted && case.passed.passes() && !refused
}

/// Returns the cases that a dummy agent passes.
fn passed_by(
    agent: Vacuous,
    plan: &Plan,
    files: &dyn Files,
) -> Result<BTreeSet<PairName>, Diagnostics> {
    let mut problems = Diagnostics::default();
    let mut answers: BTreeMap<RunKey, String> = BTreeMap::new();
    for loaded in &plan.suites {
        for pair in loaded.suite.pairs() {
            let golden = files
                .text(&pair.golden)
                .map(|source| texts(&source))
                .unwrap_or_default();
            for key in &pair.runs {
                let Some(ask) = problems.keep(loaded.suite.ask(pair, key, files)) else {
                    continue;
                };
                let stuffed = match agent {
                    Vacuous::Stuffing => loaded.suite.stuffed_answer(pair, &golden),
                    Vacuous::Empty | Vacuous::Echo => None,
                };
                let answer = stuffed.unwrap_or_else(|| agent.answer(ask.as_ref(), &golden));
                answers.insert(key.clone(), answer);
            }
        }
    }
    problems.or(())?;
    let graded = graded(plan, files, &ConstantAnswers(answers))?;
    Ok(graded
        .into_iter()
        .filter(|(_, case)| passes(case))
        .map(|(name, _)| name)
        .collect())
}

/// One answer per run, the same in every sample.
struct ConstantAnswers(BTreeMap<RunKey, String>);

impl RunReader for ConstantAnswers {
    fn has(&self, pair: &Pair) -> bool {
        // A case without runs contains its own content, so an agent cannot answer it.
        !pair.runs.is_empty()
    }

    fn samples(&self, pair: &Pair, count: SampleCount) -> Result<Vec<Sample>, Diagnostics> {
        let planned = match count {
            SampleCount::Exactly(count) => count,
            SampleCount::AtLeast(count) => count.max(1),
        };
        let runs = pair
            .runs
            .iter()
            .map(|key| Run::of(self.0.get(key).map_or("{}", String::as_str)));
        let runs: Vec<Run> = runs.collect();
        Ok((0..planned)
            .map(|_| Sample::Completed(runs.clone()))
            .collect())
    }
}

/// The mutants of a case's recordings.
#[derive(Default)]
struct MutantCounts {
    /// How many there are.
    all: usize,
    /// The numbers of those that nothing detects.
    undetected: Vec<usize>,
}

impl MutantCounts {
    fn detected(&self) -> usize {
        self.all - self.undetected.len()
    }
}

/// Grades all mutants of the recordings of each passing case. A case that fails anyway proves nothing.
fn mutated(
    plan: &Plan,
    files: &dyn Files,
    replay: &Replay<'_>,
) -> Result<BTreeMap<PairName, MutantCounts>, Diagnostics> {
    let whole = graded(plan, files, replay)?;
    let mut counts_by_pair: BTreeMap<PairName, MutantCounts> = whole
        .iter()
        .filter(|(_, case)| passes(case))
        .map(|(name, _)| (name.clone(), MutantCounts::default()))
        .collect();
    let counts = counts(plan, replay)?;
    for number in 0..counts.values().copied().max().unwrap_or(0) {
        for (name, case) in graded(
            plan,
            files,
            &MutatedRecordings {
                replay,
                counts: &counts,
                number,
            },
        )? {
            let (Some(counts), Some(whole)) = (counts_by_pair.get_mut(&name), whole.get(&name))
            else {
                continue;
            };
            counts.all += 1;
            if !differs(whole, &case) {
                counts.undetected.push(number);
            }
        }
    }
    Ok(counts_by_pair)
}

/// Names the mutants that nothing detects, by the first sample of their case.
fn undetected_mutants(
    plan: &Plan,
    replay: &Replay<'_>,
    mutated: &BTreeMap<PairName, MutantCounts>,
) -> Result<String, Diagnostics> {
    let mut output = String::new();
    for (loaded, pair) in plan
        .suites
        .iter()
        .flat_map(|loaded| loaded.suite.pairs().iter().map(move |pair| (loaded, pair)))
    {
        let name = (
            loaded.config.id.clone(),
            pair.agent.clone(),
            pair.case.clone(),
        );
        let Some(counts) = mutated
            .get(&name)
            .filter(|counts| !counts.undetected.is_empty())
        else {
            continue;
        };
        let samples = replay.samples(pair, SampleCount::AtLeast(0))?;
        let runs = samples.into_iter().find_map(|sample| match sample {
            Sample::Completed(runs) => Some(runs),
            Sample::Inconclusive { .. } | Sample::Spared => None,
        });
        let all: Vec<(usize, Mutation)> =
            runs.iter().flat_map(|runs| all_mutations(runs)).collect();
        for (_, mutation) in counts
            .undetected
            .iter()
            .filter_map(|number| all.get(*number))
        {
            let description = line(&mutation.to_string(), SHOWN);
            output.push_str(&format!(
                "  {}: not detected: {description}\n",
                pair_label(&name)
            ));
        }
    }
    Ok(output)
}

/// The longest description of a mutant, in characters.
const SHOWN: usize = 120;

/// Returns the number of mutations for the runs of each pair: the maximum of its samples.
fn counts(plan: &Plan, replay: &Replay<'_>) -> Result<BTreeMap<Vec<RunKey>, usize>, Diagnostics> {
    let mut problems = Diagnostics::default();
    let mut counted = BTreeMap::new();
    for pair in plan.suites.iter().flat_map(|loaded| loaded.suite.pairs()) {
        if pair.runs.is_empty() || !replay.has(pair) {
            continue;
        }
        let samples = problems.keep_all(replay.samples(pair, SampleCount::AtLeast(0)));
        let Some(samples) = samples else { continue };
        let counts = samples.iter().map(|sample| match sample {
            Sample::Completed(runs) => all_mutations(runs).count(),
            Sample::Inconclusive { .. } | Sample::Spared => 0,
        });
        counted.insert(pair.runs.clone(), counts.max().unwrap_or(0));
    }
    problems.or(counted)
}

/// The mutations of the runs of a sample, each with the index of its run.
fn all_mutations(runs: &[Run]) -> impl Iterator<Item = (usize, Mutation)> {
    runs.iter().enumerate().flat_map(|(at, run)| {
        mutations(run)
            .into_iter()
            .map(move |mutation| (at, mutation))
    })
}

/// Whether any value or check differs.
fn differs(whole: &PairResult, broken: &PairResult) -> bool {
    let whole_checks = whole
        .checks
        .iter()
        .map(|check| (check.name.to_string(), check.standing));
    let broken_checks = broken
        .checks
        .iter()
        .map(|check| (check.name.to_string(), check.standing));
    whole.values != broken.values || whole_checks.ne(broken_checks)
}

/// Recordings with the same mutation in each.
struct MutatedRecordings<'a> {
    replay: &'a Replay<'a>,
    counts: &'a BTreeMap<Vec<RunKey>, usize>,
    number: usize,
}

impl MutatedRecordings<'_> {
    /// Returns the sample with its mutation `number`; `None` if it has fewer.
    fn mutant(&self, runs: &[Run]) -> Option<Vec<Run>> {
        let (at, mutation) = all_mutations(runs).nth(self.number)?;
        let mut broken = runs.to_vec();
        broken[at] = mutant(&runs[at], &mutation);
        Some(broken)
    }
}

impl RunReader for MutatedRecordings<'_> {
    fn has(&self, pair: &Pair) -> bool {
        self.counts
            .get(&pair.runs)
            .is_some_and(|count| self.number < *count)
    }

    fn samples(&self, pair: &Pair, count: SampleCount) -> Result<Vec<Sample>, Diagnostics> {
        let samples = self
            .replay
            .samples(pair, count)?
            .into_iter()
            .map(|sample| match sample {
                Sample::Completed(runs) => Sample::Completed(self.mutant(&runs).unwrap_or(runs)),
                sample => sample,
            });
        Ok(samples.collect())
    }
}

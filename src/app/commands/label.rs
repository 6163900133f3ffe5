//! `goldgate label`: people label sampled cases, and the agreement of the automatic scores with them is measured.

mod draw;
mod label_files;

use std::collections::BTreeMap;

use self::draw::{Candidate, drawn};
use self::label_files::LabelFiles;
use crate::app::cli::LabelArgs;
use crate::diag::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::estimate::agreement;
use crate::evaluation::evaluate::{ResultSources, evaluate};
use crate::evaluation::live_layout::LiveLayout;
use crate::evaluation::plan::{LoadedSuite, Plan, plan};
use crate::evaluation::replay::{Replay, RunReader};
use crate::evaluation::sample_count::SampleCount;
use crate::evaluation::selection::Selection;
use crate::files::Files;
use crate::format::redact::redacted_samples;
use crate::model::{Exclusion, Mark, RepoPath, Sample, SuiteReport, Tier};
use crate::render::label::ShownCase;
use crate::render::{CliError, label as render, plural};
use crate::suites::{
    DIMENSIONS, GivenLabel, KINDS, LabelContent, Labels, NewLabel, outputs_digest, read_config,
    with_label,
};
use crate::text::Redactor;
use crate::world::{Disk, World, user_name};

/// Asks for labels, saves each answer at once, and prints the agreement. Returns the exit code.
///
/// # Errors
/// Bad input, or a file that cannot be written. A person who stops early is not an error.
pub fn label(args: &LabelArgs, world: &World) -> Result<u8, CliError> {
    let (disk, file) = Disk::of_config(&args.config)?;
    let table = LabelTable::open(args, &disk, &file, world)?;
    if !args.agreement {
        let by = args.by.clone().or_else(|| user_name(&disk, &world.env));
        let Some(by) = by.filter(|by| !by.trim().is_empty()) else {
            let help = "use --by NAME, or set git's user.name";
            let message = "the labeler's name is unknown";
            return Err(Diagnostic::of_command_line(Code::NO_NAME, message, help).into());
        };
        let saved = table.ask(args, &by, &disk, world)?;
        world.say(&format!("{} saved\n", plural(saved, "label", "labels")));
        if table.dimension.is_some() {
            return Ok(0);
        }
        world.say("\n");
    }
    let fresh = LabelTable::open(args, &disk, &file, world)?;
    let (marks, stale) = fresh.marks();
    world.say(&render::agreement(
        agreement(&marks).as_ref(),
        stale,
        args.judge.as_deref(),
    ));
    Ok(0)
}

/// Returns the index of a dimension in the rubric.
fn dimension_of(name: &str) -> Result<usize, Diagnostic> {
    if let Some(index) = DIMENSIONS.iter().position(|known| *known == name) {
        return Ok(index);
    }
    let help = did_you_mean(
        name,
        DIMENSIONS,
        format!("the dimensions are {}", DIMENSIONS.join(", ")),
    );
    Err(Diagnostic::of_command_line(
        Code::UNKNOWN_DIMENSION,
        format!("unknown dimension \"{name}\""),
        help,
    ))
}

/// Returns the names of the kinds whose agents are scored by dimensions.
fn kinds_with_dimensions() -> String {
    let kinds = KINDS
        .iter()
        .filter(|kind| !kind.label_dimensions.is_empty());
    kinds.map(|kind| kind.name).collect::<Vec<_>>().join(", ")
}

/// The graded cases that can be labeled, with their existing labels.
struct LabelTable {
    plan: Plan,
    cases: Vec<LabelCase>,
    /// The index of the dimension to score; `None` to label cases.
    dimension: Option<usize>,
}

/// One case of one agent.
struct LabelCase {
    candidate: Candidate,
    /// The index of its suite in the plan, and its file of labels.
    suite: usize,
    labels: RepoPath,
    /// The index of the judge whose rubric is used, if any.
    judge: Option<usize>,
    /// The mark by the rules or the judge; `None` if undecided.
    scored: Option<Mark>,
    golden: RepoPath,
    /// The line of its first check.
    line: u32,
    samples: Vec<Sample>,
    digest: Option<String>,
}

impl LabelTable {
    fn open(
        args: &LabelArgs,
        disk: &Disk,
        file: &RepoPath,
        world: &World,
    ) -> Result<Self, CliError> {
        let suites = read_config(&disk.text(file)?)?.suites;
        let of_judges = suites
            .iter()
            .flat_map(|suite| &suite.judges)
            .filter_map(|judge| judge.labels.clone());
        let labels = suites
            .iter()
            .filter_map(|suite| suite.labels.clone())
            .chain(of_judges)
            .collect();
        let files = LabelFiles { disk, labels };
        let wanted = Selection {
            tiers: vec![Tier::Deterministic],
            ..args.chosen.chosen()?
        };
        let mut plan = plan(&files, file, wanted, &world.clock.days())?;
        let by = args.judge.as_deref();
        let dimension = args.dimension.as_deref().map(dimension_of).transpose()?;
        plan.suites.retain(|loaded| {
            let has_rubric = dimension.is_none() || !loaded.kind.label_dimensions.is_empty();
            has_rubric && Marker::of(loaded, by).is_some()
        });
        if plan.suites.is_empty() {
            let (message, help) = match by {
                None if dimension.is_some() => (
                    format!(
                        "no selected suite of the kind {} has a file of labels",
                        kinds_with_dimensions()
                    ),
                    "add labels: FILE to the suite; the file need not exist yet",
                ),
                None => (
                    "no selected suite has a file of labels".to_owned(),
                    "add labels: FILE to the suite; the file need not exist yet",
                ),
                Some(judge) => (
                    format!("no selected suite has a judge \"{judge}\" with a file of labels"),
                    "add labels: FILE to the judge; the file need not exist yet",
                ),
            };
            return Err(Diagnostic::of_file(file, Code::NO_LABELS, message, help).into());
        }
        let layout = LiveLayout::of_exchanges(&plan.config, Tier::Deterministic);
        let runs = Replay::open(&files, &plan, Tier::Deterministic, &layout)?;
        let (graded, _) = evaluate(
            &plan,
            Tier::Deterministic,
            ResultSources {
                runs: &runs,
                parts: None,
                other: None,
                base: None,
                recordings: None,
            },
            &files,
            None,
        )?;
        let mut problems = Diagnostics::default();
        let mut cases = Vec::new();
        for report in &graded.suites {
            let index = plan
                .suites
                .iter()
                .position(|loaded| loaded.config.id == report.id);
            let marked = index.and_then(|at| Some((at, Marker::of(&plan.suites[at], by)?)));
            let Some((index, marker)) = marked else {
                continue;
            };
            let cases_of_suite = counted(report, &plan.suites[index], (index, &marker), &runs);
            cases.extend(problems.keep_all(cases_of_suite).unwrap_or_default());
        }
        // A score belongs to outputs, so a case without outputs cannot be scored.
        cases.retain(|case: &LabelCase| dimension.is_none() || case.digest.is_some());
        Ok(problems.or(Self {
            plan,
            cases,
            dimension,
        })?)
    }

    /// Returns the pairs of human and automatic marks, and the number of labels of other outputs. If a person labeled a case several
    /// times, the last label counts.
    fn marks(&self) -> (Vec<(Mark, Mark)>, usize) {
        let (mut marks, mut stale) = (Vec::new(), 0);
        for case in &self.cases {
            let mut by_person: BTreeMap<&str, (Mark, bool)> = BTreeMap::new();
            let Some(scored) = case.scored else { continue };
            for label in self
                .labels(case)
                .of(&case.candidate.agent, &case.candidate.case)
            {
                let LabelContent::Verdict(mark, outputs) = &label.content else {
                    continue;
                };
                by_person.insert(&label.by, (*mark, case.is_on(outputs.as_deref())));
            }
            stale += by_person.values().filter(|(_, current)| !current).count();
            let current = by_person.into_values().filter(|(_, current)| *current);
            marks.extend(current.map(|(mark, _)| (mark, scored)));
        }
        (marks, stale)
    }

    /// Returns the labels of a case by the same rules or judge that scored it.
    fn labels(&self, case: &LabelCase) -> &Labels {
        let loaded = &self.plan.suites[case.suite];
        case.judge
            .map_or(&loaded.labels, |index| &loaded.judges[index].labels)
    }

    /// Asks about drawn cases that this person has not labeled yet; returns how many answers were saved.
    fn ask(
        &self,
        args: &LabelArgs,
        by: &str,
        disk: &Disk,
        world: &World,
    ) -> Result<usize, CliError> {
        let open: Vec<&Candidate> = self
            .cases
            .iter()
            .filter(|case| !self.is_marked(case, by))
            .map(|case| &case.candidate)
            .collect();
        let order = drawn(&open, args.count as usize, args.seed);
        if order.is_empty() {
            world.say(&format!("{by} has labeled all selected cases.\n"));
        }
        world.redact_by(&self.plan.config, &self.plan.config);
        let redactor = world.redactor();
        let mut saved = 0;
        for (number, candidate) in order.iter().enumerate() {
            let Some(case) = self.cases.iter().find(|case| case.candidate == **candidate) else {
                continue;
            };
            if let (0, Some(index)) = (number, case.judge) {
                world.say(&render::rubric(
                    &self.plan.suites[case.suite].judges[index].rubric,
                ));
            }
            world.say(&self.show_case(case, number + 1, order.len(), disk, &redactor)?);
            let (opinion, reason) = match ask_person(world, self.dimension)? {
                LabelAnswer::Given(opinion, reason) => (opinion, reason),
                LabelAnswer::Skipped => continue,
                LabelAnswer::Ended => break,
            };
            let today = world.clock.today();
            let label = NewLabel {
                agent: &case.candidate.agent,
                case: &case.candidate.case,
                opinion,
                outputs_sha256: case.digest.as_deref(),
                date: &today,
                by,
                reason: &reason,
            };
            // Read again for each answer, because somebody else may have added labels.
            let _lock = disk.lock(&case.labels)?;
            let text = LabelFiles {
                disk,
                labels: vec![case.labels.clone()],
            }
            .text(&case.labels)?
            .text;
            let labels = with_label(&text, &label);
            disk.replace_input(&case.labels, labels.as_bytes())?;
            saved += 1;
        }
        Ok(saved)
    }

    fn is_marked(&self, case: &LabelCase, by: &str) -> bool {
        let mut labels = self
            .labels(case)
            .of(&case.candidate.agent, &case.candidate.case);
        labels.any(|label| match (&label.content, self.dimension) {
            (LabelContent::Verdict(_, outputs), None) => {
                label.by == by && case.is_on(outputs.as_deref())
            }
            // One score is enough, by whatever person.
            (LabelContent::Score(dimension, _, outputs), Some(open)) => {
                *dimension == open && *outputs == case.digest
            }
            (LabelContent::Verdict(..), Some(_))
            | (LabelContent::Score(..), None)
            | (LabelContent::Tag(..), _) => false,
        })
    }

    fn show_case(
        &self,
        case: &LabelCase,
        number: usize,
        total: usize,
        disk: &Disk,
        redactor: &Redactor,
    ) -> Result<String, CliError> {
        let Candidate {
            suite,
            agent,
            case: id,
            mark: _,
        } = &case.candidate;
        let golden = disk.text(&case.golden)?;
        let samples = redacted_samples(case.samples.clone(), redactor);
        Ok(render::render_case(&ShownCase {
            number,
            of: total,
            who: format!("{suite}/{agent}/{id}"),
            golden: &golden,
            line: case.line as usize,
            samples: &samples,
            redactor,
        }))
    }
}

/// Whether a suite's cases are scored by the rules or by a judge.
struct Marker {
    /// The index of the judge in the suite; `None` for the rules.
    judge: Option<usize>,
    labels: RepoPath,
}

impl Marker {
    /// Returns the suite's own labels, or those of the requested judge; `None` without a file of labels.
    fn of(loaded: &LoadedSuite, judge: Option<&str>) -> Option<Self> {
        let Some(name) = judge else {
            return Some(Self {
                judge: None,
                labels: loaded.config.labels.clone()?,
            });
        };
        let index = loaded
            .judges
            .iter()
            .position(|judge| judge.config.name.as_str() == name)?;
        Some(Self {
            judge: Some(index),
            labels: loaded.judges[index].config.labels.clone()?,
        })
    }
}

impl LabelCase {
    /// Whether a label belongs to the current outputs. A label without a digest does.
    fn is_on(&self, outputs: Option<&str>) -> bool {
        outputs.is_none() || outputs == self.digest.as_deref()
    }
}

/// Returns the counted cases of a suite.
fn counted(
    report: &SuiteReport,
    loaded: &LoadedSuite,
    (suite, marker): (usize, &Marker),
    runs: &Replay<'_>,
) -> Result<Vec<LabelCase>, Diagnostics> {
    let (mut problems, mut cases) = (Diagnostics::default(), Vec::new());
    let graded = report.agents.iter().flat_map(|agent| &agent.cases);
    for pair in graded.filter(|pair| pair.exclusion == Exclusion::Counted) {
        let planned = loaded
            .suite
            .pairs()
            .iter()
            .find(|listed| listed.case == pair.case && listed.agent == pair.agent);
        let Some(planned) = planned else { continue };
        let graded = SampleCount::Exactly(pair.planned);
        let Some(samples) = problems.keep_all(runs.samples(planned, graded)) else {
            continue;
        };
        let scored = match marker.judge {
            None => Some(pair.passed.mark()),
            Some(index) => pair
                .judged
                .get(index)
                .and_then(|judged| judged.opinion.mark()),
        };
        cases.push(LabelCase {
            candidate: Candidate {
                suite: report.id.clone(),
                agent: pair.agent.clone(),
                case: pair.case.clone(),
                // Undecided cases are drawn like weak ones.
                mark: scored.unwrap_or(Mark::Weak),
            },
            suite,
            labels: marker.labels.clone(),
            judge: marker.judge,
            scored,
            golden: pair.golden.clone(),
            line: pair
                .checks
                .iter()
                .map(|check| check.location.line)
                .min()
                .unwrap_or(1),
            digest: outputs_digest(&samples),
            samples,
        });
    }
    problems.or(cases)
}

/// A person's answer for one case.
enum LabelAnswer {
    Given(GivenLabel, String),
    Skipped,
    Ended,
}

fn ask_person(world: &World, dimension: Option<usize>) -> anyhow::Result<LabelAnswer> {
    let (question, answers) = match dimension {
        None => (
            "pass, weak or fail (s skips, q ends) > ".to_owned(),
            "p, w, f, s or q",
        ),
        Some(index) => (
            format!(
                "points for {}: 0, 1 or 2 (s skips, q ends) > ",
                DIMENSIONS[index]
            ),
            "0, 1, 2, s or q",
        ),
    };
    let opinion = loop {
        let Some(word) = world.ask(&question)? else {
            return Ok(LabelAnswer::Ended);
        };
        match (word.to_lowercase().as_str(), dimension) {
            ("p" | "pass", None) => break GivenLabel::Mark(Mark::Pass),
            ("w" | "weak", None) => break GivenLabel::Mark(Mark::Weak),
            ("f" | "fail", None) => break GivenLabel::Mark(Mark::Fail),
            ("0", Some(index)) => break GivenLabel::Points(index, 0),
            ("1", Some(index)) => break GivenLabel::Points(index, 1),
            ("2", Some(index)) => break GivenLabel::Points(index, 2),
            ("s" | "skip", _) => return Ok(LabelAnswer::Skipped),
            ("q" | "quit", _) => return Ok(LabelAnswer::Ended),
            _ => world.say(&format!("Please answer {answers}.\n")),
        }
    };
    loop {
        let Some(reason) = world.ask("why > ")? else {
            return Ok(LabelAnswer::Ended);
        };
        if !reason.is_empty() {
            return Ok(LabelAnswer::Given(opinion, reason));
        }
        world.say("Please give a reason; one sentence is enough.\n");
    }
}

//! What there is to review: drafts, then newly failing cases, then cases that moved a number for the worse.

use std::collections::BTreeMap;

use super::decision::{DraftCase, drafts};
use crate::diag::Diagnostics;
use crate::evaluation::plan::{Plan, plan};
use crate::evaluation::replay::{Replay, RunReader};
use crate::evaluation::sample_count::SampleCount;
use crate::evaluation::selection::Selection;
use crate::files::{Files, SourceText};
use crate::format::redact::redacted_samples;
use crate::model::{
    AgentName, AgentReport, CaseId, CaseTrend, PairResult, RepoPath, Report, Sample, SuiteId, Tier,
};
use crate::render::review::{ReviewedCase, drafted_case, reviewed_case};
use crate::render::{CliError, plural, words};
use crate::suites::CaseText;
use crate::text::{Redactor, config_option};
use crate::workspace::past_outputs::{PastCommit, PastOutputs, past_outputs};
use crate::workspace::worktree::shown_recordings;
use crate::world::{Disk, World};

/// Why a case is shown.
pub enum ReviewReason {
    Draft(DraftCase),
    /// It passed in the baseline, and fails now.
    NewlyFailing,
    /// It made a number worse, or a gate fail.
    Moved,
}

pub struct ReviewItem {
    suite: SuiteId,
    agent: AgentName,
    case: CaseId,
    golden: RepoPath,
    /// Why it is shown.
    pub reason: ReviewReason,
    /// The same in words.
    state: String,
    failed: Vec<(String, String)>,
    samples: Vec<Sample>,
    /// The file with the recorded answer.
    recording: Option<String>,
}

pub struct ReviewTable {
    /// The cases, in order.
    pub items: Vec<ReviewItem>,
    past: Option<PastOutputs>,
    pub plan: Plan,
    redactor: Redactor,
}

impl ReviewTable {
    /// Grades the recordings and collects what there is to review.
    pub fn open(
        config: &str,
        (disk, file): (&Disk, &RepoPath),
        wanted: Selection,
        world: &World,
    ) -> Result<Self, CliError> {
        let (report, live) = shown_recordings(config, wanted.clone(), world)?;
        let plan = plan(disk, file, wanted.clone(), &world.clock.days())?;
        let files = live.overlay(disk);
        let runs = Replay::open(&files, &plan, Tier::Deterministic, &live.layout)?;
        let redactor = world.redactor();
        let mut items = of_drafts(&report, &plan);
        items.extend(of_cases(&report));
        let mut problems = Diagnostics::default();
        for item in &mut items {
            let Some(loaded) = plan.suite(&item.suite) else {
                continue;
            };
            let mut pairs = loaded.suite.pairs_to_run();
            let Some(pair) = pairs.find(|pair| pair.agent == item.agent && pair.case == item.case)
            else {
                continue;
            };
            let samples = problems.keep_all(runs.samples(pair, SampleCount::AtLeast(1)));
            item.samples = redacted_samples(samples.unwrap_or_default(), &redactor);
        }
        problems.or(())?;
        // Additional: without git or a baseline there is none.
        let mut past = plan.config.baseline.as_ref().and_then(|baseline| {
            past_outputs(disk, file, wanted, PastCommit::OfBaseline(baseline), world)
                .ok()
                .flatten()
        });
        for samples in past.iter_mut().flat_map(|past| past.samples.values_mut()) {
            *samples = redacted_samples(std::mem::take(samples), &redactor);
        }
        drop(runs);
        Ok(Self {
            items,
            past,
            plan,
            redactor,
        })
    }

    /// Each case in sentences, with the commands that decide on it.
    pub fn list(&self, disk: &Disk) -> Result<String, CliError> {
        let drafts = self
            .items
            .iter()
            .filter(|item| matches!(item.reason, ReviewReason::Draft(_)))
            .count();
        let mut out = String::new();
        let config = config_option(self.plan.config.file.as_str());
        for item in &self.items {
            let ReviewItem {
                suite,
                agent,
                case,
                golden,
                reason,
                state,
                ..
            } = item;
            match reason {
                ReviewReason::Draft(draft) => {
                    let name = draft.name();
                    let source = disk.text(golden)?;
                    let text = self.text(item, &source);
                    let expected = text.as_ref().map_or("", CaseText::text);
                    let said = drafted_case(
                        &self.redactor.text(expected),
                        &item.samples,
                        item.recording.as_deref(),
                    );
                    out.push_str(&format!(
                        "{name}: {state} ({golden})\n{said}  goldgate review{config} --accept {name}\n  goldgate review{config} --reject {name}\n"
                    ));
                }
                ReviewReason::NewlyFailing | ReviewReason::Moved => {
                    let name = format!("{suite}/{agent}/{case}");
                    out.push_str(&format!(
                        "{name}: {state} ({golden})\n  goldgate explain{config} {name}\n"
                    ));
                }
            }
        }
        let others = self.items.len() - drafts;
        if drafts > 0 {
            let count = plural(drafts, "draft waits", "drafts wait");
            out.push_str(&format!(
                "\n{count} for a decision; `goldgate review{config} --accept '*'` accepts all\n"
            ));
        }
        if others > 0 {
            let count = plural(others, "case", "cases");
            out.push_str(&format!("\n{count} failed or moved. If that is intended, run `goldgate run{config} --update-baseline` on the default branch, or have the pull request approved\n"));
        }
        Ok(out)
    }

    /// The golden file of a case, and its line there.
    pub fn place(&self, index: usize, disk: &Disk) -> Result<(RepoPath, usize), CliError> {
        let item = &self.items[index];
        let source = disk.text(&item.golden)?;
        let line = self.text(item, &source).map_or(1, |text| text.line());
        Ok((item.golden.clone(), line))
    }

    /// A case for the screen.
    pub fn shown(&self, index: usize, disk: &Disk, columns: u16) -> Result<String, CliError> {
        let item = &self.items[index];
        let source = disk.text(&item.golden)?;
        let text = self.text(item, &source);
        let name = match &item.reason {
            ReviewReason::Draft(draft) => draft.name(),
            ReviewReason::NewlyFailing | ReviewReason::Moved => {
                format!("{}/{}/{}", item.suite, item.agent, item.case)
            }
        };
        let known = (item.suite.clone(), item.agent.clone(), item.case.clone());
        let earlier_samples = self.past.as_ref().and_then(|past| past.samples.get(&known));
        let place = format!(
            "{}:{}",
            item.golden,
            text.as_ref().map_or(1, CaseText::line)
        );
        let expected = text.as_ref().map_or(source.text.as_str(), CaseText::text);
        let shown = ReviewedCase {
            number: (index + 1, self.items.len()),
            name: &name,
            state: &item.state,
            place: &place,
            expected: &self.redactor.text(expected),
            recording: item.recording.as_deref(),
            before: earlier_samples.map(Vec::as_slice),
            now: &item.samples,
            failed: &item.failed,
        };
        Ok(reviewed_case(&shown, columns))
    }

    fn text<'a>(&self, item: &ReviewItem, source: &'a SourceText) -> Option<CaseText<'a>> {
        let loaded = self.plan.suite(&item.suite)?;
        CaseText::find(loaded.kind.golden, source, &item.case, &item.agent)
    }
}

fn of_drafts(report: &Report, plan: &Plan) -> Vec<ReviewItem> {
    let mut results: BTreeMap<(&SuiteId, &AgentName, &CaseId), &PairResult> = BTreeMap::new();
    for (suite, agent) in report.suite_agents() {
        for draft in &agent.drafts {
            results.insert((&suite.id, &agent.agent, &draft.case), draft);
        }
    }
    let mut items = Vec::new();
    for draft in drafts(plan) {
        let mut states: Vec<String> = Vec::new();
        for agent in &draft.agents {
            let result = results.get(&(&draft.suite, agent, &draft.case)).copied();
            let state = result.map_or("has no run".to_owned(), words::draft);
            states.push(format!("{agent} {state}"));
        }
        let Some(agent) = draft.agents.first().cloned() else {
            continue;
        };
        let result = results.get(&(&draft.suite, &agent, &draft.case)).copied();
        items.push(ReviewItem {
            suite: draft.suite.clone(),
            failed: result.map(failed).unwrap_or_default(),
            recording: result.and_then(recording_of),
            agent,
            case: draft.case.clone(),
            golden: draft.golden.clone(),
            state: format!("draft, {}", states.join(", ")),
            reason: ReviewReason::Draft(draft),
            samples: Vec::new(),
        });
    }
    items
}

/// Cases that fail or moved: the newly failing ones first.
fn of_cases(report: &Report) -> Vec<ReviewItem> {
    let mut items = Vec::new();
    for (suite, agent) in report.suite_agents() {
        for case in agent
            .cases
            .iter()
            .filter(|case| case.trend == CaseTrend::NewlyFailing)
        {
            items.push(item(
                &suite.id,
                agent,
                case,
                ReviewReason::NewlyFailing,
                "newly failing".to_owned(),
            ));
        }
    }
    for (suite, agent) in report.suite_agents() {
        for case in agent
            .cases
            .iter()
            .filter(|case| case.trend != CaseTrend::NewlyFailing)
        {
            let moved = agent.metrics.iter().filter(|metric| {
                metric
                    .evidence
                    .cases
                    .iter()
                    .any(|evidence| evidence.case == case.case)
            });
            let moved: Vec<&str> = moved.map(|metric| metric.name.as_str()).collect();
            if !moved.is_empty() {
                items.push(item(
                    &suite.id,
                    agent,
                    case,
                    ReviewReason::Moved,
                    format!("moved {}", moved.join(", ")),
                ));
            }
        }
    }
    items
}

fn item(
    suite: &SuiteId,
    agent: &AgentReport,
    case: &PairResult,
    reason: ReviewReason,
    state: String,
) -> ReviewItem {
    ReviewItem {
        suite: suite.clone(),
        agent: agent.agent.clone(),
        case: case.case.clone(),
        golden: case.golden.clone(),
        reason,
        state,
        failed: failed(case),
        samples: Vec::new(),
        recording: recording_of(case),
    }
}

fn recording_of(case: &PairResult) -> Option<String> {
    case.recording.as_ref().map(ToString::to_string)
}

/// The checks that fail, with what they got.
fn failed(case: &PairResult) -> Vec<(String, String)> {
    let mut failed = Vec::new();
    for check in case.failed_checks() {
        let got = match &check.failure {
            Some(failure) => failure.detail.clone(),
            None => String::new(),
        };
        failed.push((check.name.to_string(), got));
    }
    failed
}

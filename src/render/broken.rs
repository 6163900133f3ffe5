//! What is broken, by case: everything that is said of a case, once.

use std::collections::{BTreeMap, BTreeSet};

use super::evidence::{
    case_value, failed_metrics, first_failed, is_rule, repeats_unreadable, short_gate, unreadable,
};
use super::{since_base, words};
use crate::model::{
    AgentName, AgentReport, COVERAGE, CaseEvidence, CaseId, CaseTrend, ChangedText, EvidenceLine,
    EvidenceSource, FailureLine, GateRuling, MetricReport, PairCheck, PairResult, Report, Ruling,
    SuiteId, SuiteReport, Tag, Tier, Verdict,
};
use crate::suites::CASE_PASS_RATE;

/// The number of cases that are shown with their evidence.
pub const SHOWN: usize = 5;

/// The number of further cases of an agent that are named.
const NAMED: usize = 12;

/// The number of differences of a case that are shown.
const DIFFERENCES: usize = 2;

/// An agent with gates that fail or are inconclusive, or with a case that fails and did not fail before.
pub struct BrokenAgent<'a> {
    pub suite: &'a SuiteReport,
    pub agent: &'a AgentReport,
    /// Its metrics with a failed gate, then those with an inconclusive one, each with its first such gate.
    pub gates: Vec<(&'a MetricReport, &'a GateRuling)>,
    /// Its cases that are shown, the worst first.
    pub cases: Vec<BrokenCase<'a>>,
    /// Further cases.
    pub named: Vec<&'a CaseId>,
    /// The number of cases beyond these.
    pub more: usize,
    /// The results of its cases.
    results: BTreeMap<&'a CaseId, &'a PairResult>,
    /// Where each case is in `cases` until they are folded.
    places: BTreeMap<&'a CaseId, usize>,
}

/// A case, with what is said of it.
pub struct BrokenCase<'a> {
    pub case: &'a CaseId,
    /// Its result, if it has one.
    pub result: Option<&'a PairResult>,
    lines: Vec<BrokenLine<'a>>,
    /// The metrics that it moved.
    moved: Vec<(&'a MetricReport, &'a CaseEvidence)>,
    agent: &'a AgentReport,
}

/// An expectation that a case does not meet.
#[derive(Clone, Copy, PartialEq, Eq)]
struct BrokenLine<'a> {
    expected: &'a str,
    produced: &'a str,
    /// The line of the golden file.
    line: u32,
    /// The number of samples with it, if they differ.
    samples: Option<u32>,
    hint: Option<(Tag, &'a str)>,
    source: EvidenceSource,
}

/// A row of a case.
pub enum CaseRow<'a> {
    /// What the user asked.
    Asked(&'a str),
    /// Expectations with the same result.
    Expected(Vec<&'a str>),
    /// The result, and in how many samples.
    Got(&'a str, String),
    /// Samples that are missing, and the command that records them.
    Missing(&'a str, &'a str),
    /// Differences that are not shown.
    More(usize),
    /// What differs from the output at the base commit.
    Changed(&'a ChangedText, u32),
    /// The tag and the next step.
    Next(Tag, &'a str),
}

/// An agent of a report: one may be in several suites and tiers.
type AgentKey<'a> = (&'a SuiteId, Tier, &'a AgentName);

/// The agents with the cases that are said something of, in the order in which they came up.
#[derive(Default)]
struct BrokenAgents<'a> {
    agents: Vec<BrokenAgent<'a>>,
    places: BTreeMap<AgentKey<'a>, usize>,
}

/// Everything that is broken, the agents with failed gates first. Over all agents, [`SHOWN`] cases or `most` are shown.
pub fn broken_agents(report: &Report, most: usize) -> Vec<BrokenAgent<'_>> {
    BrokenAgents::of(report).folded(most)
}

/// Whether anything is broken.
pub fn is_anything_broken(report: &Report) -> bool {
    let mut metrics = report.metrics();
    let mut failures = report.failures();
    metrics.any(|metric| first_failed(metric).is_some() || undecided(metric).is_some())
        || failures.any(|failed| is_broken(&failed))
}

/// The failed checks of counted cases that failed before and decide no gate.
pub fn other_checks(report: &Report) -> Vec<FailureLine<'_>> {
    let broken = BrokenAgents::of(report);
    let others = report.failures();
    others
        .filter(|failed| {
            !broken.has(failed.suite, failed.agent, &failed.case.case)
                && !repeats_unreadable(failed)
        })
        .collect()
}

/// The agents with numbers that are worse and fail no gate, with the cases behind them that are not broken.
pub fn moved_agents(report: &Report, most: usize) -> Vec<BrokenAgent<'_>> {
    let broken = BrokenAgents::of(report);
    let mut moved = BrokenAgents::default();
    for (suite, agent) in report.suite_agents() {
        let metrics = agent
            .metrics
            .iter()
            .filter(|metric| !metric.verdict.fails() && undecided(metric).is_none());
        for metric in metrics {
            for evidence in &metric.evidence.cases {
                if !broken.has(suite, agent, &evidence.case) {
                    moved.agent(suite, agent).add_case(metric, evidence);
                }
            }
        }
    }
    moved.folded(most)
}

/// Whether a failed check is of a case that did not fail before.
fn is_broken(failed: &FailureLine<'_>) -> bool {
    failed.case.trend != CaseTrend::StillFailing && !repeats_unreadable(failed)
}

impl<'a> BrokenAgents<'a> {
    fn of(report: &'a Report) -> Self {
        let mut broken = Self::default();
        for failed in failed_metrics(report) {
            let agent = broken.agent(failed.suite, failed.agent);
            agent.add_metric(failed.metric, failed.gate);
        }
        for (suite, agent) in report.suite_agents() {
            for metric in &agent.metrics {
                if let Some(gate) = undecided(metric) {
                    broken.agent(suite, agent).add_metric(metric, gate);
                }
            }
        }
        for failed in report.failures().filter(is_broken) {
            let agent = broken.agent(failed.suite, failed.agent);
            agent.add_check(failed.case, failed.check);
        }
        broken
    }

    fn agent(&mut self, suite: &'a SuiteReport, agent: &'a AgentReport) -> &mut BrokenAgent<'a> {
        let key = (&suite.id, suite.tier, &agent.agent);
        let place = *self.places.entry(key).or_insert(self.agents.len());
        if place == self.agents.len() {
            self.agents.push(BrokenAgent::new(suite, agent));
        }
        &mut self.agents[place]
    }

    fn has(&self, suite: &SuiteReport, agent: &AgentReport, case: &CaseId) -> bool {
        let place = self.places.get(&(&suite.id, suite.tier, &agent.agent));
        place.is_some_and(|place| self.agents[*place].places.contains_key(case))
    }

    /// The agents; of their cases, those beyond a number over all of them are only named.
    fn folded(self, most: usize) -> Vec<BrokenAgent<'a>> {
        let mut agents = self.agents;
        let mut shown = vec![0; agents.len()];
        let mut left = most;
        // Each agent shows its worst case before another one shows its second.
        let mut open: Vec<usize> = (0..agents.len()).collect();
        while left > 0 && !open.is_empty() {
            open.retain(|agent| shown[*agent] < agents[*agent].cases.len());
            for agent in open.iter().take(left) {
                shown[*agent] += 1;
            }
            left = left.saturating_sub(open.len());
        }
        for (agent, shown) in agents.iter_mut().zip(shown) {
            agent.fold(shown);
        }
        agents
    }
}

/// The first inconclusive gate of a metric that cases explain.
fn undecided(metric: &MetricReport) -> Option<&GateRuling> {
    // The reason for no verdict names the cases that were not measured.
    if metric.name == COVERAGE {
        return None;
    }
    let explained = is_undecided(&metric.verdict) && !metric.evidence.cases.is_empty();
    let mut gates = metric.gates.iter();
    gates.find(|gate| explained && is_undecided(&gate.ruling))
}

fn is_undecided(ruling: &Ruling) -> bool {
    *ruling == Ruling::Judged(Verdict::Inconclusive)
}

impl<'a> BrokenAgent<'a> {
    fn new(suite: &'a SuiteReport, agent: &'a AgentReport) -> Self {
        let results = agent.cases.iter().map(|result| (&result.case, result));
        Self {
            suite,
            agent,
            gates: Vec::new(),
            cases: Vec::new(),
            named: Vec::new(),
            more: 0,
            results: results.collect(),
            places: BTreeMap::new(),
        }
    }

    fn add_metric(&mut self, metric: &'a MetricReport, gate: &'a GateRuling) {
        self.gates.push((metric, gate));
        for evidence in &metric.evidence.cases {
            self.add_case(metric, evidence);
        }
        // Metrics name some of the same cases, so the largest number is the best that is known.
        let all = metric.evidence.cases.len() + metric.evidence.more as usize;
        self.more = self.more.max(all);
    }

    fn add_case(&mut self, metric: &'a MetricReport, evidence: &'a CaseEvidence) {
        let case = self.case(&evidence.case);
        case.moved.push((metric, evidence));
        case.add_evidence(evidence);
    }

    fn add_check(&mut self, result: &'a PairResult, check: &'a PairCheck) {
        let case = self.case(&result.case);
        BrokenLine::of_check(check)
            .into_iter()
            .for_each(|line| case.add(line));
    }

    fn case(&mut self, case: &'a CaseId) -> &mut BrokenCase<'a> {
        let place = *self.places.entry(case).or_insert(self.cases.len());
        if place == self.cases.len() {
            self.cases.push(BrokenCase {
                case,
                result: self.results.get(case).copied(),
                lines: Vec::new(),
                moved: Vec::new(),
                agent: self.agent,
            });
        }
        &mut self.cases[place]
    }

    /// Puts cases that failed before behind the others, and names those beyond `shown`.
    fn fold(&mut self, shown: usize) {
        self.more = self.more.saturating_sub(self.cases.len());
        self.cases.sort_by_key(BrokenCase::failed_before);
        let rest = self.cases.split_off(shown);
        self.more += rest.len().saturating_sub(NAMED);
        self.named = rest.iter().take(NAMED).map(|case| case.case).collect();
    }

    /// Whether a gate of it fails.
    pub fn fails(&self) -> bool {
        self.gates.iter().any(|(_, gate)| gate.ruling.fails())
    }

    /// Introduces what the commit changed in an agent whose gate fails.
    pub fn likely_cause(&self) -> &'static str {
        if self.rules_out_chance() {
            "changed since the base commit, so the likely cause"
        } else {
            "changed since the base commit"
        }
    }

    /// The next step where the agent changed; `None` where chance may be the cause.
    pub fn undo_it(&self) -> Option<&'static str> {
        self.rules_out_chance().then_some(
            "next: undo or reword this change, and record again; where the new behaviour is right, change the cases",
        )
    }

    /// Whether a rule of the policy `regression` fails, or every case was right before.
    fn rules_out_chance(&self) -> bool {
        if self.gates.iter().any(|(metric, _)| is_rule(metric)) {
            return true;
        }
        self.agent.metrics.iter().all(|metric| {
            metric.name != CASE_PASS_RATE.name
                || metric.comparison.baseline.is_none_or(|rate| rate == 1.0)
        })
    }

    /// What its cases are, in words: `3 broken cases`.
    pub fn title(&self) -> String {
        let count = self.cases.len() + self.named.len() + self.more;
        let (singular, several) = match (self.fails(), self.gates.is_empty()) {
            (true, _) => ("broken case", "broken cases"),
            (false, false) => ("case in question", "cases in question"),
            (false, true) => (
                "failing case that decides no gate",
                "failing cases that decide no gate",
            ),
        };
        words::plural(count, singular, several)
    }

    /// The gates that its cases moved, in one line: `finding_recall 66.7% (needs ≥ 80%), f1_score 80% (needs drop ≤ 5 pp)`.
    pub fn gate_line(&self, clean: impl Fn(&str) -> String) -> String {
        let mut gates = Vec::new();
        for (metric, gate) in &self.gates {
            let undecided = if gate.ruling.fails() {
                ""
            } else {
                " is inconclusive"
            };
            gates.push(short_gate(metric, gate, &clean) + undecided);
        }
        gates.join(", ")
    }

    /// The cases that are not shown: `also lease, loan and 3 more`.
    pub fn others(&self, clean: impl Fn(&str) -> String) -> Option<String> {
        let named: Vec<String> = self.named.iter().map(|case| clean(case.as_str())).collect();
        match (named.is_empty(), self.more) {
            (true, 0) => None,
            (true, more) => Some(format!(
                "and {}",
                words::plural(more, "more case", "more cases")
            )),
            (false, 0) => Some(format!("also {}", named.join(", "))),
            (false, more) => Some(format!("also {} and {more} more", named.join(", "))),
        }
    }
}

impl<'a> BrokenLine<'a> {
    /// The line of a failed check; `None` if it did not fail.
    fn of_check(check: &'a PairCheck) -> Option<Self> {
        let failure = check.failure.as_deref()?;
        Some(Self {
            expected: check.expected.as_deref().unwrap_or_default(),
            produced: &failure.detail,
            line: check.location.line,
            samples: None,
            hint: Some((failure.tag, &failure.next_action)),
            source: EvidenceSource::Check,
        })
    }

    fn of_evidence(evidence: &'a EvidenceLine) -> Self {
        let EvidenceLine {
            difference,
            samples,
            tag,
            next_action,
            source,
        } = evidence;
        Self {
            expected: &difference.expected,
            produced: &difference.produced,
            line: difference.line,
            samples: *samples,
            hint: tag.zip(next_action.as_deref()),
            source: *source,
        }
    }
}

impl<'a> BrokenCase<'a> {
    fn add_evidence(&mut self, evidence: &'a CaseEvidence) {
        // What cannot be read fails every other check.
        let check = unreadable(self.result, evidence);
        if let Some(line) = check.and_then(BrokenLine::of_check) {
            self.lines
                .retain(|line| line.source == EvidenceSource::Samples);
            self.add(line);
            return;
        }
        let lines = evidence.differences.iter().map(BrokenLine::of_evidence);
        lines.for_each(|line| self.add(line));
    }

    fn add(&mut self, line: BrokenLine<'a>) {
        for known in &self.lines {
            let is_alike = (known.expected, known.produced) == (line.expected, line.produced);
            // The first rule that counts samples says enough.
            let sources = (known.source, line.source);
            if is_alike || sources == (EvidenceSource::Samples, EvidenceSource::Samples) {
                return;
            }
        }
        self.lines.push(line);
    }

    /// The first metric of its samples that it moved; the rules of a policy have no values of samples.
    pub fn measured(&self) -> Option<(&'a MetricReport, &'a CaseEvidence)> {
        let mut moved = self.moved.iter().copied();
        moved.find(|(metric, _)| !is_rule(metric))
    }

    fn failed_before(&self) -> bool {
        self.result
            .is_some_and(|case| case.trend == CaseTrend::StillFailing)
    }

    /// How many samples are right, before and now, else the first number that it moved; empty where no gate is about it and it has one sample.
    pub fn standing(&self) -> String {
        let counted = self.lines_of(|source| source == EvidenceSource::Samples);
        if let Some(line) = counted.first() {
            return format!("{}, {}", line.expected, line.produced);
        }
        if let Some((metric, evidence)) = self.measured() {
            let value = case_value(metric, evidence);
            if !value.is_empty() {
                return format!("{} {value}", metric.name);
            }
        }
        let samples = self.result.filter(|case| case.completed > 1);
        let Some((case, right)) = samples.and_then(|case| Some((case, case.passing?))) else {
            return String::new();
        };
        let suffix = if self.failed_before() {
            "; failed before"
        } else {
            ""
        };
        format!("right in {right} of {} samples{suffix}", case.completed)
    }

    /// The line of the golden file with the first expectation that is not met.
    pub fn line(&self) -> u32 {
        let met = self.lines_of(|source| source != EvidenceSource::Samples);
        met.first()
            .copied()
            .or(self.lines.first())
            .map_or(1, |line| line.line)
    }

    /// The file of the golden set.
    pub fn golden(&self) -> Option<&'a str> {
        self.result.map(|case| case.golden.as_str())
    }

    fn lines_of(&self, included: impl Fn(EvidenceSource) -> bool) -> Vec<&BrokenLine<'a>> {
        let lines = self.lines.iter();
        lines.filter(|line| included(line.source)).collect()
    }

    /// Its rows; `hints` has the next steps that other cases show already.
    pub fn rows(&self, most: Differences, hints: &mut BTreeSet<&'a str>) -> Vec<CaseRow<'a>> {
        let mut rows = Vec::new();
        let asked = self.result.and_then(|case| case.asked.as_deref());
        rows.extend(asked.map(CaseRow::Asked));
        let mut lines = self
            .lines_of(|source| matches!(source, EvidenceSource::Check | EvidenceSource::Element));
        if lines.is_empty() {
            lines = self.lines_of(|source| source == EvidenceSource::Number);
        }
        let groups: Vec<Vec<&BrokenLine<'a>>> = alike(&lines);
        let shown = match most {
            Differences::Few => groups.len().min(DIFFERENCES),
            Differences::All => groups.len(),
        };
        let mut last: Vec<&str> = Vec::new();
        for group in groups.iter().take(shown) {
            let mut expected: Vec<&str> = group.iter().map(|line| line.expected).collect();
            expected.dedup();
            // Results of one expectation share it.
            if last != expected {
                rows.push(CaseRow::Expected(expected.clone()));
                last = expected;
            }
            if let Some(first) = group.first() {
                rows.push(CaseRow::Got(first.produced, self.in_samples(first)));
            }
        }
        if groups.len() > shown {
            rows.push(CaseRow::More(groups.len() - shown));
        }
        let missing = self.lines_of(|source| source == EvidenceSource::Missing);
        rows.extend(
            missing
                .iter()
                .map(|line| CaseRow::Missing(line.expected, line.produced)),
        );
        let completed = self.result.map_or(1, |case| case.completed);
        let changed = self.agent.since_base.outputs_of(self.case);
        let first = changed.iter().find(|change| {
            let text = change.now.as_deref().unwrap_or_default();
            !lines.iter().any(|line| line.produced.contains(text))
        });
        let first = first.or(changed.first());
        rows.extend(first.map(|change| CaseRow::Changed(change, completed)));
        if !since_base::explains(self.agent, self.result) {
            let new = lines
                .iter()
                .filter_map(|line| line.hint)
                .find(|(_, next)| !hints.contains(next));
            if let Some((tag, next)) = new {
                hints.insert(next);
                rows.push(CaseRow::Next(tag, next));
            }
        }
        rows
    }

    fn in_samples(&self, line: &BrokenLine<'_>) -> String {
        match (line.samples, self.result.map(|case| case.completed)) {
            (Some(samples), Some(completed)) if completed > 1 => {
                format!(" ({samples} of {completed} samples)")
            }
            (_, _) => String::new(),
        }
    }
}

/// How many differences of a case are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Differences {
    /// The first ones.
    Few,
    /// All that the report has.
    All,
}

/// The length of a result from which on a reader takes two of them for the same, in characters.
const BEGINNING: usize = 160;

/// Groups lines whose results begin alike.
fn alike<'a, 'b>(lines: &[&'b BrokenLine<'a>]) -> Vec<Vec<&'b BrokenLine<'a>>> {
    let mut groups: Vec<Vec<&BrokenLine<'a>>> = Vec::new();
    for line in lines {
        let same = groups.iter_mut().find(|group| {
            let first = group.first();
            first.is_some_and(|first| beginning(first.produced) == beginning(line.produced))
        });
        match same {
            Some(group) => group.push(line),
            None => groups.push(vec![line]),
        }
    }
    groups
}

fn beginning(text: &str) -> &str {
    let end = text.char_indices().nth(BEGINNING);
    end.map_or(text, |(end, _)| &text[..end])
}

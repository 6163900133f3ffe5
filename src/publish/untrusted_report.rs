//! Checks a report from an untrusted job: it must have bounded size, the expected commit, and is marked as untrusted.

use std::fmt;

use crate::model::{
    AgentReport, Authority, CaseReport, Difference, Identity, JudgeComparison, JudgeConsensus, JudgeReport,
    MetricReport, PairJudged, RepoPath, Report, Ruling, RunUsage, SuiteReport, Vote,
};

/// Why an untrusted report is not shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rejected {
    /// Its commit is not that of its run.
    Commit,
    /// It has more of something than any real report (what, limit).
    Large(&'static str, usize),
    /// It has a text or number that goldgate never writes.
    Odd(&'static str),
}

impl fmt::Display for Rejected {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Commit => out.write_str("the report is about another commit than its run"),
            Self::Large(what, limit) => write!(out, "the report has more than {limit} {what}"),
            Self::Odd(what) => write!(out, "the report has {what} that goldgate does not write"),
        }
    }
}

/// The first note of such a report.
const NOTICE: &str = "Measured in the pull request's own job, which can change its workflow, its config and its program. This is what \
    that job reports, not a verdict of this repository's config.";

/// Suites, and agents of one.
const SUITES: usize = 1_000;
/// Pairs of agent and case.
const PAIRS: usize = 200_000;
/// Metrics of one agent, and gates of one metric.
const METRICS: usize = 200;
/// Checks of one pair, samples that were lost.
const CHECKS: usize = 10_000;
/// Notes, remarks and reasons in one list.
const NOTES: usize = 1_000;
/// The longest name, in bytes.
const NAME: usize = 200;
/// The longest text, in bytes.
const TEXT: usize = 100_000;
/// The largest number, either way.
const NUMBER: f64 = 1e12;
/// The largest count of calls, tokens and milliseconds.
const COUNT: u64 = 1_000_000_000_000_000;

/// The report as it is shown on the pull request with this head: advisory, with a note that says so.
///
/// # Errors
/// Returns why it is not shown.
pub fn admitted(report: Report, head: &str) -> Result<Report, Rejected> {
    if report.commit.as_deref() != Some(head) {
        return Err(Rejected::Commit);
    }
    bounded(&report)?;
    // An approval is read from GitHub, never from a file.
    let mut report = Report { authority: Authority::Advisory, approval: None, ..report };
    report.notes.insert(0, NOTICE.to_owned());
    Ok(report)
}

fn bounded(report: &Report) -> Result<(), Rejected> {
    let Report {
        tool_version,
        config,
        commit: _,
        base,
        tiers: _,
        authority: _,
        samples: _,
        started_at,
        finished_at,
        suites,
        verdict,
        not_gateable,
        called_off: _,
        golden_changes,
        approval: _,
        notes,
        usage,
    } = report;
    if !is_version(tool_version) {
        return Err(Rejected::Odd("a version"));
    }
    if base.as_ref().is_some_and(|base| !is_commit(base)) {
        return Err(Rejected::Odd("a base commit"));
    }
    text(config.as_ref().map_or("", RepoPath::as_str))?;
    text(started_at)?;
    text(finished_at)?;
    ruling(verdict)?;
    at_most("notes", NOTES, not_gateable.len())?;
    not_gateable.iter().try_for_each(|why| text(&why.0))?;
    at_most("notes", NOTES, golden_changes.len())?;
    golden_changes.iter().try_for_each(|change| text(&change.words))?;
    texts(notes)?;
    let RunUsage { calls, retries, cached, saved, input_tokens, output_tokens, cost_usd, wall_ms } = usage;
    if [calls, retries, cached, saved, input_tokens, output_tokens, wall_ms].into_iter().any(|count| *count > COUNT) {
        return Err(Rejected::Odd("a count"));
    }
    number(*cost_usd)?;
    at_most("suites", SUITES, suites.len())?;
    at_most("pairs", PAIRS, suites.iter().flat_map(|suite| &suite.agents).map(|agent| agent.cases.len()).sum())?;
    suites.iter().try_for_each(suite)
}

fn suite(report: &SuiteReport) -> Result<(), Rejected> {
    let SuiteReport { id, kind, tier: _, verdict, agents } = report;
    name(id.as_str())?;
    name(kind)?;
    ruling(verdict)?;
    at_most("agents in a suite", SUITES, agents.len())?;
    agents.iter().try_for_each(agent)
}

fn agent(report: &AgentReport) -> Result<(), Rejected> {
    let AgentReport {
        agent,
        verdict,
        identity,
        metrics,
        judges,
        reliability,
        cases,
        retired,
        removed,
        notes,
        taxonomy_before: _,
        infra_before: _,
    } = report;
    name(agent.as_str())?;
    ruling(verdict)?;
    let Identity { suite_digest, scorer, model, prompt_sha256, judge, samples: _, tier } = identity;
    [suite_digest, scorer, model, prompt_sha256, judge, tier].into_iter().flatten().try_for_each(|one| text(one))?;
    let passing = reliability.iter().flat_map(|one| std::iter::once(&one.majority).chain(&one.every));
    passing.map(|passing| passing.ci95).try_for_each(interval)?;
    at_most("metrics of an agent", METRICS, metrics.len())?;
    metrics.iter().try_for_each(metric)?;
    at_most("judges of an agent", METRICS, judges.len())?;
    judges.iter().try_for_each(of_judge)?;
    cases.iter().try_for_each(case)?;
    at_most("retired cases", PAIRS, retired.len())?;
    retired.iter().try_for_each(|(case, why)| name(case.as_str()).and_then(|()| text(why)))?;
    at_most("removed cases", PAIRS, removed.len())?;
    removed.iter().try_for_each(|case| name(case.as_str()))?;
    texts(notes)
}

fn metric(report: &MetricReport) -> Result<(), Rejected> {
    let MetricReport { name: metric, value, ci95, better: _, unit: _, aggregate, comparison, gates, verdict, evidence } =
        report;
    name(metric)?;
    name(aggregate)?;
    ruling(verdict)?;
    [*value, comparison.baseline, comparison.delta, comparison.detectable].into_iter().try_for_each(number)?;
    [*ci95, comparison.ci95].into_iter().try_for_each(interval)?;
    at_most("cases of a metric", CHECKS, evidence.cases.len())?;
    evidence.cases.iter().try_for_each(|evidence| {
        name(evidence.case.as_str())?;
        [evidence.value, evidence.baseline].into_iter().try_for_each(number)?;
        at_most("differences of a case", CHECKS, evidence.differences.len())?;
        evidence.differences.iter().try_for_each(|line| difference(&line.difference))
    })?;
    at_most("gates of a metric", METRICS, gates.len())?;
    gates.iter().try_for_each(|gate| {
        number(gate.threshold)?;
        number(Some(gate.zone))?;
        ruling(&gate.ruling)
    })
}

fn case(report: &CaseReport) -> Result<(), Rejected> {
    let CaseReport { pair, verdict, trend: _ } = report;
    name(pair.case.as_str())?;
    ruling(verdict)?;
    text(pair.golden.as_str())?;
    at_most("lost samples of a pair", CHECKS, pair.lost.len())?;
    pair.lost.iter().try_for_each(|lost| text(&lost.why.text()))?;
    if let Some(stated) = pair.quarantine.as_deref() {
        [&stated.owner, &stated.reason, &stated.expires].into_iter().try_for_each(|one| text(one))?;
    }
    at_most("judges of a pair", METRICS, pair.judged.len())?;
    pair.judged.iter().try_for_each(judged)?;
    pair.values.iter().try_for_each(|value| number(value.value))?;
    at_most("shortfalls of a pair", CHECKS, pair.shortfalls.len())?;
    pair.shortfalls.iter().try_for_each(|one| {
        at_most("metrics of a shortfall", METRICS, one.metrics.len())?;
        one.metrics.iter().try_for_each(|metric| name(metric))?;
        difference(&one.difference)
    })?;
    at_most("checks of a pair", CHECKS, pair.checks.len())?;
    pair.checks.iter().try_for_each(|check| {
        text(&check.name.to_string())?;
        check.expected.as_deref().map_or(Ok(()), text)?;
        check
            .failure
            .as_deref()
            .map_or(Ok(()), |failure| text(&failure.detail).and_then(|()| text(&failure.next_action)))
    })
}

fn difference(found: &Difference) -> Result<(), Rejected> {
    text(&found.expected).and_then(|()| text(&found.produced))
}

fn of_judge(report: &JudgeReport) -> Result<(), Rejected> {
    let JudgeReport { name: judge, identity, marks: _, unsettled: _, comparison, trust } = report;
    name(judge.as_str())?;
    identity.model.iter().chain([&identity.rubric_sha256]).try_for_each(|one| text(one))?;
    match comparison {
        JudgeComparison::Absent => {}
        JudgeComparison::Known { baseline, delta } => {
            [*baseline, *delta].into_iter().try_for_each(|one| number(Some(one)))?;
        }
        JudgeComparison::Incomparable(why) => text(why)?,
    }
    number(Some(trust.floor))?;
    trust.agreement.as_ref().map_or(Ok(()), |found| {
        [Some(found.observed), found.kappa, found.weighted, Some(found.base_rate), Some(found.constant.1)]
            .into_iter()
            .try_for_each(number)?;
        interval(found.interval)
    })
}

fn judged(pair: &PairJudged) -> Result<(), Rejected> {
    name(pair.judge.as_str())?;
    pair.model.iter().try_for_each(|one| text(one))?;
    at_most("samples of a pair", CHECKS, pair.samples.len())?;
    let opinions = pair.samples.iter().map(|sample| &sample.opinion).chain([&pair.opinion]);
    opinions.into_iter().try_for_each(|opinion| match opinion {
        JudgeConsensus::Settled(_) => Ok(()),
        JudgeConsensus::Unsettled(why) => text(why),
    })?;
    pair.samples.iter().try_for_each(|sample| {
        at_most("votes on a sample", CHECKS, sample.votes.len())?;
        sample.votes.iter().try_for_each(|vote| match vote {
            Vote::Given { reason: why, .. } | Vote::Missing(why) => text(why),
        })
    })
}

fn at_most(what: &'static str, limit: usize, count: usize) -> Result<(), Rejected> {
    if count > limit { Err(Rejected::Large(what, limit)) } else { Ok(()) }
}

fn name(found: &str) -> Result<(), Rejected> {
    // Such a name is a valid id, but GitHub would turn it into a link.
    if found.to_ascii_lowercase().contains("www.") {
        return Err(Rejected::Odd("a name"));
    }
    at_most("letters in a name", NAME, found.len())
}

fn text(found: &str) -> Result<(), Rejected> {
    at_most("letters in a text", TEXT, found.len())
}

fn texts(found: &[String]) -> Result<(), Rejected> {
    at_most("notes", NOTES, found.len())?;
    found.iter().try_for_each(|one| text(one))
}

fn ruling(found: &Ruling) -> Result<(), Rejected> {
    match found {
        Ruling::Judged(_) => Ok(()),
        Ruling::Skipped(why) | Ruling::Off(why) => text(why),
    }
}

fn interval(ends: Option<(f64, f64)>) -> Result<(), Rejected> {
    ends.map_or(Ok(()), |(low, high)| number(Some(low)).and_then(|()| number(Some(high))))
}

fn number(found: Option<f64>) -> Result<(), Rejected> {
    match found {
        Some(number) if number.is_nan() || number.abs() > NUMBER => Err(Rejected::Odd("a number")),
        Some(_) | None => Ok(()),
    }
}

fn is_commit(found: &str) -> bool {
    matches!(found.len(), 40 | 64) && found.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_version(found: &str) -> bool {
    // Semantic versions begin with a digit; other text could become a link or a reference.
    (1..=40).contains(&found.len())
        && found.starts_with(|first: char| first.is_ascii_digit())
        && found.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+'))
}

//! What judges say, in sentences and cells that several formats share. It is advice, and says so wherever it stands.

use super::certainty::Clean;
use super::words;
use crate::model::{
    AgentReport, Agreement, CaseReport, Exclusion, JudgeComparison, JudgeConsensus, JudgeReport, JudgeStanding, Mark,
    PairJudged, Report, SuiteReport, Trust, Unit, Vote, fixed_places, metric_value,
};

/// What stands in the place of a gate.
pub const ADVISORY: &str = "advisory";

/// How a judge's row is called among the metrics.
pub fn row_name(judge: &JudgeReport) -> String {
    format!("judge {}", judge.name)
}

/// What stands in the place of a verdict.
pub fn standing_word(judge: &JudgeReport) -> &'static str {
    match (judge.share(), judge.trust.standing) {
        (None, _) => "no votes",
        (Some(_), JudgeStanding::Recommends) => "recommends",
        (
            Some(_),
            JudgeStanding::NoLabels
            | JudgeStanding::TooFewLabels
            | JudgeStanding::NothingToTell
            | JudgeStanding::BelowFloor,
        ) => "not trusted yet",
    }
}

/// The baseline's share, this run's, and the difference.
pub fn numbers(judge: &JudgeReport) -> [Option<f64>; 3] {
    match judge.comparison {
        JudgeComparison::Known { baseline, delta } => [Some(baseline), judge.share(), Some(delta)],
        JudgeComparison::Absent | JudgeComparison::Incomparable(_) => [None, judge.share(), None],
    }
}

/// Cases that are named in one sentence; the rest is counted.
const NAMED: usize = 6;
/// Characters of a judge's reason that are shown.
const REASON: usize = 160;

/// Everything that judges say: what they found, whether they are to be listened to, and what they recommend.
pub fn judge_lines(report: &Report, clean: Clean) -> Vec<String> {
    report.suites.iter().flat_map(|suite| of_suite(suite, clean)).collect()
}

/// The same of one suite.
pub fn of_suite(suite: &SuiteReport, clean: Clean) -> Vec<String> {
    let mut sentences = Vec::new();
    for agent in &suite.agents {
        for judge in &agent.judges {
            sentences.push(found(suite, agent, judge, clean));
            if judge.trust.standing == JudgeStanding::Recommends {
                sentences.push(recommended(suite, agent, judge, clean));
            }
        }
    }
    // How far a judge agrees with people is one thing for all agents of the suite.
    for judge in suite.agents.first().into_iter().flat_map(|agent| &agent.judges) {
        sentences.push(trusted(suite, judge));
    }
    sentences
}

fn found(suite: &SuiteReport, agent: &AgentReport, judge: &JudgeReport, clean: Clean) -> String {
    let [fail, weak, pass] = judge.marks;
    let who = format!("{}/{}: judge {} ({ADVISORY})", suite.id, agent.agent, judge.name);
    let settled = words::plural((fail + weak + pass) as usize, "case", "cases");
    let mut said = format!("{who}: of {settled} {pass} pass, {weak} weak, {fail} fail");
    let open = opinions(agent, judge).filter_map(|(case, judged)| match &judged.opinion {
        JudgeConsensus::Unsettled(why) => Some(format!("{} ({})", case.pair.case, clean(why, REASON))),
        JudgeConsensus::Settled(_) => None,
    });
    let open = open.collect();
    if judge.unsettled > 0 {
        said.push_str(&format!("; {} cannot be told, which is no fail: {}", judge.unsettled, named(open)));
    }
    if let JudgeComparison::Incomparable(why) = &judge.comparison {
        said.push_str(&format!("; {}", clean(why, 300)));
    }
    said
}

fn recommended(suite: &SuiteReport, agent: &AgentReport, judge: &JudgeReport, clean: Clean) -> String {
    let who = format!("{}/{}: judge {} recommends", suite.id, agent.agent, judge.name);
    let looks: Vec<(&CaseReport, Mark, &PairJudged)> = opinions(agent, judge)
        .filter_map(|(case, judged)| Some((case, judged.opinion.mark()?, judged)))
        .filter(|(_, mark, _)| *mark != Mark::Pass)
        .collect();
    let fell = match judge.comparison {
        JudgeComparison::Known { baseline, delta } if delta < -5e-7 => {
            let shown = |value| metric_value(Unit::Share, Some(value));
            format!(
                "holding back, since the share of passes fell from {} to {}; ",
                shown(baseline),
                shown(baseline + delta)
            )
        }
        JudgeComparison::Known { .. } | JudgeComparison::Absent | JudgeComparison::Incomparable(_) => String::new(),
    };
    let Some((first, ..)) = looks.first() else { return format!("{who} {fell}nothing to look at") };
    let first = first.pair.case.clone();
    let cases = looks.iter().map(|(case, mark, judged)| {
        let why = reason(judged, *mark).map_or(String::new(), |why| format!(": {}", clean(why, REASON)));
        format!("{} ({}{why})", case.pair.case, mark.as_str())
    });
    format!("{who} {fell}a look at {}; next: `goldgate explain {first}`", named(cases.collect()))
}

/// A vote's reason for the mark that came out.
fn reason(judged: &PairJudged, wanted: Mark) -> Option<&str> {
    judged.samples.iter().flat_map(|sample| &sample.votes).find_map(|vote| match vote {
        Vote::Given { mark, reason } if *mark == wanted => Some(reason.as_str()),
        Vote::Given { .. } | Vote::Missing(_) => None,
    })
}

fn opinions<'a>(
    agent: &'a AgentReport,
    judge: &'a JudgeReport,
) -> impl Iterator<Item = (&'a CaseReport, &'a PairJudged)> {
    let counted = agent.cases.iter().filter(|case| case.pair.exclusion == Exclusion::Counted);
    counted.filter_map(|case| Some((case, case.pair.judged.iter().find(|judged| judged.judge == judge.name)?)))
}

fn named(mut all: Vec<String>) -> String {
    let more = all.len().saturating_sub(NAMED);
    all.truncate(NAMED);
    let rest = if more > 0 { format!(", … and {more} more") } else { String::new() };
    format!("{}{rest}", all.join(", "))
}

/// Whether a judge is to be listened to, and if not, what to do.
fn trusted(suite: &SuiteReport, judge: &JudgeReport) -> String {
    let Trust { agreement, stale, floor, standing } = &judge.trust;
    let label = format!("`goldgate label --suite {} --judge {}`", suite.id, judge.name);
    let floor = fixed_places(*floor, 2);
    let beside = agreement.as_ref().map_or(String::new(), |found| format!(" ({})", agreed(found)));
    let old = match stale {
        0 => String::new(),
        count => {
            let labels =
                words::plural(*count as usize, "label is on outputs that have", "labels are on outputs that have");
            format!("; {labels} changed since and not counted")
        }
    };
    let who = format!("judge {} of {}", judge.name, suite.id);
    let not = format!("{who} is not trusted yet, and recommends nothing");
    match standing {
        JudgeStanding::Recommends => {
            format!("{who} may recommend: its agreement with people is above {floor}{beside}{old}")
        }
        JudgeStanding::NoLabels => format!(
            "{not}: its config names no labels of people; add labels: FILE to the judge, then label 20 cases: {label}"
        ),
        JudgeStanding::TooFewLabels => format!("{not}: too few labels{beside}{old}; label 20 cases: {label}"),
        JudgeStanding::NothingToTell => {
            format!(
                "{not}: people and judge gave one mark throughout{beside}{old}; label cases that fail, too: {label}"
            )
        }
        JudgeStanding::BelowFloor => format!(
            "{not}: its agreement with people is not above {floor}{beside}{old}; sharpen its rubric, or label more cases: {label}"
        ),
    }
}

fn agreed(found: &Agreement) -> String {
    let share = |value| metric_value(Unit::Share, Some(value));
    let two = |value| fixed_places(value, 2);
    let kappa = match (found.kappa, found.interval) {
        (Some(kappa), Some((low, high))) => {
            format!("kappa {}, 95% interval {} to {}, ", two(kappa), two(low), two(high))
        }
        _ => String::new(),
    };
    format!(
        "{kappa}{}, base rate {}, always \"{}\" would be right in {}",
        words::plural(found.cases, "label", "labels"),
        share(found.base_rate),
        found.constant.0.as_str(),
        share(found.constant.1)
    )
}

/// The votes on a case, a line each.
pub fn of_case(case: &CaseReport, clean: Clean) -> Vec<String> {
    let mut lines = Vec::new();
    for judged in &case.pair.judged {
        lines.push(match &judged.opinion {
            JudgeConsensus::Settled(mark) => format!("{}: {}", judged.judge, mark.as_str()),
            JudgeConsensus::Unsettled(why) => format!("{}: cannot be told: {}", judged.judge, clean(why, 200)),
        });
        for (number, sample) in judged.samples.iter().enumerate() {
            lines.extend(sample.votes.iter().map(|vote| match vote {
                Vote::Given { mark, reason } => format!("  sample {number} {}: {}", mark.as_str(), clean(reason, 300)),
                Vote::Missing(why) => format!("  sample {number} no vote: {}", clean(why, 200)),
            }));
        }
    }
    lines
}

//! The results of LLM judges, in sentences and cells that several formats share. Every output marks them as advisory.

use super::certainty::Clean;
use super::words;
use crate::model::{
    AgentReport, Agreement, Exclusion, JudgeComparison, JudgeConsensus, JudgeReport, JudgeStanding,
    Mark, MarkCounts, PairJudged, PairResult, Report, SuiteReport, Trust, Unit, Vote, fixed_places,
    metric_value,
};

/// The text in the gate column.
pub const ADVISORY: &str = "advisory";

/// The name of a judge's row among the metrics.
pub fn row_name(judge: &JudgeReport) -> String {
    format!("judge {}", judge.name)
}

/// The text in the verdict column.
pub fn standing_word(judge: &JudgeReport) -> &'static str {
    match (judge.marks.share(), judge.trust.standing) {
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

/// The share of passes in the baseline and in this run, and the difference; each 0 to 1, `None` if unknown.
pub fn numbers(judge: &JudgeReport) -> [Option<f64>; 3] {
    match judge.comparison {
        JudgeComparison::Known { baseline, delta } => {
            [Some(baseline), judge.marks.share(), Some(delta)]
        }
        JudgeComparison::Absent | JudgeComparison::Incomparable(_) => {
            [None, judge.marks.share(), None]
        }
    }
}

/// The number of cases that one sentence names.
const NAMED: usize = 6;
/// The length of a judge's reason, in characters.
const REASON: usize = 160;

/// All sentences on judges: their marks, whether they are trusted, and what they recommend.
pub fn judge_lines(report: &Report, clean: Clean) -> Vec<String> {
    report
        .suites
        .iter()
        .flat_map(|suite| of_suite(suite, clean))
        .collect()
}

/// The same for one suite.
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
    // The agreement of a judge with people is the same for all agents of the suite.
    for judge in suite
        .agents
        .first()
        .into_iter()
        .flat_map(|agent| &agent.judges)
    {
        sentences.push(trusted(suite, judge));
    }
    sentences
}

fn found(suite: &SuiteReport, agent: &AgentReport, judge: &JudgeReport, clean: Clean) -> String {
    let MarkCounts([fail, weak, pass]) = judge.marks;
    let who = format!(
        "{}/{}: judge {} ({ADVISORY})",
        suite.id, agent.agent, judge.name
    );
    let settled = words::plural((fail + weak + pass) as usize, "case", "cases");
    let mut text = format!("{who}: of {settled}, {pass} pass, {weak} weak, {fail} fail");
    let open = opinions(agent, judge).filter_map(|(case, judged)| match &judged.opinion {
        JudgeConsensus::Unsettled(why) => Some(format!("{} ({})", case.case, clean(why, REASON))),
        JudgeConsensus::Settled(_) => None,
    });
    let open = open.collect();
    if judge.unsettled > 0 {
        text.push_str(&format!(
            "; {} undecided, which does not count as a fail: {}",
            judge.unsettled,
            named(open)
        ));
    }
    if let JudgeComparison::Incomparable(why) = &judge.comparison {
        text.push_str(&format!("; {}", clean(why, 300)));
    }
    text
}

fn recommended(
    suite: &SuiteReport,
    agent: &AgentReport,
    judge: &JudgeReport,
    clean: Clean,
) -> String {
    let who = format!(
        "{}/{}: judge {} recommends",
        suite.id, agent.agent, judge.name
    );
    let suspects: Vec<(&PairResult, Mark, &PairJudged)> = opinions(agent, judge)
        .filter_map(|(case, judged)| Some((case, judged.opinion.mark()?, judged)))
        .filter(|(_, mark, _)| *mark != Mark::Pass)
        .collect();
    let fell = match judge.comparison {
        JudgeComparison::Known { baseline, delta } if delta < -5e-7 => {
            format!(
                "not to merge, because the share of passes fell from {} to {}, and ",
                metric_value(Unit::Share, Some(baseline)),
                metric_value(Unit::Share, Some(baseline + delta))
            )
        }
        JudgeComparison::Known { .. }
        | JudgeComparison::Absent
        | JudgeComparison::Incomparable(_) => String::new(),
    };
    let Some((first, ..)) = suspects.first() else {
        return format!("{who} {fell}no case to review");
    };
    let first = first.case.clone();
    let cases = suspects.iter().map(|(case, mark, judged)| {
        let why =
            reason(judged, *mark).map_or(String::new(), |why| format!(": {}", clean(why, REASON)));
        format!("{} ({}{why})", case.case, mark.as_str())
    });
    format!(
        "{who} {fell}to review {}; next: `goldgate explain {first}`",
        named(cases.collect())
    )
}

/// The reason of a vote for this mark; `None` if there is none.
fn reason(judged: &PairJudged, expected: Mark) -> Option<&str> {
    judged
        .samples
        .iter()
        .flat_map(|sample| &sample.votes)
        .find_map(|vote| match vote {
            Vote::Given { mark, reason } if *mark == expected => Some(reason.as_str()),
            Vote::Given { .. } | Vote::Missing(_) => None,
        })
}

fn opinions<'a>(
    agent: &'a AgentReport,
    judge: &'a JudgeReport,
) -> impl Iterator<Item = (&'a PairResult, &'a PairJudged)> {
    let counted = agent
        .cases
        .iter()
        .filter(|case| case.exclusion == Exclusion::Counted);
    counted.filter_map(|case| {
        Some((
            case,
            case.judged
                .iter()
                .find(|judged| judged.judge == judge.name)?,
        ))
    })
}

fn named(mut all: Vec<String>) -> String {
    let more = all.len().saturating_sub(NAMED);
    all.truncate(NAMED);
    let rest = if more > 0 {
        format!(", … and {more} more")
    } else {
        String::new()
    };
    format!("{}{rest}", all.join(", "))
}

/// Whether a judge is trusted, and if not, what to do.
fn trusted(suite: &SuiteReport, judge: &JudgeReport) -> String {
    let Trust {
        agreement,
        stale,
        floor,
        standing,
    } = &judge.trust;
    let label = format!(
        "`goldgate label --suite {} --judge {}`",
        suite.id, judge.name
    );
    let floor = fixed_places(*floor, 2);
    let details = agreement.as_ref().map_or(String::new(), |agreement| {
        format!(" ({})", agreed(agreement))
    });
    let old = match stale {
        0 => String::new(),
        count => {
            let labels = words::plural(*count as usize, "label", "labels");
            format!("; {labels} not counted, because the outputs have changed")
        }
    };
    let who = format!("judge {} of {}", judge.name, suite.id);
    let not = format!("{who} is not trusted yet and recommends nothing");
    match standing {
        JudgeStanding::Recommends => {
            format!("{who} may recommend: its agreement with people is above {floor}{details}{old}")
        }
        JudgeStanding::NoLabels => format!(
            "{not}: the config has no human labels for it; add `labels: FILE` to the judge, then label 20 cases: {label}"
        ),
        JudgeStanding::TooFewLabels => {
            format!("{not}: too few labels{details}{old}; label 20 cases: {label}")
        }
        JudgeStanding::NothingToTell => {
            format!(
                "{not}: people and the judge used only one mark{details}{old}; label cases that fail, too: {label}"
            )
        }
        JudgeStanding::BelowFloor => format!(
            "{not}: its agreement with people is not above {floor}{details}{old}; improve its rubric, or label more cases: {label}"
        ),
    }
}

fn agreed(agreement: &Agreement) -> String {
    let kappa = match (agreement.kappa, agreement.interval) {
        (Some(kappa), Some((low, high))) => {
            format!(
                "kappa {}, 95% interval {} to {}, ",
                fixed_places(kappa, 2),
                fixed_places(low, 2),
                fixed_places(high, 2)
            )
        }
        _ => String::new(),
    };
    format!(
        "{kappa}{}, base rate {}, always \"{}\" would be right in {}",
        words::plural(agreement.cases, "label", "labels"),
        metric_value(Unit::Share, Some(agreement.base_rate)),
        agreement.constant.as_str(),
        metric_value(Unit::Share, Some(agreement.constant_right))
    )
}

/// The votes on a case, one per line.
pub fn of_case(case: &PairResult, clean: Clean) -> Vec<String> {
    let mut lines = Vec::new();
    for judged in &case.judged {
        lines.push(match &judged.opinion {
            JudgeConsensus::Settled(mark) => format!("{}: {}", judged.judge, mark.as_str()),
            JudgeConsensus::Unsettled(why) => {
                format!("{}: undecided: {}", judged.judge, clean(why, 200))
            }
        });
        for (number, sample) in judged.samples.iter().enumerate() {
            lines.extend(sample.votes.iter().map(|vote| match vote {
                Vote::Given { mark, reason } => format!(
                    "  sample {number} {}: {}",
                    mark.as_str(),
                    clean(reason, 300)
                ),
                Vote::Missing(why) => format!("  sample {number} no vote: {}", clean(why, 200)),
            }));
        }
    }
    lines
}

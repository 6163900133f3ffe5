//! The remarks of the report about an agent's pairs.

use crate::model::{Aggregate, Better, Exclusion, LogVerdict, MetricSpec, PairResult};
use crate::render::plural;
use crate::suites::Pair;
use crate::text::{first_of, line};

/// The most characters of a program's stderr that are shown.
const LAST_WORDS: usize = 200;

/// Returns the remarks on an agent's results; `own` are its pairs in the suite, `today` is the day of the run.
pub fn remarks(
    specs: &[MetricSpec],
    results: &[PairResult],
    pairs: &[&Pair],
    today: &str,
) -> Vec<String> {
    let failed_without_check = results
        .iter()
        .filter_map(|pair| failed_without_check(specs, pair));
    let ended = pairs.iter().filter_map(|pair| {
        let terms = &pair.quarantine.as_ref()?.terms;
        let (case, day) = (&pair.case, &terms.expires);
        (terms.expires.as_str() < today)
            .then(|| format!("the quarantine of {case} ended on {day}: the case counts again"))
    });
    failed_without_check
        .chain(ended)
        .chain(complaints(results))
        .chain(
            [LogVerdict::Pass, LogVerdict::Fail]
                .map(|log| other_than_logged(results, log))
                .into_iter()
                .flatten(),
        )
        .collect()
}

/// Explains a case that counts as failed although none of its checks does: different samples fail different checks.
fn failed_without_check(specs: &[MetricSpec], pair: &PairResult) -> Option<String> {
    let all_pass = pair.exclusion == Exclusion::Counted
        && pair.checks.iter().all(|check| check.standing.passes());
    let share = specs.iter().zip(&pair.values).find(|(spec, value)| {
        let fails = spec.better == Better::Higher && value.value.is_some_and(|value| value < 0.5);
        spec.aggregate == Aggregate::Rate && fails
    });
    let (spec, _) = share.filter(|_| all_pass && !pair.checks.is_empty())?;
    let (case, completed) = (&pair.case, pair.completed);
    let together = pair.passing.map_or(String::new(), |passing| {
        format!(", but all checks pass together only in {passing} of {completed}")
    });
    Some(format!(
        "{case} counts as failed in {}: each of its checks passes in most samples{together}",
        spec.name
    ))
}

/// Names the cases of which the log that they were imported from says this, and whose verdict is the other one.
fn other_than_logged(results: &[PairResult], log: LogVerdict) -> Option<String> {
    let others: Vec<&str> = results
        .iter()
        .filter(|pair| pair.logged == Some(log) && pair.completed > 0)
        .filter(|pair| pair.passed.passes() != (log == LogVerdict::Pass))
        .map(|pair| pair.case.as_str())
        .collect();
    let here = match log {
        LogVerdict::Pass => LogVerdict::Fail,
        LogVerdict::Fail => LogVerdict::Pass,
    };
    (!others.is_empty()).then(|| {
        let (log, here) = (log.as_str(), here.as_str());
        format!(
            "the log says {log} where this run says {here}: {}",
            first_of(&others)
        )
    })
}

/// Reports how many samples have stderr output, with the last line of the first one.
fn complaints(results: &[PairResult]) -> Option<String> {
    let mut outputs = results
        .iter()
        .flat_map(|pair| pair.complaints.iter().map(move |output| (pair, output)));
    let (pair, (sample, text)) = outputs.next()?;
    let count = plural(1 + outputs.count(), "sample", "samples");
    let last = text.lines().rev().find(|line| !line.trim().is_empty())?;
    Some(format!(
        "the agent wrote to stderr in {count}; for {} #{sample} the last line is: {}",
        pair.case,
        line(last, LAST_WORDS)
    ))
}

//! What the report says about an agent's pairs beside its numbers.

use crate::model::{Aggregate, Better, Exclusion, MetricSpec, PairResult};
use crate::render::plural;
use crate::suites::Pair;
use crate::text::line;

/// How many characters of what a program wrote to stderr are shown.
const LAST_WORDS: usize = 200;

/// The remarks on an agent's results; `own` are its pairs as the suite has them, `today` is the day of the run.
pub fn remarks(specs: &[MetricSpec], results: &[PairResult], own: &[&Pair], today: &str) -> Vec<String> {
    let torn = results.iter().filter_map(|pair| torn(specs, pair));
    let ended = own.iter().filter_map(|pair| {
        let terms = &pair.quarantine.as_ref()?.terms;
        let (case, day) = (&pair.case, &terms.expires);
        (terms.expires.as_str() < today).then(|| format!("the quarantine of {case} ended on {day}: it gates again"))
    });
    torn.chain(ended).chain(complaints(results)).collect()
}

/// That a case counts as failed and no check of it does: its samples fail by turns, or their mean does.
fn torn(specs: &[MetricSpec], pair: &PairResult) -> Option<String> {
    let all_hold = pair.exclusion == Exclusion::Counted && pair.checks.iter().all(|check| check.standing.passes());
    let share = specs.iter().zip(&pair.values).find(|(spec, value)| {
        let fails = spec.better == Better::Higher && value.value.is_some_and(|value| value < 0.5);
        spec.aggregate == Aggregate::Rate && fails
    });
    let (spec, _) = share.filter(|_| all_hold && !pair.checks.is_empty())?;
    let (case, completed) = (&pair.case, pair.completed);
    let together =
        pair.passing.map_or(String::new(), |passing| format!(", all of them together in {passing} of {completed}"));
    Some(format!("{case} counts as failed in {}: each of its checks holds in most samples{together}", spec.name))
}

/// How many samples an agent's program wrote to stderr about, and the end of what it wrote first.
fn complaints(results: &[PairResult]) -> Option<String> {
    let mut said = results.iter().flat_map(|pair| pair.complaints.iter().map(move |said| (pair, said)));
    let (pair, (sample, text)) = said.next()?;
    let count = plural(1 + said.count(), "sample", "samples");
    let last = text.lines().rev().find(|line| !line.trim().is_empty())?;
    Some(format!(
        "stderr was written to in {count}; of {} #{sample} it ends with: {}",
        pair.case,
        line(last, LAST_WORDS)
    ))
}

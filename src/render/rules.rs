//! The rules of the policy `regression` in words.

use super::number::p_in_percent;
use super::words;
use crate::model::{CaseEvidence, GateKind, GateRuling, MetricReport, NEWLY_FAILING, metric_value};
use crate::text::line;

/// The cases that a phrase names.
const NAMED: usize = 3;

/// The longest text on a case, in characters.
const CASE: usize = 300;

/// A failed rule in one phrase; `None` for every other gate.
pub fn failed_rule(metric: &MetricReport, gate: &GateRuling) -> Option<String> {
    if metric.name == NEWLY_FAILING {
        let cases = metric.evidence.cases.iter();
        let cases: Vec<&str> = cases.map(|evidence| evidence.case.as_str()).collect();
        let more = metric.evidence.more as usize;
        return (!cases.is_empty()).then(|| named(&cases, more, "newly failing"));
    }
    match gate.gate {
        GateKind::Test => {
            let p = metric.value?;
            let limit = gate.threshold?;
            Some(format!(
                "{} (limit {}): had nothing changed, a result this bad or worse would come in {}",
                p_is(p, limit),
                metric_value(metric.unit, Some(limit)),
                re_recordings(p)
            ))
        }
        GateKind::Lost => {
            // A case that is asked about has no value yet.
            let (lost, asked): (Vec<&CaseEvidence>, Vec<&CaseEvidence>) = metric
                .evidence
                .cases
                .iter()
                .partition(|evidence| evidence.value.is_some());
            let more = metric.evidence.more as usize;
            let mut phrases = Vec::new();
            if !lost.is_empty() {
                let more = if asked.is_empty() { more } else { 0 };
                phrases.push(with_cases(&lost, more, "case lost"));
            }
            if !asked.is_empty() {
                phrases.push(with_cases(&asked, more, "case may be lost"));
            }
            Some(phrases.join("; "))
        }
        GateKind::Never => {
            let cases: Vec<&CaseEvidence> = metric.evidence.cases.iter().collect();
            let more = metric.evidence.more as usize;
            Some(with_cases(&cases, more, "does what it never should"))
        }
        GateKind::Floor => {
            let floor = metric_value(metric.unit, gate.threshold);
            let value = words::value(metric);
            Some(format!("pass rate {value}, needs {floor}"))
        }
        GateKind::Min | GateKind::Max | GateKind::MaxDrop | GateKind::MaxRise => None,
    }
}

/// A p in words: `p = 1.5%`.
fn p_is(p: f64, limit: f64) -> String {
    let text = p_in_percent(p, limit);
    match text.strip_prefix('<') {
        Some(border) => format!("p < {border}"),
        None => format!("p = {text}"),
    }
}

/// The cases of a rule, each with what was expected and what came; `more` are not listed.
fn with_cases(cases: &[&CaseEvidence], more: usize, title: &str) -> String {
    let shown: Vec<String> = cases.iter().map(|case| case_words(case)).collect();
    let shown: Vec<&str> = shown.iter().map(String::as_str).collect();
    named(&shown, more, title)
}

fn case_words(evidence: &CaseEvidence) -> String {
    let case = line(evidence.case.as_str(), words::NAME);
    match evidence.differences.first() {
        Some(first) => format!(
            "{case} ({}, {})",
            first.difference.expected, first.difference.produced
        ),
        None => case,
    }
}

/// The first texts of a list with `more` that it does not have.
fn named(all: &[&str], more: usize, title: &str) -> String {
    let shown: Vec<String> = all
        .iter()
        .take(NAMED)
        .map(|text| line(text, CASE))
        .collect();
    let more = match (all.len() + more).saturating_sub(shown.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{title}: {}{more}", shown.join(", "))
}

/// How many of a round number of re-recordings a probability is.
fn re_recordings(p: f64) -> String {
    let scales = [
        (0.1, 100.0, "100"),
        (0.001, 1_000.0, "1,000"),
        (0.0001, 10_000.0, "10,000"),
    ];
    for (least, all, shown) in scales {
        if p >= least {
            return format!("about {:.0} of {shown} re-recordings", p * all);
        }
    }
    "fewer than 1 of 10,000 re-recordings".to_owned()
}

#[cfg(test)]
mod tests {
    use super::re_recordings;
    use crate::render::number::p_in_percent;

    #[test]
    fn a_probability_has_the_digits_that_tell_it_from_its_limit() {
        assert_eq!(p_in_percent(0.003, 0.05), "0.3%");
        assert_eq!(p_in_percent(0.41, 0.05), "41%");
        assert_eq!(p_in_percent(0.0499, 0.05), "4.99%");
        assert_eq!(p_in_percent(0.05, 0.05), "5.0%");
        assert_eq!(p_in_percent(1e-9, 0.05), "<0.1%");
        assert_eq!(re_recordings(0.003), "about 3 of 1,000 re-recordings");
        assert_eq!(re_recordings(0.41), "about 41 of 100 re-recordings");
        assert_eq!(re_recordings(1e-7), "fewer than 1 of 10,000 re-recordings");
    }
}

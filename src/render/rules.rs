//! The rules of the policy `regression` in words.

use super::words;
use crate::model::{CaseEvidence, GateKind, GateRuling, MetricReport, metric_value};
use crate::text::line;

/// The cases that a phrase names.
const NAMED: usize = 3;

/// A failed rule in one phrase; `None` for every other gate.
pub fn failed_rule(metric: &MetricReport, gate: &GateRuling) -> Option<String> {
    match gate.gate {
        GateKind::Test => {
            let p = metric.value?;
            let limit = gate.threshold?;
            Some(format!(
                "p = {}: had nothing changed, a result this bad or worse would come in {}; limit {}",
                p_in_percent(p, limit),
                re_recordings(p),
                metric_value(metric.unit, Some(limit))
            ))
        }
        GateKind::Lost => Some(with_cases(
            metric,
            "case lost",
            "cases lost or to be recorded again",
        )),
        GateKind::Never => Some(with_cases(metric, "never allowed", "never allowed")),
        GateKind::Floor => {
            let floor = metric_value(metric.unit, gate.threshold);
            let value = words::value(metric);
            Some(format!("pass rate {value}, needs {floor}"))
        }
        GateKind::Min | GateKind::Max | GateKind::MaxDrop | GateKind::MaxRise => None,
    }
}

/// The cases of a rule, each with what was expected and what came.
fn with_cases(metric: &MetricReport, one: &str, several: &str) -> String {
    let cases = &metric.evidence.cases;
    let of = |evidence: &CaseEvidence| {
        let case = line(evidence.case.as_str(), words::NAME);
        match evidence.differences.first() {
            Some(first) => format!(
                "{case} ({}, {})",
                first.difference.expected, first.difference.produced
            ),
            None => case,
        }
    };
    let named: Vec<String> = cases.iter().take(NAMED).map(of).collect();
    let all = cases.len() + metric.evidence.more as usize;
    let what = if all == 1 { one } else { several };
    let more = match all.saturating_sub(named.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{what}: {}{more}", named.join(", "))
}

/// A probability in percent, with as many digits as tell it from the limit.
pub fn p_in_percent(p: f64, limit: f64) -> String {
    let percent = |value: f64, places: usize| format!("{:.places$}", value * 100.0);
    let first = if p >= 0.1 { 0 } else { 1 };
    let places = (first..6)
        .find(|places| p == limit || percent(p, *places) != percent(limit, *places))
        .unwrap_or(6);
    if p > 0.0 && percent(p, places).parse::<f64>() == Ok(0.0) {
        return "<0.1%".to_owned();
    }
    format!("{}%", percent(p, places))
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
    use super::{p_in_percent, re_recordings};

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

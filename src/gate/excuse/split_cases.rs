//! Splits the cases of a change into those that the branch has in the same way, and the rest.

use std::collections::BTreeMap;

use super::base_measurement::BaseMeasurement;
use super::not_excused::NotExcused;
use crate::fold;
use crate::gate::compare::{
    ComparedPair, GateInput, GateOutcome, QuarantineHistory, agent, is_strict, more_parts,
};
use crate::model::{
    BaselineEntry, CaseId, EPSILON, Exclusion, GateKind, GateRuling, Identity, MetricSpec,
    PairResult, Ruling, Verdict,
};

/// The counted cases of a change, for one metric.
pub(super) struct SplitCases<'a> {
    /// The cases that both measured alike: the result here, and the one on the branch.
    shared: Vec<[ComparedPair<'a>; 2]>,
    /// The cases that the branch does not excuse: it does not have them in this way, or they are or were in quarantine there or
    /// here, so that nobody judged their value on the branch.
    rest: Vec<ComparedPair<'a>>,
    /// The columns of the values that the metric consists of.
    columns: Vec<usize>,
}

impl<'a> SplitCases<'a> {
    /// Splits the cases for the metric at `index`.
    pub(super) fn of(judged: &GateInput<'a>, base: &BaseMeasurement<'a>, index: usize) -> Self {
        let columns = columns(judged, index);
        let is_scored_alike = is_scored_alike(judged, base);
        let on_branch: BTreeMap<&CaseId, &ComparedPair<'a>> = base
            .pairs
            .iter()
            .map(|pair| (&pair.result.case, pair))
            .collect();
        let (mut shared, mut rest) = (Vec::new(), Vec::new());
        for pair in judged
            .pairs
            .iter()
            .filter(|pair| pair.result.exclusion == Exclusion::Counted)
        {
            let own = on_branch
                .get(&pair.result.case)
                .filter(|own| is_scored_alike && is_measured_alike(pair, own, &columns));
            match own {
                Some(own) => shared.push([*pair, **own]),
                None => rest.push(*pair),
            }
        }
        Self {
            shared,
            rest,
            columns,
        }
    }

    /// Whether no case can be compared with the branch.
    pub(super) fn is_empty(&self) -> bool {
        self.shared.is_empty()
    }

    /// The results of the branch for the cases that both measured alike.
    pub(super) fn on_branch(&self) -> impl Iterator<Item = &'a PairResult> + Clone {
        self.shared.iter().map(|[_, own]| own.result)
    }

    /// The gates of the change, evaluated on the branch's values of these cases.
    pub(super) fn branch_outcome(
        &self,
        judged: &GateInput<'_>,
        identity: &Identity,
    ) -> GateOutcome {
        let pairs: Vec<ComparedPair<'_>> = self.shared.iter().map(|[_, own]| *own).collect();
        agent(&GateInput {
            pairs: &pairs,
            identity,
            ..*judged
        })
    }

    /// Why the branch does not excuse a gate of the metric; `None` if it does. `at` is the metric and its gate.
    ///
    /// No tolerance applies to the value over all cases, because steps within a tolerance would add up. A single case may be worse by
    /// as much as the gate tolerates in total.
    pub(super) fn refusal(
        &self,
        judged: &GateInput<'_>,
        gate: &GateRuling,
        (metric, index): (usize, usize),
    ) -> Option<NotExcused> {
        let worse: Vec<CaseId> = self
            .worse(gate, &judged.metrics[metric].spec)
            .map(|pair| pair.result.case.clone())
            .collect();
        if !worse.is_empty() {
            return Some(NotExcused::Worse(worse));
        }
        if self.is_worse_in_total(judged, metric, gate.gate) {
            return Some(NotExcused::WorseInTotal);
        }
        match self.rest_ruling(judged, gate, (metric, index)) {
            Ruling::Judged(Verdict::Inconclusive | Verdict::Fail) => Some(NotExcused::OnTheirOwn(
                self.rest
                    .iter()
                    .map(|pair| pair.result.case.clone())
                    .collect(),
            )),
            Ruling::Judged(Verdict::Pass) | Ruling::Skipped(_) | Ruling::Off(_) => None,
        }
    }

    /// The cases that are worse than on the branch by more than the gate tolerates.
    fn worse(
        &self,
        gate: &GateRuling,
        spec: &MetricSpec,
    ) -> impl Iterator<Item = &ComparedPair<'a>> {
        let tolerance = match gate.gate {
            GateKind::Min | GateKind::Max => gate.zone,
            GateKind::MaxDrop | GateKind::MaxRise => gate.threshold.unwrap_or_default(),
        };
        let is_worse = move |[now, own]: &[ComparedPair<'a>; 2]| {
            let of = |pair: &ComparedPair<'_>, column: usize| pair.result.values[column].value;
            let has_more =
                is_strict(gate) && !more_parts(now.result, &own.result.parts, spec).is_empty();
            has_more
                || self.columns.iter().any(|column| {
                    is_lower(gate.gate, [of(now, *column), of(own, *column)], tolerance)
                })
        };
        self.shared
            .iter()
            .filter(move |pair| is_worse(pair))
            .map(|[now, _]| now)
    }

    /// Whether the value is worse than the branch's: over all cases, over those in the baseline, or over the others.
    fn is_worse_in_total(&self, judged: &GateInput<'_>, metric: usize, gate: GateKind) -> bool {
        let known = |case: &CaseId| is_known(judged.before, case);
        let specs = judged.specs();
        let groups: [&dyn Fn(&CaseId) -> bool; 3] = [&|_| true, &known, &|case| !known(case)];
        groups.into_iter().any(|group| {
            let pairs: Vec<_> = self
                .shared
                .iter()
                .filter(|[now, _]| group(&now.result.case))
                .collect();
            let value = |side: usize| {
                let cell = |row: usize, column: usize| pairs[row][side].result.values[column].value;
                fold::aggregates(&specs, pairs.len(), cell)
                    .get(metric)
                    .copied()
                    .flatten()
            };
            is_lower(gate, [value(0), value(1)], 0.0)
        })
    }

    /// The gate on the cases that the branch does not excuse.
    fn rest_ruling(
        &self,
        judged: &GateInput<'_>,
        gate: &GateRuling,
        (metric, index): (usize, usize),
    ) -> Ruling {
        let any_known = self
            .rest
            .iter()
            .any(|pair| is_known(judged.before, &pair.result.case));
        match gate.gate {
            GateKind::MaxDrop | GateKind::MaxRise if !any_known => Ruling::Judged(Verdict::Pass),
            _ if self.rest.is_empty() => Ruling::Judged(Verdict::Pass),
            GateKind::Min | GateKind::Max | GateKind::MaxDrop | GateKind::MaxRise => {
                let outcome = agent(&GateInput {
                    pairs: &self.rest,
                    ..*judged
                });
                outcome.metrics[metric].gates[index].ruling.clone()
            }
        }
    }
}

/// The columns of the values that a metric consists of: its own, or those of the two metrics that it is the harmonic mean of.
fn columns(judged: &GateInput<'_>, index: usize) -> Vec<usize> {
    match judged.metrics[index].spec.aggregate.parts() {
        Some(parts) => {
            let of = |name| {
                judged
                    .metrics
                    .iter()
                    .position(|metric| metric.spec.name == name)
            };
            parts.into_iter().filter_map(of).collect()
        }
        None => vec![index],
    }
}

/// Whether the numbers of both have the same meaning.
pub(in crate::gate) fn is_scored_alike(judged: &GateInput<'_>, base: &BaseMeasurement<'_>) -> bool {
    let scored = |identity: &Identity| {
        let Identity {
            suite_digest: _,
            scorer,
            model: _,
            agent_sha256: _,
            judge,
            samples: _,
            tier,
        } = identity;
        (scorer.clone(), judge.clone(), tier.clone())
    };
    judged.identity.scorer.is_some() && scored(judged.identity) == scored(base.identity)
}

/// Whether a case was measured on the branch like here: with the same expectations, from recordings of its agent, and never in
/// quarantine. The branch has a value wherever the change has one. The number of samples may differ, as for the baseline: otherwise a
/// change could take a case out of the comparison by recording it less often.
fn is_measured_alike(pair: &ComparedPair<'_>, own: &ComparedPair<'_>, columns: &[usize]) -> bool {
    let (now, before) = (pair.result, own.result);
    before.exclusion == Exclusion::Counted
        && pair.expectation == own.expectation
        && [pair.quarantine, own.quarantine] == [QuarantineHistory::Never; 2]
        && now.values.len() == before.values.len()
        && columns.iter().all(|column| {
            now.values[*column].value.is_none() || before.values[*column].value.is_some()
        })
}

/// Whether a value is worse than the branch's by more than the tolerance, for a gate of this kind. A lost value is worse.
fn is_lower(gate: GateKind, [now, own]: [Option<f64>; 2], tolerance: f64) -> bool {
    match (now, own, gate) {
        (None, None, _) => false,
        (Some(_), None, _) | (None, Some(_), _) => true,
        (Some(now), Some(own), GateKind::Min | GateKind::MaxDrop) => {
            now < own - tolerance - EPSILON
        }
        (Some(now), Some(own), GateKind::Max | GateKind::MaxRise) => {
            now > own + tolerance + EPSILON
        }
    }
}

fn is_known(before: Option<&BaselineEntry>, case: &CaseId) -> bool {
    before.is_some_and(|entry| entry.last_values(case).is_some())
}

//! Whether the samples of a run replace those of a baseline: chance does not move it.

use std::collections::BTreeSet;

use super::policy::{CaseReference, reference_of, sample, sampled};
use crate::chance::{BETTER, CaseSamples, RegressionInput, regression, samples_to_lose};
use crate::model::{AgentReport, Alpha, BaselineEntry, CaseId, EPSILON, Exclusion};

/// What a run is to the samples of a baseline.
#[derive(Debug, Clone, PartialEq)]
pub enum SamplesMove {
    /// Better by the test.
    Better,
    /// Worse by a rule of the policy `regression`.
    Worse,
    /// Neither, by chance; these cases were always wrong, and are right now.
    Same { corrected: BTreeSet<CaseId> },
}

/// Compares the samples of an agent's run with those of a baseline. `cases` is the number of cases of the whole run.
pub fn samples_move(entry: &BaselineEntry, agent: &AgentReport, cases: usize) -> SamplesMove {
    let policy = agent.policy.as_deref();
    let alpha = policy
        .and_then(|policy| policy.limit.or(policy.alpha))
        .unwrap_or(Alpha::default().share());
    let count = policy.map_or(0, |policy| policy.samples as usize);
    let mut compared: Vec<(&CaseId, CaseSamples)> = Vec::new();
    for pair in agent
        .cases
        .iter()
        .filter(|pair| pair.exclusion == Exclusion::Counted)
    {
        if let CaseReference::Baseline(known) = reference_of(Some(entry), pair) {
            let samples = CaseSamples {
                reference: sampled(known, known.scores.len()),
                run: pair.scored.iter().map(sample).collect(),
            };
            compared.push((&pair.case, samples));
        }
    }
    let all: Vec<CaseSamples> = compared
        .iter()
        .map(|(_, samples)| samples.clone())
        .collect();
    let input = RegressionInput {
        samples: count,
        cases,
        floor: None,
    };
    let outcome = regression(&all, &input);
    let is_worse = outcome.p.is_some_and(|p| p <= alpha + EPSILON)
        || !outcome.lost.is_empty()
        || !outcome.asked.is_empty()
        || outcome.has_collapsed();
    if is_worse {
        return SamplesMove::Worse;
    }
    if outcome.p.is_some_and(|p| p >= BETTER) {
        return SamplesMove::Better;
    }
    let mut corrected = BTreeSet::new();
    for (case, samples) in &compared {
        if is_corrected(samples, cases) {
            corrected.insert((*case).clone());
        }
    }
    SamplesMove::Same { corrected }
}

/// Whether a case whose samples all failed now passes in enough samples.
fn is_corrected(samples: &CaseSamples, cases: usize) -> bool {
    let CaseSamples { reference, run } = samples;
    !reference.is_empty()
        && reference.iter().all(|sample| !sample.passes)
        && run.iter().all(|sample| sample.passes)
        && run.len() >= samples_to_lose(reference.len(), cases)
}

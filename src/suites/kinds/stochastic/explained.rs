//! Explains the means of a scenario's runs, and what each run lacks.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::StochasticScenario;
use super::facts::{Fact, fact_scores};
use super::thresholds::{ComparedValues, Thresholds};
use crate::model::{CaseId, Difference, PairResult, PairValue, Run, Shortfall, Shortfalls};
use crate::suites::shared::atoms::{Atom, produced};
use crate::suites::shared::case_table::CaseTable;
use crate::text::line;

/// The values of a scenario that are compared with its thresholds.
pub(super) struct ScenarioMeans<'a> {
    pub precision: &'a PairValue,
    pub recall: &'a PairValue,
    /// Without a value if the scenario has no minimum of the rubric.
    pub rubric: &'a PairValue,
    pub thresholds: Thresholds,
}

impl ScenarioMeans<'_> {
    /// How many samples reach all thresholds.
    fn reaching(&self) -> usize {
        let mut reaching = 0;
        for index in 0..self.precision.samples.len() {
            let (Some(precision), Some(recall)) = (
                value_of_sample(self.precision, index),
                value_of_sample(self.recall, index),
            ) else {
                continue;
            };
            let values = ComparedValues {
                precision,
                recall,
                rubric: value_of_sample(self.rubric, index),
            };
            reaching += usize::from(values.reach(self.thresholds));
        }
        reaching
    }
}

impl StochasticScenario {
    /// The persona of each case: it is part of the case's identity, and shows readers how the inputs differ.
    pub(super) fn personas(table: &CaseTable<Self>, pairs: &[PairResult]) -> Vec<String> {
        let cases: BTreeSet<&CaseId> = pairs.iter().map(|pair| &pair.case).collect();
        let mut spoken: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for pair in table
            .pairs
            .counted
            .iter()
            .filter(|pair| cases.contains(&pair.case))
        {
            if let Some(persona) = table.case(pair).persona.as_deref() {
                spoken
                    .entry(persona)
                    .or_default()
                    .insert(pair.case.as_str());
            }
        }
        let mut lines = Vec::with_capacity(spoken.len());
        for (persona, cases) in spoken {
            let cases: Vec<&str> = cases.into_iter().collect();
            lines.push(format!("persona {persona}: {}", cases.join(", ")));
        }
        lines
    }

    /// The means of all completed runs with their thresholds, and the facts that were not found.
    pub(super) fn means(&self, means: &ScenarioMeans<'_>, samples: &[Vec<Run>]) -> String {
        let runs: Vec<Vec<f64>> = samples
            .iter()
            .flatten()
            .map(|run| fact_scores(self.pairs, &self.facts, &produced(run).0.atoms))
            .collect();
        let mut lost: Vec<(usize, &str)> = Vec::new();
        for (index, fact) in self.facts.iter().enumerate() {
            let missed = runs.iter().filter(|scores| scores[index] < 1.0).count();
            if missed > 0 {
                lost.push((missed, fact.text.as_str()));
            }
        }
        // The sort is stable: on a tie the order of the case decides.
        lost.sort_by_key(|(missed, _)| Reverse(*missed));
        let lost: Vec<String> = lost
            .into_iter()
            .map(|(missed, fact)| format!("{fact} (in {missed} of {} samples)", runs.len()))
            .collect();
        let Thresholds {
            precision,
            recall,
            rubric,
        } = means.thresholds;
        let parts = [
            Some(format!(
                "{} of {} samples reach {} thresholds",
                means.reaching(),
                runs.len(),
                if rubric.is_some() { "all" } else { "both" },
            )),
            Some(mean_and_samples(means.recall, "recall", recall)),
            Some(mean_and_samples(means.precision, "precision", precision)),
            rubric.map(|rubric| mean_and_samples(means.rubric, "rubric", rubric)),
            (!lost.is_empty()).then(|| format!("facts not fully found: {}", lost.join("; "))),
            self.persona
                .as_ref()
                .map(|persona| format!("persona {persona}")),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    /// Losses of precision and recall in one run: facts not fully found, surplus atoms, and atoms of what is not decided.
    pub(super) fn shortfalls<'a>(
        &self,
        scores: &[f64],
        atoms: usize,
        undecided: impl Iterator<Item = (&'a Fact, &'a Atom)>,
    ) -> Vec<Shortfall> {
        let mut shortfalls = Shortfalls::default();
        for (fact, score) in self
            .facts
            .iter()
            .zip(scores)
            .filter(|(_, score)| **score < 1.0)
        {
            shortfalls.add(&["precision", "recall", "f1"], || {
                let how = if *score > 0.0 {
                    "found in part: one keyword of several"
                } else {
                    "not found"
                };
                Difference {
                    line: 1,
                    expected: format!("the fact \"{}\"", line(&fact.text, 200)),
                    produced: how.to_owned(),
                }
            });
        }
        if atoms > self.facts.len() {
            shortfalls.add(&["precision", "f1"], || Difference {
                line: 1,
                expected: format!("atoms: {}, one for each fact", self.facts.len()),
                produced: format!("atoms: {atoms}"),
            });
        }
        for (fact, atom) in undecided {
            shortfalls.add(&["precision", "f1"], || Difference {
                line: 1,
                expected: format!(
                    "no atom of \"{}\", which is not decided",
                    line(&fact.text, 200)
                ),
                produced: format!("\"{}\"", line(&atom.title, 120)),
            });
        }
        shortfalls.into()
    }
}

fn value_of_sample(metric: &PairValue, index: usize) -> Option<f64> {
    metric.samples.get(index).copied().flatten()
}

/// The mean of a metric, the least that it needs, and its value for each sample.
fn mean_and_samples(metric: &PairValue, name: &str, least: f64) -> String {
    let by_sample: Vec<String> = metric
        .samples
        .iter()
        .flatten()
        .map(|value| format!("{value:.2}"))
        .collect();
    let mean = metric
        .value
        .map_or("–".to_owned(), |mean| format!("{mean:.2}"));
    format!(
        "mean {name} {mean}, needs {least} (by sample: {})",
        by_sample.join(" ")
    )
}

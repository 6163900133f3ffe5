//! Explains the means of a scenario's runs, and what each run lacks.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::{StochasticScenario, ThresholdForm, score};
use crate::model::{
    CaseId, Difference, PairResult, PairValue, Run, Shortfall, Shortfalls, reaches,
};
use crate::suites::shared::atoms::{Atom, produced};
use crate::suites::shared::case_table::CaseTable;
use crate::text::line;

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
        let named = |cases: BTreeSet<&str>| cases.into_iter().collect::<Vec<_>>().join(", ");
        spoken
            .into_iter()
            .map(|(persona, cases)| format!("persona {persona}: {}", named(cases)))
            .collect()
    }

    /// The means of all completed runs with their thresholds, and the facts that were not found.
    pub(super) fn means(
        &self,
        precision: &PairValue,
        recall: &PairValue,
        samples: &[Vec<Run>],
    ) -> String {
        let of_metric = |metric: &PairValue, name: &str, enough: f64| {
            let by_run: Vec<String> = metric
                .samples
                .iter()
                .flatten()
                .map(|one| format!("{one:.2}"))
                .collect();
            let mean = metric
                .value
                .map_or("–".to_owned(), |mean| format!("{mean:.2}"));
            format!(
                "mean {name} {mean}, needs {enough} (by sample: {})",
                by_run.join(" ")
            )
        };
        let runs: Vec<Vec<Atom>> = samples
            .iter()
            .flatten()
            .map(|run| produced(run).0.atoms)
            .collect();
        let missed = |set: &Vec<_>| runs.iter().filter(|atoms| score(set, atoms) < 1.0).count();
        let mut lost: Vec<(usize, &str)> = self
            .facts
            .iter()
            .zip(&self.sets)
            .map(|(fact, set)| (missed(set), fact.as_str()))
            .filter(|(missed, _)| *missed > 0)
            .collect();
        // The sort is stable: on a tie the order of the case decides.
        lost.sort_by_key(|(missed, _)| Reverse(*missed));
        let lost: Vec<String> = lost
            .into_iter()
            .map(|(missed, fact)| format!("{fact} (in {missed} of {} samples)", runs.len()))
            .collect();
        let by_run = precision
            .samples
            .iter()
            .flatten()
            .zip(recall.samples.iter().flatten());
        let ThresholdForm {
            precision: enough_precise,
            recall: enough_found,
        } = self.thresholds;
        let both = |(one, other): &(&f64, &f64)| {
            reaches(**one, enough_precise) && reaches(**other, enough_found)
        };
        let reaching = by_run.filter(both).count();
        let parts = [
            Some(format!(
                "{reaching} of {} samples reach both thresholds",
                runs.len()
            )),
            Some(of_metric(recall, "recall", self.thresholds.recall)),
            Some(of_metric(precision, "precision", self.thresholds.precision)),
            (!lost.is_empty()).then(|| format!("facts not fully found: {}", lost.join("; "))),
            self.persona
                .as_ref()
                .map(|persona| format!("persona {persona}")),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    /// Losses of precision and recall in one run: facts not fully found, and surplus atoms.
    pub(super) fn shortfalls(&self, scores: &[f64], atoms: usize) -> Vec<Shortfall> {
        let mut found = Shortfalls::default();
        for (fact, score) in self
            .facts
            .iter()
            .zip(scores)
            .filter(|(_, score)| **score < 1.0)
        {
            found.add(&["precision", "recall", "f1"], || {
                let how = if *score > 0.0 {
                    "found in part: one keyword of several"
                } else {
                    "not found"
                };
                Difference {
                    line: 1,
                    expected: format!("the fact \"{}\"", line(fact, 200)),
                    produced: how.to_owned(),
                }
            });
        }
        if atoms > self.facts.len() {
            found.add(&["precision", "f1"], || Difference {
                line: 1,
                expected: format!("atoms: {}, one for each fact", self.facts.len()),
                produced: format!("atoms: {atoms}"),
            });
        }
        found.into()
    }
}

//! Kind `stochastic`: how much an agent's answers vary when the same question is repeated.

mod explained;
mod facts;
mod scenario;
mod settings;
mod thresholds;
mod whole;

use std::collections::BTreeSet;

use self::explained::ScenarioMeans;
use self::facts::{fact_scores, matching_atom};
use self::scenario::{Reference, StochasticScenario, StochasticScenarioForm, read_scenario};
use self::settings::StochasticSettings;
use self::thresholds::{ComparedValues, Thresholds};
use self::whole::{are_identical, set, variance};
use crate::diag::{Diagnostic, Diagnostics};
use crate::files::Files;
use crate::model::{
    Ask, Better, Check, Gate, Grade, MetricSpec, PairResult, PairValue, Ruling, Run, RunKey,
    SampleFold, SuiteConfig, Unit, all_hold, harmonic, indicator,
};
use crate::suites::GradeContext;
use crate::suites::kind::{
    AgentPolicy, CasePairs, FixtureFolder, GoldenForm, LegacyOutput, Pair, RunCaching, SampleScore,
    Sampling, SeedGates, Suite, SuiteKind,
};
use crate::suites::settings::SettingsSpec;
use crate::suites::shared::answer::text::AnswerOutput;
use crate::suites::shared::atoms::{ATOMS, ATOMS_FIELDS, produced};
use crate::suites::shared::case_frame::Framed;
use crate::suites::shared::case_keys::DescriptionKeys;
use crate::suites::shared::case_table::CaseTable;
use crate::suites::shared::client::{Client, Opening};
use crate::suites::shared::every_kind::CASE_PASS_RATE;
use crate::suites::shared::failure_classifier::{CheckFailure, FailureClassifier};
use crate::suites::shared::folder::{case_folder, open_cases};
use crate::suites::shared::own_metrics::{ByMetric, metrics, values_of_sample};
use crate::suites::shared::rubric::{
    EDGE_CASE, Scores, VAGUE, WHOLE_RUBRIC, scores as rubric_scores, unmeasured,
};
use crate::suites::shared::terms::TermList;

pub const KIND: SuiteKind = SuiteKind {
    name: "stochastic",
    scorer: "stochastic/1",
    metrics: StochasticMetrics::TABLE,
    family: None,
    agents: AgentPolicy::Named,
    score: SampleScore::Value("f1", 1.0),
    never: &[],
    seed_gates: SeedGates::Stated,
    sampling: Sampling::Sampled,
    settings: SettingsSpec::of::<StochasticSettings>(),
    legacy_output: LegacyOutput::Evaluations,
    fixtures: FixtureFolder::InSuite,
    label_dimensions: &[],
    terms: &[VAGUE, EDGE_CASE],
    meaning: "agents that are asked the same several times: how many facts they find, and how much that varies",
    open: open_suite,
    outputs: ATOMS,
    fields: ATOMS_FIELDS,
    answer: AnswerOutput::TextOrList("atoms"),
    caching: RunCaching::Never,
    golden: GoldenForm::OneCase,
    description: DescriptionKeys::USUAL,
    schemas: || {
        vec![(
            "stochastic-scenario",
            schemars::schema_for!(Framed<StochasticScenarioForm>),
        )]
    },
};

const MEAN: MetricSpec = MetricSpec {
    fold: SampleFold::Mean,
    ..MetricSpec::PLAIN
};
const SPREAD: MetricSpec = MetricSpec {
    fold: SampleFold::Mean,
    better: Better::Lower,
    unit: Unit::Spread,
    ..MetricSpec::PLAIN
};

/// The name of the check on the thresholds.
const REACHES_THRESHOLDS: &str = "reaches_thresholds";

metrics!(StochasticMetrics {
    precision: MetricSpec {
        meaning: "facts found / atoms, at most twice as many as facts",
        ..MEAN
    },
    recall: MetricSpec {
        meaning: "facts found / facts; a fact with only one of its keywords counts half",
        ..MEAN
    },
    f1: MetricSpec {
        meaning: "harmonic mean of a run's precision and recall",
        ..MEAN
    },
    rubric_total: MetricSpec {
        unit: Unit::Points,
        most: Some(WHOLE_RUBRIC),
        meaning: "points over all six dimensions, 0 to 12",
        ..MEAN
    },
    precision_variance: MetricSpec {
        meaning: "population variance of precision over the runs",
        ..SPREAD
    },
    recall_variance: MetricSpec {
        meaning: "population variance of recall over the runs",
        ..SPREAD
    },
    f1_variance: MetricSpec {
        meaning: "population variance of f1 over the runs",
        ..SPREAD
    },
    precision_stddev: MetricSpec {
        meaning: "population standard deviation of precision over the runs",
        ..SPREAD
    },
    recall_stddev: MetricSpec {
        meaning: "population standard deviation of recall over the runs",
        ..SPREAD
    },
    f1_stddev: MetricSpec {
        meaning: "population standard deviation of f1 over the runs",
        ..SPREAD
    },
    scenario_pass_rate: MetricSpec {
        gates: &[Gate::PERFECT],
        meaning: "scenarios with mean precision, mean recall and mean rubric at their thresholds / scenarios",
        ..MetricSpec::RATE
    },
    identical_runs: MetricSpec {
        better: Better::Lower,
        meaning: "scenarios with byte-identical runs, which suggests a cache / scenarios",
        ..MetricSpec::RATE
    },
    case_pass_rate: CASE_PASS_RATE,
});

struct Stochastic {
    table: CaseTable<StochasticScenario>,
}

fn open_suite(suite: &SuiteConfig, files: &dyn Files) -> Result<Box<dyn Suite>, Diagnostics> {
    let mut problems = Diagnostics::default();
    let vague = problems.keep(TermList::open(&VAGUE, suite, files));
    let edge_case = problems.keep(TermList::open(&EDGE_CASE, suite, files));
    let (Some(vague), Some(edge_case)) = (vague, edge_case) else {
        return Err(problems);
    };
    let settings = suite.settings.get::<StochasticSettings>();
    let reference = Reference {
        vague: &vague,
        edge_case: &edge_case,
        pairs: settings.map(|settings| settings.rule).unwrap_or_default(),
    };
    let folder = case_folder(suite, files, "scenarios");
    let table = open_cases(suite, files, folder, |source, _| {
        read_scenario(source, &reference)
    })?;
    Ok(Box::new(Stochastic { table }))
}

/// The scores of one run, 0 to 1.
#[derive(Debug, PartialEq)]
struct RunScores {
    precision: f64,
    recall: f64,
    f1: f64,
}

/// Precision, recall and f1 of one run.
fn measured(scores: &[f64], atoms: usize) -> RunScores {
    let (sum, facts) = (scores.iter().sum::<f64>(), scores.len());
    let precision = match atoms.min(2 * facts) {
        0 => 0.0,
        capped => (sum / capped as f64).min(1.0),
    };
    let recall = sum / facts as f64;
    RunScores {
        precision,
        recall,
        f1: harmonic(precision, recall),
    }
}

impl Suite for Stochastic {
    fn case_pairs(&self) -> &CasePairs {
        &self.table.pairs
    }

    fn grade(
        &self,
        pair: &Pair,
        runs: &[Run],
        context: &GradeContext<'_>,
    ) -> Result<Grade, Diagnostic> {
        let (scenario, run) = (self.table.case(pair), &runs[0]);
        let (produced, layer) = produced(run);
        let atoms = &produced.atoms;
        let scores = fact_scores(scenario.pairs, &scenario.facts, atoms);
        let RunScores {
            precision,
            recall,
            f1,
        } = measured(&scores, atoms.len());
        let has_part = |part: &str| {
            produced.parts.contains(part) || context.has_recorded_part(&pair.agent, part)
        };
        let rubric = scenario
            .measure
            .as_ref()
            .map(|measure| rubric_scores(measure, &produced, has_part));
        let compared = ComparedValues {
            precision,
            recall,
            rubric: rubric.map(Scores::total),
        };
        let thresholds = scenario.thresholds.of_measured(has_part);
        let classifier = FailureClassifier::new(pair, run, context, &produced.flaws);
        let low = (!compared.reach(thresholds)).then(|| {
            let missed: Vec<&str> = scenario
                .facts
                .iter()
                .zip(&scores)
                .filter(|(_, score)| **score < 1.0)
                .map(|(fact, _)| fact.text.as_str())
                .collect();
            let missed = if missed.is_empty() {
                "every fact was found".to_owned()
            } else {
                format!("not fully found: {}", missed.join("; "))
            };
            let mut detail = format!(
                "precision {precision:.2}, needs {}; recall {recall:.2}, needs {}; ",
                thresholds.precision, thresholds.recall
            );
            if let (Some(points), Some(least)) = (compared.rubric, thresholds.rubric) {
                detail.push_str(&format!("rubric {points:.0}, needs {least}; "));
            }
            detail.push_str(&missed);
            let action = "compare this run with a run that found the facts".to_owned();
            classifier.failure(
                CheckFailure::Content,
                scenario.rule.as_deref(),
                detail,
                action,
            )
        });
        let form = "make the agent answer {\"atoms\": [{description, observableOutcomes}]}";
        let checks = vec![
            Check::only(
                "schema",
                || "JSON with the list atoms".to_owned(),
                classifier.schema(form),
            ),
            Check::only(
                REACHES_THRESHOLDS,
                || match unmeasured(|name| rubric.is_none_or(|scores| scores.is_measured(name))) {
                    Some(unmeasured) => format!("{thresholds}; {unmeasured}"),
                    None => thresholds.to_string(),
                },
                low,
            ),
        ];
        let values = StochasticMetrics {
            precision: Some(precision),
            recall: Some(recall),
            f1: Some(f1),
            rubric_total: compared.rubric,
            case_pass_rate: Some(indicator(all_hold(&checks))),
            // The others need all samples.
            ..StochasticMetrics::default()
        };
        let mut values = values_of_sample(StochasticMetrics::TABLE, layer.into(), values);
        if let Some(values) = StochasticMetrics::from_table_order(&mut values)
            && rubric.is_none()
        {
            *values.rubric_total = None;
        }
        let undecided = scenario
            .undecided
            .iter()
            .filter_map(|fact| Some((fact, matching_atom(scenario.pairs, fact, atoms)?)));
        let shortfalls = scenario.shortfalls(&scores, atoms.len(), undecided);
        Ok(Grade {
            values,
            checks,
            shortfalls,
            layer,
            kept: None,
        })
    }

    fn ask(
        &self,
        pair: &Pair,
        _run: &RunKey,
        _files: &dyn Files,
    ) -> Result<Option<Ask>, Diagnostic> {
        let StochasticScenario {
            context,
            facts,
            intent,
            persona,
            rounds,
            ..
        } = self.table.case(pair);
        // Without a context, the prompt contains the decided facts; it never contains the keywords. A first message alone says too little.
        let facts: Vec<String> = match (context.is_empty(), intent) {
            (true, _) | (false, Some(_)) => facts.iter().map(|fact| fact.text.clone()).collect(),
            (false, None) => Vec::new(),
        };
        let client = Client {
            context,
            facts: &facts,
            opening: intent.as_deref().map_or(Opening::Nothing, Opening::Intent),
            persona: persona.as_deref(),
            rounds: *rounds,
        };
        Ok(Some(client.ask()))
    }

    fn together(
        &self,
        pair: &Pair,
        samples: &[Vec<Run>],
        context: &GradeContext<'_>,
        result: &mut PairResult,
    ) {
        let scenario = self.table.case(pair);
        let parts: BTreeSet<&str> = samples
            .iter()
            .flatten()
            .flat_map(|run| produced(run).0.parts)
            .collect();
        let thresholds = scenario.thresholds.of_measured(|part| {
            parts.contains(part) || context.has_recorded_part(&pair.agent, part)
        });
        refold(thresholds, &mut result.values);
        let Some(metrics) = StochasticMetrics::from_table_order(&mut result.values) else {
            return;
        };
        let low = result
            .checks
            .iter_mut()
            .filter(|check| check.name.word == REACHES_THRESHOLDS);
        if let (Some(failure), true) = (
            low.filter_map(|check| check.failure.as_mut()).next(),
            samples.len() > 1,
        ) {
            let means = ScenarioMeans {
                precision: metrics.precision,
                recall: metrics.recall,
                rubric: metrics.rubric_total,
                thresholds,
            };
            failure.detail = scenario.means(&means, samples);
        }
        let means = [&metrics.precision, &metrics.recall, &metrics.f1];
        if means.iter().all(|metric| metric.value.is_some()) {
            set(metrics.identical_runs, indicator(are_identical(samples)));
        }
    }

    fn remarks(&self, pairs: &[PairResult], _verdict: &Ruling) -> Vec<String> {
        StochasticScenario::personas(&self.table, pairs)
    }

    /// The request depends on the case alone.
    fn read_inputs(&self, _pair: &Pair, _files: &dyn Files) {}
}

/// Sets the values that follow from those of all samples of a pair.
fn refold(thresholds: Thresholds, values: &mut [PairValue]) {
    let Some(StochasticMetrics {
        precision,
        recall,
        f1,
        rubric_total,
        precision_variance,
        recall_variance,
        f1_variance,
        precision_stddev,
        recall_stddev,
        f1_stddev,
        scenario_pass_rate,
        identical_runs: _,
        case_pass_rate: _,
    }) = StochasticMetrics::from_table_order(values)
    else {
        return;
    };
    let (Some(mean_precision), Some(mean_recall), Some(mean_f1)) =
        (precision.value, recall.value, f1.value)
    else {
        return;
    };
    let means = ComparedValues {
        precision: mean_precision,
        recall: mean_recall,
        rubric: rubric_total.value,
    };
    let passes = means.reach(thresholds);
    for (of_run, mean, of_variance, of_stddev) in [
        (
            precision,
            mean_precision,
            precision_variance,
            precision_stddev,
        ),
        (recall, mean_recall, recall_variance, recall_stddev),
        (f1, mean_f1, f1_variance, f1_stddev),
    ] {
        let variance = variance(
            &of_run
                .samples
                .iter()
                .copied()
                .flatten()
                .collect::<Vec<f64>>(),
            mean,
        );
        set(of_variance, variance);
        set(of_stddev, variance.sqrt());
    }
    set(scenario_pass_rate, indicator(passes));
}

#[cfg(test)]
mod tests {
    use super::{RunScores, measured};

    #[test]
    fn precision_is_capped_on_both_sides() {
        assert_eq!(
            measured(&[1.0, 0.5], 0),
            RunScores {
                precision: 0.0,
                recall: 0.75,
                f1: 0.0
            }
        );
        let all = RunScores {
            precision: 1.0,
            recall: 1.0,
            f1: 1.0,
        };
        assert_eq!(
            measured(&[1.0, 1.0], 1),
            all,
            "one atom may match two facts"
        );
        for (atoms, expected) in [(4, 0.375), (6, 0.25), (7, 0.25)] {
            assert_eq!(
                measured(&[1.0, 0.5, 0.0], atoms).precision,
                expected,
                "up to six of {atoms} atoms count"
            );
        }
        let RunScores {
            precision,
            recall,
            f1,
        } = measured(&[1.0, 0.5], 9);
        assert_eq!(
            (precision, recall),
            (0.375, 0.75),
            "at most twice as many atoms as facts count"
        );
        assert!((f1 - 0.5).abs() < 1e-12);
    }
}

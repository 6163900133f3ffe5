//! Kind `stochastic`: how much an agent's answers vary when the same question is repeated.

mod explained;
mod refold;
mod whole;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use self::whole::{are_identical, set};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::files::{Files, SourceText};
use crate::format::Step::{At, Key};
use crate::format::{JsonCursor, json};
use crate::model::{
    Ask, Better, Check, Gate, Grade, MetricSpec, PairResult, Ruling, Run, RunKey, SampleFold,
    SuiteConfig, Unit, all_hold, harmonic, indicator, reaches,
};
use crate::suites::GradeContext;
use crate::suites::kind::{
    AgentPolicy, CasePairs, FixtureFolder, GoldenForm, LegacyOutput, Pair, RunCaching, SampleScore,
    Sampling, SeedGates, Suite, SuiteKind,
};
use crate::suites::settings::{NoSettings, SettingsSpec};
use crate::suites::shared::answer::text::AnswerOutput;
use crate::suites::shared::atoms::{ATOMS, ATOMS_FIELDS, Atom, produced};
use crate::suites::shared::case_frame::{CaseForm, Framed};
use crate::suites::shared::case_keys::DescriptionKeys;
use crate::suites::shared::case_table::CaseTable;
use crate::suites::shared::client::{Client, Opening};
use crate::suites::shared::every_kind::CASE_PASS_RATE;
use crate::suites::shared::failure_classifier::{CheckFailure, FailureClassifier};
use crate::suites::shared::folder::{GoldenCase, StatedName, case_folder, open_cases};
use crate::suites::shared::own_metrics::{ByMetric, metrics, values_of_sample};
use crate::text::Keyword;

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
    settings: SettingsSpec::of::<NoSettings>(),
    legacy_output: LegacyOutput::Evaluations,
    fixtures: FixtureFolder::InSuite,
    label_dimensions: &[],
    terms: &[],
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
        meaning: "scenarios with mean precision and mean recall at their thresholds / scenarios",
        ..MetricSpec::RATE
    },
    identical_runs: MetricSpec {
        better: Better::Lower,
        meaning: "scenarios with byte-identical runs, which suggests a cache / scenarios",
        ..MetricSpec::RATE
    },
    case_pass_rate: CASE_PASS_RATE,
});

/// `scenarios/{scenarioId}.json` in the format of the seed.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(title = "stochastic scenario")]
struct StochasticScenarioForm {
    /// Its id; the file's name by default.
    scenario_id: Option<String>,
    /// What the client has decided.
    ground_truth: TruthForm,
    /// The client's manner of speaking; part of the case's identity.
    persona_variant: Option<String>,
    /// The number of runs; 5 by default.
    runs: Option<u32>,
    /// The thresholds of the means.
    thresholds: ThresholdForm,
    /// The input of a live agent; the decided facts by default.
    #[serde(default)]
    context: Map<String, Value>,
    /// The rule of the prompt package that this tests, by id or text.
    rule: Option<String>,
}

impl CaseForm for StochasticScenarioForm {}

/// What the client has decided.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct TruthForm {
    /// The facts, in words.
    decided_facts: Vec<String>,
    /// The keywords of each fact, in the same order.
    keyword_sets: Vec<Vec<String>>,
}

/// The thresholds of the means, 0 to 1.
#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(deny_unknown_fields)]
struct ThresholdForm {
    /// Threshold of precision.
    precision: f64,
    /// Threshold of recall.
    recall: f64,
}

struct StochasticScenario {
    context: Map<String, Value>,
    facts: Vec<String>,
    /// The distinct keywords of each fact.
    sets: Vec<Vec<Keyword>>,
    thresholds: ThresholdForm,
    rule: Option<String>,
    /// The client's manner of speaking.
    persona: Option<String>,
}

struct Stochastic {
    table: CaseTable<StochasticScenario>,
}

fn open_suite(suite: &SuiteConfig, files: &dyn Files) -> Result<Box<dyn Suite>, Diagnostics> {
    let table = open_cases(
        suite,
        files,
        case_folder(suite, files, "scenarios"),
        |source, _| read_scenario(source),
    )?;
    Ok(Box::new(Stochastic { table }))
}

fn read_scenario(source: &SourceText) -> Result<GoldenCase<StochasticScenario>, Diagnostic> {
    let Framed { frame, form } = json::golden::<Framed<StochasticScenarioForm>>(source)?;
    let cursor = JsonCursor::whole(source);
    let TruthForm {
        decided_facts,
        keyword_sets,
    } = form.ground_truth;
    if decided_facts.is_empty() || decided_facts.len() != keyword_sets.len() {
        let what = format!(
            "there are {} decidedFacts and {} keywordSets",
            decided_facts.len(),
            keyword_sets.len()
        );
        let help = "write one set of keywords for each fact, and at least one fact";
        return Err(cursor.problem_of_key(&[Key("groundTruth")], Code::BAD_TRUTH, what, help));
    }
    for (at, fact) in decided_facts.iter().enumerate() {
        cursor.filled(
            &[Key("groundTruth"), Key("decidedFacts"), At(at)],
            "a decided fact",
            fact,
        )?;
    }
    for (name, threshold) in [
        ("precision", form.thresholds.precision),
        ("recall", form.thresholds.recall),
    ] {
        if !(0.0..=1.0).contains(&threshold) {
            let (path, what) = (
                [Key("thresholds"), Key(name)],
                format!("the threshold of {name} is {threshold}"),
            );
            return Err(cursor.problem(
                &path,
                Code::BAD_NUMBER,
                what,
                "write a number from 0 to 1",
            ));
        }
    }
    if let Some(0 | 1001..) = form.runs {
        let what = "the number of runs is out of range";
        return Err(cursor.problem_of_key(
            &[Key("runs")],
            Code::BAD_SAMPLES,
            what,
            "write 1 to 1000",
        ));
    }
    let mut sets = Vec::new();
    for (at, words) in keyword_sets.iter().enumerate() {
        let path = [Key("groundTruth"), Key("keywordSets"), At(at)];
        let mut set: Vec<Keyword> = Vec::new();
        for word in cursor.keywords(&path, words)? {
            if !set.contains(&word) {
                set.push(word);
            }
        }
        if set.is_empty() {
            return Err(cursor.problem(
                &path,
                Code::EMPTY_SET,
                "a keyword set is empty",
                "name at least one",
            ));
        }
        sets.push(set);
    }
    let scenario = StochasticScenario {
        context: form.context,
        facts: decided_facts,
        sets,
        thresholds: form.thresholds,
        rule: cursor.rule(form.rule)?,
        persona: form.persona_variant,
    };
    let id = form.scenario_id.map(|text| StatedName {
        text,
        at: cursor.value(&[Key("scenarioId")]),
    });
    let samples = Some(form.runs.unwrap_or(5));
    Ok(GoldenCase {
        id,
        samples,
        ..frame.case(&cursor, scenario)?
    })
}

/// The score of a fact: 1 if one atom has two of its keywords (or its only one), 0.5 if it has one of several, else 0.
fn score(set: &[Keyword], atoms: &[Atom]) -> f64 {
    let in_one = |atom: &Atom| set.iter().filter(|word| word.is_in(&atom.text)).count();
    match atoms.iter().map(in_one).max().unwrap_or(0) {
        best if best >= set.len().min(2) => 1.0,
        0 => 0.0,
        _ => 0.5,
    }
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
        let scores: Vec<f64> = scenario
            .sets
            .iter()
            .map(|set| score(set, &produced.atoms))
            .collect();
        let RunScores {
            precision,
            recall,
            f1,
        } = measured(&scores, produced.atoms.len());
        let ThresholdForm {
            precision: enough_precise,
            recall: enough_found,
        } = scenario.thresholds;
        let classifier = FailureClassifier::new(pair, run, context, &produced.flaws);
        let low = (!reaches(precision, enough_precise) || !reaches(recall, enough_found)).then(|| {
            let missed: Vec<&str> = scenario
                .facts
                .iter()
                .zip(&scores)
                .filter(|(_, score)| **score < 1.0)
                .map(|(fact, _)| fact.as_str())
                .collect();
            let missed = if missed.is_empty() {
                "every fact was found".to_owned()
            } else {
                format!("not fully found: {}", missed.join("; "))
            };
            let detail = format!(
                "precision {precision:.2}, needs {enough_precise}; recall {recall:.2}, needs {enough_found}; {missed}"
            );
            let action = "compare this run with a run that found the facts".to_owned();
            classifier.failure(CheckFailure::Content, scenario.rule.as_deref(), detail, action)
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
                || {
                    format!(
                        "precision at least {enough_precise} and recall at least {enough_found}"
                    )
                },
                low,
            ),
        ];
        let values = StochasticMetrics {
            precision: Some(precision),
            recall: Some(recall),
            f1: Some(f1),
            case_pass_rate: Some(indicator(all_hold(&checks))),
            // The others need all samples.
            ..StochasticMetrics::default()
        };
        let shortfalls = scenario.shortfalls(&scores, produced.atoms.len());
        Ok(Grade {
            values: values_of_sample(StochasticMetrics::TABLE, layer.into(), values),
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
            persona,
            ..
        } = self.table.case(pair);
        // Without a context, the prompt contains the decided facts; it never contains the keywords.
        let facts: &[String] = if context.is_empty() { facts } else { &[] };
        let client = Client {
            context,
            facts,
            opening: Opening::Nothing,
            persona: persona.as_deref(),
            rounds: None,
        };
        Ok(Some(client.ask()))
    }

    fn together(&self, pair: &Pair, samples: &[Vec<Run>], result: &mut PairResult) {
        let scenario = self.table.case(pair);
        self.refold(pair, &mut result.values);
        let Some(StochasticMetrics {
            precision,
            recall,
            f1,
            identical_runs,
            ..
        }) = StochasticMetrics::from_table_order(&mut result.values)
        else {
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
            failure.detail = scenario.means(precision, recall, samples);
        }
        if precision.value.and(recall.value).and(f1.value).is_some() {
            set(identical_runs, indicator(are_identical(samples)));
        }
    }

    fn remarks(&self, pairs: &[PairResult], _verdict: &Ruling) -> Vec<String> {
        StochasticScenario::personas(&self.table, pairs)
    }

    /// The request depends on the case alone.
    fn read_inputs(&self, _pair: &Pair, _files: &dyn Files) {}
}

#[cfg(test)]
mod tests {
    use super::{RunScores, measured, score};
    use crate::suites::shared::atoms::Atom;
    use crate::text::Keyword;

    fn words(texts: &[&str]) -> Vec<Keyword> {
        texts
            .iter()
            .map(|text| Keyword::new(text).unwrap())
            .collect()
    }

    #[test]
    fn a_fact_counts_by_its_keywords_in_one_atom() {
        let atom = |text: &str| Atom {
            text: text.to_owned(),
            ..Atom::default()
        };
        let set = words(&["refund", "days", "invoice"]);
        assert_eq!(score(&set, &[atom("a refund within thirty days")]), 1.0);
        assert_eq!(
            score(&set, &[atom("a refund"), atom("thirty days")]),
            0.5,
            "keywords in two atoms do not add up"
        );
        assert_eq!(score(&set, &[atom("nothing")]), 0.0);
        assert_eq!(
            score(&words(&["refund"]), &[atom("a refund")]),
            1.0,
            "the only keyword is enough"
        );
        assert_eq!(score(&set, &[]), 0.0);
    }

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

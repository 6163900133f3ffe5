//! The golden file of a scenario.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::facts::{Fact, PairRule};
use super::thresholds::Thresholds;
use crate::diag::{Code, Diagnostic};
use crate::files::SourceText;
use crate::format::Step::{At, Key};
use crate::format::{JsonCursor, Step, json, list_or_object};
use crate::suites::shared::case_frame::{CaseForm, Framed};
use crate::suites::shared::entries::CaseIdText;
use crate::suites::shared::folder::{GoldenCase, stated_id};
use crate::suites::shared::golden::step;
use crate::suites::shared::rubric::{Measure, USUAL_CLARIFICATIONS, stated_invariants};
use crate::suites::shared::terms::TermList;
use crate::text::Keyword;

/// `scenarios/{scenarioId}.json`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(title = "stochastic scenario")]
pub struct StochasticScenarioForm {
    /// Its id; the file's name by default.
    id: Option<CaseIdText>,
    /// The same as `id`.
    scenario_id: Option<CaseIdText>,
    /// What the client has decided.
    ground_truth: TruthForm,
    /// The client's manner of speaking; part of the case's identity.
    persona_variant: Option<String>,
    /// The same in two parts.
    persona: Option<PersonaForm>,
    /// The number of runs; 5 by default.
    runs: Option<u32>,
    /// The same as `runs`.
    num_runs: Option<u32>,
    /// The maximum number of rounds of questions.
    max_rounds: Option<u64>,
    /// The thresholds of the means.
    thresholds: Option<ThresholdForm>,
    /// The same as `thresholds`, with a minimum of the rubric.
    evaluation: Option<EvaluationForm>,
    /// What the client says first.
    initial_intent: Option<String>,
    /// The input of a live agent; the decided facts by default.
    #[serde(default)]
    context: Map<String, Value>,
    /// The rule of the prompt package that this tests, by id or text.
    rule: Option<String>,
}

impl CaseForm for StochasticScenarioForm {}

/// What the client has decided: a list of facts, or two lists in the same order.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum TruthForm {
    /// The facts.
    Facts(Vec<FactForm>),
    /// The facts and their keywords.
    Lists(ListsForm),
}

impl<'de> Deserialize<'de> for TruthForm {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        let expected = "a list of facts, or an object with decidedFacts and keywordSets";
        list_or_object(reader, expected, Self::Facts, Self::Lists)
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ListsForm {
    /// The facts, in words.
    decided_facts: Vec<String>,
    /// The keywords of each fact, in the same order.
    keyword_sets: Vec<Vec<String>>,
}

/// A fact.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct FactForm {
    /// Its id, for people.
    #[serde(rename = "id")]
    _id: Option<CaseIdText>,
    /// The fact, in words.
    fact: String,
    /// The category of an atom with it; it counts by the suite's `match`.
    category: Option<String>,
    /// Whether the client has decided it: if not, it is not expected.
    #[serde(default = "decided")]
    is_decided: bool,
    /// Words of an atom with it.
    keywords: Vec<String>,
}

fn decided() -> bool {
    true
}

/// The client's manner of speaking.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct PersonaForm {
    /// It in a word.
    style: String,
    /// How the client speaks.
    style_instructions: Option<String>,
}

/// The thresholds of the means, 0 to 1.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ThresholdForm {
    /// Threshold of precision.
    precision: f64,
    /// Threshold of recall.
    recall: f64,
}

/// The thresholds of the means.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct EvaluationForm {
    /// Threshold of precision, 0 to 1.
    minimum_precision: f64,
    /// Threshold of recall, 0 to 1.
    minimum_recall: f64,
    /// The minimum points of the rubric, 0 to 12; none by default.
    minimum_rubric_score: Option<f64>,
    /// Not graded.
    #[serde(rename = "maxRedundantQuestions")]
    _max_redundant_questions: Option<u64>,
}

/// A scenario, ready to be graded.
pub struct StochasticScenario {
    pub context: Map<String, Value>,
    /// What the client says first.
    pub intent: Option<String>,
    /// How the facts are paired with atoms; `None` counts their keywords alone.
    pub pairs: Option<PairRule>,
    pub facts: Vec<Fact>,
    /// What the client has not decided.
    pub undecided: Vec<Fact>,
    pub thresholds: Thresholds,
    /// What the rubric uses, if the scenario has a minimum of it.
    pub measure: Option<Measure>,
    pub rule: Option<String>,
    /// The client's manner of speaking.
    pub persona: Option<String>,
    /// The maximum number of rounds of questions.
    pub rounds: Option<u64>,
}

/// What the scenarios of a suite are graded with.
pub struct Reference<'a> {
    pub vague: &'a TermList,
    pub edge_case: &'a TermList,
    pub pairs: PairRule,
}

pub fn read_scenario(
    source: &SourceText,
    reference: &Reference<'_>,
) -> Result<GoldenCase<StochasticScenario>, Diagnostic> {
    let Framed { frame, form } = json::golden::<Framed<StochasticScenarioForm>>(source)?;
    let cursor = JsonCursor::whole(source);
    let pairs = match &form.ground_truth {
        TruthForm::Facts(_) => Some(reference.pairs),
        TruthForm::Lists(_) => None,
    };
    let (facts, undecided) = read_facts(form.ground_truth, &cursor)?;
    let thresholds = read_thresholds(form.thresholds, form.evaluation, &cursor)?;
    let (runs_key, runs) = match form.runs {
        Some(runs) => ("runs", Some(runs)),
        None => ("numRuns", form.num_runs),
    };
    if let Some(0 | 1001..) = runs {
        let message = "the number of runs is out of range";
        let help = "write 1 to 1000";
        return Err(cursor.problem_of_key(&[Key(runs_key)], Code::BAD_SAMPLES, message, help));
    }
    let mut measured_with = pairs.map_or_else(String::new, |rule| format!("{rule:?}"));
    let measure = match thresholds.rubric {
        None => None,
        Some(_) => {
            measured_with.push_str(reference.vague.text());
            measured_with.push_str(reference.edge_case.text());
            Some(Measure {
                vague: reference.vague.clone(),
                edge_case: reference.edge_case.clone(),
                clarifications: USUAL_CLARIFICATIONS,
                invariants: stated_invariants(None, &form.context, &cursor)?,
            })
        }
    };
    let persona = form
        .persona
        .map(|persona| match persona.style_instructions {
            Some(instructions) => {
                let instructions = instructions.trim_end_matches('.');
                format!("{}: {instructions}", persona.style)
            }
            None => persona.style,
        });
    if let Some(intent) = &form.initial_intent {
        cursor.filled(
            &[Key("initialIntent")],
            "the client's first message",
            intent,
        )?;
    }
    let scenario = StochasticScenario {
        context: form.context,
        intent: form.initial_intent,
        pairs,
        facts,
        undecided,
        thresholds,
        measure,
        rule: cursor.rule(form.rule)?,
        persona: form.persona_variant.or(persona),
        rounds: form.max_rounds,
    };
    let id = stated_id(form.id, form.scenario_id, &cursor)?;
    Ok(GoldenCase {
        id,
        samples: Some(runs.unwrap_or(5)),
        measured_with,
        ..frame.case(&cursor, scenario)?
    })
}

/// The decided facts, and the others.
fn read_facts(
    truth: TruthForm,
    cursor: &JsonCursor<'_>,
) -> Result<(Vec<Fact>, Vec<Fact>), Diagnostic> {
    let (mut facts, mut undecided) = (Vec::new(), Vec::new());
    match truth {
        TruthForm::Lists(ListsForm {
            decided_facts,
            keyword_sets,
        }) => {
            if decided_facts.is_empty() || decided_facts.len() != keyword_sets.len() {
                let message = format!(
                    "there are {} decidedFacts and {} keywordSets",
                    decided_facts.len(),
                    keyword_sets.len()
                );
                let help = "write one set of keywords for each fact, and at least one fact";
                return Err(bad_truth(cursor, message, help));
            }
            for (index, (text, words)) in decided_facts.into_iter().zip(keyword_sets).enumerate() {
                let path = [Key("groundTruth"), Key("decidedFacts"), At(index)];
                cursor.filled(&path, "a decided fact", &text)?;
                let path = [Key("groundTruth"), Key("keywordSets"), At(index)];
                facts.push(Fact {
                    text,
                    keywords: keyword_set(&path, &words, cursor)?,
                    category: String::new(),
                });
            }
        }
        TruthForm::Facts(forms) => {
            for (at, form) in forms.into_iter().enumerate() {
                let path = [Key("groundTruth"), At(at)];
                cursor.filled(&step(&path, Key("fact")), "a fact", &form.fact)?;
                let category = match form.category {
                    Some(text) => cursor.category(&step(&path, Key("category")), &text, None)?,
                    None => String::new(),
                };
                let fact = Fact {
                    keywords: keyword_set(&step(&path, Key("keywords")), &form.keywords, cursor)?,
                    text: form.fact,
                    category,
                };
                if form.is_decided {
                    facts.push(fact);
                } else {
                    undecided.push(fact);
                }
            }
            if facts.is_empty() {
                let message = "no fact is decided".to_owned();
                return Err(bad_truth(cursor, message, "write at least one"));
            }
        }
    }
    Ok((facts, undecided))
}

fn bad_truth(cursor: &JsonCursor<'_>, message: String, help: &str) -> Diagnostic {
    cursor.problem_of_key(&[Key("groundTruth")], Code::BAD_TRUTH, message, help)
}

/// The distinct keywords of a fact.
fn keyword_set(
    path: &[Step<'_>],
    words: &[String],
    cursor: &JsonCursor<'_>,
) -> Result<Vec<Keyword>, Diagnostic> {
    let mut set: Vec<Keyword> = Vec::new();
    for word in cursor.keywords(path, words)? {
        if !set.contains(&word) {
            set.push(word);
        }
    }
    if set.is_empty() {
        let message = "a keyword set is empty";
        return Err(cursor.problem(path, Code::EMPTY_SET, message, "name at least one"));
    }
    Ok(set)
}

fn read_thresholds(
    thresholds: Option<ThresholdForm>,
    evaluation: Option<EvaluationForm>,
    cursor: &JsonCursor<'_>,
) -> Result<Thresholds, Diagnostic> {
    let (read, paths) = match (thresholds, evaluation) {
        (Some(form), None) => (
            Thresholds {
                precision: form.precision,
                recall: form.recall,
                rubric: None,
            },
            [
                [Key("thresholds"), Key("precision")],
                [Key("thresholds"), Key("recall")],
            ],
        ),
        (None, Some(form)) => (
            Thresholds {
                precision: form.minimum_precision,
                recall: form.minimum_recall,
                rubric: form.minimum_rubric_score,
            },
            [
                [Key("evaluation"), Key("minimumPrecision")],
                [Key("evaluation"), Key("minimumRecall")],
            ],
        ),
        (None, None) => {
            let message = "the key \"thresholds\" is missing";
            let help = "add \"thresholds\" with precision and recall, or \"evaluation\"";
            return Err(cursor.problem(&[], Code::MISSING_KEY, message, help));
        }
        (Some(_), Some(_)) => {
            let message = "the scenario has both thresholds and evaluation";
            let help = "keep one of them";
            return Err(cursor.problem_of_key(
                &[Key("evaluation")],
                Code::CONTRADICTION,
                message,
                help,
            ));
        }
    };
    let stated = [("precision", read.precision), ("recall", read.recall)];
    for ((name, threshold), path) in stated.into_iter().zip(paths) {
        if !(0.0..=1.0).contains(&threshold) {
            let message = format!("the threshold of {name} is {threshold}");
            let help = "write a number from 0 to 1";
            return Err(cursor.problem(&path, Code::BAD_NUMBER, message, help));
        }
    }
    if read
        .rubric
        .is_some_and(|rubric| !(0.0..=12.0).contains(&rubric))
    {
        let message = format!("minimumRubricScore is {}", read.rubric.unwrap_or_default());
        let path = [Key("evaluation"), Key("minimumRubricScore")];
        return Err(cursor.problem(
            &path,
            Code::BAD_SCORE,
            message,
            "the rubric has 0 to 12 points",
        ));
    }
    Ok(read)
}

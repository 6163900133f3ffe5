//! Kind `interview` (seed 001): agents that turn a conversation into atoms of intent.

mod checks;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use self::checks::{InterviewChecker, shortfalls};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::files::{Files, SourceText};
use crate::format::Step::{At, Key};
use crate::format::{JsonCursor, Step, json};
use crate::model::{
    Ask, ExplainedBy, Gate, Grade, Layer, MetricSpec, PairResult, Ruling, Run, RunKey, SuiteConfig, Unit, all_hold,
    indicator, share,
};
use crate::suites::GradeContext;
use crate::suites::kind::{AgentPolicy, FixtureFolder, GoldenForm, LegacyOutput, Pair, RunCaching, Suite, SuiteKind};
use crate::suites::settings::{NoSettings, SettingsSpec};
use crate::suites::shared::answer::form::AnswerChecksForm;
use crate::suites::shared::answer::text::AnswerOutput;
use crate::suites::shared::atoms::{ATOMS, Atom, produced};
use crate::suites::shared::audit::Audit;
use crate::suites::shared::client::{Client, Speech};
use crate::suites::shared::failure_classifier::FailureClassifier;
use crate::suites::shared::folder::{CaseFolder, GoldenCase, StatedName};
use crate::suites::shared::golden::step;
use crate::suites::shared::labels::{LabelContent, Labels};
use crate::suites::shared::own_metrics::{ByMetric, metrics};
use crate::suites::shared::person_scores::score_remarks;
use crate::suites::shared::quarantine::QuarantineForm;
use crate::suites::shared::rubric::{DIMENSIONS, MOST_POINTS, Measure, invariant, scores};
use crate::suites::shared::terms::{BuiltInTerms, TermList};
use crate::suites::shared::{folder, matching};
use crate::text::Keyword;

/// The kind.
pub const KIND: SuiteKind = SuiteKind {
    name: "interview",
    scorer: "interview/1",
    metrics: InterviewMetrics::TABLE,
    agents: AgentPolicy::Named,
    settings: SettingsSpec::of::<NoSettings>(),
    legacy_output: LegacyOutput::Evaluations,
    fixtures: FixtureFolder::InSuite,
    label_dimensions: &DIMENSIONS,
    terms: &[VAGUE, EDGE_CASE],
    meaning: "agents that turn a conversation into atoms of intent, compared with a scenario's expected atoms",
    open: open_suite,
    outputs: ATOMS,
    answer: AnswerOutput::UnderOrWhole(&["text"]),
    caching: RunCaching::Usual,
    golden: GoldenForm::OneCase,
    history_keys: &[],
    schemas: || vec![("interview-scenario", schemars::schema_for!(InterviewScenarioForm))],
};

/// Vague words, which cannot be tested.
const VAGUE: BuiltInTerms = BuiltInTerms { name: "vague", text: include_str!("terms/vague.txt") };

/// Words that name an edge case.
const EDGE_CASE: BuiltInTerms = BuiltInTerms { name: "edge_case", text: include_str!("terms/edge_case.txt") };

const POINTS: MetricSpec = MetricSpec { unit: Unit::Points, most: Some(2.0), ..MetricSpec::PLAIN };

metrics!(InterviewMetrics {
    scenario_pass_rate: MetricSpec {
        name: "scenario_pass_rate",
        gates: &[Gate::AS_THE_BASELINE],
        meaning: "readable scenarios with every expected atom and the minimum rubric score / scenarios",
        ..MetricSpec::RATE
    },
    atom_recall: MetricSpec {
        name: "atom_recall",
        explained_by: ExplainedBy::Checks(&["expected_atom"]),
        gates: &[Gate::NO_LARGE_DROP],
        meaning: "expected atoms matched by a produced atom / expected atoms",
        ..MetricSpec::PLAIN
    },
    atom_precision: MetricSpec {
        name: "atom_precision",
        gates: &[Gate::NO_LARGE_DROP],
        meaning: "largest one-to-one matching between produced and expected atoms / produced atoms",
        ..MetricSpec::PLAIN
    },
    rubric_total: MetricSpec {
        name: "rubric_total",
        most: Some(12.0),
        meaning: "points over all six dimensions, 0 to 12",
        ..POINTS
    },
    atom_clarity: MetricSpec {
        name: "atom_clarity",
        meaning: "atoms with an observable outcome and no vague term, 0 to 2",
        ..POINTS
    },
    validator_testability: MetricSpec {
        name: "validator_testability",
        meaning: "atoms with an executable validator, 0 to 2",
        ..POINTS
    },
    edge_case_coverage: MetricSpec {
        name: "edge_case_coverage",
        meaning: "questions that name an edge case, 0 to 2",
        ..POINTS
    },
    ambiguity_discipline: MetricSpec {
        name: "ambiguity_discipline",
        meaning: "clarifying questions compared with the expected number, 0 to 2",
        ..POINTS
    },
    invariant_alignment: MetricSpec {
        name: "invariant_alignment",
        meaning: "invariants found in some atom, 0 to 2",
        ..POINTS
    },
    compression: MetricSpec {
        name: "compression",
        meaning: "a suitable number of atoms for the rounds, 0 to 2",
        ..POINTS
    },
});

/// `scenarios/{scenarioId}.json` in the format of the seed.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(title = "interview scenario")]
struct InterviewScenarioForm {
    /// Its id; the file's name by default.
    scenario_id: Option<String>,
    /// What the client has in mind: `domain`, `constraints`, and anything else that the agent gets.
    #[serde(default)]
    context: Map<String, Value>,
    /// The atoms that the interview must produce.
    #[serde(default)]
    expected_atoms: Vec<ExpectedAtomForm>,
    /// The minimum points of the rubric, 0 to 12.
    minimum_rubric_score: f64,
    /// Conditions that must always be true; the context's constraints by default.
    invariants: Option<Vec<String>>,
    /// The expected number of clarifying questions; 2 by default.
    expected_clarifications: Option<usize>,
    /// The client's manner of speaking; part of the case.
    persona_variant: Option<String>,
    /// The maximum number of rounds of questions.
    rounds: Option<u64>,
    /// A note for people; grading ignores it.
    #[serde(default, rename = "notes")]
    _notes: Option<String>,
    /// What the case requires of the answer's text.
    answer: Option<AnswerChecksForm>,
    /// Why the case is excluded from gating for now.
    quarantine: Option<QuarantineForm>,
}

/// One expected atom.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ExpectedAtomForm {
    /// At least one must be in the description; empty means no condition.
    #[serde(default)]
    description_contains_any: Vec<String>,
    /// The accepted categories; empty means any.
    #[serde(default)]
    category_one_of: Vec<String>,
    /// The minimum number of observable outcomes.
    #[serde(default)]
    min_outcomes: usize,
    /// Whether evidence is required.
    #[serde(default)]
    requires_evidence: bool,
    /// The rule of the prompt package that this tests, by id or text.
    rule: Option<String>,
}

struct ExpectedAtom {
    words: Vec<Keyword>,
    categories: Vec<String>,
    outcomes: usize,
    evidence: bool,
    rule: Option<String>,
    line: u32,
}

struct InterviewScenario {
    context: Map<String, Value>,
    persona: Option<String>,
    rounds: Option<u64>,
    expected: Vec<ExpectedAtom>,
    least: f64,
    measure: Measure,
}

struct Interview {
    labels: Labels,
    folder: CaseFolder<InterviewScenario>,
}

fn open_suite(suite: &SuiteConfig, files: &dyn Files) -> Result<Box<dyn Suite>, Diagnostics> {
    let mut problems = Diagnostics::default();
    let mut terms = |built_in| problems.keep(TermList::open(built_in, suite, files));
    let (Some(vague), Some(edge_case)) = (terms(&VAGUE), terms(&EDGE_CASE)) else { return Err(problems) };
    let scenario = |source: &SourceText| read_scenario(source, &vague, &edge_case);
    let folder = folder::open_cases(suite, files, suite.path.child("scenarios"), |source, _| scenario(source))?;
    Ok(Box::new(Interview { labels: Labels::open(suite.labels.as_ref(), files)?, folder }))
}

fn read_scenario(
    source: &SourceText,
    vague: &TermList,
    edge_case: &TermList,
) -> Result<GoldenCase<InterviewScenario>, Diagnostic> {
    let form: InterviewScenarioForm = json::golden(source)?;
    let cursor = JsonCursor::whole(source);
    if !(0.0..=12.0).contains(&form.minimum_rubric_score) {
        let what = format!("minimumRubricScore is {}", form.minimum_rubric_score);
        let path = [Key("minimumRubricScore")];
        return Err(cursor.problem_of_key(&path, Code::BAD_SCORE, what, "the rubric has 0 to 12 points"));
    }
    let invariants = invariants(&form, &cursor)?;
    let mut expected = Vec::new();
    for (at, atom) in form.expected_atoms.into_iter().enumerate() {
        expected.push(ExpectedAtom::read(atom, &cursor.inner(&[Key("expectedAtoms"), At(at)]))?);
    }
    let measured_with = format!("{}{}", vague.text(), edge_case.text());
    let measure = Measure {
        vague: vague.clone(),
        edge_case: edge_case.clone(),
        clarifications: form.expected_clarifications.unwrap_or(2),
        invariants,
    };
    let scenario = InterviewScenario {
        context: form.context,
        persona: form.persona_variant,
        rounds: form.rounds,
        expected,
        least: form.minimum_rubric_score,
        measure,
    };
    let quarantine = form.quarantine.map(|form| form.stated(&cursor));
    let id = form.scenario_id.map(|text| StatedName { text, at: cursor.value(&[Key("scenarioId")]) });
    Ok(GoldenCase { id, quarantine, answer: form.answer, measured_with, ..GoldenCase::plain(scenario) })
}

/// The keywords of the invariants: the stated ones, else the context's constraints.
fn invariants(form: &InterviewScenarioForm, cursor: &JsonCursor<'_>) -> Result<Vec<Vec<Keyword>>, Diagnostic> {
    let constraints = [Key("context"), Key("constraints")];
    let texts = |value: &Value| {
        value.as_array()?.iter().map(|one| one.as_str().map(str::to_owned)).collect::<Option<Vec<String>>>()
    };
    let constraints_stated = match form.context.get("constraints") {
        None => Vec::new(),
        Some(value) => texts(value).ok_or_else(|| {
            let help = "write a list: without invariants, the constraints are used in their place";
            cursor.problem_of_key(
                &constraints,
                Code::WRONG_TYPE,
                "the context's constraints are not a list of texts",
                help,
            )
        })?,
    };
    let (stated, path): (&[String], &[Step<'_>]) = match &form.invariants {
        Some(stated) => (stated, &[Key("invariants")]),
        None => (&constraints_stated, &constraints),
    };
    let mut all = Vec::new();
    for (at, text) in stated.iter().enumerate() {
        let words = invariant(text);
        if words.is_empty() {
            let what = format!("the invariant {text:?} has no word of at least 4 letters");
            return Err(cursor.problem(&step(path, At(at)), Code::EMPTY_KEYWORD, what, "name what must be true"));
        }
        all.push(words);
    }
    Ok(all)
}

impl ExpectedAtom {
    fn read(form: ExpectedAtomForm, cursor: &JsonCursor<'_>) -> Result<Self, Diagnostic> {
        let ExpectedAtomForm { description_contains_any, category_one_of, min_outcomes, requires_evidence, rule } =
            form;
        if description_contains_any.is_empty() && category_one_of.is_empty() && min_outcomes == 0 && !requires_evidence
        {
            let help = "state descriptionContainsAny, categoryOneOf, minOutcomes or requiresEvidence";
            return Err(cursor.problem(&[], Code::ASKS_NOTHING, "an expected atom states no condition", help));
        }
        let category = |(at, text): (usize, &String)| cursor.category(&[Key("categoryOneOf"), At(at)], text, None);
        Ok(Self {
            words: cursor.keywords(&[Key("descriptionContainsAny")], &description_contains_any)?,
            categories: category_one_of.iter().enumerate().map(category).collect::<Result<_, _>>()?,
            outcomes: min_outcomes,
            evidence: requires_evidence,
            rule: cursor.rule(rule)?,
            line: cursor.line(),
        })
    }

    fn named(&self, atom: &Atom) -> bool {
        self.words.is_empty() || self.words.iter().any(|word| word.is_in(&atom.description))
    }

    fn sorted(&self, atom: &Atom) -> bool {
        self.categories.is_empty() || self.categories.contains(&atom.category)
    }

    fn matches(&self, atom: &Atom) -> bool {
        self.named(atom) && self.sorted(atom) && atom.outcomes >= self.outcomes && (atom.has_evidence || !self.evidence)
    }
}

impl Suite for Interview {
    fn pairs(&self) -> &[Pair] {
        self.folder.pairs()
    }

    fn grade(&self, pair: &Pair, runs: &[Run], context: &GradeContext<'_>) -> Result<Grade, Diagnostic> {
        let (scenario, run) = (self.folder.case(pair), &runs[0]);
        let (produced, layer) = produced(run);
        let edges: Vec<Vec<usize>> = scenario
            .expected
            .iter()
            .map(|expected| (0..produced.atoms.len()).filter(|atom| expected.matches(&produced.atoms[*atom])).collect())
            .collect();
        let found = edges.iter().filter(|edges| !edges.is_empty()).count();
        let nothing = if scenario.expected.is_empty() { 1.0 } else { 0.0 };
        let mut points = scores(&scenario.measure, &produced);
        for label in self.labels.of(&pair.agent, &pair.case) {
            if let LabelContent::Score(dimension, score, outputs) = &label.says
                && context.has_outputs(outputs.as_deref())
            {
                points[*dimension] = *score;
            }
        }
        let total = f64::from(points.iter().sum::<u8>());
        let classifier = FailureClassifier::new(pair, run, context, &produced.flaws);
        let checks = InterviewChecker { scenario, produced: &produced, points, total, classifier }.checks(&edges);
        let shortfalls = shortfalls(scenario, &produced, &edges, points);
        // An unreadable answer satisfies nothing; that earns no points.
        let merit = |value: f64| (value == 0.0 || layer != Layer::Unreadable).then_some(value);
        let merit_of = |points: u8| if points < MOST_POINTS { Some(f64::from(points)) } else { merit(points.into()) };
        let [clarity, testability, edge_cases, ambiguity, alignment, compression] = points.map(merit_of);
        let values = InterviewMetrics {
            scenario_pass_rate: Some(indicator(all_hold(&checks))),
            atom_recall: share(found, scenario.expected.len()).or(merit(1.0)),
            atom_precision: share(matching::maximum(&edges, produced.atoms.len()), produced.atoms.len())
                .or(merit(nothing)),
            rubric_total: Some(total),
            atom_clarity: clarity,
            validator_testability: testability,
            edge_case_coverage: edge_cases,
            ambiguity_discipline: ambiguity,
            invariant_alignment: alignment,
            compression,
        };
        Ok(Grade { values: values.into_table_order(), checks, layer, shortfalls, kept: None })
    }

    fn remarks(&self, pairs: &[PairResult], _verdict: &Ruling) -> Vec<String> {
        score_remarks(&self.labels, pairs)
    }

    fn ask(&self, pair: &Pair, _run: &RunKey, _files: &dyn Files) -> Result<Option<Ask>, Diagnostic> {
        let InterviewScenario { context, persona, rounds, .. } = self.folder.case(pair);
        let client = Client { says: Speech::Context(context), persona: persona.as_deref(), rounds: *rounds };
        Ok(Some(client.ask()))
    }

    /// The request depends on the case alone.
    fn read_inputs(&self, _pair: &Pair, _files: &dyn Files) {}

    fn audit(&self, files: &dyn Files) -> Audit {
        self.folder.audit(files)
    }
}

//! The golden file of a scenario.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::diag::{Code, Diagnostic};
use crate::files::SourceText;
use crate::format::Step::{At, Key};
use crate::format::{JsonCursor, Step, json};
use crate::suites::shared::atoms::Atom;
use crate::suites::shared::case_frame::{CaseForm, Framed};
use crate::suites::shared::folder::{GoldenCase, StatedName};
use crate::suites::shared::golden::step;
use crate::suites::shared::rubric::{Measure, invariant};
use crate::suites::shared::terms::TermList;
use crate::text::Keyword;

/// `scenarios/{scenarioId}.json` in the format of the seed.
// The atoms are borrowed from the text, so that every part has a position.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(title = "interview scenario")]
pub struct InterviewScenarioForm<'a> {
    /// Its id; the file's name by default.
    scenario_id: Option<String>,
    /// What the client has in mind: `domain`, `constraints`, and anything else that the agent gets.
    #[serde(default)]
    context: Map<String, Value>,
    /// The atoms that the interview must produce.
    #[serde(borrow, default)]
    #[schemars(with = "Vec<ExpectedAtomForm>")]
    expected_atoms: Vec<&'a RawValue>,
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
}

impl CaseForm for InterviewScenarioForm<'_> {}

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

/// An expected atom, ready to be compared.
pub struct ExpectedAtom {
    /// At least one must be in the description; empty means no condition.
    pub words: Vec<Keyword>,
    /// The accepted categories; empty means any.
    pub categories: Vec<String>,
    /// The minimum number of observable outcomes.
    pub outcomes: usize,
    /// Whether evidence is required.
    pub evidence: bool,
    /// The rule that it tests.
    pub rule: Option<String>,
    /// Its line in the golden file.
    pub line: u32,
}

/// A scenario, ready to be graded.
pub struct InterviewScenario {
    /// What the client has in mind.
    pub context: Map<String, Value>,
    /// The client's manner of speaking.
    pub persona: Option<String>,
    /// The maximum number of rounds of questions.
    pub rounds: Option<u64>,
    pub expected: Vec<ExpectedAtom>,
    /// The minimum points of the rubric, 0 to 12.
    pub least: f64,
    pub measure: Measure,
}

pub fn read_scenario(
    source: &SourceText,
    vague: &TermList,
    edge_case: &TermList,
) -> Result<GoldenCase<InterviewScenario>, Diagnostic> {
    let Framed { frame, form } = json::golden::<Framed<InterviewScenarioForm<'_>>>(source)?;
    let cursor = JsonCursor::whole(source);
    if !(0.0..=12.0).contains(&form.minimum_rubric_score) {
        let what = format!("minimumRubricScore is {}", form.minimum_rubric_score);
        let path = [Key("minimumRubricScore")];
        return Err(cursor.problem_of_key(
            &path,
            Code::BAD_SCORE,
            what,
            "the rubric has 0 to 12 points",
        ));
    }
    let invariants = invariants(&form, &cursor)?;
    cursor.few_expectations("expectedAtoms", form.expected_atoms.len())?;
    let atoms = form.expected_atoms.iter();
    let expected = atoms
        .map(|raw| ExpectedAtom::read(&JsonCursor::part(source, raw)))
        .collect::<Result<_, _>>()?;
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
    let id = form.scenario_id.map(|text| StatedName {
        text,
        at: cursor.value(&[Key("scenarioId")]),
    });
    Ok(GoldenCase {
        id,
        measured_with,
        ..frame.case(&cursor, scenario)?
    })
}

/// The keywords of the invariants: the stated ones, else the context's constraints.
fn invariants(
    form: &InterviewScenarioForm<'_>,
    cursor: &JsonCursor<'_>,
) -> Result<Vec<Vec<Keyword>>, Diagnostic> {
    let constraints = [Key("context"), Key("constraints")];
    let texts = |value: &Value| {
        value
            .as_array()?
            .iter()
            .map(|one| one.as_str().map(str::to_owned))
            .collect::<Option<Vec<String>>>()
    };
    let constraints_stated = match form.context.get("constraints") {
        None => Vec::new(),
        Some(value) => texts(value).ok_or_else(|| {
            let help = "write a list: without invariants, the constraints are used in their place";
            cursor.problem_of_key(
                &constraints,
                Code::WRONG_TYPE,
                "the context's constraints are not a list of strings",
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
            return Err(cursor.problem(
                &step(path, At(at)),
                Code::EMPTY_KEYWORD,
                what,
                "name what must be true",
            ));
        }
        all.push(words);
    }
    Ok(all)
}

impl ExpectedAtom {
    fn read(cursor: &JsonCursor<'_>) -> Result<Self, Diagnostic> {
        let ExpectedAtomForm {
            description_contains_any,
            category_one_of,
            min_outcomes,
            requires_evidence,
            rule,
        } = cursor.read()?;
        if description_contains_any.is_empty()
            && category_one_of.is_empty()
            && min_outcomes == 0
            && !requires_evidence
        {
            let help =
                "state descriptionContainsAny, categoryOneOf, minOutcomes or requiresEvidence";
            return Err(cursor.problem(
                &[],
                Code::ASKS_NOTHING,
                "an expected atom states no condition",
                help,
            ));
        }
        let category = |(at, text): (usize, &String)| {
            cursor.category(&[Key("categoryOneOf"), At(at)], text, None)
        };
        Ok(Self {
            words: cursor.keywords(&[Key("descriptionContainsAny")], &description_contains_any)?,
            categories: category_one_of
                .iter()
                .enumerate()
                .map(category)
                .collect::<Result<_, _>>()?,
            outcomes: min_outcomes,
            evidence: requires_evidence,
            rule: cursor.rule(rule)?,
            line: cursor.line(),
        })
    }

    /// Whether the description of an atom has one of the words.
    pub fn named(&self, atom: &Atom) -> bool {
        self.words.is_empty() || self.words.iter().any(|word| word.is_in(&atom.description))
    }

    /// Whether the category of an atom is accepted.
    pub fn sorted(&self, atom: &Atom) -> bool {
        self.categories.is_empty() || self.categories.contains(&atom.category)
    }

    /// Whether an atom meets every condition.
    pub fn matches(&self, atom: &Atom) -> bool {
        self.named(atom)
            && self.sorted(atom)
            && atom.outcomes >= self.outcomes
            && (atom.has_evidence || !self.evidence)
    }
}

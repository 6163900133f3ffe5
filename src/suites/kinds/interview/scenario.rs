//! The golden file of a scenario.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::diag::{Code, Diagnostic};
use crate::files::SourceText;
use crate::format::Step::{At, Key};
use crate::format::{JsonCursor, json};
use crate::model::{InputLimit, reaches};
use crate::suites::shared::atoms::Atom;
use crate::suites::shared::case_frame::{CaseForm, Framed};
use crate::suites::shared::entries::CaseIdText;
use crate::suites::shared::folder::{GoldenCase, stated_id};
use crate::suites::shared::golden::step;
use crate::suites::shared::rubric::{Measure, USUAL_CLARIFICATIONS, stated_invariants};
use crate::suites::shared::terms::TermList;
use crate::text::Keyword;

/// `scenarios/{scenarioId}.json`.
// The atoms are borrowed from the text, so that every part has a position.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(title = "interview scenario")]
pub struct InterviewScenarioForm<'a> {
    /// Its id; the file's name by default.
    id: Option<CaseIdText>,
    /// The same as `id`.
    scenario_id: Option<CaseIdText>,
    /// What the client has in mind: `domain`, `constraints`, `invariants`, and anything else that the agent gets.
    #[serde(default)]
    context: Map<String, Value>,
    /// What the client says, in order.
    #[serde(default)]
    user_messages: Vec<UserMessageForm>,
    /// The atoms that the interview must produce.
    #[serde(borrow, default)]
    #[schemars(with = "Vec<ExpectedAtomForm>")]
    expected_atoms: Vec<&'a RawValue>,
    /// What no atom's description may contain.
    #[serde(default)]
    expected_non_goals: Vec<String>,
    /// Questions that the conversation leaves open. They are shown if the case fails, and not graded.
    #[serde(default)]
    expected_open_questions: Vec<String>,
    /// How an agent is known to fail. It is shown if the case fails, and not graded.
    #[serde(default)]
    expected_failures: Vec<String>,
    /// The minimum points of the rubric, 0 to 12; 8 by default.
    #[serde(default = "usual_minimum")]
    minimum_rubric_score: f64,
    /// Conditions that must always be true; the context's invariants by default, else its constraints.
    invariants: Option<Vec<String>>,
    /// The expected number of clarifying questions; 2 by default.
    expected_clarifications: Option<usize>,
    /// The client's manner of speaking; part of the case.
    persona_variant: Option<String>,
    /// The maximum number of rounds of questions.
    rounds: Option<u64>,
}

fn usual_minimum() -> f64 {
    8.0
}

/// What the client says in one turn.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct UserMessageForm {
    /// The number of the turn, from 1.
    turn: Option<usize>,
    /// The client's words.
    content: String,
    /// The questions that it answers, for people.
    #[serde(default, rename = "answersQuestionIds")]
    _answers_question_ids: Vec<String>,
    /// Whether the client has nothing more to say, for people.
    #[serde(default, rename = "signalsDone")]
    _signals_done: bool,
}

impl CaseForm for InterviewScenarioForm<'_> {}

/// One expected atom.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ExpectedAtomForm {
    /// At least one must be in the description; empty means no condition.
    #[serde(default)]
    description_contains_any: Vec<String>,
    /// The same as a list with this text; a stated list counts instead.
    description_contains: Option<String>,
    /// The accepted categories; empty means any.
    #[serde(default)]
    category_one_of: Vec<String>,
    /// The same as a list with this category; a stated list counts instead.
    category: Option<String>,
    /// The minimum number of observable outcomes.
    #[serde(default)]
    min_outcomes: usize,
    /// The minimum confidence that the agent states.
    min_confidence: Option<f64>,
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
    /// The minimum confidence that the agent states.
    pub confidence: Option<f64>,
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
    /// What the client says, in order.
    pub messages: Vec<String>,
    /// The client's manner of speaking.
    pub persona: Option<String>,
    /// The maximum number of rounds of questions.
    pub rounds: Option<u64>,
    pub expected: Vec<ExpectedAtom>,
    /// What no description may contain.
    pub non_goals: Vec<Keyword>,
    /// What readers see of a case that fails, and nothing grades: a title with its texts.
    pub shown: [(&'static str, Vec<String>); 2],
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
        let message = format!("minimumRubricScore is {}", form.minimum_rubric_score);
        let path = [Key("minimumRubricScore")];
        return Err(cursor.problem_of_key(
            &path,
            Code::BAD_SCORE,
            message,
            "the rubric has 0 to 12 points",
        ));
    }
    let invariants = stated_invariants(form.invariants.as_deref(), &form.context, &cursor)?;
    cursor.few_expectations("expectedAtoms", form.expected_atoms.len())?;
    cursor.few_expectations("expectedNonGoals", form.expected_non_goals.len())?;
    let atoms = form.expected_atoms.iter();
    let expected = atoms
        .map(|raw| ExpectedAtom::read(&JsonCursor::part(source, raw)))
        .collect::<Result<_, _>>()?;
    let measured_with = format!("{}{}", vague.text(), edge_case.text());
    let measure = Measure {
        vague: vague.clone(),
        edge_case: edge_case.clone(),
        clarifications: form.expected_clarifications.unwrap_or(USUAL_CLARIFICATIONS),
        invariants,
    };
    let scenario = InterviewScenario {
        context: form.context,
        messages: messages(form.user_messages, &cursor)?,
        persona: form.persona_variant,
        rounds: form.rounds,
        expected,
        non_goals: cursor.keywords(&[Key("expectedNonGoals")], &form.expected_non_goals)?,
        shown: [
            ("open questions", form.expected_open_questions),
            ("known failures", form.expected_failures),
        ],
        least: form.minimum_rubric_score,
        measure,
    };
    let id = stated_id(form.id, form.scenario_id, &cursor)?;
    Ok(GoldenCase {
        id,
        measured_with,
        ..frame.case(&cursor, scenario)?
    })
}

/// What the client says, in order.
fn messages(
    forms: Vec<UserMessageForm>,
    cursor: &JsonCursor<'_>,
) -> Result<Vec<String>, Diagnostic> {
    let limit = &InputLimit::TURNS;
    if limit.is_exceeded_by(forms.len()) {
        let message = format!(
            "{} entries in `userMessages`; the limit is {limit}",
            forms.len()
        );
        let path = [Key("userMessages"), At(limit.count())];
        return Err(cursor.problem(&path, Code::TOO_MANY, message, limit.help));
    }
    let mut messages = Vec::with_capacity(forms.len());
    for (index, form) in forms.into_iter().enumerate() {
        let path = [Key("userMessages"), At(index)];
        if let Some(turn) = form.turn.filter(|turn| *turn != index + 1) {
            let message = format!("message {} has the turn {turn}", index + 1);
            let help = "list the messages in the order of their turns, from 1";
            return Err(cursor.problem(&step(&path, Key("turn")), Code::BAD_NUMBER, message, help));
        }
        let content = step(&path, Key("content"));
        cursor.filled(&content, "a message of the client", &form.content)?;
        messages.push(form.content);
    }
    Ok(messages)
}

impl ExpectedAtom {
    fn read(cursor: &JsonCursor<'_>) -> Result<Self, Diagnostic> {
        let ExpectedAtomForm {
            description_contains_any,
            description_contains,
            category_one_of,
            category,
            min_outcomes,
            min_confidence,
            requires_evidence,
            rule,
        } = cursor.read()?;
        let words = if description_contains_any.is_empty() {
            let word = description_contains
                .map(|text| cursor.keyword(&[Key("descriptionContains")], &text));
            word.into_iter().collect::<Result<_, _>>()?
        } else {
            cursor.keywords(&[Key("descriptionContainsAny")], &description_contains_any)?
        };
        let categories: Vec<String> = if category_one_of.is_empty() {
            let category = category.map(|text| cursor.category(&[Key("category")], &text, None));
            category.into_iter().collect::<Result<_, _>>()?
        } else {
            let mut categories = Vec::with_capacity(category_one_of.len());
            for (index, text) in category_one_of.iter().enumerate() {
                let path = [Key("categoryOneOf"), At(index)];
                categories.push(cursor.category(&path, text, None)?);
            }
            categories
        };
        let states_none = words.is_empty() && categories.is_empty() && min_confidence.is_none();
        if states_none && min_outcomes == 0 && !requires_evidence {
            let help = "state descriptionContainsAny, categoryOneOf, minOutcomes, minConfidence or requiresEvidence";
            return Err(cursor.problem(
                &[],
                Code::ASKS_NOTHING,
                "an expected atom states no condition",
                help,
            ));
        }
        Ok(Self {
            words,
            categories,
            outcomes: min_outcomes,
            confidence: min_confidence,
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

    /// Whether the agent is confident enough of an atom.
    pub fn trusted(&self, atom: &Atom) -> bool {
        match (self.confidence, atom.confidence) {
            (None, _) => true,
            (Some(least), Some(stated)) => reaches(stated, least),
            (Some(_), None) => false,
        }
    }

    /// Whether an atom meets every condition.
    pub fn matches(&self, atom: &Atom) -> bool {
        self.named(atom)
            && self.sorted(atom)
            && atom.outcomes >= self.outcomes
            && self.trusted(atom)
            && (atom.has_evidence || !self.evidence)
    }
}

//! A critic's evaluation of a revised document, compared with the verifier's result.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

use super::draft::{Draft, number};
use super::fault::{Criterion, FaultKind};
use super::score::{Verification, overall};
use super::scoring::Scoring;
use crate::model::{EPSILON, Word, reaches};
use crate::text::{norm, pattern};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Evaluation {
    /// Its overall score, 0 to 1.
    pub overall: f64,
    /// Its scores of the five criteria, 0 to 1, in the order of [`Criterion::ALL`].
    pub scores: [f64; 5],
    pub satisfied: bool,
    /// The sum of the penalties that it states, if any.
    pub penalties: Option<f64>,
    /// The criteria that it reports as unmet.
    pub unmet: Vec<Criterion>,
    /// Its feedback, normalized.
    pub feedback: String,
    pub suggestions: Vec<Suggestion>,
    /// The risks that it reports.
    pub red_flags: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Suggestion {
    /// The section that it applies to.
    pub section: String,
    /// Its reason and instruction.
    pub words: String,
}

/// What an evaluation says of the criteria.
struct Marks {
    scores: [f64; 5],
    unmet: Vec<Criterion>,
    feedback: String,
    suggestions: Vec<Suggestion>,
}

/// Reads an evaluation. Deviations from the schema are returned as flaws.
pub fn read_evaluation(value: &Value) -> (Evaluation, Vec<String>) {
    let mut reader = CriticReader { flaws: Vec::new() };
    let Value::Object(fields) = value else {
        return (
            Evaluation::default(),
            vec!["the evaluation is not an object".to_owned()],
        );
    };
    let evaluation = reader.evaluation(fields);
    (evaluation, reader.flaws)
}

struct CriticReader {
    flaws: Vec<String>,
}

impl CriticReader {
    fn flaw(&mut self, flaw: impl Into<String>) {
        self.flaws.push(flaw.into());
    }

    fn evaluation(&mut self, fields: &Map<String, Value>) -> Evaluation {
        let (marks, satisfied) = match fields.get("criteria") {
            Some(criteria) => (
                self.marks_by_criteria(fields, criteria),
                "overall_satisfied",
            ),
            None => (self.marks(fields), "satisfied"),
        };
        let Marks {
            scores,
            unmet,
            feedback,
            suggestions,
        } = marks;
        Evaluation {
            overall: self.score("overall_score", fields.get("overall_score")),
            scores,
            satisfied: self.yes_or_no(satisfied, fields.get(satisfied)),
            penalties: deducted(fields.get("penalties")),
            unmet,
            feedback: norm(&feedback),
            suggestions,
            red_flags: self.texts("red_flags", fields.get("red_flags")),
        }
    }

    fn marks(&mut self, fields: &Map<String, Value>) -> Marks {
        let mut scores = [0.0; 5];
        match fields.get("criteria_scores") {
            Some(Value::Object(given)) => {
                for criterion in Criterion::ALL {
                    let name = format!("criteria_scores.{}", criterion.as_str());
                    scores[criterion.index()] = self.score(&name, given.get(criterion.as_str()));
                }
                for key in given.keys().filter(|key| criterion(key).is_none()) {
                    self.flaw(format!(
                        "criteria_scores has \"{key}\", which is not a criterion"
                    ));
                }
            }
            Some(_) => self.flaw("criteria_scores is not an object"),
            None => self.flaw("criteria_scores is missing"),
        }
        if fields
            .get("attempt_number")
            .is_none_or(|number| number.as_u64().is_none_or(|number| number == 0))
        {
            self.flaw("attempt_number is missing, or not a number from 1 on");
        }
        let mut unmet = Vec::new();
        for name in self.texts("unmet_criteria", fields.get("unmet_criteria")) {
            match criterion(&name) {
                Some(known) => unmet.push(known),
                None => self.flaw(format!(
                    "unmet_criteria names \"{name}\", which is not a criterion"
                )),
            }
        }
        Marks {
            scores,
            unmet,
            feedback: self
                .text("feedback", fields.get("feedback"))
                .unwrap_or_default()
                .to_owned(),
            suggestions: self.suggestions(fields.get("revision_suggestions")),
        }
    }

    /// The marks of an evaluation with an object for each criterion, under names of the critic's own. A criterion without a name here is met.
    fn marks_by_criteria(&mut self, fields: &Map<String, Value>, criteria: &Value) -> Marks {
        let (mut scores, mut unmet, mut feedback) = ([1.0_f64; 5], Vec::new(), Vec::new());
        if !criteria.is_object() {
            self.flaw("criteria is not an object");
        }
        for (key, criterion) in criteria.as_object().into_iter().flatten() {
            let name = format!("criteria.{key}");
            let score = self.score(&format!("{name}.score"), criterion.get("score"));
            let passes = self.yes_or_no(&format!("{name}.pass"), criterion.get("pass"));
            let words = self.text(&format!("{name}.explanation"), criterion.get("explanation"));
            feedback.extend(words.map(|words| format!("{key}: {words}")));
            if let Some(known) = Criterion::in_name(key) {
                let lowest = &mut scores[known.index()];
                *lowest = lowest.min(score);
                if !passes {
                    unmet.push(known);
                }
            }
        }
        let named = self.texts("unmet_criteria", fields.get("unmet_criteria"));
        unmet.extend(named.iter().filter_map(|name| Criterion::in_name(name)));
        let suggestions = self.list("revision_suggestions", fields.get("revision_suggestions"));
        Marks {
            scores,
            unmet,
            feedback: feedback.join(" "),
            suggestions: suggestions
                .iter()
                .map(Suggestion::without_section)
                .collect(),
        }
    }

    /// A text; a missing one is a flaw.
    fn text<'v>(&mut self, name: &str, value: Option<&'v Value>) -> Option<&'v str> {
        let text = value.and_then(Value::as_str);
        if text.is_none() {
            self.flaw(missing_or(name, value, "a string"));
        }
        text
    }

    fn yes_or_no(&mut self, name: &str, value: Option<&Value>) -> bool {
        let stated = value.and_then(Value::as_bool);
        if stated.is_none() {
            self.flaw(missing_or(name, value, "true or false"));
        }
        stated.unwrap_or(false)
    }

    fn score(&mut self, name: &str, value: Option<&Value>) -> f64 {
        match value.map(Value::as_f64) {
            Some(Some(score)) if (-EPSILON..=1.0 + EPSILON).contains(&score) => score,
            Some(Some(score)) => {
                self.flaw(format!("{name} is {score}, not between 0 and 1"));
                score.clamp(0.0, 1.0)
            }
            Some(None) | None => {
                self.flaw(missing_or(name, value, "a number"));
                0.0
            }
        }
    }

    /// A list; a missing one is a flaw.
    fn list<'v>(&mut self, name: &str, value: Option<&'v Value>) -> &'v [Value] {
        match value {
            Some(Value::Array(list)) => list,
            value => {
                self.flaw(missing_or(name, value, "a list"));
                &[]
            }
        }
    }

    /// A list of texts; a missing one is a flaw.
    fn texts(&mut self, name: &str, value: Option<&Value>) -> Vec<String> {
        let list = self.list(name, value);
        let texts: Vec<String> = list
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect();
        if texts.len() < list.len() {
            self.flaw(format!("{name} has an entry that is not a string"));
        }
        texts
    }

    fn suggestions(&mut self, value: Option<&Value>) -> Vec<Suggestion> {
        let list = self.list("revision_suggestions", value);
        let mut suggestions = Vec::with_capacity(list.len());
        for (index, suggestion) in list.iter().enumerate() {
            if !suggestion.is_object() {
                self.flaw(format!("revision_suggestions[{index}] is not an object"));
                continue;
            }
            if !matches!(
                text_of(suggestion, "action"),
                "add" | "delete" | "replace" | "edit"
            ) {
                self.flaw(format!(
                    "revision_suggestions[{index}].action is not one of add, delete, replace, edit"
                ));
            }
            // An empty one is a place that no document has.
            if !suggestion
                .get("target_section")
                .is_some_and(Value::is_string)
            {
                self.flaw(format!(
                    "revision_suggestions[{index}] has no target_section"
                ));
            }
            let reason = norm(text_of(suggestion, "reason"));
            let instruction = norm(text_of(suggestion, "instruction"));
            for (key, words) in [("reason", &reason), ("instruction", &instruction)] {
                if words.is_empty() {
                    self.flaw(format!("revision_suggestions[{index}] has no {key}"));
                }
            }
            let inserted = suggestion.get("text_to_insert");
            if inserted.is_some_and(|text| !text.is_string() && !text.is_null()) {
                self.flaw(format!(
                    "revision_suggestions[{index}].text_to_insert is not a string"
                ));
            }
            if let Some(constraints) = suggestion.get("constraints") {
                let name = format!("revision_suggestions[{index}].constraints");
                self.texts(&name, Some(constraints));
            }
            suggestions.push(Suggestion {
                section: norm(text_of(suggestion, "target_section")),
                words: format!("{reason} {instruction}"),
            });
        }
        suggestions
    }
}

fn text_of<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

impl Suggestion {
    /// Of a critic that states only texts.
    fn without_section(value: &Value) -> Self {
        let words = match value.as_str() {
            Some(text) => norm(text),
            None => norm(&value.to_string()),
        };
        Self {
            section: String::new(),
            words,
        }
    }
}

/// The criterion of a key whose words are separated by `_`, `-` or blanks.
fn criterion(name: &str) -> Option<Criterion> {
    Criterion::of_word(&norm(name).replace(['-', ' '], "_"))
}

fn missing_or(name: &str, value: Option<&Value>, needed: &str) -> String {
    match value {
        None => format!("{name} is missing"),
        Some(_) => format!("{name} is not {needed}"),
    }
}

/// The sum of the stated penalties: a number, a list of numbers or of objects with one, or an object of numbers.
fn deducted(value: Option<&Value>) -> Option<f64> {
    match value? {
        Value::Array(list) => list.iter().map(amount).sum(),
        Value::Object(fields) => fields.values().map(amount).sum(),
        number => amount(number),
    }
}

fn amount(penalty: &Value) -> Option<f64> {
    if let Some(number) = penalty.as_f64() {
        return Some(number.abs());
    }
    let mut keys = ["amount", "penalty", "value"].into_iter();
    let number = keys.find_map(|key| penalty.get(key)?.as_f64())?;
    Some(number.abs())
}

/// Tolerance between a critic's overall score and its own arithmetic.
const OFF: f64 = 0.01;

/// An evaluation and the verification of the same document.
pub struct VerifiedEvaluation<'a> {
    pub evaluation: &'a Evaluation,
    pub verification: &'a Verification,
    pub scoring: &'a Scoring,
}

impl VerifiedEvaluation<'_> {
    /// Checks that the overall score equals the weighted scores minus the penalties. If the evaluation states no penalties,
    /// the verifier's are used. Returns the difference as a message.
    pub fn arithmetic(&self) -> Option<String> {
        let Self {
            evaluation,
            verification,
            scoring,
        } = self;
        let weighted = overall(&evaluation.scores, &[], scoring);
        let (deducted, whose) = match evaluation.penalties {
            Some(penalties) => (penalties, "its own"),
            None => {
                let amounts = verification.penalties.iter().map(|penalty| penalty.amount);
                (amounts.sum(), "the verifier's")
            }
        };
        let expected = (weighted - deducted).clamp(0.0, 1.0);
        let overall = evaluation.overall;
        let is_off = (overall - expected).abs() > OFF + EPSILON;
        if !is_off {
            return None;
        }
        let less = if deducted == 0.0 {
            String::new()
        } else {
            format!(" minus {whose} penalties of {deducted:.2}")
        };
        Some(format!(
            "overall_score is {overall}, but its weighted scores give {weighted:.4}{less}"
        ))
    }

    /// A contradiction: satisfied below the quality gate, or not satisfied without a reason.
    pub fn contradiction(&self) -> Option<String> {
        let Evaluation {
            overall,
            satisfied,
            unmet,
            red_flags,
            ..
        } = self.evaluation;
        let gate = self.scoring.quality_gate;
        match (satisfied, reaches(*overall, gate)) {
            (true, false) => Some(format!(
                "satisfied with {overall}, but the quality gate is {gate}"
            )),
            (false, true) if unmet.is_empty() && red_flags.is_empty() => Some(format!(
                "not satisfied with {overall}, without an unmet criterion or a red flag as a reason"
            )),
            (true | false, _) => None,
        }
    }

    /// Whether it passes a document that fails the verifier.
    pub fn falsely_satisfied(&self) -> bool {
        self.evaluation.satisfied && !self.verification.satisfied
    }

    fn rejects(&self, criterion: Criterion) -> bool {
        let Evaluation { unmet, scores, .. } = self.evaluation;
        unmet.contains(&criterion) || !reaches(scores[criterion.index()], self.scoring.quality_gate)
    }

    /// The failures found by the verifier but not by the critic: criteria, and format damage.
    pub fn missed(&self) -> Vec<String> {
        let mut missed = Vec::new();
        for criterion in Criterion::ALL {
            if let Some(first) = self.verification.against(criterion).next()
                && !self.rejects(criterion)
            {
                missed.push(format!("{}: {}", criterion.as_str(), first.detail));
            }
        }
        if let Some(damage) = self
            .verification
            .of(FaultKind::Corrupt)
            .next()
            .filter(|_| !self.mentions(&FORMAT))
        {
            missed.push(format!("format: {}", damage.detail));
        }
        missed
    }

    /// The criteria that it reports as unmet although the verifier found no fault.
    pub fn invented(&self) -> Vec<Criterion> {
        let mut invented = Vec::new();
        for criterion in Criterion::ALL {
            let is_clean = self.verification.against(criterion).next().is_none();
            if is_clean && self.rejects(criterion) {
                invented.push(criterion);
            }
        }
        invented
    }

    /// The criteria that it reports as unmet without saying how to fix them.
    pub fn unexplained(&self) -> Vec<Criterion> {
        let rejected: Vec<Criterion> = Criterion::ALL
            .into_iter()
            .filter(|criterion| self.rejects(*criterion))
            .collect();
        if self.evaluation.suggestions.len() >= rejected.len()
            && !self.evaluation.feedback.is_empty()
        {
            return Vec::new();
        }
        rejected
            .into_iter()
            .filter(|criterion| !self.advises(&WORDS[criterion]))
            .collect()
    }

    /// Whether feedback or a suggestion matches; red flags do not count, because they do not say how to fix anything.
    fn advises(&self, words: &Regex) -> bool {
        let Evaluation {
            feedback,
            suggestions,
            ..
        } = self.evaluation;
        words.is_match(feedback)
            || suggestions
                .iter()
                .any(|suggestion| words.is_match(&suggestion.words))
    }

    fn mentions(&self, words: &Regex) -> bool {
        let mut flags = self.evaluation.red_flags.iter().map(|flag| norm(flag));
        self.advises(words) || flags.any(|flag| words.is_match(&flag))
    }

    /// The targets of suggestions that exist in neither document.
    pub fn unknown_targets(&self, original: &Draft, revised: &Draft) -> Vec<&str> {
        let mut unknown = Vec::new();
        for suggestion in &self.evaluation.suggestions {
            let target = suggestion.section.as_str();
            let is_known = WHOLE.is_match(target)
                || has_target(original, target)
                || has_target(revised, target);
            if !is_known {
                unknown.push(target);
            }
        }
        unknown
    }
}

static FORMAT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(?:rtf|format|brace|font|style|control word|corrupt|table row)"));
static NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern(r"[0-9]+(?:\.[0-9]+)*"));
/// Names of document parts that have no number.
static WHOLE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:header|footer|footnote|endnote|table|preamble|recitals?|part(?:y|ies)|title|signature|cover|opening|definitions?|schedule|annex|appendix|whole|entire|throughout|document|all sections)",
    )
});
static WORDS: LazyLock<BTreeMap<Criterion, Regex>> = LazyLock::new(|| {
    [
        (Criterion::Entities, r"\b(?:entit|part(?:y|ies)|name|replace)"),
        (Criterion::Jurisdiction, r"\b(?:jurisdiction|law|forum|court|venue|state)"),
        (Criterion::Liability, r"\b(?:liab|indemn|harmless)"),
        (Criterion::Clauses, r"\b(?:clause|section|add|delet|remov|insert|edit)"),
        (
            Criterion::Coherence,
            r"\b(?:legal_coheren|coheren|referenc|definition|defined|number|orphan|contradict|renumber|unintended|unchanged)",
        ),
    ]
    .map(|(criterion, words)| (criterion, pattern(words)))
    .into()
});

/// Whether a document has the section that a target names by its number, or else by its heading.
fn has_target(draft: &Draft, target: &str) -> bool {
    let mut sections = draft.sections.iter();
    match NUMBER
        .find(target)
        .and_then(|digits| number(digits.as_str()))
    {
        Some(number) => sections.any(|section| section.number.starts_with(&number)),
        None => sections.any(|section| {
            !section.heading.is_empty() && target.contains(section.heading.as_str())
        }),
    }
}

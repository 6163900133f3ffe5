//! A case proposed from the transcripts of its samples. It checks what must be true, not how it was said.

mod answer;
mod calls;
mod evidence;
mod fixed_value;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use import::{Call, Transcript};
use serde::Serialize;
use serde_json::{Value, json};

use self::answer::{SampleAnswer, conditions};
use self::calls::{ProposedCalls, ProposedTrajectory, SampleCalls};
use self::evidence::{Evidence, ToolEffect};
use super::imported_runs::SamplesOfCase;
use crate::format::foreign_cases::ForeignCase;
use crate::model::CaseId;
use crate::suites::CaseStage;

/// A case of kind `tool_use`: what the agent did in its samples, as a proposal of what it should do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProposedCase {
    /// Its id: that of the run, or the name of the file, with the position of the run in a file with several queries.
    pub id: String,
    #[serde(skip_serializing_if = "is_accepted")]
    draft: CaseStage,
    #[serde(flatten)]
    said: ProposedMessages,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    answer: Vec<Value>,
    notes: String,
}

/// What the user says in a proposed case, and what the agent did.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
enum ProposedMessages {
    Query {
        query: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        expected_tools: Option<Vec<String>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        trajectory: Option<ProposedTrajectory>,
    },
    Turns {
        turns: Vec<ProposedTurn>,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct ProposedTurn {
    user: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trajectory: Option<ProposedTrajectory>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    answer: Vec<Value>,
}

/// Where the transcript of a case was read.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    pub file: &'a str,
    /// How many queries the file has.
    pub queries: QueryCount,
    /// The line of the run, or its number in a file that is not one of lines.
    pub position: u32,
    /// The case of the other tool, if the file has one for the run.
    pub case: Option<&'a ForeignCase>,
}

/// Whether a file can name a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryCount {
    /// Its runs are samples of one case.
    One,
    /// Its runs are of several cases.
    Several,
}

impl QueryCount {
    pub fn of<'a>(runs: impl IntoIterator<Item = &'a Transcript>) -> Self {
        let queries: HashSet<Vec<&str>> = runs.into_iter().map(Transcript::messages).collect();
        if queries.len() > 1 {
            Self::Several
        } else {
            Self::One
        }
    }
}

/// The fewest letters of the name of a file that says something.
const NAME_LETTERS: usize = 3;

/// What is proposed for the messages and the answers of a case.
struct Proposal {
    said: ProposedMessages,
    answer: Vec<Value>,
    /// What is not checked, because the samples differ.
    differing: Vec<String>,
}

impl ProposedCase {
    /// The case of its samples. What the case of another tool requires is required here, instead of facts of the answers.
    ///
    /// # Errors
    /// Why there is none: a sample without a query or an answer.
    fn of(
        samples: &[&Transcript],
        origin: Origin<'_>,
        stage: CaseStage,
        writing_tools: &BTreeSet<&str>,
    ) -> Result<Self, &'static str> {
        let unanswered = "without an answer";
        let first = samples.first().ok_or(unanswered)?;
        let query = first.query.as_ref().ok_or(unanswered)?;
        if query.trim().is_empty() {
            return Err(unanswered);
        }
        for run in samples {
            if run.text.as_ref().is_none_or(|text| text.trim().is_empty()) {
                return Err(unanswered);
            }
        }
        let required = origin.case.map(|case| case.answer()).unwrap_or_default();
        // A user who said two things before the answer did not ask one query.
        let is_query = match first.turns.as_slice() {
            [] => true,
            [only] => only.user == *query,
            [_, _, ..] => false,
        };
        let Proposal {
            said,
            answer,
            differing,
        } = if is_query {
            of_query(query, samples, required, writing_tools)
        } else {
            of_turns(samples, required, writing_tools)
        };
        let mut notes = format!("Proposed from {}.", origin.file);
        let answer = if answer.is_empty() && !said.requires_anything() {
            // Every case has to check something.
            vec![json!({ "length": { "chars": { "min": 1 } } })]
        } else {
            answer
        };
        if !said.checks_an_answer() && required.is_empty() && checks_nothing(&answer) {
            notes.push_str(" Nothing of the answer is checked: add what it must have.");
        }
        if !required.is_empty() {
            notes.push_str(" The checks of the answer are the assertions.");
        }
        if !differing.is_empty() {
            notes.push_str(&format!(
                " Not checked, because the samples differ: {}.",
                differing.join(", ")
            ));
        }
        let not_imported = origin.case.map(|case| case.left_out.join("; "));
        if let Some(left_out) = not_imported.filter(|left_out| !left_out.is_empty()) {
            notes.push_str(&format!(" Not imported: {left_out}."));
        }
        Ok(Self {
            id: id_of(first, origin),
            draft: stage,
            said,
            answer,
            notes,
        })
    }

    /// The case of trials with a simulated user: what all of them called. `None` if they have no call in common.
    fn of_trials(trials: &[&Transcript], file: &str, stage: CaseStage) -> Option<Self> {
        let (first, others) = trials.split_first()?;
        let common = first.calls.iter().filter(|call| {
            others
                .iter()
                .all(|run| run.calls.iter().any(|made| made.name == call.name))
        });
        let expected_tools = distinct_tools(common);
        if expected_tools.is_empty() && !trials.iter().all(|run| run.calls.is_empty()) {
            return None;
        }
        Some(Self {
            id: first.case.clone().filter(|id| CaseId::new(id).is_ok())?,
            draft: stage,
            said: ProposedMessages::Query {
                query: first.query.clone()?,
                expected_tools: Some(expected_tools),
                trajectory: None,
            },
            answer: Vec::new(),
            notes: format!("Proposed from {file}: each trial called these tools."),
        })
    }

    /// Whether a condition is on an answer.
    pub fn checks_an_answer(&self) -> bool {
        self.said.checks_an_answer() || !checks_nothing(&self.answer)
    }

    /// Gives the case an id that is not in use yet.
    pub fn renamed(&mut self, used: &mut BTreeSet<String>) {
        let first = self.id.clone();
        let numbered = (2..).map(|number| format!("{first}-{number}"));
        let free = std::iter::once(first.clone())
            .chain(numbered)
            .find(|id| !used.contains(id));
        self.id = free.unwrap_or(first);
        used.insert(self.id.clone());
    }
}

impl ProposedMessages {
    /// Whether a run can fail the case by its calls or by the answers of its turns.
    fn requires_anything(&self) -> bool {
        match self {
            Self::Query {
                query: _,
                expected_tools,
                trajectory,
            } => expected_tools.is_some() || trajectory.is_some(),
            Self::Turns { turns } => turns.iter().any(|turn| {
                turn.tools.is_some() || turn.trajectory.is_some() || !turn.answer.is_empty()
            }),
        }
    }

    /// Whether the answer of a turn has to meet a condition.
    fn checks_an_answer(&self) -> bool {
        match self {
            Self::Query { .. } => false,
            Self::Turns { turns } => turns.iter().any(|turn| !turn.answer.is_empty()),
        }
    }
}

/// Whether any answer that is not empty meets the conditions.
fn checks_nothing(conditions: &[Value]) -> bool {
    conditions
        .iter()
        .all(|condition| condition.get("length").is_some())
}

/// What is proposed for a case of one query.
fn of_query(
    query: &str,
    samples: &[&Transcript],
    required: &[Value],
    writing_tools: &BTreeSet<&str>,
) -> Proposal {
    let mut read: Vec<(Vec<&Call>, Evidence)> = Vec::new();
    for run in samples {
        let calls: Vec<&Call> = run.calls.iter().collect();
        let evidence = Evidence::of(run, &[query], &calls);
        read.push((calls, evidence));
    }
    let mut of_calls: Vec<SampleCalls<'_>> = Vec::new();
    let mut answers: Vec<SampleAnswer<'_>> = Vec::new();
    for (run, (calls, evidence)) in samples.iter().zip(&read) {
        of_calls.push(SampleCalls {
            calls: calls.clone(),
            earlier: 0,
            evidence,
        });
        answers.push(SampleAnswer {
            text: run.text.as_deref().unwrap_or_default(),
            calls: calls.clone(),
            evidence,
        });
    }
    let ProposedCalls {
        tools,
        trajectory,
        differing,
    } = ProposedCalls::of(&of_calls, writing_tools);

    // Results of another tool may not tell the calls.
    let tools = tools.filter(|tools| required.is_empty() || !tools.is_empty());
    Proposal {
        said: ProposedMessages::Query {
            query: query.to_owned(),
            expected_tools: tools,
            trajectory,
        },
        answer: match required {
            [] => conditions(&answers),
            required => required.to_vec(),
        },
        differing,
    }
}

/// What is proposed for a conversation: for each turn the calls in it, and facts of its answer.
fn of_turns(
    samples: &[&Transcript],
    required: &[Value],
    writing_tools: &BTreeSet<&str>,
) -> Proposal {
    let count = samples.iter().map(|run| run.turns.len()).min().unwrap_or(0);
    let (mut turns, mut differing) = (Vec::new(), Vec::new());
    for index in 0..count {
        let mut read: Vec<(TurnCalls<'_>, Evidence)> = Vec::new();
        for run in samples {
            let calls = TurnCalls::of(run, index);
            let messages: Vec<&str> = run
                .turns
                .iter()
                .take(index + 1)
                .map(|turn| turn.user.as_str())
                .collect();
            let evidence = Evidence::of(run, &messages, &calls.until);
            read.push((calls, evidence));
        }
        let mut of_calls: Vec<SampleCalls<'_>> = Vec::new();
        let mut answers: Vec<SampleAnswer<'_>> = Vec::new();
        for (run, (calls, evidence)) in samples.iter().zip(&read) {
            of_calls.push(SampleCalls {
                calls: calls.within.clone(),
                earlier: calls.until.len() - calls.within.len(),
                evidence,
            });
            answers.push(SampleAnswer {
                text: run.turns.get(index).map_or("", |turn| turn.text.as_str()),
                // An expression sees the last answer only.
                calls: calls.until.clone(),
                evidence,
            });
        }
        let proposed = ProposedCalls::of(&of_calls, writing_tools);
        differing.extend(proposed.differing);
        turns.push(ProposedTurn {
            user: samples
                .first()
                .and_then(|run| run.turns.get(index))
                .map_or_else(String::new, |turn| turn.user.clone()),
            tools: proposed.tools,
            trajectory: proposed.trajectory,
            answer: match required {
                [] => conditions(&answers),
                _ => Vec::new(),
            },
        });
    }
    Proposal {
        said: ProposedMessages::Turns { turns },
        answer: required.to_vec(),
        differing,
    }
}

/// The calls of a turn.
struct TurnCalls<'a> {
    /// In the turn.
    within: Vec<&'a Call>,
    /// In the turn and before it.
    until: Vec<&'a Call>,
}

impl<'a> TurnCalls<'a> {
    fn of(run: &'a Transcript, index: usize) -> Self {
        let is_only = run.turns.len() == 1;
        let earlier = run
            .calls
            .iter()
            .filter(|call| !is_only && turn_index(call).is_some_and(|turn| turn < index));
        let within: Vec<&Call> = run
            .calls
            .iter()
            .filter(|call| is_only || turn_index(call) == Some(index))
            .collect();
        Self {
            until: earlier.chain(within.iter().copied()).collect(),
            within,
        }
    }
}

/// The runs from which cases are proposed: how those of one case belong together.
pub struct ProposedSamples<'a> {
    samples: SamplesOfCase,
    trials: BTreeMap<&'a str, Vec<&'a Transcript>>,
    /// The tools that change something, by their names, of all runs.
    writing_tools: BTreeSet<&'a str>,
}

impl<'a> ProposedSamples<'a> {
    pub fn of(runs: impl IntoIterator<Item = &'a Transcript>, samples: SamplesOfCase) -> Self {
        let mut trials: BTreeMap<&str, Vec<&Transcript>> = BTreeMap::new();
        let mut writing_tools = BTreeSet::new();
        for run in runs {
            let names = run.calls.iter().map(|call| call.name.as_str());
            writing_tools.extend(names.filter(|name| ToolEffect::of(name) == ToolEffect::Writes));
            if let (SamplesOfCase::Trials, Some(case)) = (samples, run.case.as_deref()) {
                trials.entry(case).or_default().push(run);
            }
        }
        Self {
            samples,
            trials,
            writing_tools,
        }
    }

    /// What the user says in all samples of a case; nothing where trials name their case.
    pub fn messages<'r>(&self, run: &'r Transcript) -> Vec<&'r str> {
        if self.samples == SamplesOfCase::Trials && run.case.is_some() {
            Vec::new()
        } else {
            run.messages()
        }
    }

    /// The case of some samples, or of all trials of their case.
    ///
    /// # Errors
    /// Why none is proposed.
    pub fn case(
        &self,
        samples: &[&Transcript],
        origin: Origin<'_>,
        stage: CaseStage,
    ) -> Result<ProposedCase, &'static str> {
        let case = samples.first().and_then(|run| run.case.as_deref());
        match case.and_then(|case| self.trials.get(case)) {
            Some(trials) => ProposedCase::of_trials(trials, origin.file, stage)
                .ok_or("whose trials have no call in common"),
            None => ProposedCase::of(samples, origin, stage, &self.writing_tools),
        }
    }
}

/// The names of the called tools, each once.
fn distinct_tools<'a>(calls: impl IntoIterator<Item = &'a Call>) -> Vec<String> {
    let mut known = HashSet::new();
    calls
        .into_iter()
        .map(|call| call.name.clone())
        .filter(|name| known.insert(name.clone()))
        .collect()
}

/// Whether the case is written without the key `draft`.
fn is_accepted(stage: &CaseStage) -> bool {
    *stage == CaseStage::Accepted
}

/// The id of a case: that of the run, else that of its file, with the position of the run in a file with several queries. No text of a user
/// is part of it.
fn id_of(run: &Transcript, origin: Origin<'_>) -> String {
    if let Some(stated) = run.case.clone().filter(|id| CaseId::new(id).is_ok()) {
        return stated;
    }
    let named = stem(origin.file).map(|stem| {
        if stem.contains(|letter: char| letter.is_ascii_alphabetic()) {
            stem
        } else {
            format!("case-{stem}")
        }
    });
    let stem = named
        .filter(|id| CaseId::new(id).is_ok())
        .unwrap_or_else(|| "case".to_owned());
    match origin.queries {
        QueryCount::One => stem,
        QueryCount::Several => format!("{stem}-{}", origin.position),
    }
}

fn turn_index(call: &Call) -> Option<usize> {
    usize::try_from(call.turn?).ok()
}

/// The id of a case that has a file of its own: the file's name up to its first dot, if it is an id with some letters.
pub fn id_of_file(file: &str) -> Option<String> {
    let stem = stem(file)?;
    let says_something = stem.chars().filter(char::is_ascii_alphabetic).count() >= NAME_LETTERS;
    (says_something && CaseId::new(&stem).is_ok()).then_some(stem)
}

fn stem(file: &str) -> Option<String> {
    Some(file.split_once('.')?.0.replace(' ', "-"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use import::{Call, Transcript};
    use serde_json::{Value, json};

    use super::{Origin, ProposedCase, ProposedMessages, QueryCount, id_of, id_of_file};
    use crate::suites::CaseStage;

    fn origin(file: &str, queries: QueryCount) -> Origin<'_> {
        Origin {
            file,
            queries,
            position: 3,
            case: None,
        }
    }

    fn call(name: &str, arguments: Value, result: Value) -> Call {
        Call {
            name: name.to_owned(),
            arguments,
            result,
            ..Call::default()
        }
    }

    fn run(query: &str, calls: Vec<Call>, text: &str) -> Transcript {
        Transcript {
            query: Some(query.to_owned()),
            text: Some(text.to_owned()),
            calls,
            ..Transcript::default()
        }
    }

    fn proposed(samples: &[&Transcript]) -> Value {
        let case = ProposedCase::of(
            samples,
            origin("a.json", QueryCount::One),
            CaseStage::Draft,
            &BTreeSet::new(),
        );
        serde_json::to_value(case.unwrap()).unwrap()
    }

    /// The first form of each fact that the answer must have.
    fn facts(case: &Value) -> Vec<&str> {
        let conditions = case["answer"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        conditions
            .iter()
            .filter_map(|one| one["any_of"][0].as_str())
            .collect()
    }

    #[test]
    fn an_id_has_no_word_of_the_user() {
        let asked = run("My mail is jane@example.com", Vec::new(), "Fine.");
        for (file, queries, expected) in [
            ("late-order.json", QueryCount::One, "late-order"),
            ("a.jsonl", QueryCount::Several, "a-3"),
            ("17.json", QueryCount::One, "case-17"),
            ("17.jsonl", QueryCount::Several, "case-17-3"),
            ("caf\u{e9}.json", QueryCount::One, "case"),
            ("standard input", QueryCount::Several, "case-3"),
        ] {
            assert_eq!(id_of(&asked, origin(file, queries)), expected);
        }
        let stated = Transcript {
            case: Some("refund".to_owned()),
            ..asked
        };
        assert_eq!(id_of(&stated, origin("a.json", QueryCount::One)), "refund");
    }

    #[test]
    fn a_file_names_its_case_if_its_name_says_something() {
        assert_eq!(id_of_file("late-order.json").as_deref(), Some("late-order"));
        assert_eq!(
            id_of_file("Late order.sse.gz").as_deref(),
            Some("Late-order")
        );
        for name in [
            "17.json",
            "2026-03-04.json",
            "-late.json",
            "caf\u{e9}.json",
            ".json",
            "standard input",
        ] {
            assert_eq!(id_of_file(name), None, "{name}");
        }
    }

    #[test]
    fn a_call_has_the_arguments_that_another_run_repeats() {
        let arguments = json!({
            "id": "A-17", "amount": 40, "urgent": true, "currency": "EUR", "day": "2026-03-03", "name": "Eva Lind",
            "reason": "broken", "words": "it broke", "key": "f81d4fae", "lines": [1], "note": "" });
        let call = call("refund", arguments, json!({ "ok": true }));
        let case = proposed(&[&run(
            "Refund A-17 for Eva Lind, it broke.",
            vec![call],
            "Done.",
        )]);
        let values = json!({
            "id": "A-17", "amount": 40, "urgent": true, "currency": "EUR", "day": "2026-03-03", "name": "Eva Lind" });
        let step = json!({ "name": "refund", "args": { "match": "superset", "values": values } });
        assert_eq!(
            case["trajectory"],
            json!({ "mode": "in_order", "tools": [step] })
        );
        assert_eq!(case["expected_tools"], json!(["refund"]));
    }

    #[test]
    fn an_id_that_a_call_made_is_no_argument_and_one_that_was_looked_up_is() {
        let calls = |id: &str| {
            vec![
                call(
                    "find_customer",
                    json!({ "name": "Acme" }),
                    json!({ "customer": "C-5" }),
                ),
                call(
                    "create_ticket",
                    json!({ "customer": "C-5" }),
                    json!({ "ticket": id }),
                ),
                call(
                    "escalate",
                    json!({ "ticket": id, "customer": "C-5" }),
                    Value::Null,
                ),
            ]
        };
        let sample = |id: &str| run("Help Acme.", calls(id), &format!("It is ticket {id}."));
        let [one, other] = [sample("T-91"), sample("T-92")];
        for samples in [vec![&one], vec![&one, &other]] {
            let case = proposed(&samples);
            let steps = &case["trajectory"]["tools"];
            assert_eq!(
                steps[2]["args"]["values"],
                json!({ "customer": "C-5" }),
                "{case}"
            );
            let expected = "calls.exists(call, call.name == \"create_ticket\" && text.contains(call.result.ticket))";
            assert_eq!(case["answer"], json!([{ "expr": expected }]));
        }
    }

    #[test]
    fn an_answer_has_the_facts_of_results_and_no_words() {
        let found = |result: Value, text: &str| {
            run(
                "Where is order 12 of 5 May?",
                vec![call("get_order", json!({}), result)],
                text,
            )
        };
        let result =
            json!({ "shipped": "2026-03-11", "due": "2026-03-14", "total": 25.5, "boxes": 12 });
        let one = found(
            result.clone(),
            "Order 12 of 5 May, shipped on 11 March, arrives on 14 March in 12 boxes for 25.50 EUR.",
        );
        assert_eq!(facts(&proposed(&[&one])), ["14 March", "25.50"]);
        let brief = found(result.clone(), "It arrives on March 14th.");
        assert_eq!(facts(&proposed(&[&one, &brief])), ["14 March"]);
        let three = proposed(&[&one, &one, &one]);
        assert_eq!(
            facts(&three),
            ["12", "11 March", "14 March", "25.50"],
            "enough samples"
        );
        let computed = found(result, "Two of them are 51.00 EUR, at 25.50 EUR.");
        assert!(facts(&proposed(&[&computed])).is_empty());
        assert_eq!(facts(&proposed(&[&computed, &computed])), ["51.00"]);
    }

    #[test]
    fn an_answer_in_json_has_its_shape() {
        let query = "Read this: invoice 77-A, total 1,200.50 EUR";
        let text = r#"{"id": "77-A", "total": 1200.5, "score": 0.93, "paid": false, "remark": "looks fine", "lines": [1]}"#;
        let case = proposed(&[&run(query, Vec::new(), text)]);
        let fields = json!({
            "id": { "equals": "77-A" }, "total": { "equals": 1200.5 }, "score": { "type": "number" },
            "paid": { "equals": false }, "remark": { "type": "string" }, "lines": { "type": "array" } });
        assert_eq!(
            case["answer"],
            json!([{ "json": fields, "whole_json": true }])
        );
        let case = proposed(&[&run(query, Vec::new(), "[1, 2]")]);
        assert_eq!(
            case["answer"],
            json!([{ "json_schema": { "type": "array" }, "whole_json": true }])
        );
    }

    #[test]
    fn what_differs_between_samples_is_not_checked_and_named() {
        let of = |names: &[&str], step: Option<u32>| {
            let calls = names.iter().map(|name| Call {
                step,
                ..call(name, json!({ "n": name }), Value::Null)
            });
            run("Go.", calls.collect(), "Done.")
        };
        let [forth, back] = [of(&["set_a", "set_b"], None), of(&["set_b", "set_a"], None)];
        let case = proposed(&[&forth, &back]);
        assert_eq!(case["trajectory"]["mode"], "superset");
        assert!(
            case["notes"]
                .as_str()
                .unwrap()
                .contains("samples differ: the order of the calls."),
            "{case}"
        );
        let case = proposed(&[&of(&["set_a", "set_b"], Some(0)), &back]);
        assert_eq!(case["trajectory"]["mode"], "in_order");
        assert_eq!(
            case["trajectory"]["tools"][0]["parallel"]
                .as_array()
                .unwrap()
                .len(),
            2
        );
        let case = proposed(&[&forth, &of(&["set_a", "set_a"], None)]);
        assert_eq!(case["expected_tools"], json!(["set_a"]));
        let silent = of(&[], None);
        let case = proposed(&[&forth, &silent]);
        assert_eq!(
            (&case["expected_tools"], &case["trajectory"]),
            (&Value::Null, &Value::Null)
        );
        let any = json!([{ "length": { "chars": { "min": 1 } } }]);
        assert_eq!(case["answer"], any, "it has to check something");
    }

    #[test]
    fn the_order_of_calls_that_only_read_is_chance_and_a_repeated_call_is_one() {
        let rate = |to: &str| call("get_rate", json!({ "to": to }), json!({ "rate": 2 }));
        let failed = call(
            "get_rate",
            json!({ "to": "dollar" }),
            json!("Error: unknown"),
        );
        let calls = vec![failed, rate("USD"), rate("CHF"), rate("USD")];
        let case = proposed(&[&run("USD and CHF?", calls, "2 and 2")]);
        let [step] = case["trajectory"]["tools"].as_array().unwrap().as_slice() else {
            panic!("{case}")
        };
        let named = |index: usize| step["parallel"][index]["args"]["values"]["to"].clone();
        assert_eq!(
            [named(0), named(1), named(2)],
            [json!("USD"), json!("CHF"), Value::Null]
        );
        let looked_up = call("find_id", json!({ "name": "Acme" }), json!({ "id": "C-5" }));
        let needed = call("get_customer", json!({ "id": "C-5" }), Value::Null);
        let case = proposed(&[&run("Who is Acme?", vec![looked_up, needed], "Acme.")]);
        assert_eq!(
            case["trajectory"]["tools"][1]["name"], "get_customer",
            "it needs the id"
        );
    }

    #[test]
    fn equal_ids_are_numbered() {
        let case = |id: &str| ProposedCase {
            id: id.to_owned(),
            draft: CaseStage::Draft,
            said: ProposedMessages::Turns { turns: Vec::new() },
            answer: Vec::new(),
            notes: String::new(),
        };
        let mut used = BTreeSet::new();
        let ids = [case("a"), case("a"), case("a-2")].map(|mut one| {
            one.renamed(&mut used);
            one.id
        });
        assert_eq!(ids, ["a", "a-2", "a-2-2"]);
    }
}

//! A case proposed from a transcript.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use import::{Call, Transcript, Turn};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::imported_runs::SamplesOfCase;
use crate::format::foreign_cases::ForeignCase;
use crate::model::CaseId;
use crate::suites::CaseStage;

/// A case of kind `tool_use`: what the agent did in a transcript, as a proposal of what it should do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProposedCase {
    /// Its id: that of the run, the name of a file with this query alone, or the first words of the query.
    pub id: String,
    #[serde(skip_serializing_if = "is_accepted")]
    draft: CaseStage,
    category: &'static str,
    #[serde(flatten)]
    said: ProposedMessages,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    answer: Vec<Value>,
    notes: String,
}

/// What the user says in a proposed case, and what the agent did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
enum ProposedMessages {
    Query {
        query: String,
        expected_tools: Vec<String>,
        expected_output_contains: Vec<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        trajectory: Option<ProposedTrajectory>,
    },
    Turns {
        turns: Vec<ProposedTurn>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct ProposedTurn {
    user: String,
    tools: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trajectory: Option<ProposedTrajectory>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<ProposedAnswer>,
}

/// The words of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct ProposedAnswer {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    all_of: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    any_of: Vec<String>,
}

/// The calls in their order, with the arguments that another run of the agent has to repeat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct ProposedTrajectory {
    mode: &'static str,
    tools: Vec<ProposedCall>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct ProposedCall {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<ProposedArguments>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct ProposedArguments {
    #[serde(rename = "match")]
    how: &'static str,
    values: Map<String, Value>,
}

/// Where the transcript of a case was read.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    pub file: &'a str,
    /// How many queries the file has.
    pub queries: QueryCount,
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

/// The most words of each sort that a case requires of an answer.
const PHRASES: usize = 3;
/// The most calls of a proposed trajectory.
const CALLS: usize = 20;
/// The longest word that is proposed as an argument, in characters.
const WORD: usize = 60;
/// The most words of an answer that is proposed by its first word.
const SHORT_ANSWER: usize = 3;
/// The most words of a query in the id of its case.
const ID_WORDS: usize = 6;
/// The fewest letters of a word that says something.
const LETTERS: usize = 6;
/// The same, if an answer has no longer word.
const SHORT_LETTERS: usize = 4;
/// The fewest letters of the name of a file that says something.
const NAME_LETTERS: usize = 3;

impl ProposedCase {
    /// The case of a transcript; `None` without a query or without an answer. What the case of another tool requires is required
    /// here, instead of words of the answer.
    fn of(
        run: &Transcript,
        origin: Origin<'_>,
        known: &AnswerWords,
        stage: CaseStage,
    ) -> Option<Self> {
        let Origin {
            file,
            queries,
            case,
        } = origin;
        let (query, answer) = (run.query.as_ref()?, run.text.as_ref()?);
        let required: Vec<Value> = case.map(|case| case.answer().to_vec()).unwrap_or_default();
        let words = if required.is_empty() {
            known.distinctive(query, answer)
        } else {
            DistinctiveWords::default()
        };
        if query.trim().is_empty() || answer.trim().is_empty() {
            return None;
        }
        let tools = distinct_tools(&run.calls);
        let of_turns = if required.is_empty() {
            TurnWords::Proposed
        } else {
            TurnWords::Omitted
        };
        let is_multi_step = tools.len() > 1 || run.turns.len() > 1;
        // A user who said two things before the answer did not ask one query.
        let is_query = match run.turns.as_slice() {
            [] => true,
            [only] => only.user == *query,
            [_, _, ..] => false,
        };
        let said = match is_query {
            true => ProposedMessages::Query {
                query: query.clone(),
                expected_tools: tools,
                trajectory: ProposedTrajectory::of(&run.calls),
                expected_output_contains: words.others.clone(),
            },
            false => ProposedMessages::Turns {
                turns: ProposedTurn::of_each(run, known, of_turns),
            },
        };
        let answer = match is_query && !words.facts.is_empty() {
            true => vec![json!({ "all_of": words.facts })],
            false => required.clone(),
        };
        let of_file = || id_of_file(file).filter(|_| queries == QueryCount::One);
        let stated = run.case.clone().filter(|id| CaseId::new(id).is_ok());
        let what = match required.is_empty() {
            true => "this is what the agent did",
            false => "the tools are those that the agent called, the checks are the assertions",
        };
        let not_imported = match case
            .map(|case| case.left_out.join("; "))
            .filter(|all| !all.is_empty())
        {
            Some(all) => format!(" Not imported: {all}."),
            None => String::new(),
        };
        Some(Self {
            id: stated.or_else(of_file).unwrap_or_else(|| id_of(query)),
            draft: stage,
            category: if is_multi_step {
                "multi_step"
            } else {
                "happy_path"
            },
            said,
            answer,
            notes: format!("Proposed from {file}: {what}. Decide what it should do.{not_imported}"),
        })
    }

    /// The case of trials with a simulated user: what all of them called. `None` if they have no call in common.
    fn of_trials(trials: &[&Transcript], file: &str, stage: CaseStage) -> Option<Self> {
        let (first, others) = trials.split_first()?;
        let is_called_by =
            |run: &Transcript, name: &str| run.calls.iter().any(|call| call.name == name);
        let is_common = |call: &&Call| others.iter().all(|run| is_called_by(run, &call.name));
        let expected_tools = distinct_tools(first.calls.iter().filter(is_common));
        if expected_tools.is_empty() && !trials.iter().all(|run| run.calls.is_empty()) {
            return None;
        }
        Some(Self {
            id: first.case.clone().filter(|id| CaseId::new(id).is_ok())?,
            draft: stage,
            category: "multi_step",
            said: ProposedMessages::Query {
                query: first.query.clone()?,
                expected_tools,
                expected_output_contains: Vec::new(),
                trajectory: None,
            },
            answer: Vec::new(),
            notes: format!(
                "Proposed from {file}: each trial called these tools. Decide what it should do."
            ),
        })
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

/// The runs from which cases are proposed: how those of one case belong together.
pub struct ProposedSamples<'a> {
    samples: SamplesOfCase,
    trials: BTreeMap<&'a str, Vec<&'a Transcript>>,
}

impl<'a> ProposedSamples<'a> {
    pub fn of(runs: impl IntoIterator<Item = &'a Transcript>, samples: SamplesOfCase) -> Self {
        let mut trials: BTreeMap<&str, Vec<&Transcript>> = BTreeMap::new();
        for run in runs {
            if let (SamplesOfCase::Trials, Some(case)) = (samples, run.case.as_deref()) {
                trials.entry(case).or_default().push(run);
            }
        }
        Self { samples, trials }
    }

    /// What the user says in all samples of a case; nothing where trials name their case.
    pub fn messages<'r>(&self, run: &'r Transcript) -> Vec<&'r str> {
        if self.samples == SamplesOfCase::Trials && run.case.is_some() {
            Vec::new()
        } else {
            run.messages()
        }
    }

    /// The case of a run, or of all trials of its case.
    ///
    /// # Errors
    /// Why none is proposed.
    pub fn case(
        &self,
        run: &Transcript,
        origin: Origin<'_>,
        known: &AnswerWords,
        stage: CaseStage,
    ) -> Result<ProposedCase, &'static str> {
        let trials = run.case.as_deref().and_then(|case| self.trials.get(case));
        match trials {
            Some(trials) => ProposedCase::of_trials(trials, origin.file, stage)
                .ok_or("whose trials have no call in common"),
            None => ProposedCase::of(run, origin, known, stage).ok_or("without an answer"),
        }
    }
}

impl ProposedTurn {
    /// The turns of a transcript, each with the tools that the agent called in it and with words of its answer.
    fn of_each(run: &Transcript, known: &AnswerWords, words: TurnWords) -> Vec<Self> {
        let is_only = run.turns.len() == 1;
        let of = |(index, turn): (u32, &Turn)| {
            let calls = run
                .calls
                .iter()
                .filter(|call| is_only || call.turn == Some(index));
            let DistinctiveWords { facts, others } = match words {
                TurnWords::Proposed => known.distinctive(&turn.user, &turn.text),
                TurnWords::Omitted => DistinctiveWords::default(),
            };
            let has_words = !facts.is_empty() || !others.is_empty();
            let answer = has_words.then_some(ProposedAnswer {
                all_of: facts,
                any_of: others,
            });
            let trajectory = ProposedTrajectory::of(calls.clone());
            Self {
                user: turn.user.clone(),
                tools: distinct_tools(calls),
                trajectory,
                answer,
            }
        };
        (0_u32..).zip(&run.turns).map(of).collect()
    }
}

impl ProposedTrajectory {
    /// The calls in their order; `None` without a call. Other calls may be made between them.
    fn of<'a>(calls: impl IntoIterator<Item = &'a Call>) -> Option<Self> {
        let tools: Vec<ProposedCall> = calls
            .into_iter()
            .take(CALLS)
            .map(ProposedCall::of)
            .collect();
        (!tools.is_empty()).then_some(Self {
            mode: "in_order",
            tools,
        })
    }
}

impl ProposedCall {
    /// A call with its numbers, its truth values and its texts of one word, such as the id of an order. What an agent writes in its own
    /// words differs from run to run.
    fn of(call: &Call) -> Self {
        let is_repeated = |value: &Value| match value {
            Value::Bool(_) | Value::Number(_) => true,
            Value::String(text) => {
                let length = text.chars().count();
                (1..=WORD).contains(&length) && !text.contains(char::is_whitespace)
            }
            Value::Null | Value::Array(_) | Value::Object(_) => false,
        };
        let values: Map<String, Value> = match &call.arguments {
            Value::Object(fields) => fields
                .iter()
                .filter(|(_, value)| is_repeated(value))
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => Map::new(),
        };
        let args = (!values.is_empty()).then_some(ProposedArguments {
            how: "superset",
            values,
        });
        Self {
            name: call.name.clone(),
            args,
        }
    }
}

/// Whether a case requires words of the answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TurnWords {
    /// Yes: what the agent answered, as a proposal.
    Proposed,
    /// No: the case of another tool requires something.
    Omitted,
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

/// How many answers contain each word.
#[derive(Debug, Default)]
pub struct AnswerWords {
    answers: HashMap<String, usize>,
}

impl AnswerWords {
    pub fn of<'a>(answers: impl IntoIterator<Item = &'a str>) -> Self {
        let mut found = Self::default();
        for answer in answers {
            let distinct: HashSet<String> = words(answer).map(str::to_lowercase).collect();
            distinct
                .into_iter()
                .for_each(|word| *found.answers.entry(word).or_default() += 1);
        }
        found
    }

    /// The words that distinguish an answer: those that the fewest answers contain and that the query does not have, in the order of the
    /// answer.
    fn distinctive(&self, query: &str, answer: &str) -> DistinctiveWords {
        let asked: HashSet<String> = words(query).map(str::to_lowercase).collect();
        let is_asked = |word: &str| asked.contains(&word.to_lowercase());
        let is_fact = |word: &str| word.chars().any(|one| one.is_ascii_digit());
        let facts = self.rarest(
            words(answer).filter(|word| word.len() > 1 && is_fact(word) && !is_asked(word)),
        );
        let others_of = |letters: usize| {
            let is_long = move |word: &&str| {
                word.chars().count() >= letters && word.chars().all(char::is_alphabetic)
            };
            self.rarest(words(answer).filter(is_long).filter(|word| !is_asked(word)))
        };
        let mut others = others_of(LETTERS);
        // Shorter words say little, so they are required only where nothing else is.
        if facts.is_empty() && others.is_empty() {
            others = others_of(SHORT_LETTERS);
        }
        if facts.is_empty() && others.is_empty() && words(answer).count() <= SHORT_ANSWER {
            others.extend(words(answer).next().map(str::to_owned));
        }
        DistinctiveWords { facts, others }
    }

    /// Of some words of an answer, those that the fewest answers contain.
    fn rarest<'a>(&self, words: impl Iterator<Item = &'a str>) -> Vec<String> {
        let mut known = HashSet::new();
        let mut ranked: Vec<(usize, usize, &str)> = words
            .enumerate()
            .filter(|(_, word)| known.insert(word.to_lowercase()))
            .map(|(place, word)| {
                (
                    self.answers.get(&word.to_lowercase()).copied().unwrap_or(1),
                    place,
                    word,
                )
            })
            .collect();
        ranked.sort_unstable();
        ranked.truncate(PHRASES);
        ranked.sort_unstable_by_key(|(_, place, _)| *place);
        ranked
            .into_iter()
            .map(|(_, _, word)| word.to_owned())
            .collect()
    }
}

/// Words of an answer that say what it is about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct DistinctiveWords {
    /// Words with a digit, such as dates, amounts and ids: another run of the agent has to say all of them.
    facts: Vec<String>,
    /// Other words: another run has to say at least one of them.
    others: Vec<String>,
}

/// The words of a text, without the punctuation around them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace()
        .map(|word| word.trim_matches(|one: char| !one.is_alphanumeric()))
        .filter(|word| !word.is_empty())
}

/// The id of a case that has a file of its own: the file's name up to its first dot, if it is an id with some letters.
pub fn id_of_file(file: &str) -> Option<String> {
    let stem = file.split_once('.')?.0.replace(' ', "-");
    let says_something = stem.chars().filter(char::is_ascii_alphabetic).count() >= NAME_LETTERS;
    (says_something && CaseId::new(&stem).is_ok()).then_some(stem)
}

fn id_of(query: &str) -> String {
    let kept =
        |word: &str| -> String { word.chars().filter(char::is_ascii_alphanumeric).collect() };
    let words: Vec<String> = words(query)
        .map(|word| kept(word).to_lowercase())
        .filter(|word| !word.is_empty())
        .take(ID_WORDS)
        .collect();
    if words.is_empty() {
        "case".to_owned()
    } else {
        words.join("-").chars().take(60).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use import::Call;
    use serde_json::json;

    use super::{
        AnswerWords, DistinctiveWords, ProposedCase, ProposedMessages, ProposedTrajectory, id_of,
        id_of_file,
    };
    use crate::suites::CaseStage;

    #[test]
    fn the_id_is_the_beginning_of_the_query() {
        assert_eq!(
            id_of("Which invoices of Acme are overdue, and since when?"),
            "which-invoices-of-acme-are-overdue"
        );
        assert_eq!(id_of("¿Qué?"), "qu");
        assert_eq!(id_of("???"), "case");
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
    fn the_rarest_words_of_an_answer_distinguish_it() {
        let answers = [
            "Order 17 is late: it arrives on 2026-03-04, because customs inspected the parcel.",
            "Order 18 is late, because customs inspected it on 2026-03-05.",
            "It is late, because customs inspected it.",
        ];
        let known = AnswerWords::of(answers);
        let both = |query: &str, answer: &str| {
            let DistinctiveWords { facts, others } = known.distinctive(query, answer);
            (facts.join(" "), others.join(" "))
        };
        let pair = |facts: &str, others: &str| (facts.to_owned(), others.to_owned());
        let query = "Is order 17 late?";
        assert_eq!(
            both(query, answers[0]),
            pair("2026-03-04", "arrives because parcel")
        );
        assert_eq!(
            both(query, "Because customs inspected it."),
            pair("", "Because customs inspected")
        );
        assert_eq!(
            both("Where?", "The hall is here."),
            pair("", "hall here"),
            "shorter words, but no small ones"
        );
        assert_eq!(both("Yes?", "Yes."), pair("", "Yes"));
        assert_eq!(
            both("Is it so?", "So it is and so it was."),
            pair("", ""),
            "no word says anything"
        );
        assert_eq!(both("q", "\u{2026}"), pair("", ""));
    }

    #[test]
    fn a_call_has_the_arguments_that_another_run_repeats() {
        let call = Call {
            name: "refund".to_owned(),
            arguments: json!({ "id": "A-17", "amount": 40, "urgent": true, "reason": "it broke", "lines": [1], "note": "" }),
            ..Call::default()
        };
        let proposed = serde_json::to_value(ProposedTrajectory::of([&call])).unwrap();
        let values = json!({ "id": "A-17", "amount": 40, "urgent": true });
        let tools =
            json!([{ "name": "refund", "args": { "match": "superset", "values": values } }]);
        assert_eq!(proposed, json!({ "mode": "in_order", "tools": tools }));
        assert_eq!(ProposedTrajectory::of([]), None);
    }

    #[test]
    fn equal_ids_are_numbered() {
        let case = |id: &str| ProposedCase {
            id: id.to_owned(),
            draft: CaseStage::Draft,
            category: "happy_path",
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

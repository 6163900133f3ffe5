//! Labels given by people: scores that replace rubric scores, tags that replace failure tags, and verdicts that automatic
//! results are compared with. The report keeps and shows all of them.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::quarantine::is_day;
use super::rubric::DIMENSIONS;
use crate::diag::{Code, Diagnostic, Diagnostics, ReadFailure, did_you_mean};
use crate::files::{Files, SourceText};
use crate::format::Step::Key;
use crate::format::{JsonCursor, json};
use crate::model::{AgentName, CaseId, Mark, RepoPath, Tag, Word};
use crate::suites::kind::SuiteKind;

/// One label: a score of a dimension, the tag of a check, or a verdict on the whole case.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "label that a person gave")]
pub struct LabelForm {
    /// The agent. Without it the label applies to every agent that has no such label of its own.
    agent: Option<String>,
    /// The case.
    case: String,
    /// The rubric's dimension (kind `interview`), together with `score`.
    dimension: Option<String>,
    /// Its points, 0 to 2.
    score: Option<u8>,
    /// The name of a check, together with `tag`.
    check: Option<String>,
    /// The right tag of its failure.
    tag: Option<String>,
    /// A person's verdict on the whole case: `pass`, `weak` or `fail`. It replaces no automatic result.
    verdict: Option<String>,
    /// The digest of the outputs that a score or a verdict was given on, as written by `goldgate label`. It does not apply
    /// to other outputs.
    outputs_sha256: Option<String>,
    /// The day of the label, as `YYYY-MM-DD`; required for a score on outputs.
    date: Option<String>,
    /// The person.
    by: String,
    /// The person's reason.
    reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    agent: Option<String>,
    case: String,
    /// The byte offsets of its parts.
    spans: LabelSpans,
    pub content: LabelContent,
    pub by: String,
    /// The person's reason.
    pub reason: String,
    /// The day, as `YYYY-MM-DD`, if stated.
    pub date: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LabelContent {
    /// Index of the dimension in [`DIMENSIONS`], its points, and the digest of the outputs if stated.
    Score(usize, u8, Option<String>),
    /// The name of a check, and its tag.
    Tag(String, Tag),
    /// The mark of the whole case, and the digest of the outputs if stated.
    Verdict(Mark, Option<String>),
}

/// The byte offsets of a label's parts in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LabelSpans {
    agent: usize,
    case: usize,
    about: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum LabelSubject<'a> {
    /// The dimension, on the outputs with this digest; scores of other outputs are independent.
    Dimension(usize, Option<&'a str>),
    Check(&'a str),
    /// The whole case, as judged by this person.
    Whole(&'a str),
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl Label {
    fn is_of(&self, agent: &AgentName, case: &CaseId) -> bool {
        self.case == case.as_str()
            && self
                .agent
                .as_deref()
                .is_none_or(|name| name == agent.as_str())
    }

    fn about(&self) -> LabelSubject<'_> {
        match &self.content {
            LabelContent::Score(dimension, _, outputs) => {
                LabelSubject::Dimension(*dimension, outputs.as_deref())
            }
            LabelContent::Tag(check, _) => LabelSubject::Check(check),
            LabelContent::Verdict(..) => LabelSubject::Whole(&self.by),
        }
    }
}

/// The answer of a person in `goldgate label`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GivenLabel {
    /// The mark of the whole case.
    Mark(Mark),
    /// Index of the dimension in [`DIMENSIONS`], and its points.
    Points(usize, u8),
}

impl GivenLabel {
    fn fields(self) -> String {
        match self {
            Self::Mark(mark) => format!("\"verdict\": \"{}\"", mark.as_str()),
            Self::Points(dimension, points) => {
                format!(
                    "\"dimension\": \"{}\", \"score\": {points}",
                    DIMENSIONS[dimension]
                )
            }
        }
    }
}

/// A label as `goldgate label` writes it.
pub struct NewLabel<'a> {
    pub agent: &'a AgentName,
    pub case: &'a CaseId,
    /// The person's answer.
    pub opinion: GivenLabel,
    /// The digest of the outputs that the person saw, if any.
    pub outputs_sha256: Option<&'a str>,
    /// The day, as `YYYY-MM-DD`.
    pub date: &'a str,
    /// The person.
    pub by: &'a str,
    /// The person's reason.
    pub reason: &'a str,
}

/// Appends a label to the text of a file of labels; existing text stays unchanged. The text is empty, or a list that
/// [`Labels::open`] accepts.
pub fn with_label(text: &str, label: &NewLabel<'_>) -> String {
    let NewLabel {
        agent,
        case,
        opinion,
        outputs_sha256,
        date,
        by,
        reason,
    } = label;
    let outputs = outputs_sha256.map_or(String::new(), |digest| {
        format!("\"outputs_sha256\": {}, ", quoted(digest))
    });
    let label = format!(
        "{{ \"agent\": {}, \"case\": {}, {}, {outputs}\"date\": {}, \"by\": {}, \"reason\": {} }}",
        quoted(agent.as_str()),
        quoted(case.as_str()),
        opinion.fields(),
        quoted(date),
        quoted(by),
        quoted(reason)
    );
    let list = text.trim_end().strip_suffix(']').map_or("[", str::trim_end);
    let comma = if list.ends_with('[') { "" } else { "," };
    format!("{list}{comma}\n  {label}\n]\n")
}

#[derive(Debug, Clone, Default)]
pub struct Labels {
    /// The file of labels; `None` if the suite names none.
    source: Option<SourceText>,
    labels: Vec<Label>,
}

impl Labels {
    pub fn has_scores(&self) -> bool {
        self.labels
            .iter()
            .any(|label| matches!(label.content, LabelContent::Score(..)))
    }

    /// Whether there is no label.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Reads the file of labels; without a file, the result is empty.
    pub fn open(file: Option<&RepoPath>, files: &dyn Files) -> Result<Self, Diagnostics> {
        let Some(file) = file else {
            return Ok(Self::default());
        };
        let source = match files.text(file) {
            Ok(source) => source,
            Err(mut problem) => {
                if problem.is_read_failure(ReadFailure::MissingFile) {
                    "`goldgate label` creates it; correct the path, or remove the key"
                        .clone_into(&mut problem.help);
                }
                return Err(problem.into());
            }
        };
        let raws: Vec<&RawValue> = json::golden(&source)?;
        let mut problems = Diagnostics::default();
        let labels: Vec<Label> = raws
            .iter()
            .filter_map(|raw| problems.keep(label(&JsonCursor::part(&source, raw))))
            .collect();
        for problem in repeated(&source, &labels) {
            problems.push(problem);
        }
        problems.or(Self {
            source: Some(source),
            labels,
        })
    }

    /// The labels of an agent on a case, general ones first. A label of the agent itself replaces a general one on the same
    /// subject.
    pub fn of<'a>(&'a self, agent: &AgentName, case: &CaseId) -> impl Iterator<Item = &'a Label> {
        let (agent_labels, mut labels): (Vec<&Label>, Vec<&Label>) = self
            .labels
            .iter()
            .filter(|label| label.is_of(agent, case))
            .partition(|label| label.agent.is_some());
        labels.retain(|label| {
            !agent_labels
                .iter()
                .any(|agent_label| agent_label.about() == label.about())
        });
        labels.extend(agent_labels);
        labels.into_iter()
    }

    /// Labels without effect: scores of dimensions if the kind has no dimensions.
    pub fn without_effect(&self, kind: &SuiteKind) -> Vec<Diagnostic> {
        let Some(source) = &self.source else {
            return Vec::new();
        };
        if !kind.label_dimensions.is_empty() {
            return Vec::new();
        }
        let mut problems = Vec::new();
        for label in &self.labels {
            let LabelContent::Score(dimension, ..) = label.content else {
                continue;
            };
            let description = format!(
                "the dimension \"{}\" has no effect here: kind {} has no rubric",
                DIMENSIONS[dimension], kind.name
            );
            problems.push(source.problem(
                label.spans.about,
                Code::NO_EFFECT,
                description,
                "state a check with a tag, or a verdict",
            ));
        }
        problems
    }

    /// Labels on checks that the graded cases do not have; `graded` yields agent, case and check names.
    pub fn unknown_checks<'a>(
        &self,
        graded: impl Iterator<Item = (&'a AgentName, &'a CaseId, BTreeSet<String>)> + Clone,
    ) -> Vec<Diagnostic> {
        let Some(source) = &self.source else {
            return Vec::new();
        };
        let mut problems = Vec::new();
        for label in &self.labels {
            let LabelContent::Tag(check, _) = &label.content else {
                continue;
            };
            let mut known = BTreeSet::new();
            for (agent, case, checks) in graded.clone() {
                if label.is_of(agent, case) {
                    known.extend(checks);
                }
            }
            // A case that was not graded has no known checks.
            if known.is_empty() || known.contains(check) {
                continue;
            }
            let known: Vec<String> = known.into_iter().collect();
            let help = did_you_mean(
                check,
                &known,
                format!("its checks are {}", known.join(", ")),
            );
            let description = format!("\"{check}\" is not a check of the case \"{}\"", label.case);
            problems.push(source.problem(
                label.spans.about,
                Code::UNKNOWN_CHECK,
                description,
                help,
            ));
        }
        problems
    }

    /// Labels of unknown cases or agents.
    pub fn strays<'a>(
        &'a self,
        cases: &'a BTreeSet<&str>,
        agents: &'a BTreeSet<&str>,
    ) -> Vec<Diagnostic> {
        let Some(source) = &self.source else {
            return Vec::new();
        };
        let mut problems = Vec::new();
        for label in &self.labels {
            if !cases.contains(label.case.as_str()) {
                let description = format!(
                    "a label is about \"{}\", which is not a case of the suite",
                    label.case
                );
                problems.push(source.problem(
                    label.spans.case,
                    Code::UNKNOWN_CASE,
                    description,
                    "fix its case, or remove the label",
                ));
            }
            if let Some(agent) = label.agent.as_deref()
                && !agents.contains(agent)
            {
                let description =
                    format!("a label is about \"{agent}\", which is not an agent of the suite");
                let known: Vec<&str> = agents.iter().copied().collect();
                let help = did_you_mean(
                    agent,
                    &known,
                    format!("its agents are {}", known.join(", ")),
                );
                problems.push(source.problem(
                    label.spans.agent,
                    Code::UNKNOWN_AGENT,
                    description,
                    help,
                ));
            }
        }
        problems
    }
}

/// Labels whose subject already has a label in the file. Repeated verdicts are allowed: the last one counts.
fn repeated(source: &SourceText, labels: &[Label]) -> Vec<Diagnostic> {
    let mut first: BTreeMap<(&str, Option<&str>, LabelSubject<'_>), usize> = BTreeMap::new();
    let mut problems = Vec::new();
    for label in labels {
        let name = match label.about() {
            LabelSubject::Dimension(dimension, _) => DIMENSIONS[dimension],
            LabelSubject::Check(check) => check,
            LabelSubject::Whole(_) => continue,
        };
        let address = (label.case.as_str(), label.agent.as_deref(), label.about());
        let Some(first_span) = first.get(&address) else {
            first.insert(address, label.spans.about);
            continue;
        };
        let case_name = label.agent.as_ref().map_or(label.case.clone(), |agent| {
            format!("{agent}/{}", label.case)
        });
        let description = format!(
            "\"{name}\" of {case_name} already has a label in line {}",
            source.line(*first_span)
        );
        problems.push(source.problem(
            label.spans.about,
            Code::DUPLICATE_ID,
            description,
            "keep one of the labels",
        ));
    }
    problems
}

fn label(cursor: &JsonCursor<'_>) -> Result<Label, Diagnostic> {
    let LabelForm {
        agent,
        case,
        dimension,
        score,
        check,
        tag,
        verdict,
        outputs_sha256,
        date,
        by,
        reason,
    } = cursor.read()?;
    if by.trim().is_empty() || reason.trim().is_empty() {
        let description = "a label needs a person and a reason";
        return Err(cursor.problem_of_key(
            &[Key("by")],
            Code::NO_REASON,
            description,
            "fill in by and reason",
        ));
    }
    if let Some(date) = date.as_ref().filter(|date| !is_day(date)) {
        let description = format!("invalid date \"{date}\"");
        return Err(cursor.problem(
            &[Key("date")],
            Code::BAD_DATE,
            description,
            "write it as YYYY-MM-DD",
        ));
    }
    let key = match (&dimension, &check) {
        (Some(_), _) => "dimension",
        (None, Some(_)) => "check",
        (None, None) => "verdict",
    };
    if dimension.is_some() && outputs_sha256.is_some() && date.is_none() {
        let description = "a score of outputs needs a date";
        return Err(cursor.problem_of_key(
            &[Key("dimension")],
            Code::NO_DATE,
            description,
            "add date: YYYY-MM-DD",
        ));
    }
    let spans = LabelSpans {
        agent: cursor.value(&[Key("agent")]),
        case: cursor.value(&[Key("case")]),
        about: cursor.value(&[Key(key)]),
    };
    let content = match (dimension, score, check, tag, verdict, outputs_sha256) {
        (Some(name), Some(points @ 0..=2), None, None, None, outputs) => {
            let Some(index) = DIMENSIONS.iter().position(|dimension| *dimension == name) else {
                return Err(unknown(cursor, "dimension", &name, &DIMENSIONS));
            };
            LabelContent::Score(index, points, outputs)
        }
        (None, None, Some(check), Some(word), None, None) => {
            let Some(tag) = Tag::of_word(&word) else {
                return Err(unknown(cursor, "tag", &word, Tag::WORDS));
            };
            LabelContent::Tag(check, tag)
        }
        (None, None, None, None, Some(word), outputs) => {
            let Some(mark) = Mark::of_word(&word) else {
                return Err(unknown(cursor, "verdict", &word, Mark::WORDS));
            };
            LabelContent::Verdict(mark, outputs)
        }
        _ => {
            let description =
                "a label is a dimension with a score of 0 to 2, a check with a tag, or a verdict";
            return Err(cursor.problem_of_key(
                &[Key("case")],
                Code::BAD_LABEL,
                description,
                "state exactly one of the three",
            ));
        }
    };
    Ok(Label {
        agent,
        case,
        spans,
        content,
        by,
        reason,
        date,
    })
}

fn unknown(cursor: &JsonCursor<'_>, key: &str, word: &str, known: &[&str]) -> Diagnostic {
    let help = did_you_mean(word, known, format!("known values: {}", known.join(", ")));
    cursor.problem(
        &[Key(key)],
        Code::UNKNOWN_VALUE,
        format!("unknown {key} \"{word}\""),
        help,
    )
}

#[cfg(test)]
mod tests {
    use super::{GivenLabel, Labels, NewLabel, with_label};
    use crate::diag::Diagnostic;
    use crate::files::{Entry, Files};
    use crate::model::{AgentName, CaseId, Mark, RepoPath};

    struct One(String);

    impl Files for One {
        fn list_all(&self, _: &RepoPath) -> Result<Vec<Entry>, Diagnostic> {
            Ok(Vec::new())
        }

        fn bytes(&self, _: &RepoPath) -> Result<Vec<u8>, Diagnostic> {
            Ok(self.0.clone().into())
        }
    }

    fn opened(labels: &[&str]) -> Labels {
        Labels::open(
            Some(&RepoPath::root().child("l.json")),
            &One(format!("[{}]", labels.join(", "))),
        )
        .unwrap()
    }

    #[test]
    fn an_agents_own_label_replaces_a_general_one_on_the_same_subject() {
        let of_all = |says: &str| format!("{{ \"case\": \"c\", {says}, \"reason\": \"all\" }}");
        let of_one = |says: &str| {
            format!("{{ \"agent\": \"a\", \"case\": \"c\", {says}, \"reason\": \"own\" }}")
        };
        for (general, own, expected) in [
            (
                r#""check": "x", "tag": "model", "by": "A""#,
                r#""check": "x", "tag": "schema", "by": "B""#,
                "own",
            ),
            (
                r#""check": "x", "tag": "model", "by": "A""#,
                r#""check": "y", "tag": "schema", "by": "A""#,
                "all own",
            ),
            (
                r#""dimension": "compression", "score": 1, "by": "A""#,
                r#""dimension": "compression", "score": 2, "by": "B""#,
                "own",
            ),
            (
                r#""dimension": "compression", "score": 1, "by": "A""#,
                r#""dimension": "atom_clarity", "score": 2, "by": "A""#,
                "all own",
            ),
            (
                r#""verdict": "pass", "by": "A""#,
                r#""verdict": "weak", "by": "A""#,
                "own",
            ),
            (
                r#""verdict": "pass", "by": "A""#,
                r#""verdict": "weak", "by": "B""#,
                "all own",
            ),
        ] {
            let (all, one) = (of_all(general), of_one(own));
            for order in [[all.as_str(), one.as_str()], [one.as_str(), all.as_str()]] {
                let labels = opened(&order);
                let reasons = |agent: &str| {
                    let (agent, case) = (AgentName::new(agent).unwrap(), CaseId::new("c").unwrap());
                    labels
                        .of(&agent, &case)
                        .map(|label| label.reason.clone())
                        .collect::<Vec<_>>()
                        .join(" ")
                };
                assert_eq!(
                    (reasons("a").as_str(), reasons("b").as_str()),
                    (expected, "all"),
                    "{order:?}"
                );
            }
        }
    }

    #[test]
    fn a_verdict_is_appended_and_nothing_else_changes() {
        let (agent, case) = (AgentName::new("a").unwrap(), CaseId::new("c").unwrap());
        let verdict = |outputs_sha256| NewLabel {
            agent: &agent,
            case: &case,
            opinion: GivenLabel::Mark(Mark::Weak),
            outputs_sha256,
            date: "2026-11-21",
            by: "Subject A",
            reason: "says \"no\"\nand ]",
        };
        let line = r#"{ "agent": "a", "case": "c", "verdict": "weak", "date": "2026-11-21", "by": "Subject A", "reason": "says \"no\"\nand ]" }"#;
        for empty in ["", "[]", " [ ]\n", "[\n\n]\n"] {
            let written = with_label(empty, &verdict(None));
            assert_eq!(
                written.trim_start(),
                format!("[\n  {line}\n]\n"),
                "{empty:?}"
            );
        }
        let once = with_label(
            "[\n  { \"case\":   \"kept unchanged ]\" }\n]",
            &verdict(Some("ab")),
        );
        assert!(
            once.starts_with("[\n  { \"case\":   \"kept unchanged ]\" },\n  { \"agent\": \"a\""),
            "{once}"
        );
        let twice = with_label(&once, &verdict(None));
        let read: Vec<serde_json::Value> = serde_json::from_str(&twice).unwrap();
        assert_eq!(
            (read.len(), &read[1]["outputs_sha256"], &read[2]["verdict"]),
            (3, &"ab".into(), &"weak".into())
        );
        let points = with_label(
            "",
            &NewLabel {
                opinion: GivenLabel::Points(2, 1),
                ..verdict(Some("ab"))
            },
        );
        let read: Vec<serde_json::Value> = serde_json::from_str(&points).unwrap();
        assert_eq!(
            (&read[0]["dimension"], &read[0]["score"]),
            (&super::DIMENSIONS[2].into(), &1.into())
        );
    }
}

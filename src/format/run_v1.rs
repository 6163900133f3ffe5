//! Reads run records: `goldgate.run/1`, and `RunArtifact` in camelCase, as another evaluation system writes it.

mod ballots;
mod content;
mod counts;
mod json_lines;
mod stated;
mod writing;

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use self::counts::CountsForm;
pub use self::counts::tool_call_counts;
use self::writing::SCHEMA;
use super::json;
use super::json_cursor::JsonCursor;
use super::output_fields::{GradedParts, OutputFields};
use super::step::Step::Key;
use super::unique_keys::every_key_once_in;
use crate::diag::{Code, Diagnostic};
use crate::files::SourceText;
use crate::model::{
    Answerer, LogVerdict, Provenance, RecordedExchange, Run, RunKey, RunStatus, Tokens, Word,
};

pub use ballots::with_ballots;
pub use content::{content, content_sha256};
pub use stated::{
    STAMPED, StatedOrigin, stated_origin, with_content_sha256, with_origin, with_place,
};
pub use writing::{json, written};

/// Whether a file is a run record: an object with a status and outputs.
pub fn is_run(source: &SourceText) -> bool {
    #[derive(Deserialize)]
    struct RunMarks {
        #[serde(rename = "status")]
        _status: IgnoredAny,
        #[serde(rename = "outputs")]
        _outputs: IgnoredAny,
    }
    // A list of two values would be read as the two fields.
    source.text.trim_start().starts_with('{')
        && serde_json::from_str::<RunMarks>(&source.text).is_ok()
}

/// Whether a file says that it is a run record.
pub fn states_schema(source: &SourceText) -> bool {
    #[derive(Deserialize)]
    struct SchemaAlone {
        schema: String,
    }
    source.text.trim_start().starts_with('{')
        && serde_json::from_str::<SchemaAlone>(&source.text)
            .is_ok_and(|stated| stated.schema == SCHEMA)
}

/// Reads the record of sample `sample` of the pair `key`. The path decides which sample it is; the record must not contradict it.
///
/// # Errors
/// Invalid content with its position.
pub fn read_run(source: &SourceText, key: &RunKey, sample: u32) -> Result<Run, Diagnostic> {
    read_run_with(source, key, sample, &OutputFields::default())
}

/// Reads the same record of an agent that may write its outputs under names of its own, or nothing but its outputs.
///
/// # Errors
/// Invalid content with its position.
pub fn read_run_with(
    source: &SourceText,
    key: &RunKey,
    sample: u32,
    fields: &OutputFields,
) -> Result<Run, Diagnostic> {
    let record: RunFile<'_> = json::whole(source)?;
    record.refuse_other_schema(source)?;
    record.refuse_contradictions(source, key, sample)?;
    run_of(source, record, fields)
}

/// Where a record says that it belongs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StatedPlace {
    /// The agent.
    pub agent: Option<String>,
    /// The case.
    pub case: Option<String>,
    /// The sample, from 0.
    pub sample: Option<u32>,
}

/// Reads a record that does not lie at its own path yet, and where it says that it belongs.
///
/// # Errors
/// Invalid content with its position.
pub fn read_unplaced_run(source: &SourceText) -> Result<(StatedPlace, Run), Diagnostic> {
    let mut record: RunFile<'_> = json::whole(source)?;
    record.refuse_other_schema(source)?;
    let stated = StatedPlace {
        agent: record.agent.take(),
        case: record.case.take(),
        sample: record.sample,
    };
    Ok((stated, run_of(source, record, &OutputFields::default())?))
}

fn run_of(
    source: &SourceText,
    record: RunFile<'_>,
    fields: &OutputFields,
) -> Result<Run, Diagnostic> {
    let bare = match (record.status, record.outputs.or(record.output)) {
        (None, None) => fields.bare_outputs(&source.text),
        (Some(_), _) | (None, Some(_)) => None,
    };
    let status = if bare.is_some() {
        RunStatus::Completed
    } else {
        record.status(source)?
    };
    // Only one of two values would be graded, and nobody knows which one the agent gave.
    let graded = [
        record.outputs,
        record.output,
        record.intermediate,
        record.metrics,
    ]
    .into_iter()
    .flatten();
    graded
        .map(RawValue::get)
        .try_for_each(|part| every_key_once_in(source, part))?;
    let metrics = record.metrics.map(CountsForm::read).unwrap_or_default();
    // A total made of one part would hide what the other part used.
    let parts = metrics
        .input_tokens
        .zip(metrics.output_tokens)
        .map(|(input, output)| input + output);
    // A total below its parts would hide what the run used.
    let one_part = metrics.total_tokens.and(
        metrics
            .input_tokens
            .into_iter()
            .chain(metrics.output_tokens)
            .reduce(f64::max),
    );
    let totals = [
        metrics.total_tokens,
        parts,
        one_part,
        metrics.tokens_of_nodes,
    ];
    let total = totals.into_iter().flatten().reduce(f64::max);
    let provenance = record.provenance.unwrap_or_default();
    // Only needed without a digest.
    let prompt = match (&provenance.input_sha256, record.inputs) {
        (None, Some(raw)) => serde_json::from_str(raw.get())
            .ok()
            .and_then(|asked: AskedForm| asked.prompt.or(asked.query)),
        (Some(_), _) | (None, None) => None,
    };
    let ballots = record
        .judgements
        .map(|raw| ballots::read_ballots(source, raw))
        .transpose()?
        .unwrap_or_default();
    let outputs: Cow<'_, str> = match (record.outputs.or(record.output), bare) {
        (_, Some(bare)) => bare.into(),
        (Some(raw), _) if raw.get().starts_with('{') => raw.get().into(),
        (Some(raw), _) if record.outputs.is_none() && raw.get().starts_with('"') => {
            format!("{{\"text\": {}}}", raw.get()).into()
        }
        (Some(raw), _) if raw.get() != "null" || status == RunStatus::Completed => {
            let help = "write an object, {} if nothing was produced";
            return Err(source.problem(
                json::offset_of(source, raw),
                Code::WRONG_TYPE,
                "\"outputs\" is not an object",
                help,
            ));
        }
        (None, _) if status == RunStatus::Completed => {
            return Err(source.problem(
                0,
                Code::MISSING_KEY,
                "the key \"outputs\" is missing",
                "add \"outputs\"",
            ));
        }
        (Some(_) | None, _) => "{}".into(),
    };
    let steps: Option<Cow<'_, str>> = match (record.intermediate, record.node_transitions) {
        (Some(raw), _) => Some(raw.get().into()),
        (None, Some(raw)) => Some(format!("{{\"nodeTransitions\": {}}}", raw.get()).into()),
        (None, None) => None,
    };
    let in_place = fields.in_place(&source.text, &outputs, steps.as_deref());
    let (outputs, steps, text_layer) = match in_place {
        Some(GradedParts {
            outputs,
            intermediate,
            text_layer,
        }) => (outputs.into(), intermediate.map(Cow::from), text_layer),
        None => (outputs, steps, None),
    };
    let provenance = Provenance {
        model: provenance.model.clone().or(record.config.and_then(model)),
        ..provenance.into()
    };
    Ok(Run {
        status,
        error: record.error.map(|error| error.text()),
        outputs: outputs.into(),
        intermediate: steps.map(|steps| steps.into()),
        ballots,
        tokens: Tokens {
            input: metrics.input_tokens.map(whole_count),
            output: metrics.output_tokens.map(whole_count),
            total,
            latency_ms: metrics.total_latency_ms,
            cost_usd: metrics.cost_usd,
            model_calls: metrics.model_calls,
        },
        counted_tools: metrics.counted_tools,
        provenance,
        prompt,
        text_layer,
    })
}

/// The model that the settings of a record name.
fn model(config: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct ModelAlone {
        model: Option<String>,
    }
    serde_json::from_str::<ModelAlone>(config.get()).ok()?.model
}

/// Agents write the counts: a fractional one is rounded to a whole count.
fn whole_count(number: f64) -> u64 {
    number.round() as u64
}

/// The steps of a run, with other keys of the agent's own.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only the schema knows its fields")]
struct StepsSchema {
    /// The model calls of an agent that was recorded with `goldgate record` or a target with `capture`.
    exchanges: Option<Vec<RecordedExchange>>,
    /// Whose words the answer of such an agent is, once for each user message.
    answered_by: Option<Vec<Answerer>>,
}

/// A run record as agents and recorders write it; unknown keys are kept and ignored.
// Graded parts are borrowed from the text. The schema types the rest; the parser accepts any value there.
#[derive(Deserialize, JsonSchema)]
#[schemars(title = "goldgate run record, version 1")]
pub struct RunFile<'a> {
    /// `goldgate.run/1`.
    schema: Option<String>,
    /// The agent; must not contradict the record's path.
    agent: Option<String>,
    /// The case; must not contradict the record's path.
    case: Option<String>,
    /// The sample, from 0; must not contradict the record's path.
    sample: Option<u32>,
    /// `completed` or `success`; `error` or `failed`, `timeout`, `stalled`, `cancelled`. Without it, a record with `output`, or one that is
    /// nothing but outputs, is completed.
    #[serde(borrow)]
    #[schemars(with = "String")]
    status: Option<&'a RawValue>,
    /// The error message, if it did not complete.
    #[schemars(with = "Option<Value>")]
    error: Option<ErrorText>,
    /// The inputs of the agent.
    #[schemars(with = "Option<Value>")]
    inputs: Option<&'a RawValue>,
    /// The outputs of the agent; an empty object if nothing was produced.
    #[schemars(with = "Map<String, Value>")]
    outputs: Option<&'a RawValue>,
    /// The same as `outputs`; a text is the answer.
    #[schemars(with = "Option<Value>")]
    output: Option<&'a RawValue>,
    /// The same as `case`.
    #[serde(rename = "scenarioId")]
    scenario_id: Option<String>,
    /// The settings of the run, of which the model is read.
    #[schemars(with = "Option<Value>")]
    config: Option<&'a RawValue>,
    /// The steps of the run, without `intermediate`.
    #[serde(rename = "nodeTransitions")]
    #[schemars(with = "Option<Value>")]
    node_transitions: Option<&'a RawValue>,
    /// Node transitions, tool calls, events.
    #[schemars(with = "Option<StepsSchema>")]
    intermediate: Option<&'a RawValue>,
    /// Votes of LLM judges by judge name; written by `goldgate judge` and `run --record`.
    #[schemars(with = "Option<Value>")]
    judgements: Option<&'a RawValue>,
    /// What the agent claims to have read.
    #[serde(rename = "evidence")]
    #[schemars(with = "Option<Value>")]
    _evidence: Option<IgnoredAny>,
    /// Tokens, latency, cost.
    #[schemars(with = "Option<Value>")]
    metrics: Option<&'a RawValue>,
    /// Target, model, prompt package, commit.
    #[schemars(with = "Option<Value>")]
    provenance: Option<RunOriginForm>,
}

/// The error: a text, or an object with a message.
#[derive(Deserialize)]
#[serde(untagged)]
enum ErrorText {
    Text(String),
    Other(Value),
}

impl ErrorText {
    fn text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Other(value) => match value.get("message").and_then(Value::as_str) {
                Some(message) => message.to_owned(),
                None => value.to_string(),
            },
        }
    }
}

#[derive(Deserialize, Default)]
struct RunOriginForm {
    model: Option<String>,
    prompt_package: Option<String>,
    cache: Option<String>,
    agent_sha256: Option<String>,
    input_sha256: Option<String>,
    target_sha256: Option<String>,
    log: Option<Value>,
}

impl From<RunOriginForm> for Provenance {
    fn from(form: RunOriginForm) -> Self {
        let RunOriginForm {
            model,
            prompt_package,
            cache,
            agent_sha256,
            input_sha256,
            target_sha256,
            log,
        } = form;
        Self {
            model,
            prompt_package,
            cache,
            agent_sha256,
            input_sha256,
            target_sha256,
            log: log
                .as_ref()
                .and_then(Value::as_str)
                .and_then(LogVerdict::of_word),
        }
    }
}

/// The part of a record's `inputs` that is used.
#[derive(Deserialize)]
struct AskedForm {
    prompt: Option<Box<str>>,
    query: Option<Box<str>>,
}

impl RunFile<'_> {
    fn refuse_other_schema(&self, source: &SourceText) -> Result<(), Diagnostic> {
        match self.schema.as_deref() {
            Some(schema) if schema != SCHEMA => {
                let at = JsonCursor::whole(source).key(&[Key("schema")]);
                let description = format!("unknown schema \"{schema}\"");
                let help = format!("this version reads \"{SCHEMA}\"");
                Err(source.problem(at, Code::UNKNOWN_SCHEMA, description, help))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn refuse_contradictions(
        &self,
        source: &SourceText,
        key: &RunKey,
        sample: u32,
    ) -> Result<(), Diagnostic> {
        if let Some(agent) = self
            .agent
            .as_deref()
            .filter(|agent| *agent != key.agent.as_str())
        {
            let (recorded, expected) = (format!("\"{agent}\""), format!("\"{}\"", key.agent));
            return Err(record_of_another(source, "agent", &recorded, &expected));
        }
        for (field, case) in [("case", &self.case), ("scenarioId", &self.scenario_id)] {
            let Some(case) = case.as_deref().filter(|case| *case != key.case.as_str()) else {
                continue;
            };
            let (recorded, expected) = (format!("\"{case}\""), format!("\"{}\"", key.case));
            return Err(record_of_another(source, field, &recorded, &expected));
        }
        match self.sample {
            Some(stated) if stated != sample => {
                let (recorded, expected) = (stated.to_string(), sample.to_string());
                Err(record_of_another(source, "sample", &recorded, &expected))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn status(&self, source: &SourceText) -> Result<RunStatus, Diagnostic> {
        let Some(raw) = self.status else {
            // A RunArtifact has no status: only completed runs write one.
            let artifact = self.schema.is_none()
                && (self.inputs.is_some()
                    || self.intermediate.is_some()
                    || self.metrics.is_some()
                    || self.outputs.is_none() && self.output.is_some());
            if artifact {
                return Ok(RunStatus::Completed);
            }
            let (description, help) = if self.outputs.is_none() {
                (
                    "the keys \"status\" and \"outputs\" are missing",
                    "add \"status\": \"completed\" and \"outputs\"",
                )
            } else {
                (
                    "the key \"status\" is missing",
                    "add \"status\": \"completed\"",
                )
            };
            return Err(source.problem(0, Code::MISSING_KEY, description, help));
        };
        let known = [
            RunStatus::Completed,
            RunStatus::Error,
            RunStatus::Timeout,
            RunStatus::Stalled,
            RunStatus::Cancelled,
        ];
        let word: Option<String> = serde_json::from_str(raw.get()).ok();
        let word = match word.as_deref() {
            Some("success") => Some("completed"),
            Some("failed") => Some("error"),
            word => word,
        };
        for status in known {
            if word == Some(status.as_str()) {
                return Ok(status);
            }
        }
        Err(source.problem(
            json::offset_of(source, raw),
            Code::UNKNOWN_STATUS,
            format!("unknown status {}", raw.get()),
            "known values: completed, error, timeout, stalled, cancelled",
        ))
    }
}

fn record_of_another(
    source: &SourceText,
    field: &str,
    recorded: &str,
    expected: &str,
) -> Diagnostic {
    source.problem(
        JsonCursor::whole(source).key(&[Key(field)]),
        Code::RECORD_OF_ANOTHER,
        format!("the record says {field} {recorded}, its path says {expected}"),
        "move the record to its own path, or correct the field",
    )
}

#[cfg(test)]
mod tests {
    use super::{is_run, read_run};
    use crate::files::SourceText;
    use crate::model::{AgentName, CaseId, RepoPath, Run, RunKey, RunStatus, SuiteId};

    fn reading(text: &str) -> Result<Run, String> {
        let source = SourceText::from_text(RepoPath::root().child("r.json"), text.to_owned());
        let key = RunKey {
            suite: SuiteId::new("s").unwrap(),
            agent: AgentName::new("legal").unwrap(),
            case: CaseId::new("c").unwrap(),
        };
        read_run(&source, &key, 0).map_err(|problem| problem.to_string())
    }

    #[test]
    fn a_record_needs_only_status_and_outputs() {
        let run =
            reading(r#"{"status": "completed", "outputs": {"findings": []}, "more": 1}"#).unwrap();
        assert_eq!(
            (run.status, &*run.outputs),
            (RunStatus::Completed, r#"{"findings": []}"#)
        );
        assert_eq!(
            reading(r#"{"status": "stalled", "outputs": null}"#)
                .unwrap()
                .status,
            RunStatus::Stalled
        );
    }

    #[test]
    fn the_run_artifact_of_seed_001_is_read_unchanged() {
        let text = r#"{"inputs": {"options": {}}, "outputs": {"atoms": []}, "intermediate": {"nodeTransitions": []},
            "evidence": {}, "metrics": {"totalTokens": 9, "totalLatency": 12.4}}"#;
        let run = reading(text).unwrap();
        assert_eq!(
            (run.status, run.tokens.total, run.tokens.latency_ms),
            (RunStatus::Completed, Some(9.0), Some(12.4))
        );
    }

    #[test]
    fn a_key_twice_in_what_is_graded_is_refused() {
        let refused =
            |parts: &str| reading(&format!(r#"{{"status": "completed", {parts}}}"#)).err();
        for parts in [
            r#""outputs": {"result": "bad", "result": "good"}"#,
            r#""outputs": {}, "intermediate": {"tool_calls": [{"name": "drop", "name": "find"}]}"#,
            r#""outputs": {}, "metrics": {"total_tokens": 9, "total_tokens": 1}"#,
        ] {
            assert!(
                refused(parts).is_some_and(|refused| refused.contains("duplicate key")),
                "{parts}"
            );
        }
        assert_eq!(
            refused(
                r#""outputs": {"a": {"b": 1}, "b": [{"a": 1}, {"a": 1}]}, "notes": {"a": 1, "a": 2}"#
            ),
            None
        );
    }

    #[test]
    fn only_an_object_with_a_status_and_outputs_is_a_record() {
        for (text, is_record) in [
            (r#" {"status": 1, "outputs": null, "more": 1}"#, true),
            (r#"{"status": "completed"}"#, false),
            (r#"[{"role": "user"}, {"role": "assistant"}]"#, false),
            ("{", false),
        ] {
            let file = RepoPath::root().child("r.json");
            let source = SourceText::from_text(file, text.to_owned());
            assert_eq!(is_run(&source), is_record, "{text}");
        }
    }

    #[test]
    fn counted_tools_are_read() {
        let tools = |metrics: &str| {
            let text =
                format!(r#"{{"status": "completed", "outputs": {{}}, "metrics": {metrics}}}"#);
            reading(&text).unwrap().counted_tools
        };
        let calls = |metrics: &str| tools(metrics).calls.into_iter().collect::<Vec<_>>();
        let counts = r#"{"tool_call_counts": {"find": 2, "drop": 0, "no": null}, "cost_usd": 1}"#;
        assert_eq!(
            (calls(counts), tools(counts).unreadable),
            (vec![("find".to_owned(), 2)], None)
        );
        let both = r#"{"toolCallCounts": {"find": "1"}, "tool_call_counts": {"find": 3}}"#;
        assert_eq!(calls(both), [("find".to_owned(), 3)]);
        for odd in [
            "3",
            "[{}]",
            r#"{"find": {"count": 3}}"#,
            r#"{"find": "many"}"#,
            r#"{"find": -1}"#,
        ] {
            assert!(
                tools(&format!(r#"{{"tool_call_counts": {odd}}}"#))
                    .unreadable
                    .is_some(),
                "{odd}"
            );
        }
    }

    #[test]
    fn a_metric_of_another_type_counts_as_not_recorded() {
        let tokens = |metrics: &str| {
            let text =
                format!(r#"{{"status": "completed", "outputs": {{}}, "metrics": {metrics}}}"#);
            reading(&text).unwrap().tokens
        };
        let read = tokens(
            r#"{"total_tokens": "123", "total_latency_ms": " 4.5 ", "cost_usd": {"usd": 1}}"#,
        );
        assert_eq!(
            (read.total, read.input, read.latency_ms, read.cost_usd),
            (Some(123.0), None, Some(4.5), None)
        );
        assert_eq!(tokens(r#"{"model_calls": 3}"#).model_calls, Some(3.0));
        let read = tokens(
            r#"{"total_tokens": [1], "input_tokens": 7, "output_tokens": "many", "cost_usd": 0.5}"#,
        );
        assert_eq!(
            (read.total, read.input, read.output, read.cost_usd),
            (None, Some(7), None, Some(0.5))
        );
        let read = tokens(
            r#"{"total_tokens": -5, "total_latency_ms": -1.0, "cost_usd": "-0.5", "input_tokens": -3}"#,
        );
        assert_eq!(
            (read.total, read.input, read.latency_ms, read.cost_usd),
            (None, None, None, None)
        );
        let total = |given: &str| {
            tokens(&format!(
                r#"{{"input_tokens": 7, "output_tokens": 2, {given}}}"#
            ))
            .total
        };
        assert_eq!(
            total(r#""total_tokens": 1"#),
            Some(9.0),
            "a total below its parts does not count"
        );
        assert_eq!(
            total(r#""total_tokens": 12"#),
            Some(12.0),
            "a total may count more, such as reasoning"
        );
        let nodes =
            r#"{"total_tokens": 0, "tokens_per_node": {"plan": 4000, "write": "90", "odd": null}}"#;
        assert_eq!(
            tokens(nodes).total,
            Some(4090.0),
            "a total below the sum of its nodes does not count"
        );
        let both = r#"{"total_tokens": 1, "totalTokens": 2, "totalLatency": 3}"#;
        assert_eq!(
            (tokens(both).total, tokens(both).latency_ms),
            (Some(2.0), Some(3.0)),
            "the larger one of two"
        );
        assert_eq!(
            tokens(r#"{"total_tokens": 1, "input_tokens": 7}"#).total,
            Some(7.0)
        );
        let none = super::Tokens::default();
        for metrics in [
            "null",
            "3",
            "[]",
            r#""12""#,
            "true",
            r#"{"total_tokens": null}"#,
            r#"{"total_tokens": "NaN"}"#,
            r#"{"total_tokens": "1,234"}"#,
            r#"{"total_tokens": 1e999}"#,
            r#"{"total_tokens": "1e999"}"#,
            r#"{"total_tokens": ""}"#,
            r#"{"\ud800": 1}"#,
        ] {
            assert_eq!(tokens(metrics), none, "{metrics}");
        }
        assert!(
            reading(r#"{"outputs": {}, "metrics": null}"#).is_err(),
            "the status stays required"
        );
    }

    #[test]
    fn invalid_records_are_refused_with_the_position() {
        let table = [
            (
                r#"{"outputs": {}}"#,
                "r.json:1:1: the key \"status\" is missing",
            ),
            (
                r#"{"metadata": {}}"#,
                "r.json:1:1: the keys \"status\" and \"outputs\" are missing",
            ),
            (
                r#"{"status": "done", "outputs": {}}"#,
                "r.json:1:12: unknown status \"done\"",
            ),
            (
                r#"{"status": "completed"}"#,
                "r.json:1:1: the key \"outputs\" is missing",
            ),
            (
                r#"{"status": "completed", "outputs": []}"#,
                "r.json:1:36: \"outputs\" is not an object",
            ),
            (
                r#"{"case": "d", "status": "completed", "outputs": {}}"#,
                "r.json:1:2: the record says case \"d\", its path says \"c\"",
            ),
            (
                r#"{"agent": "x", "status": "completed", "outputs": {}}"#,
                "r.json:1:2: the record says agent",
            ),
            (
                r#"{"sample": 1, "status": "completed", "outputs": {}}"#,
                "r.json:1:2: the record says sample 1, its path says 0",
            ),
            (
                r#"{"schema": "goldgate.run/2", "status": "completed", "outputs": {}}"#,
                "r.json:1:2: unknown schema",
            ),
            (
                r#"{"status": "completed", "outputs": {"findings": [NaN]}}"#,
                "r.json:1:50: invalid JSON",
            ),
            (r#"{"status": "completed", "outputs": {"#, "r.json:1:"),
        ];
        for (text, expected) in table {
            let problem = reading(text).unwrap_err();
            assert!(problem.starts_with(expected), "{problem}");
        }
    }
}

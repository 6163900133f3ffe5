//! The JSON values of a file, and its runs.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::problem::{Problem, ProblemKind};
use crate::transcript::{Format, Hints, Transcript};
use crate::{
    adk, benchmarks, case_key, coding_agents, conversations, dates, detect, goldens, inspect,
    loose, otlp, promptfoo, results, run_trees,
};

/// A parsed file: one JSON value, or several after each other. Any white space separates them, as in JSON lines parsers.
pub struct Source<'t> {
    pub(crate) text: &'t str,
    pub(crate) documents: Vec<Document<'t>>,
}

/// A value of a file.
pub(crate) struct Document<'t> {
    /// Its byte offset.
    pub at: usize,
    pub raw: &'t RawValue,
    pub value: Value,
}

impl<'t> Source<'t> {
    /// Parses a text.
    ///
    /// # Errors
    /// Invalid JSON, or an empty text.
    pub fn parse(text: &'t str) -> Result<Self, Problem> {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
        let mut documents = Vec::new();
        let mut read = 0;
        while let Some(value) = values.next() {
            let Ok(raw) = value else {
                let help = "correct the syntax here";
                return Err(Problem::new(
                    read,
                    ProblemKind::BrokenJson,
                    "invalid JSON",
                    help,
                ));
            };
            documents.push(Document {
                at: offset_of(text, raw),
                raw,
                value: loose::whole(raw.get()).unwrap_or_default(),
            });
            read = values.byte_offset();
        }
        if documents.is_empty() {
            let help = "provide a transcript as JSON or JSON lines";
            return Err(Problem::new(
                0,
                ProblemKind::Empty,
                "the file is empty",
                help,
            ));
        }
        Ok(Self { text, documents })
    }

    /// The format of the file; `None` if none of its records shows it.
    #[must_use]
    pub fn format(&self) -> Option<Format> {
        detect::format_of(self.documents.iter().map(|document| &document.value))
    }

    /// The records, those of lists one by one, with their byte offsets.
    pub(crate) fn records(&self) -> Vec<(&Value, usize)> {
        let mut records = Vec::new();
        for document in &self.documents {
            match &document.value {
                Value::Array(list) => {
                    records.extend(
                        list.iter()
                            .zip(element_offsets(self.text, document.raw, &[])),
                    );
                }
                record => records.push((record, document.at)),
            }
        }
        records
    }

    /// The values of the records, in the order of the file.
    #[must_use]
    pub fn values(&self) -> Vec<&Value> {
        let documents = self.documents.iter();
        let values = documents.flat_map(|document| match &document.value {
            Value::Array(list) => list.iter().collect(),
            alone => vec![alone],
        });
        values.collect()
    }

    /// Reads all runs, in the order of the file. A file that has cases only has no runs.
    ///
    /// # Errors
    /// What cannot be read.
    pub fn transcripts(
        &self,
        format: Format,
        hints: Hints<'_>,
    ) -> Result<Vec<Transcript>, Vec<Problem>> {
        let mut runs = match format {
            Format::OpenAi
            | Format::Anthropic
            | Format::Langchain
            | Format::Gemini
            | Format::Bedrock
            | Format::Ollama => conversations::read_conversations(self)?,
            Format::ClaudeCode => coding_agents::read_claude_code(self)?,
            Format::Adk => adk::read_adk(self)?,
            Format::TauBench => benchmarks::read_tau_bench(self)?,
            Format::SweAgent => benchmarks::read_swe_agent(self)?,
            Format::OpenHands => benchmarks::read_open_hands(self)?,
            Format::Codex => coding_agents::read_codex(self)?,
            Format::Inspect => inspect::read_inspect(self)?,
            Format::Promptfoo => promptfoo::read_promptfoo(self)?,
            Format::OpenaiEvals | Format::Deepeval | Format::Csv => goldens::read_goldens(self)?,
            Format::Results => results::read_results(self, hints)?,
            Format::Otlp => return otlp::read_traces(self, hints),
            Format::Langsmith | Format::Langfuse => {
                return run_trees::read_run_trees(format, self, hints);
            }
        };
        dates::add_dates(self, &mut runs);
        if let Some(key) = hints.case_key {
            case_key::name_cases(self, &mut runs, key)?;
        }
        Ok(runs)
    }
}

/// The byte offset of a raw part in its text.
pub(crate) fn offset_of(text: &str, raw: &RawValue) -> usize {
    // A borrowed RawValue is a slice of its text.
    (raw.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

/// Reads a part as the fields of a type. A list is refused: serde would read it as the fields in order.
pub(crate) fn fields<'t, T: Deserialize<'t>>(text: &str, raw: &'t RawValue) -> Result<T, Problem> {
    if !raw.get().starts_with('{') {
        let description = "invalid type: a value, expected an object".to_owned();
        return Err(wrong_form(text, raw, description));
    }
    serde_json::from_str(raw.get()).map_err(|error| wrong_form(text, raw, error.to_string()))
}

fn wrong_form(text: &str, raw: &RawValue, description: String) -> Problem {
    let help = "write the record as the tool does";
    Problem::new(
        offset_of(text, raw),
        ProblemKind::WrongForm,
        description,
        help,
    )
}

/// The byte offsets of the elements of a list, which is in an object under keys, one in the other.
pub(crate) fn element_offsets(text: &str, raw: &RawValue, keys: &[&str]) -> Vec<usize> {
    let elements = elements(raw, keys).into_iter();
    elements.map(|element| offset_of(text, element)).collect()
}

/// The elements of such a list.
pub(crate) fn elements<'t>(raw: &'t RawValue, keys: &[&str]) -> Vec<&'t RawValue> {
    let Some((key, inner)) = keys.split_first() else {
        return serde_json::from_str(raw.get()).unwrap_or_default();
    };
    let fields: BTreeMap<String, &RawValue> = serde_json::from_str(raw.get()).unwrap_or_default();
    fields
        .get(*key)
        .map_or_else(Vec::new, |list| elements(list, inner))
}

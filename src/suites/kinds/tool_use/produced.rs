//! The output of a run: its tool calls and its final answer.

use serde::Deserialize;

use crate::format::lenient;
use crate::format::lenient::{Lenient, Text};
use crate::model::Run;
use crate::suites::shared::calls::{ObservedCall, calls};
use crate::text::{answer_of, norm};

/// The output of one run: its tool calls and its final answer.
pub struct ToolUseOutput {
    /// The answer in the normal form.
    pub answer: String,
    /// The answer as the agent wrote it, for quotes.
    pub written: String,
    /// The tool calls, in order.
    pub calls: Vec<ObservedCall>,
    /// What is wrong with the form of the output.
    pub flaws: Vec<String>,
}

#[derive(Deserialize, Default)]
struct ToolUseForm<'a> {
    #[serde(borrow, default)]
    text: Lenient<Text<'a>>,
}

/// Reads the output of a run.
pub fn produced(run: &Run) -> ToolUseOutput {
    let (calls, mut flaws) = calls(run);
    let ToolUseForm { text } = lenient::object(&run.outputs);
    let written = match &text {
        Lenient::Given(text) => answer_of(text.as_ref()).to_owned(),
        Lenient::Absent => String::new(),
        Lenient::Other(form) => {
            flaws.insert(0, format!("\"text\" is {form}, not a text"));
            String::new()
        }
    };
    let answer = norm(&written);
    if answer.is_empty() && calls.is_empty() && flaws.is_empty() {
        flaws.push("the outputs have no text, and there is no tool call".to_owned());
    }
    ToolUseOutput { answer, written, calls, flaws }
}

//! The output of a run: its tool calls and its answers.

use serde::Deserialize;
use serde_json::Value;

use super::turns::UserMessages;
use crate::format::lenient;
use crate::format::lenient::{Lenient, Text};
use crate::model::Run;
use crate::suites::shared::calls::{ObservedCall, calls};
use crate::suites::shared::turns::{ObservedTurn, ObservedTurns, turn_name, turns};
use crate::text::norm;

/// The output of one run: its tool calls and its final answer, or all answers of a conversation.
pub struct ToolUseOutput {
    /// The answer in the normal form; in a conversation, all answers.
    pub answer: String,
    /// The answer as the agent wrote it, for quotes.
    pub written: String,
    /// Whether the recording has only the beginning of the answer.
    pub is_cut: bool,
    /// The tool calls, in order.
    pub calls: Vec<ObservedCall>,
    /// The turns of a conversation; `None` if the outputs have none, or the case has one query.
    pub turns: Option<Vec<ProducedTurn>>,
    /// What is wrong with the form of the output.
    pub flaws: Vec<String>,
}

/// One turn of a conversation with its calls.
pub struct ProducedTurn {
    pub said: ObservedTurn,
    /// The calls of the turn, in order.
    pub calls: Vec<ObservedCall>,
}

#[derive(Deserialize, Default)]
struct ToolUseForm<'a> {
    #[serde(borrow, default)]
    text: Lenient<Text<'a>>,
    #[serde(default)]
    truncated: Value,
}

impl ToolUseOutput {
    /// Reads the output of a run of a case in which the user says this.
    pub fn read(run: &Run, messages: &UserMessages) -> Self {
        let (calls, mut flaws) = calls(run);
        let ToolUseForm { text, truncated } = lenient::object(&run.outputs);
        let written = match &text {
            Lenient::Given(text) => text.to_string(),
            Lenient::Absent => String::new(),
            Lenient::Other(form) => {
                flaws.insert(0, format!("\"text\" is {form}, not a string"));
                String::new()
            }
        };
        let output = Self {
            answer: norm(&written),
            written,
            is_cut: truncated.as_bool() == Some(true),
            calls,
            turns: None,
            flaws,
        };
        match messages {
            UserMessages::Query(_) => output.of_query(),
            UserMessages::Turns(_) | UserMessages::Simulated(..) => {
                output.of_conversation(turns(run), messages)
            }
        }
    }

    fn of_query(mut self) -> Self {
        if self.answer.is_empty() && self.calls.is_empty() && self.flaws.is_empty() {
            self.flaws
                .push("the outputs have no text, and there is no tool call".to_owned());
        }
        self
    }

    /// Divides the output into turns. A run without turns is the only turn of a conversation that may have one turn.
    fn of_conversation(mut self, observed: Option<ObservedTurns>, messages: &UserMessages) -> Self {
        let said = match observed {
            Some(ObservedTurns { turns, flaws }) => {
                self.flaws.extend(flaws);
                let last = turns.last().map_or(String::new(), |turn| norm(&turn.text));
                if !self.answer.is_empty() && self.answer != last {
                    self.flaws
                        .push("\"text\" is not the text of the last turn".to_owned());
                }
                turns
            }
            None if messages.may_be_one_turn() => vec![ObservedTurn {
                user: None,
                text: self.written.clone(),
            }],
            None => return self.of_query(),
        };
        let texts: Vec<&str> = said.iter().map(|turn| turn.text.as_str()).collect();
        self.written = texts.join("\n");
        self.answer = norm(&self.written);
        let mut turns: Vec<ProducedTurn> = said
            .into_iter()
            .map(|said| ProducedTurn {
                said,
                calls: Vec::new(),
            })
            .collect();
        for (index, call) in self.calls.iter().enumerate() {
            // In a conversation with one turn, every call belongs to it.
            let turn = call.turn.or((turns.len() == 1).then_some(0));
            match turn.map(|turn| turns.get_mut(turn as usize)) {
                Some(Some(turn)) => turn.calls.push(call.clone()),
                Some(None) => self.flaws.push(format!(
                    "tool_calls[{index}].turn is not the index of a turn"
                )),
                None => self
                    .flaws
                    .push(format!("tool_calls[{index}] does not state its turn")),
            }
        }
        for (index, turn) in (0_u32..).zip(&turns) {
            if norm(&turn.said.text).is_empty() && turn.calls.is_empty() {
                self.flaws.push(format!(
                    "{} has neither a text nor a tool call",
                    turn_name(index)
                ));
            }
        }
        self.turns = Some(turns);
        self
    }

    /// A turn of the conversation; `None` if it is missing.
    pub fn turn(&self, index: u32) -> Option<&ProducedTurn> {
        self.turns.as_ref()?.get(usize::try_from(index).ok()?)
    }
}

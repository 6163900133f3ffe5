//! Builds a conversation message by message: questions, tool calls, the final answer.

use std::collections::{BTreeMap, HashMap, VecDeque};

use serde_json::Value;

use crate::message::{CallPart, Message, Part, ResultPart, Role};
use crate::transcript::{Call, Transcript, Turn};

/// A conversation so far.
#[derive(Default)]
pub struct ConversationBuilder {
    prompt: Vec<String>,
    query: Option<String>,
    /// Text after the query that nobody has answered yet.
    unanswered: Option<String>,
    interjected: Option<String>,
    /// Text of the system that nobody has answered yet, after the user's first message.
    unanswered_instruction: Option<String>,
    instructed: Option<String>,
    begun: bool,
    /// Number of the assistant's answers: each ends with a message of somebody else, or a result.
    steps: u32,
    /// Whether the next part of the assistant begins an answer.
    is_asked: bool,
    /// The user's messages since the last answer.
    heard: Vec<String>,
    turns: Vec<Turn>,
    /// The text of the last assistant message, and the number of events before it.
    last: Option<(usize, String)>,
    /// Whether a result came after that text: what was said before a call whose result came does not answer.
    is_outdated: bool,
    calls: Vec<Call>,
    open: OpenCalls,
    events: Vec<Value>,
    left_out: BTreeMap<String, u32>,
}

/// Why a message does not belong to its conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Misplaced {
    /// A tool's result without an open call, with the id or the name that it states.
    UnaskedResult(String),
    /// A part that cannot be read, and why.
    Unreadable(&'static str),
}

/// A conversation without an assistant message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoAssistantMessage {
    /// What was left out, by type.
    pub left_out: BTreeMap<String, u32>,
}

impl ConversationBuilder {
    /// Adds a message.
    ///
    /// # Errors
    /// It has a result without a call, or a call that cannot be read.
    pub fn add(&mut self, message: Message) -> Result<(), Misplaced> {
        match message.role {
            Role::Assistant => self.begin_answer(),
            Role::System | Role::User => self.add_question(message.role, message.text()),
            Role::Tool | Role::Item | Role::Unknown => {}
        }
        for part in message.parts {
            match part {
                Part::Text(text) if message.role == Role::Assistant => self.say(&text),
                Part::Text(_) => {}
                Part::Call(call) => self.add_call(call),
                Part::Result(result) => self.add_result(result)?,
                Part::Item(item) => self.events.push(item),
                Part::Other(kind) => self.leave_out(&kind),
                Part::Unreadable(why) => return Err(Misplaced::Unreadable(why)),
            }
        }
        Ok(())
    }

    /// Adds a message of the system or the user.
    fn add_question(&mut self, asker: Role, text: String) {
        self.is_asked = true;
        if text.is_empty() {
            return;
        }
        let follows_user = self.query.is_some() || self.begun;
        if asker == Role::User {
            self.heard.push(text.clone());
            if self.query.is_none() {
                self.query = Some(text.clone());
            } else {
                self.unanswered.get_or_insert_with(|| text.clone());
            }
        } else if follows_user {
            self.unanswered.get_or_insert_with(|| text.clone());
            self.unanswered_instruction
                .get_or_insert_with(|| text.clone());
        }
        if !self.begun {
            self.prompt.push(text);
        } else if asker == Role::User {
            self.events.push(Transcript::event("user", &text));
        } else {
            self.events.push(Transcript::event("system", &text));
        }
    }

    /// Marks everything before as answered: the assistant acts after reading it.
    fn act(&mut self) {
        if self.is_asked || !self.begun {
            self.steps += 1;
        }
        self.is_asked = false;
        self.begun = true;
        let heard = self.unanswered.take();
        self.interjected = self.interjected.take().or(heard);
        let instruction = self.unanswered_instruction.take();
        self.instructed = self.instructed.take().or(instruction);
        if !self.heard.is_empty() {
            if self.is_outdated {
                self.clear_turn();
            }
            self.retire_text();
            let user = std::mem::take(&mut self.heard).join("\n\n");
            self.turns.push(Turn {
                user,
                text: String::new(),
            });
        }
    }

    /// Starts an assistant message. The text of the last one is the answer.
    pub fn begin_answer(&mut self) {
        self.is_asked = true;
        self.act();
        self.retire_text();
        self.clear_turn();
    }

    /// Adds a text to the assistant's message. After the result of a tool that the vendor ran within the message, a new answer begins.
    fn say(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if self.is_outdated {
            self.retire_text();
            self.clear_turn();
        }
        let events = self.events.len();
        self.last
            .get_or_insert_with(|| (events, String::new()))
            .1
            .push_str(text);
        if let Some(turn) = self.turns.last_mut() {
            turn.text.push_str(text);
        }
    }

    /// Makes the text of the last assistant message an event: another text follows, or none.
    fn retire_text(&mut self) {
        if let Some((index, text)) = self.last.take().filter(|(_, text)| !text.is_empty()) {
            self.events
                .insert(index, Transcript::event("assistant", &text));
        }
        self.last = Some((self.events.len(), String::new()));
        self.is_outdated = false;
    }

    fn clear_turn(&mut self) {
        if let Some(turn) = self.turns.last_mut() {
            turn.text.clear();
        }
    }

    /// The index of the turn in progress; the first one also before the user says anything.
    fn turn(&self) -> Option<u32> {
        u32::try_from(self.turns.len().saturating_sub(1)).ok()
    }

    /// Adds a tool call of the assistant.
    pub fn add_call(&mut self, call: CallPart) {
        self.act();
        let events = self.events.len();
        self.last.get_or_insert_with(|| (events, String::new()));
        let CallPart {
            id,
            name,
            arguments,
            server,
            result,
            error,
        } = call;
        let is_answered = result.is_some();
        let index = self.calls.len();
        self.calls.push(Call {
            name: name.clone(),
            server,
            arguments,
            result: result.unwrap_or_default(),
            error,
            latency_ms: None,
            turn: self.turn(),
            step: self.steps.checked_sub(1),
        });
        // A result may still follow, in a form of its own: some tell it twice.
        self.open.add(index, id, name, is_answered);
    }

    /// Adds a tool's result to its call.
    fn add_result(&mut self, result: ResultPart) -> Result<(), Misplaced> {
        let ResultPart {
            id,
            name,
            result,
            error,
        } = result;
        let Some(index) = self.open.take(id.as_deref(), name.as_deref()) else {
            return Err(Misplaced::UnaskedResult(id.or(name).unwrap_or_default()));
        };
        self.is_asked = true;
        self.is_outdated = true;
        if let Some(call) = self.calls.get_mut(index) {
            (call.result, call.error) = (result, error);
        }
        Ok(())
    }

    /// Counts an item that is left out.
    pub fn leave_out(&mut self, feature: &str) {
        *self
            .left_out
            .entry(feature.chars().take(40).collect())
            .or_default() += 1;
    }

    /// Ends the conversation.
    ///
    /// # Errors
    /// The conversation has no assistant message, hence no run.
    pub fn finish(mut self, at: usize) -> Result<Transcript, NoAssistantMessage> {
        if !self.begun {
            return Err(NoAssistantMessage {
                left_out: self.left_out,
            });
        }
        if self.turns.len() < 2 {
            // Only the calls of a conversation state their turn.
            self.calls.iter_mut().for_each(|call| call.turn = None);
        }
        Call::clear_single_step(&mut self.calls);
        if self.is_outdated {
            self.clear_turn();
            self.retire_text();
        }
        let text = self.last.map_or_else(String::new, |(_, text)| text);
        Ok(Transcript {
            at,
            prompt: (!self.prompt.is_empty()).then(|| self.prompt.join("\n\n")),
            query: self.query,
            interjected: self.interjected,
            instructed: self.instructed,
            turns: self.turns,
            text: Some(text),
            calls: self.calls,
            events: self.events,
            left_out: self.left_out,
            ..Transcript::default()
        })
    }
}

/// The calls without a result, earliest first.
#[derive(Default)]
struct OpenCalls {
    all: VecDeque<usize>,
    by_id: HashMap<String, VecDeque<usize>>,
    by_name: HashMap<String, VecDeque<usize>>,
    /// Whether the call at this place has its result.
    is_answered: Vec<bool>,
}

impl OpenCalls {
    /// Adds the next call.
    fn add(&mut self, index: usize, id: Option<String>, name: String, is_answered: bool) {
        self.is_answered.push(false);
        if let Some(id) = id {
            self.by_id.entry(id).or_default().push_back(index);
        }
        if !is_answered {
            self.by_name.entry(name).or_default().push_back(index);
            self.all.push_back(index);
        }
    }

    /// Takes the first open call with an id; without an id, the first of its name; without both, the first.
    fn take(&mut self, id: Option<&str>, name: Option<&str>) -> Option<usize> {
        let open = match (id, name) {
            (Some(id), _) => self.by_id.get_mut(id)?,
            (None, Some(name)) => self.by_name.get_mut(name)?,
            (None, None) => &mut self.all,
        };
        let is_answered = &mut self.is_answered;
        let index = std::iter::from_fn(|| open.pop_front()).find(|index| !is_answered[*index])?;
        is_answered[index] = true;
        Some(index)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::ConversationBuilder;
    use crate::message::{Message, Role};
    use crate::transcript::{Transcript, Turn};

    fn conversation(messages: &[Value]) -> Transcript {
        let mut builder = ConversationBuilder::default();
        for message in messages {
            builder.add(Message::of(message, Role::User)).unwrap();
        }
        builder.finish(0).unwrap()
    }

    fn says(role: &str, text: &str) -> Value {
        json!({ "role": role, "content": text })
    }

    fn calls(id: &str) -> Value {
        json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": id, "function": { "name": id, "arguments": "{}" } }] })
    }

    fn text(text: &str) -> Value {
        json!({ "type": "text", "text": text })
    }

    fn result(id: &str) -> Value {
        json!({ "role": "tool", "tool_call_id": id, "content": "done" })
    }

    fn turn(user: &str, text: &str) -> Turn {
        Turn {
            user: user.to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn events_are_in_the_order_of_the_conversation() {
        let transcript = conversation(&[
            says("user", "a"),
            says("assistant", "b"),
            says("user", "c"),
            says("assistant", "d"),
            says("assistant", "e"),
        ]);
        let expected = [
            Transcript::event("assistant", "b"),
            Transcript::event("user", "c"),
            Transcript::event("assistant", "d"),
        ];
        assert_eq!(transcript.events, expected);
        assert_eq!(transcript.text.as_deref(), Some("e"));
    }

    #[test]
    fn a_message_of_the_user_after_an_answer_begins_a_turn() {
        let transcript = conversation(&[
            says("system", "Be brief."),
            says("user", "Hello."),
            says("user", "Where is it?"),
            calls("find"),
            says("assistant", "In Paris."),
            says("system", "Be polite."),
            says("user", "When does it come?"),
            says("assistant", "One moment."),
            calls("plan"),
            says("assistant", "On Monday."),
            says("user", "Thanks."),
        ]);
        let expected = [
            turn("Hello.\n\nWhere is it?", "In Paris."),
            turn("When does it come?", "On Monday."),
        ];
        assert_eq!(transcript.turns, expected, "the last message has no answer");
        let turns: Vec<Option<u32>> = transcript.calls.iter().map(|call| call.turn).collect();
        assert_eq!(turns, [Some(0), Some(1)]);
        assert_eq!(transcript.instructed.as_deref(), Some("Be polite."));
        assert_eq!(
            transcript.messages(),
            ["Hello.\n\nWhere is it?", "When does it come?"]
        );
    }

    #[test]
    fn text_before_a_call_does_not_answer() {
        let asked = [
            says("user", "Where is it?"),
            says("assistant", "I look it up."),
            calls("1"),
            result("1"),
        ];
        let transcript = conversation(&asked);
        assert_eq!(
            (transcript.text.as_deref(), transcript.events.len()),
            (Some(""), 1)
        );
        let answered = conversation(&[&asked[..], &[says("assistant", "In Paris.")]].concat());
        assert_eq!(
            (answered.text.as_deref(), answered.events.len()),
            (Some("In Paris."), 1)
        );
    }

    #[test]
    fn the_answer_is_the_text_after_the_last_result_of_a_message() {
        let call = json!({ "type": "server_tool_use", "id": "s", "name": "search", "input": {} });
        let result = json!({ "type": "web_search_tool_result", "tool_use_id": "s", "content": [] });
        let content = [
            text("I look."),
            call.clone(),
            result.clone(),
            text("It is "),
            text("12."),
        ];
        let transcript = conversation(&[
            says("user", "How much?"),
            json!({ "role": "assistant", "content": content }),
        ]);
        assert_eq!(transcript.text.as_deref(), Some("It is 12."));
        assert_eq!(transcript.turns, [turn("How much?", "It is 12.")]);
        assert_eq!(
            transcript.events,
            [Transcript::event("assistant", "I look.")]
        );
        assert_eq!(transcript.calls.len(), 1);
        let silent = conversation(&[
            json!({ "role": "assistant", "content": [text("I look."), call, result] }),
        ]);
        assert_eq!(silent.text.as_deref(), Some(""));
    }

    #[test]
    fn a_turn_that_ends_with_a_result_has_no_answer() {
        let transcript = conversation(&[
            says("user", "Cancel it."),
            says("assistant", "I will cancel it."),
            calls("1"),
            result("1"),
            says("user", "Hello?"),
            says("assistant", "It is done."),
        ]);
        let expected = [turn("Cancel it.", ""), turn("Hello?", "It is done.")];
        assert_eq!(
            (transcript.turns, transcript.events.len()),
            (expected.to_vec(), 2)
        );
    }

    #[test]
    fn the_text_of_a_turn_does_not_answer_the_next() {
        let item =
            json!({ "type": "function_call", "call_id": "1", "name": "find", "arguments": "{}" });
        let transcript = conversation(&[
            says("user", "Hello."),
            says("assistant", "Hi."),
            says("user", "Where is it?"),
            item,
        ]);
        assert_eq!(transcript.text.as_deref(), Some(""));
        let expected = [turn("Hello.", "Hi."), turn("Where is it?", "")];
        assert_eq!(transcript.turns, expected);
    }

    #[test]
    fn calls_of_one_turn_do_not_state_it() {
        let transcript = conversation(&[
            says("user", "Where is it?"),
            calls("find"),
            says("assistant", "In Paris."),
        ]);
        assert_eq!(
            (transcript.calls[0].turn, transcript.messages()),
            (None, vec!["Where is it?"])
        );
    }

    #[test]
    fn a_result_without_an_id_is_that_of_the_first_open_call() {
        let call = |name: &str| json!({ "role": "assistant", "tool_calls": [{ "function": { "name": name, "arguments": {} } }] });
        let result = |more: Value| {
            let mut message = json!({ "role": "tool", "content": "x" });
            message
                .as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            message
        };
        for (more, expected) in [
            (json!({}), ["x", ""]),
            (json!({ "tool_name": "b" }), ["", "x"]),
        ] {
            let transcript = conversation(&[call("a"), call("b"), result(more)]);
            let results: Vec<&str> = transcript
                .calls
                .iter()
                .map(|call| call.result.as_str().unwrap_or_default())
                .collect();
            assert_eq!(results, expected);
        }
    }
}

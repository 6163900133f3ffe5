//! Builds a conversation message by message: questions, tool calls, the final answer.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::{Transcript, TranscriptTurn};
use crate::model::{Json, ToolCall};

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
    turns: Vec<TranscriptTurn>,
    /// The text of the last assistant message, and the number of events before it.
    last: Option<(usize, String)>,
    /// Whether the last thing is a result: then what was said before the call does not answer.
    ends_with_result: bool,
    calls: Vec<ToolCall>,
    /// The indices of calls without a result, earliest first.
    open: HashMap<Known, VecDeque<usize>>,
    events: Vec<Json>,
    left_out: BTreeMap<String, u32>,
}

/// How a tool result refers to its call.
#[derive(PartialEq, Eq, Hash)]
enum Known {
    Id(String),
    /// By name: older calls have no ids.
    Name(String),
}

/// The author of a message that is not an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asker {
    /// System or developer instructions.
    System,
    User,
}

/// A tool result without an open call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnmatchedResult;

/// A conversation without an assistant message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoAssistantMessage;

impl ConversationBuilder {
    /// Adds a message of the system or the user.
    pub fn add_question(&mut self, asker: Asker, text: String) {
        self.is_asked = true;
        if text.is_empty() {
            return;
        }
        let follows_user = self.query.is_some() || self.begun;
        match asker {
            Asker::User => {
                self.heard.push(text.clone());
                match self.query {
                    None => self.query = Some(text.clone()),
                    Some(_) => drop(self.unanswered.get_or_insert_with(|| text.clone())),
                }
            }
            Asker::System if follows_user => {
                self.unanswered.get_or_insert_with(|| text.clone());
                self.unanswered_instruction
                    .get_or_insert_with(|| text.clone());
            }
            Asker::System => {}
        }
        match (self.begun, asker) {
            (false, _) => self.prompt.push(text),
            (true, Asker::System) => self.events.push(Transcript::event("system", &text)),
            (true, Asker::User) => self.events.push(Transcript::event("user", &text)),
        }
    }

    /// Marks everything before as answered: the assistant acts after reading it.
    fn answers(&mut self) {
        let ended_with_result = std::mem::take(&mut self.ends_with_result);
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
            if ended_with_result {
                self.withdraw();
            }
            let user = std::mem::take(&mut self.heard).join("\n\n");
            self.turns.push(TranscriptTurn {
                user,
                text: String::new(),
            });
        }
    }

    /// What was said before a call whose result came does not answer the turn.
    fn withdraw(&mut self) {
        self.turns
            .last_mut()
            .into_iter()
            .for_each(|turn| turn.text.clear());
    }

    /// The index of the turn in progress; the first one also before the user says anything.
    fn turn(&self) -> Option<u32> {
        u32::try_from(self.turns.len().saturating_sub(1)).ok()
    }

    /// Starts an assistant message with its text, if any. The text of the last one is the answer.
    pub fn add_answer(&mut self, text: String) {
        self.is_asked = true;
        self.answers();
        if let Some((index, before)) = self.last.take().filter(|(_, before)| !before.is_empty()) {
            self.events
                .insert(index, Transcript::event("assistant", &before));
        }
        if let Some(turn) = self.turns.last_mut() {
            turn.text.clone_from(&text);
        }
        self.last = Some((self.events.len(), text));
    }

    /// Adds a tool call of the assistant.
    pub fn called(&mut self, id: Option<String>, name: String, arguments: Json) {
        self.answers();
        self.last
            .get_or_insert_with(|| (self.events.len(), String::new()));
        let known = id.map_or_else(|| Known::Name(name.clone()), Known::Id);
        self.open
            .entry(known)
            .or_default()
            .push_back(self.calls.len());
        let (turn, step) = (self.turn(), self.steps.checked_sub(1));
        self.calls.push(ToolCall {
            turn,
            step,
            ..ToolCall::of(&name, arguments)
        });
    }

    /// States the MCP server of the last call.
    pub fn served_by(&mut self, server: Option<String>) {
        if let Some(call) = self.calls.last_mut() {
            call.server = server;
        }
    }

    /// Adds the result to the last call, for a tool of the vendor: its call and its result are one item.
    pub fn answered_at_once(&mut self, result: Json, error: Option<String>) {
        if let Some(call) = self.calls.last_mut() {
            (call.result, call.error) = (result, error);
        }
    }

    /// Adds the result to the first open call with this id.
    pub fn answered(
        &mut self,
        id: &str,
        result: Json,
        error: Option<String>,
    ) -> Result<(), UnmatchedResult> {
        self.answer(&Known::Id(id.to_owned()), result, error)
    }

    /// Adds the result to the first open call with this name and without an id.
    pub fn answered_by_name(&mut self, name: &str, result: Json) -> Result<(), UnmatchedResult> {
        self.answer(&Known::Name(name.to_owned()), result, None)
    }

    fn answer(
        &mut self,
        known: &Known,
        result: Json,
        error: Option<String>,
    ) -> Result<(), UnmatchedResult> {
        let index = self
            .open
            .get_mut(known)
            .and_then(VecDeque::pop_front)
            .ok_or(UnmatchedResult)?;
        self.is_asked = true;
        self.ends_with_result = true;
        self.calls[index].result = result;
        self.calls[index].error = error;
        Ok(())
    }

    /// Keeps an item of an unknown type unchanged.
    pub fn kept(&mut self, json: Json) {
        self.events.push(json);
    }

    /// Counts an item that is left out.
    pub fn left_out(&mut self, what: &str) {
        *self
            .left_out
            .entry(what.chars().take(40).collect())
            .or_default() += 1;
    }

    /// Ends the conversation.
    ///
    /// # Errors
    /// The conversation has no assistant message, hence no run.
    pub fn finish(mut self, at: usize) -> Result<Transcript, NoAssistantMessage> {
        if self.turns.len() < 2 {
            // Only the calls of a conversation state their turn.
            self.calls.iter_mut().for_each(|call| call.turn = None);
        }
        ToolCall::clear_single_step(&mut self.calls);
        let (at_event, mut text) = self.last.take().ok_or(NoAssistantMessage)?;
        if self.ends_with_result && !text.is_empty() {
            self.withdraw();
            self.events.insert(
                at_event,
                Transcript::event("assistant", &std::mem::take(&mut text)),
            );
        }
        Ok(Transcript {
            prompt: (!self.prompt.is_empty()).then(|| self.prompt.join("\n\n")),
            query: self.query,
            interjected: self.interjected,
            instructed: self.instructed,
            turns: self.turns,
            text: Some(text),
            calls: self.calls,
            events: self.events,
            left_out: self.left_out,
            ..Transcript::blank(at)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Asker, ConversationBuilder};
    use crate::format::transcript::TranscriptTurn;
    use crate::model::Json;

    #[test]
    fn events_are_in_the_order_of_the_conversation() {
        let mut conversation = ConversationBuilder::default();
        for (asker, text) in [
            (Some(Asker::User), "a"),
            (None, "b"),
            (Some(Asker::User), "c"),
            (None, "d"),
            (None, "e"),
        ] {
            match asker {
                Some(asker) => conversation.add_question(asker, text.to_owned()),
                None => conversation.add_answer(text.to_owned()),
            }
        }
        let transcript = conversation.finish(0).unwrap();
        let texts: Vec<String> = transcript
            .events
            .iter()
            .map(|event| event.text().to_owned())
            .collect();
        let expected = ["assistant", "user", "assistant"]
            .into_iter()
            .zip(["b", "c", "d"]);
        let expected: Vec<String> = expected
            .map(|(role, text)| format!("{{\"role\":\"{role}\",\"text\":\"{text}\"}}"))
            .collect();
        assert_eq!((texts, transcript.text.as_deref()), (expected, Some("e")));
    }

    #[test]
    fn a_message_of_the_user_after_an_answer_begins_a_turn() {
        let mut conversation = ConversationBuilder::default();
        let call = |conversation: &mut ConversationBuilder, name: &str| {
            conversation.called(Some(name.to_owned()), name.to_owned(), Json::default());
        };
        conversation.add_question(Asker::System, "Be brief.".to_owned());
        conversation.add_question(Asker::User, "Hello.".to_owned());
        conversation.add_question(Asker::User, "Where is it?".to_owned());
        call(&mut conversation, "find");
        conversation.add_answer("In Paris.".to_owned());
        conversation.add_question(Asker::System, "Be polite.".to_owned());
        conversation.add_question(Asker::User, "When does it come?".to_owned());
        conversation.add_answer("One moment.".to_owned());
        call(&mut conversation, "plan");
        conversation.add_answer("On Monday.".to_owned());
        conversation.add_question(Asker::User, "Thanks.".to_owned());
        let transcript = conversation.finish(0).unwrap();
        let turn = |user: &str, text: &str| TranscriptTurn {
            user: user.to_owned(),
            text: text.to_owned(),
        };
        let expected = [
            turn("Hello.\n\nWhere is it?", "In Paris."),
            turn("When does it come?", "On Monday."),
        ];
        assert_eq!(transcript.turns, expected, "the last message has no answer");
        assert_eq!(
            transcript
                .calls
                .iter()
                .map(|call| call.turn)
                .collect::<Vec<_>>(),
            [Some(0), Some(1)]
        );
        assert_eq!(transcript.instructed.as_deref(), Some("Be polite."));
        assert_eq!(
            transcript.messages(),
            ["Hello.\n\nWhere is it?", "When does it come?"]
        );
    }

    #[test]
    fn text_before_a_call_does_not_answer() {
        for (is_answered, expected) in [(false, ""), (true, "It is in Paris.")] {
            let mut conversation = ConversationBuilder::default();
            conversation.add_question(Asker::User, "Where is it?".to_owned());
            conversation.add_answer("I look it up.".to_owned());
            conversation.called(Some("1".to_owned()), "find".to_owned(), Json::default());
            conversation.answered("1", Json::default(), None).unwrap();
            if is_answered {
                conversation.add_answer("It is in Paris.".to_owned());
            }
            let transcript = conversation.finish(0).unwrap();
            assert_eq!(
                (transcript.text.as_deref(), transcript.events.len()),
                (Some(expected), 1)
            );
        }
    }

    #[test]
    fn a_turn_that_ends_with_a_result_has_no_answer() {
        let mut conversation = ConversationBuilder::default();
        conversation.add_question(Asker::User, "Cancel it.".to_owned());
        conversation.add_answer("I will cancel it.".to_owned());
        conversation.called(Some("1".to_owned()), "cancel".to_owned(), Json::default());
        conversation.answered("1", Json::default(), None).unwrap();
        conversation.add_question(Asker::User, "Hello?".to_owned());
        conversation.add_answer("It is done.".to_owned());
        let transcript = conversation.finish(0).unwrap();
        let texts: Vec<&str> = transcript
            .turns
            .iter()
            .map(|turn| turn.text.as_str())
            .collect();
        assert_eq!(
            (texts, transcript.events.len()),
            (vec!["", "It is done."], 2)
        );
    }

    #[test]
    fn calls_of_one_turn_do_not_state_it() {
        let mut conversation = ConversationBuilder::default();
        conversation.add_question(Asker::User, "Where is it?".to_owned());
        conversation.called(None, "find".to_owned(), Json::default());
        conversation.add_answer("In Paris.".to_owned());
        let transcript = conversation.finish(0).unwrap();
        assert_eq!(
            (transcript.calls[0].turn, transcript.messages()),
            (None, vec!["Where is it?"])
        );
    }
}

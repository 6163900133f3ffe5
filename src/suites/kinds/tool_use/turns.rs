//! The turns of a case: what the user says, and what each turn requires.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::trajectory::{Trajectory, TrajectoryForm};
use crate::diag::{Code, Diagnostic};
use crate::format::Step::{At, Key};
use crate::format::{JsonCursor, json};
use crate::model::{Ask, InputLimit, QUERY, SimulatedUser, Toolbox, UserMessage, UserTurns};
use crate::suites::shared::answer::form::AnswerChecksForm;
use crate::suites::shared::input::TURNS;

/// One turn of a conversation.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnForm {
    /// The user's message.
    pub user: String,
    /// Tools that must all be called in this turn; an empty list means that no tool may be called in it.
    #[serde(default, deserialize_with = "json::not_null")]
    pub tools: Option<Vec<String>>,
    /// The expected calls of this turn.
    #[serde(default, deserialize_with = "json::not_null")]
    trajectory: Option<TrajectoryForm>,
    /// What the case requires of the answer to this message.
    #[serde(default, deserialize_with = "json::not_null")]
    answer: Option<AnswerChecksForm>,
}

/// A user that a model plays.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimulatedUserForm {
    /// The target of the model that plays the user, by its name in the config.
    model: String,
    /// What the user wants, and everything that the user knows.
    goal: String,
    /// The most messages that the user says, with `query` as the first; 10 by default.
    max_turns: Option<u32>,
}

/// The most messages of a simulated user, if the case does not state it.
const USUAL_TURNS: u32 = 10;

/// What the user says in a case.
pub enum UserMessages {
    Query(String),
    /// A conversation: each message follows the answer to the one before.
    Turns(Vec<CaseTurn>),
    /// One message, and then what a model says that plays the user.
    Simulated(String, SimulatedUser),
}

/// One turn of a case, prepared for grading.
pub struct CaseTurn {
    /// The user's message.
    pub user: String,
    /// The tools that must be called in it, without repetitions; `None` if the turn states none.
    pub tools: Option<Vec<String>>,
    /// The expected calls.
    pub trajectory: Option<Trajectory>,
    /// Its line in the golden file, from 1.
    pub line: u32,
}

impl CaseTurn {
    pub fn requires_calls(&self) -> bool {
        self.tools.is_some() || self.trajectory.is_some()
    }
}

impl UserMessages {
    /// The turns of a script; empty for a query and a simulated user.
    pub fn turns(&self) -> &[CaseTurn] {
        match self {
            Self::Query(_) | Self::Simulated(..) => &[],
            Self::Turns(turns) => turns,
        }
    }

    /// Whether the conversation may end after the first answer.
    pub fn may_be_one_turn(&self) -> bool {
        match self {
            Self::Query(_) | Self::Simulated(..) => true,
            Self::Turns(turns) => turns.len() == 1,
        }
    }

    /// The user that a model plays.
    pub fn simulated(&self) -> Option<&SimulatedUser> {
        match self {
            Self::Query(_) | Self::Turns(_) => None,
            Self::Simulated(_, user) => Some(user),
        }
    }

    /// The request to an agent, with the tools that it may use. It has only the user's words: the agent adds its own prompt.
    pub fn ask(&self, tools: Toolbox) -> Ask {
        let (prompt, inputs, turns) = match self {
            Self::Query(query) => (query.as_str(), json!({ QUERY: query }), UserTurns::Single),
            Self::Turns(turns) => {
                let texts: Vec<&str> = turns.iter().map(|turn| turn.user.as_str()).collect();
                let messages = texts.iter().map(|text| UserMessage::query(text)).collect();
                let first = texts.first().copied().unwrap_or_default();
                (
                    first,
                    json!({ TURNS: texts }),
                    UserTurns::Scripted(messages),
                )
            }
            Self::Simulated(query, user) => {
                let SimulatedUser {
                    target,
                    goal,
                    max_turns,
                } = user;
                let stated = json!({ "model": target, "goal": goal, "max_turns": max_turns });
                (
                    query.as_str(),
                    json!({ QUERY: query, "user": stated }),
                    UserTurns::Simulated(user.clone()),
                )
            }
        };
        Ask {
            prompt: prompt.to_owned(),
            inputs,
            answer: None,
            tools,
            turns,
        }
    }
}

/// What the user says, with what the case requires of the answer to each message of a conversation.
pub type StatedMessages = (UserMessages, Vec<Option<AnswerChecksForm>>);

/// Reads `query` and `user`, or `turns`, of the case at `cursor`.
///
/// # Errors
/// Both or none of `query` and `turns`, or an invalid part of them, with its position.
pub fn read_messages(
    query: Option<String>,
    turns: Option<Vec<TurnForm>>,
    user: Option<SimulatedUserForm>,
    cursor: &JsonCursor<'_>,
) -> Result<StatedMessages, Diagnostic> {
    if turns.is_some() && user.is_some() {
        let message = "the case has both turns and a user that a model plays";
        let help = "keep one of them: turns are a script, and user follows a query";
        return Err(cursor.problem_of_key(&[Key("user")], Code::CONTRADICTION, message, help));
    }
    match (query, turns) {
        (Some(query), None) => {
            cursor.filled(&[Key("query")], "the query", &query)?;
            let user = user
                .map(|form| form.read(&cursor.inner(&[Key("user")])))
                .transpose()?;
            let messages = match user {
                Some(user) => UserMessages::Simulated(query, user),
                None => UserMessages::Query(query),
            };
            Ok((messages, Vec::new()))
        }
        (None, Some(forms)) => read_turns(forms, cursor),
        (Some(_), Some(_)) => {
            let message = "the case has both query and turns";
            let help = "keep one of them: the first turn is the user's first message";
            Err(cursor.problem_of_key(&[Key("turns")], Code::CONTRADICTION, message, help))
        }
        (None, None) => {
            let help = "add \"query\", or \"turns\" for a conversation";
            Err(cursor.problem(&[], Code::MISSING_KEY, "the key \"query\" is missing", help))
        }
    }
}

impl SimulatedUserForm {
    fn read(self, cursor: &JsonCursor<'_>) -> Result<SimulatedUser, Diagnostic> {
        cursor.filled(&[Key("model")], "the user's model", &self.model)?;
        cursor.filled(&[Key("goal")], "the user's goal", &self.goal)?;
        let max_turns = self.max_turns.unwrap_or(USUAL_TURNS);
        let limit = &InputLimit::TURNS;
        if max_turns == 0 || limit.is_exceeded_by(max_turns as usize) {
            let message =
                format!("max_turns is {max_turns}; a conversation has 1 to {limit} turns");
            let help = format!("state how often the user speaks at most, such as {USUAL_TURNS}");
            return Err(cursor.problem(&[Key("max_turns")], Code::BAD_NUMBER, message, help));
        }
        Ok(SimulatedUser {
            target: self.model,
            goal: self.goal,
            max_turns,
        })
    }
}

fn read_turns(forms: Vec<TurnForm>, cursor: &JsonCursor<'_>) -> Result<StatedMessages, Diagnostic> {
    let limit = &InputLimit::TURNS;
    if forms.is_empty() {
        let help = "state a turn, such as { \"user\": \"…\" }";
        return Err(cursor.problem(
            &[Key("turns")],
            Code::EMPTY_SET,
            "the list of turns is empty",
            help,
        ));
    }
    if limit.is_exceeded_by(forms.len()) {
        let message = format!("{} entries in `turns`; the limit is {limit}", forms.len());
        return Err(cursor.problem(
            &[Key("turns"), At(limit.count())],
            Code::TOO_MANY,
            message,
            limit.help,
        ));
    }
    let (mut turns, mut answers) = (
        Vec::with_capacity(forms.len()),
        Vec::with_capacity(forms.len()),
    );
    for (
        index,
        TurnForm {
            user,
            tools,
            trajectory,
            answer,
        },
    ) in forms.into_iter().enumerate()
    {
        let inner = cursor.inner(&[Key("turns"), At(index)]);
        inner.filled(&[Key("user")], "the user's message", &user)?;
        let tools = tools
            .map(|tools| distinct_tools(tools, "tools", &inner))
            .transpose()?;
        let trajectory = match trajectory {
            Some(form) => {
                let cursor = inner.inner(&[Key("trajectory")]);
                Some(Trajectory::read(form, &cursor)?)
            }
            None => None,
        };
        turns.push(CaseTurn {
            user,
            tools,
            trajectory,
            line: inner.line(),
        });
        answers.push(answer);
    }
    Ok((UserMessages::Turns(turns), answers))
}

/// The tools of a list without repetitions.
///
/// # Errors
/// A tool without a name.
pub fn distinct_tools(
    tools: Vec<String>,
    list: &str,
    cursor: &JsonCursor<'_>,
) -> Result<Vec<String>, Diagnostic> {
    let mut distinct: Vec<String> = Vec::new();
    for (at, tool) in tools.into_iter().enumerate() {
        if tool.is_empty() {
            let path = [Key(list), At(at)];
            return Err(cursor.problem(
                &path,
                Code::EMPTY_TOOL,
                "a tool has no name",
                "name it, or remove it",
            ));
        }
        if !distinct.contains(&tool) {
            distinct.push(tool);
        }
    }
    Ok(distinct)
}

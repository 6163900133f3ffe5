//! The turns of a case: what the user says, and what each turn requires.

use schemars::JsonSchema;
use serde::Deserialize;

use super::trajectory::{Trajectory, TrajectoryForm};
use crate::diag::{Code, Diagnostic};
use crate::format::JsonCursor;
use crate::format::Step::{At, Key};
use crate::model::InputLimit;
use crate::suites::shared::answer::form::AnswerChecksForm;

/// One turn of a conversation.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnForm {
    /// The user's message.
    pub user: String,
    /// Tools that must all be called in this turn; an empty list means that no tool may be called in it.
    pub tools: Option<Vec<String>>,
    /// The expected calls of this turn.
    trajectory: Option<TrajectoryForm>,
    /// What the case requires of the answer to this message.
    answer: Option<AnswerChecksForm>,
}

/// What the user says in a case.
pub enum UserMessages {
    /// One message.
    Query(String),
    /// A conversation: each message follows the answer to the one before.
    Turns(Vec<CaseTurn>),
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
    /// Whether it requires anything of its calls.
    pub fn requires_calls(&self) -> bool {
        self.tools.is_some() || self.trajectory.is_some()
    }
}

impl UserMessages {
    /// The turns; empty for a query.
    pub fn turns(&self) -> &[CaseTurn] {
        match self {
            Self::Query(_) => &[],
            Self::Turns(turns) => turns,
        }
    }

    /// The messages, in order.
    pub fn messages(&self) -> Vec<&str> {
        match self {
            Self::Query(query) => vec![query],
            Self::Turns(turns) => turns.iter().map(|turn| turn.user.as_str()).collect(),
        }
    }
}

/// What the user says, with what the case requires of the answer to each message of a conversation.
pub type StatedMessages = (UserMessages, Vec<Option<AnswerChecksForm>>);

/// Reads `query` or `turns` of the case at `cursor`.
///
/// # Errors
/// Both or none of them, or an invalid turn, with its position.
pub fn read_messages(
    query: Option<String>,
    turns: Option<Vec<TurnForm>>,
    cursor: &JsonCursor<'_>,
) -> Result<StatedMessages, Diagnostic> {
    match (query, turns) {
        (Some(query), None) => {
            cursor.filled(&[Key("query")], "the query", &query)?;
            Ok((UserMessages::Query(query), Vec::new()))
        }
        (None, Some(forms)) => read_turns(forms, cursor),
        (Some(_), Some(_)) => {
            let what = "the case has both query and turns";
            let help = "keep one of them: the first turn is the user's first message";
            Err(cursor.problem_of_key(&[Key("turns")], Code::CONTRADICTION, what, help))
        }
        (None, None) => {
            let help = "add \"query\", or \"turns\" for a conversation";
            Err(cursor.problem(&[], Code::MISSING_KEY, "the key \"query\" is missing", help))
        }
    }
}

fn read_turns(forms: Vec<TurnForm>, cursor: &JsonCursor<'_>) -> Result<StatedMessages, Diagnostic> {
    let limit = &InputLimit::TURNS;
    if forms.is_empty() {
        let help = "state a turn, such as { \"user\": \"…\" }";
        return Err(cursor.problem(&[Key("turns")], Code::EMPTY_SET, "the list of turns is empty", help));
    }
    if limit.is_exceeded_by(forms.len()) {
        let what = format!("{} entries in `turns`; the limit is {limit}", forms.len());
        return Err(cursor.problem(&[Key("turns"), At(limit.count())], Code::TOO_MANY, what, limit.help));
    }
    let (mut turns, mut answers) = (Vec::with_capacity(forms.len()), Vec::with_capacity(forms.len()));
    for (index, TurnForm { user, tools, trajectory, answer }) in forms.into_iter().enumerate() {
        let inner = cursor.inner(&[Key("turns"), At(index)]);
        inner.filled(&[Key("user")], "the user's message", &user)?;
        let tools = tools.map(|tools| distinct_tools(tools, "tools", &inner)).transpose()?;
        let read = |form| Trajectory::read(form, &inner.inner(&[Key("trajectory")]));
        turns.push(CaseTurn { user, tools, trajectory: trajectory.map(read).transpose()?, line: inner.line() });
        answers.push(answer);
    }
    Ok((UserMessages::Turns(turns), answers))
}

/// The tools of a list without repetitions.
///
/// # Errors
/// A tool without a name.
pub fn distinct_tools(tools: Vec<String>, list: &str, cursor: &JsonCursor<'_>) -> Result<Vec<String>, Diagnostic> {
    let mut distinct: Vec<String> = Vec::new();
    for (at, tool) in tools.into_iter().enumerate() {
        if tool.is_empty() {
            let path = [Key(list), At(at)];
            return Err(cursor.problem(&path, Code::EMPTY_TOOL, "a tool has no name", "name it, or remove it"));
        }
        if !distinct.contains(&tool) {
            distinct.push(tool);
        }
    }
    Ok(distinct)
}

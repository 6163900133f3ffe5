//! The checks of the turns of a conversation on one sample.

use super::checks::{ToolUseChecker, trajectory_checks};
use super::produced::ProducedTurn;
use super::turns::{CaseTurn, UserMessages};
use crate::model::{Check, CheckKey, Failure, SimulatedUser, Tag};
use crate::suites::shared::calls::called;
use crate::suites::shared::failure_classifier::CheckFailure;
use crate::suites::shared::turns::turn_name;
use crate::text::line;

/// The longest quotation of a message, in characters.
const QUOTED: usize = 80;

/// The check that the run has the turns of the case.
pub const TURNS: &str = "turns";

impl ToolUseChecker<'_> {
    /// Whether the run has the turns of the case, then the checks of each turn. None for a query.
    pub fn conversation(&self) -> Vec<Check> {
        let turns = match &self.case.messages {
            UserMessages::Query(_) => return Vec::new(),
            UserMessages::Simulated(query, user) => return vec![self.simulated(query, user)],
            UserMessages::Turns(turns) => turns,
        };
        let same = self.other_turns(turns).map(not_the_conversation);
        let mut checks = vec![Check::of(
            TURNS,
            CheckKey::Only,
            self.case.line,
            || {
                let messages: Vec<String> = turns.iter().map(|turn| quoted(&turn.user)).collect();
                format!("an answer to each user message: {}", messages.join(", "))
            },
            same,
        )];
        for (index, turn) in (0_u32..).zip(turns) {
            checks.extend(self.turn(index, turn));
        }
        checks
    }

    /// Whether the run is a conversation with the simulated user. A recording with another first message is stale instead.
    fn simulated(&self, query: &str, user: &SimulatedUser) -> Check {
        let most = user.max_turns;
        let count = self.produced.turns.as_ref().map_or(0, Vec::len);
        let failure = (!(1..=most as usize).contains(&count))
            .then(|| not_the_conversation(format!("answers: {count}, needed: 1 to {most}")));
        Check::of(
            TURNS,
            CheckKey::Only,
            self.case.line,
            || {
                let start = quoted(query);
                format!("a conversation of 1 to {most} turns that starts with {start}")
            },
            failure,
        )
    }

    /// How the number of turns differs from that of the case. A recording with other messages of the user is stale instead.
    fn other_turns(&self, stated: &[CaseTurn]) -> Option<String> {
        let Some(made) = &self.produced.turns else {
            return Some("the outputs have no turns".to_owned());
        };
        let last = made.last().and_then(|turn| turn.said.user.as_deref());
        let last = last.map_or(String::new(), |user| {
            format!(", the last one to {}", quoted(user))
        });
        (made.len() != stated.len())
            .then(|| format!("answers: {}, needed: {}{last}", made.len(), stated.len()))
    }

    fn turn(&self, index: u32, turn: &CaseTurn) -> Vec<Check> {
        let name = turn_name(index);
        let made = self.produced.turn(index);
        let mut checks = Vec::new();
        match turn.tools.as_deref() {
            None => {}
            Some([]) => checks.push(Check::of(
                "no_tool",
                CheckKey::Only.inside(&name),
                turn.line,
                || format!("no tool call in {name}"),
                self.no_tool_in(&name, made),
            )),
            Some(tools) => {
                for tool in tools {
                    checks.push(Check::of(
                        "expected_tool",
                        CheckKey::named(tool.as_str()).inside(&name),
                        turn.line,
                        || format!("a call of {tool} in {name}"),
                        self.tool_in(tool, &name, made),
                    ));
                }
            }
        }
        if let Some(trajectory) = &turn.trajectory {
            let followed = made.map(|made| trajectory.followed(&made.calls));
            checks.extend(trajectory_checks(
                trajectory,
                &CheckKey::Only.inside(&name),
                turn.line,
                &|condition| match &followed {
                    Some(followed) => self.not_followed(followed, condition),
                    None => Some(missing(&name)),
                },
            ));
        }
        checks
    }

    fn no_tool_in(&self, name: &str, made: Option<&ProducedTurn>) -> Option<Failure> {
        let Some(made) = made else {
            return Some(missing(name));
        };
        let action = "make the prompt say when to answer without a tool";
        (!made.calls.is_empty()).then(|| self.choice(called_in(name, made), action.to_owned()))
    }

    fn tool_in(&self, tool: &str, name: &str, made: Option<&ProducedTurn>) -> Option<Failure> {
        let Some(made) = made else {
            return Some(missing(name));
        };
        let is_called = made.calls.iter().any(|call| call.name == tool);
        (!is_called).then(|| self.not_called(tool, called_in(name, made)))
    }

    fn choice(&self, detail: String, next_action: String) -> Failure {
        self.classifier
            .failure(CheckFailure::Choice, None, detail, next_action)
    }
}

/// The failure of a check of a turn that the run does not have.
fn missing(name: &str) -> Failure {
    not_the_conversation(format!("{name} is missing"))
}

/// The failure of a run that is not the conversation of the case.
fn not_the_conversation(detail: String) -> Failure {
    let next_action =
        "make the agent answer each user message, then record the conversation again".to_owned();
    Failure {
        tag: Tag::Schema,
        detail,
        next_action,
    }
}

fn called_in(name: &str, made: &ProducedTurn) -> String {
    format!("{} in {name}", called(&made.calls))
}

fn quoted(message: &str) -> String {
    format!("\"{}\"", line(message, QUOTED))
}

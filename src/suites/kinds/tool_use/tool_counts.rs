//! The called tools, compared with those that the case and its turns expect.

use std::collections::BTreeSet;

use super::cases::ToolUseCase;
use super::produced::ToolUseOutput;
use super::trajectory::Followed;
use crate::model::{Difference, Shortfall, Shortfalls};
use crate::suites::shared::calls::ObservedCall;
use crate::text::line;

/// The metric of calls of tools that a case does not expect.
pub const UNEXPECTED_TOOL_RATE: &str = "unexpected_tool_rate";

impl ToolUseCase {
    pub fn unexpected_calls(&self, calls: &[ObservedCall]) -> Vec<Shortfall> {
        let mut shortfalls = Shortfalls::default();
        for call in calls {
            let Some(tools) = self.expected_instead(call) else {
                continue;
            };
            shortfalls.add(&[UNEXPECTED_TOOL_RATE], || Difference {
                line: self.line,
                expected: match tools.as_slice() {
                    [] => "no tool call".to_owned(),
                    tools => format!("only calls of {}", tools.join(", ")),
                },
                produced: line(&format!("{}({})", call.name, call.arguments), 200),
            });
        }
        shortfalls.into()
    }

    /// The value in the metric of a category; `None` if the case is of another one.
    pub fn value_in(&self, category: &str, value: f64) -> Option<f64> {
        (self.category.as_deref() == Some(category)).then_some(value)
    }

    /// Whether the case or a turn of it states the expected tools.
    pub fn states_tools(&self) -> bool {
        self.tools.is_some()
            || self
                .messages
                .turns()
                .iter()
                .any(|turn| turn.tools.is_some())
    }

    /// How many of the expected tools were called where they are expected, and how many there are.
    pub fn used_tools(&self, produced: &ToolUseOutput) -> (usize, usize) {
        let tools = self.tools.as_deref().unwrap_or_default();
        let mut used = count_used(tools, &produced.calls);
        let mut expected = tools.len();
        for (index, turn) in (0_u32..).zip(self.messages.turns()) {
            let tools = turn.tools.as_deref().unwrap_or_default();
            let calls = produced.turn(index).map_or(&[][..], |turn| &turn.calls);
            used += count_used(tools, calls);
            expected += tools.len();
        }
        (used, expected)
    }

    /// The mean over the trajectories of the case and its turns; `None` without any. A missing turn follows none.
    pub fn trajectory_f1(&self, whole: Option<&Followed>, produced: &ToolUseOutput) -> Option<f64> {
        let mut all: Vec<f64> = Vec::new();
        if let Some(followed) = whole {
            all.push(followed.f1);
        }
        for (index, turn) in (0_u32..).zip(self.messages.turns()) {
            if let Some(trajectory) = &turn.trajectory {
                let f1 = produced
                    .turn(index)
                    .map_or(0.0, |turn| trajectory.followed(&turn.calls).f1);
                all.push(f1);
            }
        }
        (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
    }

    /// Whether a call is of a tool that the case does not expect where it was made.
    pub fn is_unexpected(&self, call: &ObservedCall) -> bool {
        self.expected_instead(call).is_some()
    }

    /// The tools that are expected where an unexpected call was made; `None` if the call is expected, or no tools are stated anywhere. They
    /// are those of its turn; in a turn that states none, those of the case and of all turns. Tools that the case demands in another way
    /// are expected too: by the result of one, or by a trajectory of the case or of the turn.
    fn expected_instead(&self, call: &ObservedCall) -> Option<Vec<&str>> {
        let turns = self.messages.turns();
        let index = call.turn.or((turns.len() == 1).then_some(0));
        let turn = index.and_then(|index| turns.get(index as usize));
        let of_turn = turn.and_then(|turn| turn.tools.as_ref());
        if of_turn.is_none() && !self.states_tools() {
            return None;
        }
        let mut tools: BTreeSet<&str> = self.outputs.iter().map(|(tool, _)| &**tool).collect();
        match of_turn {
            Some(stated) => tools.extend(stated.iter().map(String::as_str)),
            None => {
                let of_turns = turns.iter().filter_map(|turn| turn.tools.as_ref());
                let stated = self.tools.iter().chain(of_turns).flatten();
                tools.extend(stated.map(String::as_str));
            }
        }
        let trajectories = [
            self.trajectory.as_ref(),
            turn.and_then(|turn| turn.trajectory.as_ref()),
        ];
        for trajectory in trajectories.into_iter().flatten() {
            if trajectory.lists(call) {
                return None;
            }
            tools.extend(trajectory.tools());
        }
        (!tools.contains(&*call.name)).then(|| tools.into_iter().collect())
    }
}

fn count_used(tools: &[String], calls: &[ObservedCall]) -> usize {
    tools
        .iter()
        .filter(|tool| calls.iter().any(|call| call.name == **tool))
        .count()
}

//! The called tools, compared with those that the case and its turns expect.

use super::cases::ToolUseCase;
use super::produced::ToolUseOutput;
use super::trajectory::{Followed, Trajectory};
use crate::model::{Difference, Shortfall, Shortfalls};
use crate::suites::shared::calls::ObservedCall;
use crate::text::line;

/// The metric of calls of tools that a case does not expect.
pub const UNEXPECTED_TOOL_RATE: &str = "unexpected_tool_rate";

impl ToolUseCase {
    pub fn unexpected_calls(&self, calls: &[ObservedCall]) -> Vec<Shortfall> {
        let mut found = Shortfalls::default();
        for call in calls {
            let Some(tools) = self.expected_instead(call) else {
                continue;
            };
            found.add(&[UNEXPECTED_TOOL_RATE], || Difference {
                line: self.line,
                expected: match tools.as_slice() {
                    [] => "no tool call".to_owned(),
                    tools => format!("only calls of {}", tools.join(", ")),
                },
                produced: line(&format!("{}({})", call.name, call.arguments), 200),
            });
        }
        found.into()
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
        let count = |tools: &[String], calls: &[ObservedCall]| {
            (
                tools
                    .iter()
                    .filter(|tool| calls.iter().any(|call| call.name == **tool))
                    .count(),
                tools.len(),
            )
        };
        let whole = count(self.tools.as_deref().unwrap_or_default(), &produced.calls);
        let of_turns = (0_u32..).zip(self.messages.turns()).map(|(index, turn)| {
            let calls = produced.turn(index).map_or(&[][..], |turn| &turn.calls);
            count(turn.tools.as_deref().unwrap_or_default(), calls)
        });
        of_turns.fold(whole, |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    /// The mean over the trajectories of the case and its turns; `None` without any. A missing turn follows none.
    pub fn trajectory_f1(&self, whole: Option<&Followed>, produced: &ToolUseOutput) -> Option<f64> {
        let of_turns = (0_u32..)
            .zip(self.messages.turns())
            .filter_map(|(index, turn)| {
                let trajectory = turn.trajectory.as_ref()?;
                Some(
                    produced
                        .turn(index)
                        .map_or(0.0, |turn| trajectory.followed(&turn.calls).f1),
                )
            });
        let all: Vec<f64> = whole
            .map(|followed| followed.f1)
            .into_iter()
            .chain(of_turns)
            .collect();
        (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
    }

    /// Whether a call is of a tool that the case does not expect where it was made.
    pub fn is_unexpected(&self, call: &ObservedCall) -> bool {
        self.expected_instead(call).is_some()
    }

    /// The tools that are expected where an unexpected call was made; `None` if the call is expected.
    fn expected_instead(&self, call: &ObservedCall) -> Option<Vec<&str>> {
        self.allowed_tools(call)
            .filter(|tools| !tools.contains(&call.name.as_str()))
    }

    /// The tools that are expected where a call was made: those of its turn. In a turn that states none, those of the case, of all turns
    /// and of its trajectory. `None` if no tools are stated anywhere.
    fn allowed_tools(&self, call: &ObservedCall) -> Option<Vec<&str>> {
        let turns = self.messages.turns();
        let index = call.turn.or((turns.len() == 1).then_some(0));
        let turn = index.and_then(|index| turns.get(index as usize));
        if let Some(tools) = turn.and_then(|turn| turn.tools.as_ref()) {
            return Some(tools.iter().map(String::as_str).collect());
        }
        if !self.states_tools() {
            return None;
        }
        let stated = self
            .tools
            .iter()
            .chain(turns.iter().filter_map(|turn| turn.tools.as_ref()))
            .flatten();
        let of_trajectory = turn
            .and_then(|turn| turn.trajectory.as_ref())
            .map(Trajectory::tools)
            .unwrap_or_default();
        let mut tools: Vec<&str> = stated.map(String::as_str).chain(of_trajectory).collect();
        tools.sort_unstable();
        tools.dedup();
        Some(tools)
    }
}

//! Trajectories: which calls in which order. Five modes, argument matching, and partial credit.

mod nearest;
mod order;
mod servers;
mod step;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use self::order::longest_in_order;
use self::servers::{McpServers, McpServersForm};
use self::step::{ArgsForm, StepGroup, StepReader, TrajectoryStep, TrajectoryStepForm};
use crate::diag::{Code, Diagnostic};
use crate::format::JsonCursor;
use crate::format::Step::{At, Key};
use crate::model::{harmonic, share, words};
use crate::suites::shared::calls::{ObservedCall, called};
use crate::suites::shared::matching;

/// The expected calls.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrajectoryForm {
    /// How the calls are compared with the list.
    mode: TrajectoryMode,
    /// The calls.
    #[serde(default)]
    tools: Vec<TrajectoryStepForm>,
    /// Tools that must not be called.
    #[serde(default)]
    forbidden_tools: Vec<String>,
    /// The maximum number of calls.
    max_steps: Option<usize>,
    /// Conditions on the arguments by tool, for the calls of the list that state no `args`.
    #[serde(default)]
    args_of: BTreeMap<String, ArgsForm>,
    /// Conditions on the MCP servers of the calls.
    servers: Option<McpServersForm>,
}

/// How the calls are compared with the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum TrajectoryMode {
    /// The same calls in the same order, and no others.
    Exact,
    /// The listed calls in their order; other calls may occur between them.
    InOrder,
    /// The same calls in any order, and no others.
    AnyOrder,
    /// Only listed calls.
    Subset,
    /// Every listed call; other calls are allowed.
    Superset,
}

impl TrajectoryMode {
    fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exactly",
            Self::InOrder => "in order",
            Self::AnyOrder => "in any order",
            Self::Subset => "only",
            Self::Superset => "at least",
        }
    }

    /// Whether calls that are not listed pass.
    fn allows_others(self) -> bool {
        match self {
            Self::InOrder | Self::Superset => true,
            Self::Exact | Self::AnyOrder | Self::Subset => false,
        }
    }

    /// Whether the order of the list counts.
    fn is_ordered(self) -> bool {
        match self {
            Self::Exact | Self::InOrder => true,
            Self::AnyOrder | Self::Subset | Self::Superset => false,
        }
    }

    /// The names of calls, joined by arrows if their order matters.
    fn listed(self, names: &[String]) -> String {
        match names {
            [] => "no call".to_owned(),
            names if self.is_ordered() => names.join(" → "),
            names => names.join(", "),
        }
    }
}

/// A trajectory, prepared for comparison.
pub struct Trajectory {
    mode: TrajectoryMode,
    groups: Vec<StepGroup>,
    forbidden: Vec<String>,
    max_steps: Option<usize>,
    servers: Option<McpServers>,
}

words! {
    /// A condition of a trajectory. Each is a check of its own.
    pub enum TrajectoryCondition {
        /// The calls are compared with the list.
        Calls = "trajectory",
        /// Some tools must not be called.
        ForbiddenTools = "forbidden_tools",
        /// The number of calls is limited.
        MaxSteps = "max_steps",
        /// The MCP servers of the calls.
        Servers = "servers",
    }
}

impl TrajectoryCondition {
    /// What to do if it is not met.
    pub fn action(self) -> &'static str {
        match self {
            Self::Calls => {
                "compare the calls with the case's trajectory, and make the prompt or the descriptions of the tools lead to it"
            }
            Self::ForbiddenTools => {
                "remove the tool from the agent, or say in the prompt when it must not be called"
            }
            Self::MaxSteps => "look for repeated or unneeded calls",
            Self::Servers => "check which MCP servers the agent is given, and when it uses them",
        }
    }
}

/// How a run followed a trajectory; each message is `None` if its condition is satisfied.
pub struct Followed {
    /// The harmonic mean of precision and recall of the calls.
    pub f1: f64,
    /// The difference between the calls and the list.
    strayed: Option<String>,
    /// The forbidden tools that were called.
    forbidden: Option<String>,
    /// The number of calls, if too high.
    too_long: Option<String>,
    /// The conditions on servers that are not met.
    servers: Option<String>,
}

impl Followed {
    /// Why a condition is not met; `None` if it is.
    pub fn broken(&self, condition: TrajectoryCondition) -> Option<&str> {
        match condition {
            TrajectoryCondition::Calls => self.strayed.as_deref(),
            TrajectoryCondition::ForbiddenTools => self.forbidden.as_deref(),
            TrajectoryCondition::MaxSteps => self.too_long.as_deref(),
            TrajectoryCondition::Servers => self.servers.as_deref(),
        }
    }
}

impl Trajectory {
    pub fn tools(&self) -> Vec<&str> {
        let steps = self.groups.iter().flatten();
        steps
            .flat_map(|step| &step.alternatives)
            .map(|call| call.name.as_str())
            .collect()
    }

    /// Whether a call is of a listed tool, whatever its arguments.
    pub fn lists(&self, call: &ObservedCall) -> bool {
        let mut steps = self.groups.iter().flatten();
        steps.any(|step| {
            step.alternatives
                .iter()
                .any(|alternative| alternative.is_named_as(call))
        })
    }

    pub fn read(form: TrajectoryForm, cursor: &JsonCursor<'_>) -> Result<Self, Diagnostic> {
        let TrajectoryForm {
            mode,
            tools,
            forbidden_tools,
            max_steps,
            args_of,
            servers,
        } = form;
        let reader = StepReader { args_of: &args_of };
        let mut groups: Vec<StepGroup> = Vec::with_capacity(tools.len());
        for (index, form) in tools.into_iter().enumerate() {
            groups.push(reader.entry(form, &cursor.inner(&[Key("tools"), At(index)]))?);
        }
        if let (Some(at), false) = (
            groups.iter().position(|group| group.len() > 1),
            mode.is_ordered(),
        ) {
            let message = "parallel has no effect in a mode without order";
            let help = "list the calls without parallel, or use mode exact or in_order";
            return Err(cursor.problem_of_key(
                &[Key("tools"), At(at), Key("parallel")],
                Code::NO_EFFECT,
                message,
                help,
            ));
        }
        if let Some(name) = args_of.keys().find(|name| !lists_tool(&groups, name)) {
            let message = format!("args_of names \"{name}\", which no entry of tools has");
            let help = "correct the name, or add a call of the tool";
            return Err(cursor.problem_of_key(
                &[Key("args_of"), Key(name)],
                Code::NO_EFFECT,
                message,
                help,
            ));
        }
        let all = [Key("forbidden_tools")];
        for (at, name) in forbidden_tools.iter().enumerate() {
            cursor.filled(
                &[Key("forbidden_tools"), At(at)],
                "the name of a forbidden tool",
                name,
            )?;
            if mode != TrajectoryMode::Subset && lists_tool(&groups, name) {
                let message = format!("the tool \"{name}\" is both expected and forbidden");
                return Err(cursor.problem_of_key(
                    &all,
                    Code::UNSATISFIABLE,
                    message,
                    "remove it from one of the lists",
                ));
            }
        }
        let expected = groups.iter().map(Vec::len).sum();
        if let Some(most) =
            max_steps.filter(|most| mode != TrajectoryMode::Subset && *most < expected)
        {
            let message = format!("max_steps is {most}, but the list has {expected} calls");
            let help = "raise max_steps, or shorten the list";
            return Err(cursor.problem_of_key(
                &[Key("max_steps")],
                Code::UNSATISFIABLE,
                message,
                help,
            ));
        }
        let servers = servers
            .map(|form| McpServers::read(form, &cursor.inner(&[Key("servers")])))
            .transpose()?;
        Ok(Self {
            mode,
            groups,
            forbidden: forbidden_tools,
            max_steps,
            servers,
        })
    }

    /// The expected calls, group after group.
    fn steps(&self) -> impl Iterator<Item = &TrajectoryStep> {
        self.groups.iter().flatten()
    }

    fn listed(&self) -> String {
        let mut labels = Vec::with_capacity(self.groups.len());
        for group in &self.groups {
            labels.push(match group.as_slice() {
                [step] => step.label(),
                steps => {
                    let names: Vec<String> = steps.iter().map(TrajectoryStep::label).collect();
                    format!("({} in any order)", names.join(", "))
                }
            });
        }
        self.mode.listed(&labels)
    }

    /// Whether the trajectory states a condition.
    pub fn states(&self, condition: TrajectoryCondition) -> bool {
        match condition {
            TrajectoryCondition::Calls => true,
            TrajectoryCondition::ForbiddenTools => !self.forbidden.is_empty(),
            TrajectoryCondition::MaxSteps => self.max_steps.is_some(),
            TrajectoryCondition::Servers => self.servers.is_some(),
        }
    }

    /// A condition in one line.
    pub fn expectation(&self, condition: TrajectoryCondition) -> String {
        match condition {
            TrajectoryCondition::Calls => {
                let others = if self.mode.allows_others() {
                    " (other calls allowed)"
                } else {
                    ""
                };
                format!("{} {}{others}", self.mode.as_str(), self.listed())
            }
            TrajectoryCondition::ForbiddenTools => {
                format!("no call of {}", self.forbidden.join(", "))
            }
            TrajectoryCondition::MaxSteps => {
                format!("calls: at most {}", self.max_steps.unwrap_or_default())
            }
            TrajectoryCondition::Servers => self
                .servers
                .as_ref()
                .map(McpServers::expectation)
                .unwrap_or_default(),
        }
    }

    pub fn followed(&self, calls: &[ObservedCall]) -> Followed {
        let fits: Vec<Vec<bool>> = self
            .steps()
            .map(|step| calls.iter().map(|call| step.matches(call)).collect())
            .collect();
        let sizes: Vec<usize> = self.groups.iter().map(Vec::len).collect();
        let (expected, made) = (fits.len(), calls.len());
        let matched = if self.mode.is_ordered() {
            longest_in_order(&fits, &sizes, made)
        } else {
            one_to_one(&fits, made)
        };
        let followed = match self.mode {
            TrajectoryMode::Exact | TrajectoryMode::AnyOrder => {
                matched == expected && matched == made
            }
            TrajectoryMode::InOrder | TrajectoryMode::Superset => matched == expected,
            TrajectoryMode::Subset => matched == made,
        };
        let strayed = (!followed).then(|| called(calls) + &self.nearest(calls, &fits));
        let met: Vec<&str> = self
            .forbidden
            .iter()
            .filter(|name| calls.iter().any(|call| call.may_be(name)))
            .map(String::as_str)
            .collect();
        let too_long = self.max_steps.filter(|most| *most < made);
        Followed {
            f1: f1(matched, expected, made),
            strayed,
            forbidden: (!met.is_empty())
                .then(|| format!("called forbidden tools: {}", met.join(", "))),
            too_long: too_long.map(|_| format!("calls made: {made}")),
            servers: self
                .servers
                .as_ref()
                .and_then(|servers| servers.broken(calls)),
        }
    }
}

/// 1 if no call was expected and none was made.
fn f1(matched: usize, expected: usize, made: usize) -> f64 {
    if expected == 0 && made == 0 {
        return 1.0;
    }
    harmonic(
        share(matched, made).unwrap_or(0.0),
        share(matched, expected).unwrap_or(0.0),
    )
}

/// Whether a step has a call of this tool.
fn lists_tool(groups: &[StepGroup], name: &str) -> bool {
    let mut steps = groups.iter().flatten();
    steps.any(|step| step.alternatives.iter().any(|call| call.name == name))
}

fn one_to_one(fits: &[Vec<bool>], made: usize) -> usize {
    let edges: Vec<Vec<usize>> = fits
        .iter()
        .map(|row| (0..made).filter(|call| row[*call]).collect())
        .collect();
    matching::maximum(&edges, made)
}

#[cfg(test)]
mod tests;

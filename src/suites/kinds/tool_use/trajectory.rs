//! Trajectories: which calls in which order. Five modes, argument matching, and partial credit.

mod nearest;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::diag::{Code, Diagnostic};
use crate::format::JsonCursor;
use crate::format::Step::{At, Key};
use crate::model::harmonic;
use crate::suites::shared::calls::{ObservedCall, contains, same};
use crate::suites::shared::field_matcher::{FieldForm, FieldMatcher};
use crate::suites::shared::field_path::{FieldPath, at, without};
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

    /// The names of calls, joined by arrows if their order matters.
    fn listed(self, names: &[&str]) -> String {
        match (names, self) {
            ([], _) => "no call".to_owned(),
            (names, Self::Exact | Self::InOrder) => names.join(" → "),
            (names, Self::AnyOrder | Self::Subset | Self::Superset) => names.join(", "),
        }
    }
}

/// One call.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TrajectoryStepForm {
    /// The tool.
    name: String,
    /// Its arguments; any by default.
    args: Option<ArgsForm>,
}

/// Conditions on the arguments.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ArgsForm {
    /// How they are compared with `values`; `exact` by default.
    #[serde(rename = "match")]
    how: Option<ArgumentMatch>,
    /// The arguments.
    #[serde(default)]
    values: Map<String, Value>,
    /// Conditions on single fields by path, such as `filter.from` or `items.0`. These fields are left out of the comparison
    /// with `values`. A list item that is named here may have any value in `values`, or be left out; the other items of the
    /// list are compared.
    #[serde(default)]
    fields: BTreeMap<String, FieldForm>,
}

/// How arguments are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ArgumentMatch {
    /// Equal.
    Exact,
    /// Only listed arguments.
    Subset,
    /// Every listed argument; other arguments are allowed.
    Superset,
    /// Not compared.
    Ignore,
}

/// A trajectory, prepared for comparison.
pub struct Trajectory {
    mode: TrajectoryMode,
    steps: Vec<TrajectoryStep>,
    forbidden: Vec<String>,
    max_steps: Option<usize>,
}

struct TrajectoryStep {
    name: String,
    how: ArgumentMatch,
    values: Value,
    fields: Vec<(FieldPath, FieldMatcher)>,
}

/// How a run followed a trajectory; each message is `None` if its condition is satisfied.
pub struct Followed {
    /// The harmonic mean of precision and recall of the calls.
    pub f1: f64,
    /// The difference between the calls and the list.
    pub strayed: Option<String>,
    /// The forbidden tools that were called.
    pub forbidden: Option<String>,
    /// The number of calls, if too high.
    pub too_long: Option<String>,
}

impl Trajectory {
    /// Reads a trajectory.
    ///
    /// # Errors
    /// An invalid value, with its position.
    pub fn read(form: TrajectoryForm, cursor: &JsonCursor<'_>) -> Result<Self, Diagnostic> {
        let TrajectoryForm { mode, tools, forbidden_tools, max_steps } = form;
        let all = [Key("forbidden_tools")];
        for (at, name) in forbidden_tools.iter().enumerate() {
            cursor.filled(&[Key("forbidden_tools"), At(at)], "the name of a forbidden tool", name)?;
            if mode != TrajectoryMode::Subset && tools.iter().any(|step| step.name == *name) {
                let what = format!("the tool \"{name}\" is both expected and forbidden");
                return Err(cursor.problem_of_key(&all, Code::UNSATISFIABLE, what, "remove it from one of the lists"));
            }
        }
        if let (Some(most), true) = (max_steps, mode != TrajectoryMode::Subset)
            && most < tools.len()
        {
            let what = format!("max_steps is {most}, but the list has {} calls", tools.len());
            return Err(cursor.problem_of_key(
                &[Key("max_steps")],
                Code::UNSATISFIABLE,
                what,
                "raise max_steps, or shorten the list",
            ));
        }
        let read = |(at, form)| TrajectoryStep::read(form, &cursor.inner(&[Key("tools"), At(at)]));
        let steps = tools.into_iter().enumerate().map(read).collect::<Result<_, _>>()?;
        Ok(Self { mode, steps, forbidden: forbidden_tools, max_steps })
    }

    /// Whether the trajectory states the condition with this name.
    pub fn states(&self, word: &str) -> bool {
        match word {
            "forbidden_tools" => !self.forbidden.is_empty(),
            "max_steps" => self.max_steps.is_some(),
            _ => true,
        }
    }

    /// The condition with this name in one line.
    pub fn expectation(&self, word: &str) -> String {
        match word {
            "forbidden_tools" => format!("no call of {}", self.forbidden.join(", ")),
            "max_steps" => format!("calls: at most {}", self.max_steps.unwrap_or_default()),
            _ => {
                let names: Vec<&str> = self.steps.iter().map(|step| step.name.as_str()).collect();
                let names = if names.is_empty() { "no call".to_owned() } else { names.join(" → ") };
                format!("{} {names}", self.mode.as_str())
            }
        }
    }

    /// Compares the calls of a run.
    pub fn followed(&self, calls: &[ObservedCall]) -> Followed {
        let fits: Vec<Vec<bool>> =
            self.steps.iter().map(|step| calls.iter().map(|call| step.fits(call)).collect()).collect();
        let matched = match self.mode {
            TrajectoryMode::Exact | TrajectoryMode::InOrder => longest_common(&fits, calls.len()),
            TrajectoryMode::AnyOrder | TrajectoryMode::Subset | TrajectoryMode::Superset => {
                one_to_one(&fits, calls.len())
            }
        };
        let (expected, made) = (self.steps.len(), calls.len());
        let followed = match self.mode {
            TrajectoryMode::Exact | TrajectoryMode::AnyOrder => matched == expected && matched == made,
            TrajectoryMode::InOrder | TrajectoryMode::Superset => matched == expected,
            TrajectoryMode::Subset => matched == made,
        };
        let called: Vec<&str> = calls.iter().map(|call| call.name.as_str()).collect();
        let strayed = (!followed).then(|| {
            let expected: Vec<&str> = self.steps.iter().map(|step| step.name.as_str()).collect();
            let (expected, got) = (self.mode.listed(&expected), self.mode.listed(&called));
            let nearest = self.nearest(calls, &fits);
            let count = if made == 0 { String::new() } else { format!(" ({matched} of {made} calls match)") };
            format!("expected {} {expected}, got {got}{count}{nearest}", self.mode.as_str())
        });
        let met: Vec<&str> = self.forbidden.iter().map(String::as_str).filter(|name| called.contains(name)).collect();
        let too_long = self.max_steps.filter(|most| *most < made);
        Followed {
            f1: f1(matched, expected, made),
            strayed,
            forbidden: (!met.is_empty()).then(|| format!("called forbidden tools: {}", met.join(", "))),
            too_long: too_long.map(|_| format!("calls made: {made}")),
        }
    }
}

/// 1 if no call was expected and none was made.
fn f1(matched: usize, expected: usize, made: usize) -> f64 {
    if expected == 0 && made == 0 {
        return 1.0;
    }
    let share = |whole: usize| if whole == 0 { 0.0 } else { matched as f64 / whole as f64 };
    harmonic(share(made), share(expected))
}

fn one_to_one(fits: &[Vec<bool>], made: usize) -> usize {
    let edges: Vec<Vec<usize>> = fits.iter().map(|row| (0..made).filter(|call| row[*call]).collect()).collect();
    matching::maximum(&edges, made)
}

/// The length of the longest sequence of steps that the calls follow in order.
fn longest_common(fits: &[Vec<bool>], made: usize) -> usize {
    let mut best = vec![0_usize; made + 1];
    for row in fits {
        let mut diagonal = 0;
        for call in 0..made {
            let above = best[call + 1];
            best[call + 1] = if row[call] { diagonal + 1 } else { above.max(best[call]) };
            diagonal = above;
        }
    }
    best[made]
}

impl TrajectoryStep {
    fn read(form: TrajectoryStepForm, cursor: &JsonCursor<'_>) -> Result<Self, Diagnostic> {
        let TrajectoryStepForm { name, args } = form;
        if name.is_empty() {
            return Err(cursor.problem(
                &[Key("name")],
                Code::EMPTY_TOOL,
                "a tool of the trajectory has no name",
                "name it",
            ));
        }
        let Some(ArgsForm { how, values, fields }) = args else {
            return Ok(Self { name, how: ArgumentMatch::Ignore, values: Value::Null, fields: Vec::new() });
        };
        let mut read = Vec::new();
        for (path, field) in fields {
            let steps: FieldPath = path.split('.').map(str::to_owned).collect();
            if steps.iter().any(String::is_empty) {
                return Err(cursor.problem_of_key(
                    &[Key("args"), Key("fields"), Key(&path)],
                    Code::BAD_PATH,
                    format!("invalid path \"{path}\""),
                    "write keys, separated by dots",
                ));
            }
            let at = [Key("args"), Key("fields"), Key(&path)];
            read.push((steps, FieldMatcher::read(field, &path, cursor, &at)?));
        }
        Ok(Self { name, how: how.unwrap_or(ArgumentMatch::Exact), values: Value::Object(values), fields: read })
    }

    fn fits(&self, call: &ObservedCall) -> bool {
        if call.name != self.name || !self.fields.iter().all(|(path, field)| field.fits(at(&call.arguments, path))) {
            return false;
        }
        let none = Value::Object(Map::new());
        let made = if call.arguments.is_null() { &none } else { &call.arguments };
        let there = self.fields.iter().map(|(path, _)| path).filter(|path| at(made, path).is_some());
        let (values, made) = without(&self.values, made, there);
        match self.how {
            ArgumentMatch::Exact => same(&made, &values),
            ArgumentMatch::Subset => contains(&values, &made),
            ArgumentMatch::Superset => contains(&made, &values),
            ArgumentMatch::Ignore => true,
        }
    }
}

#[cfg(test)]
mod tests;

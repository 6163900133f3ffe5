//! The calls nearest to the expected ones, with the arguments that differ.

use serde_json::Value;

use super::step::{ArgumentMatch, ExpectedCall, TrajectoryStep};
use super::{Trajectory, TrajectoryMode};
use crate::suites::shared::calls::{ObservedCall, same};
use crate::suites::shared::field_matcher::written;
use crate::suites::shared::field_path::at;

/// How many calls are shown, and how many arguments of each.
const SHOWN: usize = 3;

struct ArgumentDifference {
    /// Its path: keys separated by dots.
    path: String,
    /// The value in the call; `None` if absent.
    got: Option<String>,
    /// The value in the case; `None` if absent.
    expected: Option<String>,
}

impl Trajectory {
    /// Shows the nearest call of each step without a matching call, with its different arguments. In mode `subset`, it
    /// shows each call without a matching step instead. Empty if no call has the right name. `fits` has a row for each step, a
    /// column for each call.
    pub fn nearest(&self, calls: &[ObservedCall], fits: &[Vec<bool>]) -> String {
        match self.mode {
            TrajectoryMode::Subset => self.calls_without_step(calls, fits),
            TrajectoryMode::Exact
            | TrajectoryMode::InOrder
            | TrajectoryMode::AnyOrder
            | TrajectoryMode::Superset => self.steps_without_call(calls, fits),
        }
    }

    fn calls_without_step(&self, calls: &[ObservedCall], fits: &[Vec<bool>]) -> String {
        let mut shown = Vec::new();
        for (index, call) in calls.iter().enumerate() {
            if shown.len() == SHOWN {
                break;
            }
            if has_step(fits, index) {
                continue;
            }
            let differences = self.steps().filter_map(|step| step.differences(call));
            if let Some(differences) = differences.min_by_key(Vec::len) {
                shown.push(describe_call(&call.name, &differences));
            }
        }
        shown.concat()
    }

    fn steps_without_call(&self, calls: &[ObservedCall], fits: &[Vec<bool>]) -> String {
        let mut shown = Vec::new();
        for (step, row) in self.steps().zip(fits) {
            if shown.len() == SHOWN {
                break;
            }
            if row.contains(&true) {
                continue;
            }
            let nearest = calls
                .iter()
                .enumerate()
                .filter_map(|(index, call)| Some((index, step.differences(call)?)))
                .min_by_key(|(index, differences)| (has_step(fits, *index), differences.len()));
            if let Some((index, differences)) = nearest {
                shown.push(describe_call(&calls[index].name, &differences));
            }
        }
        shown.concat()
    }
}

/// Whether a call fits a step.
fn has_step(fits: &[Vec<bool>], call: usize) -> bool {
    fits.iter().any(|row| row[call])
}

impl ArgumentDifference {
    fn got_text(&self) -> String {
        argument_text(&self.path, self.got.as_deref())
    }

    fn expected_text(&self) -> String {
        argument_text(&self.path, self.expected.as_deref())
    }
}

fn argument_text(path: &str, value: Option<&str>) -> String {
    match value {
        Some(value) => format!("{path}: {value}"),
        None => format!("no {path}"),
    }
}

fn describe_call(name: &str, differences: &[ArgumentDifference]) -> String {
    let some = &differences[..differences.len().min(SHOWN)];
    let got: Vec<String> = some.iter().map(ArgumentDifference::got_text).collect();
    let expected = match some {
        [
            ArgumentDifference {
                expected: Some(expected),
                ..
            },
        ] => expected.clone(),
        some => some
            .iter()
            .map(ArgumentDifference::expected_text)
            .collect::<Vec<_>>()
            .join(", "),
    };
    let more = match differences.len() - some.len() {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    format!(
        "; nearest call {name}({}), expected {expected}{more}",
        got.join(", ")
    )
}

impl TrajectoryStep {
    /// The arguments that differ from the nearest alternative; `None` if the call is of another tool.
    fn differences(&self, call: &ObservedCall) -> Option<Vec<ArgumentDifference>> {
        let alike = self
            .alternatives
            .iter()
            .filter(|alternative| alternative.is_named_as(call));
        alike
            .map(|alternative| alternative.differences(call))
            .min_by_key(Vec::len)
    }
}

impl ExpectedCall {
    /// The arguments of a call of this tool that differ from the case.
    fn differences(&self, call: &ObservedCall) -> Vec<ArgumentDifference> {
        let mut differences = Vec::new();
        for (path, field) in &self.fields {
            let value = at(&call.arguments, path);
            if !field.matches(value) {
                let expected = Some(field.expectation());
                differences.push(ArgumentDifference {
                    path: path.join("."),
                    got: value.map(written),
                    expected,
                });
            }
        }
        let (values, made) = self.without_fields(call);
        if self.how != ArgumentMatch::Ignore {
            compare("", &values, &made, self.how, &mut differences);
        }
        differences
    }
}

fn compare(
    path: &str,
    listed: &Value,
    made: &Value,
    how: ArgumentMatch,
    differences: &mut Vec<ArgumentDifference>,
) {
    let (Value::Object(expected), Value::Object(got)) = (listed, made) else {
        if !same(listed, made) {
            let path = if path.is_empty() { "arguments" } else { path }.to_owned();
            differences.push(ArgumentDifference {
                path,
                got: Some(written(made)),
                expected: Some(written(listed)),
            });
        }
        return;
    };
    for (key, value) in expected {
        match got.get(key) {
            Some(got_value) => compare(&inner_path(path, key), value, got_value, how, differences),
            None if how == ArgumentMatch::Subset => {}
            None => differences.push(ArgumentDifference {
                path: inner_path(path, key),
                got: None,
                expected: Some(written(value)),
            }),
        }
    }
    for (key, value) in got
        .iter()
        .filter(|(key, _)| how != ArgumentMatch::Superset && !expected.contains_key(*key))
    {
        differences.push(ArgumentDifference {
            path: inner_path(path, key),
            got: Some(written(value)),
            expected: None,
        });
    }
}

fn inner_path(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

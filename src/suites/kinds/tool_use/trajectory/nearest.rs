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
        let step_fits = |step: usize| fits[step].contains(&true);
        let call_fits = |call: usize| fits.iter().any(|row| row[call]);
        let listed: Vec<&TrajectoryStep> = self.steps().collect();
        let differences = |step: usize, call: usize| listed[step].differences(&calls[call]);
        let (steps, places) = (0..listed.len(), 0..calls.len());
        let near: Vec<(usize, Vec<ArgumentDifference>)> = if self.mode == TrajectoryMode::Subset {
            let nearest = |call: usize| {
                let found = steps.clone().filter_map(|step| differences(step, call));
                found.min_by_key(Vec::len).map(|found| (call, found))
            };
            places
                .filter(|call| !call_fits(*call))
                .filter_map(nearest)
                .take(SHOWN)
                .collect()
        } else {
            let nearest = |step: usize| {
                let found = places
                    .clone()
                    .filter_map(|call| Some((call, differences(step, call)?)));
                found.min_by_key(|(call, found)| (call_fits(*call), found.len()))
            };
            steps
                .filter(|step| !step_fits(*step))
                .filter_map(nearest)
                .take(SHOWN)
                .collect()
        };
        near.iter()
            .map(|(call, differences)| describe_call(&calls[*call].name, differences))
            .collect()
    }
}

fn describe_call(name: &str, differences: &[ArgumentDifference]) -> String {
    let some = &differences[..differences.len().min(SHOWN)];
    let side = |path: &str, value: &Option<String>| match value {
        Some(value) => format!("{path}: {value}"),
        None => format!("no {path}"),
    };
    let got: Vec<String> = some.iter().map(|one| side(&one.path, &one.got)).collect();
    let expected = match some {
        [
            ArgumentDifference {
                expected: Some(expected),
                ..
            },
        ] => expected.clone(),
        some => some
            .iter()
            .map(|one| side(&one.path, &one.expected))
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
        let alike = self.alternatives.iter().filter(|one| one.is_named_as(call));
        alike.map(|one| one.differences(call)).min_by_key(Vec::len)
    }
}

impl ExpectedCall {
    /// The arguments of a call of this tool that differ from the case.
    fn differences(&self, call: &ObservedCall) -> Vec<ArgumentDifference> {
        let mut found = Vec::new();
        for (path, field) in &self.fields {
            let value = at(&call.arguments, path);
            if !field.matches(value) {
                let expected = Some(field.expectation());
                found.push(ArgumentDifference {
                    path: path.join("."),
                    got: value.map(written),
                    expected,
                });
            }
        }
        let (values, made) = self.without_fields(call);
        if self.how != ArgumentMatch::Ignore {
            compare("", &values, &made, self.how, &mut found);
        }
        found
    }
}

fn compare(
    path: &str,
    listed: &Value,
    made: &Value,
    how: ArgumentMatch,
    found: &mut Vec<ArgumentDifference>,
) {
    let (Value::Object(expected), Value::Object(got)) = (listed, made) else {
        if !same(listed, made) {
            let path = if path.is_empty() { "arguments" } else { path }.to_owned();
            found.push(ArgumentDifference {
                path,
                got: Some(written(made)),
                expected: Some(written(listed)),
            });
        }
        return;
    };
    let inner = |key: &str| {
        if path.is_empty() {
            key.to_owned()
        } else {
            format!("{path}.{key}")
        }
    };
    for (key, value) in expected {
        match got.get(key) {
            Some(other) => compare(&inner(key), value, other, how, found),
            None if how == ArgumentMatch::Subset => {}
            None => found.push(ArgumentDifference {
                path: inner(key),
                got: None,
                expected: Some(written(value)),
            }),
        }
    }
    for (key, value) in got
        .iter()
        .filter(|(key, _)| how != ArgumentMatch::Superset && !expected.contains_key(*key))
    {
        found.push(ArgumentDifference {
            path: inner(key),
            got: Some(written(value)),
            expected: None,
        });
    }
}

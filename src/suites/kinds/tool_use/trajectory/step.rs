//! The entries of a trajectory's list: a call, one of several calls, or calls in any order.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::diag::{Code, Diagnostic};
use crate::format::JsonCursor;
use crate::format::Step::{At, Key};
use crate::suites::shared::calls::{ObservedCall, contains, same};
use crate::suites::shared::field_matcher::{FieldForm, FieldMatcher};
use crate::suites::shared::field_path::{FieldPath, at, without};

/// The most calls that `parallel` may list; comparing them takes time and memory in powers of two.
pub const MOST_PARALLEL: usize = 8;

/// One entry: a call, or in its place `any_of` or `parallel`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrajectoryStepForm {
    /// The tool.
    name: Option<String>,
    /// The MCP server of the tool; any by default.
    server: Option<String>,
    /// Its arguments; any by default.
    args: Option<ArgsForm>,
    /// Calls of which one is expected.
    any_of: Option<Vec<TrajectoryStepForm>>,
    /// Calls that are expected here in any order, at most 8.
    parallel: Option<Vec<TrajectoryStepForm>>,
}

/// Conditions on the arguments.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArgsForm {
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
pub enum ArgumentMatch {
    /// Equal.
    Exact,
    /// Only listed arguments.
    Subset,
    /// Every listed argument; other arguments are allowed.
    Superset,
    /// Not compared.
    Ignore,
}

/// One expected call, by its alternatives: at least one.
pub struct TrajectoryStep {
    pub alternatives: Vec<ExpectedCall>,
}

/// A tool with conditions on its arguments.
pub struct ExpectedCall {
    /// The tool.
    pub name: String,
    /// Its MCP server; any if `None`.
    server: Option<String>,
    /// How the arguments are compared with `values`.
    pub how: ArgumentMatch,
    /// The arguments.
    pub values: Value,
    /// Conditions on single arguments.
    pub fields: Vec<(FieldPath, FieldMatcher)>,
}

/// The steps of one entry: several if their order does not matter.
pub type StepGroup = Vec<TrajectoryStep>;

/// Reads the entries of a list.
pub struct StepReader<'a> {
    /// Conditions on the arguments by tool, for calls that state none.
    pub args_of: &'a BTreeMap<String, ArgsForm>,
}

impl StepReader<'_> {
    pub fn entry(
        &self,
        form: TrajectoryStepForm,
        cursor: &JsonCursor<'_>,
    ) -> Result<StepGroup, Diagnostic> {
        let TrajectoryStepForm {
            name: None,
            server: None,
            args: None,
            any_of: None,
            parallel: Some(inner),
        } = form
        else {
            return Ok(vec![self.step(form, cursor)?]);
        };
        if inner.len() < 2 || inner.len() > MOST_PARALLEL {
            let message = format!("the number of calls in parallel is {}", inner.len());
            let help = format!("list 2 to {MOST_PARALLEL}; write a single call without parallel");
            return Err(cursor.problem_of_key(
                &[Key("parallel")],
                Code::BAD_TRAJECTORY,
                message,
                help,
            ));
        }
        let mut group = Vec::with_capacity(inner.len());
        for (index, form) in inner.into_iter().enumerate() {
            group.push(self.step(form, &cursor.inner(&[Key("parallel"), At(index)]))?);
        }
        Ok(group)
    }

    fn step(
        &self,
        form: TrajectoryStepForm,
        cursor: &JsonCursor<'_>,
    ) -> Result<TrajectoryStep, Diagnostic> {
        let TrajectoryStepForm {
            name: None,
            server: None,
            args: None,
            any_of: Some(inner),
            parallel: None,
        } = form
        else {
            return Ok(TrajectoryStep {
                alternatives: vec![self.call(form, cursor)?],
            });
        };
        if inner.is_empty() {
            let (message, help) = ("any_of lists no call", "list at least one call");
            return Err(cursor.problem_of_key(
                &[Key("any_of")],
                Code::BAD_TRAJECTORY,
                message,
                help,
            ));
        }
        let mut alternatives = Vec::with_capacity(inner.len());
        for (index, form) in inner.into_iter().enumerate() {
            alternatives.push(self.call(form, &cursor.inner(&[Key("any_of"), At(index)]))?);
        }
        Ok(TrajectoryStep { alternatives })
    }

    fn call(
        &self,
        form: TrajectoryStepForm,
        cursor: &JsonCursor<'_>,
    ) -> Result<ExpectedCall, Diagnostic> {
        let TrajectoryStepForm {
            name,
            server,
            args,
            any_of: None,
            parallel: None,
        } = form
        else {
            let message = "an entry has any_of or parallel together with another key, or one of them is inside any_of";
            let help = "write one entry with any_of or parallel and no other key; parallel may list entries with any_of";
            return Err(cursor.problem(&[], Code::BAD_TRAJECTORY, message, help));
        };
        let Some(name) = name.filter(|name| !name.is_empty()) else {
            let message = "a tool of the trajectory has no name";
            return Err(cursor.problem(&[Key("name")], Code::EMPTY_TOOL, message, "name it"));
        };
        if let Some(server) = &server {
            cursor.filled(&[Key("server")], "the name of a server", server)?;
        }
        let Some(args) = args.or_else(|| self.args_of.get(&name).cloned()) else {
            let none = (ArgumentMatch::Ignore, Value::Null, Vec::new());
            return Ok(ExpectedCall {
                name,
                server,
                how: none.0,
                values: none.1,
                fields: none.2,
            });
        };
        let ArgsForm {
            how,
            values,
            fields,
        } = args;
        let mut read = Vec::new();
        for (path, field) in fields {
            let steps: FieldPath = path.split('.').map(str::to_owned).collect();
            let at = [Key("args"), Key("fields"), Key(&path)];
            if steps.iter().any(String::is_empty) {
                let message = format!("invalid path \"{path}\"");
                return Err(cursor.problem_of_key(
                    &at,
                    Code::BAD_PATH,
                    message,
                    "write keys, separated by dots",
                ));
            }
            read.push((steps, FieldMatcher::read(field, &path, cursor, &at)?));
        }
        let how = how.unwrap_or(ArgumentMatch::Exact);
        Ok(ExpectedCall {
            name,
            server,
            how,
            values: Value::Object(values),
            fields: read,
        })
    }
}

impl TrajectoryStep {
    pub fn matches(&self, call: &ObservedCall) -> bool {
        self.alternatives
            .iter()
            .any(|alternative| alternative.matches(call))
    }

    pub fn label(&self) -> String {
        let names: BTreeSet<&str> = self
            .alternatives
            .iter()
            .map(|alternative| alternative.name.as_str())
            .collect();
        names.into_iter().collect::<Vec<_>>().join(" or ")
    }
}

impl ExpectedCall {
    pub fn is_named_as(&self, call: &ObservedCall) -> bool {
        match &self.server {
            None => call.name == self.name,
            Some(server) => {
                call.servers().any(|called| called == server)
                    && (call.name == self.name || call.tool() == self.name)
            }
        }
    }

    fn matches(&self, call: &ObservedCall) -> bool {
        if !self.is_named_as(call) {
            return false;
        }
        for (path, field) in &self.fields {
            if !field.matches(at(&call.arguments, path)) {
                return false;
            }
        }
        let (values, made) = self.without_fields(call);
        match self.how {
            ArgumentMatch::Exact => same(&made, &values),
            ArgumentMatch::Subset => contains(&values, &made),
            ArgumentMatch::Superset => contains(&made, &values),
            ArgumentMatch::Ignore => true,
        }
    }

    /// The expected and the observed arguments, both without those that have conditions of their own.
    pub fn without_fields(&self, call: &ObservedCall) -> (Value, Value) {
        let none = Value::Object(Map::new());
        let made = if call.arguments.is_null() {
            &none
        } else {
            &call.arguments
        };
        let there = self
            .fields
            .iter()
            .map(|(path, _)| path)
            .filter(|path| at(made, path).is_some());
        without(&self.values, made, there)
    }
}

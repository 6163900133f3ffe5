//! Conditions on the MCP servers whose tools are called.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Deserialize;

use crate::diag::{Code, Diagnostic};
use crate::format::JsonCursor;
use crate::format::Step::{At, Key};
use crate::suites::shared::calls::{ObservedCall, same_server};

/// Conditions on the MCP servers of the calls.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct McpServersForm {
    /// Servers of which at least one tool must be called.
    #[serde(default)]
    required: Vec<String>,
    /// Servers of which no tool may be called.
    #[serde(default)]
    forbidden: Vec<String>,
    /// The maximum number of calls by server.
    #[serde(default)]
    max_calls: BTreeMap<String, usize>,
}

/// The conditions, ready to be compared with calls.
pub struct McpServers {
    required: Vec<String>,
    /// The maximum number of calls by server; 0 for a forbidden one.
    most: BTreeMap<String, usize>,
}

impl McpServers {
    /// Reads the conditions.
    ///
    /// # Errors
    /// No condition, an empty name, or conditions that contradict each other.
    pub fn read(form: McpServersForm, cursor: &JsonCursor<'_>) -> Result<Self, Diagnostic> {
        let McpServersForm {
            required,
            forbidden,
            max_calls: mut most,
        } = form;
        if required.is_empty() && forbidden.is_empty() && most.is_empty() {
            let help = "state required, forbidden or max_calls";
            return Err(cursor.problem(
                &[],
                Code::ASKS_NOTHING,
                "servers states no condition",
                help,
            ));
        }
        for (key, names) in [("required", &required), ("forbidden", &forbidden)] {
            for (at, name) in names.iter().enumerate() {
                cursor.filled(&[Key(key), At(at)], "the name of a server", name)?;
            }
        }
        for (at, name) in forbidden.iter().enumerate() {
            if most.insert(name.clone(), 0).is_some() {
                let message = format!("the server \"{name}\" is forbidden and has max_calls");
                let path = [Key("forbidden"), At(at)];
                return Err(cursor.problem_of_key(
                    &path,
                    Code::UNSATISFIABLE,
                    message,
                    "remove one of the two",
                ));
            }
        }
        for (index, name) in required.iter().enumerate() {
            let mut limits = most.iter();
            if limits.any(|(server, most)| *most == 0 && same_server(server, name)) {
                let message = format!(
                    "the server \"{name}\" is required, and none of its tools may be called"
                );
                let path = [Key("required"), At(index)];
                return Err(cursor.problem_of_key(
                    &path,
                    Code::UNSATISFIABLE,
                    message,
                    "remove one of the two",
                ));
            }
        }
        Ok(Self { required, most })
    }

    /// The conditions in one line.
    pub fn expectation(&self) -> String {
        let mut conditions = Vec::new();
        for name in &self.required {
            conditions.push(format!("a call of the server {name}"));
        }
        for (name, most) in &self.most {
            match most {
                0 => conditions.push(format!("no call of the server {name}")),
                most => conditions.push(format!("calls of the server {name}: at most {most}")),
            }
        }
        conditions.join(", ")
    }

    /// The conditions that the calls do not meet; `None` if they meet all.
    pub fn broken(&self, calls: &[ObservedCall]) -> Option<String> {
        let called: BTreeSet<&str> = calls.iter().flat_map(ObservedCall::servers).collect();
        let mut broken = Vec::new();
        for name in &self.required {
            if !called.contains(name.as_str()) {
                broken.push(format!("no call of the server {name}"));
            }
        }
        for (name, most) in &self.most {
            let made = calls.iter().filter(|call| call.may_be_of(name)).count();
            if made > *most {
                broken.push(format!("calls of the server {name}: {made}"));
            }
        }
        (!broken.is_empty()).then(|| broken.join(", "))
    }
}

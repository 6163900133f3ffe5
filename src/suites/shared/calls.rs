//! The tool calls of a run record.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Number, Value};

use crate::format::lenient;
use crate::model::{CALL_LISTS, Run};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct ObservedCall {
    /// The tool's name, compared exactly.
    pub name: String,
    /// Its MCP server, from `server` or a name such as `mcp__SERVER__TOOL`.
    pub server: Option<String>,
    /// Its arguments; JSON inside a text is parsed.
    pub arguments: Value,
    /// Its result; JSON inside a text is parsed. `None` if the record has neither a result nor an error.
    pub result: Option<Value>,
    /// Whether it ended in an error.
    pub failed: bool,
    /// The turn of the conversation that it belongs to, from 0, if the record states it.
    pub turn: Option<u32>,
    /// The answer of the model that asked for it, from 0, if the record states it.
    pub step: Option<u32>,
}

/// The tools that were called, in order: `called get_order → refund`.
pub fn called(calls: &[ObservedCall]) -> String {
    let names: Vec<&str> = calls.iter().map(|call| call.name.as_str()).collect();
    if names.is_empty() {
        "called no tool".to_owned()
    } else {
        format!("called {}", names.join(" → "))
    }
}

impl ObservedCall {
    /// The tool's name without its MCP server.
    pub fn tool(&self) -> &str {
        bare(&self.name)
    }

    /// The servers that it may be of: the stated one, and the one in its name. A gateway states itself for the tools of all servers.
    pub fn servers(&self) -> impl Iterator<Item = &str> {
        let named = mcp_name(&self.name).map(|(server, _)| server);
        self.server.as_deref().into_iter().chain(named)
    }

    /// Whether it may be of a forbidden server: letter case and blanks do not hide a server.
    pub fn may_be_of(&self, server: &str) -> bool {
        self.servers().any(|name| same_server(name, server))
    }

    /// Whether it may be of a forbidden tool: by its name with or without its server, or by both.
    pub fn may_be(&self, tool: &str) -> bool {
        if self.name == tool || self.tool() == tool {
            return true;
        }
        match mcp_name(tool) {
            None => false,
            Some((server, bare)) => self.tool() == bare && self.may_be_of(server),
        }
    }
}

/// Whether two names are of one server, whatever their letter case.
pub fn same_server(left: &str, right: &str) -> bool {
    left.trim().to_lowercase() == right.trim().to_lowercase()
}

/// The server and the tool of a name such as `mcp__SERVER__TOOL`, the form in which Claude names the tools of MCP servers.
fn mcp_name(name: &str) -> Option<(&str, &str)> {
    let parts = name.strip_prefix("mcp__")?.split_once("__");
    parts.filter(|(server, tool)| !server.is_empty() && !tool.is_empty())
}

/// A tool's name without its MCP server.
fn bare(name: &str) -> &str {
    mcp_name(name).map_or(name, |(_, tool)| tool)
}

/// The calls of a run in their order, and what is wrong with them: parts of the list with the wrong format, and calls that the run's
/// measures count and the list does not have.
pub fn calls(run: &Run) -> (Vec<ObservedCall>, Vec<String>) {
    let (calls, mut flaws) = listed_calls(run);
    flaws.extend(run.counted_tools.unreadable.map(str::to_owned));
    flaws.extend(unlisted_calls(run, &calls));
    (calls, flaws)
}

fn listed_calls(run: &Run) -> (Vec<ObservedCall>, Vec<String>) {
    let mut flaws = Vec::new();
    let whole = match intermediate(run) {
        Ok(whole @ (Value::Object(_) | Value::Null)) => whole,
        Ok(_) => {
            return (
                Vec::new(),
                vec!["\"intermediate\" is not an object".to_owned()],
            );
        }
        Err(flaw) => return (Vec::new(), vec![flaw]),
    };
    if has_list_twice(run.intermediate.as_deref().unwrap_or("null")) {
        flaws.push("\"intermediate\" has a list of calls twice under one key".to_owned());
    }
    let mut list: Vec<&Value> = Vec::new();
    for key in CALL_LISTS {
        match whole.get(key) {
            None | Some(Value::Null) => {}
            // A recording with both keys may state the same calls twice.
            Some(Value::Array(calls)) if list.iter().copied().eq(calls) => {}
            Some(Value::Array(calls)) => list.extend(calls),
            Some(_) => flaws.push(format!("\"{key}\" is not a list")),
        }
    }
    let mut calls = Vec::with_capacity(list.len());
    for (at, call) in list.into_iter().enumerate() {
        let name = call.get("name").and_then(Value::as_str);
        if name.is_none() {
            flaws.push(format!("tool_calls[{at}] has no name"));
        }
        let server = match call.get("server") {
            None | Some(Value::Null) => None,
            // A blank server is none.
            Some(Value::String(server)) if server.trim().is_empty() => None,
            Some(server) => Some(server),
        };
        if server.is_some_and(|server| !server.is_string()) {
            flaws.push(format!("the server of tool_calls[{at}] is not a string"));
        }
        let stated = server
            .and_then(Value::as_str)
            .or_else(|| mcp_name(name?).map(|(server, _)| server));
        let failed = call.get("error").is_some_and(|error| !error.is_null());
        calls.push(ObservedCall {
            name: name.unwrap_or_default().to_owned(),
            server: stated.map(str::to_owned),
            arguments: call.get("arguments").map_or(Value::Null, lenient::embedded),
            result: call
                .get("result")
                .map(lenient::embedded)
                .or(failed.then_some(Value::Null)),
            failed,
            turn: index_at(call, "turn"),
            step: index_at(call, "step"),
        });
    }
    (calls, flaws)
}

fn index_at(call: &Value, key: &str) -> Option<u32> {
    u32::try_from(call.get(key)?.as_u64()?).ok()
}

/// The first tool of which the run's measures count more calls than are listed.
fn unlisted_calls(run: &Run, calls: &[ObservedCall]) -> Option<String> {
    for (tool, counted) in &run.counted_tools.calls {
        let listed = calls_of(tool, calls);
        if listed == 0 && *counted > 0 {
            return Some(format!(
                "the metrics count calls of \"{tool}\", and the list of calls has none"
            ));
        }
        if listed < *counted {
            return Some(format!(
                "the metrics count {counted} calls of \"{tool}\", and the list of calls has {listed}"
            ));
        }
    }
    None
}

/// The number of calls of a tool, which may be named with its server.
fn calls_of(tool: &str, calls: &[ObservedCall]) -> u64 {
    let server = mcp_name(tool).map(|(server, _)| server);
    let mut count = 0;
    for call in calls {
        let is_of_server =
            server.is_none_or(|server| call.servers().any(|name| same_server(name, server)));
        if call.tool() == bare(tool) && is_of_server {
            count += 1;
        }
    }
    count
}

/// Whether an object has one of the lists of calls twice under the same key: only the last one would be read.
fn has_list_twice(intermediate: &str) -> bool {
    #[derive(Deserialize)]
    struct CallLists {
        #[serde(default, rename = "tool_calls")]
        _snake: Option<IgnoredAny>,
        #[serde(default, rename = "toolCalls")]
        _camel: Option<IgnoredAny>,
    }
    // The only possible error of a valid object, which is read before.
    intermediate.trim_start().starts_with('{')
        && serde_json::from_str::<CallLists>(intermediate).is_err()
}

/// The record's `intermediate`. Invalid JSON is a flaw, never an empty list of calls.
pub fn intermediate(run: &Run) -> Result<Value, String> {
    let text = run.intermediate.as_deref().unwrap_or("null");
    lenient::any(text).map_err(|error| format!("\"intermediate\" cannot be read: {error}"))
}

/// Whether two values are equal; numbers are compared by their value.
pub fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left == right || floating(left).is_some_and(|number| floating(right) == Some(number))
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(left, right)| same(left, right))
        }
        (Value::Object(fields), Value::Object(others)) => {
            fields.len() == others.len()
                && fields.iter().all(|(key, value)| {
                    others
                        .get(key)
                        .is_some_and(|other_value| same(value, other_value))
                })
        }
        _ => left == right,
    }
}

/// The number as floating point; `None` if that is not exact, so that different large ids stay different.
fn floating(number: &Number) -> Option<f64> {
    match number.as_i128() {
        Some(whole) => Some(whole as f64).filter(|float| *float as i128 == whole),
        None => number.as_f64(),
    }
}

/// Whether `whole` has everything that `part` has: objects by subset at every depth, everything else equal.
pub fn contains(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => part.iter().all(|(key, value)| {
            whole
                .get(key)
                .is_some_and(|whole_value| contains(whole_value, value))
        }),
        _ => same(whole, part),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{calls, contains, same};
    use crate::model::{CountedTools, Run};

    #[test]
    fn calls_are_read_under_both_keys() {
        let names = |intermediate: &str| -> Vec<String> {
            let run = Run {
                intermediate: Some(intermediate.into()),
                ..Run::of("{}")
            };
            calls(&run).0.into_iter().map(|call| call.name).collect()
        };
        let bad = r#"[{"name": "delete_account"}]"#;
        for first in ["null", "[]", bad] {
            let both = format!(r#"{{"tool_calls": {first}, "toolCalls": {bad}}}"#);
            assert_eq!(names(&both), ["delete_account"], "{first}");
        }
        let twice = Run {
            intermediate: Some(format!(r#"{{"tool_calls": {bad}, "tool_calls": []}}"#).into()),
            ..Run::of("{}")
        };
        let listed = Run {
            intermediate: Some(bad.into()),
            ..Run::of("{}")
        };
        assert_eq!([calls(&twice).1.len(), calls(&listed).1.len()], [1, 1]);
        let two = format!(r#"{{"tool_calls": [{{"name": "find"}}], "toolCalls": {bad}}}"#);
        assert_eq!(names(&two), ["find", "delete_account"]);
    }

    #[test]
    fn a_counted_tool_must_be_listed() {
        let flaw = |intermediate: &str, counted: &str| {
            let intermediate = Some(intermediate.into());
            let counted = CountedTools {
                calls: [(counted.to_owned(), 1)].into(),
                unreadable: None,
            };
            calls(&Run {
                intermediate,
                counted_tools: counted,
                ..Run::of("{}")
            })
            .1
            .len()
                == 1
        };
        let listed = r#"{"tool_calls": [{"name": "mcp__docs__find"}, {"name": "open"}]}"#;
        assert!(!flaw(listed, "find") && !flaw(listed, "mcp__docs__find") && !flaw(listed, "open"));
        assert!(
            flaw(listed, "delete") && flaw("null", "open") && flaw(r#"{"tool_calls": []}"#, "open")
        );
        assert!(flaw(listed, "mcp__evil__open"), "another server's");
        let intermediate = Some(r#"{"tool_calls": [{"name": "open"}]}"#.into());
        let counted_tools = CountedTools {
            calls: [("open".to_owned(), 50)].into(),
            unreadable: None,
        };
        let (_, flaws) = calls(&Run {
            intermediate,
            counted_tools,
            ..Run::of("{}")
        });
        assert_eq!(
            flaws,
            ["the metrics count 50 calls of \"open\", and the list of calls has 1"]
        );
    }

    #[test]
    fn a_blank_server_is_none() {
        let servers = |call: &str| -> (Vec<String>, usize) {
            let intermediate = format!(r#"{{"tool_calls": [{call}]}}"#);
            let (made, flaws) = calls(&Run {
                intermediate: Some(intermediate.into()),
                ..Run::of("{}")
            });
            (made[0].servers().map(str::to_owned).collect(), flaws.len())
        };
        assert_eq!(
            servers(r#"{"name": "mcp__web__post", "server": " "}"#),
            (vec!["web".to_owned(); 2], 0)
        );
        assert_eq!(servers(r#"{"name": "post", "server": ""}"#), (vec![], 0));
        assert_eq!(
            servers(r#"{"name": "mcp__web__post", "server": "x"}"#),
            (vec!["x".to_owned(), "web".to_owned()], 0)
        );
        assert_eq!(servers(r#"{"name": "post", "server": 1}"#), (vec![], 1));
    }

    #[test]
    fn objects_are_contained_by_subset_at_every_depth() {
        let whole = json!({"a": {"b": 1, "c": [1, {"d": 2}]}, "e": null});
        for part in [
            json!({}),
            json!({"a": {}}),
            json!({"a": {"b": 1.0}}),
            json!({"e": null}),
            json!({"a": {"c": [1, {"d": 2}]}}),
        ] {
            assert!(contains(&whole, &part), "{part}");
        }
        for part in [
            json!({"a": {"b": 2}}),
            json!({"f": null}),
            json!({"a": {"c": [1]}}),
            json!([]),
            json!({"a": {"b": "1"}}),
            json!({"a": {"b": true}}),
        ] {
            assert!(!contains(&whole, &part), "{part}");
        }
    }

    #[test]
    fn numbers_are_the_same_by_value() {
        assert!(!same(
            &json!(9_007_199_254_740_993_u64),
            &json!(9_007_199_254_740_992_u64)
        ));
        assert!(
            !same(&json!(100_000_000_000_000_001_u64), &json!(1e17))
                && same(&json!(100_000_000_000_000_000_u64), &json!(1e17))
        );
        assert!(same(&json!(1), &json!(1.0)) && same(&json!([{"a": 2}]), &json!([{"a": 2.0}])));
        assert!(!same(&json!({"a": 1, "b": 2}), &json!({"a": 1})) && !same(&json!(1), &json!("1")));
        let (more, less) = (json!({"a": {"b": 1, "c": 2}}), json!({"a": {"b": 1}}));
        assert!(
            !same(&more, &less) && !same(&less, &more),
            "a part is not equal to the whole"
        );
        assert!(
            contains(&more, &less)
                && !contains(&less, &more)
                && !contains(&json!([more]), &json!([less]))
        );
    }
}

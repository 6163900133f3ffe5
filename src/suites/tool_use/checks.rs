//! What a case asks of one sample, with the evidence and the next action.

use serde_json::Value;

use super::ToolUseOutput;
use super::cases::ToolUseCase;
use super::trajectory::Followed;
use crate::model::{Check, CheckKey, Failure};
use crate::suites::calls::contains;
use crate::suites::failure_classifier::{CheckFailure, FailureClassifier};

/// One sample beside its case.
pub struct ToolUseChecker<'a> {
    pub case: &'a ToolUseCase,
    pub produced: &'a ToolUseOutput,
    pub path: Option<&'a Followed>,
    pub classifier: FailureClassifier<'a>,
}

impl ToolUseChecker<'_> {
    /// Every check, in one order for all samples.
    pub fn checks(&self) -> Vec<Check> {
        let line = self.case.line;
        let form = "make the agent answer with a text, and record its calls as [{name, arguments, result}]";
        let readable = || "an answer with a text or a tool call".to_owned();
        let mut checks = vec![Check::of("schema", CheckKey::Only, line, readable, self.classifier.schema(form))];
        if self.case.tools.is_empty() {
            checks.push(Check::of("no_tool", CheckKey::Only, line, || "no tool call".to_owned(), self.no_tool()));
        }
        for tool in &self.case.tools {
            let wanted = || format!("a call of {tool}");
            checks.push(Check::of(
                "expected_tool",
                CheckKey::Named(tool.as_str().into()),
                line,
                wanted,
                self.tool(tool),
            ));
        }
        if !self.case.phrases.is_empty() {
            let wanted = || {
                let phrases: Vec<String> =
                    self.case.phrases.iter().map(|phrase| format!("\"{}\"", phrase.as_str())).collect();
                format!("an answer with {}", phrases.join(" or "))
            };
            checks.push(Check::of("expected_output_contains", CheckKey::Only, line, wanted, self.phrase()));
        }
        for (name, terms) in &self.case.flags {
            let missing = (!terms.are_in(&self.produced.answer)).then(|| {
                let action = format!(
                    "make the prompt ask for the wording of {name}, or add the agent's own to its list of terms"
                );
                let detail = format!("{name}: no phrase of the list is in the answer {}", self.answer());
                self.classifier.failure(CheckFailure::Content, self.case.rule.as_deref(), detail, action)
            });
            let wanted = || format!("an answer with a phrase of the list {name}");
            checks.push(Check::of("expected_flag", CheckKey::Named(name.as_str().into()), line, wanted, missing));
        }
        for (tool, part) in &self.case.outputs {
            let failure = self.output(tool, part);
            let wanted = || format!("{tool} returns {part}");
            checks.push(Check::of(
                "expected_tool_output",
                CheckKey::Named(tool.as_str().into()),
                line,
                wanted,
                failure,
            ));
        }
        if let (Some(trajectory), Some(followed)) = (&self.case.trajectory, self.path) {
            let named = [
                (
                    "trajectory",
                    followed.strayed.as_ref(),
                    "compare the calls with the case's trajectory: mend the plan, or the case",
                ),
                (
                    "forbidden_tools",
                    followed.forbidden.as_ref(),
                    "take the tool away from the agent here, or say in the prompt when it must not be called",
                ),
                ("max_steps", followed.too_long.as_ref(), "look for calls that were repeated or not needed"),
            ];
            for (word, detail, action) in named.into_iter().filter(|(word, ..)| trajectory.asks_for(word)) {
                let failure = detail.map(|detail| {
                    self.classifier.failure(CheckFailure::Choice, None, detail.clone(), action.to_owned())
                });
                checks.push(Check::of(word, CheckKey::Only, line, || trajectory.wanted(word), failure));
            }
        }
        checks
    }

    fn called(&self) -> String {
        let names: Vec<&str> = self.produced.calls.iter().map(|call| call.name.as_str()).collect();
        if names.is_empty() { "nothing was called".to_owned() } else { format!("called were {}", names.join(", ")) }
    }

    fn answer(&self) -> String {
        let start: String = self.produced.answer.chars().take(120).collect();
        let more = if start.len() < self.produced.answer.len() { " …" } else { "" };
        format!("\"{start}{more}\"")
    }

    fn no_tool(&self) -> Option<Failure> {
        (!self.produced.calls.is_empty()).then(|| {
            let action = "make the prompt say when to answer without a tool";
            self.classifier.failure(
                CheckFailure::Choice,
                None,
                format!("no tool is right here; {}", self.called()),
                action.to_owned(),
            )
        })
    }

    fn tool(&self, tool: &str) -> Option<Failure> {
        let called = self.produced.calls.iter().any(|call| call.name == tool);
        (!called).then(|| self.not_called(tool, format!("{tool} was not called; {}", self.called())))
    }

    fn not_called(&self, tool: &str, detail: String) -> Failure {
        let action =
            format!("look at how the agent chooses its tools: the description of {tool}, or the routing to it");
        self.classifier.failure(CheckFailure::Choice, None, detail, action)
    }

    fn phrase(&self) -> Option<Failure> {
        let wanted = &self.case.phrases;
        (!wanted.iter().any(|phrase| phrase.is_in(&self.produced.answer))).then(|| {
            let wanted: Vec<String> = wanted.iter().map(|phrase| format!("\"{}\"", phrase.as_str())).collect();
            let action = "read the answer: if it is right, add its wording to the case; if not, mend the prompt";
            let detail = format!("none of {} is in the answer {}", wanted.join(", "), self.answer());
            self.classifier.failure(CheckFailure::Content, self.case.rule.as_deref(), detail, action.to_owned())
        })
    }

    fn output(&self, tool: &str, part: &Value) -> Option<Failure> {
        let results: Vec<&Value> =
            self.produced.calls.iter().filter(|call| call.name == tool).map(|call| &call.result).collect();
        let Some(last) = results.last() else {
            return Some(
                self.not_called(tool, format!("{tool} was not called, so it returned nothing; {}", self.called())),
            );
        };
        (!results.iter().any(|result| contains(result, part))).then(|| {
            let last: String = last.to_string().chars().take(160).collect();
            let action =
                format!("compare the arguments that {tool} was given with the case, then the data behind the tool");
            let detail = format!("no call of {tool} returned {part}; the last one returned {last}");
            self.classifier.failure(CheckFailure::Content, self.case.rule.as_deref(), detail, action)
        })
    }
}

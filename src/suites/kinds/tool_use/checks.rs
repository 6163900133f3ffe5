//! The checks of a case on one sample, with evidence and next action.

use serde_json::Value;

use super::cases::ToolUseCase;
use super::produced::ToolUseOutput;
use super::trajectory::{Followed, Trajectory, TrajectoryCondition};
use crate::model::{Check, CheckKey, Failure};
use crate::suites::shared::calls::{called, contains};
use crate::suites::shared::failure_classifier::{CheckFailure, FailureClassifier};
use crate::text::line;

/// One sample and its case.
pub struct ToolUseChecker<'a> {
    pub case: &'a ToolUseCase,
    pub produced: &'a ToolUseOutput,
    pub path: Option<&'a Followed>,
    pub classifier: FailureClassifier<'a>,
}

impl ToolUseChecker<'_> {
    /// Every check, those of the turns last; every sample has the same checks in the same order.
    pub fn checks(&self) -> Vec<Check> {
        let line = self.case.line;
        let form = "make the agent answer with a text, and record its calls as [{name, arguments, result}]";
        let mut checks = vec![Check::of(
            "schema",
            CheckKey::Only,
            line,
            || "an answer with a text or a tool call".to_owned(),
            self.classifier.schema(form),
        )];
        if self.case.tools.as_ref().is_some_and(Vec::is_empty) {
            checks.push(Check::of(
                "no_tool",
                CheckKey::Only,
                line,
                || "no tool call".to_owned(),
                self.no_tool(),
            ));
        }
        for tool in self.case.tools.iter().flatten() {
            checks.push(Check::of(
                "expected_tool",
                CheckKey::named(tool.as_str()),
                line,
                || format!("a call of {tool}"),
                self.tool(tool),
            ));
        }
        if !self.case.phrases.is_empty() {
            let failure = self.phrase();
            let unknown = self.unread().filter(|_| failure.is_some());
            let check = Check::of(
                "expected_output_contains",
                CheckKey::Only,
                line,
                || format!("an answer with {}", self.quoted_phrases().join(" or ")),
                failure,
            );
            checks.push(check.or_unknown(unknown));
        }
        for (name, terms) in &self.case.flags {
            let missing = (!terms.are_in(&self.produced.answer)).then(|| {
                let action =
                    "make the prompt require such a phrase; only if the answer is right, add its wording to the flag's term list"
                        .to_owned();
                let detail =
                    format!("the answer contains no phrase from the term list of the flag {name}: {}", self.answer());
                self.classifier.failure(CheckFailure::Content, self.case.rule.as_deref(), detail, action)
            });
            let unknown = self.unread().filter(|_| missing.is_some());
            let check = Check::of(
                "expected_flag",
                CheckKey::named(name.as_str()),
                line,
                || format!("an answer with a phrase from the term list of the flag {name}"),
                missing,
            );
            checks.push(check.or_unknown(unknown));
        }
        for (tool, part) in &self.case.outputs {
            let results = self.results(tool);
            let failure = self.output(tool, part, &results);
            // Another call of the tool may have returned it.
            let is_unknown = failure.is_some() && results.contains(&None);
            let why = format!("the recording does not have what the tool {tool} returned");
            let check = Check::of(
                "expected_tool_output",
                CheckKey::named(tool.as_str()),
                line,
                || format!("{tool} returns {part}"),
                failure,
            );
            checks.push(check.or_unknown(is_unknown.then_some(&why)));
        }
        if let (Some(trajectory), Some(followed)) = (&self.case.trajectory, self.path) {
            checks.extend(trajectory_checks(
                trajectory,
                &CheckKey::Only,
                line,
                &|condition| self.not_followed(followed, condition),
            ));
        }
        checks.extend(self.conversation());
        checks
    }

    /// The failure of a condition that the calls do not meet.
    pub fn not_followed(
        &self,
        followed: &Followed,
        condition: TrajectoryCondition,
    ) -> Option<Failure> {
        let detail = followed.broken(condition)?.to_owned();
        Some(self.classifier.failure(
            CheckFailure::Choice,
            None,
            detail,
            condition.action().to_owned(),
        ))
    }

    fn called(&self) -> String {
        called(&self.produced.calls)
    }

    fn answer(&self) -> String {
        format!("\"{}\"", line(&self.produced.written, 120))
    }

    fn no_tool(&self) -> Option<Failure> {
        if self.produced.calls.is_empty() {
            return None;
        }
        let action = "make the prompt say when to answer without a tool".to_owned();
        Some(
            self.classifier
                .failure(CheckFailure::Choice, None, self.called(), action),
        )
    }

    fn tool(&self, tool: &str) -> Option<Failure> {
        let called = self.produced.calls.iter().any(|call| call.name == tool);
        (!called).then(|| self.not_called(tool, self.called()))
    }

    pub fn not_called(&self, tool: &str, detail: String) -> Failure {
        let action = format!(
            "check how the agent chooses its tools: the description of {tool}, or the routing to it"
        );
        self.classifier
            .failure(CheckFailure::Choice, None, detail, action)
    }

    fn quoted_phrases(&self) -> Vec<String> {
        let phrases = self.case.phrases.iter();
        phrases
            .map(|phrase| format!("\"{}\"", phrase.as_str()))
            .collect()
    }

    fn phrase(&self) -> Option<Failure> {
        let mut phrases = self.case.phrases.iter();
        if phrases.any(|phrase| phrase.is_in(&self.produced.answer)) {
            return None;
        }
        let action = "make the prompt require this wording; only if the answer is right, add its wording to the case";
        let detail = format!(
            "none of {} is in the answer {}",
            self.quoted_phrases().join(", "),
            self.answer()
        );
        Some(self.classifier.failure(
            CheckFailure::Content,
            self.case.rule.as_deref(),
            detail,
            action.to_owned(),
        ))
    }

    /// Why a phrase that is not found may be in the answer; `None` if the recording has the whole answer.
    fn unread(&self) -> Option<&'static str> {
        self.produced
            .is_cut
            .then_some("the recording has only the beginning of the answer")
    }

    /// What the calls of a tool returned; `None` where it was not recorded.
    fn results(&self, tool: &str) -> Vec<Option<&Value>> {
        let calls = self.produced.calls.iter();
        calls
            .filter(|call| call.name == tool)
            .map(|call| call.result.as_ref())
            .collect()
    }

    fn output(&self, tool: &str, part: &Value, results: &[Option<&Value>]) -> Option<Failure> {
        let Some(last) = results.last() else {
            return Some(self.not_called(tool, self.called()));
        };
        let mut recorded = results.iter().flatten();
        if recorded.any(|result| contains(result, part)) {
            return None;
        }
        let last = last.unwrap_or(&Value::Null).to_string();
        let last: String = last.chars().take(160).collect();
        let action = format!(
            "compare the arguments of {tool} with the case, then check the data behind the tool"
        );
        let detail = format!("no call of {tool} returned {part}; the last call returned {last}");
        Some(self.classifier.failure(
            CheckFailure::Content,
            self.case.rule.as_deref(),
            detail,
            action,
        ))
    }
}

/// A check for each condition that a trajectory states.
pub fn trajectory_checks(
    trajectory: &Trajectory,
    key: &CheckKey,
    line: u32,
    failure: &dyn Fn(TrajectoryCondition) -> Option<Failure>,
) -> Vec<Check> {
    let mut checks = Vec::new();
    for condition in TrajectoryCondition::ALL {
        if trajectory.states(condition) {
            checks.push(Check::of(
                condition.as_str(),
                key.clone(),
                line,
                || trajectory.expectation(condition),
                failure(condition),
            ));
        }
    }
    checks
}

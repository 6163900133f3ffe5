//! Assigns a tag to a failed check: the failure taxonomy and its order of precedence.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;

use super::calls::{ObservedCall, calls};
use crate::format::lenient;
use crate::format::lenient::Lenient;
use crate::model::{AgentName, Failure, Run, Tag};
use crate::suites::GradeContext;
use crate::suites::kind::Pair;
use crate::text::line;

/// The kind of a check's failure, before the rest of the sample is considered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckFailure {
    /// The agent's content is wrong or missing.
    Content,
    /// The agent chose a wrong tool or node, or none.
    Choice,
    /// The agent names something that does not exist: a path, a test, a range.
    Unmapped,
    /// The agent took too long or used too much.
    Cost,
}

/// The longest error of a run that is shown, in characters.
const LONGEST_ERROR: usize = 200;

/// The errors that the outputs of a run state.
#[derive(Deserialize, Default)]
#[serde(default)]
struct OutputErrors {
    errors: Lenient<Vec<Value>>,
}

pub struct FailureClassifier<'a> {
    agent: &'a AgentName,
    run: &'a Run,
    compared_with: Option<&'a Run>,
    context: &'a GradeContext<'a>,
    flaws: &'a [String],
    // Computed only if a check fails, then used often.
    broken_tool: OnceCell<Option<String>>,
}

impl<'a> FailureClassifier<'a> {
    /// For one run of a pair; `flaws` are the parts of its output with the wrong format.
    pub fn new(
        pair: &'a Pair,
        run: &'a Run,
        context: &'a GradeContext<'a>,
        flaws: &'a [String],
    ) -> Self {
        Self::of(&pair.agent, run, context, flaws)
    }

    /// For one agent's run, if the pair has several.
    pub fn of(
        agent: &'a AgentName,
        run: &'a Run,
        context: &'a GradeContext<'a>,
        flaws: &'a [String],
    ) -> Self {
        Self {
            agent,
            run,
            compared_with: None,
            context,
            flaws,
            broken_tool: OnceCell::new(),
        }
    }

    /// For a check that compares the run with another one: a failed tool in either run explains the failure.
    pub fn compared_with(&self, other: &'a Run) -> Self {
        Self {
            compared_with: Some(other),
            ..Self::of(self.agent, self.run, self.context, self.flaws)
        }
    }

    /// The failure of a check, with the first error that the run itself reports.
    pub fn failure(
        &self,
        fault: CheckFailure,
        rule: Option<&str>,
        detail: String,
        next_action: String,
    ) -> Failure {
        self.classified(fault, rule, self.with_errors(detail), next_action)
    }

    /// A limit of time or cost is only that. Otherwise a wrong format comes first, then a failed tool, then the choice, then rule and model.
    fn classified(
        &self,
        fault: CheckFailure,
        rule: Option<&str>,
        detail: String,
        next_action: String,
    ) -> Failure {
        if fault == CheckFailure::Cost {
            return Failure {
                tag: Tag::Cost,
                detail,
                next_action,
            };
        }
        if !self.flaws.is_empty() {
            let next_action =
                "fix the output format first: see the check schema of this case".to_owned();
            return Failure {
                tag: Tag::Schema,
                detail,
                next_action,
            };
        }
        if let Some(tool) = self.broken_tool() {
            let next_action =
                format!("fix the tool {tool} first: the agent worked without its result");
            return Failure {
                tag: Tag::Tooling,
                detail: format!("{detail}; the tool {tool} failed"),
                next_action,
            };
        }
        if let (CheckFailure::Content, Some(rule)) = (fault, rule)
            && let Some(change) = self.context.rule_change(self.agent, rule)
        {
            let next_action = format!(
                "compare with rule {rule} of the base commit and revert its change; only if the new rule is right, change the case"
            );
            return Failure {
                tag: Tag::Prompt,
                detail: format!("{detail}; {change}"),
                next_action,
            };
        }
        let tag = match (fault, rule) {
            (CheckFailure::Unmapped, _) => Tag::Tooling,
            (CheckFailure::Choice, _) => Tag::Routing,
            (CheckFailure::Cost, _) => Tag::Cost,
            (CheckFailure::Content, Some(rule)) if self.had_rule(rule) => Tag::Model,
            (CheckFailure::Content, Some(_) | None) => Tag::Prompt,
        };
        Failure {
            tag,
            detail,
            next_action,
        }
    }

    /// The failure of the format check; `None` if the output has no flaw.
    pub fn schema(&self, next_action: &str) -> Option<Failure> {
        let first = self.flaws.first()?;
        let more = match self.flaws.len() {
            1 => String::new(),
            all => format!(" (and {} more)", all - 1),
        };
        Some(Failure {
            tag: Tag::Schema,
            detail: self.with_errors(format!("{first}{more}")),
            next_action: next_action.to_owned(),
        })
    }

    /// A detail with the first of the errors that a completed run reports: its output may be wrong because of it.
    fn with_errors(&self, detail: String) -> String {
        let OutputErrors { errors } = lenient::object(&self.run.outputs);
        let Some(first) = errors.list().first() else {
            return detail;
        };
        let first = first
            .as_str()
            .map_or_else(|| first.to_string(), str::to_owned);
        format!(
            "{detail}; the run reports an error: {}",
            line(&first, LONGEST_ERROR)
        )
    }

    /// Whether the run's prompt package has this rule.
    pub fn had_rule(&self, rule: &str) -> bool {
        self.context.had_rule(self.agent, rule)
    }

    /// The first tool that failed, did not succeed later in the same run, and does not fail in passing samples as well.
    fn broken_tool(&self) -> Option<&str> {
        let tool = self.broken_tool.get_or_init(|| self.first_broken_tool());
        tool.as_deref()
    }

    fn first_broken_tool(&self) -> Option<String> {
        for run in [self.run].into_iter().chain(self.compared_with) {
            for tool in broken_tools(run) {
                if !self.context.is_harmless(&tool) {
                    return Some(tool);
                }
            }
        }
        None
    }
}

/// The tools with a failed call and no later successful one, in the order of these calls.
pub fn broken_tools(run: &Run) -> Vec<String> {
    let mut succeeded = BTreeSet::new();
    let mut broken = Vec::new();
    for ObservedCall { name, failed, .. } in calls(run).0.into_iter().rev() {
        if !failed {
            succeeded.insert(name);
        } else if !succeeded.contains(&name) {
            broken.push(if name.is_empty() {
                "without a name".to_owned()
            } else {
                name
            });
        }
    }
    broken.reverse();
    broken
}

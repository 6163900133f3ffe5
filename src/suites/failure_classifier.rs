//! Who is to blame for a failed check: the failure taxonomy's rule and its order of precedence (grading.md 12).

use std::cell::OnceCell;
use std::collections::BTreeSet;

use super::calls::{ObservedCall, calls};
use super::{GradeContext, Pair};
use crate::model::{AgentName, Failure, Run, Tag};

/// What a check found wrong, before anything else of the sample is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckFailure {
    /// What the agent said is wrong or missing.
    Content,
    /// It chose a wrong tool or node, or none.
    Choice,
    /// It names what maps to nothing: a path, a test, a range.
    Unmapped,
}

/// What is known of a sample when one of its checks fails.
pub struct FailureClassifier<'a> {
    agent: &'a AgentName,
    run: &'a Run,
    beside: Option<&'a Run>,
    context: &'a GradeContext<'a>,
    flaws: &'a [String],
    // Asked for only where a check fails, and then often.
    broken_tool: OnceCell<Option<String>>,
}

impl<'a> FailureClassifier<'a> {
    /// Of one run of a pair; `flaws` are what in its output has another form than it should.
    pub fn new(pair: &'a Pair, run: &'a Run, context: &'a GradeContext<'a>, flaws: &'a [String]) -> Self {
        Self::of(&pair.agent, run, context, flaws)
    }

    /// Of one agent's run, where a pair is of several.
    pub fn of(agent: &'a AgentName, run: &'a Run, context: &'a GradeContext<'a>, flaws: &'a [String]) -> Self {
        Self { agent, run, beside: None, context, flaws, broken_tool: OnceCell::new() }
    }

    /// Of a check that compares the run with another one: a tool that broke in either is to blame.
    pub fn beside(&self, other: &'a Run) -> Self {
        Self { beside: Some(other), ..Self::of(self.agent, self.run, self.context, self.flaws) }
    }

    /// The failure of a check: its form first, then its tools, then the choice, then rule and model.
    pub fn failure(&self, fault: CheckFailure, rule: Option<&str>, detail: String, next_action: String) -> Failure {
        if !self.flaws.is_empty() {
            let next_action = "mend the form of the output first: see the check schema of this case".to_owned();
            return Failure { tag: Tag::Schema, detail, next_action };
        }
        if let Some(tool) = self.broken_tool() {
            let next_action = format!("mend the tool {tool} first: the agent worked without its answer");
            return Failure { tag: Tag::Tooling, detail: format!("{detail}; the tool {tool} failed"), next_action };
        }
        if let (CheckFailure::Content, Some(rule)) = (fault, rule)
            && let Some(change) = self.context.rule_change(self.agent, self.run, rule)
        {
            let next_action = format!(
                "compare with the base commit's rule {rule}: take its change back, or keep it and change the case"
            );
            return Failure { tag: Tag::Prompt, detail: format!("{detail}; {change}"), next_action };
        }
        let tag = match (fault, rule) {
            (CheckFailure::Unmapped, _) => Tag::Tooling,
            (CheckFailure::Choice, _) => Tag::Routing,
            (CheckFailure::Content, Some(rule)) if self.had_rule(rule) => Tag::Model,
            (CheckFailure::Content, Some(_) | None) => Tag::Prompt,
        };
        Failure { tag, detail, next_action }
    }

    /// The failure of the check that an output has the form that it should have.
    pub fn schema(&self, next_action: &str) -> Option<Failure> {
        let first = self.flaws.first()?;
        let more = match self.flaws.len() {
            1 => String::new(),
            all => format!(" (and {} more)", all - 1),
        };
        Some(Failure { tag: Tag::Schema, detail: format!("{first}{more}"), next_action: next_action.to_owned() })
    }

    /// Whether the prompt package that the run used has this rule.
    pub fn had_rule(&self, rule: &str) -> bool {
        self.context.had_rule(self.agent, self.run, rule)
    }

    /// The first tool that ended in an error and did not succeed later in the same run.
    fn broken_tool(&self) -> Option<&str> {
        let found = self.broken_tool.get_or_init(|| {
            let mut runs = [self.run].into_iter().chain(self.beside);
            let broken = runs.find_map(|run| first_broken(calls(run).0))?;
            Some(if broken.name.is_empty() { "without a name".to_owned() } else { broken.name })
        });
        found.as_deref()
    }
}

/// The first call that failed and that no later call of the same tool made good.
fn first_broken(calls: Vec<ObservedCall>) -> Option<ObservedCall> {
    let mut succeeded = BTreeSet::new();
    let mut broken = None;
    for call in calls.into_iter().rev() {
        match call.failed {
            true if !succeeded.contains(&call.name) => broken = Some(call),
            true => {}
            false => {
                succeeded.insert(call.name);
            }
        }
    }
    broken
}

//! Who is to blame for a failed check: the failure taxonomy's rule and its order of precedence (grading.md 12).

use super::Desk;
use super::calls::Call;
use crate::model::AgentName;
use crate::model::Failure;
use crate::model::Run;
use crate::model::Tag;

/// What a check found wrong, before anything else of the sample is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// What the agent said is wrong or missing.
    Content,
    /// It chose a wrong tool or node, or none.
    Choice,
}

/// What is known of a sample when one of its checks fails.
pub struct Blame<'a> {
    /// The agent.
    pub agent: &'a AgentName,
    /// Its run.
    pub run: &'a Run,
    /// The prompt packages.
    pub desk: &'a Desk<'a>,
    /// Whether the output had the form that it should have.
    pub form: Form,
    /// The first tool that ended in an error.
    pub broken_tool: Option<&'a str>,
}

/// Whether an output has the form that it should have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// It has.
    Right,
    /// It has not, or nothing could be read.
    Flawed,
}

impl Blame<'_> {
    /// The failure of a check: its form first, then its tools, then the choice, then rule and model.
    pub fn failure(&self, fault: Fault, rule: Option<&str>, detail: String, next_action: String) -> Failure {
        if self.form == Form::Flawed {
            let next_action = "mend the form of the output first: see the check schema of this case".to_owned();
            return Failure { tag: Tag::Schema, detail, next_action };
        }
        if let Some(tool) = self.broken_tool {
            let next_action = format!("mend the tool {tool} first: the agent worked without its answer");
            return Failure { tag: Tag::Tooling, detail: format!("{detail}; the tool {tool} failed"), next_action };
        }
        let tag = match (fault, rule) {
            (Fault::Choice, _) => Tag::Routing,
            (Fault::Content, Some(rule)) if self.had_rule(rule) => Tag::Model,
            (Fault::Content, Some(_) | None) => Tag::Prompt,
        };
        Failure { tag, detail, next_action }
    }

    /// Whether the prompt package that the run used has this rule.
    pub fn had_rule(&self, rule: &str) -> bool {
        self.desk.had_rule(self.agent, self.run, rule)
    }
}

/// The check that an output has the form that it should have.
pub fn schema(flaws: &[String], next_action: &str) -> Option<Failure> {
    let first = flaws.first()?;
    let more = match flaws.len() {
        1 => String::new(),
        all => format!(" (and {} more)", all - 1),
    };
    Some(Failure { tag: Tag::Schema, detail: format!("{first}{more}"), next_action: next_action.to_owned() })
}

/// The first call that ended in an error.
pub fn broken_tool(calls: &[Call]) -> Option<&str> {
    let broken = calls.iter().find(|call| call.failed)?;
    Some(if broken.name.is_empty() { "without a name" } else { &broken.name })
}

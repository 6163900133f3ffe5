//! Untrusted texts and names for the page.

use maud::{Markup, html};

use crate::model::{AgentReport, SuiteReport};
use crate::render::plain::line;

/// An untrusted text on one line.
pub fn bounded(text: &str) -> String {
    line(text, 1000)
}

/// A sentence of goldgate in which backticks mark commands.
pub fn with_commands(text: &str) -> Markup {
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 0 { (part) } @else { code { (part) } }
        }
    }
}

pub fn agent_name(suite: &SuiteReport, agent: &AgentReport) -> String {
    format!("{}/{}", suite.id, agent.agent)
}

//! Untrusted texts and names for the page.

use std::iter;

use maud::{Markup, html};

use crate::model::{AgentReport, SuiteReport};
use crate::render::plain::line;
use crate::text::code_spans;

/// An untrusted text on one line.
pub fn bounded(text: &str) -> String {
    line(text, 1000)
}

/// A line of goldgate with what is between two backticks as code. All of it is escaped, whoever wrote the backticks.
pub fn with_commands(text: &str) -> Markup {
    let text = line(text, text.len());
    let spans = code_spans(&text);
    let starts = iter::once(0).chain(spans.iter().map(|span| span.end));
    html! {
        @for (start, span) in starts.zip(&spans) {
            (text[start..span.start])
            code { (text[span.start + 1..span.end - 1]) }
        }
        (text[spans.last().map_or(0, |span| span.end)..])
    }
}

pub fn agent_name(suite: &SuiteReport, agent: &AgentReport) -> String {
    format!("{}/{}", suite.id, agent.agent)
}

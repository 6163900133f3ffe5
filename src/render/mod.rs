//! The report as text, a file for each format. A renderer decides nothing, computes nothing and prints nothing.
//!
//! `broken` lists what broke, case by case, for all of them; `headline` is the one sentence; `words` and `number` make words and
//! numbers alike everywhere.

pub(crate) mod annotations;
mod broken;
mod case_sentence;
mod certainty;
mod cli_error;
mod evidence;
mod exhibit;
pub(crate) mod explain;
pub(crate) mod explained_code;
mod headline;
pub(crate) mod history;
pub(crate) mod html;
pub(crate) mod html_history;
mod judges;
pub(crate) mod junit;
pub(crate) mod label;
pub mod markdown;
pub(crate) mod number;
pub(crate) mod plain;
pub(crate) mod review;
mod rules;
mod sarif;
mod screen;
pub(crate) mod sensitivity;
pub(crate) mod side_by_side;
mod since_base;
mod sparkline;
pub(crate) mod terminal;
pub(crate) mod words;

pub(crate) use cli_error::CliError;
pub(crate) use number::delta;
pub(crate) use plain::{inline, line};
pub use screen::{Detail, Screen, Style};
pub(crate) use words::plural;

#[cfg(test)]
mod tests;

use std::io;
use std::io::Write;

use crate::format::report_v1;
use crate::model::Report;

/// A format of the report.
#[derive(Debug)]
pub struct Renderer {
    /// The value of `--format`.
    pub name: &'static str,
    /// What it is for, in the help of `--format`.
    pub about: &'static str,
    /// The file in the folder of `--out`; `None` for the terminal.
    pub file: Option<&'static str>,
    /// Renders a report.
    pub render: Rendering,
}

/// How a report is rendered.
#[derive(Debug, Clone, Copy)]
pub enum Rendering {
    /// As a text for people or other programs.
    Text(fn(&Report, Screen) -> String),
    /// As a file that goldgate reads again; written piece by piece, because it may be large.
    Own(fn(&Report, &mut dyn Write) -> io::Result<()>),
}

impl Renderer {
    /// The report as one text.
    pub fn to_text(&self, report: &Report, screen: Screen) -> String {
        match self.render {
            Rendering::Text(render) => render(report, screen),
            Rendering::Own(_) => report_v1::written(report),
        }
    }
}

/// The file of the HTML page in the folder of `--out`.
pub const HTML_FILE: &str = "report.html";

/// The file of the verdicts in the folder of `--out`.
pub const SUMMARY: &str = "summary.json";

/// The file of the run's numbers in the folder of `--out`.
pub const PROPOSED_BASELINE: &str = "proposed-baseline.json";

/// The format of a run without `--format`.
pub const TABLE: Renderer = Renderer {
    name: "table",
    about: "Text for a terminal",
    file: None,
    render: Rendering::Text(terminal::terminal),
};

/// All formats: this table is `--format`, the files of `--out`, and the help of both.
pub const RENDERERS: &[Renderer] = &[
    TABLE,
    Renderer {
        name: "json",
        about: "Only the report, on standard output",
        file: Some("report.json"),
        render: Rendering::Own(report_v1::write_report),
    },
    Renderer {
        name: "markdown",
        about: "Text of the comment",
        file: Some("report.md"),
        render: Rendering::Text(|report, _| {
            let links = markdown::Links {
                acceptance: markdown::Acceptance::PushedFirst,
                ..markdown::Links::default()
            };
            markdown::summary(report, &links)
        }),
    },
    Renderer {
        name: "junit",
        about: "JUnit XML",
        file: Some("junit.xml"),
        render: Rendering::Text(|report, _| junit::junit(report)),
    },
    Renderer {
        name: "sarif",
        about: "SARIF for code scanning: what failed, at the lines of the golden files",
        file: Some("report.sarif"),
        render: Rendering::Text(|report, _| sarif::sarif(report)),
    },
    Renderer {
        name: "html",
        about: "HTML page",
        file: Some(HTML_FILE),
        render: Rendering::Text(|report, _| html::html(report)),
    },
];

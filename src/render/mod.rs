//! The report as text, one file per format. A renderer decides nothing, computes nothing and prints nothing.

pub mod annotations;
pub mod calibration;
mod certainty;
mod evidence;
mod exhibit;
pub mod explain;
pub mod explained_code;
mod headline;
pub mod html;
mod judges;
pub mod junit;
pub mod label;
pub mod markdown;
pub mod number;
pub mod operating;
pub mod plain;
pub mod side_by_side;
pub mod terminal;
pub mod words;

pub use number::delta;
pub use plain::{inline, line, name};
pub use words::plural;

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
    pub render: fn(&Report, Screen) -> String,
}

/// The file of the verdicts in the folder of `--out`.
pub const SUMMARY: &str = "summary.json";

/// The file of the run's numbers in the folder of `--out`.
pub const PROPOSED_BASELINE: &str = "proposed-baseline.json";

/// The terminal that a report is printed on.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    /// Whether it shows colours.
    pub style: terminal::Style,
    /// Its width in characters.
    pub columns: u16,
}

/// The format of a run without `--format`.
pub const TABLE: Renderer = Renderer {
    name: "table",
    about: "Table for a terminal",
    file: None,
    render: |report, screen| terminal::terminal(report, screen.style, screen.columns),
};

/// All formats: this table is `--format`, the files of `--out`, and the help of both.
pub const RENDERERS: &[Renderer] = &[
    TABLE,
    Renderer {
        name: "json",
        about: "Only the report, on standard output",
        file: Some("report.json"),
        render: |report, _| report_v1::written(report),
    },
    Renderer {
        name: "markdown",
        about: "Text of the comment",
        file: Some("report.md"),
        render: |report, _| markdown::summary(report, &markdown::Links::default()),
    },
    Renderer { name: "junit", about: "JUnit XML", file: Some("junit.xml"), render: |report, _| junit::junit(report) },
    Renderer { name: "html", about: "HTML page", file: Some("report.html"), render: |report, _| html::html(report) },
];

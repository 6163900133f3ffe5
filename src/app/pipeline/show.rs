//! Renders a report in the requested format, for the terminal or as files.

use super::legacy_output;
use crate::app::cli::FormatArg;
use crate::format::{baseline_v1, report_v1};
use crate::model::{Baseline, RepoPath, Report};
use crate::render::terminal::Style;
use crate::render::{html, junit, markdown, terminal};
use crate::world::{Disk, World};

/// Renders the report as text.
pub fn render_report(report: &Report, format: FormatArg, world: &World) -> String {
    let style = if world.shows_colours() { Style::Coloured } else { Style::Plain };
    match format {
        FormatArg::Table => terminal::terminal(report, style, world.columns()),
        FormatArg::Json => report_v1::written(report),
        FormatArg::Markdown => markdown::summary(report, &markdown::Links::default()),
        FormatArg::Junit => junit::junit(report),
        FormatArg::Html => html::html(report),
    }
}

/// Writes the report in all formats, the proposed baseline, and the additional files of the kinds.
///
/// # Errors
/// A file that could not be written.
pub fn write_all(folder: &Disk, report: &Report, proposed: &Baseline) -> anyhow::Result<()> {
    let files = [
        ("report.json", report_v1::written(report)),
        ("summary.json", report_v1::summary(report)),
        ("junit.xml", junit::junit(report)),
        ("report.md", markdown::summary(report, &markdown::Links::default())),
        ("report.html", html::html(report)),
        ("proposed-baseline.json", baseline_v1::written(proposed)),
    ];
    for (name, text) in files {
        folder.replace(&RepoPath::root().child(name), text.as_bytes())?;
    }
    legacy_output::write(folder, report)
}

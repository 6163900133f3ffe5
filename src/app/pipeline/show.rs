//! Renders a report in the requested format, for the terminal or as files.

use super::legacy_output;
use crate::format::{baseline_v1, report_v1};
use crate::model::{Baseline, RepoPath, Report};
use crate::render::terminal::Style;
use crate::render::{PROPOSED_BASELINE, RENDERERS, Renderer, SUMMARY, Screen};
use crate::world::{Disk, World};

fn screen(world: &World) -> Screen {
    let style = if world.shows_colours() { Style::Coloured } else { Style::Plain };
    Screen { style, columns: world.columns() }
}

/// Renders the report as text.
pub fn render_report(report: &Report, format: &Renderer, world: &World) -> String {
    (format.render)(report, screen(world))
}

/// Writes the report in all formats, the proposed baseline, and the additional files of the kinds.
///
/// # Errors
/// A file that could not be written.
pub fn write_all(folder: &Disk, report: &Report, proposed: &Baseline) -> anyhow::Result<()> {
    // A file is the same on every screen.
    let screen = Screen { style: Style::Plain, columns: u16::MAX };
    let write = |name: &str, text: String| folder.replace(&RepoPath::root().child(name), text.as_bytes());
    for format in RENDERERS {
        if let Some(name) = format.file {
            write(name, (format.render)(report, screen))?;
        }
    }
    write(SUMMARY, report_v1::summary(report))?;
    write(PROPOSED_BASELINE, baseline_v1::written(proposed))?;
    legacy_output::write(folder, report)
}

//! Renders a report in the requested format, for the terminal or as files.

use super::legacy_output;
use crate::format::{baseline_v1, report_v1};
use crate::model::{Baseline, InputLimit, RepoPath, Report};
use crate::render::html::html;
use crate::render::{
    Detail, HTML_FILE, PROPOSED_BASELINE, RENDERERS, Renderer, Rendering, SUMMARY, Screen, Style,
};
use crate::world::{Disk, World, open_in_browser};

pub fn render_report(report: &Report, format: &Renderer, detail: Detail, world: &World) -> String {
    let style = if world.shows_colours() {
        Style::Coloured
    } else {
        Style::Plain
    };
    format.to_text(
        report,
        Screen {
            style,
            columns: world.columns(),
            detail,
        },
    )
}

/// Writes the HTML report into a folder and opens it in a browser. Without a browser the path is printed.
pub fn open_report(folder: &Disk, report: &Report, world: &World) -> anyhow::Result<()> {
    let page = RepoPath::root().child(HTML_FILE);
    folder.replace(&page, html(report).as_bytes())?;
    let path = folder.place().join(HTML_FILE);
    if let Err(error) = open_in_browser(&path) {
        world.tell(&format!("{error:#}"));
    }
    Ok(())
}

/// Writes the report in all formats, the proposed baseline, and the additional files of the kinds.
pub fn write_all(folder: &Disk, report: &Report, proposed: &Baseline) -> anyhow::Result<()> {
    // A file is the same on every screen.
    let screen = Screen {
        style: Style::Plain,
        columns: u16::MAX,
        detail: Detail::Everything,
    };
    for format in RENDERERS {
        match (format.file, format.render) {
            (None, _) => {}
            (Some(name), Rendering::Text(render)) => {
                write_text(folder, name, &render(report, screen))?
            }
            (Some(name), Rendering::Own(render)) => {
                let file = RepoPath::root().child(name);
                folder.replace_own(&file, &InputLimit::REPORT, &|out| render(report, out))?;
            }
        }
    }
    write_text(folder, SUMMARY, &report_v1::summary(report))?;
    let file = RepoPath::root().child(PROPOSED_BASELINE);
    folder.replace_own(&file, &InputLimit::BASELINE, &|out| {
        baseline_v1::write_baseline(proposed, out)
    })?;
    legacy_output::write(folder, report)
}

fn write_text(folder: &Disk, name: &str, text: &str) -> anyhow::Result<()> {
    folder.replace(&RepoPath::root().child(name), text.as_bytes())
}

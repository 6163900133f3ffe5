//! `goldgate report`: renders a stored report.

use std::path::Path;

use crate::app::cli::ReportArgs;
use crate::format::report_v1;
use crate::model::InputLimit;
use crate::render::CliError;
use crate::report;
use crate::workspace::show;
use crate::world::{Disk, World};

/// Renders `DIR/report.json`. The exit code does not depend on the stored verdict.
///
/// # Errors
/// A report that cannot be read, or a page that cannot be written.
pub fn report(args: &ReportArgs, world: &World) -> Result<u8, CliError> {
    let path = Path::new(&args.folder).join("report.json");
    let (disk, file) = Disk::of_file(&path.to_string_lossy())?;
    let mut report = report_v1::read_report(&disk.own_text(&file, &InputLimit::REPORT)?)?;
    // Who wrote it did not know the secrets of this machine.
    report::redact(&mut report, &world.redactor());
    world.say(&show::render_report(
        &report,
        args.view.format,
        args.view.detail(),
        world,
    ));
    if args.open {
        show::open_report(&Disk::create(Path::new(&args.folder))?, &report, world)?;
    }
    Ok(0)
}

//! `goldgate.report/1`: the report as a file, written and read again.

mod evidence;
mod form;
mod judges;
mod reading;
mod writing;

pub use form::ReportFile;
pub use reading::read_report;
pub use writing::{summary, written};

/// The name of this form.
const SCHEMA: &str = "goldgate.report/1";

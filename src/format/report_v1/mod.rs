//! Reads and writes `goldgate.report/1`.

mod evidence;
mod form;
mod judges;
mod reading;
mod writing;

pub use form::ReportFile;
pub use reading::read_report;
pub use writing::{summary, written};

/// The value of `schema`.
const SCHEMA: &str = "goldgate.report/1";

//! The report as text, one file per format. A renderer decides nothing, computes nothing and prints nothing.

pub mod annotations;
pub mod calibration;
mod certainty;
mod evidence;
mod exhibit;
pub mod explain;
mod headline;
pub mod html;
mod judges;
pub mod junit;
pub mod label;
pub mod markdown;
pub mod number;
pub mod plain;
pub mod side_by_side;
pub mod terminal;
pub mod words;

pub use number::delta;
pub use plain::{inline, line, name};
pub use words::plural;

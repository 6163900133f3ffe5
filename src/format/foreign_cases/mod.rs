//! Reads cases of other tools: the tests of promptfoo, questions with their answers, and the evaluation cases of Google's ADK.

mod adk;
mod assertion;
mod foreign_case;
mod goldens;
mod promptfoo;
mod promptfoo_files;
mod promptfoo_rows;

pub use self::adk::adk_cases;
pub(crate) use self::foreign_case::ForeignCase;
pub use self::goldens::golden_cases;
pub use self::promptfoo::promptfoo_cases;

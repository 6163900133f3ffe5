//! Reads cases of other tools: the tests of promptfoo, the samples of OpenAI's evals, and the evaluation cases of Google's ADK.

mod adk;
mod assertion;
mod foreign_case;
mod openai_evals;
mod promptfoo;
mod promptfoo_files;
mod promptfoo_rows;

pub use self::adk::adk_cases;
pub(crate) use self::foreign_case::ForeignCase;
pub use self::openai_evals::openai_evals_cases;
pub use self::promptfoo::promptfoo_cases;

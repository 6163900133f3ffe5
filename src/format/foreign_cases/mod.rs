//! Reads cases of other tools: the tests of promptfoo, and the samples of OpenAI's evals.

mod assertion;
mod foreign_case;
mod openai_evals;
mod promptfoo;
mod promptfoo_files;
mod promptfoo_rows;

pub(crate) use self::foreign_case::ForeignCase;
pub use self::openai_evals::openai_evals_cases;
pub use self::promptfoo::promptfoo_cases;

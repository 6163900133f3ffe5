//! What a case of any kind can say about an answer: the key `answer`, its checks and their metrics.

mod before_removal;
pub mod case_checks;
pub mod checks;
pub mod condition;
pub mod expression;
pub mod form;
pub mod grader;
pub mod metrics;
pub mod phrase;
pub mod reader;
pub mod text;

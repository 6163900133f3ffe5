//! Text as people and models write it: comparison, terms, facts, differences, secrets. Pure, linear, never panics.
//!
//! Nothing here knows a file, a format or a suite.

mod changed_ranges;
mod commit;
mod config_option;
mod confusable;
mod facts;
mod key_formats;
mod line;
mod line_diff;
mod listing;
mod matching;
mod names;
mod norm;
mod paragraphs;
mod pattern;
mod percent;
mod personal;
mod reasoning;
mod returns;
mod secrets;
mod similarity;
mod word_diff;

pub(crate) use changed_ranges::{ChangedRange, changed_ranges};
pub(crate) use commit::{is_commit, short_commit};
pub(crate) use config_option::{as_argument, config_option};
pub(crate) use facts::{Decimal, Fact, FactSort, FactWeight, StatedFact, facts};
pub(crate) use key_formats::{may_have_had, may_match, possible_originals};
pub(crate) use line::{clauses, code_spans, first_clause, line, line_with_end, visible};
pub(crate) use line_diff::{ChangedLine, changed_lines};
pub(crate) use listing::{counted, first_of, named, named_with};
pub(crate) use matching::contains;
pub use matching::{Category, Keyword, same_category, token_overlap};
pub(crate) use names::{Folded, Hit, NameSet, is_whole};
pub use norm::norm;
pub(crate) use norm::norm_cased;
pub(crate) use paragraphs::paragraphs;
pub(crate) use pattern::pattern;
pub(crate) use percent::{decoded, encoded_path, encoded_segment};
pub(crate) use personal::{PersonalData, PersonalSort, personal_data};
pub(crate) use reasoning::{answer_start, without_reasoning};
pub(crate) use returns::{with_returns, without_returns};
pub use secrets::Redactor;
pub(crate) use similarity::{levenshtein, rouge_l, token_f1};
pub(crate) use word_diff::{WordPiece, changed_part, changed_words};

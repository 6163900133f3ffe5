//! Text as people and models write it: comparison and recovery. Pure, linear, never panics.

mod changed_ranges;
mod commit;
mod confusable;
mod line;
mod line_diff;
mod listing;
mod matching;
mod names;
mod norm;
mod paragraphs;
mod pattern;
mod percent;
mod reasoning;
pub mod recover;
mod returns;
pub mod rtf;
mod secrets;
mod similarity;
mod word_diff;

pub use changed_ranges::{ChangedRange, changed_ranges};
pub use commit::{is_commit, short_commit};
pub use line::{line, line_with_end};
pub use line_diff::{ChangedLine, changed_lines};
pub use listing::{counted, first_of, named, named_with};
pub use matching::{Keyword, contains, same_category, token_overlap};
pub use names::{Folded, Hit, NameSet, is_whole};
pub use norm::{norm, norm_cased};
pub use paragraphs::paragraphs;
pub use pattern::pattern;
pub use percent::{decoded, encoded_path, encoded_segment};
pub use reasoning::answer_of;
pub use returns::without_returns;
pub use secrets::{may_match, without_keys};
pub use similarity::{levenshtein, rouge_l, token_f1};
pub use word_diff::{WordPiece, changed_part, changed_words};

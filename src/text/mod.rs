//! Text as people and models write it: comparing and recovering. Pure, linear, never a panic.

mod confusable;
mod line;
mod matching;
mod names;
mod norm;
mod pattern;
pub mod recover;
pub mod rtf;

pub use line::line;
pub use matching::Keyword;
pub use matching::contains;
pub use matching::same_category;
pub use matching::token_overlap;
pub use names::Folded;
pub use names::Hit;
pub use names::Names;
pub use names::is_whole;
pub use norm::norm;
pub use pattern::pattern;

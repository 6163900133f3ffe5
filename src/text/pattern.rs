//! The built-in regular expressions.

use regex::Regex;

/// Compiles a built-in pattern. Panics on an invalid one, which the tests detect because they use every pattern. Patterns written
/// by users are compiled elsewhere and rejected with their position.
pub fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("built-in patterns are constants that the tests compile")
}

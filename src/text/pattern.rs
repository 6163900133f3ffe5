//! The patterns that this program brings along.

use regex::Regex;

/// A pattern that is written in this program. One that is none cannot get past the tests, each of which compiles those that it meets;
/// patterns that people write are read where they stand, and refused with their place.
pub fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern of this program is a constant, and the tests compile each")
}

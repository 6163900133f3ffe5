//! Lists of names in a sentence.

/// The number of names in one line.
const NAMED: usize = 8;

/// The number of names where a command follows.
const FIRST: usize = 3;

/// Names with commas; those beyond the limit are counted.
pub fn named<S: AsRef<str>>(names: &[S]) -> String {
    named_with(names, ", ")
}

/// As [`named`], with this text between the names.
pub fn named_with<S: AsRef<str>>(names: &[S], between: &str) -> String {
    let mut first: Vec<&str> = names.iter().take(NAMED).map(AsRef::as_ref).collect();
    let more = format!("… and {} more", names.len().saturating_sub(NAMED));
    if names.len() > NAMED {
        first.push(&more);
    }
    first.join(between)
}

/// The first three names; the rest is counted.
pub fn first_of<S: AsRef<str>>(names: &[S]) -> String {
    let first: Vec<&str> = names.iter().take(FIRST).map(AsRef::as_ref).collect();
    match names.len().saturating_sub(FIRST) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// A count with its noun, and the names: `2 cases of `s` removed: a, b`.
pub fn counted<S: AsRef<str>>(
    names: &[S],
    singular: &str,
    plural: &str,
    predicate: &str,
) -> String {
    let noun = if names.len() == 1 { singular } else { plural };
    format!("{} {noun} {predicate}: {}", names.len(), named(names))
}

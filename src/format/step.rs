//! A step of a path into a document, for JSON and YAML.

/// One step into a document: a key or a list index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    Key(&'a str),
    /// The element at this index, from 0.
    At(usize),
}

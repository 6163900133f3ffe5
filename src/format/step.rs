//! A step into a document, whatever it is written in.

/// One step into a document: a key of a mapping or a place of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// The value of this key.
    Key(&'a str),
    /// The element at this place, from 0.
    At(usize),
}

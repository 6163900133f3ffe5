//! What to recover.

/// What to recover: the list of the suite kind.
#[derive(Debug, Clone, Copy)]
pub struct Anchor<'a> {
    /// The key of the list, such as `findings`.
    pub list: &'a str,
    /// A text field that each object of the list has, such as `category`.
    pub field: &'a str,
}

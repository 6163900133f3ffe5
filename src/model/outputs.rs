//! The outputs of a run.

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// The outputs of a run, as the text of a JSON value, with what a kind read of them: two judgements of a run read them once.
#[derive(Clone)]
pub struct Outputs(Arc<SharedOutputs>);

struct SharedOutputs {
    text: Box<str>,
    read: OnceLock<Arc<dyn Any + Send + Sync>>,
}

impl Outputs {
    /// What `read` makes of the text. It depends on the text alone, and each type has one way to be read.
    pub fn read_once<T: Any + Send + Sync>(&self, read: impl Fn(&str) -> T) -> Arc<T> {
        let known = self.0.read.get_or_init(|| Arc::new(read(self)));
        // Another kind may have read the same run.
        known
            .clone()
            .downcast()
            .unwrap_or_else(|_| Arc::new(read(self)))
    }
}

impl<T: Into<Box<str>>> From<T> for Outputs {
    fn from(text: T) -> Self {
        Self(Arc::new(SharedOutputs {
            text: text.into(),
            read: OnceLock::new(),
        }))
    }
}

impl Deref for Outputs {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0.text
    }
}

impl PartialEq for Outputs {
    fn eq(&self, other: &Self) -> bool {
        self.0.text == other.0.text
    }
}

impl fmt::Debug for Outputs {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.text.fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::Outputs;

    #[test]
    fn outputs_are_read_once_also_from_a_copy_and_by_each_type() {
        let reads = Cell::new(0);
        let length = |text: &str| {
            reads.set(reads.get() + 1);
            text.len()
        };
        let outputs = Outputs::from("{}");
        let copy = outputs.clone();
        assert_eq!(
            (
                *outputs.read_once(length),
                *copy.read_once(length),
                reads.get()
            ),
            (2, 2, 1)
        );
        assert_eq!(*copy.read_once(|text: &str| text.to_owned()), "{}");
        assert_eq!(*Outputs::from("[1]").read_once(length), 3);
    }
}

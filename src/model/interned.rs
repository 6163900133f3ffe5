//! Texts of configs that live as long as the process, so that a metric of a config is used like one of a kind.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

static TEXTS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// The text, kept until the process ends. A run reads few configs, so equal texts are kept once and no memory is given back.
pub fn interned(text: &str) -> &'static str {
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = texts.get(text) {
        return known;
    }
    let kept: &'static str = Box::leak(Box::from(text));
    texts.insert(kept);
    kept
}

#[cfg(test)]
mod tests {
    use super::interned;

    #[test]
    fn equal_texts_are_kept_once() {
        let other: String = ["over", "lap"].concat();
        let one = interned("overlap");
        assert_eq!((one, interned(&other).as_ptr()), ("overlap", one.as_ptr()));
    }
}

//! The keys of JSON objects.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::value::RawValue;
use smallvec::SmallVec;

const FEW: usize = 12;

pub(super) fn decode_key(key: &RawValue) -> Option<Cow<'_, str>> {
    let written = key.get();
    if written.contains('\\') {
        return serde_json::from_str(written).ok().map(Cow::Owned);
    }
    written
        .strip_prefix('"')?
        .strip_suffix('"')
        .map(Cow::Borrowed)
}

/// The keys of an object; linear search, because most objects have few keys.
#[derive(Default)]
pub(super) struct KeyIndex<'a> {
    few: SmallVec<[Option<Cow<'a, str>>; FEW]>,
    many: HashSet<Option<Cow<'a, str>>>,
}

impl<'a> KeyIndex<'a> {
    /// Adds the key; returns whether it is new.
    pub(super) fn insert(&mut self, key: Option<Cow<'a, str>>) -> bool {
        if self.few.contains(&key) {
            return false;
        }
        if self.few.len() < FEW {
            self.few.push(key);
            return true;
        }
        self.many.insert(key)
    }
}

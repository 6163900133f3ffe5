//! Reads a value that is written as a list or as an object.

use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

struct ListOrObject<L, O, T> {
    expected: &'static str,
    of_list: fn(L) -> T,
    of_object: fn(O) -> T,
}

impl<'de, L: Deserialize<'de>, O: Deserialize<'de>, T> Visitor<'de> for ListOrObject<L, O, T> {
    type Value = T;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.expected)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        O::deserialize(MapAccessDeserializer::new(map)).map(self.of_object)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<T, A::Error> {
        L::deserialize(SeqAccessDeserializer::new(seq)).map(self.of_list)
    }
}

/// Reads a list or an object. An untagged enum of serde would lose the line and column of an error inside.
///
/// # Errors
/// The value is neither, which is reported with what is `expected`, or the error of what is inside.
pub fn list_or_object<'de, D: Deserializer<'de>, L: Deserialize<'de>, O: Deserialize<'de>, T>(
    reader: D,
    expected: &'static str,
    of_list: fn(L) -> T,
    of_object: fn(O) -> T,
) -> Result<T, D::Error> {
    reader.deserialize_any(ListOrObject {
        expected,
        of_list,
        of_object,
    })
}

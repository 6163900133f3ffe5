//! Refuses JSON whose objects have a key twice.

use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::json_keys::{KeyIndex, decode_key};
use super::raw_json::offset_of;
use crate::diag::{Code, Diagnostic};
use crate::files::SourceText;

/// Refuses a key that occurs twice in one object: a map would keep only the last one.
///
/// # Errors
/// The position of the second key.
pub(super) fn every_key_once(source: &SourceText) -> Result<(), Diagnostic> {
    every_key_once_in(source, &source.text)
}

/// Refuses a key that occurs twice in one object of a part of the text.
///
/// # Errors
/// The position of the second key.
pub(super) fn every_key_once_in<'a>(
    source: &'a SourceText,
    part: &'a str,
) -> Result<(), Diagnostic> {
    let mut twice = None;
    let mut reader = serde_json::Deserializer::from_str(part);
    // Invalid JSON is reported by the typed parse.
    let _ = OnceSeed { twice: &mut twice }.deserialize(&mut reader);
    let Some(key) = twice else { return Ok(()) };
    let description = format!("duplicate key {}", key.get());
    Err(source.problem(
        offset_of(source, key),
        Code::DUPLICATE_KEY,
        description,
        "keep one of them",
    ))
}

pub(super) struct OnceSeed<'s, 'de> {
    twice: &'s mut Option<&'de RawValue>,
}

impl<'de> DeserializeSeed<'de> for OnceSeed<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for OnceSeed<'_, 'de> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("any value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list
            .next_element_seed(OnceSeed { twice: self.twice })?
            .is_some()
        {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        let mut words = KeyIndex::default();
        while let Some(key) = object.next_key::<&'de RawValue>()? {
            if !words.insert(decode_key(key)) && self.twice.is_none() {
                *self.twice = Some(key);
            }
            object.next_value_seed(OnceSeed { twice: self.twice })?;
        }
        Ok(())
    }
}

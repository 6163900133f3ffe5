//! Reads JSON written by agents: a part of an unexpected type is reported by type instead of causing an error.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// A part of an agent's output.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Lenient<T> {
    /// The expected type.
    Given(T),
    /// Missing or `null`.
    #[default]
    Absent,
    /// An unexpected type, by its name.
    Other(&'static str),
}

/// A text, borrowed if it has no escapes.
pub type Text<'a> = Cow<'a, str>;

impl<T> Lenient<T> {
    /// Whether it is missing or `null`.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// This part, or `other` if it is missing.
    pub fn or<'s>(&'s self, other: &'s Self) -> &'s Self {
        if self.is_absent() { other } else { self }
    }
}

impl<T> Lenient<Vec<T>> {
    /// The list; empty if missing.
    pub fn list(&self) -> &[T] {
        match self {
            Self::Given(list) => list,
            Self::Absent | Self::Other(_) => &[],
        }
    }

    /// The same as [`Lenient::list`], by value.
    pub fn into_list(self) -> Vec<T> {
        match self {
            Self::Given(list) => list,
            Self::Absent | Self::Other(_) => Vec::new(),
        }
    }
}

impl<T> Lenient<Object<T>> {
    /// The fields of the object.
    pub fn fields(&self) -> Result<&T, &'static str> {
        match self {
            Self::Given(Object(fields)) => Ok(fields),
            Self::Absent => Err("null"),
            Self::Other(form) => Err(form),
        }
    }
}

impl Lenient<Text<'_>> {
    /// The text as written; empty if missing.
    pub fn text(&self) -> &str {
        match self {
            Self::Given(text) => text,
            Self::Absent | Self::Other(_) => "",
        }
    }
}

/// Reads an object as `T`. Of duplicate keys the last one counts, as in other JSON parsers.
pub fn object<'a, T: Deserialize<'a> + Default>(json: &'a str) -> T {
    serde_json::from_str(json).unwrap_or_else(|_| {
        let whole = any(json).unwrap_or_default();
        T::deserialize(whole).unwrap_or_default()
    })
}

pub use import::loose::{any, embedded, whole};

/// The JSON types from which a value is read; other types are reported by name.
pub trait Shape<'a>: Sized {
    /// Reads it from a text.
    fn of_text(_text: Text<'a>) -> Lenient<Self> {
        Lenient::Other("a text")
    }

    /// Reads it from a list.
    fn of_list<A: SeqAccess<'a>>(mut list: A) -> Result<Lenient<Self>, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Lenient::Other("a list"))
    }

    /// Reads it from an object.
    fn of_object<A: MapAccess<'a>>(mut object: A) -> Result<Lenient<Self>, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Lenient::Other("an object"))
    }
}

impl<'de: 'a, 'a> Shape<'de> for Text<'a> {
    fn of_text(text: Text<'de>) -> Lenient<Self> {
        Lenient::Given(text)
    }
}

impl<'a, T: Deserialize<'a>> Shape<'a> for Vec<T> {
    fn of_list<A: SeqAccess<'a>>(mut list: A) -> Result<Lenient<Self>, A::Error> {
        let mut all = Self::new();
        while let Some(item) = list.next_element()? {
            all.push(item);
        }
        Ok(Lenient::Given(all))
    }
}

/// The fields of an object; every other type is unexpected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object<T>(pub T);

impl<'a, T: Deserialize<'a>> Shape<'a> for Object<T> {
    fn of_object<A: MapAccess<'a>>(object: A) -> Result<Lenient<Self>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(object))
            .map(|fields| Lenient::Given(Self(fields)))
    }
}

/// Reads the fields of an object, for values that may be an object or another type.
pub fn fields<'a, T: Deserialize<'a>, A: MapAccess<'a>>(object: A) -> Result<Lenient<T>, A::Error> {
    T::deserialize(MapAccessDeserializer::new(object)).map(Lenient::Given)
}

impl<'a, T: Shape<'a>> Deserialize<'a> for Lenient<T> {
    fn deserialize<D: Deserializer<'a>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_any(Forms(PhantomData))
    }
}

struct Forms<T>(PhantomData<T>);

impl<'a, T: Shape<'a>> Visitor<'a> for Forms<T> {
    type Value = Lenient<T>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("any value")
    }

    fn visit_unit<E: Error>(self) -> Result<Lenient<T>, E> {
        Ok(Lenient::Absent)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Lenient<T>, E> {
        Ok(Lenient::Other("a truth value"))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Lenient<T>, E> {
        Ok(Lenient::Other("a number"))
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Lenient<T>, E> {
        Ok(Lenient::Other("a number"))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Lenient<T>, E> {
        Ok(Lenient::Other("a number"))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Lenient<T>, E> {
        Ok(T::of_text(Cow::Owned(text.to_owned())))
    }

    fn visit_borrowed_str<E: Error>(self, text: &'a str) -> Result<Lenient<T>, E> {
        Ok(T::of_text(Cow::Borrowed(text)))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Lenient<T>, E> {
        Ok(T::of_text(Cow::Owned(text)))
    }

    fn visit_seq<A: SeqAccess<'a>>(self, list: A) -> Result<Lenient<T>, A::Error> {
        T::of_list(list)
    }

    fn visit_map<A: MapAccess<'a>>(self, object: A) -> Result<Lenient<T>, A::Error> {
        T::of_object(object)
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::{Lenient, Object, Text, any, object, whole};

    #[derive(Deserialize, Debug, Default, PartialEq)]
    struct LenientOuter<'a> {
        #[serde(borrow, default)]
        list: Lenient<Vec<Lenient<Object<LenientInner<'a>>>>>,
    }

    #[derive(Deserialize, Debug, PartialEq)]
    struct LenientInner<'a> {
        #[serde(borrow, default)]
        name: Lenient<Text<'a>>,
    }

    #[test]
    fn an_unreadable_part_hides_no_other() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        for (part, expected) in [
            (r#""a\ud83d""#, json!("a\u{fffd}")),
            ("1e999", json!("1e999")),
            (r#"{"b": [1, 1e999]}"#, json!({ "b": [1, "1e999"] })),
        ] {
            let text = format!(r#"{{"notes": {part}, "outputs": {{"c": 2}}}}"#);
            assert_eq!(
                whole(&text),
                Some(json!({ "notes": expected, "outputs": { "c": 2 } })),
                "{text}"
            );
        }
        assert_eq!(
            whole(&format!(r#"{{"notes": {deep}, "outputs": 2}}"#)).unwrap()["outputs"],
            2
        );
        assert!(whole("{").is_none() && whole("").is_none());
    }

    #[test]
    fn every_json_type_is_distinguished() {
        let json = r#"{"list": ["t", 1, -1, 1.5, true, null, [[1]], {"name": {"a": [2]}}, {"name": "a\tb", "more": {}}, {}]}"#;
        let list = object::<LenientOuter<'_>>(json).list;
        let named = |name| Lenient::Given(Object(LenientInner { name }));
        let expected = [
            Lenient::Other("a text"),
            Lenient::Other("a number"),
            Lenient::Other("a number"),
            Lenient::Other("a number"),
            Lenient::Other("a truth value"),
            Lenient::Absent,
            Lenient::Other("a list"),
            named(Lenient::Other("an object")),
            named(Lenient::Given("a\tb".into())),
            named(Lenient::Absent),
        ];
        assert_eq!(list, Lenient::Given(Vec::from(expected)));
        assert_eq!(
            object::<LenientOuter<'_>>(r#"{"list": {}}"#).list,
            Lenient::Other("an object")
        );
    }

    #[test]
    fn half_a_surrogate_pair_changes_nothing_else() {
        let read: LenientOuter<'_> =
            object(r#"{"x": "\ud83d", "list": [{"name": "a\ud83d b\ud83d\ude00\\\udc00"}]}"#);
        let name = Lenient::Given("a\u{fffd} b\u{1f600}\\\u{fffd}".into());
        assert_eq!(
            read.list,
            Lenient::Given(vec![Lenient::Given(Object(LenientInner { name }))])
        );
        assert!(any("{").is_err() && any(r#""\ud8""#).is_err());
    }

    #[test]
    fn the_last_of_duplicate_keys_counts() {
        let read: LenientOuter<'_> = object(r#"{"list": 1, "list": [{"name": "a", "name": "b"}]}"#);
        assert_eq!(
            read.list,
            Lenient::Given(vec![Lenient::Given(Object(LenientInner {
                name: Lenient::Given("b".into())
            }))])
        );
        assert_eq!(object::<LenientOuter<'_>>("[]"), LenientOuter::default());
    }
}

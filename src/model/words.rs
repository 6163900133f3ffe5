//! Enums whose values have a word in files: the word is written once, next to its value.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserializer, Error, Visitor};

/// Defines an enum with a word for each value. The enum gets `ALL`, `as_str` and `of_word`, and is read and written as its word.
macro_rules! words {
    ($(#[$meta:meta])* $visibility:vis enum $name:ident {
        $($(#[$value_meta:meta])* $value:ident = $word:literal,)+
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $visibility enum $name {
            $($(#[$value_meta])* $value,)+
        }

        impl $name {
            /// All values in the order of their definition.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$value),+];

            /// The word in files.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$value => $word,)+
                }
            }
        }

        impl $crate::model::Word for $name {
            const WORDS: &'static [&'static str] = &[$($word),+];

            fn word(&self) -> &'static str {
                self.as_str()
            }

            fn of_word(word: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.as_str() == word)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::model::read_word(deserializer)
            }
        }

        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "enum": [$($word),+] })
            }
        }
    };
}

pub(crate) use words;

pub trait Word: Sized {
    /// All words.
    const WORDS: &'static [&'static str];

    fn word(&self) -> &'static str;

    /// The value of a word; `None` for an unknown word.
    fn of_word(word: &str) -> Option<Self>;
}

/// Reads a word.
///
/// # Errors
/// An unknown word, with the known ones.
pub fn read_word<'de, D: Deserializer<'de>, W: Word>(deserializer: D) -> Result<W, D::Error> {
    struct WordVisitor<W>(PhantomData<W>);

    impl<W: Word> Visitor<'_> for WordVisitor<W> {
        type Value = W;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(out, "one of {}", W::WORDS.join(", "))
        }

        fn visit_str<E: Error>(self, word: &str) -> Result<W, E> {
            W::of_word(word).ok_or_else(|| E::unknown_variant(word, W::WORDS))
        }
    }

    deserializer.deserialize_str(WordVisitor(PhantomData))
}

#[cfg(test)]
mod tests {
    use crate::model::{Tag, Word};

    #[test]
    fn a_value_is_read_by_its_word_and_another_word_is_refused() {
        for tag in Tag::ALL {
            let text = serde_json::to_string(&tag).unwrap();
            assert_eq!(
                (text.as_str(), Tag::of_word(tag.as_str())),
                (format!("\"{}\"", tag.as_str()).as_str(), Some(tag))
            );
            assert_eq!(serde_json::from_str::<Tag>(&text).unwrap(), tag);
        }
        let problem = serde_json::from_str::<Tag>("\"prompts\"")
            .unwrap_err()
            .to_string();
        assert!(
            problem.starts_with("unknown variant `prompts`, expected one of `prompt`, `tooling`"),
            "{problem}"
        );
        assert!(
            serde_json::from_str::<Tag>("3")
                .unwrap_err()
                .to_string()
                .contains("expected one of prompt, tooling")
        );
    }
}

//! How single fields of reports and baselines are written, where the file's form differs from the value's.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::words::Word;

/// Whether a count is zero; such a field is omitted.
pub fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// Whether a field is false; such a field is omitted.
pub fn is_false(value: &bool) -> bool {
    !value
}

/// A value that a file keeps under its name.
pub trait Named {
    fn name(&self) -> &str;

    fn with_name(self, name: String) -> Self;
}

/// Writes a list of named values as an object, sorted by name.
pub fn write_by_name<S: Serializer, T: Named + Serialize>(
    list: &[T],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(
        list.iter()
            .map(|value| (value.name(), value))
            .collect::<BTreeMap<_, _>>(),
    )
}

/// Reads a list of named values from an object, sorted by name.
pub fn read_by_name<'de, D: Deserializer<'de>, T: Named + Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let by_name = BTreeMap::<String, T>::deserialize(deserializer)?;
    Ok(by_name
        .into_iter()
        .map(|(name, value)| value.with_name(name))
        .collect())
}

/// Writes values by word, sorted by the word and not by the value.
pub fn by_word<S: Serializer, W: Word>(
    counts: &BTreeMap<W, u32>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(
        counts
            .iter()
            .map(|(word, count)| (word.word(), count))
            .collect::<BTreeMap<_, _>>(),
    )
}

/// Writes values by word, if there are any.
pub fn by_word_if_any<S: Serializer, W: Word>(
    counts: &Option<BTreeMap<W, u32>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match counts {
        Some(counts) => by_word(counts, serializer),
        None => serializer.serialize_none(),
    }
}

/// Reads values by word, without those of unknown words: a newer version may have added them.
pub fn known_words<'de, D: Deserializer<'de>, K: Deserialize<'de> + Ord, W: Word + Ord>(
    deserializer: D,
) -> Result<BTreeMap<K, W>, D::Error> {
    let by_key = BTreeMap::<K, String>::deserialize(deserializer)?;
    Ok(by_key
        .into_iter()
        .filter_map(|(key, word)| Some((key, W::of_word(&word)?)))
        .collect())
}

/// Reads counts by word, without those of unknown words.
pub fn known_counts<'de, D: Deserializer<'de>, W: Word + Ord>(
    deserializer: D,
) -> Result<BTreeMap<W, u32>, D::Error> {
    let counts = BTreeMap::<String, u32>::deserialize(deserializer)?;
    Ok(counts
        .into_iter()
        .filter_map(|(word, count)| Some((W::of_word(&word)?, count)))
        .collect())
}

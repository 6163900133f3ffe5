//! The formatting in effect at a position, resolved from the preceding control words.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::words::{BORDER, FormattingWord, WORDS, WordEffect};

/// Maximum number of tab stops; more than any writer sets.
const MOST_TABS: usize = 100;

/// Keys of groups and borders are above those of single words.
const GROUPS: u32 = 10_000;
/// A multiple of [`ATTRIBUTES`].
const BORDERS: u32 = 19_200;

/// Number of keys per border side; larger than the number of attributes.
const ATTRIBUTES: u32 = 64;

/// The formatting of one level (characters or a paragraph). Equal formatting is equal, regardless of the words and their order
/// that produced it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Props {
    /// Ascending by key; bounded by the number of words.
    set: Vec<(u32, i32)>,
    tabs: BTreeMap<i32, String>,
}

impl Props {
    /// Applies a word of the table; `font` is the default font.
    pub fn apply(&mut self, place: usize, word: FormattingWord, value: Option<i64>, font: i32) {
        let number = value.map(clamp);
        let key = key(place);
        match word.kind {
            WordEffect::Toggle if number == Some(0) => self.remove(key),
            WordEffect::Toggle => self.insert(key, 1),
            WordEffect::Keep => {
                let number = number.unwrap_or(if word.name == "hyphpar" { 1 } else { 0 });
                if (word.name == "f" && number == font) || (word.name == "hyphpar" && number != 0) {
                    self.remove(key);
                } else {
                    self.insert(key, number);
                }
            }
            WordEffect::Value(usual) => {
                match number.unwrap_or(if matches!(word.name, "up" | "dn") {
                    6
                } else {
                    usual
                }) {
                    0 => self.remove(key),
                    number if number == usual => self.remove(key),
                    number => self.insert(key, number),
                }
            }
            WordEffect::Choice(group) if number == Some(0) => {
                self.remove(GROUPS + u32::from(group))
            }
            WordEffect::Choice(group) => self.insert(GROUPS + u32::from(group), clamp_place(place)),
            WordEffect::Clear(group) => self.remove(GROUPS + u32::from(group)),
            WordEffect::Side => self.insert(key, 1),
        }
    }

    /// Sets an attribute of a border; `side` is the index of the side's word in the table.
    pub fn border(&mut self, side: usize, attribute: usize, value: Option<i64>) {
        self.insert(
            BORDERS + key(side) * ATTRIBUTES + key(attribute),
            value.map_or(1, clamp),
        );
    }

    /// Adds a tab stop with its position, kind and leader.
    pub fn tab(&mut self, place: i64, kind: &str) {
        if self.tabs.len() < MOST_TABS {
            self.tabs.insert(clamp(place), kind.to_owned());
        }
    }

    /// The value of a word of the table, if set.
    pub fn get(&self, place: usize) -> Option<i32> {
        let at = self
            .set
            .binary_search_by_key(&key(place), |entry| entry.0)
            .ok()?;
        self.set.get(at).map(|entry| entry.1)
    }

    fn insert(&mut self, key: u32, value: i32) {
        match self.set.binary_search_by_key(&key, |entry| entry.0) {
            Ok(at) => {
                if let Some(entry) = self.set.get_mut(at) {
                    entry.1 = value;
                }
            }
            Err(at) => self.set.insert(at, (key, value)),
        }
    }

    fn remove(&mut self, key: u32) {
        if let Ok(at) = self.set.binary_search_by_key(&key, |entry| entry.0) {
            self.set.remove(at);
        }
    }

    /// Equivalent control words.
    pub fn words(&self) -> String {
        let mut words = String::new();
        for (key, value) in &self.set {
            let _ = match *key {
                BORDERS.. => {
                    let attribute = usize::try_from(key % ATTRIBUTES).unwrap_or(0);
                    let attribute = BORDER.get(attribute).copied().unwrap_or("?");
                    write!(
                        words,
                        "\\{}:{attribute}{value} ",
                        word_name((key - BORDERS) / ATTRIBUTES)
                    )
                }
                GROUPS.. => write!(
                    words,
                    "\\{} ",
                    word_name(u32::try_from(*value).unwrap_or(0))
                ),
                key => match usize::try_from(key)
                    .ok()
                    .and_then(|place| WORDS.get(place))
                    .map(|word| word.kind)
                {
                    Some(WordEffect::Toggle | WordEffect::Side) => {
                        write!(words, "\\{} ", word_name(key))
                    }
                    _ => write!(words, "\\{}{value} ", word_name(key)),
                },
            };
        }
        for (place, kind) in &self.tabs {
            let _ = write!(words, "{kind}\\tx{place} ");
        }
        words.truncate(words.trim_end().len());
        words
    }
}

/// The name of a word of the table.
fn word_name(place: u32) -> &'static str {
    usize::try_from(place)
        .ok()
        .and_then(|place| WORDS.get(place))
        .map_or("?", |word| word.name)
}

fn key(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

fn clamp_place(place: usize) -> i32 {
    i32::try_from(place).unwrap_or(i32::MAX)
}

fn clamp(value: i64) -> i32 {
    i32::try_from(value).unwrap_or(if value.is_negative() {
        i32::MIN
    } else {
        i32::MAX
    })
}

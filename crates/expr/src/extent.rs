//! How large the values of an expression can be.

use serde_json::Value as Json;

/// How large a value can be at most.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extent {
    pub whole: Size,
    /// The largest value inside it.
    pub inside: Size,
    /// The items of the longest list or map, itself or inside it.
    pub longest: f64,
}

/// The size of a value with everything inside it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Size {
    /// Its texts and values, in bytes.
    pub bytes: f64,
    /// The items of its lists and maps.
    pub items: f64,
}

impl Size {
    fn plus(self, other: Self) -> Self {
        Self {
            bytes: self.bytes + other.bytes,
            items: self.items + other.items,
        }
    }

    fn max(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.max(other.bytes),
            items: self.items.max(other.items),
        }
    }
}

impl Extent {
    /// A number, a truth value, or null.
    pub const SCALAR: Self = Self {
        whole: Size {
            bytes: 8.0,
            items: 0.0,
        },
        inside: Size {
            bytes: 0.0,
            items: 0.0,
        },
        longest: 0.0,
    };

    pub fn of(json: &Json) -> Self {
        match json {
            Json::Null | Json::Bool(_) | Json::Number(_) => Self::SCALAR,
            Json::String(text) => Self::text(text.len() as f64),
            Json::Array(items) => Self::list(items.iter().map(Self::of)),
            Json::Object(fields) => Self::list(
                fields
                    .iter()
                    .map(|(key, value)| Self::text(key.len() as f64).joined(Self::of(value))),
            ),
        }
    }

    pub fn text(bytes: f64) -> Self {
        Self {
            whole: Size {
                bytes: 8.0 + bytes,
                items: 0.0,
            },
            ..Self::SCALAR
        }
    }

    /// A list or a map of these items.
    pub fn list(items: impl IntoIterator<Item = Self>) -> Self {
        let (mut list, mut length) = (Self::SCALAR, 0.0);
        for item in items {
            length += 1.0;
            list.whole = list.whole.plus(item.whole);
            list.inside = list.inside.max(item.whole).max(item.inside);
            list.longest = list.longest.max(item.longest);
        }
        list.whole.items += length;
        list.longest = list.longest.max(length);
        list
    }

    /// Two values that become one, such as the sum of two lists or texts.
    pub fn joined(self, other: Self) -> Self {
        Self {
            whole: self.whole.plus(other.whole),
            inside: self.inside.max(other.inside),
            longest: self.longest + other.longest,
        }
    }

    /// One value or the other.
    pub fn either(self, other: Self) -> Self {
        Self {
            whole: self.whole.max(other.whole),
            inside: self.inside.max(other.inside),
            longest: self.longest.max(other.longest),
        }
    }

    /// A value inside this one: an item, or the value of a key.
    pub fn part(self) -> Self {
        Self {
            whole: self.inside,
            inside: self.inside,
            longest: self.longest.min(self.inside.items),
        }
    }

    /// This value joined with itself, `factor` times.
    pub fn times(self, factor: f64) -> Self {
        let Size { bytes, items } = self.whole;
        let whole = Size {
            bytes: bytes * factor,
            items: items * factor,
        };
        Self {
            whole,
            inside: self.inside,
            longest: self.longest * factor,
        }
    }
}

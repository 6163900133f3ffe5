//! A case in quarantine, as golden files state it.

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::diag::Point;
use crate::format::JsonCursor;
use crate::format::Step::Key;
use crate::model::Quarantine;

/// Why a case does not gate for a while.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuarantineForm {
    /// Who mends it.
    owner: String,
    /// What is known of it.
    reason: String,
    /// The last day, as `YYYY-MM-DD`, at most 30 days ahead; from the next day on the case gates again.
    expires: String,
}

/// A quarantine with the places of what it says: whether it may be is known when the day of the run is.
#[derive(Debug, Clone, PartialEq)]
pub struct Stated {
    /// What it says.
    pub terms: Box<Quarantine>,
    owner: Point,
    reason: Point,
    expires: Point,
}

impl QuarantineForm {
    /// What the golden file at `place` states under `quarantine`.
    pub fn stated(self, cursor: &JsonCursor<'_>) -> Box<Stated> {
        let at = |key| Point::of_offset(&cursor.source.text, cursor.value(&[Key("quarantine"), Key(key)]));
        let (owner, reason, expires) = (at("owner"), at("reason"), at("expires"));
        let terms = Quarantine { owner: self.owner, reason: self.reason, expires: self.expires };
        Box::new(Stated { terms: Box::new(terms), owner, reason, expires })
    }
}

impl Stated {
    /// Where it says what cannot be: nobody, nothing, no day, or one after the last day.
    pub fn wrong(&self, last: &str) -> Option<Point> {
        let Quarantine { owner, reason, expires } = &*self.terms;
        let empty = |text: &str| text.trim().is_empty();
        match () {
            () if empty(owner) => Some(self.owner),
            () if empty(reason) => Some(self.reason),
            () if !is_day(expires) || expires.as_str() > last => Some(self.expires),
            () => None,
        }
    }
}

/// Whether a text is a day that there is, as `YYYY-MM-DD`.
pub fn is_day(text: &str) -> bool {
    text.len() == "YYYY-MM-DD".len() && text.as_bytes()[4] == b'-' && text.parse::<Date>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::is_day;

    #[test]
    fn a_day_is_written_in_one_way_and_exists() {
        assert!(is_day("2026-11-21") && is_day("2028-02-29"));
        for text in [
            "",
            "soon",
            "2026-11-31",
            "2026-02-29",
            "2026-1-1",
            "20261121T1",
            "2026-11-2",
            "2026-11-21T",
            "\u{e4}26-11-21",
        ] {
            assert!(!is_day(text), "{text}");
        }
    }
}

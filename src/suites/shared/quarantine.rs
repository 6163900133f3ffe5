//! The quarantine of a case, as stated in golden files.

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::diag::Point;
use crate::format::JsonCursor;
use crate::format::Step::Key;
use crate::model::Quarantine;

/// Why a case is excluded from gating for now.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuarantineForm {
    /// Who fixes the case.
    owner: String,
    /// What is known about the problem.
    reason: String,
    /// The last day, as `YYYY-MM-DD`, at most 30 days ahead; from the next day on the case gates again.
    expires: String,
}

/// A quarantine with the positions of its values; its validity depends on the day of the run.
#[derive(Debug, Clone, PartialEq)]
pub struct Stated {
    /// Its values.
    pub terms: Box<Quarantine>,
    owner: Point,
    reason: Point,
    expires: Point,
}

impl QuarantineForm {
    /// The quarantine of the golden file at `cursor`, under the key `quarantine`.
    pub fn stated(self, cursor: &JsonCursor<'_>) -> Box<Stated> {
        let owner = cursor.value(&[Key("quarantine"), Key("owner")]);
        let reason = cursor.value(&[Key("quarantine"), Key("reason")]);
        let expires = cursor.value(&[Key("quarantine"), Key("expires")]);
        let terms = Quarantine {
            owner: self.owner,
            reason: self.reason,
            expires: self.expires,
        };
        Box::new(Stated {
            terms: Box::new(terms),
            owner: cursor.source.point(owner),
            reason: cursor.source.point(reason),
            expires: cursor.source.point(expires),
        })
    }
}

impl Stated {
    /// The position of the first invalid value: an empty owner or reason, an invalid day, or one after `last`.
    pub fn wrong(&self, last: &str) -> Option<Point> {
        let Quarantine {
            owner,
            reason,
            expires,
        } = &*self.terms;
        if owner.trim().is_empty() {
            Some(self.owner)
        } else if reason.trim().is_empty() {
            Some(self.reason)
        } else if !is_day(expires) || expires.as_str() > last {
            Some(self.expires)
        } else {
            None
        }
    }
}

/// Whether a text is an existing day in the format `YYYY-MM-DD`.
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

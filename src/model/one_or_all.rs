//! The tiers of a report as one word: one tier, or `all`.

use serde::{Deserialize, Deserializer};

use super::config::Tier;
use super::words::words;

words! {
    enum ReportTiers {
        Deterministic = "deterministic",
        Model = "model",
        All = "all",
    }
}

/// The word for these tiers.
pub fn word(tiers: &[Tier]) -> &'static str {
    match tiers {
        [only] => only.as_str(),
        _ => ReportTiers::All.as_str(),
    }
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Tier>, D::Error> {
    Ok(match ReportTiers::deserialize(deserializer)? {
        ReportTiers::Deterministic => vec![Tier::Deterministic],
        ReportTiers::Model => vec![Tier::Model],
        ReportTiers::All => vec![Tier::Deterministic, Tier::Model],
    })
}

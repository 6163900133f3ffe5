//! Names, laws and courts that were to be replaced: finds the old ones that are left.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::draft::Draft;
use super::fault::{FaultKind, RevisionFault};
use super::instructions::{Entity, Jurisdiction};
use crate::model::share;
use crate::text::{Folded, Hit, NameSet, pattern};

/// Words that many names share; none of them identifies a party.
const COMMON: &[&str] = &[
    "company",
    "limited",
    "ltd",
    "inc",
    "llc",
    "plc",
    "corp",
    "corporation",
    "group",
    "holdings",
    "holding",
    "gmbh",
    "ag",
    "co",
    "the",
    "of",
    "and",
    "&",
    "party",
    "parties",
    "supplier",
    "customer",
    "client",
    "provider",
    "lender",
    "borrower",
    "licensor",
    "licensee",
    "lessor",
    "lessee",
    "landlord",
    "tenant",
    "buyer",
    "seller",
    "consultant",
    "contractor",
    "partner",
    "services",
    "international",
    "trading",
    "agreement",
];

/// Every occurrence of an old name in the revised document.
pub fn entities(entities: &[Entity], original: &Draft, revised: &Draft) -> Vec<RevisionFault> {
    let mut old: Vec<String> = Vec::new();
    for entity in entities {
        old.push(entity.from.clone());
        old.extend(entity.defined_as.iter().cloned());
        old.extend(short_names(entity, original));
    }
    let new = entities
        .iter()
        .flat_map(|entity| std::iter::once(&entity.to).chain(&entity.becomes));
    let names = NameSet::new(old.iter().chain(new).map(String::as_str));
    let mut faults = Vec::new();
    for (line, hit) in left(revised, &names, old.len()) {
        let message = format!(
            "\"{}\" remains: {}",
            old[hit.name],
            quoted(revised, line, &hit)
        );
        faults.push(RevisionFault::new(FaultKind::MissedEntity, message));
    }
    faults
}

static DEFINED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"\((?:[^()"]{0,60}\s)?"([^"]{2,40})"\)"#));

/// Short names that the original defines after the full name: `Acme Holdings Ltd ("Acme")`.
fn short_names(entity: &Entity, original: &Draft) -> Vec<String> {
    let full = Folded::of(&entity.from).text;
    let new = Folded::of(&entity.to).text;
    let mut short_names = Vec::new();
    let lines = original
        .lines
        .iter()
        .map(|line| line.folded.text.as_str())
        .filter(|line| line.contains(&full));
    for line in lines {
        for short in DEFINED
            .captures_iter(line)
            .filter_map(|defined| defined.get(1))
        {
            let mut words = short.as_str().split_whitespace();
            let in_old = words.all(|word| full.split([' ', ',', '.']).any(|part| part == word));
            let identifies = short
                .as_str()
                .split_whitespace()
                .any(|word| !COMMON.contains(&word));
            let in_new = NameSet::new([short.as_str()])
                .find(&Folded::of(&new))
                .is_empty();
            if in_old && identifies && in_new {
                short_names.push(short.as_str().to_owned());
            }
        }
    }
    short_names
}

/// Every occurrence of the first `old` names, as its line and hit.
fn left(draft: &Draft, names: &NameSet, old: usize) -> Vec<(usize, Hit)> {
    draft
        .places(names)
        .into_iter()
        .filter(|(_, hit)| hit.name < old)
        .collect()
}

/// The occurrence with its context, for people.
fn quoted(revised: &Draft, line: usize, hit: &Hit) -> String {
    revised.quote(line, &revised.lines[line].folded.original(&hit.at))
}

/// The share (0 to 1) of mentions of the old law and courts that were replaced, and the faults. A new name must appear wherever the
/// old one appeared outside a deleted clause. Without the new law itself, the share is 0.
pub fn jurisdiction(
    law: &Jurisdiction,
    original: &Draft,
    revised: &Draft,
    deleted: &BTreeSet<usize>,
) -> (f64, Vec<RevisionFault>) {
    let old: Vec<&str> = std::iter::once(law.from.as_str())
        .chain(law.phrases.iter().map(|phrase| phrase.from.as_str()))
        .collect();
    let new: Vec<&str> = std::iter::once(law.to.as_str())
        .chain(law.phrases.iter().map(|phrase| phrase.to.as_str()))
        .collect();
    let names = NameSet::new(old.iter().chain(&new).copied());
    let sites = left(original, &names, old.len());
    let remaining = left(revised, &names, old.len());
    let mut faults = Vec::new();
    for (line, hit) in &remaining {
        let message = format!(
            "\"{}\" remains: {}",
            old[hit.name],
            quoted(revised, *line, hit)
        );
        faults.push(RevisionFault::new(FaultKind::MissedJurisdiction, message));
    }
    let mut undone = remaining.len();
    for (name, to) in new.into_iter().enumerate() {
        let stay = sites
            .iter()
            .filter(|(line, hit)| hit.name == name && !deleted.contains(line))
            .count();
        let remain = remaining.iter().filter(|(_, hit)| hit.name == name).count();
        // A remaining old court is already reported. The new law itself must appear somewhere.
        if stay == 0 || (name > 0 && remain >= stay) || revised.names(to) {
            continue;
        }
        undone += if name == 0 {
            sites.len()
        } else {
            stay - remain
        };
        faults.push(RevisionFault::new(
            FaultKind::MissedJurisdiction,
            format!("\"{to}\" does not appear"),
        ));
    }
    let all = sites.len().max(remaining.len());
    (share(all - undone.min(all), all).unwrap_or(1.0), faults)
}

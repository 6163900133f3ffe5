//! Names and places that were to be replaced: what of the old ones is left.

use std::sync::LazyLock;

use regex::Regex;

use super::draft::Draft;
use super::draft::pattern;
use super::fault::Fault;
use super::fault::FaultKind;
use super::instructions::Entity;
use super::instructions::Jurisdiction;
use crate::text::Folded;
use crate::text::Names;

/// Words that many names share: none of them alone is a name.
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

/// The old names that still stand in the revised document.
pub fn entities(entities: &[Entity], original: &Draft, revised: &Draft) -> Vec<Fault> {
    let mut old: Vec<String> = Vec::new();
    for entity in entities {
        old.push(entity.from.clone());
        old.extend(entity.defined_as.iter().cloned());
        old.extend(short_names(entity, original));
    }
    let new = entities.iter().flat_map(|entity| std::iter::once(&entity.to).chain(&entity.becomes));
    let names = Names::new(old.iter().chain(new).map(String::as_str));
    left(revised, &names, old.len())
        .into_iter()
        .map(|(name, place)| Fault::new(FaultKind::MissedEntity, format!("\"{}\" is left: {place}", old[name])))
        .collect()
}

static DEFINED: LazyLock<Regex> = LazyLock::new(|| pattern(r#"\((?:[^()"]{0,60}\s)?"([^"]{2,40})"\)"#));

/// The short names that the original defines behind the full one: `Acme Holdings Ltd ("Acme")`.
fn short_names(entity: &Entity, original: &Draft) -> Vec<String> {
    let full = Folded::of(&entity.from).text;
    let new = Folded::of(&entity.to).text;
    let mut found = Vec::new();
    let lines = original.lines.iter().map(|line| line.folded.text.as_str()).filter(|line| line.contains(&full));
    for line in lines {
        for short in DEFINED.captures_iter(line).filter_map(|defined| defined.get(1)) {
            let mut words = short.as_str().split_whitespace();
            let own = |word: &str| full.split([' ', ',', '.']).any(|part| part == word);
            let telling = short.as_str().split_whitespace().any(|word| !COMMON.contains(&word));
            let in_new = Names::new([short.as_str()]).find(&Folded::of(&new)).is_empty();
            if words.all(own) && telling && in_new {
                found.push(short.as_str().to_owned());
            }
        }
    }
    found
}

/// Where any of the first `old` names stands, as its place in the list and for people.
fn left(revised: &Draft, names: &Names, old: usize) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (place, line) in revised.lines.iter().enumerate() {
        for hit in names.find(&line.folded).into_iter().filter(|hit| hit.name < old) {
            found.push((hit.name, revised.quote(place, &line.folded.original(&hit.at))));
        }
    }
    found
}

/// What of the old law is left.
pub struct Law {
    /// Places of the original that name it.
    pub sites: usize,
    /// Places of the revised document that do.
    pub remaining: usize,
    /// What is wrong.
    pub faults: Vec<Fault>,
}

/// The old law and its phrases that still stand there, and whether the new law does.
pub fn jurisdiction(law: &Jurisdiction, original: &Draft, revised: &Draft) -> Law {
    let old: Vec<&str> =
        std::iter::once(law.from.as_str()).chain(law.phrases.iter().map(|phrase| phrase.from.as_str())).collect();
    let new = std::iter::once(law.to.as_str()).chain(law.phrases.iter().map(|phrase| phrase.to.as_str()));
    let names = Names::new(old.iter().copied().chain(new));
    let sites = left(original, &names, old.len()).len();
    let found = left(revised, &names, old.len());
    let remaining = found.len();
    let said = |(name, place): (usize, String)| {
        Fault::new(FaultKind::MissedJurisdiction, format!("\"{}\" is left: {place}", old[name]))
    };
    let mut faults: Vec<Fault> = found.into_iter().map(said).collect();
    let names = Names::new([law.to.as_str()]);
    if revised.lines.iter().all(|line| names.find(&line.folded).is_empty()) {
        faults.push(Fault::new(FaultKind::MissedJurisdiction, format!("\"{}\" stands nowhere", law.to)));
    }
    Law { sites, remaining, faults }
}

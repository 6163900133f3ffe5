//! The format of the revised document beside the original's: damage, other tables, other formatting.

use std::collections::BTreeMap;

use super::alignment::{Alignment, Fate};
use super::draft::Draft;
use super::fault::{FaultKind, RevisionFault};
use crate::text::rtf::{FlawKind, FormatToken, first_difference};

/// How many paragraphs with another formatting are named one by one.
const NAMED: usize = 5;

/// Everything that is damaged or formatted otherwise without being asked for.
pub fn damage(original: &Draft, revised: &Draft, alignment: &Alignment) -> Vec<RevisionFault> {
    let mut found = flaws(original, revised);
    let (old, new) = (&original.document.tables, &revised.document.tables);
    for (name, old, new) in [
        ("fonts", &old.fonts, &new.fonts),
        ("colours", &old.colours, &new.colours),
        ("styles", &old.styles, &new.styles),
        ("lists", &old.lists, &new.lists),
    ] {
        if old != new {
            let how = if new.is_empty() { "is lost" } else { "is another one" };
            found.push(format!("the table of {name} {how}"));
        }
    }
    let (was, is) = (original.document.hidden, revised.document.hidden);
    if is > was {
        found.push(format!("{is} letters are hidden, {was} were: what is hidden is not gone"));
    }
    found.extend(rows(original, revised));
    found.extend(formatting(original, revised, alignment));
    found.into_iter().map(|what| RevisionFault::new(FaultKind::Corrupt, what)).collect()
}

/// What is wrong with the source that was not wrong before.
fn flaws(original: &Draft, revised: &Draft) -> Vec<String> {
    let count = |draft: &Draft| {
        let mut counted: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        for flaw in &draft.document.flaws {
            counted.entry(flaw.kind.to_string()).or_insert((0, flaw.at)).0 += 1;
        }
        counted
    };
    let before = count(original);
    let more =
        count(revised).into_iter().filter(|(kind, (count, _))| before.get(kind).is_none_or(|(was, _)| was < count));
    more.map(|(kind, (_, at))| format!("{kind} (byte {at})")).collect()
}

/// Tables with fewer rows than before.
fn rows(original: &Draft, revised: &Draft) -> Vec<String> {
    let count = |draft: &Draft| {
        let mut rows: BTreeMap<u32, u32> = BTreeMap::new();
        for cell in draft.document.paragraphs.iter().filter_map(|paragraph| paragraph.cell) {
            let highest = rows.entry(cell.table).or_default();
            *highest = (*highest).max(cell.row + 1);
        }
        rows
    };
    let now = count(revised);
    let fewer = count(original).into_iter().filter_map(|(table, rows)| {
        let left = now.get(&table).copied().unwrap_or(0);
        (left < rows).then(|| format!("table {} has {left} of its {rows} rows", table + 1))
    });
    fewer.collect()
}

/// Paragraphs that are the same but for names and numbers, and whose formatting is not.
fn formatting(original: &Draft, revised: &Draft, alignment: &Alignment) -> Vec<String> {
    let mut compared = 0_usize;
    let mut others = Vec::new();
    for (line, fate) in alignment.fates.iter().enumerate() {
        let Fate::Kept(to) = fate else { continue };
        let old = &original.document.paragraphs[original.lines[line].paragraph].signature;
        let new = &revised.document.paragraphs[revised.lines[*to].paragraph].signature;
        let same = original.lines[line].text == revised.lines[*to].text;
        // Where words were replaced, runs may be others; the paragraph and its row are the same ones.
        let own = |tokens: &[FormatToken]| -> Vec<FormatToken> {
            tokens
                .iter()
                .filter(|token| same || matches!(token, FormatToken::Paragraph(_) | FormatToken::Row(_)))
                .cloned()
                .collect()
        };
        let (old, new) = (own(old), own(new));
        compared += 1;
        if let Some((was, is)) = first_difference(&old, &new) {
            let said = |token: Option<&FormatToken>| token.map_or("nothing".to_owned(), ToString::to_string);
            others.push(format!("{} is formatted otherwise: {}, was {}", revised.excerpt(*to), said(is), said(was)));
        }
    }
    if others.len() > NAMED && 2 * others.len() > compared {
        return vec![format!(
            "{} of {compared} unchanged paragraphs are formatted otherwise: written anew as a whole",
            others.len()
        )];
    }
    let more = others.len().saturating_sub(NAMED);
    others.truncate(NAMED);
    if more > 0 {
        others.push(format!("and {more} more paragraphs are formatted otherwise"));
    }
    others
}

/// Whether a document cannot be looked at as a document at all.
pub fn is_nothing(draft: &Draft) -> bool {
    draft.lines.is_empty() || draft.document.flaws.iter().any(|flaw| flaw.kind == FlawKind::NotRtf)
}

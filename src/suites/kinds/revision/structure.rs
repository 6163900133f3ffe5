//! The format of the revised document compared with the original: damage, changed tables, changed formatting.

use std::collections::BTreeMap;

use rtf::{FlawKind, FormatToken, first_difference};

use super::alignment::{Alignment, Fate};
use super::draft::Draft;
use super::fault::{FaultKind, RevisionFault};

/// Number of paragraphs with changed formatting that are listed.
const NAMED: usize = 5;

/// All damage and unrequested changes of the format.
pub fn damage(original: &Draft, revised: &Draft, alignment: &Alignment) -> Vec<RevisionFault> {
    let mut messages = flaws(original, revised);
    let (old, new) = (&original.document.tables, &revised.document.tables);
    for (name, old, new) in [
        ("fonts", &old.fonts, &new.fonts),
        ("colours", &old.colours, &new.colours),
        ("styles", &old.styles, &new.styles),
        ("lists", &old.lists, &new.lists),
    ] {
        if old != new {
            let how = if new.is_empty() {
                "is lost"
            } else {
                "has changed"
            };
            messages.push(format!("the table of {name} {how}"));
        }
    }
    let (was, is) = (original.document.hidden, revised.document.hidden);
    if is > was {
        messages.push(format!(
            "{is} letters are hidden, {was} in the original: hiding text does not remove it"
        ));
    }
    messages.extend(rows(original, revised));
    messages.extend(contents(original, revised, alignment));
    messages.extend(formatting(original, revised, alignment));
    messages
        .into_iter()
        .map(|message| RevisionFault::new(FaultKind::Corrupt, message))
        .collect()
}

/// Flaws of the RTF source that the original did not have.
fn flaws(original: &Draft, revised: &Draft) -> Vec<String> {
    let old_flaws = flaws_by_kind(original);
    let mut more = Vec::new();
    for (kind, (count, at)) in flaws_by_kind(revised) {
        if old_flaws.get(&kind).is_none_or(|(was, _)| *was < count) {
            more.push(format!("{kind} (byte {at})"));
        }
    }
    more
}

/// The number of flaws of each kind, and where the first one is.
fn flaws_by_kind(draft: &Draft) -> BTreeMap<String, (usize, usize)> {
    let mut flaws: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for flaw in &draft.document.flaws {
        let (count, _) = flaws.entry(flaw.kind.to_string()).or_insert((0, flaw.at));
        *count += 1;
    }
    flaws
}

/// Tables with fewer rows than in the original.
fn rows(original: &Draft, revised: &Draft) -> Vec<String> {
    let rows_left = rows_by_table(revised);
    let mut fewer = Vec::new();
    for (table, rows) in rows_by_table(original) {
        let left = rows_left.get(&table).copied().unwrap_or(0);
        if left < rows {
            fewer.push(format!("table {} has {left} of its {rows} rows", table + 1));
        }
    }
    fewer
}

fn rows_by_table(draft: &Draft) -> BTreeMap<u32, u32> {
    let mut rows: BTreeMap<u32, u32> = BTreeMap::new();
    for paragraph in &draft.document.paragraphs {
        if let Some(cell) = paragraph.cell {
            let highest = rows.entry(cell.table).or_default();
            *highest = (*highest).max(cell.row + 1);
        }
    }
    rows
}

/// Pictures, formulas, objects and fields of paragraphs without letters, which are not among the lines, that came or went. One that moved to
/// or from a line is in the document as before, and one below a line that is gone went with it.
fn contents(original: &Draft, revised: &Draft, alignment: &Alignment) -> Vec<String> {
    let (was, is) = (
        Contents::of(original, |_| true),
        Contents::of(revised, |_| true),
    );
    let wanted = Contents::of(original, |line| {
        line.is_none_or(|line| alignment.fates.get(line) != Some(&Fate::Gone))
    });
    let mut messages = Vec::new();
    for (token, count) in &is.alone {
        if was.has_fewer(token, *count, is.all[token]) {
            messages.push(format!("a paragraph without text is new: {token}"));
        }
    }
    for (token, count) in &wanted.alone {
        if is.has_fewer(token, *count, wanted.all[token]) {
            messages.push(format!("a paragraph without text is lost: {token}"));
        }
    }
    messages
}

/// What a document has besides its text, with the number of each.
#[derive(Default)]
struct Contents<'d> {
    alone: BTreeMap<&'d FormatToken, usize>,
    all: BTreeMap<&'d FormatToken, usize>,
}

impl<'d> Contents<'d> {
    /// Counts the contents of the lines, and of the other paragraphs for whose line before them `counts` is true.
    fn of(draft: &'d Draft, counts: impl Fn(Option<usize>) -> bool) -> Self {
        let mut contents = Self::default();
        let mut line = None;
        for (index, paragraph) in draft.document.paragraphs.iter().enumerate() {
            let next = line.map_or(0, |line: usize| line + 1);
            let is_line = draft
                .lines
                .get(next)
                .is_some_and(|line| line.paragraph == index);
            if is_line {
                line = Some(next);
            }
            for token in paragraph
                .signature
                .iter()
                .filter(|token| is_content(token) && (is_line || counts(line)))
            {
                *contents.all.entry(token).or_default() += 1;
                if !is_line {
                    *contents.alone.entry(token).or_default() += 1;
                }
            }
        }
        contents
    }

    /// Whether there are fewer of these, alone and on the whole.
    fn has_fewer(&self, token: &FormatToken, alone: usize, all: usize) -> bool {
        self.alone.get(token).copied().unwrap_or(0) < alone
            && self.all.get(token).copied().unwrap_or(0) < all
    }
}

/// Whether a token is a content, or a drawing, which has its content in it.
fn is_content(token: &FormatToken) -> bool {
    match token {
        FormatToken::Content { .. } => true,
        FormatToken::Mark(name) => name.as_ref() == "drawing",
        FormatToken::Paragraph(_) | FormatToken::Row(_) | FormatToken::Run(_) => false,
    }
}

/// Paragraphs whose text is unchanged, apart from names and numbers, but whose formatting changed.
fn formatting(original: &Draft, revised: &Draft, alignment: &Alignment) -> Vec<String> {
    let mut compared = 0_usize;
    let mut others = Vec::new();
    for (line, fate) in alignment.fates.iter().enumerate() {
        let Fate::Kept(to) = fate else { continue };
        let old = &original.document.paragraphs[original.lines[line].paragraph].signature;
        let new = &revised.document.paragraphs[revised.lines[*to].paragraph].signature;
        let same = original.lines[line].text == revised.lines[*to].text;
        // Replaced words may change the runs, but not the paragraph or its row.
        let (mut own_old, mut own_new) = (old.to_vec(), new.to_vec());
        if !same {
            own_old.retain(is_outside_runs);
            own_new.retain(is_outside_runs);
        }
        // Nor may they have a format that the paragraph did not have: a word that is struck through says the opposite.
        let strange = new
            .iter()
            .find(|token| matches!(token, FormatToken::Run(_)) && !old.contains(token));
        compared += 1;
        let difference = first_difference(&own_old, &own_new)
            .or(strange.map(|token| (old.first(), Some(token))));
        if let Some((was, is)) = difference {
            others.push(format!(
                "the formatting of {} changed: now {}, before {}",
                revised.excerpt(*to),
                token_name(is),
                token_name(was)
            ));
        }
    }
    if others.len() > NAMED && 2 * others.len() > compared {
        return vec![format!(
            "{} of {compared} unchanged paragraphs have other formatting: the document was rewritten as a whole",
            others.len()
        )];
    }
    let more = others.len().saturating_sub(NAMED);
    others.truncate(NAMED);
    if more > 0 {
        others.push(format!("and {more} more paragraphs have other formatting"));
    }
    others
}

/// Whether a document has no readable text at all.
pub fn is_nothing(draft: &Draft) -> bool {
    draft.lines.is_empty()
        || draft
            .document
            .flaws
            .iter()
            .any(|flaw| flaw.kind == FlawKind::NotRtf)
}

fn is_outside_runs(token: &FormatToken) -> bool {
    match token {
        FormatToken::Paragraph(_) | FormatToken::Row(_) | FormatToken::Content { .. } => true,
        FormatToken::Run(_) | FormatToken::Mark(_) => false,
    }
}

fn token_name(token: Option<&FormatToken>) -> String {
    token.map_or("nothing".to_owned(), ToString::to_string)
}

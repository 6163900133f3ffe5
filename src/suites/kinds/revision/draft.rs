//! A document as the verifier sees it: lines of text in numbered sections.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem;
use regex::Regex;
use rtf::{Paragraph, ParagraphPlace};

use crate::text::{Folded, Hit, Keyword, NameSet, changed_part, is_whole, norm, pattern};

/// The longest quotation of a changed line, in characters.
const CHANGED: usize = 160;

/// A parsed document, divided into lines and sections.
pub struct Draft {
    pub document: rtf::Document,
    /// Its paragraphs that contain text.
    pub lines: Vec<DraftLine>,
    /// Its numbered sections, in document order.
    pub sections: Vec<Section>,
    /// The index of the first section with each number.
    numbers: BTreeMap<Number, usize>,
    /// The folded text of all lines, separated by line breaks.
    whole: String,
    /// The byte offset of each line in `whole`.
    starts: Vec<usize>,
}

/// A paragraph with text.
pub struct DraftLine {
    /// The index of the paragraph in the document.
    pub paragraph: usize,
    /// The part of the page that it is in.
    pub place: ParagraphPlace,
    pub text: String,
    /// Its text in the folded form used for comparison.
    pub folded: Folded,
    /// The byte offset in the text after a written section number.
    pub words_from: usize,
    /// The index of the section that contains it.
    pub section: Option<usize>,
}

/// A section number, such as 4.2.
pub type Number = Vec<u32>;

/// A numbered section: from its heading or first paragraph up to the next number.
#[derive(Debug)]
pub struct Section {
    pub number: Number,
    /// The schedule or annex that contains it, from 1; 0 is the contract itself. Each has its own numbering.
    pub part: usize,
    /// Its normalized heading; empty if it has none.
    pub heading: String,
    /// Its lines, without those of its sub-sections.
    pub lines: Range<usize>,
}

impl Draft {
    pub fn read(source: &[u8]) -> Self {
        let mut document = rtf::read(source);
        document.paragraphs = joined(document.paragraphs);
        let mut draft = Self {
            document,
            lines: Vec::new(),
            sections: Vec::new(),
            numbers: BTreeMap::new(),
            whole: String::new(),
            starts: Vec::new(),
        };
        let mut part = 0;
        let mut letter = None;
        for (index, paragraph) in draft.document.paragraphs.iter().enumerate() {
            if paragraph.text.trim().is_empty() {
                continue;
            }
            let at = draft.lines.len();
            let mut words_from = 0;
            if paragraph.place == ParagraphPlace::Body {
                if begins_part(&paragraph.text) {
                    part += 1;
                }
                let automatic = paragraph
                    .number
                    .as_deref()
                    .filter(|label| !is_next_letter(label, &mut letter));
                if let Some((number, from)) = numbered(&paragraph.text, automatic) {
                    words_from = from;
                    let heading = heading(&paragraph.text[from..]);
                    draft
                        .numbers
                        .entry(number.clone())
                        .or_insert(draft.sections.len());
                    draft.sections.push(Section {
                        number,
                        part,
                        heading,
                        lines: at..at,
                    });
                }
            }
            // Notes, headers and footers do not belong to the section around them.
            let inside = matches!(
                paragraph.place,
                ParagraphPlace::Body | ParagraphPlace::Cell | ParagraphPlace::TextBox
            );
            let section = draft.sections.len().checked_sub(1).filter(|_| inside);
            if let Some(section) = section {
                draft.sections[section].lines.end = at + 1;
            }
            let folded = Folded::of(&paragraph.text);
            draft.starts.push(draft.whole.len());
            draft.whole.push_str(&folded.text);
            draft.whole.push('\n');
            draft.lines.push(DraftLine {
                paragraph: index,
                place: paragraph.place,
                folded,
                text: paragraph.text.clone(),
                words_from,
                section,
            });
        }
        draft
    }

    /// The index of the section with this number; the contract itself comes before its schedules.
    pub fn section(&self, number: &[u32]) -> Option<usize> {
        self.numbers.get(number).copied()
    }

    /// Whether a section with this number, or a sub-section of it, exists.
    pub fn has(&self, number: &[u32]) -> bool {
        self.numbers
            .range(number.to_vec()..)
            .next()
            .is_some_and(|(first, _)| first.starts_with(number))
    }

    /// Every occurrence of some names, as a line and the hit in its folded text.
    pub fn places(&self, names: &NameSet) -> Vec<(usize, Hit)> {
        let mut places = Vec::new();
        for Hit { name, at } in names.find_in(&self.whole) {
            let (line, start) = self.line_at(at.start);
            let at = start..start + at.len();
            places.push((line, Hit { name, at }));
        }
        places
    }

    /// Every whole-word occurrence of a folded stem with one of the endings, as its line and byte offset in the folded line.
    pub fn words_from(&self, stem: &str, endings: [&str; 3]) -> Vec<(usize, usize)> {
        let mut places = Vec::new();
        for start in memmem::find_iter(self.whole.as_bytes(), stem.as_bytes()) {
            let end = start + stem.len();
            let rest = &self.whole[end..];
            let is_word = endings.iter().any(|ending| {
                rest.starts_with(ending) && is_whole(&self.whole, &(start..end + ending.len()))
            });
            if is_word {
                places.push(self.line_at(start));
            }
        }
        places
    }

    /// Converts an offset in the whole text to a line and an offset in that line.
    fn line_at(&self, index: usize) -> (usize, usize) {
        let line = self
            .starts
            .partition_point(|start| *start <= index)
            .saturating_sub(1);
        (line, index - self.starts[line])
    }

    pub fn names(&self, name: &str) -> bool {
        !self.places(&NameSet::new([name])).is_empty()
    }

    /// The indexes of the section and of all its sub-sections.
    pub fn tree(&self, root: usize) -> impl Iterator<Item = usize> + '_ {
        let (number, part) = (&self.sections[root].number, self.sections[root].part);
        let sections = self.sections.iter().enumerate().skip(root);
        sections
            .take_while(move |(_, section)| {
                section.part == part && section.number.starts_with(number)
            })
            .map(|(index, _)| index)
    }

    /// The lines of the section and its sub-sections.
    pub fn lines_of_tree(&self, root: usize) -> Vec<usize> {
        self.tree(root)
            .flat_map(|index| self.sections[index].lines.clone())
            .collect()
    }

    /// Whether the section and its sub-sections only state that it is deleted, so that its number is kept.
    pub fn is_placeholder(&self, root: usize) -> bool {
        let mut states_deletion = false;
        let lines = self
            .tree(root)
            .flat_map(|index| self.sections[index].lines.clone());
        let first = self.sections[root].lines.start;
        for line in lines {
            let words = &self.lines[line].text[self.lines[line].words_from..];
            let deleted = DELETED.is_match(&norm(words));
            states_deletion |= deleted;
            // The heading may precede on a line of its own.
            let is_first_heading = line == first && is_heading(words.trim());
            if !deleted && !is_first_heading {
                return false;
            }
        }
        states_deletion
    }

    /// The folded text of the section and its sub-sections.
    pub fn section_words(&self, root: usize) -> String {
        let lines = self
            .tree(root)
            .flat_map(|section| self.sections[section].lines.clone());
        lines
            .map(|line| self.lines[line].folded.text.as_str())
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// A description of where a line is: its section, or the part of the page.
    pub fn whereabouts(&self, line: usize) -> String {
        let DraftLine { place, section, .. } = &self.lines[line];
        let within = match section {
            Some(section) => format!("section {}", dotted(&self.sections[*section].number)),
            None => "the opening".to_owned(),
        };
        match place {
            ParagraphPlace::Body => within,
            ParagraphPlace::Cell => format!("a table in {within}"),
            ParagraphPlace::TextBox => format!("a text box in {within}"),
            ParagraphPlace::Header => "a header".to_owned(),
            ParagraphPlace::Footer => "a footer".to_owned(),
            ParagraphPlace::Footnote => "a footnote".to_owned(),
            ParagraphPlace::Annotation => "an annotation".to_owned(),
        }
    }

    /// Quotes a byte range of a line with some context and its byte offset in the source.
    pub fn quote(&self, line: usize, at: &Range<usize>) -> String {
        let DraftLine {
            text, paragraph, ..
        } = &self.lines[line];
        let reversed: Vec<char> = text[..at.start].chars().rev().take(24).collect();
        let after: String = text[at.end..].chars().take(24).collect();
        let head: String = reversed.into_iter().rev().collect();
        let cut_before = if head.len() == at.start { "" } else { "…" };
        let cut_after = if at.end + after.len() == text.len() {
            ""
        } else {
            "…"
        };
        let byte = self.document.paragraphs[*paragraph].source_at(at.start);
        let quoted = format!("{cut_before}{head}{}{after}{cut_after}", &text[at.clone()]);
        format!(
            "\"{}\" ({}, byte {byte})",
            quoted.replace(['\n', '\t'], " "),
            self.whereabouts(line)
        )
    }

    /// Quotes what differs between a line and the same line of a revised draft, with a few words around it.
    pub fn change(&self, line: usize, revised: &Self, to: usize) -> String {
        let (was, is) = changed_part(&self.lines[line].text, &revised.lines[to].text, CHANGED);
        format!("\"{was}\" became \"{is}\" ({})", self.whereabouts(line))
    }

    pub fn excerpt(&self, line: usize) -> String {
        let DraftLine { text, .. } = &self.lines[line];
        let short: String = text.chars().take(60).collect();
        let more = if short.len() < text.len() { "…" } else { "" };
        format!(
            "\"{}{more}\" ({})",
            short.replace(['\n', '\t'], " "),
            self.whereabouts(line)
        )
    }
}

/// The paragraphs, with those that are lines of one sentence joined: converted documents end each line with a paragraph mark.
fn joined(paragraphs: Vec<Paragraph>) -> Vec<Paragraph> {
    let mut joined: Vec<Paragraph> = Vec::with_capacity(paragraphs.len());
    for next in paragraphs {
        match joined.last_mut() {
            Some(last) if is_continued(last) && continues(&next) => last.append(next),
            Some(_) | None => joined.push(next),
        }
    }
    joined
}

/// Whether a paragraph may be a line of a sentence that the next paragraph continues.
fn is_continued(paragraph: &Paragraph) -> bool {
    let text = paragraph.text.trim();
    let from = numbered(text, paragraph.number.as_deref()).map_or(0, |(_, from)| from);
    let ends = [',', '"', '\'', '”', '’', ')', ']', ' '];
    is_prose(paragraph)
        && !text
            .trim_end_matches(ends)
            .ends_with(['.', ';', ':', '!', '?', '_'])
        && !is_title(text[from..].trim())
        && !begins_part(text)
}

/// Whether a paragraph may be a line of the sentence before it.
fn continues(paragraph: &Paragraph) -> bool {
    let text = &paragraph.text;
    is_prose(paragraph)
        && paragraph.number.is_none()
        && numbered(text, None).is_none()
        && !ITEM.is_match(text)
        && !begins_part(text)
        && !is_title(text.trim())
}

fn is_prose(paragraph: &Paragraph) -> bool {
    let Paragraph {
        place, cell, text, ..
    } = paragraph;
    *place == ParagraphPlace::Body && cell.is_none() && !text.trim().is_empty()
}

/// Whether the words are a heading or a name on a line of its own: few words, or each with a capital.
fn is_title(words: &str) -> bool {
    is_heading(words)
        && !words.contains(". ")
        && (words.split_whitespace().count() <= 6
            || words
                .split_whitespace()
                .all(|word| word.len() <= 3 || word.starts_with(char::is_uppercase)))
}

/// The number with dots between its parts.
pub fn dotted(number: &[u32]) -> String {
    number
        .iter()
        .map(u32::to_string)
        .collect::<Vec<_>>()
        .join(".")
}

/// Parses a number such as `4.2`, `Section 4.2.` or `Article IV`.
pub fn number(text: &str) -> Option<Number> {
    let text = text.trim();
    let text = WORD.find(text).map_or(text, |word| &text[word.end()..]);
    let text = text
        .trim_end_matches(['.', ')', ':'])
        .trim_start_matches('(');
    if let Some(number) = roman(text) {
        return Some(number);
    }
    let mut parts = Number::new();
    for part in text.split('.') {
        // "1.000" is an amount, not a section.
        if part.len() > 3 || part.starts_with('0') {
            return None;
        }
        parts.push(part.parse().ok()?);
    }
    (parts.len() <= 6).then_some(parts)
}

/// Whether folded words contain a text as whole words.
pub fn contains_words(words: &str, text: &str) -> bool {
    Keyword::new(text).is_some_and(|keyword| keyword.is_in(words))
}

static PART: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^\s*(?:schedule|annexe?|appendix|exhibit|attachment)(?:\s*$|\s+(?:[0-9]{1,3}|[A-Z]|[IVX]+|one|two|three|four|five|six)\b)",
    )
});
static DELETED: LazyLock<Regex> = LazyLock::new(|| {
    let mark = r"[\[(]?\s*(?:(?:this|the)\s+)?(?:(?:section|clause|article|paragraph)\s+)?(?:(?:is|was|has been)\s+)?(?:(?:intentionally|deliberately)\s+)?(?:deleted|omitted|reserved|removed|left blank|not used)(?:\s+in its entirety)?\s*\.?\s*[\])]?\.?";
    pattern(&format!(r"^(?:{mark}|(?:\S+\s+){{1,8}}[\[(]{mark})$"))
});
static MONTH: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^(?:january|february|march|april|may|june|july|august|september|october|november|december)\b",
    )
});
/// The mark of an item of a list.
static ITEM: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^\s*(?:\(?(?:[a-zA-Z]|[ivx]{1,5}|[0-9]{1,3})[).]|[-–—•*])(?:\s|$)"));
static WORD: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)^(section|article|clause|paragraph|§)\s*"));
static WRITTEN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^\s*(?:((?i:section|article|clause)|§)\s*)?([0-9]{1,3}(?:\.[0-9]{1,3}){0,5}|[IVXLC]+)([.):]?)(\s*[–—-]\s+|\s+|$)",
    )
});

/// Whether a paragraph is the heading of a schedule or annex; the sentence "Schedule 1 sets out the prices." is not.
fn begins_part(text: &str) -> bool {
    PART.find(text).is_some_and(|label| {
        let rest = text[label.end()..].trim();
        rest.is_empty() || is_heading(rest.trim_start_matches([':', '.', '(', '-', '–', '—', ' ']))
    })
}

/// Whether the words look like a heading: few, with a capital, without a full stop.
fn is_heading(words: &str) -> bool {
    words.len() <= 80 && words.starts_with(char::is_uppercase) && !words.ends_with(['.', ';', ','])
}

/// Whether an automatic label is the letter after the previous one: C after B is not the roman number 100.
fn is_next_letter(label: &str, last: &mut Option<char>) -> bool {
    let mut letters = label.chars().filter(|char| char.is_alphanumeric());
    let (Some(letter @ 'A'..='Z'), None) = (letters.next(), letters.next()) else {
        return false;
    };
    let counts_on = last.is_some_and(|last| u32::from(last) + 1 == u32::from(letter));
    *last = Some(letter);
    counts_on
}

/// The number at the start of a paragraph, automatic or written, and the byte offset of the words after it.
fn numbered(text: &str, automatic: Option<&str>) -> Option<(Number, usize)> {
    if let Some(number) = automatic.and_then(number) {
        return Some((number, 0));
    }
    let captures = WRITTEN.captures(text)?;
    let (word, digits, mark) = (
        captures.get(1),
        captures.get(2)?.as_str(),
        captures.get(3).map_or("", |mark| mark.as_str()),
    );
    let end = captures.get(0)?.end();
    let number = match word {
        Some(_) => number(digits)?,
        // A roman number without "Section" or "Article" is often a word.
        None if digits.starts_with(|char: char| char.is_ascii_digit()) => number(digits)?,
        None => return None,
    };
    // "30 days after delivery" is not section 30, and "Section 5 of the Act applies" is not section 5. Without a mark, a
    // single number must precede a heading, and a word with its number must precede a new sentence.
    let set_off = !mark.is_empty()
        || captures
            .get(4)
            .is_some_and(|gap| gap.as_str().contains(['\t', '-', '–', '—']));
    let rest = text[end..].trim_end();
    let begins = match word {
        Some(_) => {
            set_off || rest.is_empty() || rest.starts_with(|char: char| !char.is_lowercase())
        }
        None => set_off || number.len() > 1 || (is_heading(rest) && !MONTH.is_match(rest)),
    };
    begins.then_some((number, end))
}

fn roman_digit(byte: u8) -> Option<u32> {
    match byte {
        b'I' => Some(1),
        b'V' => Some(5),
        b'X' => Some(10),
        b'L' => Some(50),
        b'C' => Some(100),
        _ => None,
    }
}

fn roman(text: &str) -> Option<Number> {
    let digits: Vec<u32> = text.bytes().map(roman_digit).collect::<Option<_>>()?;
    let mut sum = 0;
    for (index, digit) in digits.iter().enumerate() {
        let next = digits.get(index + 1).copied().unwrap_or(0);
        sum = if *digit < next {
            sum - i64::from(*digit)
        } else {
            sum + i64::from(*digit)
        };
    }
    // A single C or L is a letter. An invalid roman number ("IIX") is a word.
    let sum = u32::try_from(sum).ok()?;
    let is_number = (1..100).contains(&sum) && text != "L" && as_roman(sum) == text;
    is_number.then(|| vec![sum])
}

fn as_roman(number: u32) -> String {
    let mut left = number;
    let mut text = String::new();
    for (value, digits) in [
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ] {
        while left >= value {
            text.push_str(digits);
            left -= value;
        }
    }
    text
}

/// The normalized heading of a section: a short line, or a few words before the first full stop; otherwise empty.
fn heading(words: &str) -> String {
    let words = words.trim();
    let first = words
        .split_once(['.', ':', '\n'])
        .map_or(words, |(first, _)| first);
    let short = first.chars().count() <= 60 && first.split_whitespace().count() <= 8;
    if short { norm(first) } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::{Draft, heading, is_heading, is_next_letter, number, numbered};

    #[test]
    fn a_section_begins_with_its_number() {
        type Row = (
            &'static str,
            Option<&'static str>,
            Option<(&'static [u32], usize)>,
        );
        let table: [Row; 17] = [
            ("4.2 Payment. The Customer pays.", None, Some((&[4, 2], 4))),
            ("4. Payment", None, Some((&[4], 3))),
            (
                "4\tPayment of all sums that are due, and of interest on them.",
                None,
                Some((&[4], 2)),
            ),
            ("Section 4.2. Payment", None, Some((&[4, 2], 13))),
            ("Section 4: the price is due.", None, Some((&[4], 11))),
            ("Article IV", None, Some((&[4], 10))),
            ("ARTICLE IV – Payment", None, Some((&[4], 15))),
            ("Article IV Payment", None, Some((&[4], 11))),
            ("Payment", Some("4.2."), Some((&[4, 2], 0))),
            ("Payment", Some("(a)"), None),
            ("30 days after delivery the price is due.", None, None),
            ("30 Days", None, Some((&[30], 3))),
            ("2024 was a year", None, None),
            ("I agree", None, None),
            ("V. Nobody pays.", None, None),
            ("4.2 the price is due.", None, Some((&[4, 2], 4))),
            ("1.000 units", None, None),
        ];
        for (text, automatic, expected) in table {
            let found = numbered(text, automatic);
            assert_eq!(
                found
                    .as_ref()
                    .map(|(number, from)| (number.as_slice(), *from)),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn numbers_are_read_as_people_write_them() {
        for (text, expected) in [
            ("4.2", "4.2"),
            ("Section 4.2.", "4.2"),
            ("Article XIV", "14"),
            ("§ 3", "3"),
            ("(7)", "7"),
            ("LX", "60"),
            ("XCI", "91"),
        ] {
            assert_eq!(
                number(text).map(|number| super::dotted(&number)).as_deref(),
                Some(expected),
                "{text}"
            );
        }
        for text in ["", "4..2", "a", "4.2000", "1.2.3.4.5.6.7"] {
            assert_eq!(number(text), None, "{text}");
        }
    }

    #[test]
    fn a_heading_is_short() {
        assert_eq!(heading(" Payment. The Customer pays."), "payment");
        assert_eq!(
            heading(
                "The Customer pays all sums that are due under this Agreement within thirty days."
            ),
            ""
        );
        assert_eq!(heading("It is to be paid as soon as it is"), "");
        assert_eq!(heading(&"Payments".repeat(8)), "");
        let long = "P".repeat(81);
        for (words, so) in [
            ("Price", true),
            (&long[1..], true),
            (&long, false),
            ("price", false),
            ("Price;", false),
        ] {
            assert_eq!(is_heading(words), so, "{words}");
        }
    }

    #[test]
    fn letters_count_on_from_the_one_before() {
        let mut last = None;
        let labels = [
            ("H.", false),
            ("I.", true),
            ("J.", true),
            ("V.", false),
            ("VI.", false),
            ("W.", true),
            ("x.", false),
        ];
        for (label, so) in labels {
            assert_eq!(is_next_letter(label, &mut last), so, "{label}");
        }
    }

    #[test]
    fn each_schedule_counts_for_itself() {
        for (title, part) in [
            ("Schedule 1", 1),
            ("Annex A: Prices", 1),
            ("Schedule 1 sets out the prices.", 0),
        ] {
            let text = format!(
                "{{\\rtf1 1. Scope\\par {title}\\par 1. Price\\par {title}\\par 1. Tax\\par}}"
            );
            let parts: Vec<usize> = Draft::read(text.as_bytes())
                .sections
                .iter()
                .map(|section| section.part)
                .collect();
            assert_eq!(parts, [0, part, 2 * part], "{title}");
        }
    }
}

//! The facts in a text that another wording keeps: numbers, dates, times and telephone numbers, and the forms in which they are written.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::personal::telephones;
use super::{Keyword, norm, pattern};

/// A fact, whatever its form: "1,200.50" and "1200.5" are one, and so are "3 March" and "2026-03-03".
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    Number(Decimal),
    Date(CalendarDate),
    Time(ClockTime),
    /// The digits of a telephone number.
    Telephone(String),
}

/// A sort of facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FactSort {
    Number,
    Date,
    Time,
    Telephone,
}

/// A number that is not negative, as decimal digits without zeros around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decimal {
    whole: String,
    /// Empty for a whole number.
    fraction: String,
}

/// A day, with its year if the text states one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CalendarDate {
    year: Option<u16>,
    month: u8,
    day: u8,
}

/// A time of the day, of 24 hours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClockTime {
    hour: u8,
    minute: u8,
}

/// How much a number says: "25.50 EUR" more than "45 minutes". Other facts are exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FactWeight {
    /// A whole number without a currency or a percent sign.
    Plain,
    Exact,
}

/// A fact as a text has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatedFact {
    pub fact: Fact,
    /// Its text.
    pub written: String,
    pub weight: FactWeight,
    /// Where it begins.
    at: usize,
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

const MONTH: &str = "Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?";

/// Addresses in which digits are no facts.
static ADDRESS: LazyLock<Regex> = LazyLock::new(|| pattern(r"\S+@\S+|\b[a-z]+://\S+|\bwww\.\S+"));
/// 2026-03-14, with a time after it or not.
static ISO_DATE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?\b",
    )
});
/// 14.03.2026 and 14.3.
static DOTTED_DATE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(\d{1,2})\.(\d{1,2})\.(?:(\d{4})\b)?"));
/// 14 March 2026, 14th of March
static DAY_MONTH: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(
        r"(?i)\b(\d{{1,2}})(?:st|nd|rd|th)?\.?\s+(?:of\s+)?({MONTH})\b\.?(?:,?\s+(\d{{4}})\b)?"
    ))
});
/// March 14th, 2026
static MONTH_DAY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(
        r"(?i)\b({MONTH})\.?\s+(?:the\s+)?(\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(\d{{4}})\b)?"
    ))
});
/// 18:25, 6:25 PM, 6.25 p.m., 6 pm
static CLOCK_TIME: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:(\d{1,2}):(\d{2})(?::\d{2})?(?:\s?([ap])\.?m\b\.?)?|(\d{1,2})(?:\.(\d{2}))?\s?([ap])\.?m\b\.?)",
    )
});
/// A word with a digit. Narrow blanks group digits.
static WORD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"[\p{L}\p{N}_#]+(?:[.,'’:/\u{a0}\u{202f}\u{2009}_-][\p{L}\p{N}_]+)*")
});
/// A number at the beginning of a word: 25.50, 3-5, 30-day, 25.50EUR.
static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(\d+(?:[.,'’\u{a0}\u{202f}\u{2009}]\d+)*)(?:[-\x{2013}](\d+(?:[.,]\d+)*))?(?:\p{L}{0,4}|-\p{L}[\p{L}-]*)$",
    )
});
static CURRENCY_BEFORE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)(?:[€$£¥]|\b(?:EUR|USD|GBP|CHF))\s?$"));
static CURRENCY_AFTER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)^\s?(?:[€$£¥%]|(?:EUR|USD|GBP|CHF|euros?|dollars?|pounds?|percent|per cent)\b)")
});

/// From this number of digits on, a whole number that is written without separators and currency is a code.
const CODE_DIGITS: usize = 4;

/// The facts in a text in their order, each once. Small numbers, years, list marks, and the digits of ids, codes and addresses are none.
pub fn facts(text: &str) -> Vec<StatedFact> {
    let mut reader = FactReader {
        rest: text.to_owned(),
        found: Vec::new(),
    };
    reader.take(&ADDRESS, |_| Some(Vec::new()));
    reader.take(&ISO_DATE, |captures| {
        let date = date(
            captures.get(1),
            number_of(captures, 2)?,
            number_of(captures, 3)?,
        )?;
        let time = number_of(captures, 4)
            .zip(number_of(captures, 5))
            .and_then(|(hour, minute)| ClockTime::new(hour, minute));
        Some(
            [Fact::Date(date)]
                .into_iter()
                .chain(time.map(Fact::Time))
                .collect(),
        )
    });
    reader.take(&DOTTED_DATE, |captures| {
        let date = date(
            captures.get(3),
            number_of(captures, 2)?,
            number_of(captures, 1)?,
        )?;
        Some(vec![Fact::Date(date)])
    });
    reader.take(&DAY_MONTH, |captures| {
        let date = date(
            captures.get(3),
            month(&captures[2])?,
            number_of(captures, 1)?,
        )?;
        Some(vec![Fact::Date(date)])
    });
    reader.take(&MONTH_DAY, |captures| {
        let date = date(
            captures.get(3),
            month(&captures[1])?,
            number_of(captures, 2)?,
        )?;
        Some(vec![Fact::Date(date)])
    });
    reader.take(&CLOCK_TIME, |captures| {
        Some(vec![Fact::Time(clock_time(captures)?)])
    });
    reader.take_telephones();
    reader.take_numbers();
    let mut facts = reader.found;
    facts.sort_by_key(|stated| stated.at);
    let mut distinct: Vec<StatedFact> = Vec::new();
    for stated in facts {
        if !distinct
            .iter()
            .any(|known| known.fact.is_same(&stated.fact))
        {
            distinct.push(stated);
        }
    }
    distinct
}

/// A text of which the facts are taken one sort after the other.
struct FactReader {
    /// The text, with blanks in place of what was taken.
    rest: String,
    found: Vec<StatedFact>,
}

impl FactReader {
    /// Takes what a pattern finds; what it does not read as facts stays.
    fn take(&mut self, pattern: &Regex, read: impl Fn(&Captures<'_>) -> Option<Vec<Fact>>) {
        let mut taken = Vec::new();
        for captures in pattern.captures_iter(&self.rest) {
            let (Some(whole), Some(facts)) = (captures.get(0), read(&captures)) else {
                continue;
            };
            taken.push(whole.range());
            self.found.extend(facts.into_iter().map(|fact| StatedFact {
                fact,
                written: whole.as_str().trim().to_owned(),
                weight: FactWeight::Exact,
                at: whole.start(),
            }));
        }
        for range in taken {
            let blanks = " ".repeat(range.len());
            self.rest.replace_range(range, &blanks);
        }
    }

    fn take_telephones(&mut self) {
        for range in telephones(&self.rest) {
            let written = self.rest[range.clone()].to_owned();
            self.found.push(StatedFact {
                fact: Fact::Telephone(digits_of(&written)),
                written,
                weight: FactWeight::Exact,
                at: range.start,
            });
            let blanks = " ".repeat(range.len());
            self.rest.replace_range(range, &blanks);
        }
    }

    fn take_numbers(&mut self) {
        let words = WORD.find_iter(&self.rest);
        for word in words {
            let Some(number) = NUMBER.captures(word.as_str()) else {
                continue;
            };
            let (before, after) = (&self.rest[..word.start()], &self.rest[word.end()..]);
            if is_list_mark(before, after) || before.ends_with(['-', '\u{2212}']) {
                continue;
            }
            let has_unit = word.as_str().ends_with(char::is_alphabetic);
            let has_currency = CURRENCY_BEFORE.is_match(before) || CURRENCY_AFTER.is_match(after);
            for part in [number.get(1), number.get(2)].into_iter().flatten() {
                let is_code = part.as_str().bytes().all(|byte| byte.is_ascii_digit())
                    && part.len() >= CODE_DIGITS
                    && !has_currency
                    && !has_unit;
                let decimal = Decimal::written(part.as_str()).filter(|decimal| !decimal.is_small());
                if let (false, Some(decimal)) = (is_code, decimal) {
                    let is_exact = has_currency || !decimal.fraction.is_empty();
                    self.found.push(StatedFact {
                        fact: Fact::Number(decimal),
                        written: part.as_str().to_owned(),
                        weight: if is_exact {
                            FactWeight::Exact
                        } else {
                            FactWeight::Plain
                        },
                        at: word.start() + part.start(),
                    });
                }
            }
        }
    }
}

/// Whether a number counts an entry of a list, such as "1." at the start of a line.
fn is_list_mark(before: &str, after: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    line.trim().is_empty() && after.starts_with(['.', ')']) && !before.is_empty()
}

fn digits_of(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}

fn number_of(captures: &Captures<'_>, group: usize) -> Option<u8> {
    captures.get(group)?.as_str().parse().ok()
}

fn month(name: &str) -> Option<u8> {
    let start = name.get(..3)?;
    let index = MONTHS.iter().position(|month| {
        month
            .get(..3)
            .is_some_and(|known| known.eq_ignore_ascii_case(start))
    })?;
    u8::try_from(index + 1).ok()
}

fn date(year: Option<regex::Match<'_>>, month: u8, day: u8) -> Option<CalendarDate> {
    let is_date = (1..=12).contains(&month) && (1..=31).contains(&day);
    let year = year.and_then(|year| year.as_str().parse().ok());
    is_date.then_some(CalendarDate { year, month, day })
}

fn clock_time(captures: &Captures<'_>) -> Option<ClockTime> {
    let hour = number_of(captures, 1).or_else(|| number_of(captures, 4))?;
    let minute = number_of(captures, 2)
        .or_else(|| number_of(captures, 5))
        .unwrap_or(0);
    let half = captures.get(3).or_else(|| captures.get(6));
    match half.map(|half| half.as_str().eq_ignore_ascii_case("p")) {
        None => ClockTime::new(hour, minute),
        Some(_) if !(1..=12).contains(&hour) => None,
        Some(is_afternoon) => {
            let morning = hour % 12;
            ClockTime::new(if is_afternoon { morning + 12 } else { morning }, minute)
        }
    }
}

/// Whether the mark at this index of a number begins its fraction, and does not separate thousands.
fn is_decimal_mark(text: &str, at: usize) -> bool {
    let mark = &text[at..=at];
    let (whole, fraction) = (&text[..at], &text[at + 1..]);
    let is_group = fraction.len() == 3 && (mark == "," || whole.contains(','));
    !whole.contains(mark) && (!is_group || whole.starts_with('0'))
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

impl Decimal {
    /// A number as a text has it, with marks between thousands or without.
    fn written(text: &str) -> Option<Self> {
        let (whole, fraction) = match text.rfind(['.', ',']) {
            Some(at) if is_decimal_mark(text, at) => (&text[..at], &text[at + 1..]),
            Some(_) | None => (text, ""),
        };
        Self::new(&digits_of(whole), fraction)
    }

    fn new(whole: &str, fraction: &str) -> Option<Self> {
        if whole.is_empty() || !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        Some(Self {
            whole: match whole.trim_start_matches('0') {
                "" => "0".to_owned(),
                digits => digits.to_owned(),
            },
            fraction: fraction.trim_end_matches('0').to_owned(),
        })
    }

    /// A number of JSON.
    pub fn of_json(number: &serde_json::Number) -> Option<Self> {
        let text = number.to_string();
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        Self::new(whole, fraction)
    }

    /// A share as a percentage; `None` for 1 and more.
    pub fn percentage(&self) -> Option<Self> {
        if self.whole != "0" || self.fraction.is_empty() {
            return None;
        }
        let digits = format!("{:0<2}", self.fraction);
        Self::new(&digits[..2], &digits[2..])
    }

    /// Whether it is written in words as often as in digits, or may be a year.
    fn is_small(&self) -> bool {
        let is_year = self.whole.len() == 4
            && ["19", "20"]
                .iter()
                .any(|century| self.whole.starts_with(century));
        self.fraction.is_empty() && (self.whole.len() == 1 || is_year)
    }

    /// The forms in which texts have it.
    fn forms(&self) -> Vec<String> {
        let Self { whole, fraction } = self;
        let mut forms = Vec::new();
        let wholes: Vec<(String, &[&str])> = if whole.len() > 3 {
            vec![
                (whole.clone(), &[".", ","]),
                (grouped(whole, ','), &["."]),
                (grouped(whole, '.'), &[","]),
                (grouped(whole, ' '), &[".", ","]),
            ]
        } else {
            vec![(whole.clone(), &[".", ","])]
        };
        for (whole, marks) in wholes {
            match fraction.len() {
                // "129.00" has the word "129".
                0 => forms.push(whole),
                1 => forms.extend(marks.iter().flat_map(|mark| {
                    [
                        format!("{whole}{mark}{fraction}0"),
                        format!("{whole}{mark}{fraction}"),
                    ]
                })),
                _ => forms.extend(marks.iter().map(|mark| format!("{whole}{mark}{fraction}"))),
            }
        }
        if fraction.is_empty() {
            forms.extend(whole.parse().ok().and_then(in_words));
        }
        forms
    }
}

/// A whole number of at least four digits, with a mark between thousands.
fn grouped(whole: &str, mark: char) -> String {
    let mut out = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            out.push(mark);
        }
        out.push(digit);
    }
    out
}

/// A number of two digits in English.
fn in_words(number: u8) -> Option<String> {
    const TEENS: [&str; 10] = [
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    const TENS: [&str; 8] = [
        "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
    ];
    const ONES: [&str; 9] = [
        "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
    ];
    let (tens, ones) = (usize::from(number / 10), usize::from(number % 10));
    match (tens, ones) {
        (1, ones) => TEENS.get(ones).map(|word| (*word).to_owned()),
        (2..=9, 0) => TENS.get(tens - 2).map(|word| (*word).to_owned()),
        (2..=9, ones) => Some(format!("{}-{}", TENS.get(tens - 2)?, ONES.get(ones - 1)?)),
        _ => None,
    }
}

impl CalendarDate {
    fn forms(self) -> Vec<String> {
        let Self { year, month, day } = self;
        let Some(name) = MONTHS.get(usize::from(month) - 1) else {
            return Vec::new();
        };
        let ordinal = match day {
            1 | 21 | 31 => format!("{day}st"),
            2 | 22 => format!("{day}nd"),
            3 | 23 => format!("{day}rd"),
            _ => format!("{day}th"),
        };
        let mut forms = Vec::new();
        for name in [name, &name[..3]] {
            forms.extend([
                format!("{day} {name}"),
                format!("{ordinal} {name}"),
                format!("{ordinal} of {name}"),
                format!("{name} {day}"),
                format!("{name} {ordinal}"),
            ]);
        }
        if let Some(year) = year {
            forms.push(format!("{year}-{month:02}-{day:02}"));
        }
        forms.extend([
            format!("{name} the {ordinal}"),
            format!("{day:02}.{month:02}"),
            format!("{day}.{month}"),
            format!("{day:02}/{month:02}"),
            format!("{day}/{month}"),
            format!("{month:02}/{day:02}"),
            format!("{month}/{day}"),
        ]);
        forms
    }
}

impl ClockTime {
    fn new(hour: u8, minute: u8) -> Option<Self> {
        (hour < 24 && minute < 60).then_some(Self { hour, minute })
    }

    fn forms(self) -> Vec<String> {
        let Self { hour, minute } = self;
        let of_half = match hour % 12 {
            0 => 12,
            hour => hour,
        };
        let half = if hour < 12 { 'a' } else { 'p' };
        let halves = [
            format!(" {half}m"),
            format!("{half}m"),
            format!(" {half}.m"),
        ];
        let mut forms = vec![
            format!("{hour}:{minute:02}"),
            format!("{hour:02}:{minute:02}"),
            format!("{hour:02}.{minute:02}"),
            format!("{hour}h{minute:02}"),
        ];
        for half in &halves {
            forms.push(format!("{of_half}:{minute:02}{half}"));
            forms.push(format!("{of_half}.{minute:02}{half}"));
            if minute == 0 {
                forms.push(format!("{of_half}{half}"));
            }
        }
        forms
    }
}

impl Fact {
    pub fn sort(&self) -> FactSort {
        match self {
            Self::Number(_) => FactSort::Number,
            Self::Date(_) => FactSort::Date,
            Self::Time(_) => FactSort::Time,
            Self::Telephone(_) => FactSort::Telephone,
        }
    }

    /// Whether it is a later date, or a later time of the day.
    pub fn is_later_than(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Date(date), Self::Date(other_date)) => {
                let years = date.year.zip(other_date.year);
                years.map_or(
                    (date.month, date.day) > (other_date.month, other_date.day),
                    |_| date > other_date,
                )
            }
            (Self::Time(time), Self::Time(other_time)) => time > other_time,
            _ => false,
        }
    }

    /// Whether two facts are one; a date without a year is every date of its month and day.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Date(date), Self::Date(other_date)) => {
                let years = date.year.zip(other_date.year);
                (date.month, date.day) == (other_date.month, other_date.day)
                    && years.is_none_or(|(year, other_year)| year == other_year)
            }
            _ => self == other,
        }
    }
}

impl StatedFact {
    /// A date without a year gets that of the same day.
    pub fn with_year_of(mut self, known: &Fact) -> Self {
        if let (Fact::Date(date), Fact::Date(known)) = (&mut self.fact, known)
            && (date.month, date.day) == (known.month, known.day)
        {
            date.year = date.year.or(known.year);
        }
        self
    }

    /// The forms in which another text may have the fact, the written one first. Each is a whole word there.
    pub fn forms(&self) -> Vec<String> {
        let of_fact = match &self.fact {
            Fact::Number(number) => number.forms(),
            Fact::Date(date) => date.forms(),
            Fact::Time(time) => time.forms(),
            Fact::Telephone(digits) => {
                let groups: Vec<String> = self
                    .written
                    .split(|letter: char| !letter.is_ascii_digit())
                    .filter(|group| !group.is_empty())
                    .map(str::to_owned)
                    .collect();
                vec![groups.join(" "), groups.join("-"), digits.clone()]
            }
        };
        let mut forms = vec![self.written.clone()];
        for form in of_fact {
            if !forms.contains(&form) {
                forms.push(form);
            }
        }
        forms
    }

    /// Whether a text has one of the forms.
    pub fn is_in(&self, text: &str) -> bool {
        let normal = norm(text);
        self.forms()
            .iter()
            .filter_map(|form| Keyword::new(form))
            .any(|form| form.is_word_of(&normal))
    }
}

#[cfg(test)]
mod tests {
    use super::{Decimal, facts};

    fn written(text: &str) -> Vec<String> {
        facts(text)
            .into_iter()
            .map(|stated| stated.written)
            .collect()
    }

    #[test]
    fn a_date_without_a_year_gets_that_of_the_same_day() {
        let only = |text: &str| facts(text).remove(0);
        for (stated, known, iso) in [
            ("14 March", "2025-03-14", true),
            ("14 March", "2025-03-15", false),
            ("14 March 2024", "2025-03-14", false),
        ] {
            let forms = only(stated).with_year_of(&only(known).fact).forms();
            assert_eq!(forms.contains(&"2025-03-14".to_owned()), iso, "{forms:?}");
        }
    }

    #[test]
    fn facts_are_found_and_ids_are_none() {
        for (text, expected) in [
            ("It costs 1,200.50 EUR, 20% off.", vec!["1,200.50", "20"]),
            ("Between 12-15 days, a 30-day trial", vec!["12", "15", "30"]),
            (
                "Order A-48213, ticket T-91, 48213, seat 14C4, in 2026",
                vec![],
            ),
            ("1480 euros on 24 February", vec!["1480", "24 February"]),
            ("1. first\n2. second", vec![]),
            ("on 2026-03-14 at 18:25", vec!["2026-03-14", "18:25"]),
            (
                "March 14th, 2026 at 6:25 p.m.",
                vec!["March 14th, 2026", "6:25 p.m."],
            ),
            (
                "call 0800 555 0142 or a1@example.com",
                vec!["0800 555 0142"],
            ),
            ("14.03.2026", vec!["14.03.2026"]),
            ("3 of 5 steps", vec![]),
            ("$25 and 25.00 dollars", vec!["25"]),
        ] {
            assert_eq!(written(text), expected, "{text}");
        }
    }

    #[test]
    fn a_fact_is_found_in_other_words() {
        for (stated, texts) in [
            (
                "25.5 EUR",
                &["25.50 EUR", "\u{20ac}25,50", "25.5"] as &[&str],
            ),
            ("1200.5", &["1,200.50", "1.200,50", "1200,5", "1 200,50"]),
            ("1,480 EUR", &["1480\u{20ac}", "1.480,00", "1,480.00"]),
            ("30 days", &["thirty days", "a 30-day return policy"]),
            (
                "2026-03-03",
                &[
                    "March 3rd",
                    "3 March",
                    "the 3rd of March",
                    "03/03/2026",
                    "Mar 3",
                ],
            ),
            ("14:30", &["2:30 PM", "2.30 p.m.", "14.30", "at 2:30pm"]),
            ("0800 555 0142", &["0800-555-0142", "08005550142"]),
        ] {
            let [fact] = facts(stated).try_into().unwrap();
            for text in texts {
                assert!(fact.is_in(text), "{stated} in {text}");
            }
        }
        for (stated, text) in [
            ("25.5 EUR", "125.50"),
            ("30 days", "130 days"),
            ("2026-03-03", "13 March"),
            ("14:30", "4:30 PM"),
        ] {
            let [fact] = facts(stated).try_into().unwrap();
            assert!(!fact.is_in(text), "{stated} in {text}");
        }
    }

    #[test]
    fn a_number_of_json_is_a_number_of_a_text() {
        for (json, text) in [
            ("64.9", "64.90"),
            ("1200.5", "1.200,50"),
            ("129.0", "129.00 EUR"),
        ] {
            let number: serde_json::Number = serde_json::from_str(json).unwrap();
            let [stated] = facts(text).try_into().unwrap();
            assert_eq!(
                Decimal::of_json(&number).map(super::Fact::Number),
                Some(stated.fact)
            );
        }
        let share: serde_json::Number = serde_json::from_str("0.2").unwrap();
        let percentage = Decimal::of_json(&share).and_then(|share| share.percentage());
        assert_eq!(percentage, Decimal::new("20", ""));
    }
}

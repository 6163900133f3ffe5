//! E-mail addresses and telephone numbers in texts, and placeholders for them.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::pattern;

/// A sort of personal data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PersonalSort {
    Email,
    Telephone,
}

/// Whether personal data stay in what is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PersonalData {
    #[default]
    Kept,
    /// A placeholder takes the place of each.
    Replaced,
}

static EMAIL: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"[\p{L}\p{N}._%+-]+@(?:[\p{L}\p{N}-]+\.)+\p{L}{2,}"));
/// +49 30 1234567, 0800 555 0142, 555-012-3456: the first group. Within a longer number, a decimal or a date there is none.
static TELEPHONE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?:^|[^\p{L}\d_.,/:+-])((?:\+|0)\d{1,4}(?:[ /.-]?\(?\d{2,}\)?){1,5}|\(\d{3}\) ?\d{3}[-. ]\d{4}|\d{3}[-. ]\d{3}[-. ]\d{4})\b",
    )
});
/// How many digits a telephone number has.
const DIGITS: Range<usize> = 7..16;

/// The personal data in a text, in their order.
pub fn personal_data(text: &str) -> Vec<(PersonalSort, Range<usize>)> {
    if !text.contains(['@', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']) {
        return Vec::new();
    }
    let emails: Vec<Range<usize>> = EMAIL.find_iter(text).map(|email| email.range()).collect();
    let mut data = Vec::new();
    for range in telephones(text) {
        let is_in_email = emails
            .iter()
            .any(|email| range.start < email.end && email.start < range.end);
        if !is_in_email {
            data.push((PersonalSort::Telephone, range));
        }
    }
    data.extend(emails.into_iter().map(|range| (PersonalSort::Email, range)));
    data.sort_by_key(|(_, range)| range.start);
    data
}

/// Where a text has telephone numbers.
pub fn telephones(text: &str) -> Vec<Range<usize>> {
    let mut telephones = Vec::new();
    for captures in TELEPHONE.captures_iter(text) {
        let Some(number) = captures.get(1) else {
            continue;
        };
        let digits = number.as_str().bytes().filter(u8::is_ascii_digit).count();
        if DIGITS.contains(&digits) {
            telephones.push(number.range());
        }
    }
    telephones
}

/// The text with a placeholder for each address and number: the same one for the same value in every text.
pub fn without_personal_data(text: &str) -> Cow<'_, str> {
    let data = personal_data(text);
    if data.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut end = 0;
    for (sort, range) in data {
        plain.push_str(&text[end..range.start]);
        plain.push_str(&placeholder(sort, &text[range.clone()]));
        end = range.end;
    }
    plain.push_str(&text[end..]);
    Cow::Owned(plain)
}

/// The placeholder of a value: its four digits tell values of one repository apart, and do not tell the value.
fn placeholder(sort: PersonalSort, value: &str) -> String {
    let (name, normal): (&str, String) = match sort {
        PersonalSort::Email => ("email", value.to_lowercase()),
        PersonalSort::Telephone => (
            "telephone",
            value.chars().filter(char::is_ascii_digit).collect(),
        ),
    };
    // FNV-1a, folded to 16 bits.
    let hash = normal
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
    let folded = (hash ^ (hash >> 16) ^ (hash >> 32) ^ (hash >> 48)) & 0xffff;
    format!("[{name}-{folded:04x}]")
}

#[cfg(test)]
mod tests {
    use super::{PersonalSort, personal_data, without_personal_data};

    #[test]
    fn addresses_and_numbers_are_found_and_other_digits_are_not() {
        for (text, expected) in [
            (
                "Jane.Doe+x@mail.example.org, please",
                vec![(PersonalSort::Email, "Jane.Doe+x@mail.example.org")],
            ),
            (
                "call +49 30 1234567 or 0800 555 0142.",
                vec![
                    (PersonalSort::Telephone, "+49 30 1234567"),
                    (PersonalSort::Telephone, "0800 555 0142"),
                ],
            ),
            (
                "(555) 012-3456",
                vec![(PersonalSort::Telephone, "(555) 012-3456")],
            ),
            (
                "2026-03-02T09:14:07Z, 0.123456789, 10.0123456, A-0123456789, 1,200.50",
                vec![],
            ),
            ("00340434161094015902", vec![]),
        ] {
            let found: Vec<(PersonalSort, &str)> = personal_data(text)
                .into_iter()
                .map(|(sort, range)| (sort, &text[range]))
                .collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn one_value_has_one_placeholder() {
        let plain =
            without_personal_data("a@example.com or A@example.com, 0800 555 0142, b@example.com");
        let words: Vec<&str> = plain
            .split([' ', ','])
            .filter(|word| word.starts_with('['))
            .collect();
        let [one, same, number, other] = words.try_into().unwrap();
        assert!(one == same && one != other, "{plain}");
        assert!(
            number.starts_with("[telephone-") && !plain.contains('@'),
            "{plain}"
        );
        assert_eq!(without_personal_data(&plain), plain, "a placeholder stays");
    }
}

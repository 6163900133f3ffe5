//! Refuses whole numbers of golden files that are too long to be compared digit by digit.

use crate::diag::{Code, Diagnostic};
use crate::files::SourceText;

/// Refuses a whole number beyond 64 bits: it would be read as floating point, of which 17 digits count.
///
/// # Errors
/// The position of the first such number.
pub(super) fn every_number_exact(source: &SourceText) -> Result<(), Diagnostic> {
    let Some((at, number)) = numbers(&source.text).find(|(_, number)| is_too_long(number)) else {
        return Ok(());
    };
    let description = format!("{number} is too long to be compared digit by digit");
    Err(source.problem(
        at,
        Code::BAD_NUMBER,
        description,
        "write it as a text, also in the recordings",
    ))
}

fn is_too_long(number: &str) -> bool {
    let is_whole = !number.contains(['.', 'e', 'E']);
    is_whole && number.parse::<i64>().is_err() && number.parse::<u64>().is_err()
}

/// The numbers of a valid JSON text, each with its byte offset.
fn numbers(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let bytes = text.as_bytes();
        let mut in_text = false;
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'\\' if in_text => at += 1,
                b'"' => in_text = !in_text,
                b'-' | b'0'..=b'9' if !in_text => {
                    let start = at;
                    while bytes.get(at).is_some_and(is_of_number) {
                        at += 1;
                    }
                    return Some((start, text.get(start..at)?));
                }
                _ => {}
            }
            at += 1;
        }
        None
    })
}

fn is_of_number(byte: &u8) -> bool {
    matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')
}

#[cfg(test)]
mod tests {
    use super::{is_too_long, numbers};

    #[test]
    fn only_whole_numbers_beyond_64_bits_are_too_long() {
        let text = r#"{"9400110200881234567890": [1, "\\", -2.5e3, "a\"18446744073709551616", 18446744073709551615, 18446744073709551616,
            -9223372036854775808, -9223372036854775809, 94001102008812345678.0, 1e30]}"#;
        let found: Vec<&str> = numbers(text)
            .map(|(_, number)| number)
            .filter(|number| is_too_long(number))
            .collect();
        assert_eq!(found, ["18446744073709551616", "-9223372036854775809"]);
        assert_eq!(numbers(text).count(), 8);
        assert_eq!(numbers("[12]").next(), Some((1, "12")));
    }
}

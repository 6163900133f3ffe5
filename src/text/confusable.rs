//! Confusable characters: the Latin letter or digit that a character looks like (UTS 39).

use unicode_security::confusable_detection::skeleton;

/// The Latin letter or digit that a character looks like, in lower case; otherwise the character itself.
///
/// Letters of other alphabets without a Latin look stay unchanged, so that names in them can still be compared.
pub fn latin_look(char: char) -> char {
    if char.is_ascii() {
        return char;
    }
    let mut buffer = [0; 4];
    let mut look = skeleton(char.encode_utf8(&mut buffer));
    match (look.next(), look.next()) {
        (Some(letter), None) if letter.is_ascii_alphanumeric() => letter.to_ascii_lowercase(),
        _ => char,
    }
}

#[cfg(test)]
mod tests {
    use super::latin_look;

    #[test]
    fn a_letter_that_looks_latin_becomes_the_latin_letter() {
        for (char, look) in [
            ('\u{430}', 'a'),
            ('\u{441}', 'c'),
            ('\u{3bf}', 'o'),
            ('\u{e9}', '\u{e9}'),
            ('\u{434}', '\u{434}'),
            ('m', 'm'),
        ] {
            assert_eq!(latin_look(char), look, "{char}");
        }
    }
}

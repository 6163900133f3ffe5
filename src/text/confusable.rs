//! Characters that look like others: the Latin letter or digit that a reader takes one for (UTS 39).

use unicode_security::confusable_detection::skeleton;

/// The Latin letter or digit that a character looks like, in lower case; the character itself where it looks like none.
///
/// Letters of another alphabet that look like nothing Latin stay, so that names in it are still compared.
pub fn latin_look(char: char) -> char {
    if char.is_ascii() {
        return char;
    }
    let mut buffer = [0; 4];
    let mut look = skeleton(char.encode_utf8(&mut buffer));
    match (look.next(), look.next()) {
        (Some(one), None) if one.is_ascii_alphanumeric() => one.to_ascii_lowercase(),
        _ => char,
    }
}

#[cfg(test)]
mod tests {
    use super::latin_look;

    #[test]
    fn a_letter_of_another_alphabet_is_taken_for_the_latin_one_that_it_looks_like() {
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

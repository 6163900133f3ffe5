//! The table of all codes. A new code is one entry in one file; `goldgate explain` and `docs/errors.md` follow.

mod commands;
mod config;
mod files;
mod github;
mod golden;
mod recordings;

use crate::diag::code::{Code, CodeSection};

/// All codes by section.
pub const CODE_SECTIONS: [CodeSection; 6] = [
    files::SECTION,
    config::SECTION,
    golden::SECTION,
    recordings::SECTION,
    commands::SECTION,
    github::SECTION,
];

impl Code {
    /// All codes, section by section.
    pub fn all() -> impl Iterator<Item = Self> {
        CODE_SECTIONS
            .iter()
            .flat_map(|section| section.codes.iter().copied())
    }

    /// The code with this name.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::all().find(|code| code.as_str() == word)
    }
}

#[cfg(test)]
mod tests {
    use crate::diag::code::Code;
    use crate::diag::codes::CODE_SECTIONS;

    #[test]
    fn the_codes_of_a_section_are_sorted_and_no_code_is_defined_twice() {
        for section in &CODE_SECTIONS {
            assert!(section.codes.is_sorted(), "{:?}", section.codes);
        }
        let mut all: Vec<Code> = Code::all().collect();
        all.sort();
        let twice: Vec<_> = all
            .windows(2)
            .filter(|two| two[0].as_str() == two[1].as_str())
            .collect();
        assert!(twice.is_empty(), "{twice:?}");
    }

    #[test]
    fn an_example_is_a_diagnostic_with_a_position_a_remedy_and_its_code() {
        for code in Code::all() {
            let (example, word) = (code.example(), code.as_str());
            let text = example.strip_suffix(&format!(" [{word}]"));
            let (place, text) = text
                .and_then(|text| text.split_once(": "))
                .unwrap_or_default();
            assert!(
                !place.is_empty() && text.contains("; ") && !example.contains('\n'),
                "{word}: {example}"
            );
            let is_sentence =
                |text: &str| text.starts_with(char::is_uppercase) || text.starts_with('`');
            assert!(
                is_sentence(code.cause()) && code.cause().ends_with('.'),
                "{word}: {}",
                code.cause()
            );
            assert!(
                is_sentence(code.fix()) && code.fix().ends_with('.'),
                "{word}: {}",
                code.fix()
            );
        }
    }

    #[test]
    fn a_code_is_found_by_its_whole_name() {
        assert_eq!(Code::of_word("unknown-key"), Some(Code::UNKNOWN_KEY));
        assert_eq!(Code::of_word("unknown"), None);
        assert!(Code::all().all(|code| Code::of_word(code.as_str()) == Some(code)));
    }
}

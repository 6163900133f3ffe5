//! Groups of words that mean the same: a file with a group a line, and commas between its words.

use std::collections::BTreeMap;

use crate::diag::{Code, Diagnostic};
use crate::files::{Files, SourceText};
use crate::model::RepoPath;

/// The groups of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Synonyms {
    groups: Vec<Vec<String>>,
    /// The groups of each word, by its normal form.
    by_word: BTreeMap<String, Vec<usize>>,
    text: String,
}

impl Synonyms {
    /// The groups of a file; none without a file. `form` is the normal form in which words are compared.
    ///
    /// # Errors
    /// The file cannot be read, has no group, or has a group of one word.
    pub fn open(
        file: Option<&RepoPath>,
        files: &dyn Files,
        form: fn(&str) -> String,
    ) -> Result<Self, Diagnostic> {
        match file {
            Some(file) => Self::read(&files.text(file)?, form),
            None => Ok(Self::default()),
        }
    }

    fn read(source: &SourceText, form: fn(&str) -> String) -> Result<Self, Diagnostic> {
        let mut synonyms = Self {
            text: source.text.to_string(),
            ..Self::default()
        };
        let mut offset = 0;
        for line in source.text.split_inclusive('\n') {
            let words: Vec<String> = line
                .split(',')
                .map(|word| word.trim().to_owned())
                .filter(|word| !form(word).is_empty())
                .collect();
            if words.len() == 1 {
                let description = format!("\"{}\" has no synonym", words[0]);
                let help = "write a group of words on one line, with commas between";
                return Err(source.problem(offset, Code::NO_EFFECT, description, help));
            }
            offset += line.len();
            synonyms.add(words, form);
        }
        if synonyms.groups.is_empty() {
            return Err(Diagnostic::of_file(
                &source.file,
                Code::NO_TERMS,
                "the file has no group",
                "write a group of words on one line, with commas between",
            ));
        }
        Ok(synonyms)
    }

    fn add(&mut self, words: Vec<String>, form: fn(&str) -> String) {
        if words.is_empty() {
            return;
        }
        for word in &words {
            let groups = self.by_word.entry(form(word)).or_default();
            groups.push(self.groups.len());
        }
        self.groups.push(words);
    }

    /// The text of the file; it is part of a case's digest.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The words of every group that has this word, which is in the normal form.
    pub fn of(&self, normal: &str) -> impl Iterator<Item = &str> {
        let groups = self.by_word.get(normal).into_iter().flatten();
        let words = groups.flat_map(|group| &self.groups[*group]);
        words.map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::Synonyms;
    use crate::files::SourceText;
    use crate::model::RepoPath;
    use crate::text::same_category;

    fn read(text: &str) -> Result<Synonyms, String> {
        let file = RepoPath::root().child("synonyms.txt");
        let source = SourceText::from_text(file, text.to_owned());
        Synonyms::read(&source, same_category).map_err(|problem| problem.to_string())
    }

    #[test]
    fn a_word_has_the_words_of_each_of_its_groups() {
        let synonyms =
            read("Exit, termination\n\npricing_risk, Pricing , fees,\nexit, way out").unwrap();
        let of = |word: &str| synonyms.of(word).collect::<Vec<&str>>();
        assert_eq!(of("exit"), ["Exit", "termination", "exit", "way out"]);
        assert_eq!(of("pricing risk"), ["pricing_risk", "Pricing", "fees"]);
        assert_eq!(of("out"), [""; 0]);
    }

    #[test]
    fn a_group_of_one_word_and_a_file_without_a_group_are_refused() {
        let one = read("a, b\nexit,\n").unwrap_err();
        assert!(
            one.starts_with("synonyms.txt:2:1: \"exit\" has no synonym"),
            "{one}"
        );
        let none = read(" \n,\n").unwrap_err();
        assert!(none.contains("the file has no group"), "{none}");
    }
}

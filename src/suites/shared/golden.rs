//! Checks for the parts of every golden file: keywords, categories, texts and rules.

use crate::diag::{Code, Diagnostic, did_you_mean};
use crate::format::Step::{At, Key};
use crate::format::{JsonCursor, Step};
use crate::model::InputLimit;
use crate::text::{Keyword, same_category};

impl JsonCursor<'_> {
    /// The keyword at a path, in its normal form.
    pub fn keyword(&self, path: &[Step<'_>], text: &str) -> Result<Keyword, Diagnostic> {
        match Keyword::new(text) {
            Some(keyword) => Ok(keyword),
            None => Err(self.problem(
                path,
                Code::EMPTY_KEYWORD,
                format!("the keyword {text:?} is empty"),
                "write a word, or remove it: an empty keyword would match everything",
            )),
        }
    }

    /// The keywords of the list at a path, in their normal forms.
    ///
    /// # Errors
    /// A keyword is empty in the normal form.
    pub fn keywords(
        &self,
        path: &[Step<'_>],
        texts: &[String],
    ) -> Result<Vec<Keyword>, Diagnostic> {
        texts
            .iter()
            .enumerate()
            .map(|(at, text)| self.keyword(&step(path, At(at)), text))
            .collect()
    }

    /// A category, normalized for comparison.
    ///
    /// # Errors
    /// The category is empty, or not one of the suite's.
    pub fn category(
        &self,
        path: &[Step<'_>],
        text: &str,
        known: Option<&[String]>,
    ) -> Result<String, Diagnostic> {
        let key = same_category(text);
        if key.is_empty() {
            return Err(self.problem(
                path,
                Code::EMPTY_CATEGORY,
                "the category is empty",
                "name a category",
            ));
        }
        let Some(known) =
            known.filter(|known| !known.iter().any(|category| same_category(category) == key))
        else {
            return Ok(key);
        };
        let help = did_you_mean(
            text,
            known,
            format!("the suite's categories are {}", known.join(", ")),
        );
        Err(self.problem(
            path,
            Code::UNKNOWN_CATEGORY,
            format!("unknown category \"{text}\""),
            help,
        ))
    }

    /// Refuses a list of more than [`InputLimit::EXPECTATIONS`] entries: each is compared with the whole answer.
    pub fn few_expectations(&self, list: &str, count: usize) -> Result<(), Diagnostic> {
        let limit = &InputLimit::EXPECTATIONS;
        if !limit.is_exceeded_by(count) {
            return Ok(());
        }
        let description = format!("{count} entries in `{list}`; the limit is {limit}");
        Err(self.problem(
            &[Key(list), At(limit.count())],
            Code::TOO_MANY,
            description,
            limit.help,
        ))
    }

    /// Refuses an empty text; `name` is its name in the message.
    pub fn filled(&self, path: &[Step<'_>], name: &str, text: &str) -> Result<(), Diagnostic> {
        if text.trim().is_empty() {
            return Err(self.problem(
                path,
                Code::EMPTY_TEXT,
                format!("{name} is empty"),
                "write it, or remove it",
            ));
        }
        Ok(())
    }

    /// The rule that the part tests. An empty one would be in every prompt package, so that every failure would get the tag
    /// `model`.
    pub fn rule(&self, rule: Option<String>) -> Result<Option<String>, Diagnostic> {
        if let Some(text) = &rule {
            self.filled(&[Key("rule")], "the rule", text)?;
        }
        Ok(rule)
    }
}

pub fn step<'a>(path: &[Step<'a>], last: Step<'a>) -> Vec<Step<'a>> {
    path.iter().copied().chain([last]).collect()
}

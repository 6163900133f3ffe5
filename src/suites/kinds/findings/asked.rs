//! The prompt of a findings agent: one document, and the suite's categories.

use serde_json::json;

use crate::model::{AnswerForm, Ask, RepoPath};
use crate::suites::shared::asking::{Prompt, list, object, one_of, text};
use crate::suites::shared::finding::Severity;

/// Maximum number of words in one list of a schema; vendors' strict modes allow some more.
const MOST_WORDS: usize = 200;

pub fn ask(file: &RepoPath, document: &str, categories: &[String]) -> Ask {
    let name = file.name();
    let mut prompt = Prompt::of(format!(
        "Review the document \"{name}\". Report your findings on it, and its gaps: what it relies on and you were not given."
    ));
    if !categories.is_empty() {
        prompt = prompt.say(&format!(
            "The category of a finding is one of: {}.",
            categories.join(", ")
        ));
    }
    let prompt = prompt
        .say(&format!(
            "The severity is one of: {}. Every finding cites the file (\"{name}\"), the section, and a short quote from it, \
             letter by letter.",
            severities().join(", ")
        ))
        .say(
            "Answer with one JSON object: {\"findings\": [{\"category\", \"severity\", \"title\", \"description\", \
             \"citations\": [{\"file\", \"section\", \"quote\"}]}], \"gaps\": [{\"type\", \"description\"}]}. Where there is \
             nothing to report, a list is empty.",
        )
        .show(&[(&format!("The document \"{name}\""), document)]);
    let inputs = json!({"file": file.to_string(), "text": document, "categories": categories});
    Ask::plain(prompt.text(), inputs, Some(form(categories)))
}

fn severities() -> [&'static str; 5] {
    Severity::ALL.map(|(_, word, _)| word)
}

fn form(categories: &[String]) -> AnswerForm {
    let category = match categories.len() {
        1..=MOST_WORDS => one_of(categories.iter().map(String::as_str)),
        _ => text(),
    };
    let citation = object([("file", text()), ("section", text()), ("quote", text())]);
    let finding = object([
        ("category", category),
        ("severity", one_of(severities())),
        ("title", text()),
        ("description", text()),
        ("citations", list(&citation)),
    ]);
    let gap = object([("type", text()), ("description", text())]);
    AnswerForm {
        name: "findings",
        schema: object([("findings", list(&finding)), ("gaps", list(&gap))]),
    }
}

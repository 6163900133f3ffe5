//! How texts of prompts are written in files and requests.

use crate::files::SourceText;
use crate::format::{golden_value, lenient};
use crate::model::{RepoPath, RunStatus};
use crate::suites::texts_of;

/// What placeholders begin or end with, in the usual languages of templates.
pub const PLACEHOLDERS: [char; 8] = ['{', '}', '<', '>', '$', '%', '[', ']'];

/// What texts begin and end with in code and YAML.
pub const QUOTES: [char; 3] = ['"', '\'', '`'];

/// A file of the agent that changed.
pub struct ChangedAgentFile<'a> {
    pub file: &'a RepoPath,
    pub before: &'a str,
    pub after: &'a str,
}

/// The letters and digits of a text: how it is wrapped, quoted and escaped does not matter.
pub fn letters(text: &str) -> String {
    let text = text.replace("\\n", " ");
    text.chars()
        .filter(|char| char.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// What the model was asked: the prompt, and the texts of each recorded request. `None` if a recording states neither.
pub fn requests(recording: &SourceText) -> Option<Vec<String>> {
    let run = lenient::whole(&recording.text)?;
    // A run that failed may have asked nothing, and is not graded.
    if run["status"]
        .as_str()
        .is_some_and(|status| status != RunStatus::Completed.as_str())
    {
        return None;
    }
    let exchanges = run["intermediate"]["exchanges"]
        .as_array()
        .into_iter()
        .flatten();
    let bodies = exchanges.map(|exchange| &exchange["request"]["body"]);
    let requests = [&run["inputs"]["prompt"]]
        .into_iter()
        .chain(bodies)
        .map(|request| {
            let mut texts = Vec::new();
            texts_of(request, &mut texts);
            texts.join("\n")
        });
    let requests: Vec<String> = requests.filter(|request| !request.is_empty()).collect();
    (!requests.is_empty()).then_some(requests)
}

/// The texts in a file of JSON or YAML; `None` for another file.
pub fn values(file: &RepoPath, text: &str) -> Option<Vec<String>> {
    let value = golden_value(SourceText::from_text(file.clone(), text.to_owned()))?;
    let mut texts = Vec::new();
    texts_of(&value, &mut texts);
    Some(texts.into_iter().map(str::to_owned).collect())
}

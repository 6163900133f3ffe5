//! The digest of an agent's input: a recording of another input does not count for this case.

use serde_json::{Map, Value, json};

use super::asking::MATERIAL;
use crate::diag::Diagnostic;
use crate::files::{Files, escaped_name, files_below, sha256_hex};
use crate::model::{Ask, CannedTool, QUERY, REDACTED, Toolbox, UserTurns};
use crate::text::without_returns;

/// Fields of a request that do not change the input: paths, and the answer format.
const NOT_ASKED: [&str; 4] = ["file", "repository", "categories", "max_calls"];

/// The field with the messages of a conversation.
pub const TURNS: &str = "turns";

/// The fields that goldgate's own prompts show in full.
const SHOWN: [&str; 2] = ["text", "original"];

/// The digest of a case's input: its fields as values, the tools that the suite offers, and the files that the agent may read. goldgate's
/// own prompt texts, paths and the layout of the golden file do not count.
pub fn input_digest(ask: &Ask, files: &dyn Files) -> Result<String, Diagnostic> {
    let mut fields = match &ask.inputs {
        Value::Object(fields) => fields.clone(),
        value => Map::from_iter([("inputs".to_owned(), value.clone())]),
    };
    fields.retain(|key, _| !NOT_ASKED.contains(&key.as_str()));
    let mut list = unix_lines(Value::Object(fields)).to_string();
    if let Toolbox::Canned(tools) = &ask.tools {
        let offered: Vec<Value> = tools.iter().map(offered_tool).collect();
        list.push_str(&format!("\n{}", unix_lines(Value::Array(offered))));
    }
    if let Toolbox::Folder { root, .. } = &ask.tools {
        for (inner, file) in files_below(files, root)? {
            let inner = escaped_name(&inner);
            let digest = sha256_hex(&without_returns(&files.bytes(&file)?));
            list.push_str(&format!("\n{digest}  {inner}"));
        }
    }
    Ok(sha256_hex(list.as_bytes()))
}

/// A tool that the suite offers, with what it answers.
fn offered_tool(tool: &CannedTool) -> Value {
    let CannedTool { spec, results } = tool;
    let results: Vec<Value> = results
        .iter()
        .map(|result| json!([result.when, result.says]))
        .collect();
    json!([spec.name, spec.description, spec.parameters, results])
}

/// Replaces `\r\n` by `\n`: git may check a text out with other line endings than it stores.
fn unix_lines(value: Value) -> Value {
    match value {
        Value::String(text) if text.contains('\r') => Value::String(text.replace("\r\n", "\n")),
        Value::Array(list) => list.into_iter().map(unix_lines).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(key, value)| (key, unix_lines(value)))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

/// The user's own words, if the case is a query or a conversation: each message that the case states, in order.
pub fn user_messages(ask: &Ask) -> Vec<&str> {
    match &ask.turns {
        UserTurns::Scripted(messages) => messages
            .iter()
            .map(|message| message.text.as_str())
            .collect(),
        UserTurns::Single | UserTurns::Simulated(_) => ask
            .inputs
            .get(QUERY)
            .and_then(Value::as_str)
            .into_iter()
            .collect(),
    }
}

/// Whether a run's messages of the user are those of the case. A simulated user says only the first one for certain.
pub fn fits_said(ask: &Ask, said: &[&str]) -> bool {
    let stated = user_messages(ask);
    match &ask.turns {
        UserTurns::Single | UserTurns::Scripted(_) => are_same_texts(&stated, said),
        UserTurns::Simulated(user) => {
            said.len() <= user.max_turns as usize
                && said
                    .get(..1)
                    .is_some_and(|first| are_same_texts(&stated, first))
        }
    }
}

/// Whether two lists of messages have the same words, ignoring whitespace.
pub fn are_same_texts(left: &[&str], right: &[&str]) -> bool {
    left.len() == right.len()
        && left
            .iter()
            .zip(right)
            .all(|(left, right)| is_same_text(left, right))
}

/// Whether two texts have the same words, ignoring whitespace.
pub fn is_same_text(left: &str, right: &str) -> bool {
    left.split_whitespace().eq(right.split_whitespace())
}

/// Whether a recorded prompt is certainly of another case: it lacks the user's first message, or it is a prompt of goldgate's own around
/// another document. Recordings with a digest are compared by digest instead.
pub fn is_of_another_case(ask: &Ask, prompt: &str) -> bool {
    // The redacted secret is unknown.
    if prompt.contains(REDACTED) {
        return false;
    }
    // The record's prompt is what was said before the first answer.
    match user_messages(ask).first() {
        Some(query) => !has_words(prompt, query),
        None if prompt.contains(MATERIAL) => SHOWN
            .iter()
            .filter_map(|key| ask.inputs.get(*key)?.as_str())
            .any(|text| !has_words(prompt, text)),
        None => false,
    }
}

fn has_words(prompt: &str, text: &str) -> bool {
    normal(prompt).contains(&normal(text))
}

/// Whether the agent may ask questions, so that a conversation continues after the first message.
pub fn has_rounds(ask: &Ask) -> bool {
    ask.inputs
        .get("rounds")
        .is_some_and(|rounds| !rounds.is_null())
}

/// Whether a prompt contains everything that the case asks, so that its answer belongs to this case. No prompt shows which
/// repository an agent read.
pub fn is_shown_in(ask: &Ask, prompt: &str) -> bool {
    if matches!(ask.tools, Toolbox::Folder { .. }) {
        return false;
    }
    let prompt = normal(prompt);
    let mut texts = Vec::new();
    for (key, value) in ask.inputs.as_object().into_iter().flatten() {
        if !NOT_ASKED.contains(&key.as_str()) {
            texts_of(value, &mut texts);
        }
    }
    !texts.is_empty() && texts.iter().all(|text| has_text(&prompt, text))
}

/// Whether a prompt in its normal form has a text, also as part of a JSON value.
fn has_text(prompt: &str, text: &str) -> bool {
    let quoted = Value::from(text).to_string();
    prompt.contains(&normal(text)) || prompt.contains(&normal(quoted.trim_matches('"')))
}

/// Adds all texts within a value, in order.
pub fn texts_of<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(list) => {
            for value in list {
                texts_of(value, texts);
            }
        }
        Value::Object(fields) => {
            for value in fields.values() {
                texts_of(value, texts);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn normal(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{
        are_same_texts, fits_said, input_digest, is_of_another_case, is_same_text, is_shown_in,
        user_messages,
    };
    use crate::diag::Diagnostic;
    use crate::files::{Entry, EntryKind, Files};
    use crate::model::{Ask, RepoPath, SimulatedUser, Toolbox, UserMessage, UserTurns};

    /// A folder with one file: its name and its content.
    struct SingleFileFolder(&'static str, &'static str);

    impl Files for SingleFileFolder {
        fn list_all(&self, _: &RepoPath) -> Result<Vec<Entry>, Diagnostic> {
            Ok(vec![Entry {
                name: self.0.to_owned(),
                kind: EntryKind::File,
            }])
        }

        fn bytes(&self, _: &RepoPath) -> Result<Vec<u8>, Diagnostic> {
            Ok(self.1.into())
        }
    }

    fn ask(inputs: Value, tools: Toolbox) -> Ask {
        Ask {
            prompt: "Do it.".to_owned(),
            inputs,
            answer: None,
            tools,
            turns: UserTurns::Single,
        }
    }

    fn digest(inputs: Value) -> String {
        input_digest(&ask(inputs, Toolbox::Empty), &SingleFileFolder("a", "")).unwrap()
    }

    #[test]
    fn the_question_counts_and_its_path_does_not() {
        let asked = digest(json!({"text": "a\nb", "file": "x/a.md", "categories": ["c"]}));
        assert_eq!(asked, digest(json!({"text": "a\r\nb", "file": "y/a.md"})));
        assert_ne!(
            asked,
            digest(json!({"text": "a\nc", "file": "x/a.md", "categories": ["c"]}))
        );
        assert_ne!(asked, digest(json!({"text": "a\nb", "question": "why"})));
    }

    #[test]
    fn every_file_of_a_repository_counts() {
        let folder = |name| Toolbox::Folder {
            root: RepoPath::root().child(name),
            max_calls: 3,
        };
        let of = |name, file: &SingleFileFolder| {
            input_digest(&ask(json!({"question": "q"}), folder(name)), file).unwrap()
        };
        let first = of("repo", &SingleFileFolder(".env", "1"));
        assert_eq!(first, of("moved", &SingleFileFolder(".env", "1")));
        assert_ne!(first, of("repo", &SingleFileFolder(".env", "2")));
        assert_ne!(first, of("repo", &SingleFileFolder("env", "1")));
        assert_eq!(
            of("repo", &SingleFileFolder("a", "1\n")),
            of("repo", &SingleFileFolder("a", "1\r\n"))
        );
    }

    #[test]
    fn every_message_of_a_conversation_counts() {
        let talk = |messages: &[&str]| {
            let turns = UserTurns::Scripted(
                messages
                    .iter()
                    .map(|text| UserMessage::query(text))
                    .collect(),
            );
            Ask {
                turns,
                ..ask(json!({ "turns": messages }), Toolbox::Empty)
            }
        };
        let digest =
            |messages: &[&str]| input_digest(&talk(messages), &SingleFileFolder("a", "")).unwrap();
        assert_ne!(
            digest(&["Where is it?", "Cancel it."]),
            digest(&["Where is it?", "Send it back."])
        );
        assert_ne!(
            digest(&["Where is it?", "Cancel it."]),
            digest(&["Where is it?"])
        );
        assert_eq!(user_messages(&talk(&["a", "b"])), ["a", "b"]);
        assert_eq!(
            user_messages(&ask(json!({ "query": "a" }), Toolbox::Empty)),
            ["a"]
        );
        assert!(is_of_another_case(
            &talk(&["Where is it?", "b"]),
            "Be brief.\n\nWhere was it?"
        ));
        assert!(!is_of_another_case(
            &talk(&["Where is it?", "b"]),
            "Be brief.\n\nWhere is it?"
        ));
        assert!(
            are_same_texts(&["a", " b\n"], &["a", "b"]) && !are_same_texts(&["a"], &["a", "b"])
        );
    }

    #[test]
    fn only_the_first_message_of_a_simulated_user_is_stated() {
        let user = SimulatedUser {
            target: "m".to_owned(),
            goal: "g".to_owned(),
            max_turns: 2,
        };
        let asked = Ask {
            turns: UserTurns::Simulated(user),
            ..ask(json!({ "query": "a" }), Toolbox::Empty)
        };
        assert!(fits_said(&asked, &["a"]) && fits_said(&asked, &[" a", "x"]));
        assert!(
            !fits_said(&asked, &["b"])
                && !fits_said(&asked, &["a", "x", "y"])
                && !fits_said(&asked, &[])
        );
    }

    #[test]
    fn a_recorded_prompt_of_another_case_is_known() {
        let query = ask(json!({"query": "Where is  my order?"}), Toolbox::Empty);
        assert!(!is_of_another_case(
            &query,
            "Be brief.\n\nWhere is my\norder?"
        ));
        assert!(is_of_another_case(&query, "Be brief.\n\nWhere is it?"));
        let document = ask(json!({"text": "The rent is 1."}), Toolbox::Empty);
        let own = |text: &str| {
            format!(
                "Review it.\n\n{}\n\nThe document:\n```\n{text}\n```",
                super::MATERIAL
            )
        };
        assert!(!is_of_another_case(&document, &own("The rent is 1.")));
        assert!(is_of_another_case(&document, &own("The rent is 2.")));
        // A custom prompt may name the document in its own way.
        assert!(!is_of_another_case(&document, "Review lease.md"));
        assert!(is_same_text(" a\n b", "a b") && !is_same_text("a b", "ab"));
    }

    #[test]
    fn a_prompt_shows_what_the_case_asks() {
        let asks = |inputs| ask(inputs, Toolbox::Empty);
        let document =
            asks(json!({"text": "The \"rent\"\nis 1.", "file": "lease.md", "categories": ["c"]}));
        assert!(is_shown_in(&document, "Review this:\n\nThe \"rent\" is 1."));
        assert!(is_shown_in(
            &document,
            "{\"document\": \"The \\\"rent\\\"\\nis 1.\"}"
        ));
        assert!(!is_shown_in(
            &document,
            "Review this:\n\nThe \"rent\" is 2."
        ));
        assert!(!is_shown_in(&document, "Review lease.md"));
        assert!(
            !is_shown_in(&asks(json!({"rounds": 3})), "anything"),
            "there is no text to show"
        );
        let folder = Toolbox::Folder {
            root: RepoPath::root().child("repo"),
            max_calls: 3,
        };
        assert!(!is_shown_in(&ask(json!({"question": "q"}), folder), "q"));
    }
}

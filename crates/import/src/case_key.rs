//! The name of a run's case under a key of its record.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::loose;
use crate::problem::{Problem, ProblemKind};
use crate::source::Source;
use crate::transcript::Transcript;

/// Names the case of each run by a key of its record: keys separated by dots.
///
/// # Errors
/// Records without a text or a number there.
pub fn name_cases(
    source: &Source<'_>,
    runs: &mut [Transcript],
    key: &str,
) -> Result<(), Vec<Problem>> {
    let mut problems = Vec::new();
    for run in runs {
        match case_at(source, run.at, key) {
            Ok(case) => run.case = Some(case),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(problems)
    }
}

fn case_at(source: &Source<'_>, at: usize, key: &str) -> Result<String, Problem> {
    let text = source.text.get(at..).unwrap_or_default();
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    let record = values.next().and_then(Result::ok);
    let record = record.and_then(|raw| loose::whole(raw.get()));
    let case = record.as_ref().and_then(|record| text_at(record, key));
    match case {
        Some(case) => Ok(case),
        None => {
            let description = format!("this record has no text or number at {key:?}");
            let help = "name keys that each record has, such as metadata.thread_id";
            Err(Problem::new(at, ProblemKind::NoCase, description, help))
        }
    }
}

/// A name as an id: what an id cannot have becomes a hyphen.
pub fn as_id(name: &str) -> String {
    name.replace(
        |letter: char| !letter.is_ascii_alphanumeric() && !['.', '_', '-'].contains(&letter),
        "-",
    )
}

/// The text or the number at a path. A key may contain dots itself.
pub fn text_at(value: &Value, path: &str) -> Option<String> {
    match value.get(path) {
        Some(Value::String(text)) => return Some(text.clone()),
        Some(Value::Number(number)) => return Some(number.to_string()),
        Some(_) | None => {}
    }
    let dots = path.match_indices('.').map(|(at, _)| path.split_at(at));
    dots.into_iter()
        .find_map(|(key, rest)| text_at(value.get(key)?, &rest[1..]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::text_at;

    #[test]
    fn a_path_leads_through_keys_with_and_without_dots() {
        let record = json!({ "a": { "b.c": { "d": 7 } }, "a.b": "x", "list": ["y"] });
        assert_eq!(text_at(&record, "a.b.c.d").as_deref(), Some("7"));
        assert_eq!(text_at(&record, "a.b").as_deref(), Some("x"));
        assert_eq!(text_at(&record, "a.b.c"), None);
        assert_eq!(text_at(&record, ""), None);
        assert_eq!(text_at(&record, "list.0"), None);
    }
}

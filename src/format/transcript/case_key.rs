//! The name of a run's case under a key of its record.

use serde_json::Value;
use serde_json::value::RawValue;

use super::recorded_run::Transcript;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::files::SourceText;

/// Names the case of each run by a key of its record: keys separated by dots.
///
/// # Errors
/// Records without a text or a number there.
pub fn name_cases(
    source: &SourceText,
    runs: &mut [Transcript],
    key: &str,
) -> Result<(), Diagnostics> {
    let mut problems = Diagnostics::default();
    for run in runs {
        run.case = problems.keep(case_at(source, run.at, key));
    }
    problems.or(())
}

fn case_at(source: &SourceText, at: usize, key: &str) -> Result<String, Diagnostic> {
    let mut values =
        serde_json::Deserializer::from_str(&source.text[at..]).into_iter::<&RawValue>();
    let record = values.next().and_then(Result::ok);
    let record: Option<Value> = record.and_then(|raw| serde_json::from_str(raw.get()).ok());
    record
        .as_ref()
        .and_then(|record| text_at(record, key))
        .ok_or_else(|| {
            let what = format!("this record has no text or number at {key:?}");
            let help = "name keys that each record has, such as metadata.thread_id";
            source.problem(at, Code::NO_CASE, what, help)
        })
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

//! Reads YAML: as JSON with positions ([`yaml_as_json`]), and with merge keys for files of other programs ([`merged`]). The only module
//! that uses the YAML crates.

pub mod edit;
mod json_text;

use serde_json::Value;

pub use self::json_text::{YamlDialect, yaml_as_json};
use super::json;
use crate::diag::{Code, Diagnostic};
use crate::files::SourceText;

/// Reads a file of another program as one value, with the keys that others merge into it by `<<`.
///
/// # Errors
/// As [`yaml_as_json`], duplicate keys, and what cannot be merged.
pub fn merged(source: &SourceText) -> Result<Value, Diagnostic> {
    let json = yaml_as_json(source.clone(), YamlDialect::Foreign)?;
    let mut value: serde_yaml::Value = json::with_unique_keys(&json)?;
    let refuse = |error: serde_yaml::Error| {
        let what = format!("invalid YAML: {error}");
        let help = "merge a mapping or a list of mappings";
        json.problem(0, Code::BAD_VALUE, what, help)
    };
    value.apply_merge().map_err(refuse)?;
    serde_yaml::from_value(value).map_err(refuse)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::merged;
    use crate::files::SourceText;
    use crate::model::RepoPath;

    fn read(text: &str) -> Result<serde_json::Value, String> {
        let file = RepoPath::root().child("a.yaml");
        merged(&SourceText::from_text(file, text.to_owned())).map_err(|problem| problem.to_string())
    }

    #[test]
    fn keys_of_an_anchor_are_merged() {
        let text = "a: &a {x: 1, y: 007}\nb: {<<: *a, x: .inf}\n5: !!str 5\n";
        let expected = json!({"a": {"x": 1, "y": "007"}, "b": {"x": ".inf", "y": "007"}, "5": "5"});
        assert_eq!(read(text), Ok(expected));
    }

    #[test]
    fn what_cannot_be_merged_is_refused() {
        let merge = "a.yaml:1:1: invalid YAML: expected a mapping or list of mappings for merging, but found scalar; ";
        for (text, expected) in [
            ("<<: 1\n", merge),
            ("a: 1\na: 2\n", "a.yaml:2:1: duplicate key \"a\"; "),
            ("a: !x 1\n", "a.yaml:1:4: a tag sets the type of this value"),
        ] {
            let problem = read(text).unwrap_err();
            assert!(problem.starts_with(expected), "{problem}");
        }
    }
}

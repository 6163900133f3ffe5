//! Validates JSON against a JSON Schema. Only this file knows the crate; nothing is fetched, and patterns are linear.

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;

use super::schema_keywords::ineffective_keyword;
use crate::text::line;

/// The longest reason why a value is not valid, in characters.
const REASON: usize = 200;

/// A JSON Schema, compiled.
#[derive(Debug)]
pub struct JsonSchemaValidator(Validator);

impl JsonSchemaValidator {
    /// Compiles a schema. Drafts 4 to 2020-12 are known; without `$schema` it is 2020-12. A `format` is checked, not only noted.
    ///
    /// # Errors
    /// Why it is not a valid schema, in one line. A `$ref` to another document is not resolved. An unknown format is an error, and so is a
    /// keyword without effect, such as a misspelt one: JSON Schema ignores both, so the check could not fail.
    pub fn new(schema: &Value) -> Result<Self, String> {
        if let Some(why) = ineffective_keyword(schema, Draft::default().detect(schema)) {
            return Err(line(&why, REASON));
        }
        let options = jsonschema::options()
            .offline()
            .with_pattern_options(PatternOptions::regex());
        let options = options
            .should_validate_formats(true)
            .should_ignore_unknown_formats(false);
        options
            .build(schema)
            .map(Self)
            .map_err(|error| line(&error.to_string(), REASON))
    }

    /// Every reason why a value is not valid, each with its path in the value; empty if it is valid.
    pub fn reasons(&self, value: &Value) -> Vec<String> {
        let errors = self.0.iter_errors(value).map(|error| {
            let path = error.instance_path().to_string();
            let at = if path.is_empty() {
                String::new()
            } else {
                format!("{path}: ")
            };
            line(&format!("{at}{error}"), REASON)
        });
        errors.collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::JsonSchemaValidator;

    #[test]
    fn a_value_that_is_not_valid_has_reasons_with_paths() {
        let schema = json!({"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}});
        let validator = JsonSchemaValidator::new(&schema).unwrap();
        assert_eq!(validator.reasons(&json!({"id": 1})), Vec::<String>::new());
        assert_eq!(
            validator.reasons(&json!({"id": "x"})),
            ["/id: \"x\" is not of type \"integer\""]
        );
        assert_eq!(
            validator.reasons(&json!({})),
            ["\"id\" is a required property"]
        );
    }

    #[test]
    fn a_schema_that_is_not_valid_or_is_elsewhere_is_refused() {
        assert!(JsonSchemaValidator::new(&json!({"type": "objekt"})).is_err());
        let elsewhere = json!({"$ref": "https://schemas.example.com/order.json"});
        assert!(JsonSchemaValidator::new(&elsewhere).is_err());
        let file = json!({"$ref": "file:///etc/hostname"});
        assert!(JsonSchemaValidator::new(&file).is_err());
    }

    #[test]
    fn a_format_is_checked() {
        let validator =
            JsonSchemaValidator::new(&json!({"properties": {"due": {"format": "date"}}})).unwrap();
        assert_eq!(
            validator.reasons(&json!({"due": "2026-11-30"})),
            Vec::<String>::new()
        );
        assert_eq!(
            validator.reasons(&json!({"due": "soon"})),
            ["/due: \"soon\" is not a \"date\""]
        );
        assert!(
            JsonSchemaValidator::new(&json!({"format": "price"}))
                .unwrap_err()
                .contains("price")
        );
    }

    #[test]
    fn a_misspelt_keyword_is_refused_and_another_unknown_one_is_not() {
        for (schema, meant) in [
            (json!({"requird": ["id"]}), Some("required")),
            (
                json!({"properties": {"id": {"minlength": 1}}}),
                Some("minLength"),
            ),
            (
                json!({"anyOf": [{"type": "null"}, {"item": {}}]}),
                Some("items"),
            ),
            (
                json!({"properties": {"requird": {}, "item": {"type": "string"}}}),
                None,
            ),
            (
                json!({"enum": [{"requird": 1}], "default": {"typ": 1}}),
                None,
            ),
            (
                json!({"discriminator": {"propertyName": "kind"}, "dependentRequired": {"item": ["id"]}}),
                None,
            ),
            (
                json!({"propertyOrder": ["id"], "markdownDescription": "an order", "x-items": 1}),
                None,
            ),
        ] {
            let refused = JsonSchemaValidator::new(&schema).err();
            let expected = meant.map(|meant| format!("did you mean \"{meant}\"?"));
            assert_eq!(
                refused.is_some(),
                expected.is_some(),
                "{schema}: {refused:?}"
            );
            assert!(
                refused
                    .zip(expected)
                    .is_none_or(|(refused, expected)| refused.ends_with(&expected)),
                "{schema}"
            );
        }
    }

    #[test]
    fn a_keyword_without_effect_is_refused() {
        let draft = |name: &str, schema: serde_json::Value| {
            let mut schema = schema;
            schema["$schema"] = json!(format!("http://json-schema.org/{name}/schema#"));
            schema
        };
        for (schema, why) in [
            (
                draft("draft-04", json!({"properties": {"a": {"const": 2}}})),
                "\"const\" has no effect in draft 4",
            ),
            (
                draft("draft-06", json!({"if": {}, "then": {}})),
                "\"if\" has no effect in draft 6",
            ),
            (
                draft("draft-07", json!({"dependentRequired": {"a": ["b"]}})),
                "\"dependentRequired\" has no effect in draft 7",
            ),
            (
                draft(
                    "draft-07",
                    json!({"$ref": "#/definitions/o", "required": ["a"], "definitions": {"o": {}}}),
                ),
                "\"required\" has no effect next to $ref in draft 7",
            ),
            (
                json!({"then": {"required": ["a"]}}),
                "\"then\" has no effect without \"if\"",
            ),
            (
                json!({"if": {"required": ["a"]}}),
                "\"if\" has no effect without \"then\" or \"else\"",
            ),
            (
                json!({"minContains": 2}),
                "\"minContains\" has no effect without \"contains\"",
            ),
            (
                json!({"items": {"type": "string"}, "additionalItems": false}),
                "\"additionalItems\" has no effect without a list of \"items\"",
            ),
            (
                json!({"properties": {"a": draft("draft-04", json!({}))}}),
                "a schema within the schema states another draft: \"http://json-schema.org/draft-04/schema#\"",
            ),
        ] {
            assert_eq!(
                JsonSchemaValidator::new(&schema).unwrap_err(),
                why,
                "{schema}"
            );
        }
        for effective in [
            draft(
                "draft-04",
                json!({"definitions": {"o": {"type": "object"}}, "allOf": [{"$ref": "#/definitions/o"}], "required": ["a"]}),
            ),
            draft(
                "draft-07",
                json!({"$ref": "#/definitions/o", "title": "An order", "definitions": {"o": {"const": 1}}}),
            ),
            json!({"$ref": "#/$defs/o", "required": ["a"], "$defs": {"o": {"if": {}, "then": {}}}}),
            json!({"contains": {}, "minContains": 2, "nullable": true, "example": 1}),
        ] {
            assert!(JsonSchemaValidator::new(&effective).is_ok(), "{effective}");
        }
    }

    #[test]
    fn a_pattern_takes_linear_time() {
        assert!(
            JsonSchemaValidator::new(&json!({"pattern": "(?<!a)b"})).is_err(),
            "look-behind is not linear"
        );
        let validator = JsonSchemaValidator::new(&json!({"pattern": "^(a+)+$"})).unwrap();
        assert_eq!(
            validator
                .reasons(&json!(format!("{}!", "a".repeat(100_000))))
                .len(),
            1
        );
    }
}
